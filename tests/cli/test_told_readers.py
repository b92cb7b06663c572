"""The figures of docs/readers.md are those that its commands print."""

import json

import pytest

from tests.cli.test_told_figures import ROOT, agree, table

NAMES = {"quac_subset.json": "QuAC", "sim_quac.json": "SimQuAC", "repaired.json": "repaired", "simquac.json": "ours"}


def printed(duologue, *arguments):
    code, out, err = duologue(*arguments, "--json")
    assert code == 0, err
    return json.loads(out)


@pytest.fixture
def files(duologue, open_data, tmp_path):
    """The four data sets: QuAC, SimQuAC, SimQuAC repaired, and a run of the offline speakers on the same topics."""
    quac, simulated = (open_data / "simquac" / name for name in ("quac_subset.json", "sim_quac.json"))
    assert duologue("repair", "simquac", simulated, "--out", tmp_path / "repaired.json")[0] == 0
    assert duologue("simulate", "simquac", "--topics", quac, "--out", tmp_path / "ours", "--yes")[0] == 0
    return [quac, simulated, tmp_path / "repaired.json", tmp_path / "ours" / "dataset" / "simquac.json"]


@pytest.mark.heavy
def test_what_readers_make_of_the_open_data_is_what_the_docs_say(duologue, files):
    made = printed(duologue, "readers", *files[:2], "--reader", "retriever", "--reader", "teacher:offline")["rows"]
    readers = {"no answer": "no answer", "nearest sentence": "nearest sentence", "teacher:offline": "offline teacher"}
    heading = ("95 % interval of F1 in brackets", "precision", "recall", "F1", "exact", "answered wrong")
    shown = table("docs/readers.md", *heading)
    for row in made:
        name = NAMES[row["data"]]
        asked = f"{name}, {row['questions']} questions" if row["reader"] == "no answer" else name
        cells_of_row = shown.pop(f"{asked}: {readers[row['reader']]}")
        values = [(row["precision"],), (row["recall"],), (row["f1"], row["f1_low"], row["f1_high"]), (row["exact"],)]
        for numbers, ends in zip(cells_of_row, [*values, (row["answered_wrong"],)], strict=True):
            assert agree(numbers, *ends)
    assert not shown


@pytest.mark.heavy
@pytest.mark.parametrize("history", [0, 2])
def test_what_one_data_set_teaches_about_another_is_what_the_docs_say(duologue, files, history):
    pytest.importorskip("sklearn")
    more = ["--reader", "retriever"] if not history else ["--history", history]
    made = printed(duologue, "readers", *files, "--trainable", *more)["rows"]
    title = "F1 with two earlier exchanges, asked about" if history else "F1, asked about"
    shown = table("docs/readers.md", title, *NAMES.values())
    crossed = {(row["trained_on"], row["data"]): row for row in made if row["reader"] == "features"}
    assert len(crossed) == 16
    for (trained_on, data), row in crossed.items():
        line = f"trained on {NAMES[trained_on]}{', history 2' if history else ''}"
        assert agree(shown[line][list(NAMES).index(data)], row["f1"])
    one, other = (crossed[name, "quac_subset.json"] for name in ("sim_quac.json", "quac_subset.json"))
    told = (ROOT / "docs/readers.md").read_text(encoding="utf-8")
    if history:
        assert f"{other['f1']:.3f}, on those with an answer {other['f1_answerable']:.3f} against " in told
        assert f"against {one['f1_answerable']:.3f}): people go through a section in order" in told
        return
    assert f"{one['refused_right'] + one['refused_wrong']} of 552 are refused ({one['refused_right']} rightly)" in told
    assert f"trained on QuAC {other['refused_right'] + other['refused_wrong']} ({other['refused_right']})" in told
    assert f"it is {one['f1_answerable']:.3f} against {other['f1_answerable']:.3f}." in told
    near = {row["data"]: row["exact"] for row in made if row["reader"] == "nearest sentence"}
    assert f"{near['repaired.json']:.3f} on the repaired file and {near['sim_quac.json']:.3f} on the released" in told
