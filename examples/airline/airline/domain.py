"""What a conversation about a booking is about: its title, what a page shows and marks, a rule for `check`."""

from collections.abc import Iterator, Mapping
from typing import Any

from duologue.data import Conversation, Domain, Material
from duologue.data.rules import Rule


def _unconfirmed(conversation: Conversation) -> Iterator[tuple[int, str]]:
    for number, message in enumerate(conversation.messages):
        moved = [call for call in message.tool_calls if call.name == "change" and call.error is None]
        if message.role == "assistant" and "is now on" in message.text and not moved:
            yield number, f"no tool has moved a booking: {message.text!r}"


RULES: Mapping[str, Rule] = {
    "airline-unconfirmed": Rule("error", "a change that no tool has confirmed", _unconfirmed),
}


class Airline(Domain):
    """A customer of an airline wants a booking changed."""

    kind = "airline"
    rules = RULES

    def title(self, scenario: Mapping[str, Any]) -> str:
        return str(scenario.get("goal", "")).capitalize()

    def material(self, scenario: Mapping[str, Any]) -> tuple[Material, ...]:
        bookings = scenario.get("database", {}).get("bookings", {})
        rows = tuple((code, ", ".join(map(str, booking.values()))) for code, booking in bookings.items())
        return (
            Material("Goal", str(scenario.get("goal", ""))),
            Material("What the customer knows", str(scenario.get("facts", ""))),
            Material("Bookings before", rows=rows, folded=True),
        )


DOMAIN = Airline()
