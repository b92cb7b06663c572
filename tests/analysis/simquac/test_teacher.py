"""A teacher's answers beside people's: small cases counted by hand."""

import pytest

from duologue import data
from duologue.analysis.simquac import relation, teacher_statistics
from duologue.data import Conversation, Message
from duologue.data.simquac import Topic
from tests.analysis.printed import measures, rows

NONE = "I cannot find the answer."
TOPIC = Topic(title="Light", header="Keepers", section="Three keepers lived there. The last one left in 1968.")


def talk(*pairs, ordinal=0, people=None, **more):
    messages = []
    for number, (question, answer) in enumerate(pairs):
        labels = {} if people is None else {"quac": people[number]}
        messages += [Message(role="user", text=question)]
        messages += [] if answer is None else [Message(role="assistant", text=answer, labels=labels)]
    return Conversation(id="a", scenario=TOPIC.scenario(), ordinal=ordinal, messages=tuple(messages), **more)


def overlap(report, rule="overlap"):
    """Table 3: by the answers' relation the number of questions by how many spans answer."""
    return {row.answers: row for row in rows(report.by_name[rule])}


def scores(report):
    return measures(report.by_name["scores"])["t"]


@pytest.mark.parametrize(
    ("answer", "people", "expected"),
    [
        ("In 1968", "in  1968", ("same", "single")),
        ("The last one\nleft in 1968", "the last one left in 1968", ("same", "several")),
        ("", "", ("same", "none")),
        ("The last one left in 1968.", "in 1968", ("overlap", "single")),
        ("1968", "left in 1968", ("overlap", "single")),
        ("Nobody\nin 1968 or so", "1968", ("overlap", "several")),
        ("Nobody\n1968", "left in 1968.", ("overlap", "several")),
        ("Three keepers", "keepers lived", ("different", "single")),
        ("", "in 1968", ("different", "none")),
        ("in 1968", "", ("different", "single")),
    ],
)
def test_answers_are_compared_by_containment_without_case_and_white_space(answer, people, expected):
    assert relation(answer, people) == expected


def test_by_the_published_rule_any_line_of_the_answer_decides():
    rules = "ours", "published"
    for answer, people, ours, published in [
        ("Nobody\nleft in 1968", "left in 1968", "overlap", "same"),
        ("Nobody\n1968", "left in 1968.", "overlap", "overlap"),
        ("The last one\nleft in 1968", "one left", "overlap", "different"),
        ("The last\none", "the last one", "same", "overlap"),
        ("Three\nkeepers", "", "different", "different"),
    ]:
        assert [relation(answer, people, rule) for rule in rules] == [(ours, "several"), (published, "several")]


def test_the_published_rule_takes_more_answers_for_refusals():
    people = ["CANNOTANSWER", "CANNOTANSWER", "CANNOTANSWER", "in 1968"]
    answers = ["Well, I cannot find the answer there", "the text does not say", "", "the text does not say"]
    conversation = talk(*zip(("Who?", "Why?", "How?", "When?"), answers, strict=True), people=people)
    report = teacher_statistics("t", [conversation])
    ours, published = overlap(report), overlap(report, "overlap_published")
    assert (ours["same"].none, published["same"].none, published["different"].none) == (1, 3, 1)


def test_a_published_teacher_stands_beside_the_answers_that_its_file_holds():
    conversation = talk(
        ("Who?", "Three keepers"), ("When?", ""), ("Why?", NONE), people=["keepers", "in 1968", "CANNOTANSWER"]
    )
    statistics = teacher_statistics("t", [conversation])
    found, score = overlap(statistics), scores(statistics)
    assert (found["overlap"].single, found["different"].none, found["same"].none) == (1, 1, 1)
    assert "Of the overlapping answers 0 lie within people's" in statistics.tables()[0].notes[0]
    assert (score.refused_right, score.refused_wrong) == (1, 1)
    assert (score.words_per_answer, score.words_per_answer_people) == (2.0, (1 + 2) / 2)


def test_a_run_is_compared_with_its_reference_in_any_order_and_as_far_as_it_was_asked():
    run = [talk(("Who?", "Three keepers"), ("When?", None), ordinal=1), talk(("Who?", "Nobody"))]
    people = [talk(("Who?", "Nobody")), talk(("Who?", "Three keepers"), ("When?", "1968"), ordinal=1)]
    statistics = teacher_statistics("t", run, people)
    assert (scores(statistics).conversations, overlap(statistics)["same"].single) == (2, 2)
    assert "1 of people's questions were not put to this teacher" in statistics.by_name["scores"].notes[0]


def test_what_cannot_be_compared_is_one_line():
    with pytest.raises(ValueError, match="holds no answers of people"):
        teacher_statistics("t", [talk(("Who?", NONE))])
    with pytest.raises(ValueError, match="about 'Light', of which the reference has none"):
        teacher_statistics("t", [talk(("Who?", NONE))], [])
    with pytest.raises(ValueError, match="has other questions than its reference"):
        teacher_statistics("t", [talk(("Who?", NONE))], [talk(("Why?", NONE))])
    with pytest.raises(ValueError, match="asks 2 questions, its reference 1"):
        teacher_statistics("t", [talk(("Who?", NONE), ("Why?", NONE))], [talk(("Who?", NONE))])


def test_the_open_teacher_topics_give_the_numbers_of_the_documentation(open_data):
    statistics = teacher_statistics("t", data.load(open_data / "simquac/teacher_sim_topics.txt"))
    assert statistics.by_name["overlap"].rows == (
        ("same", 8, 0, 9, 17),
        ("overlap", 26, 6, 0, 32),
        ("different", 26, 6, 19, 51),
    )
    assert (scores(statistics).questions, scores(statistics).f1) == (100, pytest.approx(0.3570, abs=1e-4))
