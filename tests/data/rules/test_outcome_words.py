"""Whether a reply says that something is done or refused, by 800 replies in four sets, and whether it consents."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from duologue.data.rules.refusals import SHORT, consent, outcome_of, refused

DOCS = Path(__file__).parents[3] / "docs/test/testing.md"
ROWS = [json.loads(line) for line in Path(__file__).with_name("replies.jsonl").read_text("utf-8").splitlines()]


def errors(which: str, outcome: str) -> tuple[int, int, int, int]:
    """Missed, of how many, false, of how many others."""
    counts = Counter(
        (row["outcome"] == outcome, outcome_of(row["text"]) == outcome) for row in ROWS if row["set"] == which
    )
    missed, false = counts[True, False], counts[False, True]
    return missed, missed + counts[True, True], false, false + counts[False, False]


@pytest.mark.parametrize("which", ["seen", "unseen", "tuned", "held out"])
@pytest.mark.parametrize("outcome", ["refused", "done"])
def test_the_error_rates_are_those_of_the_docs(which, outcome):
    missed, those, false, others = errors(which, outcome)
    row = re.search(rf"\| {outcome}, {which} \|.*", DOCS.read_text("utf-8"))
    assert row is not None
    assert row[0] == f"| {outcome}, {which} | {missed} of {those} | {false} of {others} |"


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("The clinic has no free slot; I cannot book one.", "refused"),
        ("No, this cannot be changed.", "refused"),
        ("Unfortunately, that slot is taken.", "refused"),
        ("That isn't allowed by our policy.", "refused"),
        ("Nothing is booked yet.", None),
        ("I have not booked anything.", None),
        ("If you confirm, it will be cancelled.", None),
        ("Your old seat could not be held, but I have booked 12A for you.", "done"),
        ('You wrote "it is booked".', None),
        ("Is it booked?", None),
        ("Shall I book it?", None),
        ("Your booking is confirmed. Tickets are non-refundable.", "done"),
        ("Tickets are non-refundable.", "refused"),
        ("", None),
    ],
)
def test_what_is_denied_or_asked_is_neither(reply, outcome):
    assert outcome_of(reply) == outcome


@pytest.mark.parametrize(
    "reply",
    [
        "It needs no ticket.",
        "You need no appointment: come before noon.",
        "No ticket is required for the gallery.",
        "The tour requires no tickets in advance.",
        "I want a walk for which I need no booked seat and no ticket.",
        "这里不需要门票。",
        "您无需预约，直接来就行。",
        "坐这趟车不换乘，可以直达。",
        "这家餐厅您可不能错过。",
        "这条路没有台阶，不给轮椅添麻烦。",
        "There is no seat fee on this train.",
        "您不得不换乘两次。",
        "Eine Karte ist nicht nötig.",
    ],
)
def test_what_is_not_needed_is_not_refused(reply):
    assert refused(reply) is None


@pytest.mark.parametrize(
    "reply",
    [
        "There is no ticket left for Friday.",
        "We have no table for six tonight.",
        "No seats are free on that train.",
        "The clinic takes no appointments on Sundays.",
        "It is a popular walk, and there are no tickets for it this week.",
        "那天没有空位了。",
        "这张票不退不换。",
        "周日的号已经挂完了。",
        "我们不接待六人以上的团。",
        "您的票不能改到周五。",
        "It requires no ticket, but we have no place left.",
        "You need no appointment, and there is no free slot.",
        "No table is free, and help is needed.",
    ],
)
def test_what_is_not_there_is_refused(reply):
    assert refused(reply)


def test_a_caveat_beside_a_deed_is_no_refusal():
    assert refused("Your booking is confirmed. Tickets are non-refundable.") is None
    assert refused("I have cancelled the first night. Sorry, the second one cannot be cancelled.")


def test_a_long_text_refuses_by_its_opening_only():
    long = "We cannot refund it. " + "The museum has a garden. " * 40
    assert len(long) > SHORT
    assert refused(long) is None
    assert refused("I'm sorry, but I can't help with that. " + long)


def test_a_hostile_text_costs_no_time_of_note():
    for text in ("no " * 2_000, "booked " * 1_000, "，但" * 2_000, "(" * 6_000, "is now been " * 500, "if you " * 800):
        outcome_of(text)
        consent(text)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Yes, please cancel it.", "yes"),
        ("No problem.", "yes"),
        ("Sure, I don't mind.", "yes"),
        ("Fine by me.", "yes"),
        ("Of course!", "yes"),
        ("Absolutely.", "yes"),
        ("That's right, go on.", "yes"),
        ("I have no objection.", "yes"),
        ("Why not?", "yes"),
        ("Not a problem, do it.", "yes"),
        ("Sounds good, thanks.", "yes"),
        ("Yes. I don't need a receipt.", "yes"),
        ("Yes, could you also send me the receipt?", "yes"),
        ("Klar, machen Sie das.", "yes"),
        ("Kein Problem.", "yes"),
        ("没问题，办吧。", "yes"),
        ("对，就这样。", "yes"),
        ("Of course not.", "no"),
        ("Please don't do that.", "no"),
        ("No, leave it as it is.", "no"),
        ("Not yet.", "no"),
        ("I'd rather not, no.", "no"),
        ("Auf keinen Fall.", "no"),
        ("Lieber nicht.", "no"),
        ("先不要。", "no"),
        ("还是算了吧。", "no"),
        ("I am not sure.", None),
        ("Yes, but don't pay more than 20.", None),
        ("Only if it is free.", None),
        ("What does it cost?", None),
        ("The right code is QX4821.", None),
        ("Yes and no.", None),
        ("Is that okay?", None),
        ("Vielleicht.", None),
        ("Sure, go ahead.", "yes"),
        ("好的，可以。", "yes"),
        ("Ja, genau.", "yes"),
        ("不可以", "no"),
        ("Nein.", "no"),
        ("", None),
    ],
)
def test_a_reply_to_a_question_for_approval_is_yes_no_or_unclear(reply, answer):
    assert consent(reply) == answer
