"""Training readers on one data set to ask them about another: folds of topics."""

from itertools import pairwise

import pytest

from duologue.analysis.simquac.readers import cross, folds_of
from duologue.data import DataError
from duologue.data.grounding import NO_ANSWER
from tests.analysis.asked import question


def lessons(count, first="The keeper of number", name="topic"):
    """Topics whose questions are answered by the sentence's part behind its comma, every third by nothing."""
    lesson_questions = []
    for number in range(count):
        places = ["Oslo", "Rome", "Lima", "Bonn", "Cork"]
        section = " ".join(
            f"{first} {number} lived in {place} for long, until the year {1900 + 7 * number + spot}."
            for spot, place in enumerate(places)
        )
        for spot, place in enumerate(places):
            reference = NO_ANSWER if spot == 4 else f"until the year {1900 + 7 * number + spot}."
            text = "Did anybody like cheese?" if spot == 4 else f"When was it that it was {place}?"
            lesson_questions.append(
                question(
                    text,
                    reference,
                    number=spot,
                    section=section,
                    title=f"{name} {number}",
                    conversation=f"{name}{number}",
                )
            )
    return lesson_questions


def test_a_topic_is_in_one_fold_of_all_data_sets():
    one = [question(section=f"Section {number}.", title=f"T{number // 2}") for number in range(20)]
    other = [question(section=f"Section {number}.", title=f"Another {number}") for number in range(10, 30)]
    fold = folds_of([one, other], 5)
    assert len(fold) == 30
    assert all(fold[a.section] == fold[b.section] for a, b in zip(one[::2], one[1::2], strict=True))
    assert set(fold.values()) == set(range(5))
    assert fold == folds_of([other, one], 5)
    assert fold != folds_of([one, other], 5, seed=1)
    with pytest.raises(DataError, match="too few for 31 folds"):
        folds_of([one, other], 31)


def test_no_topic_that_is_asked_about_was_seen_in_training():
    seen: list[set[str]] = []

    class Spy:
        def fit(self, questions):
            seen.append({item.title for item in questions})

            def answer(questions):
                assert not seen[-1] & {item.title for item in questions}
                return ["x"] * len(questions)

            return answer

    first, second = lessons(10), lessons(10)[::2]
    report = cross(Spy, {"a": first, "b": second}, folds=5)
    assert [(row.data, row.trained_on, row.questions) for row in report.rows] == [
        ("a", "a", 50), ("a", "b", 50), ("b", "a", 25), ("b", "b", 25),
    ]  # fmt: skip
    assert len(seen) == 10
    assert all(one != two for one, two in pairwise(seen[:5]))


def test_too_few_topics_are_told_with_what_helps():
    one = [question(section=f"Section {number}.", title=f"T{number}") for number in range(4)]
    with pytest.raises(DataError, match=r"^4 topics are too few for 5 folds: give .* more topics, or fewer folds$"):
        folds_of([one], 5)
    with pytest.raises(DataError, match=r"^1 topic is too few for 2 folds: give conversations about more topics$"):
        folds_of([one[:1]], 2)
