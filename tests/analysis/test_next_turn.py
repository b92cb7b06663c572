"""The next turn of simulated users beside people's: chrF, another person's turn, and where users leave."""

import json
from itertools import product
from pathlib import Path

import pytest

pytest.importorskip("scipy")

from duologue import next_turn
from duologue.analysis.next_turn import Benchmark, chrf
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


def test_chrf_is_what_its_definition_gives_by_hand_and_that_of_sacrebleu():
    # Runs of "ab": a b | ab. Of "abc": a b c | ab bc | abc. Both have runs of 1 and 2 characters.
    precision, recall = (2 / 2 + 1 / 1) / 2, (2 / 3 + 1 / 2) / 2
    assert chrf("ab", "abc") == pytest.approx(5 * precision * recall / (4 * precision + recall))
    assert chrf("a b\nc", "abc") == 1.0  # white space does not count
    assert chrf("", "abc") == chrf("abc", "") == chrf("abc", "xyz") == 0.0
    sacrebleu = pytest.importorskip("sacrebleu")
    texts = ["abc", "ab", "Where is the museum?", "Where is the  station", "谢谢，还有别的吗", "谢谢", "x y z"]
    for text, reference in product(texts, texts):
        assert chrf(text, reference) == pytest.approx(sacrebleu.sentence_chrf(text, [reference]).score / 100)


def test_rows_are_compared_with_the_person_and_with_another_person():
    benchmark = Benchmark.of(PEOPLE)
    own = [NextTurn(id=one.key, key=one.key, text=one.text, stopped=one.ended) for one in benchmark.moments]
    rows = {row.name: row for row in benchmark.report(benchmark.rows({"copy": own})).rows}
    assert list(rows) == ["the person", "another person", "repeats itself", "copy"]
    assert (rows["copy"].chrf.value, rows["copy"].ended.value, rows["copy"].stayed.value) == (1, 1, 1)
    assert rows["copy"].above.value == pytest.approx(1 - rows["another person"].chrf.value)
    assert rows["copy"].above.low > 0
    assert (rows["copy"].turns, rows["copy"].ends, rows["copy"].chrf.groups) == (30, 12, 12)
    assert rows["another person"].chrf.low < rows["another person"].chrf.value < 1


def test_another_persons_turn_is_of_the_same_place_and_never_ones_own():
    benchmark = Benchmark.of(PEOPLE, seed=3)
    turns = benchmark.rows({})["another person"]
    assert turns == Benchmark.of(PEOPLE, seed=3).rows({})["another person"]
    for moment in benchmark.moments:
        if moment.turn == 0:
            assert turns[moment.key].text.startswith("I want to see")
            assert turns[moment.key].text != moment.text
    alone = Benchmark.of(PEOPLE[:1])
    assert alone.rows({})["another person"] == {}


def test_where_a_user_could_not_be_asked_no_row_counts_and_the_reason_is_told():
    benchmark = Benchmark.of(PEOPLE)
    turns = [
        NextTurn(id=one.key, key=one.key, text="Hello", failure="no answer" if one.turn == 0 else None)
        for one in benchmark.moments
    ]
    report = benchmark.report(benchmark.rows({"mine": turns}))
    mine = report.rows[-1]
    assert (mine.failed, mine.failure) == (12, "no answer")
    assert {row.turns for row in report.rows} == {18}
    assert any("30 of 42 places" in note for note in report.notes)
    with pytest.raises(DataError, match="no turn of a user"):
        Benchmark.of([])


def test_the_function_writes_each_turn_and_goes_on_where_it_stopped(tmp_path: Path):
    first = next_turn(PEOPLE, ["offline"], out=tmp_path, baseline=False)
    turns = [json.loads(line) for line in (tmp_path / "turns.jsonl").read_text().splitlines()]
    assert len(turns) == 4 * 42
    assert json.loads((tmp_path / "next_turn.json").read_text())["turns"] == first.turns == 30
    assert next_turn(PEOPLE, ["offline"], out=tmp_path, baseline=False) == first
