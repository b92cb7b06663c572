"""How often intervals hold a known truth, over users and scenarios that are drawn: `python -m tests.intervals GRID`."""

import argparse
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from itertools import product
from statistics import NormalDist

import numpy as np
from scipy.special import betaln, comb

from duologue.analysis.labels.agreement.calibration import calibrated_mean
from duologue.analysis.over_users.chance import beyond_chance, chance_of_margins, distances_of
from duologue.analysis.over_users.estimate import (
    auc_within,
    correlation_within,
    crossed,
    interval,
    mean_over,
    ratio,
    sums_of,
)
from duologue.analysis.over_users.jackknife import coefficient_interval
from duologue.analysis.over_users.rates import Rate, clustered, pass_hat_intervals, wilson
from tests.intervals.two_sides import differences, events

SCENARIOS, REPEATS = (6, 8, 9, 10, 12, 20, 30, 60), (1, 2, 4, 8)
MEANS, CORRELATIONS = (0.05, 0.1, 0.2, 0.5, 0.7, 0.8, 0.9, 0.95), (0.0, 0.1, 0.3, 0.5, 0.7)

clustered_once = lru_cache(maxsize=200_000)(clustered)


def scenario_shares(rng, scenarios, mean, correlation, draws):
    """Draw x scenario: the chance of success, beta distributed."""
    if not correlation:
        return np.full((draws, scenarios), mean)
    spread = 1 / correlation - 1
    return rng.beta(mean * spread, (1 - mean) * spread, size=(draws, scenarios))


def scenario_counts(scenarios, sizes, mean, correlation, draws, seed=1):
    """For each draw successes and conversations of each scenario; `sizes`: conversations, the same of all or of each."""
    rng = np.random.default_rng([seed, scenarios, int(np.sum(sizes)), int(100 * mean), int(10 * correlation)])
    sizes = np.broadcast_to(sizes, (draws, scenarios))
    successes = rng.binomial(sizes, scenario_shares(rng, scenarios, mean, correlation, draws))
    # Sorted, since the order changes nothing and equal draws are computed once.
    return [tuple(sorted(zip(*one, strict=True))) for one in zip(successes.tolist(), sizes.tolist(), strict=True)]


def held(rates: Iterable[Rate], truth: float) -> tuple[float, float]:
    """Coverage and mean width."""
    both = [(rate.low - 1e-9 <= truth <= rate.high + 1e-9, rate.high - rate.low) for rate in rates]
    coverage, width = np.mean(both, axis=0)
    return float(coverage), float(width)


def oracle(correlation: float) -> Callable[[tuple[tuple[int, int], ...]], Rate]:
    """Wilson's interval by one who knows the correlation."""

    def known(counts: tuple[tuple[int, int], ...]) -> Rate:
        total = sum(size for _, size in counts)
        per_scenario = sum(size**2 for _, size in counts) / total
        return wilson(sum(one for one, _ in counts) / total, total / (1 + (per_scenario - 1) * correlation))

    return known


@lru_cache(maxsize=8)
def posterior_grid(size):
    """Log likelihood of c successes of `size`, by mean and correlation: means by Jeffreys' prior, correlations uniform."""
    means = np.sin((np.arange(241) + 0.5) / 241 * np.pi / 2) ** 2
    spread = 1 / ((np.arange(16) + 0.5) / 16) - 1
    a, b = means[:, None] * spread, (1 - means[:, None]) * spread
    return means, np.array(
        [np.log(comb(size, c)) + betaln(c + a, size - c + b) - betaln(a, b) for c in range(size + 1)]
    )


@lru_cache(maxsize=200_000)
def posterior(counts: tuple[tuple[int, int], ...]) -> Rate:
    """The beta-binomial posterior's interval of 97 %, at which it holds .93 in every cell; one size only."""
    reached, size = [one for one, _ in counts], counts[0][1]
    means, likelihood = posterior_grid(size)
    logs = np.tensordot(np.bincount(reached, minlength=size + 1), likelihood, axes=1)
    below = np.exp(logs - logs.max()).sum(axis=1).cumsum()
    low, high = means[np.searchsorted(below / below[-1], (0.015, 0.985))]
    total = sum(reached)
    share = total / (len(counts) * size)
    return Rate(value=share, low=low if total else 0.0, high=high if share < 1 else 1.0)


