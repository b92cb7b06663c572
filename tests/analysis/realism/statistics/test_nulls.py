"""People against other people: nothing is found where nothing is, however unequal the sides are."""

from collections import defaultdict
from functools import cache

import numpy as np
import pytest

from duologue.analysis.realism.discriminator import cross_validated
from duologue.analysis.realism.measures import MEASURES
from duologue.analysis.realism.ranking import benjamini_hochberg
from duologue.analysis.realism.rows import two_samples
from duologue.analysis.realism.statistics.samples import alone
from duologue.analysis.realism.statistics.two_samples import Draws

DESIGNS = ["balanced", "conversations", "one conversation", "users", "tasks", "one user"]
LEVEL = 0.05
DIVISIONS = 80
"""The first of the 200 of the table in docs/users/realism_methods.md."""
ALONE = [column for column, measure in enumerate(MEASURES) if not measure.pairwise]


def p_values(sides, split: int, shufflings: int) -> list[float | None]:
    sim, human = sides
    p, _ = two_samples(sim, human, MEASURES, Draws(split, shufflings)).p_and_chance
    return [None if np.isnan(value) else float(value) for value in p]


def significant(p: list[float | None]) -> bool:
    return any(value is not None and value <= LEVEL for value in benjamini_hochberg(p))


@pytest.fixture(scope="session")
def p_of_designs(plain, halved):
    """p of each measure in each division by a design; a design is divided once."""

    @cache
    def of(design: str) -> list[list[float | None]]:
        return [p_values(halved(plain, 1000 + split, design), split, 2000) for split in range(DIVISIONS)]

    return of


@pytest.mark.heavy
@pytest.mark.untraced
@pytest.mark.xdist_group("nulls")
@pytest.mark.parametrize("design", DESIGNS)
def test_at_most_10_percent_of_the_divisions_of_the_people_have_anything_significant(design, p_of_designs):
    counts = [significant(p) for p in p_of_designs(design)]
    print(f"{design}: {sum(counts)} of {DIVISIONS}")
    assert np.mean(counts) <= 0.1  # of 5 %, more than 8 of 80 come in 2 of 100 such tests


@pytest.mark.heavy
@pytest.mark.untraced
@pytest.mark.xdist_group("nulls")
def test_each_family_errs_in_2_to_8_percent_of_the_divisions(plain, p_of_designs):
    """Over all designs, of measures in which at least ten people differ from the others: rarer ones cannot err as often."""
    common = (alone(plain).telling > 0).sum(axis=0) >= 10
    errs: dict[str, list[bool]] = defaultdict(list)
    for design in DESIGNS:
        for division in p_of_designs(design):
            for measure, p, is_common in zip(MEASURES, division, common, strict=True):
                if p is not None and is_common:
                    errs[measure.family].append(p <= LEVEL)
    rates = {family: round(float(np.mean(erring)), 3) for family, erring in errs.items()}
    print(rates)
    assert len(rates) >= 8
    assert all(0.02 <= rate <= 0.08 for rate in rates.values()), rates  # three standard errors of 5 % of 480


@pytest.mark.heavy
def test_between_halves_of_the_people_a_model_cannot_tell(plain, halved):
    covering = []
    for split in range(20):
        sim, human = halved(plain, split)
        auc = cross_validated(sim, human, ALONE, Draws(), repeats=4).auc
        covering.append(auc.low <= 0.5 <= auc.high)
    assert sum(covering) >= 18
