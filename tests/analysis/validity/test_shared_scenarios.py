"""Coverage and power of the interval of two shares over shared scenarios, as docs/users/validity.md gives them."""

from pathlib import Path

import pytest

from duologue.analysis.validity import Meetings
from duologue.analysis.validity.meetings import _unpaired
from duologue.analysis.validity.shared_scenarios import paired_shares
from duologue.data import Conversation
from duologue.data.identity import digest

numpy = pytest.importorskip("numpy")
beta = pytest.importorskip("scipy.stats").beta

MEANS = [(0.5, 0.5), (0.5, 0.3), (0.9, 0.9), (0.95, 0.85), (0.95, 0.5), (0.98, 0.05), (0.05, 0.05), (0.99, 0.95)]
REPEATS = (1, 2, 4, 8)
CORRELATIONS = (0.0, 0.3, 0.7)
DRAWS = 400


def drawn(means, correlation, scenarios, repeats, hard_for_both, seed, draws=DRAWS):
    """Successes of both assistants: beta-binomial in each scenario, by one draw of its difficulty or by two."""
    generator = numpy.random.default_rng(
        int(digest(means, correlation, scenarios, repeats, hard_for_both, seed)[:8], 16)
    )
    uniforms = generator.random((1 if hard_for_both else 2, draws, scenarios))
    counts = []
    for mean, uniform in zip(means, (uniforms[0], uniforms[-1]), strict=True):
        shares = numpy.full(uniform.shape, mean)
        if correlation:
            sizes = numpy.array([mean, 1 - mean]) * (1 - correlation) / correlation
            levels = numpy.linspace(1e-9, 1 - 1e-9, 2001)
            shares = numpy.interp(uniform, levels, beta.ppf(levels, *sizes))
        counts.append(generator.binomial(repeats, shares).tolist())
    return [
        [((one, repeats), (other, repeats)) for one, other in zip(*sides, strict=True)]
        for sides in zip(*counts, strict=True)
    ]


def covered(scenarios):
    """For each cell of the grid the share of intervals that hold the true difference."""
    shares = []
    for means in MEANS:
        truth = means[1] - means[0]
        for repeats in REPEATS:
            for correlation in CORRELATIONS:
                for hard_for_both in (False, True):
                    intervals = map(paired_shares, drawn(means, correlation, scenarios, repeats, hard_for_both, 0))
                    hits = [one.low - 1e-9 <= truth <= one.high + 1e-9 for one in intervals]
                    shares.append(sum(hits) / len(hits))
    return shares


def shown(heading):
    """The cells of the rows of a table of the page, by the first one."""
    page = (Path(__file__).parents[3] / "docs/users/validity.md").read_text(encoding="utf-8")
    lines = iter(page.partition(f"| {heading} |")[2].splitlines()[2:])
    rows = {}
    for line in lines:
        if not line.startswith("|"):
            break
        first, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        rows[first] = cells
    return rows


@pytest.mark.heavy
@pytest.mark.untraced
@pytest.mark.parametrize("scenarios", [6, 30, *(pytest.param(size, marks=pytest.mark.long) for size in (12, 60))])
def test_the_interval_holds_the_difference_as_often_as_the_page_says(scenarios):
    shares = covered(scenarios)
    print(f"| {scenarios} | {min(shares):.3f} | {sum(shares) / len(shares):.3f} |")
    assert min(shares) >= 0.91  # of 400 draws: .93 less two standard errors
    assert shown("scenarios")[str(scenarios)] == [f"{min(shares):.3f}", f"{sum(shares) / len(shares):.3f}"]


def meetings(counts, side):
    """Conversations without content, with these successes."""
    return Meetings(
        [
            Conversation(
                id=f"{number}-{repeat}",
                scenario={"goal": str(number)},
                messages=[],
                labels={"scores": {"success": {"value": repeat < pair[side][0], "reason": ""}}},
            )
            for number, pair in enumerate(counts)
            for repeat in range(pair[side][1])
        ]
    )


@pytest.mark.heavy
@pytest.mark.untraced
@pytest.mark.parametrize("means", [(0.6, 0.5), (0.8, 0.7), (0.9, 0.8)])
def test_shared_scenarios_give_the_power_that_the_page_says(means):
    samples = drawn(means, 0.7, 30, 4, True, 1, 200)
    paired = sum(paired_shares(counts).high < 0 for counts in samples) / len(samples)
    ends = [_unpaired(meetings(counts, 0), meetings(counts, 1), 0).high for counts in samples]
    unpaired = sum(end < 0 for end in ends) / len(ends)
    print(f"| {means[0]} and {means[1]} | {paired:.2f} | {unpaired:.2f} |")
    assert paired > unpaired + 0.3
    assert shown("success of both assistants")[f"{means[0]} and {means[1]}"] == [f"{paired:.2f}", f"{unpaired:.2f}"]
