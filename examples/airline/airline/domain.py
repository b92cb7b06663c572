"""What a conversation about a booking is about: its title, what a page shows and marks, a rule for `check`."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import Field, JsonValue

from duologue.data import Conversation, Domain, Form, Material
from duologue.data.checks import Rule


def _unconfirmed(conversation: Conversation) -> Iterator[tuple[int, str]]:
    for number, message in enumerate(conversation.messages):
        moved = [call for call in message.tool_calls if call.name == "change" and call.error is None]
        if message.role == "assistant" and "is now on" in message.text and not moved:
            yield number, f"no tool has moved a booking: {message.text!r}"


RULES: Mapping[str, Rule] = {
    "airline-unconfirmed": Rule("error", "a change that no tool has confirmed", _unconfirmed),
}


class Request(Form):
    """A customer's request as a form to fill in, such as in LangGraph Studio: `langgraph dev` in `examples/airline`."""

    goal: str = Field(description="What the customer wants.", examples=["move my flight to 2026-05-03"])
    facts: str = Field(
        default="The booking code is QX4821.",
        description="What the customer knows, and tells when it is asked.",
    )
    bookings: dict[str, dict[str, JsonValue]] = Field(
        default={"QX4821": {"date": "2026-05-01", "fare": "flex"}},
        description="The bookings before, by code: date and fare (flex or basic).",
    )
    seats: dict[str, int] = Field(default={"2026-05-03": 2}, description="Free seats, by date.")
    expected: dict[str, dict[str, JsonValue]] = Field(
        default={},
        description="The bookings that are expected afterwards, by code. Empty: as they were.",
        examples=[{"QX4821": {"date": "2026-05-03", "fare": "flex"}}],
    )

    def scenario(self) -> dict[str, Any]:
        """The scenario, as a line of `scenarios.jsonl`."""
        database = {"bookings": self.bookings, "seats": self.seats}
        expected = self.expected or self.bookings
        return {
            "kind": "airline",
            "goal": self.goal,
            "facts": self.facts,
            "database": database,
            "expected": expected,
        }


class Airline(Domain):
    """A customer of an airline wants a booking changed."""

    kind = "airline"
    form = Request
    rules = RULES
    marks = ("goal", "facts")

    def title(self, scenario: Mapping[str, Any]) -> str:
        return str(scenario.get("goal", "")).capitalize()

    def topic_key(self, scenario: Mapping[str, Any]) -> str | None:
        return str(scenario.get("goal")) or None

    def material(self, scenario: Mapping[str, Any]) -> tuple[Material, ...]:
        bookings = scenario.get("database", {}).get("bookings", {})
        rows = tuple((code, ", ".join(map(str, booking.values()))) for code, booking in bookings.items())
        return (
            Material("Goal", str(scenario.get("goal", ""))),
            Material("What the customer knows", str(scenario.get("facts", ""))),
            Material("Bookings before", rows=rows, folded=True),
        )

    def facts(self, scenario: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        return tuple(("booking", code) for code in scenario.get("database", {}).get("bookings", {}))


DOMAIN = Airline()
