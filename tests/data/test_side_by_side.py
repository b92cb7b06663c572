"""Side-by-side studies: what is asked about which answers, whose side is where, batches and trial conversations."""

from pathlib import Path

import pytest

from duologue import data
from duologue.data import Conversation, Message, domains
from duologue.data.side_by_side import Study, batches_of, by_label, comparisons, passed, unswitched
from duologue.errors import DataError

SEED = Path(__file__).parents[3] / "shared" / "seed-data" / "simquac"
open_data = pytest.mark.skipif(not SEED.is_dir(), reason="the open published data is not in ../shared/seed-data")
SIDES = "first: {name: ours, source: a.jsonl}\nsecond: {name: theirs, source: b.jsonl}\n"


def talk(number, *answers, label=None):
    said = []
    for place, text in enumerate(answers):
        labels = {"other": label[place]} if label else {}
        said += [Message(role="user", text=f"Question {place}?"), Message(role="assistant", text=text, labels=labels)]
    return Conversation(
        id=f"{number}", scenario={"goal": f"g{number}"}, messages=tuple(said), extra={"topic": f"t{number}"}
    )


def study(tmp_path, text):
    (tmp_path / "s.yaml").write_text(text)
    return Study.of(tmp_path / "s.yaml")


@open_data
def test_the_published_answers_are_compared_question_by_question():
    first = data.load(SEED / "teacher_sim_topics.txt").conversations
    found, notes = comparisons(first, by_label(first, "quac"))
    assert (len(found), notes) == (13, [])
    aspects = [question.aspects for each in found for question in each.questions]
    refused = [
        [domains.of(each.first).refuses(side) for side in (question.first, question.second)]
        for each in found
        for question in each.questions
    ]
    assert {sum(each): len(asked) for each, asked in zip(refused, aspects, strict=True) if any(each)} == {1: 1, 2: 0}
    assert {len(each) for each in aspects} == {0, 1, 3}
    for each in found:
        for question in each.questions:
            same = question.first.text.split() == question.second.text.split()
            assert not same or question.aspects == ()
        assert list(each.definition().parts)[-2:] == ["preference", "why"]


@open_data
def test_half_of_the_people_see_the_second_side_first():
    first = data.load(SEED / "teacher_sim_topics.txt").conversations
    found, _ = comparisons(first, by_label(first, "quac"))
    switched = [each.switched(seed, by) for each in found for seed in range(10) for by in "abc"]
    assert 0.4 < sum(switched) / len(switched) < 0.6
    assert [each.switched(0, "a") for each in found] == [each.switched(0, "a") for each in found]


def test_what_was_said_of_a_and_b_is_kept_as_said_of_the_sides():
    value = {"1 correctness": "A", "2 correctness": "both", "preference": "B", "why": "A"}
    assert unswitched(value, switched=False) == {**value, "1 correctness": "first", "preference": "second"}
    assert unswitched(value, switched=True) == {**value, "1 correctness": "second", "preference": "first"}


def test_a_label_that_no_answer_has_is_an_error_that_names_it():
    with pytest.raises(DataError, match="no answer of the first side has the label 'other'"):
        by_label([talk(1, "yes")], "other")


def asked(*pairs):
    said = [
        Message(role=role, text=text) for pair in pairs for role, text in zip(("user", "assistant"), pair, strict=True)
    ]
    return Conversation(id="1", scenario={}, messages=tuple(said), extra={"topic": "t"})


def test_a_question_that_is_asked_twice_has_each_time_the_other_sides_answer_of_that_time():
    first = asked(("Who?", "Ann."), ("When?", "1900."), ("Who?", "Her son."), ("Who?", "A third."))
    second = asked(("who", "Ann."), ("Who?", "Her daughter."), ("When?", "1901."))
    ((compared,), _) = comparisons([first], [second])
    assert [(each.number, each.first.text, each.second.text) for each in compared.questions] == [
        (1, "Ann.", "Ann."),
        (2, "1900.", "1901."),
        (3, "Her son.", "Her daughter."),
    ]
    assert [len(each.aspects) for each in compared.questions] == [0, 3, 3]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("Yes.", "yes", True), ("5", "-5", False), ("C++", "C#", False), ("很好。", "很好", True), ("好", "不好", False)],
)
def test_only_answers_that_say_the_same_are_not_asked_about(one, other, same):
    ((compared,), _) = comparisons([asked(("???", one), ("!", "x"))], [asked(("!", "y"), ("???", other))])
    assert [len(each.aspects) for each in compared.questions] == [0 if same else 3, 3]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("first: {name: a}\nsecond: {name: b, source: x}", "first: needs 'source' or 'label'"),
        ("first: {name: a, label: x}\nsecond: {name: b, source: x}", "first: has no source"),
        ("- 1", "the file"),
        ("first: [", "s.yaml"),
        (SIDES + "labelers: 3", "labelers"),
        (SIDES + "pass_mark: 2", "pass_mark"),
    ],
)
def test_a_study_that_cannot_be_is_one_line_that_says_where(tmp_path, text, told):
    with pytest.raises(DataError) as raised:
        study(tmp_path, text)
    assert told in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_study_that_is_not_there_is_told_by_its_path_once(tmp_path):
    with pytest.raises(DataError) as raised:
        Study.of(tmp_path / "none.yaml")
    assert str(raised.value).count("none.yaml") == 1
    assert "labellers" not in str(raised.value)


def test_paths_of_a_study_are_relative_to_its_file(tmp_path):
    assert study(tmp_path, SIDES).first.source == tmp_path / "a.jsonl"


def test_a_person_passes_with_the_share_of_expected_answers_that_the_study_says(tmp_path):
    text = SIDES + "onboarding: [{conversation: '1', expected: {preference: first, 1 correctness: both}}]"
    made = study(tmp_path, text)
    assert made.pass_mark == 0.75
    assert passed(made, {"1": {"preference": "first", "1 correctness": "both"}}) == 1
    assert passed(made, {"1": {"preference": "first", "1 correctness": "first"}}) == 0.5
    assert passed(made, {}) == 0
    assert passed(study(tmp_path, SIDES), {}) == 1


@open_data
def test_every_conversation_is_in_one_batch_and_no_trial_conversation_in_any(tmp_path):
    first = data.load(SEED / "teacher_sim_topics.txt").conversations
    found, _ = comparisons(first, by_label(first, "quac"))
    text = SIDES + f"batch_size: 5\nonboarding: [{{conversation: '{found[0].id}', expected: {{preference: tie}}}}]"
    batches = batches_of(study(tmp_path, text), found)
    assert list(map(len, batches)) == [5, 5, 2]
    assert sorted(name for batch in batches for name in batch) == sorted(each.id for each in found[1:])
    with pytest.raises(DataError, match="'nobody' is no conversation that both sides have: give ids such as"):
        batches_of(study(tmp_path, SIDES + "batches: [[nobody]]"), found)
