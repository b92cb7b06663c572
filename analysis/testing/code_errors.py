"""Errors that one's own code raised in the conversations of a test, those of one place counted together."""

from ...data.records import Record
from ..outcomes import Outcome


class CodeError(Record):
    """An error of one's own code at one place.

    The agent, a tool, a validator, a scorer or a world raised it.
    """

    error: str
    """The reason that the first of these conversations has no score, with class, message, file and line."""
    frames: tuple[str, ...]
    """The last places in one's own code that it passed, the innermost last, such as `shop/tools.py:12 in book`."""
    conversations: int
    first: str
    """Id of the first of these conversations."""


class CodeErrors:
    """Collects errors from the outcomes of conversations."""

    def __init__(self) -> None:
        self._by_place: dict[str, tuple[Outcome, int]] = {}

    def add(self, result: Outcome) -> None:
        """Count an outcome, if an error of one's own code stands behind it."""
        if result.frames:
            first, count = self._by_place.get(result.frames[-1], (result, 0))
            self._by_place[result.frames[-1]] = first, count + 1

    def rows(self) -> tuple[CodeError, ...]:
        """The errors, the most frequent first."""
        rows = [
            CodeError(error=first.reason, frames=first.frames, conversations=count, first=first.id)
            for first, count in self._by_place.values()
        ]
        return tuple(sorted(rows, key=lambda row: -row.conversations))
