"""People against other people: nothing is found where nothing is, however unequal the sides are."""

from collections import defaultdict

import numpy as np
import pytest

from duologue.analysis.realism.discriminator import cross_validated
from duologue.analysis.realism.equal_length import matched_in_length
from duologue.analysis.realism.measures import MEASURES
from duologue.analysis.realism.measures.shape import LENGTH
from duologue.analysis.realism.ranking import benjamini_hochberg
from duologue.analysis.realism.rows import two_samples
from duologue.analysis.realism.samples import alone
from duologue.analysis.realism.strata import telling
from duologue.analysis.realism.two_samples import Draws

DESIGNS = ["balanced", "conversations", "one conversation", "users", "tasks", "one user"]
LEVEL = 0.05
ALONE = [column for column, measure in enumerate(MEASURES) if not measure.pairwise]


def p_values(sides, split: int, shufflings: int) -> list[float | None]:
    sim, human = sides
    p, _ = two_samples(sim, human, MEASURES, Draws(split, shufflings)).p_and_chance
    return [None if np.isnan(value) else float(value) for value in p]


def significant(p: list[float | None]) -> bool:
    return any(value is not None and value <= LEVEL for value in benjamini_hochberg(p))


@pytest.mark.heavy
@pytest.mark.parametrize("design", DESIGNS)
def test_of_200_divisions_of_the_people_at_most_8_percent_have_anything_significant(design, plain, halved):
    found = [significant(p_values(halved(plain, 1000 + split, design), split, 2000)) for split in range(200)]
    print(f"{design}: {sum(found)} of 200")
    assert np.mean(found) <= 0.08


@pytest.mark.heavy
def test_each_family_errs_in_3_to_7_percent_of_the_divisions(plain, halved):
    """Over all designs, of measures in which at least ten people differ from the others: rarer ones cannot err as often."""
    common = (telling(alone(plain)) > 0).sum(axis=0) >= 10
    errs: dict[str, list[bool]] = defaultdict(list)
    for design in DESIGNS:
        for split in range(200):
            for measure, p, is_common in zip(
                MEASURES, p_values(halved(plain, 5000 + split, design), split, 199), common, strict=True
            ):
                if p is not None and is_common:
                    errs[measure.family].append(p <= LEVEL)
    rates = {family: round(float(np.mean(erring)), 3) for family, erring in errs.items()}
    print(rates)
    assert len(rates) >= 8
    assert all(0.03 <= rate <= 0.07 for rate in rates.values()), rates


def test_between_halves_of_the_people_a_model_cannot_tell(plain, halved):
    held = []
    for split in range(20):
        sim, human = halved(plain, split)
        auc = cross_validated(sim, human, ALONE, Draws(), repeats=4).auc
        held.append(auc.low <= 0.5 <= auc.high)
    assert sum(held) >= 18


@pytest.mark.heavy
def test_between_halves_of_the_people_a_model_cannot_tell_at_equal_length_either(plain, halved):
    held = []
    for split in range(20):
        sim, human = matched_in_length(*halved(plain, split))
        assert len(sim.transcripts) == len(human.transcripts) > 60
        auc = cross_validated(
            sim, human, [column for column in ALONE if MEASURES[column] is not LENGTH], Draws(), 4
        ).auc
        held.append(auc.low <= 0.5 <= auc.high)
    assert sum(held) >= 18
