"""Whether a reply says that something is done or refused, by 600 replies, 200 of them by a writer who knew no rule."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from duologue.data.rules.refusals import SHORT, outcome_of, refused

DOCS = Path(__file__).parents[3] / "docs/testing.md"
ROWS = [json.loads(line) for line in Path(__file__).with_name("replies.jsonl").read_text("utf-8").splitlines()]


def errors(which: str, outcome: str) -> tuple[int, int, int, int]:
    """Missed, of how many, false, of how many others."""
    counts = Counter(
        (row["outcome"] == outcome, outcome_of(row["text"]) == outcome) for row in ROWS if row["set"] == which
    )
    missed, false = counts[True, False], counts[False, True]
    return missed, missed + counts[True, True], false, false + counts[False, False]


@pytest.mark.parametrize("which", ["seen", "unseen"])
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
        ("", None),
    ],
)
def test_what_is_denied_or_asked_is_neither(reply, outcome):
    assert outcome_of(reply) == outcome


def test_a_long_text_refuses_by_its_opening_only():
    long = "We cannot refund it. " + "The museum has a garden. " * 40
    assert len(long) > SHORT
    assert refused(long) is None
    assert refused("I'm sorry, but I can't help with that. " + long)


def test_a_hostile_text_costs_no_time_of_note():
    for text in ("no " * 2_000, "booked " * 1_000, "，但" * 2_000, "(" * 6_000, "is now been " * 500, "if you " * 800):
        outcome_of(text)
