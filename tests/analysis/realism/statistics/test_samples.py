"""Measuring a side: few conversations' words are in memory at a time, and others are drawn once."""

from duologue.analysis.realism import MEASURES, Measure
from duologue.analysis.realism.measures import others
from duologue.analysis.realism.measures.transcripts import transcripts_of
from duologue.analysis.realism.statistics import samples
from duologue.analysis.realism.statistics.samples import levelled, measured
from tests.analysis.realism.sides import side


def test_the_words_of_few_conversations_are_in_memory_at_a_time(talk, monkeypatch):
    monkeypatch.setattr(samples, "_AT_A_TIME", 4)
    transcripts = transcripts_of(side(talk, "a", [""], users=20), "en")
    held = []

    def counted(transcript):
        held.append(sum("words" in one.__dict__ for one in transcripts))
        return float(len(transcript.words))

    measure = Measure(name="m", definition="d", unit="u", of_conversation=counted)
    values = measured(transcripts, [measure]).values[:, 0].tolist()
    assert (values, max(held)) == ([2.0] * 20, 3)


def test_others_are_drawn_once_for_all_measures_against_others(talk, monkeypatch):
    sim, human = (transcripts_of(side(talk, name, [""], users=12), "en") for name in "ab")
    pairwise = [measure for measure in MEASURES if measure.pairwise]
    assert len(pairwise) > 1
    draws, mixed = [], others._mixed

    def counted(keys):
        draws.append(1)
        return mixed(keys)

    def drawn(measures):
        sides = [measured(transcripts, measures, among_others=False) for transcripts in (sim, human)]
        return levelled(sides[0], sides[1], measures)[0].values[:, 0].tolist()

    monkeypatch.setattr(others, "_mixed", counted)
    one = drawn(pairwise[:1])
    alone = len(draws)
    assert drawn(pairwise) == one
    assert len(draws) == 2 * alone
