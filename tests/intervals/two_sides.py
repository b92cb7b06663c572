"""Two sides of users that are drawn from known truth: differences of their means, and rare events."""

from itertools import product

import numpy as np
from scipy.stats import norm

from duologue.analysis.realism.statistics.cells import cells_of
from duologue.analysis.realism.statistics.two_samples import Draws, TwoSamples

KINDS = ["normal", "skewed", "rare"]
BETWEEN, WITHIN = 0.7, 0.714
"""Standard deviations of users, and of the conversations of a user: together 1."""

MOSTLY = 0.95
"""Share of intervals that are not given above which the rest says nothing: too few."""
RARE, MORE = 0.06, 0.25
"""How often a rare event happens, and how much more often to the simulated users where they differ by 1."""


UNEQUAL = [
    ((60, 60), (20, 2)), ((20, 20), (20, 2)), ((12, 60), (20, 2)), ((60, 10), (10, 1)), ((60, 20), (10, 1)),
    ((20, 40), (10, 1)), ((82, 97), (3, 1)), ((20, 80), (1, 1)), ((80, 20), (1, 1)),
]  # fmt: skip


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


def events_of(sizes, per_user, rates, alike, repeats, rng):
    """How often p is below a twentieth, how often the interval holds the difference, and how often there is none."""
    errs, holds, without = [], [], []
    for _ in range(repeats):
        two = of_events(rng, sizes, per_user, rates, alike, 200)
        agree(two)
        true, none = rates[0] - rates[1], np.logical_or(*two.without_interval)
        bounds = two.effect_bounds
        errs.append(two.p_and_chance[0] < 0.05)
        holds.append(((bounds.low <= true) & (true <= bounds.high))[~none])
        without.append(none)
    coverage = np.concatenate(holds)
    return float(np.mean(errs)), float(coverage.mean()) if coverage.size else np.nan, float(np.mean(without))


RATES = ((0.03, 0.03), (0.12, 0.12), (0.5, 0.5), (0.26, 0.06), (0.06, 0.26))
"""Of both sides."""


def settings_of(sizes, per_user):
    """Rates and correlations, and the generator that draws them one after the other."""
    rng = np.random.default_rng([5, *sizes, *per_user])
    alike = (0,) if max(per_user) == 1 else (0, 0.3)
    return [(rates, one, rng) for rates, one in product(RATES, alike)]


def span(values):
    """The least and the greatest."""
    low, high = (f"{end(values):.3f}" for end in (min, max))
    return low if low == high else f"{low} to {high}"


def differences(draws: int) -> list[str]:
    """Differences of two sides, over shifts of 0 and .8 and one or several conversations a task."""
    lines = ["| users a side | values | difference | effect | no interval |", "|---|---|---:|---:|---:|"]
    for sizes, kind in product(((10, 10), (30, 30), (60, 60), (20, 80)), KINDS):
        rows = []
        for shift, single in product((0, 0.8), (True, False)):
            covering, without = covered(kind, shift, sizes, single, max(draws // 150, 1), 150, seed=1)
            rows.append((*(covering.mean(axis=1) if without <= MOSTLY else (None, None)), without))
        columns = [[one for one in column if one is not None] for column in zip(*rows, strict=True)]
        users = sizes[0] if len({*sizes}) == 1 else f"{sizes[0]} and {sizes[1]}"
        lines.append(f"| {users} | {kind} | " + " | ".join(span(one) if one else "–" for one in columns) + " |")
    return lines


def events(draws: int) -> list[str]:
    """Events in users with unequally many conversations, alike or with a correlation of .3; wrong: p without a difference."""
    lines = [
        "| users | conversations each | wrong | equal rates | 26 and 6 %, either way |",
        "|---|---|---:|---:|---:|",
    ]
    for sizes, per_user in UNEQUAL:
        wrong, equal, apart = [], [], []
        for rates, alike, rng in settings_of(sizes, per_user):
            errs, coverage, without = events_of(sizes, per_user, rates, alike, max(draws // 600, 1), rng)
            if rates[0] == rates[1]:
                wrong.append(errs)
            if without <= MOSTLY:
                (equal if rates[0] == rates[1] else apart).append(coverage)
        users, each = (f"{one} and {other}" for one, other in (sizes, per_user))
        lines.append(f"| {users} | {each} | {span(wrong)} | {span(equal)} | {span(apart)} |")
    return lines
