"""What is planted in one of two sides of the people is found, and ranked where it belongs, also if they are unequal."""

from collections.abc import Callable

import numpy as np
import pytest

from duologue.analysis.realism.measures import MEASURES
from duologue.analysis.realism.measures.transcripts import profile_facts, transcripts_of
from duologue.analysis.realism.ranking import ranked
from duologue.analysis.realism.rows import number_rows, statistics_of, two_samples
from duologue.analysis.realism.statistics.samples import MeasuredUsers, measured
from duologue.analysis.realism.statistics.two_samples import Draws

ALONE = [column for column, measure in enumerate(MEASURES) if not measure.pairwise]
DRAWS = Draws(shufflings=1000, halvings=10)
UNEQUAL = ["conversations", "users", "tasks", "one user"]


def rows_of(sides: tuple[MeasuredUsers, MeasuredUsers], draws: Draws = DRAWS):
    return ranked(number_rows(two_samples(*sides, MEASURES, draws), *sides, MEASURES))


def order(sides: tuple[MeasuredUsers, MeasuredUsers]) -> list[str]:
    return [row.name for row in rows_of(sides)]


def plant(people, change: Callable[..., str]) -> MeasuredUsers:
    """All the people with their messages changed: `change(text, number, last, conversation)`."""
    changed = []
    for conversation in people:
        messages, number = [], 0
        last = sum(message.role == "user" for message in conversation.messages) - 1
        for message in conversation.messages:
            if message.role == "user":
                message = message.model_copy(update={"text": change(message.text, number, last, conversation)})
                number += 1
            messages.append(message)
        changed.append(conversation.model_copy(update={"messages": tuple(messages)}))
    return measured(transcripts_of(changed, "zh"), MEASURES)


@pytest.mark.heavy
def test_messages_a_fifth_longer_come_first(people, plain, halved):
    """Planted in halves that were alike before.

    A fifth is half a standard deviation of people's message length, about two standard errors between halves of 59
    users: in any two halves something else differs as much by chance. So the halves are the most alike of 40,
    chosen before anything is planted. What is added is blank, so that nothing else is longer, richer or repeated.
    """

    def noise(split: int) -> float:
        sim, human = (half.columns(ALONE) for half in halved(plain, split))
        both = statistics_of(sim, human, [MEASURES[column] for column in ALONE], Draws(shufflings=200))
        chance = both.p_and_chance[1]
        return float(np.nanmax(np.abs(both.effect) / np.where(chance > 0, chance, np.inf)))

    longer = plant(people, lambda text, number, last, one: text + " " * round(len(text) / 5))
    quiet = sorted(range(40), key=noise)[:5]
    firsts = [order(halved(plain, split, planted=longer))[0] for split in quiet]
    assert firsts.count("message length") >= 4, firsts


@pytest.mark.parametrize(
    ("change", "measures"),
    [
        pytest.param(lambda text, number, last, one: f"{text}，谢谢", {"thanks"}, marks=pytest.mark.heavy),
        (lambda text, number, last, one: f"{text}，谢谢" if number == last else text, {"thanks"}),
        pytest.param(lambda text, number, last, one: f"谢谢你！{text}", {"thanks"}, marks=pytest.mark.heavy),
        (lambda text, number, last, one: f"你好，我需要你的帮助。{text}" if not number else text, {"identical openings"}),
        pytest.param(lambda text, number, last, one: f"事情是这样的，{text}" if not number else text, {"identical openings"}, marks=pytest.mark.heavy),
        (
            lambda text, number, last, one: (
                f"{text}。" + "，".join(value for _, value in profile_facts(one, "zh")) if not number else text
            ),
            {"profile facts told", "facts told at once"},
        ),
        pytest.param(lambda text, number, last, one: f"{text}，可以吗", {"questions"}, marks=pytest.mark.heavy),
        (lambda text, number, last, one: text if number % 2 else f"{text}😊", {"emoji"}),
        pytest.param(lambda text, number, last, one: f"{text}！", {"exclamation"}, marks=pytest.mark.heavy),
    ],
    ids=[
        "thanks in every message", "thanks at the end", "thanks at the beginning", "identical openings",
        "another identical opening", "facts volunteered at once", "questions without a mark", "emoji", "exclamation marks",
    ],
)  # fmt: skip
def test_what_is_planted_in_one_half_is_first_or_second(change, measures, people, plain, halved):
    planted = plant(people, change)
    for split in range(3):
        first = order(halved(plain, split, planted=planted))[:2]
        assert measures & set(first), (split, first)


@pytest.mark.parametrize("design", UNEQUAL)
@pytest.mark.parametrize(
    ("change", "measure"),
    [
        (lambda text, number, last, one: f"{text}，谢谢" if number == last else text, "thanks"),
        pytest.param(
            lambda text, number, last, one: text if number % 2 else f"{text}😊", "emoji", marks=pytest.mark.heavy
        ),
        pytest.param(lambda text, number, last, one: f"{text}！", "exclamation", marks=pytest.mark.heavy),
    ],
    ids=["thanks at the end", "emoji", "exclamation marks"],
)
def test_what_is_planted_is_found_where_the_sides_are_unequal(design, change, measure, people, plain, halved):
    planted = plant(people, change)
    for split in range(2):
        row = next(row for row in rows_of(halved(plain, split, design, planted)) if row.name == measure)
        assert row.effect > 0.3, (split, row.effect)
        assert row.p_adjusted <= 0.05, (split, row.p_adjusted)


@pytest.mark.heavy
def test_a_weak_plant_is_found_in_half_of_the_halvings(people, plain, halved):
    """It was found in 16 of 20; of six halvings, fewer than three come in 2 of 100 such tests."""
    rng = np.random.default_rng(7)
    planted = plant(people, lambda text, number, last, one: text + "😊" if rng.random() < 0.03 else text)
    detections = 0
    for split in range(6):
        row = next(row for row in rows_of(halved(plain, split, "balanced", planted), Draws()) if row.name == "emoji")
        detections += row.p_adjusted <= 0.05
    print(f"{detections} of 6")
    assert detections >= 3
