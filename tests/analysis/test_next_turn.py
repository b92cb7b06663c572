"""The next turn of simulated users beside people's: chrF, another person's turn, and where users leave."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sacrebleu")

from duologue import next_turn
from duologue.analysis.next_turn import Benchmark
from duologue.data import Conversation, Message
from duologue.data.people import NextTurn
from duologue.errors import DataError

PLACES = ["Rome", "Oslo", "Lima", "Bonn", "Cork", "Nice", "Graz", "Bern", "Kyiv", "Riga", "Bari", "Lyon"]


def person(number: int, place: str) -> Conversation:
    texts = [f"I want to see {place}.", "Is it far?", *["Thanks!"] * (number % 2)]
    messages = [
        turn for text in texts for turn in (Message(role="user", text=text), Message(role="assistant", text="Yes."))
    ]
    return Conversation(
        id=f"p{number}",
        scenario={"goal": f"See {place}", "task": "trip"},
        messages=tuple(messages),
        extra={"user": f"u{number}"},
    )


PEOPLE = [person(number, place) for number, place in enumerate(PLACES)]


def scores(benchmark: Benchmark, predictions: dict[str, list[NextTurn]]) -> dict[str, dict[str, Any]]:
    """The table's rows by name."""
    return {str(row["row"]): row for row in benchmark.report(benchmark.rows(predictions)).table().objects()}


def test_chrf_is_what_its_definition_gives_by_hand():
    benchmark = Benchmark.of(PEOPLE[:1])  # "I want to see Rome." and "Is it far?"
    keys = [one.key for one in benchmark.moments]
    said = dict(zip(keys, ("xyz", "I sit"), strict=False))
    found = benchmark.rows({"mine": [NextTurn(id=key, key=key, text=text) for key, text in said.items()]})["mine"]
    assert found[0]["chrf"] == 0
    # Runs of "Isit", without white space: 4 of one letter, 3, 2, 1; of "Isitfar?": 8, 7, 6, 5; none of 5 and 6 letters.
    precision, recall = 1.0, (4 / 8 + 3 / 7 + 2 / 6 + 1 / 5) / 4
    assert found[1]["chrf"] == pytest.approx(5 * precision * recall / (4 * precision + recall))


def test_rows_are_compared_with_the_person_and_with_another_person():
    benchmark = Benchmark.of(PEOPLE)
    own = [NextTurn(id=one.key, key=one.key, text=one.text, stopped=one.ended) for one in benchmark.moments]
    rows = scores(benchmark, {"copy": own})
    assert list(rows) == ["the person", "another person", "repeats itself", "copy"]
    copy, other = rows["copy"], rows["another person"]
    assert (copy["chrF"], copy["ended"], copy["stayed"], copy["turns"]) == (1, 1, 1, 30)
    assert copy["above"] == pytest.approx(1 - other["chrF"])
    assert copy["from"] > 0
    assert other["low"] < other["chrF"] < 1


def test_another_persons_turn_is_of_the_same_place_and_never_ones_own():
    benchmark = Benchmark.of(PEOPLE, seed=3)
    turns = benchmark.rows({})["another person"]
    assert turns == Benchmark.of(PEOPLE, seed=3).rows({})["another person"]
    firsts = [turn for turn in turns if turn["turn"] == 0]
    assert len(firsts) == 12
    assert all(turn["said"].startswith("I want to see") and turn["said"] != turn["person"] for turn in firsts)
    assert Benchmark.of(PEOPLE[:1]).rows({})["another person"] == []


def test_where_a_user_could_not_be_asked_no_row_counts_and_the_reason_is_told():
    benchmark = Benchmark.of(PEOPLE)
    turns = [
        NextTurn(id=one.key, key=one.key, text="Hello", failure="no answer" if one.turn == 0 else None)
        for one in benchmark.moments
    ]
    rows = scores(benchmark, {"mine": turns})
    assert rows["mine"]["failed"] == 12
    assert {row["turns"] for row in rows.values()} == {18}
    notes = " ".join(benchmark.report(benchmark.rows({"mine": turns})).table().notes)
    assert "30 of 42 places" in notes
    assert "no answer" in notes
    with pytest.raises(DataError, match="no turn of a user"):
        Benchmark.of([])


def test_the_function_writes_each_turn_and_goes_on_where_it_stopped(tmp_path: Path):
    first = next_turn(PEOPLE, ["offline"], out=tmp_path, baseline=False)
    turns = [json.loads(line) for line in (tmp_path / "turns.jsonl").read_text().splitlines()]
    assert len(turns) == 4 * 42
    assert json.loads((tmp_path / "next_turn.json").read_text())["turns"] == 30
    assert next_turn(PEOPLE, ["offline"], out=tmp_path, baseline=False) == first
