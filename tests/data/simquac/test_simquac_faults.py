"""What is wrong with a SimQuAC file: told in one line with its place."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from duologue.analysis.simquac import readers, simquac_statistics
from duologue.data import load, simquac
from duologue.data.grounding import NO_ANSWER
from tests.analysis.printed import measures


def saved(value: Any) -> Path:
    """A file with this value."""
    path = Path("set.json")
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def changed(value: Any, *path: str | int, to: Any = None) -> Any:
    """A copy with another value at a path, or without the key."""
    copy = json.loads(json.dumps(value))
    holder = copy
    for step in path[:-1]:
        holder = holder[step]
    if to is None:
        del holder[path[-1]]
    else:
        holder[path[-1]] = to
    return copy


def paragraph(section: str, *qas: dict[str, Any]) -> dict[str, Any]:
    head = {"title": "Bread", "section_title": "Sourdough", "background": "Food."}
    return {"context": f"{section} CANNOTANSWER"} | head | {"qas": list(qas)}


def qa(question: str, text: str, start: int) -> dict[str, Any]:
    return {"question": question, "answers": [{"text": text, "answer_start": start}]}


GOOD = {"data": [{"paragraphs": [
    paragraph("It rises slowly."), paragraph("It bakes.", qa("How?", "It", 0), qa("Why?", "bakes", 3)),
]}]}  # fmt: skip
SECOND = ("data", 0, "paragraphs", 1)


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (changed(GOOD, "data", to="a"), "'data'"),
        (changed(GOOD, "data", 0, to="a"), "data[0]"),
        (changed(GOOD, "data", 0, "paragraphs"), "data[0]"),
        (changed(GOOD, *SECOND, to=[1]), "data[0].paragraphs[1]"),
        (changed(GOOD, *SECOND, "context", to=1), "data[0].paragraphs[1]: 'context'"),
        (changed(GOOD, *SECOND, "title", to=1), "data[0].paragraphs[1]: 'title'"),
        (changed(GOOD, *SECOND, "qas"), "data[0].paragraphs[1]: 'qas'"),
        (changed(GOOD, *SECOND, "qas", 1, to="a"), "data[0].paragraphs[1].qas[1]"),
        (changed(GOOD, *SECOND, "qas", 1, "question"), "qas[1]: 'question'"),
        (changed(GOOD, *SECOND, "qas", 1, "answers"), "qas[1]: 'answers'"),
        (changed(GOOD, *SECOND, "qas", 1, "answers", 0, to="a"), "qas[1]"),
        (changed(GOOD, *SECOND, "qas", 1, "answers", 0, "answer_start", to="3"), "qas[1]"),
        (changed(GOOD, *SECOND, "qas", 1, "orig_answer", to="a"), "qas[1]"),
    ],
)
def test_what_is_no_data_set_is_named_with_its_place(value: Any, place: str, fault: Callable[..., str]) -> None:
    assert place in fault(simquac.read, saved(value))


def test_answers_without_an_original_one_are_one_answer_though_spans_overlap_or_one_refuses(tmp_path: Path) -> None:
    section = "Three keepers lived there. The last one left in 1968."

    def answer(text: str) -> dict[str, object]:
        return {"text": text, "answer_start": f"{section} CANNOTANSWER".index(text)}

    answers = {
        "overlap": ["in 1968", "left in 1968", "Three keepers"],
        "one refuses": ["CANNOTANSWER", "in 1968"],
        "all refuse": ["CANNOTANSWER", "CANNOTANSWER"],
        "spans": ["Three keepers", "in 1968"],
    }
    qas = [
        {"question": name, "id": name, "answers": [answer(text) for text in texts], "is_impossible": False}
        for name, texts in answers.items()
    ]
    paragraph = {"context": f"{section} CANNOTANSWER", "title": "T", "section_title": "S", "background": "", "qas": qas}
    path = tmp_path / "several.json"
    path.write_text(json.dumps({"data": [{"paragraphs": [paragraph]}]}, indent=1))
    (one,) = simquac.read(path)
    assert simquac.references(one) == (
        ("in 1968\nleft in 1968\nThree keepers",), ("in 1968",), (NO_ANSWER,), ("Three keepers\nin 1968",),
    )  # fmt: skip
    assert not simquac.by_people(one)
    assert [question.impossible for question in simquac.questions_of([one])] == [False, False, True, False]
    simquac.write([one], tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
    source = measures(simquac_statistics({"x": [one]}).tables()[0])["x"]
    assert (source.answered, source.refused, source.spans_per_answer) == (3, 1, (3 + 1 + 2) / 3)
    assert source.words_per_answer == ((2 + 3 + 2) + 2 + (2 + 2)) / 3
    assert source.coverage_mean == pytest.approx((len("Three keepers") + len("left in 1968")) / len(section))
    rows = readers.read({"nearest": readers.nearest}, {"x": simquac.questions_of([one])})
    assert [row["reader"] for row in rows] == ["no answer", "nearest"]
    simquac.write_quac([one], tmp_path / "rows.jsonl")
    assert [tuple(question.references) for question in simquac.questions_of(load(tmp_path / "rows.jsonl"))] == list(
        simquac.references(one)
    )
