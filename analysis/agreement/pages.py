"""What the tables of labels have in common on a page: one for each pair of labels, notes below."""

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from ..tables import DASH

VOTES = "votes"
"""What a label is compared with whose own votes are compared with each other."""


class Compared(Protocol):
    """A row about two labels."""

    @property
    def side(self) -> str: ...  # noqa: D102
    @property
    def label(self) -> str: ...  # noqa: D102
    @property
    def against(self) -> str: ...  # noqa: D102
    @property
    def part(self) -> str: ...  # noqa: D102
    @property
    def note(self) -> str: ...  # noqa: D102


Row = TypeVar("Row", bound=Compared)


def by_pair(rows: Iterable[Row]) -> dict[tuple[str, str], list[Row]]:
    """The rows of each pair of labels, by their names: without the part, if it is the same part of both."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        end, against = f".{row.part}", row.against
        same = bool(row.part) and row.label.endswith(end) and (against.endswith(end) or against == VOTES)
        pair = (row.label.removesuffix(end), against.removesuffix(end)) if same else (row.label, against)
        found.setdefault(pair, []).append(row)
    return found


def remarks(rows: Sequence[Compared]) -> list[str]:
    """The notes of rows, each once, with the sides and parts of which it is said."""
    about: dict[str, list[str]] = {}
    for row in rows:
        if row.note:
            about.setdefault(row.note, []).append(_about(row))
    return [f"{', '.join(dict.fromkeys(names))}: {note}." for note, names in about.items()]


def _about(row: Compared) -> str:
    if row.side != "not told":
        return " ".join(filter(None, (row.side, row.part)))
    return f"{row.part} (side not told)" if row.part else "side not told"


def titled(pair: tuple[str, str], sources: Sequence[str]) -> tuple[str, str]:
    """The names of the two labels, with their sources where there are two."""
    return (f"{pair[0]} of {sources[0]}", f"{pair[1]} of {sources[1]}") if sources else pair


def part_shown(part: str) -> str:
    """The name of a part in words, which a narrow terminal puts below each other."""
    return part.replace("_", " ") or DASH


def interval_shown(low: float | None, high: float | None) -> str:
    """Both ends as one word, which no narrow terminal breaks."""
    return DASH if low is None or high is None else f"{low:.2f}…{high:.2f}"
