"""The figures of docs/research/readers.md are those that its commands print."""

import json

import pytest

from tests.cli.printed_tables import agree, table
from tests.cli.test_documented_figures import ROOT

NAMES = {"quac_subset.json": "QuAC", "sim_quac.json": "SimQuAC", "repaired.json": "repaired", "simquac.json": "ours"}


def printed(duologue, *arguments):
    code, out, err = duologue(*arguments, "--json")
    assert code == 0, err
    return json.loads(out)


@pytest.fixture
def files(duologue, open_data, tmp_path):
    """The four data sets: QuAC, SimQuAC, SimQuAC repaired, and a run of the offline speakers on the same topics."""
    quac, simulated = (open_data / "simquac" / name for name in ("quac_subset.json", "sim_quac.json"))
    assert duologue("simquac", "repair", simulated, "--out", tmp_path / "repaired.json")[0] == 0
    assert duologue("simulate", "simquac", "--topics", quac, "--out", tmp_path / "ours", "--yes")[0] == 0
    return [quac, simulated, tmp_path / "repaired.json", tmp_path / "ours" / "dataset" / "simquac.json"]


@pytest.mark.heavy
@pytest.mark.long
def test_what_readers_make_of_the_open_data_is_what_the_docs_say(duologue, files):
    rows = printed(duologue, "simquac", "readers", *files[:2], "--model", "retriever", "--model", "teacher:offline")[
        "rows"
    ]
    readers = {"no answer": "no answer", "nearest sentence": "nearest sentence", "teacher:offline": "offline teacher"}
    heading = ("95 % interval of F1 in brackets", "precision", "recall", "F1", "exact", "answered wrong")
    shown = table("docs/research/readers.md", *heading)
    for row in rows:
        name = NAMES[row["data"]]
        label = f"{name}, {row['questions']} questions" if row["reader"] == "no answer" else name
        cells_of_row = shown.pop(f"{label}: {readers[row['reader']]}")
        values = [(row["precision"],), (row["recall"],), (row["f1"], row["f1_low"], row["f1_high"]), (row["exact"],)]
        for numbers, ends in zip(cells_of_row, [*values, (row["answered_wrong"],)], strict=True):
            assert agree(numbers, *ends)
    assert not shown


@pytest.mark.heavy
@pytest.mark.long
@pytest.mark.parametrize("history", [pytest.param(0, marks=pytest.mark.untraced), 2])
def test_what_one_data_set_teaches_about_another_is_what_the_docs_say(duologue, files, history):
    pytest.importorskip("sklearn")
    more = ["--model", "retriever"] if not history else ["--history", history]
    rows = printed(duologue, "simquac", "readers", *files, "--model", "features", *more)["rows"]
    title = "F1 with two earlier turns, asked about" if history else "F1, asked about"
    shown = table("docs/research/readers.md", title, *NAMES.values())
    crossed = {(row["trained_on"], row["data"]): row for row in rows if row["reader"] == "features"}
    assert len(crossed) == 16
    for (trained_on, data), row in crossed.items():
        line = f"trained on {NAMES[trained_on]}{', history 2' if history else ''}"
        assert agree(shown[line][list(NAMES).index(data)], row["f1"])
    one, other = (crossed[name, "quac_subset.json"] for name in ("sim_quac.json", "quac_subset.json"))
    text = " ".join((ROOT / "docs/research/readers.md").read_text(encoding="utf-8").split())
    if history:
        assert f"training data for their questions (F1 {other['f1']:.3f})" in text
        assert f"their F1 is {other['f1_answerable']:.3f}, and that of SimQuAC {one['f1_answerable']:.3f}." in text
        return
    refused = [row["refused_right"] + row["refused_wrong"] for row in (one, other)]
    assert f"refuses {refused[0]} of 552 questions ({one['refused_right']} correctly)" in text
    assert f"trained on QuAC {refused[1]} ({other['refused_right']} correctly)" in text
    assert f"the F1 are {one['f1_answerable']:.3f} and {other['f1_answerable']:.3f}." in text
    near = {row["data"]: row["exact"] for row in rows if row["reader"] == "nearest sentence"}
    assert f"{near['repaired.json']:.3f} on the repaired file and {near['sim_quac.json']:.3f} on the published" in text
