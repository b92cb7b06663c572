"""Intervals hold what is true about as often as they say, or there is none: simulated users, drawn from known truth."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

from duologue.analysis.realism.discriminator import _interval, cross_validated
from duologue.analysis.realism.statistics.cells import cells_of, rank_scores
from duologue.analysis.realism.statistics.samples import MeasuredUsers
from duologue.analysis.realism.statistics.shuffling import Differences, permutation_test, permuted, ratio
from duologue.analysis.realism.statistics.two_samples import Draws, TwoSamples

KINDS = ["normal", "skewed", "rare"]
BETWEEN, WITHIN = 0.7, 0.714
"""Standard deviations of users, and of the conversations of a user: together 1."""

MOSTLY = 0.95
"""Share of intervals that are not given above which the rest says nothing: too few."""
RARE, MORE = 0.06, 0.25
"""How often a rare event happens, and how much more often to the simulated users where they differ by 1."""


def design(rng, sizes, single):
    """Side and name of each conversation's user, and its task: each user stands in one to four tasks.

    `single`: simulated users have one conversation about each task, people one to four.
    """
    users, tasks = [], []
    for simulated, size in zip((True, False), sizes, strict=True):
        for user in range(size):
            for task in rng.choice(4, size=rng.integers(1, 5), replace=False):
                for _ in range(1 if single and simulated else rng.integers(1, 5)):
                    users.append((simulated, str(user)))
                    tasks.append(str(task))
    return users, tasks


def drawn(rng, kind, number, shift, width):
    """Conversation x draw: values of users, `number` being each conversation's user."""
    count = int(number.max()) + 1
    if kind == "rare":
        mean = RARE + MORE * shift
        chance = rng.beta(0.5, 0.5 * (1 - mean) / mean, (count, width))[number]
        return (rng.random((len(number), width)) < chance).astype(float)
    value = rng.normal(0, BETWEEN, (count, width))[number] + rng.normal(0, WITHIN, (len(number), width)) + shift
    return value if kind == "normal" else np.exp(value / 2)


def truth(kind, shift):
    """Difference of means, and Cliff's delta."""
    if kind == "rare":
        return MORE * shift, MORE * shift
    delta = 2 * norm.cdf(shift / np.sqrt(2 * (BETWEEN**2 + WITHIN**2))) - 1
    half_variance = (BETWEEN**2 + WITHIN**2) / 8
    skewed = np.exp(shift / 2 + half_variance) - np.exp(half_variance)
    return (shift if kind == "normal" else skewed), delta


def agree(two):
    """p is a twentieth at most just where 0 lies outside the interval of the effect."""
    significant, bounds = two.p_and_chance[0] <= 0.05, two.effect_bounds
    assert (significant == ((bounds.low > 0) | (bounds.high < 0))).all()


def covered(kind, shift, sizes, single, repeats, width, seed=0):
    """How often the intervals of difference and effect hold, and how often there is none."""
    rng = np.random.default_rng([seed, KINDS.index(kind), int(10 * shift), *sizes, single])
    true_difference, true_effect = truth(kind, shift)
    covering, without = [], []
    for _ in range(repeats):
        users, tasks = design(rng, sizes, single)
        numbers = {user: number for number, user in enumerate(dict.fromkeys(users))}
        number = np.array([numbers[user] for user in users])
        simulated = np.array([side for side, _ in users])[:, None]
        values = np.where(simulated, drawn(rng, kind, number, shift, width), drawn(rng, kind, number, 0, width))
        cells = cells_of(values, users, tasks)
        two = TwoSamples(cells, np.ones(width), np.full(width, float(kind == "rare")), Draws(shufflings=399))
        difference, effect = two.difference_bounds, two.effect_bounds
        agree(two)
        holds = [
            (bounds.low - 1e-9 <= true) & (true <= bounds.high + 1e-9)
            for bounds, true in ((difference, true_difference), (effect, true_effect))
        ]
        none = np.logical_or(*two.without_interval)
        covering.append(np.array(holds)[:, ~none])
        without.append(none)
    return np.concatenate(covering, axis=1), float(np.mean(without))


