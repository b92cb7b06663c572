"""Published definitions, each with a small case counted by hand."""

import json

import pytest

from duologue.analysis import simquac
from duologue.analysis.simquac.answers import answered_by
from duologue.data import Conversation, Message, Span
from duologue.data.simquac import Topic

SECTION = "Three keepers lived there. The last one left in 1968. Ships pass."
TOPIC = Topic(title="t", header="h", section=SECTION)
NONE = "I cannot find the answer."


def talk(*pairs, references=()):
    messages = []
    for number, (question, answer) in enumerate(pairs):
        start = SECTION.find(answer)
        spans = (Span(text=answer, start=start),) if start >= 0 else ()
        more = (
            {"qa": {"values": {"answers": [{"text": r} for r in references[number]], "orig_answer": {"text": answer}}}}
            if number < len(references)
            else {}
        )
        messages += [
            Message(role="user", text=question),
            Message(role="assistant", text=answer, spans=spans, extra=more),
        ]
    return Conversation(id="a", scenario=TOPIC.scenario(), messages=tuple(messages))


def test_the_f1_is_that_of_words_without_case_punctuation_and_articles():
    assert simquac.token_f1("The last one left.", "last one") == pytest.approx(2 * 2 / (3 + 2))
    assert simquac.token_f1("the keepers, keepers", "Keepers") == pytest.approx(2 * 1 / (2 + 1))
    assert simquac.token_f1("x", "y") == 0
    assert simquac.token_f1("the", "an") == 1
    assert simquac.exact_match("The Keepers!", "keepers")


def test_a_teacher_is_scored_question_by_question_and_refusals_apart():
    people = talk(("Who?", "Three keepers"), ("When?", "in 1968"), ("Why?", NONE), ("What?", NONE))
    teacher = talk(("Who?", "Three keepers"), ("When?", NONE), ("Why?", NONE), ("What?", "Ships pass"))
    score = simquac.score_teacher("x", [teacher], [people])
    assert score.several_references == 0
    assert (score.refused_right, score.refused_wrong, score.answered_wrong) == (1, 1, 1)
    assert (score.questions, score.exact, score.heq_q, score.heq_d) == (4, 0.5, 0.5, 0.0)
    assert score.f1 == pytest.approx(0.5)


def test_with_several_references_peoples_own_f1_is_the_bar():
    people = talk(("Who?", "Three keepers"), references=[["Three keepers", "keepers lived there"]])
    # People: "Three keepers" against "keepers lived there" has F1 2*1/(2+3) = 0.4 either way.
    better = simquac.score_teacher("x", [talk(("Who?", "keepers lived"))], [people])
    worse = simquac.score_teacher("x", [talk(("Who?", "the last keepers who left"))], [people])
    assert better.several_references == 1
    # Each reference is held out once: 2*1/(2+2) and 2*2/(2+3), 2*1/(4+2) and 2*1/(4+3).
    assert (better.f1, better.heq_q) == (pytest.approx((0.5 + 0.8) / 2), 1.0)
    assert (worse.f1, worse.heq_q) == (pytest.approx((1 / 3 + 2 / 7) / 2), 0.0)


def test_references_half_of_which_refuse_are_a_refusal_and_a_refusal_has_no_word_of_an_answer():
    half = talk(("Who?", "Three keepers"), references=[["Three keepers", "CANNOTANSWER"]])
    most = talk(("Who?", "Three keepers"), references=[["Three keepers", "keepers", "CANNOTANSWER"]])
    refused, answered = talk(("Who?", NONE)), talk(("Who?", "Three keepers"))
    assert [simquac.score_teacher("x", [one], [half]).f1 for one in (refused, answered)] == [1, 0]
    assert simquac.score_teacher("x", [refused], [most]).f1 == 0
    # "Three keepers" is held out once: 1 with itself, 2*1/(2+1) with the other.
    assert simquac.score_teacher("x", [answered], [most]).f1 == pytest.approx((1 + 2 / 3) / 2)
    wordy = talk(("Who?", "I find the answer"))
    assert simquac.score_teacher("x", [refused], [wordy]).f1 == 0


def test_other_questions_are_no_reference():
    with pytest.raises(ValueError, match="has other questions than its reference"):
        simquac.score_teacher("x", [talk(("Who?", NONE))], [talk(("When?", NONE))])


def test_the_simple_teachers_give_sentences_of_the_section():
    people = talk(("Who?", "Three keepers"), ("When?", "in 1968"))
    (first,) = answered_by(simquac.first_sentence, [people])
    assert [m.text for m in first.messages if m.role == "assistant"] == ["Three keepers lived there."] * 2
    (one,), (other,) = (answered_by(simquac.random_sentence, [people]) for _ in range(2))
    assert one == other
    assert all(m.text in SECTION for m in one.messages if m.role == "assistant")


def test_coverage_is_the_share_of_the_sections_characters_in_any_answer():
    conversation = talk(("Who?", "Three keepers"), ("And?", "keepers lived"), ("Why?", NONE))
    assert simquac.coverage(conversation) == pytest.approx(len("Three keepers lived") / len(SECTION))


def test_a_student_is_scored_by_answers_coverage_and_repeats():
    conversation = talk(("Who?", "Three keepers"), ("who", NONE), ("When?", "in 1968"))
    score = simquac.score_student("x", [conversation])
    assert (score.questions, score.asked_again) == (3, 1)
    assert score.answered == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match="no question to score"):
        simquac.score_student("x", [])


@pytest.fixture(scope="module")
def few_people(tmp_path_factory, open_data):
    value = json.loads((open_data / "simquac/quac_subset.json").read_text())
    value["data"][0]["paragraphs"] = value["data"][0]["paragraphs"][:6]
    path = tmp_path_factory.mktemp("few") / "quac.json"
    path.write_text(json.dumps(value))
    return path


def test_the_baseline_is_measured_by_one_command(few_people, capsys, monkeypatch):
    from duologue.cli import main

    monkeypatch.setattr("sys.argv", ["duologue", "simquac", "baseline", str(few_people), "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    output = json.loads(capsys.readouterr().out)
    assert ended.value.code == 0
    assert [row["teacher"] for row in output["teachers"]] == ["offline", "first sentence", "random sentence"]
    assert [row["questions"] for row in output["students"]] == [72, 72]
    assert output["teachers"][0]["f1"] > output["teachers"][2]["f1"]
