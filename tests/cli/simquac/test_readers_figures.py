"""The figures of docs/research/readers.md are those that its commands print."""

import json

import pytest

from tests.cli.printed_tables import agree, table
from tests.cli.test_documented_figures import ROOT

NAMES = {"quac_subset.json": "QuAC", "sim_quac.json": "SimQuAC"}


def printed(duologue, *arguments):
    code, out, err = duologue(*arguments, "--json")
    assert code == 0, err
    return json.loads(out)


@pytest.fixture
def files(duologue, open_data, tmp_path):
    """The three data sets: QuAC, SimQuAC, and SimQuAC repaired."""
    quac, simulated = (open_data / "simquac" / name for name in ("quac_subset.json", "sim_quac.json"))
    assert duologue("simquac", "repair", simulated, "--out", tmp_path / "repaired.json")[0] == 0
    return [quac, simulated, tmp_path / "repaired.json"]


@pytest.mark.heavy
@pytest.mark.long
def test_what_readers_make_of_the_open_data_is_what_the_docs_say(duologue, files):
    rows = printed(duologue, "simquac", "readers", *files[:2], "--model", "retriever", "--model", "teacher:offline")[
        "rows"
    ]
    readers = {"no answer": "no answer", "nearest sentence": "nearest sentence", "teacher:offline": "offline teacher"}
    heading = ("95 % interval of F1 in brackets", "precision", "recall", "F1", "exact", "answered wrong")
    shown = table("docs/research/readers.md", *heading)
    (near,) = (
        row["exact"]
        for row in printed(duologue, "simquac", "readers", files[2])["rows"]
        if row["reader"] == "nearest sentence"
    )
    (of_published,) = (
        row["exact"] for row in rows if (row["reader"], row["data"]) == ("nearest sentence", "sim_quac.json")
    )
    text = " ".join((ROOT / "docs/research/readers.md").read_text(encoding="utf-8").split())
    assert f"{near:.3f} on the repaired file and {of_published:.3f} on the published" in text
    for row in rows:
        name = NAMES[row["data"]]
        label = f"{name}, {row['questions']} questions" if row["reader"] == "no answer" else name
        cells_of_row = shown.pop(f"{label}: {readers[row['reader']]}")
        values = [(row["precision"],), (row["recall"],), (row["f1"], row["f1_low"], row["f1_high"]), (row["exact"],)]
        for numbers, ends in zip(cells_of_row, [*values, (row["answered_wrong"],)], strict=True):
            assert agree(numbers, *ends)
    assert not shown
