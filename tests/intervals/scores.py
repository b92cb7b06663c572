"""Scores over users that are drawn from known truth: coefficients of judges, shares."""

from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import product

import numpy as np

from duologue.analysis.over_users.chance import beyond_chance, chance_of_margins, distances_of
from duologue.analysis.over_users.estimate import (
    auc_within,
    correlation_within,
    crossed,
    fishers,
    interval,
    mean_over,
    ratio,
    sums_of,
)
from duologue.analysis.over_users.jackknife import coefficient_interval
from duologue.analysis.over_users.means import over_users
from duologue.analysis.over_users.student_quantile import students
from tests.intervals.success import scenario_counts

FINDS = {"seven in ten": 0.7, "three in ten": 0.3, "chance": None}
"""How many of the rare a judge finds, and as many others besides, so that both labels have the same rate; or it guesses."""


def kappa_cell(draws, users, rate, finds=0.7, seed=1):
    """Coverage of Cohen's kappa where there is an interval, and how often there is none; a label of each user."""
    rng = np.random.default_rng([seed, users, int(1000 * rate)])
    both = rate * (rate if finds is None else finds)
    joint = np.array([[both, rate - both], [rate - both, 1 - 2 * rate + both]])
    disagreement = chance_of_margins(1 - np.eye(2))
    truth = float(beyond_chance(joint[None], disagreement)(np.ones((1, 1)))[0])
    tables = np.eye(4).reshape(4, 2, 2)

    @cache
    def covers(counts):
        """Of a table of these counts; None without an interval."""
        score = coefficient_interval(np.repeat(tables, counts, axis=0), disagreement)
        return None if score.low is None else score.low <= truth <= score.high

    holds = [covers(tuple(one)) for one in rng.multinomial(users, joint.ravel(), size=draws).tolist()]
    with_interval = [one for one in holds if one is not None]
    return float(np.mean(with_interval)) if with_interval else None, 1 - len(with_interval) / draws


