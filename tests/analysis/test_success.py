"""How often conversations succeed: the share, its interval, and what has no score."""

from collections.abc import Iterator
from typing import Any

import pytest

from duologue.analysis.success import clustered, intraclass, successes, wilson
from duologue.data import Conversation, DataError


def talk(name: str, value: Any, scenario: str = "a", **more: Any) -> Conversation:
    labels = {"scores": {"success": {"value": value, "reason": "", **more}}}
    return Conversation(id=name, scenario={"title": scenario}, stop="max_turns", labels=labels)


def test_repeats_that_always_agree_count_as_their_scenario() -> None:
    rate = clustered([(40, 40)] * 3 + [(0, 40)] * 3)
    assert (rate.low, rate.high) == (wilson(0.5, 6).low, wilson(0.5, 6).high)
    assert (round(rate.low, 2), rate.value, round(rate.high, 2)) == (0.19, 0.5, 0.81)


def test_repeats_that_do_not_agree_more_than_others_count_each() -> None:
    counts = [(20, 40), (21, 40), (19, 40), (20, 40), (18, 40), (22, 40)]
    rate, plain = clustered(counts), wilson(0.5, 240)
    assert intraclass(counts) == 0
    assert (rate.low, rate.high) == (plain.low, plain.high)


@pytest.mark.parametrize("counts", [[(7, 9)], [(1, 1), (0, 1), (1, 1)], [(4, 4), (4, 4)], [(0, 1), (0, 3)]])
def test_where_nothing_tells_how_alike_repeats_are_each_counts(counts: list[tuple[int, int]]) -> None:
    reached, total = sum(count for count, _ in counts), sum(size for _, size in counts)
    assert clustered(counts) == wilson(reached / total, total)


def test_the_correlation_of_groups_of_unequal_sizes_is_that_of_the_analysis_of_variance() -> None:
    # By hand: share 7/10; between = 4/10 * ... with groups 4 of 4, 2 of 2, 1 of 4, and m0 = (10 - 36/10) / 2.
    between = (4 * 0.3**2 + 2 * 0.3**2 + 4 * 0.45**2) / 2
    within = (1 * 3 / 4) / 7
    expected = (between - within) / (between + (3.2 - 1) * within)
    assert intraclass([(4, 4), (2, 2), (1, 4)]) == pytest.approx(expected)
    rate = clustered([(4, 4), (2, 2), (1, 4)])
    assert rate == wilson(0.7, 10 / (1 + (3.6 - 1) * expected))


def test_the_interval_of_scored_conversations_knows_their_scenarios() -> None:
    talks = [talk(f"{n}", scenario < "c", scenario) for scenario in "abcd" for n in range(10)]
    result = successes(talks)
    assert (result.success.low, result.success.high) == (wilson(0.5, 4).low, wilson(0.5, 4).high)


@pytest.mark.parametrize(
    ("unscored", "reason"),
    [
        (talk("x", 1), "the score 'success' is 1, not true or false"),
        (talk("x", None, error="KeyError: 'seat'"), "the score 'success' failed: KeyError: 'seat'"),
        (Conversation(id="x", scenario={}, labels={"scores": {}}), "no scorer gave one"),
    ],
)
def test_what_has_no_score_is_counted_with_the_first_reason(unscored: Conversation, reason: str) -> None:
    result = successes([unscored, talk("a", True), talk("b", "yes")])
    assert (result.conversations, result.unscored, result.unscored_because) == (1, 2, reason)
    with pytest.raises(DataError) as error:
        successes([unscored])
    assert reason in str(error.value)


def test_conversations_are_read_one_at_a_time_and_not_kept() -> None:
    alive, most = set(), 0

    class Counted(Conversation):
        def __del__(self) -> None:
            alive.discard(id(self))

    def read() -> Iterator[Conversation]:
        nonlocal most
        for number in range(60):
            conversation = Counted.model_validate(talk(f"{number}", number % 2 == 0, f"{number % 7}").plain())
            alive.add(id(conversation))
            most = max(most, len(alive))
            yield conversation
            del conversation

    result = successes(read())
    assert (result.conversations, len(result.failures)) == (60, 30)
    assert most <= 2
