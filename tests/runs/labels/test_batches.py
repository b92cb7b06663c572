"""Batches of a study: who has which by the files of answers, abandoned batches, and two who come at once."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from duologue.data.labels.answers import Item
from duologue.errors import DataError
from duologue.runs.store import BusyError, RunError
from duologue.runs.labels import batches as module
from duologue.runs.labels.answers import AnswerFiles, answers_of
from duologue.runs.labels.batches import BATCH, Batches

ITEMS = [Item(label="side_by_side", conversation=name, seen="0") for name in "abcd"]
VALUE = {"preference": "first", "why": "x"}


@pytest.fixture
def batches(tmp_path):
    """Two batches of two conversations, each for two people."""
    return Batches(tmp_path, [ITEMS[:2], ITEMS[2:]], labellers=2)


def take(batches, by, *answered):
    """Names of what a person gets, who then answers some of it and leaves."""
    with AnswerFiles(batches.folder, by) as answers:
        todo = batches.take(answers)
        for item in todo:
            if item.conversation in answered:
                answers.put(item.answered(VALUE, by))
    return "".join(item.conversation for item in todo)


def test_a_batch_is_given_to_as_many_people_as_the_study_says_and_then_the_next_one(batches):
    assert [take(batches, by) for by in ("ann", "ben", "cem", "dan", "eva")] == ["ab", "ab", "cd", "cd", ""]


def test_who_comes_back_has_what_they_have_begun_and_only_then_the_next_batch(batches):
    assert take(batches, "ann", "a") == "ab"
    assert [item.conversation for item in batches.of(answers_of(batches.folder)["ann"])] == ["a", "b"]
    assert take(batches, "ann") == "cd"
    assert take(batches, "ann") == ""


def test_what_somebody_has_left_behind_is_given_to_others_when_it_is_released_and_their_answers_stay(batches):
    take(batches, "ann", "a")
    take(batches, "ben", "a", "b")
    assert take(batches, "cem", "c", "d") == "cd"
    take(batches, "dan", "c", "d")
    assert take(batches, "eva") == ""
    assert batches.begun() == [("ann", 1, 2)]
    assert batches.release("ann") == ("ann", 1, 2)
    assert batches.begun() == []
    assert take(batches, "eva", "b") == "b", "a has two people: ben, and ann who answered it before she left"
    assert take(batches, "fay") == ""
    answers_by_person = answers_of(batches.folder)
    for item in ITEMS:
        assert sum(any(answer.key == item.key for answer in answers) for answers in answers_by_person.values()) == 2


def test_who_was_released_and_comes_back_gets_what_still_lacks_people(batches):
    take(batches, "ann", "a")
    batches.release("ann")
    assert take(batches, "ann") == "b"


def test_who_holds_a_batch_keeps_it_whoever_comes_after_a_release(batches):
    take(batches, "ann", "a")
    take(batches, "ben")
    batches.release("ann")
    assert take(batches, "cem") == "b"
    assert [item.conversation for item in batches.of(answers_of(batches.folder)["ben"])] == ["a", "b"]


def test_a_batch_that_is_finished_not_begun_or_of_somebody_at_work_is_not_released(batches):
    take(batches, "ann", "a", "b")
    for by in ("ann", "nobody"):
        with pytest.raises(DataError, match=f"{by} has begun no batch that is not finished"):
            batches.release(by)
    assert not (batches.folder / "nobody.jsonl").exists()
    take(batches, "ben", "a")
    with AnswerFiles(batches.folder, "ben"), pytest.raises(BusyError, match="ben has another page open"):
        batches.release("ben")
    assert batches.begun() == [("ben", 1, 2)]


def test_an_answer_about_a_text_that_has_changed_since_is_none(batches):
    with AnswerFiles(batches.folder, "ann") as answers:
        answers.put(ITEMS[0].model_copy(update={"seen": "other"}).answered(VALUE, "ann"))
    assert [take(batches, by) for by in ("ann", "ben")] == ["ab", "ab"]


def test_other_batch_sizes_in_the_middle_of_a_study_lose_nothing(batches):
    take(batches, "ann", "a")
    other = Batches(batches.folder, [ITEMS[:3], ITEMS[3:]], labellers=2)
    assert [item.conversation for item in other.of(answers_of(batches.folder)["ann"])] == ["a", "b"]
    assert [take(other, by) for by in ("ben", "cem", "dan")] == ["abc", "c", "d"]


@pytest.mark.parametrize("value", [{BATCH: 0}, {"conversations": "x"}, {}])
def test_a_strange_line_begins_nothing(batches, value):
    with AnswerFiles(batches.folder, "ann") as answers:
        answers.put(Item(label=BATCH, conversation="batch 0").answered(value, "ann"))
    assert len(batches.of(answers_of(batches.folder)["ann"])) == 0


def test_of_people_who_come_at_once_no_two_get_the_last_place(tmp_path, monkeypatch):
    batches = Batches(tmp_path, [[item] for item in ITEMS], labellers=1)
    people = [AnswerFiles(tmp_path, f"p{number}") for number in range(6)]
    looked = answers_of

    def slowly(folder):
        answers = looked(folder)
        time.sleep(0.03)  # all of them have looked before the first one writes, were it not for the lock
        return answers

    monkeypatch.setattr(module, "answers_of", slowly)
    with ThreadPoolExecutor(len(people)) as pool:
        taken = ["".join(item.conversation for item in todo) for todo in pool.map(batches.take, people)]
    for person in people:
        person.close()
    assert sorted(taken) == ["", "", "a", "b", "c", "d"]


def test_a_lock_that_never_comes_free_is_one_line(batches, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 2)
    with (
        module._alone(batches.folder),
        AnswerFiles(batches.folder, "ann") as answers,
        pytest.raises(RunError, match="begin once"),
    ):
        batches.take(answers)
