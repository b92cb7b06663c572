"""The adversary sees words that no measure counts, and learns from nobody whom it is tested on."""

from dataclasses import replace

import numpy as np
import pytest

from duologue.analysis.realism import compare
from duologue.analysis.realism.discriminator import cross_validated
from duologue.analysis.realism.held_out import People
from duologue.analysis.realism.measures.transcripts import ORIGIN, transcripts_of
from duologue.analysis.realism.statistics.samples import MeasuredUsers
from duologue.analysis.realism.statistics.two_samples import Draws
from tests.analysis.realism.courtesies import QUICK


def side(talk, opening, users=20):
    """Two conversations of each user, which differ by one word of the side; and a measure of chance."""
    rng = np.random.default_rng(len(opening))
    conversations = [
        talk(
            f"{opening} number {rng.integers(100)}",
            "Yes.",
            "And then",
            user=f"{opening}{user}",
            id=f"{opening}{user}-{n}",
        )
        for user in range(users)
        for n in range(2)
    ]
    transcripts = tuple(transcripts_of(conversations, "en"))
    return MeasuredUsers(transcripts, rng.normal(size=(len(transcripts), 2)))


def test_the_adversary_tells_apart_by_words_what_the_measures_do_not(talk):
    sides = side(talk, "hallo"), side(talk, "howdy")
    by_measures, by_words = (
        cross_validated(*sides, range(2), Draws(), repeats=1, by_words=by_words).auc.value for by_words in (False, True)
    )
    assert by_words > 0.95
    assert by_measures < 0.8


def test_conversations_share_a_person_by_speaker_scenario_and_source_of_the_words(talk):
    person, other, simulated, stranger = (talk("Hi", "Yes.", user=user, id=user) for user in ("p", "o", "m", "s"))
    first = simulated.messages[0].model_copy(update={"extra": {ORIGIN: {"conversation": "p"}}})
    simulated = simulated.model_copy(update={"messages": (first, *simulated.messages[1:])})
    played = stranger.model_copy(update={"extra": {**stranger.extra, "stored": {"user": "o"}}})
    people = People.of(transcripts_of([person, other, simulated, played], "en"))
    together = [~people.apart_from(np.arange(4) == one) for one in range(4)]
    assert np.argwhere(np.triu(together, 1)).tolist() == [[0, 2], [1, 3]]


def test_neither_model_learns_from_donors_that_it_is_tested_on(talk, monkeypatch):
    """Each user of a side has the words of one person, so who is tested must be learnt from on neither side."""
    people, retrieved = side(talk, "hallo"), side(talk, "howdy")
    given = tuple(
        replace(
            one,
            conversation=one.conversation.model_copy(
                update={"messages": (_from(one, person), *one.conversation.messages[1:])}
            ),
        )
        for one, person in zip(retrieved.transcripts, people.transcripts, strict=True)
    )
    retrieved = replace(retrieved, transcripts=given)
    donor = {one.conversation.id: person.cluster for one, person in zip(given, people.transcripts, strict=True)}
    everybody = (*given, *people.transcripts)
    names = np.array([donor.get(one.conversation.id, one.cluster) for one in everybody])
    seen = []

    def apart_from(self, test):
        seen.append((test, original(self, test)))
        return seen[-1][1]

    original = People.apart_from
    monkeypatch.setattr(People, "apart_from", apart_from)
    for by_words in (False, True):
        cross_validated(retrieved, people, range(2), Draws(), repeats=1, by_words=by_words)
        assert len(seen) == 5
        assert all(train.any() and not set(names[train]) & set(names[test]) for test, train in seen)
        seen.clear()


def _from(transcript, person):
    first = transcript.conversation.messages[0]
    return first.model_copy(update={"extra": {ORIGIN: {"conversation": person.conversation.id}}})


@pytest.mark.heavy
def test_people_are_not_told_from_other_people(plain, halved):
    aucs = []
    for split in range(6):
        sim, human = halved(plain, split)
        aucs.append(cross_validated(sim, human, range(5), Draws(split), repeats=1, by_words=True).auc.value)
    assert 0.4 <= np.mean(aucs) <= 0.6


@pytest.mark.heavy
def test_the_strongest_features_name_what_tells_the_sides_apart(two_sides):
    pytest.importorskip("sklearn")
    report = compare(*two_sides, **QUICK, adversary=True)
    uses = report.discriminator.adversary_uses
    assert {feature.model for feature in uses} == {"measures and sequence", "words"}
    words = [feature for feature in uses if feature.model == "words"]
    assert len(words) <= 8
    assert {feature.name for feature in words[:6]} & {"thank", "hello"}
    assert all(feature.weight > 0 for feature in words if feature.name in ("thank", "hello"))
    assert compare(*two_sides, **QUICK).discriminator.adversary_uses == ()