def kappa(draws: int) -> list[str]:
    """Cohen's kappa of rare values, by how many of the rare the judge finds."""
    lines = ["| the judge finds | rare value | labels | coverage | without interval |", "|---|---|---:|---:|---:|"]
    for (name, finds), rate, users in product(FINDS.items(), (0.03, 0.1, 0.2), (40, 100, 200, 400)):
        coverage, without = kappa_cell(draws // 2, users, rate, finds)
        if without > 0.9:
            coverage = None  # of so few intervals nothing follows
        lines.append(
            f"| {name} | {rate} | {users} | {'–' if coverage is None else f'{coverage:.3f}'} | {without:.2f} |"
        )
    return lines


def judged_world(rng, users):
    """4 to 15 turns of each user: whose, the satisfaction, a judge's points, and these as whole points."""
    user = np.repeat(np.arange(users), rng.integers(4, 16, users))
    latent = rng.normal(0, 0.6, users)[user] + rng.normal(0, 0.8, len(user))
    points = 3.6 + 0.6 * latent + rng.normal(0, 0.3, users)[user] + rng.normal(0, 0.6, len(user))
    truth, whole = (np.clip(np.round(one), 1, 5).astype(int) for one in (3.6 + latent, points))
    return user, truth, points, whole


def judged_scores(user, truth, points, whole):
    """A mean, a ratio, the weighted kappa and the AUC, as functions of how often each user counts; the pairs of the AUC."""
    table = crossed(user, truth - 1, whole - 1, 5)
    low = truth <= 3
    auc, pairs = auc_within(low, -points, np.zeros(len(user), dtype=int), user)
    scores = {
        "mean": mean_over(abs(whole - truth), user),
        "ratio": ratio(sums_of(low & (whole <= 3), user), sums_of(low, user)),
        "QWK": beyond_chance(table, chance_of_margins(distances_of(np.arange(5), "quadratic"))),
        "AUC": auc,
    }
    return scores, pairs


def alike_cell(draws: int, users: int, correlation: float, seed: int = 1) -> float:
    """Coverage of the intraclass correlation of normal values, 4 to 15 of each user."""
    rng = np.random.default_rng([seed, users, int(100 * correlation)])
    holds = []
    for _ in range(draws):
        user = np.repeat(np.arange(users), rng.integers(4, 16, users))
        values = rng.normal(0, correlation**0.5, users)[user] + rng.normal(0, (1 - correlation) ** 0.5, len(user))
        of, alike = correlation_within(values, user)
        score = interval(of, np.bincount(user).astype(float), "", n=0, scale=(-1.0, 1.0), on=fishers(alike))
        holds.append(score.low <= correlation <= score.high)
    return float(np.mean(holds))


@lru_cache(maxsize=1)
def judged_truth():
    users = 1500
    world = judged_world(np.random.default_rng(0), users)
    scores = {name: float(of(np.ones((1, users)))[0]) for name, of in judged_scores(*world)[0].items()}
    user, truth = judged_world(np.random.default_rng(0), 20 * users)[:2]
    return {**scores, "ICC": float(correlation_within(truth.astype(float), user)[0](np.ones((1, 20 * users)))[0])}


def judged_cell(draws: int, users: int, seed: int = 1) -> dict[str, float]:
    """Coverage of each score."""
    rng = np.random.default_rng([seed, users])
    holds: dict[str, list[bool]] = {}
    for _ in range(draws):
        world = judged_world(rng, users)
        items = np.bincount(world[0]).astype(float)
        functions, pairs = judged_scores(*world)
        scores = {
            name: interval(of, pairs if name == "AUC" else items, "", n=0, share=name in ("ratio", "AUC"))
            for name, of in functions.items()
        }
        of, alike = correlation_within(world[1].astype(float), world[0])
        scores["ICC"] = interval(of, items, "", n=0, scale=(-1.0, 1.0), on=fishers(alike))
        for name, score in scores.items():
            if score.low is not None:
                holds.setdefault(name, []).append(score.low <= judged_truth()[name] <= score.high)
    return {name: float(np.mean(one)) for name, one in holds.items()}


def judges(draws: int) -> list[str]:
    """Scores of judges over few users."""
    names = ("mean", "ratio", "QWK", "AUC", "ICC")
    lines = [f"| users | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    for users in (8, 10, 20, 50):
        coverage = judged_cell(draws // 4, users)
        lines.append(f"| {users} | " + " | ".join(f"{coverage[name]:.3f}" for name in names) + " |")
    return lines


def share_cell(draws: int, items: Sequence[int], mean: float, correlation: float) -> tuple[float, float]:
    """Coverage of a share over users who have so many items each: of the score form, and of Student's interval."""
    holds: list[list[bool]] = [[], []]
    for counts in scenario_counts(len(items), items, mean, correlation, draws):
        right, sizes = np.array(counts, dtype=float).T
        for form, share in zip(holds, (True, False), strict=True):
            score = interval(ratio(right, sizes), sizes, "", n=0, scale=(0.0, 1.0), share=share)
            if score.low is not None:
                form.append(score.low - 1e-9 <= mean <= score.high + 1e-9)
    return float(np.mean(holds[0])), float(np.mean(holds[1]))


def shares(draws: int) -> list[str]:
    """Shares over users, as many items of each or ten times as many of a fifth, by the least coverage of 12 cells."""
    lines = ["| users | items of each | score form | Student's |", "|---|---|---:|---:|"]
    for users, unequal_items in product((8, 12, 20, 50, 100, 236), (False, True)):
        items = [30 if unequal_items and number < users // 5 else 3 if unequal_items else 6 for number in range(users)]
        cells = [
            share_cell(draws // 4 if users < 100 else draws // 8, items, *about)
            for about in product((0.5, 0.8, 0.95, 0.99), (0.1, 0.5, 0.95))
        ]
        score, student = (min(one) for one in zip(*cells, strict=True))
        lines.append(f"| {users} | {'30 or 3' if unequal_items else '6'} | {score:.3f} | {student:.3f} |")
    return lines


FAR_APART = {
    "near 0": ((0.1, 0.9), (0.05, 0.95), (0.3, 2.7), (1, 4)),
    "from 0 to 1": ((0.5, 0.5), (0.2, 0.3)),
    "in the middle": ((2, 18), (3, 7), (20, 60)),
}
"""Parameters of beta distributions of the users' values, by where these lie."""
ABOVE = {"1 in 10 far above": (0.1, (8, 2), (1, 49)), "one in 20": (0.05, (8, 2), (2, 38))}
"""How many users lie far above, and the parameters of the distributions of these and of all others."""
SEEDS = {"near 0": 6, "from 0 to 1": 11, "in the middle": 13, "1 in 10 far above": 17, "one in 20": 9}
"""Of each row, so that neither another name nor another row changes what is drawn."""


def skewed_cell(draws: int, users: int, name: str, *, student: bool = False) -> tuple[float, float]:
    """Least and greatest coverage over the distributions of a name, of the mean of one value of each user."""
    rng = np.random.default_rng([7, users, SEEDS[name]])
    worlds = []
    for one, other in FAR_APART.get(name, ()):
        worlds.append((one / (one + other), rng.beta(one, other, (draws, users))))
    if name in ABOVE:
        share, far, near = ABOVE[name]
        above = rng.random((draws, users)) < share
        truth = share * far[0] / sum(far) + (1 - share) * near[0] / sum(near)
        worlds.append((truth, np.where(above, rng.beta(*far, above.shape), rng.beta(*near, above.shape))))
    shares = []
    for truth, values in worlds:
        sums = [over_users(row) for row in values.tolist()]
        ends = [one.interval(0.0, 1.0) if student else one.scale_interval() for one in sums]
        shares.append(float(np.mean([low <= truth <= high for low, high in ends])))
    return min(shares), max(shares)


def skewness_aware(values: np.ndarray) -> list[tuple[float, float]]:
    """Intervals of a mean that take skewness into account: Johnson's (1978), Hall's (1992), bootstrap-t, and that of the logarithm."""
    number, mean, deviation = len(values), values.mean(), max(values.std(ddof=1), 1e-9)
    skewness, t = ((values - mean) ** 3).mean() / deviation**3, students(number - 1)
    error, a = deviation / number**0.5, skewness / number**0.5 or 1e-9
    shift = error * a / 6 * (1 + 2 * t**2)
    hall = [mean - error * 3 / a * (np.cbrt(1 + a * (end - a / 6)) - 1) for end in (t, -t)]
    drawn = values[np.random.default_rng(1).integers(0, number, (499, number))]
    means, errors = drawn.mean(axis=1), np.maximum(drawn.std(axis=1, ddof=1) / number**0.5, 1e-9)
    high, low = np.quantile((means - mean) / errors, (0.975, 0.025))
    high_log, low_log = np.quantile(np.log(means / mean) * means / errors, (0.975, 0.025))
    return [
        (mean - t * error + shift, mean + t * error + shift),
        (hall[0], hall[1]),
        (mean - high * error, mean - low * error),
        (mean * np.exp(-high_log * error / mean), mean * np.exp(min(-low_log * error / mean, 9.0))),
    ]


def far_above(draws: int) -> list[str]:
    """Means of users of whom few lie far above all others: as printed, and by forms that take skewness into account."""
    lines = [
        "| users | far above | printed | Johnson's | Hall's | bootstrap-t | of the logarithm |",
        "|---|---|" + "---:|" * 5,
    ]
    for users, (name, (share, far, near)) in product((10, 20, 50), ABOVE.items()):
        rng = np.random.default_rng([8, users, SEEDS[name]])
        above = rng.random((draws // 4, users)) < share
        truth = share * far[0] / sum(far) + (1 - share) * near[0] / sum(near)
        values = np.where(above, rng.beta(*far, above.shape), rng.beta(*near, above.shape))
        ends = [[over_users(row.tolist()).scale_interval(), *skewness_aware(row)] for row in values]
        holds = np.mean([[low <= truth <= high for low, high in row] for row in ends], axis=0)
        lines.append(f"| {users} | {name} | " + " | ".join(f"{one:.3f}" for one in holds) + " |")
    return lines


def skewed(draws: int) -> list[str]:
    """Means of one value of each user, from 0 to 1, by how these are distributed; beside Student's least."""
    lines = ["| users | values | coverage | Student's least |", "|---|---|---:|---:|"]
    for users, name in product((10, 20, 50, 100), (*FAR_APART, *ABOVE)):
        low, high = skewed_cell(draws // 2, users, name)
        least, _ = skewed_cell(draws // 2, users, name, student=True)
        lines.append(f"| {users} | {name} | {low:.3f} to {high:.3f} | {least:.3f} |")
    return lines
