"""The smallest effect that would be found is found in about as many draws as stated."""

import numpy as np
import pytest

from duologue.analysis.realism.ranking import benjamini_hochberg, levels_of
from duologue.analysis.realism.records import LEVEL, RealismRow
from duologue.analysis.realism.statistics.cells import cells_of
from duologue.analysis.realism.statistics.two_samples import POWER, Draws, TwoSamples

WIDTH = 300
"""Draws, each a column."""
MEASURES = 40


def samples(rng, shift, sizes):
    """Both sides, with one or two conversations a user."""
    users = [(n < sizes[0], str(n)) for n in range(sum(sizes)) for _ in range(1 + n % 2)]
    own = {user: rng.normal(size=WIDTH) for user in dict.fromkeys(users)}
    values = np.array([own[user] + rng.normal(size=WIDTH) + shift * user[0] for user in users])
    return TwoSamples(
        cells_of(values, users, ["t"] * len(users)), np.ones(WIDTH), np.zeros(WIDTH), Draws(shufflings=1999)
    )


@pytest.mark.parametrize("sizes", [(25, 25), (20, 60)])
@pytest.mark.parametrize("significant", [0, 8])
def test_the_effect_that_would_be_found_is_found_in_eight_of_ten_draws(sizes, significant):
    rng = np.random.default_rng([*sizes, significant])
    # Of 40 measures this one differs, so many others do, and those that do not have any p.
    level = LEVEL * (significant + 1) / MEASURES
    size = float(np.median(samples(rng, 0, sizes).detectable(np.full(WIDTH, level))))
    assert size > float(np.median(samples(rng, 0, sizes).detectable(np.full(WIDTH, LEVEL)))) + 0.05
    of_normal = rng.normal(size=(2, 2, 100_000)).sum(axis=0)
    shifts = np.linspace(0, 5, 501)
    effects = [float(np.mean(np.sign(of_normal[0] + shift - of_normal[1]))) for shift in shifts]
    both = samples(rng, float(np.interp(size, effects, shifts)), sizes)
    assert both.effect.mean() == pytest.approx(size, abs=0.03)
    found = []
    for p in both.p_and_chance[0]:
        others = [*([1e-6] * significant), *rng.uniform(size=MEASURES - 1 - significant)]
        found.append(benjamini_hochberg([p, *others])[0] <= LEVEL)
    assert np.mean(found) == pytest.approx(POWER, abs=0.08)


def test_nothing_would_be_found_where_the_shufflings_are_too_few_for_so_small_a_p():
    both = samples(np.random.default_rng(1), 0, (25, 25))
    few = TwoSamples(both.cells, both.inflation, both.shares, Draws(shufflings=99))
    assert (few.detectable(np.full(WIDTH, 0.005)) == 1).all()
    assert (few.detectable(np.full(WIDTH, LEVEL)) < 1).all()


def test_a_row_counts_at_its_share_of_a_twentieth():
    description = {
        "family": "f",
        "unit": "u",
        "definition": "d",
        "source": "s",
        "direction": "d",
        "survives_translation": True,
    }
    rows = [RealismRow(name=str(p), p=p, **description) for p in (0.001, 0.01, 0.2, 0.9)]
    missing = RealismRow(name="none", **description)
    assert levels_of([*rows, missing])[:4] == pytest.approx([0.025, 0.025, 0.0375, 0.0375])
    assert levels_of([missing]) == [LEVEL]