@pytest.mark.parametrize(
    ("kind", "size"), [("normal", 10), ("skewed", 10), ("normal", 30), ("skewed", 30), ("rare", 30)]
)
def test_intervals_hold_about_as_often_as_they_say(kind, size):
    covering, _ = covered(kind, 0.8, (size, size), single=True, repeats=4, width=150)
    difference, effect = covering.mean(axis=1)
    assert 0.91 <= difference <= 0.985
    assert 0.91 <= effect <= 0.985


def test_five_users_a_side_are_too_few():
    assert all(covered(kind, 0.8, (5, 5), single=False, repeats=3, width=20)[1] == 1 for kind in KINDS)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("kind", "shift", "size", "single"), [*product(KINDS, (0, 0.8), (8, 10, 30, 60), (True, False))]
)
def test_intervals_hold_in_93_to_98_percent(kind, shift, size, single):
    covering, without = covered(kind, shift, (size, size), single, repeats=24, width=150, seed=1)
    if without > MOSTLY:
        print(f"| {kind} | {shift} | {size} | {single} | | | {without:.2f} |")
        return
    difference, effect = covering.mean(axis=1)
    print(f"| {kind} | {shift} | {size} | {single} | {difference:.3f} | {effect:.3f} | {without:.2f} |")
    # Where few of few users differ from the rest, no interval holds less often, and hardly one more often.
    most = 1 if kind == "rare" and size <= 10 else 0.98
    assert 0.93 <= difference <= most
    assert 0.93 <= effect <= most


@pytest.mark.heavy
@pytest.mark.parametrize(("kind", "shift", "single"), [*product(KINDS, (0, 0.8), (True, False))])
def test_intervals_of_twenty_against_eighty_hold_nearly_as_often(kind, shift, single):
    covering, without = covered(kind, shift, (20, 80), single, repeats=24, width=150, seed=1)
    difference, effect = covering.mean(axis=1)
    print(f"| {kind} | {shift} | 20, 80 | {single} | {difference:.3f} | {effect:.3f} | {without:.2f} |")
    most = 1 if kind == "rare" else 0.98
    assert 0.91 <= difference <= most
    assert 0.91 <= effect <= most


UNEQUAL = [
    ((60, 60), (20, 2)), ((20, 20), (20, 2)), ((12, 60), (20, 2)), ((60, 10), (10, 1)), ((60, 20), (10, 1)),
    ((20, 40), (10, 1)), ((82, 97), (3, 1)), ((20, 80), (1, 1)), ((80, 20), (1, 1)),
]  # fmt: skip


def of_events(rng, sizes, per_user, rates, alike, width):
    """Two sides whose users have so many conversations, with an event at the rate of their side.

    `alike`: correlation of the conversations of a user.
    """
    users = [
        (simulated, str(user))
        for simulated, size, count in zip((True, False), sizes, per_user, strict=True)
        for user in range(size)
        for _ in range(count)
    ]
    number = np.repeat(np.arange(sum(sizes)), np.repeat(per_user, sizes))
    rate = np.repeat(rates, sizes)[:, None]
    more = (1 - alike) / alike if alike else 0
    chance = rng.beta(rate * more, (1 - rate) * more, (len(rate), width)) if alike else rate.repeat(width, axis=1)
    values = (rng.random((len(users), width)) < chance[number]).astype(float)
    return TwoSamples(cells_of(values, users, ["t"] * len(users)), np.ones(width), np.ones(width), Draws(0, 399))


def test_an_interval_and_its_p_do_not_contradict_each_other():
    """Rare events in users with twenty conversations against two, and in 20 users against 80."""
    rng = np.random.default_rng(6)
    for sizes, per_user in (((30, 30), (20, 2)), ((20, 80), (1, 1))):
        two = of_events(rng, sizes, per_user, (0.26, 0.06), 0, 60)
        agree(two)
        assert (two.p_and_chance[0] <= 0.05).mean() > 0.1
        assert not np.logical_or(*two.without_interval).any()


