"""What differs at equal length of messages."""

import pytest

from duologue.analysis.realism import compare
from duologue.analysis.realism.equal_length import matched_in_length
from duologue.analysis.realism.measures import MEASURES
from duologue.analysis.realism.measures.transcripts import transcripts_of
from duologue.analysis.realism.statistics.samples import MeasuredUsers, measured
from tests.analysis.realism.sides import QUICK, row, side


@pytest.mark.heavy
def test_what_length_alone_makes_is_gone_at_equal_length(talk):
    """Whoever writes at length says thanks, on both sides; simulated users write at length more often."""

    def length(assistant, user):
        return 20 if user % 4 == 0 else 1

    def rarely(assistant, user):
        return 1 if user % 4 == 0 else 20

    sim = side(talk, "s", ("",), rarely, users=40, thanks=lambda assistant, user: user % 4 != 0)
    human = side(talk, "h", ("",), length, users=40, thanks=lambda assistant, user: user % 4 == 0)
    report = compare(sim, human, **QUICK)
    thanks = row(report, "thanks")
    assert thanks.effect == pytest.approx(0.5)
    assert thanks.equal_length.effect == 0
    assert (thanks.equal_length.sim, thanks.equal_length.human) == (1, 1)
    assert row(report, "message length").equal_length is None


def test_without_messages_of_equal_length_nothing_is_said_of_them(talk):
    report = compare(side(talk, "s", ("",), lambda assistant, user: 40), side(talk, "h", ("",)), **QUICK)
    equal = row(report, "thanks").equal_length
    assert equal.effect is None
    assert equal.reason == "too few of equal length: 0% of the simulated users and 0% of people have a counterpart"


@pytest.mark.heavy
def test_what_is_told_by_length_alone_is_not_told_at_equal_length(talk):
    """Whoever writes at length says thanks, on both sides; simulated users write at length more often."""

    def often(assistant, user):
        return 20 + user % 3 if user % 4 else 1 + user % 3

    def rarely(assistant, user):
        return 1 + user % 3 if user % 4 else 20 + user % 3

    def lengthy(length):
        return lambda assistant, user: length(assistant, user) > 10

    def auc(*lengths, **more):
        sim, human = (
            side(talk, name, ("",), length, users=48, thanks=more.get(name) or lengthy(length))
            for name, length in zip("sh", lengths, strict=True)
        )
        return compare(sim, human, **QUICK).discriminator

    interval = auc(often, rarely)
    assert interval.auc.value > 0.65
    assert interval.auc.low > interval.equal_length.low
    assert interval.equal_length.low <= 0.5 <= interval.equal_length.high
    # What is more than length stays.
    assert auc(often, rarely, s=lambda assistant, user: True, h=lambda assistant, user: False).equal_length.value > 0.95


def test_nobody_of_equal_length_is_said(talk):
    report = compare(side(talk, "s", ("",), lambda assistant, user: 40), side(talk, "h", ("",)), **QUICK)
    assert report.discriminator.equal_length.value is None
    assert report.discriminator.equal_length.reason


def test_who_is_matched_in_length_does_not_depend_on_the_order_of_conversations(talk):
    def one_side(name, size):
        conversations = side(talk, name, ("",), lambda assistant, user: user % size, users=40)
        return measured(transcripts_of(conversations, "en"), MEASURES[:2])

    sides = [one_side("s", 5), one_side("h", 9)]
    turned = [MeasuredUsers(one.transcripts[::-1], one.values[::-1]) for one in sides]
    ids, again = (
        [{one.conversation.id for one in group.transcripts} for group in matched_in_length(*pair)]
        for pair in (sides, turned)
    )
    assert ids == again
    assert len(ids[0]) == len(ids[1]) > 0
