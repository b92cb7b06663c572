"""Scores of readers: counted by hand, by the published definitions, and beside scikit-learn's."""

import re
import string
from collections import Counter

import pytest

from duologue.analysis.over_users.means import UserSums
from duologue.analysis.simquac import overlap, score_answer
from duologue.analysis.simquac.answers import normalised
from duologue.analysis.simquac.readers import people, score_reader
from duologue.data import DataError, load
from duologue.data.grounding import NO_ANSWER
from duologue.data.simquac import questions_of
from tests.analysis.asked import SECTION, question


def squad_words(text):
    """The normalisation of SQuAD's program, by its published definition."""
    text = "".join(mark for mark in text.lower() if mark not in set(string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def squad(prediction, reference):
    """F1, precision and recall of SQuAD's program."""
    predicted, expected = squad_words(prediction), squad_words(reference)
    same = sum((Counter(predicted) & Counter(expected)).values())
    if not same:
        return 0.0, 0.0, 0.0
    precision, recall = same / len(predicted), same / len(expected)
    return 2 * precision * recall / (precision + recall), precision, recall


TEXTS = [
    "The last keeper left", "last, keeper!", "a ship", "In 1968.", "keeper keeper left", "the Mary Ann sank", "1968", "Three",
]  # fmt: skip


@pytest.mark.parametrize("prediction", TEXTS)
def test_overlap_is_what_the_published_definition_gives(prediction):
    for reference in TEXTS:
        assert tuple(overlap(prediction, reference)) == pytest.approx(squad(prediction, reference))
        assert score_answer(prediction, [reference]).exact == (squad_words(prediction) == squad_words(reference))


@pytest.mark.parametrize("answer", [*TEXTS, NO_ANSWER])
def test_several_references_are_held_out_one_at_a_time_as_in_quac(answer):
    references = ["The last keeper left in 1968", "last keeper", "the Mary Ann"]
    scores = [0.0 if answer == NO_ANSWER else squad(answer, reference)[0] for reference in references]
    held_out = [max(scores[:place] + scores[place + 1 :]) for place in range(3)]
    own = [
        max(squad(one, other)[0] for number, other in enumerate(references) if number != place)
        for place, one in enumerate(references)
    ]
    score = score_answer(answer, references)
    assert score.f1 == pytest.approx(sum(held_out) / 3)
    assert score.people_f1 == pytest.approx(sum(own) / 3)


def test_scores_of_a_reader_counted_by_hand():
    questions = [
        question("Who left?", "The last keeper", number=0),
        question("When?", "in 1968", number=1),
        question("Why?", NO_ANSWER, number=2),
        question("How?", NO_ANSWER, number=3, section=SECTION + " More.", title="Other"),
    ]
    row = score_reader("r", questions, ["the last keeper left", "in 1970", None, "a ship"])
    # precision: 2/3 (last keeper of last keeper left), 1/2, 1, 0; recall: 1, 1/2, 1, 0
    assert row.precision == pytest.approx((2 / 3 + 1 / 2 + 1 + 0) / 4)
    assert row.recall == pytest.approx((1 + 1 / 2 + 1 + 0) / 4)
    assert row.f1 == pytest.approx((4 / 5 + 1 / 2 + 1 + 0) / 4)
    assert (row.exact, row.heq_q, row.heq_d) == (0.25, 0.25, 0.0)
    assert row.f1_answerable == pytest.approx((4 / 5 + 1 / 2) / 2)
    assert (row.questions, row.unanswerable, row.several_references) == (4, 2, 0)
    assert (row.refused_right, row.refused_wrong, row.answered_wrong) == (1, 0, 1)
    assert (row.f1_low, row.f1_high) == (None, None)  # two sections are too few
    right = score_reader("r", questions, ["last keeper", "1968 in", "I cannot find the answer", ""])
    assert (right.f1, right.exact, right.heq_q, right.heq_d) == (1.0, 0.75, 1.0, 1.0)


def test_an_answer_of_several_spans_counts_by_its_best_one_or_as_a_whole():
    one = question("Who?", "Three keepers\nthe Mary Ann")
    assert score_reader("r", [one], ["Mary Ann"]).f1 == 1.0
    whole = score_reader("r", [one], ["Mary Ann"], each_line=False)
    assert (whole.f1, whole.precision, whole.recall, whole.exact) == (pytest.approx(2 / 3), 1.0, 0.5, 0.0)


def test_questions_on_which_people_differ_can_be_left_out():
    questions = [question("Who?", "keepers", "a ship", number=0), question("When?", "in 1968", "1968", number=1)]
    assert score_reader("r", questions, ["keepers", "1968"]).questions == 2
    assert score_reader("r", questions, ["keepers", "1968"], least_agreement=0.4).questions == 1
    with pytest.raises(DataError, match="no question to score"):
        score_reader("r", questions[:1], ["keepers"], least_agreement=0.4)


def test_people_are_the_ceiling_where_there_are_several_references():
    questions = [question("When?", "in 1968", "1968", number=0), question("Who?", "keepers", number=1)]
    row = people(questions)
    assert row is not None
    assert (row.questions, row.reader, row.heq_q) == (1, "people", 1.0)
    assert row.f1 == pytest.approx(2 / 3)  # 1968 against in 1968, either way
    assert row.precision == row.recall == pytest.approx((1 / 2 + 1) / 2)
    assert row.exact == 0.0
    assert people(questions[1:]) is None


def test_what_could_not_be_asked_counts_in_no_mean():
    questions = [question("Who?", "keepers", number=number) for number in range(2)]
    row = score_reader("r", questions, ["keepers", None], failures=[None, "the endpoint is gone"])
    assert (row.questions, row.f1, row.failed, row.reason) == (1, 1.0, 1, "the endpoint is gone")
    with pytest.raises(DataError, match="gave 1 answers to 2 questions"):
        score_reader("r", questions, ["keepers"])
    with pytest.raises(DataError, match="the endpoint is gone"):
        score_reader("r", questions[:1], [None], failures=["the endpoint is gone"])


def test_the_interval_is_that_of_a_ratio_over_sections():
    scipy = pytest.importorskip("scipy.stats")
    # Clusters of one: the interval of a mean by Student's t.
    values = [0.1, 0.4, 0.3, 0.9, 0.5, 0.2, 0.6, 0.7, 0.35, 0.45]
    low, high = UserSums(values, [1] * len(values)).interval()
    expected = scipy.t.interval(0.95, 9, loc=sum(values) / 10, scale=scipy.sem(values))
    assert (low, high) == pytest.approx(expected)
    # Each question twice in its section tells no more.
    assert UserSums([2 * value for value in values], [2] * len(values)).interval() == pytest.approx((low, high))
    assert UserSums(values[:9], [1] * 9).interval() == UserSums(values[:9], [1] * 9).scale_interval() == (None, None)
    assert UserSums(values, [1] * 10).scale_interval() == (low, high)
    # Most near 0 and one far above: others of its kind may be as many as users do not tell.
    near = UserSums([0.01] * 9 + [0.8], [1] * 10)
    assert near.scale_interval()[1] > near.interval(0.0, 1.0)[1] + 0.1


def test_of_texts_without_repeated_words_the_scores_are_those_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    pairs = [(one, other) for one in TEXTS for other in TEXTS]
    pairs = [pair for pair in pairs if all(len(set(squad_words(text))) == len(squad_words(text)) for text in pair)]
    assert len(pairs) > 40
    questions = [question("?", reference, number=number) for number, (_, reference) in enumerate(pairs)]
    row = score_reader("r", questions, [answer for answer, _ in pairs])
    binary = preprocessing.MultiLabelBinarizer().fit([squad_words(text) for text in TEXTS])
    answer_words, expected = (
        binary.transform([squad_words(text) for text in column]) for column in zip(*pairs, strict=True)
    )
    averaging = {"average": "samples", "zero_division": 0}
    assert row.precision == pytest.approx(metrics.precision_score(expected, answer_words, **averaging))
    assert row.recall == pytest.approx(metrics.recall_score(expected, answer_words, **averaging))
    assert row.f1 == pytest.approx(metrics.f1_score(expected, answer_words, **averaging))
    joined = [[" ".join(squad_words(text)) for text in column] for column in zip(*pairs, strict=True)]
    assert row.exact == pytest.approx(metrics.accuracy_score(joined[1], joined[0]))
    assert row.heq_q == pytest.approx(sum(score_answer(a, [b]).f1 == 1 for a, b in pairs) / len(pairs))


def quac_heq(dialogues):
    """HEQ-Q and HEQ-D of QuAC's program, by its published definition, from predictions with their references."""

    def f1(prediction, references):
        return max(squad(prediction, reference)[0] for reference in references)

    def left_out(references):
        return [references[:place] + references[place + 1 :] for place in range(len(references))]

    reached, throughout = [], []
    for dialogue in dialogues:
        of_dialogue = []
        for prediction, references in dialogue:
            spans = [reference for reference in references if reference != "CANNOTANSWER"]
            compared = spans if len(spans) > len(references) - len(spans) else ["CANNOTANSWER"]
            if len(compared) == 1:
                own, score = 1.0, f1(prediction, compared)
            else:
                own = sum(f1(one, rest) for one, rest in zip(compared, left_out(compared), strict=True)) / len(compared)
                score = sum(f1(prediction, rest) for rest in left_out(compared)) / len(compared)
            of_dialogue.append(score >= own)
        reached += of_dialogue
        throughout.append(all(of_dialogue))
    return sum(reached) / len(reached), sum(throughout) / len(throughout)


def test_heq_is_what_quacs_published_definition_gives():
    refused = "CANNOTANSWER"
    dialogues = [
        [("in 1968", ["in 1968", "1968", "the year 1968"]), (refused, [refused, refused, "a ship"])],
        [("keeper", ["The last keeper", "keeper", "last keeper left"]), ("a ship", [refused, "ship"])],
        [("the last keeper left", ["The last keeper", "keeper"]), ("x", ["in 1970", refused, "1970"])],
        [("sank", ["sank near the light"]), (refused, [refused])],
    ]
    questions, answers = [], []
    for name, dialogue in enumerate(dialogues):
        for number, (prediction, references) in enumerate(dialogue):
            answers_of_people = [NO_ANSWER if reference == refused else reference for reference in references]
            questions.append(question("?", *answers_of_people, number=number, conversation=str(name)))
            answers.append(None if prediction == refused else prediction)
    row = score_reader("r", questions, answers)
    assert (row.heq_q, row.heq_d) == pytest.approx(quac_heq(dialogues))
    assert (row.heq_q, row.heq_d) == (4 / 8, 1 / 4)


def test_where_words_are_not_divided_by_spaces_each_sign_is_one():
    assert normalised("最后一位看灯人 left, in 1968 年") == (*"最后一位看灯人", "left", "in", "1968", "年")
    assert overlap("看灯人", "最后一位看灯人。").f1 == pytest.approx(2 * 3 / (3 + 7))
    assert normalised("Groening's naïve café") == ("groenings", "naïve", "café")


def test_what_is_no_text_is_no_answer_that_can_be_scored():
    with pytest.raises(DataError, match="r: gave 3 as an answer: an answer is a text, or None for none"):
        score_reader("r", [question()], [3])  # type: ignore[list-item]


def test_people_are_asked_the_same_questions_as_readers_where_those_on_which_they_differ_are_left_out():
    questions = [question("Who?", "keepers", "a ship", number=0), question("When?", "in 1968", "1968", number=1)]
    row = people(questions, least_agreement=0.4)
    assert row is not None
    assert (row.questions, row.f1) == (1, pytest.approx(2 / 3))
    assert people(questions[:1], least_agreement=0.4) is None


@pytest.mark.heavy
def test_the_open_data_are_normalised_exactly_as_squads_program_does(open_data):
    for name in ("quac_subset", "sim_quac"):
        for item in questions_of(load(open_data / f"simquac/{name}.json")):
            for text in (item.section, *item.references):
                assert list(normalised(text)) == squad_words(text)