@pytest.mark.heavy
@pytest.mark.parametrize(("sizes", "per_user"), UNEQUAL)
def test_intervals_of_events_hold_and_agree_with_p_where_sides_are_unequal(sizes, per_user):
    rng = np.random.default_rng([5, *sizes, *per_user])
    for rates, alike in product(((0.03, 0.03), (0.12, 0.12), (0.5, 0.5), (0.26, 0.06), (0.06, 0.26)), (0, 0.3)):
        if max(per_user) == 1 and alike:
            continue
        errs, holds, without = [], [], []
        for _ in range(6):
            two = of_events(rng, sizes, per_user, rates, alike, 200)
            agree(two)
            true, none = rates[0] - rates[1], np.logical_or(*two.without_interval)
            bounds = two.effect_bounds
            errs.append(two.p_and_chance[0] < 0.05)
            holds.append(((bounds.low <= true) & (true <= bounds.high))[~none])
            without.append(none)
        coverage = np.concatenate(holds).mean()
        print(
            f"| {sizes} | {per_user} | {rates} | {alike} | {np.mean(errs):.3f} | {coverage:.3f} | {np.mean(without):.2f} |"
        )
        assert coverage >= 0.91 or np.mean(without) > MOSTLY
        assert rates[0] != rates[1] or np.mean(errs) <= 0.07


@pytest.mark.heavy
@pytest.mark.parametrize(("kind", "sizes"), [*product(KINDS, ((10, 10), (30, 30), (20, 80)))])
def test_p_is_below_a_twentieth_in_3_to_7_percent_of_null_draws(kind, sizes):
    rng = np.random.default_rng([2, KINDS.index(kind), *sizes])
    below = []
    for _ in range(15):
        users, tasks = design(rng, sizes, single=False)
        numbers = {user: number for number, user in enumerate(dict.fromkeys(users))}
        number = np.array([numbers[user] for user in users])
        cells = cells_of(drawn(rng, kind, number, 0, 150), users, tasks)
        differences = Differences(cells, rank_scores(cells))
        observed, error = differences.of(cells.labelling)
        null = ratio(*differences.of(permuted(cells.sides, 199, rng)))
        below.append(permutation_test(observed[0], error[0], null, np.ones(150))[0] <= 0.05)
    assert 0.03 <= np.mean(below) <= 0.07, np.mean(below)


def told_apart(rng, size, shift, columns=20, differing=5):
    """Two sides of so many users with one to three conversations, five of twenty measures of which differ by `shift`."""
    sides = []
    for simulated in (True, False):
        count = rng.integers(1, 4, size)
        user = np.repeat(np.arange(size), count)
        values = rng.normal(0, 0.6, (size, columns))[user] + rng.normal(0, 0.8, (len(user), columns))
        values[:, :differing] += shift * simulated
        names = (f"{simulated}{number}" for number in user)
        transcripts = (
            SimpleNamespace(
                cluster=name,
                task="",
                dialogue=(name, row),
                owner=name,
                sources=(),
                conversation=SimpleNamespace(id=row),
            )
            for row, name in enumerate(names)
        )
        sides.append(MeasuredUsers(tuple(transcripts), values))
    return sides


def auc_of(sides, draws, repeats=10):
    sim, human = sides
    return cross_validated(sim, human, range(20), draws, repeats=repeats).auc


@pytest.mark.heavy
@pytest.mark.parametrize(("size", "shift"), [*product((10, 30, 60), (0, 0.4))])
def test_the_interval_of_the_auc_holds_the_mean_auc_in_about_95_percent(size, shift):
    """True is the mean over draws: how well a model that is trained on so many users orders others."""
    rng = np.random.default_rng([3, size, int(10 * shift)])
    aucs = [auc_of(told_apart(rng, size, shift), Draws(split)) for split in range(200)]
    true = np.mean([auc.value for auc in aucs])
    coverage = np.mean([auc.low <= true <= auc.high for auc in aucs])
    print(f"| {size} | {true:.2f} | {coverage:.3f} |")
    assert 0.91 <= coverage <= 0.985  # 200 draws of 95 % lie there in all but one of 200 runs


def test_few_users_give_an_auc_without_an_interval():
    rng = np.random.default_rng(4)
    auc = auc_of(told_apart(rng, 9, 0.4), Draws(), repeats=2)
    assert auc.value is not None
    assert (auc.low, auc.reason) == (None, "too few users for an interval")
    assert auc_of(told_apart(rng, 10, 0.4), Draws(), repeats=2).low is not None


def test_sides_without_any_overlap_have_a_narrow_interval():
    """Nothing varies then, and the prior's variance is all that there is."""
    side, user = np.repeat([1, 0], 20), np.arange(40)
    auc = _interval(np.ones((2, 40)), side, user)
    assert auc.value == 1
    assert 0.8 < auc.low < auc.high == 1
