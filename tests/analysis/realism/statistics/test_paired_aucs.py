"""The difference of two simulators' AUCs, paired by the people whose scenarios they have."""

import pytest

from duologue.analysis.realism import MEASURES
from duologue.analysis.realism.discriminator import paired_aucs
from duologue.analysis.realism.measures.transcripts import transcripts_of
from duologue.analysis.realism.statistics.samples import measured
from duologue.analysis.realism.statistics.two_samples import Draws
from tests.analysis.realism.courtesies import side

pytest.importorskip("sklearn")


def sample(talk, polite, users=12):
    return measured(transcripts_of(side(talk, 36, polite, users=users), "en"), MEASURES)


def columns(*sides):
    varies = [{values for side in sides for values in side.values[:, column]} for column in range(len(MEASURES))]
    return [column for column, values in enumerate(varies) if len(values) > 1 and not MEASURES[column].pairwise]


def test_a_simulator_is_as_far_from_people_as_itself(talk):
    polite, people = sample(talk, True), sample(talk, False)
    one, other, difference = paired_aucs(polite, polite, people, columns(polite, people), Draws(0, 1, 1))
    assert one == other
    assert (difference.value, difference.low, difference.high) == (0, 0, 0)


def test_a_simulator_that_writes_as_people_do_is_nearer_beyond_its_interval(talk):
    plain, polite, people = sample(talk, False), sample(talk, True), sample(talk, False)
    one, other, difference = paired_aucs(plain, polite, people, columns(polite, people), Draws(0, 1, 1))
    assert other.value > 0.95
    assert difference.value == pytest.approx(one.value - other.value)
    assert difference.low < difference.value < difference.high < 0
