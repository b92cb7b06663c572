"""Successes of scenarios that are drawn from known shares: the share that succeeds, pass^k, and the rules over both."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from scipy.special import betaln, comb
from scipy.stats import binom

from duologue.analysis.over_users.rates import Rate, clustered, pass_hat_intervals, wilson

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


def single_counts(scenarios):
    """Of one conversation about each scenario all that can come, by the number of successes."""
    return [((0, 1),) * (scenarios - reached) + ((1, 1),) * reached for reached in range(scenarios + 1)]


def held(rates: Iterable[Rate], truth: float, chances: Any = None) -> tuple[float, float]:
    """Coverage and mean width; `chances`: of each rate, where they are all that can come."""
    both = [(rate.low - 1e-9 <= truth <= rate.high + 1e-9, rate.high - rate.low) for rate in rates]
    coverage, width = np.average(both, axis=0, weights=chances)
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
            chances = None
            if repeats > 1:
                counts = scenario_counts(scenarios, repeats, mean, correlation, draws)
                few = counts[: draws // 4]
            else:
                counts = few = single_counts(scenarios)
                chances = binom.pmf(np.arange(scenarios + 1), scenarios, mean)
            ours, ours_few = (held(map(clustered_once, some), mean, chances) for some in (counts, few))
            width = held(map(oracle(correlation), counts), mean, chances)[1]
            valid = held(map(posterior, few), mean, chances)[1]
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
    """The same where bounds cut scenarios short, a quarter each has 1, 2, 5 and 8 conversations, or one has as many as all others."""
    lines = ["| scenarios | conversations of each | least | mean | width |", "|---|---|---:|---:|---:|"]
    for scenarios, half in product((8, 12, 20, 60), (False, True)):
        sizes = [4 * (scenarios - 1), *[4] * (scenarios - 1)] if half else np.resize((1, 2, 5, 8), scenarios)
        cells = [
            held(map(clustered_once, scenario_counts(scenarios, sizes, mean, correlation, draws)), mean)
            for correlation, mean in product(CORRELATIONS, MEANS)
        ]
        coverage, width = np.array(cells).T
        shape = "4, but of one as many as of all others" if half else "1, 2, 5 or 8"
        lines.append(f"| {scenarios} | {shape} | {coverage.min():.3f} | {coverage.mean():.3f} | {width.mean():.3f} |")
    return lines


def all_of(k: int, mean: float, correlation: float) -> float:
    """The chance that k conversations of a scenario all succeed."""
    if not correlation:
        return mean**k
    a, b = (share * (1 / correlation - 1) for share in (mean, 1 - mean))
    return float(np.exp(betaln(a + k, b) - betaln(a, b)))


def edges(draws: int) -> list[str]:
    """Outside the grids above: means up to .99, nearly alike repeats, pass^k of low shares; and the end that misses."""
    lines = [
        "| scenarios | conversations of each | k | least | at | low end too high: most | at | at means from .9 |",
        "|---|---|---:|---:|---|---:|---|---:|",
    ]
    designs: list[tuple[int, Any, int]] = [(*one, 1) for one in product((6, 10, 12, 30, 60), (2, 4, 8))]
    designs += [(10, (1, 2, 5, 8), 1), (6, 4, 3), (10, 4, 3), (10, 8, 4), (10, 8, 7), (12, 4, 3), (30, 4, 3)]
    for scenarios, sizes, k in designs:
        cells = []
        for mean, correlation in product((0.2, 0.5, 0.9, 0.95, 0.98, 0.99), (0.0, 0.3, 0.9, 0.99)):
            truth = all_of(k, mean, correlation)
            counts = scenario_counts(scenarios, np.resize(sizes, scenarios), mean, correlation, draws)
            ends = [(rate.low, rate.high) for rate in (clustered_once(one) if k == 1 else pass_hat_intervals(one)[k] for one in counts)]  # fmt: skip
            above = float(np.mean([low - 1e-9 > truth for low, _ in ends]))
            below = float(np.mean([high + 1e-9 < truth for _, high in ends]))
            cells.append((1 - above - below, above, mean, correlation))
        least, high = min(cells), max(cells, key=lambda cell: cell[1])
        of_high_means = max(above for _, above, mean, _ in cells if mean >= 0.9)
        of_each = ", ".join(map(str, sizes)) if isinstance(sizes, tuple) else sizes
        lines.append(
            f"| {scenarios} | {of_each} | {k} | {least[0]:.3f} | {least[2]}, {least[3]} | "
            f"{high[1]:.3f} | {high[2]}, {high[3]} | {of_high_means:.3f} |"
        )
    return lines


def pass_hat(draws: int) -> list[str]:
    """pass^k over the means and correlations of the grid."""
    lines = ["| scenarios x repeats | k | least | mean | width |", "|---|---:|---:|---:|---:|"]
    for (scenarios, repeats), k in (((12, 4), 2), ((12, 4), 3), ((12, 8), 4), ((12, 8), 7), ((30, 4), 3), ((60, 8), 4)):
        cells = []
        for correlation, mean in product(CORRELATIONS, MEANS[3:]):
            counts = scenario_counts(scenarios, repeats, mean, correlation, draws)
            cells.append(held((pass_hat_intervals(one)[k] for one in counts), all_of(k, mean, correlation)))
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
