"""The airline's database, small enough to stand in a scenario."""

import copy
from typing import Any


class RefusedError(Exception):
    """What the airline answers when it cannot do what it was asked for."""


class Airline:
    """Bookings and free seats: what the agent's tools work on. It can be put back to an earlier state."""

    def __init__(self, database: dict[str, Any]) -> None:
        self.bookings: dict[str, dict[str, Any]] = database["bookings"]
        """By code: passenger, date and fare."""
        self.seats: dict[str, int] = database["seats"]
        """How many are free, by date."""

    def look_up(self, code: str) -> dict[str, Any]:
        """A booking by its code, in capitals or not."""
        code = code.upper()
        if code not in self.bookings:
            raise RefusedError(f"there is no booking {code!r}")
        return {"booking": code, **self.bookings[code]}

    def change(self, code: str, date: str) -> dict[str, Any]:
        """Move a booking to another date, and free its old seat."""
        booking = self.look_up(code)
        if not self.seats.get(date):
            raise RefusedError(f"no seat is free on {date}")
        self.seats[date] -= 1
        self.seats[booking["date"]] = self.seats.get(booking["date"], 0) + 1
        self.bookings[booking["booking"]]["date"] = date
        return {**booking, "date": date}

    def state(self) -> dict[str, Any]:
        """All of it, as a scenario has it."""
        return {"bookings": self.bookings, "seats": self.seats}

    def snapshot(self) -> dict[str, Any]:
        """What `restore` needs."""
        return copy.deepcopy(self.state())

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Put everything back to a snapshot."""
        self.bookings, self.seats = snapshot["bookings"], snapshot["seats"]
