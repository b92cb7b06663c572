"""Side-by-side studies: what is asked about which answers, whose side is where, batches, and the quiz."""

from pathlib import Path

import pytest

from duologue import data
from duologue.data import Conversation, Message, domains
from duologue.data.labels.side_by_side import Study, batches_of, by_label, comparisons, quiz, unswitched

SEED = Path(__file__).parents[4] / "shared" / "seed-data" / "simquac"
open_data = pytest.mark.skipif(not SEED.is_dir(), reason="the open published data is not in ../shared/seed-data")
SIDES = "first: {name: ours, source: a.jsonl}\nsecond: {name: theirs, source: b.jsonl}\n"


def study(tmp_path, text):
    (tmp_path / "s.yaml").write_text(text)
    return Study.of(tmp_path / "s.yaml")


@open_data
def test_the_published_answers_are_compared_question_by_question():
    first = data.load(SEED / "teacher_sim_topics.txt").conversations
    pairs, notes = comparisons(first, by_label(first, "quac"))
    assert (len(pairs), notes) == (13, [])
    aspects = [question.aspects for pair in pairs for question in pair.questions]
    refused = [
        [domains.of(pair.first).refuses(side) for side in (question.first, question.second)]
        for pair in pairs
        for question in pair.questions
    ]
    assert {
        sum(sides): len(aspect_list) for sides, aspect_list in zip(refused, aspects, strict=True) if any(sides)
    } == {1: 1, 2: 0}
    assert {len(aspect_list) for aspect_list in aspects} == {0, 1, 3}
    for pair in pairs:
        for question in pair.questions:
            same = question.first.text.split() == question.second.text.split()
            assert not same or question.aspects == ()
        assert list(pair.definition().parts)[-2:] == ["preference", "why"]


def test_what_was_said_of_a_and_b_is_kept_as_said_of_the_sides():
    value = {"1 correctness": "A", "2 correctness": "both", "preference": "B", "why": "A"}
    assert unswitched(value, switched=False) == {**value, "1 correctness": "first", "preference": "second"}
    assert unswitched(value, switched=True) == {**value, "1 correctness": "second", "preference": "first"}


def dialogue(*pairs):
    messages = [
        Message(role=role, text=text) for pair in pairs for role, text in zip(("user", "assistant"), pair, strict=True)
    ]
    return Conversation(id="1", scenario={}, messages=tuple(messages), extra={"topic": "t"})


def test_a_question_that_is_asked_twice_has_each_time_the_other_sides_answer_of_that_time():
    first = dialogue(("Who?", "Ann."), ("When?", "1900."), ("Who?", "Her son."), ("Who?", "A third."))
    second = dialogue(("who", "Ann."), ("Who?", "Her daughter."), ("When?", "1901."))
    ((compared,), _) = comparisons([first], [second])
    assert [(question.number, question.first.text, question.second.text) for question in compared.questions] == [
        (1, "Ann.", "Ann."),
        (2, "1900.", "1901."),
        (3, "Her son.", "Her daughter."),
    ]
    assert [len(question.aspects) for question in compared.questions] == [0, 3, 3]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("Yes.", "yes", True), ("5", "-5", False), ("C++", "C#", False), ("很好。", "很好", True), ("好", "不好", False)],
)
def test_only_answers_that_say_the_same_are_not_asked_about(one, other, same):
    ((compared,), _) = comparisons([dialogue(("???", one), ("!", "x"))], [dialogue(("!", "y"), ("???", other))])
    assert [len(question.aspects) for question in compared.questions] == [0 if same else 3, 3]


def test_the_entry_test_is_a_quiz_whose_right_answers_are_not_all_alike():
    asked, test = quiz().definition(), quiz()
    right = {name: answer for name, (_, answer) in zip(asked.parts, test.questions, strict=True)}
    assert (asked.problems(right), test.share(right), test.share({})) == ([], 1, 0)
    assert asked.about("1") == "**1**: Is a correct answer always natural?"
    assert right["1"] == "no"
    assert all(test.share(dict.fromkeys(right, answer)) < 0.75 for answer in ("yes", "no"))
    assert len(test.samples) == 10


@open_data
def test_every_conversation_is_in_one_batch(tmp_path):
    first = data.load(SEED / "teacher_sim_topics.txt").conversations
    pairs, _ = comparisons(first, by_label(first, "quac"))
    batches = batches_of(study(tmp_path, SIDES), pairs)
    assert list(map(len, batches)) == [5, 5, 3]
    assert sorted(name for batch in batches for name in batch) == sorted(pair.id for pair in pairs)
