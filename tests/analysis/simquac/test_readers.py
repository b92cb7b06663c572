"""Readers of QuAC and SimQuAC: how answers are scored, who answers without a model, training on other topics."""

from types import SimpleNamespace

import pytest

pytest.importorskip("sklearn")

from duologue.analysis.simquac import answers, overlap, score_answer
from duologue.analysis.simquac.readers import cross, first, nearest, none, people, read, readers_table, score_reader
from duologue.data import Conversation, DataError, Message, load
from duologue.data.grounding import NO_ANSWER
from duologue.data.simquac import questions_of
from tests.analysis.asked import question, talk
from tests.analysis.printed import rows


@pytest.mark.parametrize(
    ("answer", "reference", "f1"),
    [
        ("The last keeper", "last keeper!", 1.0),
        ("in 1968", "1968", 2 / 3),
        ("", "", 1.0),
        ("", "a keeper", 0.0),
        ("他在上海", "在上海", 6 / 7),
    ],
)
def test_the_f1_is_that_of_words_without_case_punctuation_and_articles(answer, reference, f1):
    assert overlap(answer, reference).f1 == pytest.approx(f1)


def test_with_several_references_each_is_held_out_and_peoples_own_f1_is_the_bar():
    found = score_answer("in 1968", ["in 1968", "1968", "left"])
    # Held out in turn: the best of the rest is 2/3, 1, 1; people's own are 2/3, 2/3, 0.
    assert found.f1 == pytest.approx((2 / 3 + 1 + 1) / 3)
    assert found.people_f1 == pytest.approx((2 / 3 + 2 / 3 + 0) / 3)
    assert score_answer("b", ["a b\nb"], each_line=True).exact == 1
    assert score_answer("b", ["a b\nb"]).exact == 0


@pytest.mark.parametrize(
    ("answer", "references", "f1"),
    [
        (NO_ANSWER, [NO_ANSWER, "1968"], 1.0),
        ("1968", [NO_ANSWER, "1968"], 0.0),
        ("1968", [NO_ANSWER, "1968", "1968"], 1.0),
        (NO_ANSWER, ["I cannot find the answer there"], 0.0),
    ],
)
def test_half_of_the_references_decide_whether_there_is_an_answer(answer, references, f1):
    assert score_answer(answer, references).f1 == f1


def test_a_table_has_a_row_for_no_answer_people_and_each_reader():
    asked = [
        question("Who left?", "The last keeper", "keeper", number=0),
        question("Why?", NO_ANSWER, number=1),
    ]
    table = readers_table(read({"nearest": nearest, "first": first}, {"mine": asked}))
    assert [row.reader for row in rows(table)] == ["no answer", "nearest", "first", "people"]
    nothing, near, *_, best = rows(table)
    assert (nothing.f1, nothing.refused_right, nothing.refused_wrong) == (0.5, 1, 1)
    assert (near.answered_wrong, near.unanswerable, near.heq_d) == (1, 1, 0.0)
    assert (best.questions, best.heq_q, best.f1) == (1, 1.0, pytest.approx(2 / 3))
    assert people(asked[1:]) is None


def test_the_nearest_sentence_is_that_of_the_rarest_common_words():
    asked = [question("When did the last keeper leave?"), question("Which ship sank?", number=1)]
    assert nearest(asked) == ["The last keeper left in 1968.", "A ship, the Mary Ann, sank near the light in 1970."]
    assert nearest([question(section=" ")]) == first([question(section=" ")]) == none([question()])


def test_intervals_are_over_sections_and_what_could_not_be_asked_counts_nowhere():
    asked = [question("?", "a", number=n, section=f"section {n // 2}") for n in range(16)]
    given = ["a" if n % 3 else "b" for n in range(16)]
    row = SimpleNamespace(**score_reader("mine", asked, given, failures=["down"] + [None] * 15))
    assert (row.questions, row.failed, row.reason) == (15, 1, "down")
    assert row.f1_low < row.f1 < row.f1_high
    assert score_reader("mine", asked[:4], given[:4])["reason"] == "no interval: 2 sections, 6 are needed"
    with pytest.raises(DataError, match="gave 1 answers to 16 questions"):
        score_reader("mine", asked, ["a"])
    with pytest.raises(DataError, match=r"no question to score \(down\)"):
        score_reader("mine", asked[:1], [None], failures=["down"])


def test_no_topic_is_both_learnt_from_and_tested():
    sets = {
        name: [question(f"{name}?", title=f"T{n}", section=f"s{n}", number=n) for n in range(7)]
        for name in ("people", "simulated")
    }

    def train(seen):
        learnt = {one.title for one in seen}

        def reader(asked):
            assert learnt.isdisjoint(one.title for one in asked)
            return ["The last keeper" for _ in asked]

        return reader

    assert [(row["trained_on"], row["data"], row["f1"]) for row in cross(train, sets)] == [
        (one, other, 1.0) for one in sets for other in sets
    ]
    with pytest.raises(DataError, match="7 topics are too few for 8 folds"):
        cross(train, sets, number=8)


def test_a_teacher_and_a_student_are_scored_question_by_question():
    asked = talk(("Who left?", "The last keeper"), ("Why?", NO_ANSWER), ("why", "so"))
    score = answers.score_teacher([asked], [asked])
    assert (score["f1"], score["heq_d"], score["refused_right"], score["questions"]) == (1.0, 1.0, 1, 3)
    given = answers.answered_by(answers.first_sentence, [asked])
    assert given[0].messages[1].text == "Three keepers lived there."
    assert answers.score_teacher(given, [asked])["answered_wrong"] == 1
    student = answers.score_student([asked])
    assert (student["questions"], student["asked_again"], student["answered"]) == (3, 1, pytest.approx(2 / 3))
    other = asked.model_copy(update={"messages": (Message(role="user", text="What?"), *asked.messages[1:])})
    with pytest.raises(DataError, match="has other questions than its reference"):
        answers.score_teacher([other], [asked])


def test_only_the_first_unanswerable_questions_of_a_conversation_are_asked():
    one = talk(*[(f"Why {number}?", NO_ANSWER) for number in range(5)], ("When?", "in 1968"))
    assert [item.text for item in questions_of([one])] == ["Why 0?", "Why 1?", "Why 2?", "When?"]
    assert len(questions_of([one], unanswerable=None)) == 6
    *_, last = questions_of([one], unanswerable=0, history=2)
    assert last.earlier == (("Why 3?", NO_ANSWER), ("Why 4?", NO_ANSWER))
    with pytest.raises(DataError, match="no question about a section"):
        questions_of([Conversation(id="a", scenario={"kind": "chat"}, messages=one.messages)])


@pytest.mark.heavy
def test_the_open_data_gives_the_figures_of_the_documentation(open_data):
    sets = {name: questions_of(load(open_data / f"simquac/{name}.json")) for name in ("quac_subset", "sim_quac")}
    f1 = {(row["data"], row["reader"]): row["f1"] for row in read({"nearest": nearest}, sets)}
    assert f1["quac_subset", "nearest"] == pytest.approx(0.1664, abs=1e-4)
    assert f1["sim_quac", "nearest"] == pytest.approx(0.2126, abs=1e-4)
