"""Batches of a study: who has which by the files of answers alone, what is abandoned, and two who come at once."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from duologue.data.labelling import Item
from duologue.errors import DataError
from duologue.runs import batches as module
from duologue.runs.answers import Answers, answers_of
from duologue.runs.batches import BATCH, Batches
from duologue.runs.journal import BusyError, RunError

ITEMS = [Item(label="side_by_side", conversation=name, seen="0") for name in "abcd"]
VALUE = {"preference": "first", "why": "x"}


@pytest.fixture
def made(tmp_path):
    """Two batches of two conversations, each for two people."""
    return Batches(tmp_path, [ITEMS[:2], ITEMS[2:]], labellers=2)


def take(made, by, *answered):
    """Names of what a person gets, who then answers some of it and leaves."""
    with Answers(made.folder, by) as answers:
        todo = made.take(answers)
        for item in todo:
            if item.conversation in answered:
                answers.put(item.answered(VALUE, by))
    return "".join(item.conversation for item in todo)


def test_a_batch_is_given_to_as_many_people_as_the_study_says_and_then_the_next_one(made):
    assert [take(made, by) for by in ("ann", "ben", "cem", "dan", "eva")] == ["ab", "ab", "cd", "cd", ""]


def test_who_comes_back_has_what_they_have_begun_and_only_then_the_next_batch(made):
    assert take(made, "ann", "a") == "ab"
    assert [item.conversation for item in made.of(answers_of(made.folder)["ann"])] == ["a", "b"]
    assert take(made, "ann") == "cd"
    assert take(made, "ann") == ""


def test_what_somebody_has_left_behind_is_given_to_others_when_it_is_released_and_their_answers_stay(made):
    take(made, "ann", "a")
    take(made, "ben", "a", "b")
    assert take(made, "cem", "c", "d") == "cd"
    take(made, "dan", "c", "d")
    assert take(made, "eva") == ""
    assert made.begun() == [("ann", 1, 2)]
    assert made.release("ann") == ("ann", 1, 2)
    assert made.begun() == []
    assert take(made, "eva", "b") == "b", "a has two people: ben, and ann who answered it before she left"
    assert take(made, "fay") == ""
    given = answers_of(made.folder)
    for item in ITEMS:
        assert sum(any(answer.key == item.key for answer in answers) for answers in given.values()) == 2


def test_who_was_released_and_comes_back_gets_what_still_lacks_people(made):
    take(made, "ann", "a")
    made.release("ann")
    assert take(made, "ann") == "b"


def test_who_holds_a_batch_keeps_it_whoever_comes_after_a_release(made):
    take(made, "ann", "a")
    take(made, "ben")
    made.release("ann")
    assert take(made, "cem") == "b"
    assert [item.conversation for item in made.of(answers_of(made.folder)["ben"])] == ["a", "b"]


def test_a_batch_that_is_finished_not_begun_or_of_somebody_at_work_is_not_released(made):
    take(made, "ann", "a", "b")
    for by in ("ann", "nobody"):
        with pytest.raises(DataError, match=f"{by} has begun no batch that is not finished"):
            made.release(by)
    assert not (made.folder / "nobody.jsonl").exists()
    take(made, "ben", "a")
    with Answers(made.folder, "ben"), pytest.raises(BusyError, match="ben has another page open"):
        made.release("ben")
    assert made.begun() == [("ben", 1, 2)]


def test_an_answer_about_a_text_that_has_changed_since_is_none(made):
    with Answers(made.folder, "ann") as answers:
        answers.put(ITEMS[0].model_copy(update={"seen": "other"}).answered(VALUE, "ann"))
    assert [take(made, by) for by in ("ann", "ben")] == ["ab", "ab"]


def test_other_batch_sizes_in_the_middle_of_a_study_lose_nothing(made):
    take(made, "ann", "a")
    other = Batches(made.folder, [ITEMS[:3], ITEMS[3:]], labellers=2)
    assert [item.conversation for item in other.of(answers_of(made.folder)["ann"])] == ["a", "b"]
    assert [take(other, by) for by in ("ben", "cem", "dan")] == ["abc", "c", "d"]


@pytest.mark.parametrize("value", [{BATCH: 0}, {BATCH: 7}, {BATCH: "x"}, {}])
def test_a_line_of_an_earlier_version_is_its_whole_batch_and_a_strange_one_is_none(made, value):
    with Answers(made.folder, "ann") as answers:
        answers.put(Item(label=BATCH, conversation="batch 0").answered(value, "ann"))
    assert len(made.of(answers_of(made.folder)["ann"])) == (2 if value == {BATCH: 0} else 0)


def test_of_people_who_come_at_once_no_two_get_the_last_place(tmp_path, monkeypatch):
    made = Batches(tmp_path, [[item] for item in ITEMS], labellers=1)
    people = [Answers(tmp_path, f"p{number}") for number in range(6)]
    looked = answers_of

    def slowly(folder):
        found = looked(folder)
        time.sleep(0.03)  # all of them have looked before the first one writes, were it not for the lock
        return found

    monkeypatch.setattr(module, "answers_of", slowly)
    with ThreadPoolExecutor(len(people)) as pool:
        taken = ["".join(item.conversation for item in todo) for todo in pool.map(made.take, people)]
    for each in people:
        each.close()
    assert sorted(taken) == ["", "", "a", "b", "c", "d"]


def test_a_lock_that_never_comes_free_is_one_line(made, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 2)
    with (
        module._alone(made.folder),
        Answers(made.folder, "ann") as answers,
        pytest.raises(RunError, match="begin once"),
    ):
        made.take(answers)
