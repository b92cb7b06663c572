"""Models asked about many things: one mechanism for all that does so."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pytest

from duologue.errors import DataError, SettingError
from duologue.nodes.models.scripted import ScriptedModel
from duologue.runs.asking.questions import GIVE_UP, Asking, ModelAnswer
from duologue.runs.engine.conduct import Conduct
from duologue.runs.engine.control import Control
from duologue.runs.loop import blocking
from duologue.runs.store import RunError


class Length(ModelAnswer):
    """How long a word is."""

    called: ClassVar[str] = "a length of a word"

    length: int | None = None


def asking(words: Sequence[str], heard: list[str]) -> Asking[str, Length]:
    async def ask(name: str, word: str) -> Length:
        heard.append(word)
        if word == "broken":
            raise SettingError("the page has a gap")
        return Length(id=name, length=len(word))

    return Asking(ScriptedModel(lines=[]), Length, [(word, word) for word in words], ask, lambda word: [word])


def test_equal_things_are_asked_once_and_answered_each_in_its_place() -> None:
    heard: list[str] = []
    ids: list[str] = []
    answers = blocking(asking(["a", "b", "a"], heard).answers(on_answer=lambda one: ids.append(one.id)))
    assert [one.id for one in answers] == ["a", "b", "a"]
    assert sorted(heard) == sorted(ids) == ["a", "b"]


def test_an_exception_ends_it_all_as_itself_and_keeps_what_was_answered(tmp_path: Path) -> None:
    heard: list[str] = []
    answers_file = tmp_path / "kept.jsonl"
    with pytest.raises(SettingError, match="the page has a gap"):
        blocking(asking(["a", "broken", "b", "c"], heard).answers(answers_file=answers_file, concurrency=1))
    assert heard == ["a", "broken"]
    again = asking(["a", "b", "c"], heard)
    assert list(again.missing(answers_file)) == ["b", "c"]
    blocking(again.answers(answers_file=answers_file, concurrency=1))
    assert heard[2:] == ["b", "c"]
    assert not again.missing(answers_file)


def test_ten_failures_in_a_row_end_it_and_fewer_do_not() -> None:
    heard: list[str] = []

    def numbers(count: int, silent: int) -> Asking[int, Length]:
        async def ask(name: str, number: int) -> Length:
            heard.append(name)
            return Length(id=name, error="no answer" if number % silent else "")

        things = [(str(number), number) for number in range(1, count + 1)]
        return Asking(ScriptedModel(lines=[]), Length, things, ask, lambda _: [])

    answers = blocking(numbers(3 * GIVE_UP, GIVE_UP).answers(concurrency=1))
    assert len(heard) == 3 * GIVE_UP
    assert sum(not one.error for one in answers) == 3
    heard.clear()
    last = blocking(numbers(3 * GIVE_UP, 100).answers(concurrency=1))[-1]
    assert len(heard) == GIVE_UP
    assert last.error == f"not asked: {GIVE_UP} calls in a row failed"


def test_whoever_holds_the_control_ends_it_and_the_answers_say_why() -> None:
    heard: list[str] = []
    control = Control()

    def watch(one: Length) -> None:
        control.end("that is enough")

    answers = blocking(
        asking(["a", "b", "c"], heard).answers(concurrency=1, control=control, on_answer=watch)
    )
    assert heard == ["a"]
    assert [one.error for one in answers] == ["", "not asked: that is enough", "not asked: that is enough"]


def test_a_file_of_something_else_and_one_that_another_command_writes_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text('{"id": "a", "points": 4}\n')
    with pytest.raises(DataError, match="is not a length of a word: choose another file"):
        asking(["a"], []).missing(other)
    with pytest.raises(DataError, match="is not a length of a word: choose another file"):
        blocking(asking(["a"], []).answers(answers_file=other))
    heard: list[str] = []
    answers_file = tmp_path / "kept.jsonl"

    async def twice(name: str, word: str) -> Length:
        with pytest.raises(RunError, match="wait for it or choose another"):
            await asking(["b"], heard).answers(answers_file=answers_file)
        return Length(id=name)

    blocking(
        Asking(ScriptedModel(lines=[]), Length, [("a", "a")], twice, lambda _: []).answers(answers_file=answers_file)
    )
    assert not heard


def test_no_place_at_all_is_refused() -> None:
    with pytest.raises(SettingError, match="concurrency must be 'auto' or at least 1, not 0"):
        blocking(asking(["a"], []).answers(concurrency=0))
