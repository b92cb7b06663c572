"""People against people: nothing is found where nothing is, and what is planted is found and ranked where it belongs."""

from collections.abc import Callable

import numpy as np
import pytest

from duologue.analysis.realism.discriminator import cross_validated_auc
from duologue.analysis.realism.measures import MEASURES
from duologue.analysis.realism.measures.transcripts import profile_facts, transcripts_of
from duologue.analysis.realism.ranking import ranked
from duologue.analysis.realism.rows import Draws, TwoSamples, number_rows
from duologue.analysis.realism.samples import Sample, joined, measured

SPLITS = 20
DRAWS = Draws(shufflings=1000, resamples=20, halvings=10)
AMONG_OTHERS = [column for column, measure in enumerate(MEASURES) if measure.pairwise]
ALONE = [column for column, measure in enumerate(MEASURES) if not measure.pairwise]


@pytest.fixture(scope="module")
def people(open_sides):
    return open_sides[1]


@pytest.fixture(scope="module")
def plain(people):
    """All the people, measured once."""
    return measured(transcripts_of(people, "zh"), MEASURES)


def half(side: Sample, split: int) -> list[bool]:
    """For each conversation whether its user is in the first half of that split."""
    users = sorted({transcript.cluster for transcript in side.transcripts})
    first = set(np.random.default_rng(split).permutation(users)[: len(users) // 2])
    return [transcript.cluster in first for transcript in side.transcripts]


def part(side: Sample, chosen: list[bool]) -> Sample:
    """The half; what is measured against others is measured among its own again."""
    kept = side.where(chosen)
    values = kept.values.copy()
    for column in AMONG_OTHERS:
        values[:, column] = [np.nan if one is None else one for one in MEASURES[column].of(kept.transcripts)]
    return Sample(kept.transcripts, values)


def halves(plain: Sample, split: int, planted: Sample | None = None) -> tuple[Sample, Sample]:
    """Two halves of the people, the first with the plant."""
    chosen = half(plain, split)
    return part(plain if planted is None else planted, chosen), part(plain, [not one for one in chosen])


def order(plain: Sample, split: int, planted: Sample | None = None) -> list[str]:
    return [row.name for row in ranked(number_rows(*halves(plain, split, planted), MEASURES, DRAWS))]


def plant(people, change: Callable[..., str]) -> Sample:
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


def test_between_halves_of_the_people_nothing_is_found(plain):
    found = []
    for split in range(SPLITS):
        rows = ranked(number_rows(*halves(plain, split), MEASURES, DRAWS))
        found.append(any(row.p_adjusted is not None and row.p_adjusted <= 0.05 for row in rows))
    assert sum(found) <= 1


def test_between_halves_of_the_people_a_model_cannot_tell(plain):
    held = []
    for split in range(SPLITS):
        auc, _ = cross_validated_auc(*halves(plain, split), ALONE, DRAWS, resamples=200)
        held.append(auc.low <= 0.5 <= auc.high)
    assert sum(held) >= 19


def test_messages_a_fifth_longer_come_first(people, plain):
    """Planted in halves that were alike before.

    A fifth is half a standard deviation of people's message length, about two standard errors between halves of 59
    users: in any two halves something else differs as much by chance. So the halves are the most alike of 40,
    chosen before anything is planted. What is added is blank, so that nothing else is longer, richer or repeated.
    """

    def noise(split: int) -> float:
        both = TwoSamples(joined(*halves(plain, split)), np.ones(len(MEASURES)), Draws(shufflings=200))
        chance = both.p_and_chance[1]
        return float(np.nanmax(np.abs(both.effect) / np.where(chance > 0, chance, np.inf)))

    longer = plant(people, lambda text, number, last, one: text + " " * round(len(text) / 5))
    quiet = sorted(range(40), key=noise)[:5]
    firsts = [order(plain, split, longer)[0] for split in quiet]
    assert firsts.count("message length") >= 4, firsts


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda text, number, last, one: f"{text}，谢谢", {"thanks"}),
        (lambda text, number, last, one: f"{text}，谢谢" if number == last else text, {"thanks"}),
        (lambda text, number, last, one: f"谢谢你！{text}", {"thanks"}),
        (lambda text, number, last, one: f"你好，我需要你的帮助。{text}" if not number else text, {"identical openings"}),
        (lambda text, number, last, one: f"事情是这样的，{text}" if not number else text, {"identical openings"}),
        (
            lambda text, number, last, one: (
                f"{text}。" + "，".join(value for _, value in profile_facts(one, "zh")) if not number else text
            ),
            {"profile facts told", "facts told at once"},
        ),
        (lambda text, number, last, one: f"{text}，可以吗", {"questions"}),
        (lambda text, number, last, one: text if number % 2 else f"{text}😊", {"emoji"}),
        (lambda text, number, last, one: f"{text}！", {"exclamation"}),
    ],
    ids=[
        "thanks in every message", "thanks at the end", "thanks at the beginning", "identical openings",
        "another identical opening", "facts volunteered at once", "questions without a mark", "emoji", "exclamation marks",
    ],
)  # fmt: skip
def test_what_is_planted_in_one_half_is_first_or_second(change, found, people, plain):
    planted = plant(people, change)
    for split in range(3):
        first = order(plain, split, planted)[:2]
        assert found & set(first), (split, first)
