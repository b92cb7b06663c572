"""A report as one number: what it weighs, and that a search cannot win by losing a measure."""

import pytest

from duologue.analysis.realism.comparing import compare
from duologue.analysis.realism.measures import MEASURES
from duologue.analysis.realism.objective import Against, judged, summary, table
from duologue.data.tuning import (
    AccessToTestSet,
    JudgedTrial,
    Judgement,
    MeasureGap,
    TuningResult,
    TuningTrial,
    halved,
    worse,
)

SOME = [measure for measure in MEASURES if measure.family in ("shape", "politeness")]
WORDY = "I would be very happy to hear about a quiet place by the sea, thank you so much indeed!"


def gap(name, distance, *, family="shape", floor=0.1, floor_high=0.3):
    return MeasureGap(
        name=name, family=family, unit="words", direction="more", sim=1.0, human=2.0, distance=distance, floor=floor,
        floor_high=floor_high,
    )  # fmt: skip


def judgement(*gaps, value=1.0):
    return Judgement(value=value, gaps=tuple(sorted(gaps, key=lambda gap: -gap.distance)))


@pytest.fixture
def sides(talk):
    """People who write shortly, users who do the same, and wordy ones."""
    people = [talk(f"place {n}", "Take a train.", "food there", "Fish.", user=f"p{n}") for n in range(10)]
    terse = [talk(f"place {n}", "Take a train.", "food there", "Fish.", user=f"s{n}") for n in range(10)]
    wordy = [talk(f"{WORDY} {n}", "Take a train.", WORDY, "Fish.", user=f"w{n}") for n in range(10)]
    return people, terse, wordy


@pytest.mark.heavy
def test_users_like_people_have_a_lower_value_than_wordy_ones(sides):
    people, terse, wordy = sides
    against = Against(people, language="en", measures=SOME)
    far, near = against(wordy, "all"), against(terse, "all")
    assert near.value < far.value / 2
    assert any(word.startswith("message length") and "this user" in word for word in far.words)
    assert not any(word.startswith("message length") for word in near.words)
    assert far == against(wordy, "all")


@pytest.mark.heavy
def test_the_value_is_that_of_the_whole_report_although_no_auc_is_measured(sides):
    people, _, wordy = sides
    whole = compare(wordy, people, part="all", measures=SOME, examples_each=0, shufflings=100)
    assert whole.discriminator.auc.value is not None
    assert Against(people, measures=SOME)(wordy, "all") == judged(whole)


@pytest.mark.heavy
def test_what_got_worse_is_penalised_and_what_was_bad_at_the_start_is_not(sides):
    people, terse, wordy = sides
    against = Against(people, language="en", measures=SOME)
    start, far = against(terse, "all"), against(wordy, "all")
    worsened = against(wordy, "all", start)
    assert worsened.penalty > 0
    assert worsened.value == pytest.approx(far.value + worsened.penalty)
    assert against(wordy, "all", far).penalty == 0
    assert against(terse, "all", far).penalty == 0


def test_a_user_who_says_nothing_wins_nothing(sides, talk):
    people, _, wordy = sides
    against = Against(people, language="en", measures=SOME)
    start = against(wordy, "all")
    silent = against([talk("", "Hello?", user=f"n{n}") for n in range(10)], "all", start)
    assert silent.value > start.value
    assert {gap.name for gap in silent.gaps} == {gap.name for gap in start.gaps}


def test_halved_and_worse_are_counted_against_start_and_floor():
    start = judgement(*(gap(f"m{n}", 3.0 - n / 10) for n in range(12)))
    end = judgement(*(gap(f"m{n}", 1.0 if n < 3 else 4.0 if n == 5 else 2.0) for n in range(12)))
    assert halved(start, end) == ["m0", "m1", "m2"]
    assert worse(start, end) == ["m5", "m11"]
    assert worse(judgement(gap("a", 0.0)), judgement(gap("a", 0.25))) == []


def test_a_result_is_told_with_how_often_the_test_half_was_opened():
    start, best = judgement(gap("a", 2.0), value=0.9), judgement(gap("a", 0.5), value=0.2)
    opening = AccessToTestSet(number=3, what=("x", "y"), people="p", users=7)
    tuned = TuningResult(
        cast="c", people="p", users={"select": 5}, seed=0, space={}, settings={}, best=1,
        trials=(TuningTrial(number=0, judgement=start), TuningTrial(number=1, judgement=best)),
        judged=JudgedTrial(opening=opening, start=start, best=best),
    )  # fmt: skip
    lines = summary(tuned)
    assert "distance halved on 1 of the 1 furthest; none worse than the human-human baseline" in lines[0]
    assert lines[-1] == "Access 3 to the test split: its figures are not independent any more."
    assert table(tuned).rows == (("a", 2.0, 0.5, 0.1, 2.0, 0.5, 0.1),)


def test_no_measure_is_no_reason_to_fail():
    class Empty:
        measures = ()

    assert judged(Empty()).value == 0.0