def success(draws: int) -> list[str]:
    """The share of successes: the least and the mean coverage over means and correlations, and widths."""
    lines = ["| scenarios x repeats | least | mean | mean without correlation | width | of the oracle's | of the posterior's |", "|---|---:|---:|---:|---:|---:|---:|"]  # fmt: skip
    for scenarios, repeats in product(SCENARIOS, REPEATS):
        cells = []
        for correlation, mean in product(CORRELATIONS if repeats > 1 else (0.0,), MEANS[:5]):
            counts = scenario_counts(scenarios, repeats, mean, correlation, draws)
            few = counts[: draws // 4]
            ours, ours_few = (held(map(clustered_once, some), mean) for some in (counts, few))
            width = held(map(oracle(correlation), counts), mean)[1]
            valid = held(map(posterior, few), mean)[1]
            # Success and failure are alike: the mean of .95 is that of .05.
            cells += [(*ours, width, ours_few[1], valid, correlation)] * (1 if mean in (0.5, 0.7) else 2)
        coverage, width, estimated, few_width, valid, correlation = np.array(cells).T
        lines.append(
            f"| {scenarios} x {repeats} | {coverage.min():.3f} | {coverage.mean():.3f} | "
            f"{coverage[correlation == 0].mean():.3f} | {width.mean():.3f} | {width.mean() / estimated.mean():.2f} | "
            f"{few_width.mean() / valid.mean():.2f} |"
        )
    return lines


def unequal(draws: int) -> list[str]:
    """The same where bounds cut scenarios short: a quarter each has 1, 2, 5 and 8 conversations."""
    lines = ["| scenarios | least | mean | width |", "|---|---:|---:|---:|"]
    for scenarios in (8, 12, 20, 60):
        sizes = np.resize((1, 2, 5, 8), scenarios)
        cells = [
            held(map(clustered_once, scenario_counts(scenarios, sizes, mean, correlation, draws)), mean)
            for correlation, mean in product(CORRELATIONS, MEANS)
        ]
        coverage, width = np.array(cells).T
        lines.append(f"| {scenarios} | {coverage.min():.3f} | {coverage.mean():.3f} | {width.mean():.3f} |")
    return lines


def pass_hat(draws: int) -> list[str]:
    """pass^k over the means and correlations of the grid."""
    lines = ["| scenarios x repeats | k | least | mean | width |", "|---|---:|---:|---:|---:|"]
    for (scenarios, repeats), k in (((12, 4), 2), ((12, 4), 3), ((12, 8), 4), ((12, 8), 7), ((30, 4), 3), ((60, 8), 4)):
        cells = []
        for correlation, mean in product(CORRELATIONS, MEANS[3:]):
            spread = 1 / correlation - 1 if correlation else 1e9
            truth = float(np.exp(betaln(mean * spread + k, (1 - mean) * spread) - betaln(mean * spread, (1 - mean) * spread))) if correlation else mean**k  # fmt: skip
            counts = scenario_counts(scenarios, repeats, mean, correlation, draws)
            cells.append(held((pass_hat_intervals(one)[k] for one in counts), truth))
        coverage, width = np.array(cells).T
        lines.append(
            f"| {scenarios} x {repeats} | {k} | {coverage.min():.3f} | {coverage.mean():.3f} | {width.mean():.3f} |"
        )
    return lines


def rules(draws: int) -> list[str]:
    """How often `--threshold .9` and `--at-least .9` pass, at a correlation of .3."""
    lines = ["| true share | scenarios x repeats | `--threshold 0.9` passes | `--at-least 0.9` passes |", "|---|---|---:|---:|"]  # fmt: skip
    for mean, (scenarios, repeats) in product((0.85, 0.9, 0.95, 0.98), ((12, 8), (30, 4), (60, 1), (60, 4), (200, 2))):
        rates = [clustered(one) for one in scenario_counts(scenarios, repeats, mean, 0.3, draws)]
        shares = (np.mean([end >= 0.9 for end in ends]) for ends in ([r.value for r in rates], [r.low for r in rates]))
        lines.append(f"| {mean} | {scenarios} x {repeats} | " + " | ".join(f"{share:.2f}" for share in shares) + " |")
    return lines


def labels_of(rng, users, per_user, labelled, right, rate):
    """People's values of some things, a judge's of all, and the user of each thing."""
    own = np.repeat(rng.beta(rate * 6, (1 - rate) * 6, size=users), per_user)
    true = (rng.random(users * per_user) < own).astype(float)
    judged = np.where(rng.random(len(true)) < right, true, 1 - true)
    people = [value if number < labelled else None for number, value in enumerate(true.tolist())]
    return people, judged.tolist(), [str(user) for user in np.repeat(np.arange(users), per_user)]


CALIBRATED = (
    (200, 2, 10, 0.85, 0.1),
    (200, 2, 40, 0.85, 0.05),
    (400, 2, 200, 0.9, 0.03),
    (400, 2, 200, 0.97, 0.03),
    (400, 2, 200, 0.9, 0.1),
    (120, 3, 40, 0.85, 0.3),
)
"""Users, things of each, things that people labelled, how often the judge is right, and the rate."""


def calibrated_cell(draws, users, per_user, labelled, right, rate, seed=1):
    """Bias over the rate, root mean squared error, people's, coverage and width of the calibrated rate."""
    rng = np.random.default_rng([seed, users, labelled])
    cells = []
    for _ in range(draws):
        people, judged, names = labels_of(rng, users, per_user, labelled, right, rate)
        both = calibrated_mean(people, judged, users=names, rate=True)
        one = both.calibrated
        cells.append((one.value, both.people.value, one.low <= rate <= one.high, one.high - one.low))
    value, people_value, holds, width = np.array(cells, dtype=float).T
    errors = (float(np.sqrt(np.mean((values - rate) ** 2))) for values in (value, people_value))
    return float(value.mean() / rate - 1), *errors, float(holds.mean()), float(width.mean())


def calibrated(draws: int) -> list[str]:
    """Calibrated estimates of rates."""
    lines = ["| rate | labels | judge right | bias | error | people's error | coverage | width |", "|---|---:|---:|---:|---:|---:|---:|---:|"]  # fmt: skip
    for cell in CALIBRATED:
        bias, error, people_error, coverage, width = calibrated_cell(draws // 4, *cell)
        lines.append(
            f"| {cell[4]} | {cell[2]} | {cell[3]} | {bias:+.1%} | {error:.4f} | {people_error:.4f} | {coverage:.3f} | {width:.3f} |"
        )
    return lines


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
    """Scores of a mean, a ratio, the weighted kappa and the AUC, as functions of how often each user counts."""
    table = crossed(user, truth - 1, whole - 1, 5)
    low = truth <= 3
    return {
        "mean": mean_over(abs(whole - truth), user),
        "ratio": ratio(sums_of(low & (whole <= 3), user), sums_of(low, user)),
        "QWK": beyond_chance(table, chance_of_margins(distances_of(np.arange(5), "quadratic"))),
        "AUC": auc_within(low, -points, np.zeros(len(user), dtype=int), user),
    }


def alike_cell(draws: int, users: int, correlation: float, seed: int = 1) -> float:
    """Coverage of the intraclass correlation of normal values, 4 to 15 of each user."""
    rng = np.random.default_rng([seed, users, int(100 * correlation)])
    holds = []
    for _ in range(draws):
        user = np.repeat(np.arange(users), rng.integers(4, 16, users))
        values = rng.normal(0, correlation**0.5, users)[user] + rng.normal(0, (1 - correlation) ** 0.5, len(user))
        of, alike = correlation_within(values, user)
        score = interval(of, np.bincount(user).astype(float), "", n=0, scale=(-1.0, 1.0), alike=alike)
        holds.append(score.low <= correlation <= score.high)
    return float(np.mean(holds))


@lru_cache(maxsize=1)
def judged_truth():
    users = 1500
    world = judged_world(np.random.default_rng(0), users)
    scores = {name: float(of(np.ones((1, users)))[0]) for name, of in judged_scores(*world).items()}
    user, truth = judged_world(np.random.default_rng(0), 20 * users)[:2]
    return {**scores, "ICC": float(correlation_within(truth.astype(float), user)[0](np.ones((1, 20 * users)))[0])}


def judged_cell(draws: int, users: int, seed: int = 1) -> dict[str, float]:
    """Coverage of each score."""
    rng = np.random.default_rng([seed, users])
    holds: dict[str, list[bool]] = {}
    for _ in range(draws):
        world = judged_world(rng, users)
        items = np.bincount(world[0]).astype(float)
        scores = {
            name: interval(of, items, "", n=0, share=name in ("ratio", "AUC"))
            for name, of in judged_scores(*world).items()
        }
        of, alike = correlation_within(world[1].astype(float), world[0])
        scores["ICC"] = interval(of, items, "", n=0, scale=(-1.0, 1.0), alike=alike)
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
    """Shares over users, as many items of each or ten times as many of a fifth, by the least coverage of 6 cells."""
    lines = ["| users | items of each | score form | Student's |", "|---|---|---:|---:|"]
    for users, unequal_items in product((8, 12, 20, 50, 100, 236), (False, True)):
        items = [30 if unequal_items and number < users // 5 else 3 if unequal_items else 6 for number in range(users)]
        cells = [
            share_cell(draws // 4 if users < 100 else draws // 8, items, *about)
            for about in product((0.5, 0.8, 0.95), (0.1, 0.5))
        ]
        score, student = (min(one) for one in zip(*cells, strict=True))
        lines.append(f"| {users} | {'30 or 3' if unequal_items else '6'} | {score:.3f} | {student:.3f} |")
    return lines


GRIDS = {
    grid.__name__: grid
    for grid in (success, unequal, pass_hat, rules, calibrated, kappa, judges, shares, differences, events)
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.intervals", description=__doc__)
    parser.add_argument("grids", nargs="*", metavar="GRID", help=f"{', '.join(GRIDS)}; default: all")
    parser.add_argument("--draws", type=int, default=4000, help="draws of a cell (4000); some grids take a part of it")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.grids if name not in GRIDS]:
        parser.error(f"no grid {unknown[0]!r}: choose from {', '.join(GRIDS)}")
    error = NormalDist().stdev * (0.95 * 0.05 / options.draws) ** 0.5
    print(f"{options.draws} draws of a cell; standard error of a coverage of .95: {error:.4f}")
    for name in options.grids or GRIDS:
        print(f"\n{name}: {GRIDS[name].__doc__}\n")
        print("\n".join(GRIDS[name](options.draws)), flush=True)


if __name__ == "__main__":
    main()
