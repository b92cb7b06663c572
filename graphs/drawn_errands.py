"""Tasks for the assistants with graded faults, with drawn values: bookings of an airline, and tasks in town."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..data.identity import digest
from ..nodes.seeded_faults.graded import INVENTED
from ..nodes.state import State
from . import agent_test

AIRLINE: tuple[tuple[str, str], ...] = (
    ("move my flight booking to {date}", "The code is {code}. The time is {time}."),
    ("move my flight booking to {date}, at {time}", "The code is {code}."),
    ("change the flight ticket {code} to another day", "The date is {date}. The time is {time}."),
    ("move the flight of booking {code} to {time}", "The date is {date}."),
)
"""Goals and facts about a booking, with the places of their values."""
TOWN: tuple[tuple[str, str], ...] = (
    ("book a table for {people} in a quiet restaurant", "The date is {date}. The time is {time}."),
    ("order a birthday gift for {budget}", "The age is {age}. The date is {date}."),
    ("plan a trip of {days}", "There are {people}. The budget is {budget}."),
    ("have my parcel {code} delivered at another time", "The date is {date}. The time is {time}."),
    ("book a meeting room on {date}", "The time is {time}. There are {people}."),
)
"""The same about five other tasks."""
DRAWN_DOMAINS: Mapping[str, tuple[tuple[str, str], ...]] = {"airline": AIRLINE, "town": TOWN}

_PLACE = re.compile(r"\{(\w+)\}")


def drawn_states(domain: str, count: int, seed: int = 0) -> list[State]:
    """`count` scenarios of a domain: its goals in turn, each with values of its own.

    Success: the replies contain every value, and none that the assistant invented.

    >>> drawn_states("airline", 1)[0]["scenario"]["goal"]
    'move my flight booking to 2027-07-23'
    """
    templates = DRAWN_DOMAINS[domain]
    return agent_test.scenarios(_scenario(templates[n % len(templates)], domain, n, seed) for n in range(count))


def _scenario(template: Sequence[str], domain: str, number: int, seed: int) -> dict[str, Any]:
    goal, facts = template
    values = {name: _value(name, domain, number, seed) for name in _PLACE.findall(goal + facts)}
    patterns = [rf"(?<![\d:-]){re.escape(value.partition(' ')[0])}(?![\d:-])" for value in values.values()]
    return {
        "goal": goal.format(**values),
        "facts": facts.format(**values),
        "success": {
            "text_contains": {"all": patterns, "regex": True},
            "not": {"text_contains": {"any": list(INVENTED.values())}},
        },
    }


def _value(name: str, *of: object) -> str:
    draw = int(digest("drawn errand", name, *of)[:12], 16)

    def one(count: int, first: int = 0) -> int:
        nonlocal draw
        draw, rest = divmod(draw, count)
        return first + rest

    match name:
        case "code":
            return f"{chr(65 + one(23))}{chr(65 + one(23))}{one(9000, 1000)}"
        case "date":
            return f"2027-{one(12, 1):02d}-{one(28, 1):02d}"
        case "time":
            return f"{one(13, 8):02d}:{one(12) * 5:02d}"
        case "people":
            return f"{one(7, 2)} people"
        case "days":
            return f"{one(9, 2)} days"
        case "budget":
            return f"{one(90, 10) * 10} euros"
        case _:
            return f"{one(70, 10)} years old"
