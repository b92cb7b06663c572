"""Scores of few labels or few sections from known truth: agreement, predicted options, AUC, F1 of readers."""

from collections.abc import Callable
from itertools import permutations, product

import numpy as np
from scipy.stats import norm

from duologue.analysis.over_users.chance import (
    alpha_disagreement,
    chance_of_all,
    chance_of_uncertain,
    distances_of,
    same,
)
from duologue.analysis.over_users.estimate import UserScore, auc_within, interval, items_of
from duologue.analysis.over_users.jackknife import coefficient_interval
from duologue.analysis.over_users.means import UserSums

ALIKE = 0.15
"""Correlation of how often raters are right of a user."""
VALUES = {"97 and 3 %": (0.97, 0.03), "three values": (0.6, 0.3, 0.1), "five": (0.1, 0.2, 0.3, 0.25, 0.15)}
"""How often each value is true."""


def spread_of(users: int, unequal: bool, items: int = 6) -> list[int]:
    """How many items each user has: as many, or a fifth of the users has ten times as many as the others."""
    return [30 if unequal and number < users // 5 else 3 if unequal else items for number in range(users)]


def rated(rng, draws, sizes, shares, right, raters):
    """Draw x user x value x value: pairs of votes by two or more raters, each vote counted once."""
    users, values = len(sizes), len(shares)
    spread = 1 / ALIKE - 1
    rightly = rng.beta(right * spread, (1 - right) * spread, (draws, users))
    own = rng.dirichlet(8 * np.array(shares), (draws, users)).cumsum(axis=-1)[..., :-1]
    tables, (draw, user) = np.zeros((draws, users, values, values)), np.indices((draws, users))
    for number in range(max(sizes)):
        there = (np.array(sizes) > number) / (raters - 1)
        true = (rng.random((draws, users, 1)) > own).sum(axis=-1)
        guess = (rng.random((raters, draws, users, 1)) > np.cumsum(shares)[:-1]).sum(axis=-1)
        votes = np.where(rng.random((raters, draws, users)) < rightly, true, guess)
        for one, other in permutations(votes, 2):
            np.add.at(tables, (draw, user, one, other), there)
    return tables


def agreement_of(values: int, raters: int) -> dict[str, Callable[[np.ndarray], UserScore]]:
    """Coefficients with their intervals, of a table of each user."""
    places = np.arange(values, dtype=float)
    apart = distances_of(places, "quadratic")

    def scored(disagreement, **more):
        return lambda tables: coefficient_interval(tables, disagreement, **more)

    votes = {"votes": float(raters)}
    coefficients = {
        "alpha": scored(alpha_disagreement("nominal", places), **votes),
        "interval alpha": scored(alpha_disagreement("interval", places), **votes),
        "Fleiss": scored(chance_of_all(1 - np.eye(values)), **votes),
    }
    if raters == 2:
        coefficients["accuracy"] = scored(same(), margins=False)
        coefficients["AC1"] = scored(chance_of_uncertain(1 - np.eye(values)), margins=False)
        coefficients["AC2"] = scored(chance_of_uncertain(apart), margins=False, weighted=True)
    return coefficients


def agreement_cell(draws, users, unequal, name, right, raters=2, seed=1) -> dict[str, tuple[float | None, float]]:
    """Of each coefficient its coverage where there is an interval, None of few, and how often there is none."""
    shares = VALUES[name]
    rng = np.random.default_rng([seed, users, unequal, len(shares), int(100 * right), raters])
    many = rated(np.random.default_rng(0), 2000, [2] * 50, shares, right, raters).sum(axis=0)
    sizes = spread_of(users, unequal, items=1)
    tables = rated(rng, draws, sizes, shares, right, raters)
    cells = {}
    for coefficient, of in agreement_of(len(shares), raters).items():
        truth = of(many).value
        scores = [of(one) for one in tables]
        holds = [one.low <= truth <= one.high for one in scores if one.low is not None]
        cells[coefficient] = (float(np.mean(holds)) if len(holds) > draws / 5 else None, 1 - len(holds) / draws)
    return cells


def agreement(draws: int) -> list[str]:
    """Coefficients of few labels, one of each user, or 30 or 3; least and greatest coverage over values and raters."""
    names = ("accuracy", "AC1", "AC2", "alpha", "interval alpha", "Fleiss")
    lines = [f"| users | labels of each | {' | '.join(names)} |", "|---|---|" + "---:|" * len(names)]
    for users, unequal in product((8, 20, 40), (False, True)):
        cells: dict[str, list[float]] = {name: [] for name in names}
        for about in product(VALUES, (0.3, 0.8, 0.97), (2, 3)):
            for name, (coverage, _) in agreement_cell(draws // 8, users, unequal, *about).items():
                cells[name] += [] if coverage is None else [coverage]
        spans = (f"{min(cells[name]):.3f} to {max(cells[name]):.3f}" for name in names)
        lines.append(f"| {users} | {'30 or 3' if unequal else '1'} | " + " | ".join(spans) + " |")
    return lines


def auc_cell(draws: int, users: int, unequal: bool, rate: float, apart: float, seed: int = 1) -> tuple[float, float]:
    """Coverage of an AUC where so many items are positive, and how often there is no interval.

    `apart`: how far the scores of positive items lie above others, in standard deviations.
    """
    rng = np.random.default_rng([seed, users, unequal, int(100 * rate), int(10 * apart)])
    sizes = spread_of(users, unequal)
    user, truth, holds = np.repeat(np.arange(users), sizes), norm.cdf(apart / 2**0.5), []
    for _ in range(draws):
        positive = rng.random(len(user)) < rng.beta(3 * rate, 3 * (1 - rate), users)[user]
        scores = rng.normal(0, 0.3**0.5, users)[user] + rng.normal(0, 0.7**0.5, len(user)) + apart * positive
        of, pairs = auc_within(positive, scores, np.zeros_like(user), user)
        score = interval(of, pairs, "", n=0, share=True)
        if score.low is not None:
            holds.append(score.low <= truth <= score.high)
    return float(np.mean(holds)), 1 - len(holds) / draws


def aucs(draws: int) -> list[str]:
    """The AUC where few items are positive; the least and greatest of AUCs of .5, .76 and .96."""
    lines = ["| users | items of each | positive | coverage | without interval |", "|---|---|---:|---:|---:|"]
    for users, unequal, rate in product((8, 20, 97), (False, True), (0.03, 0.1, 0.3)):
        cells = [auc_cell(draws // 16, users, unequal, rate, apart) for apart in (0.0, 1.0, 2.5)]
        (low, *_, high), (fewest, *_, most) = (sorted(one) for one in zip(*cells, strict=True))
        of_each = "30 or 3" if unequal else "6"
        lines.append(f"| {users} | {of_each} | {rate} | {low:.3f} to {high:.3f} | {fewest:.2f} to {most:.2f} |")
    return lines


def section_cell(
    draws: int, sections: int, unequal: bool, mean: float, *, whole: bool, seed: int = 1
) -> tuple[float, float]:
    """Coverage of the F1 of readers over sections: as printed, and Student's. `whole`: F1 is 0 or 1, as of a reader that refuses."""
    rng = np.random.default_rng([seed, sections, unequal, int(100 * mean), whole])
    sizes = spread_of(sections, unequal)
    section, holds = np.repeat(np.arange(sections), sizes), []
    for _ in range(draws):
        own = rng.beta(4 * mean, 4 * (1 - mean), sections)[section].clip(1e-3, 1 - 1e-3)
        f1 = (rng.random(len(own)) < own) if whole else rng.beta(own, 1 - own)
        values = np.bincount(section, weights=f1)
        of = UserSums(values.tolist(), items_of(section).astype(int).tolist())
        holds.append([low is not None and low <= mean <= high for low, high in (of.scale_interval(), of.interval(0.0, 1.0))])  # fmt: skip
    ours, students = np.mean(holds, axis=0)
    return float(ours), float(students)


def sections(draws: int) -> list[str]:
    """The F1 of readers near 0 (means of .03, .06 and .1), over sections with 6 questions each, or 30 or 3."""
    lines = ["| sections | questions of each | coverage | Student's |", "|---|---|---:|---:|"]
    for number, unequal in product((10, 20, 50), (False, True)):
        cells = [section_cell(draws // 4, number, unequal, mean, whole=whole) for mean, whole in product((0.03, 0.06, 0.1), (True, False))]  # fmt: skip
        spans = (f"{min(one):.3f} to {max(one):.3f}" for one in zip(*cells, strict=True))
        lines.append(f"| {number} | {'30 or 3' if unequal else '6'} | " + " | ".join(spans) + " |")
    return lines
