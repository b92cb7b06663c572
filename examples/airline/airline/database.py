"""The airline's database, small enough to stand in a scenario, and the two tools that work on it."""

from typing import Any, TypeAlias

from langchain_core.tools import tool

Database: TypeAlias = dict[str, Any]
"""`bookings`: code -> passenger, date and fare; `seats`: date -> how many are free."""


class ToolError(Exception):
    """What a tool answers when it cannot do what it was asked for."""


@tool
def look_up(booking: str) -> dict[str, Any]:
    """Look up a booking by its code: date and fare."""
    raise NotImplementedError  # the graph calls the functions below, which have the database


@tool
def change(booking: str, date: str) -> dict[str, Any]:
    """Move a booking to another date, written as YYYY-MM-DD."""
    raise NotImplementedError


TOOLS = (look_up, change)


def call(name: str, arguments: dict[str, Any], database: Database) -> tuple[Any, Database]:
    """What the tool answers, and the database behind it; ToolError where it refuses."""
    code = str(arguments.get("booking", "")).upper()
    bookings, seats = database["bookings"], database["seats"]
    if code not in bookings:
        raise ToolError(f"there is no booking {code!r}")
    if name == "look_up":
        return {"booking": code, **bookings[code]}, database
    if name != "change":
        raise ToolError(f"there is no tool {name!r}")
    date = str(arguments.get("date", ""))
    if not seats.get(date):
        raise ToolError(f"no seat is free on {date}")
    moved = {**bookings[code], "date": date}
    return {"booking": code, **moved}, {
        "bookings": {**bookings, code: moved},
        "seats": {**seats, date: seats[date] - 1},
    }
