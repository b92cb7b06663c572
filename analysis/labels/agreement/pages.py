"""The common layout of tables of labels: one for each pair of labels, notes below."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, TypeVar

from ....data.labels.reading import AnnotationSide
from ....data.records import Record
from ...over_users.estimate import UserScore
from ...table_escapes import DASH
from ...tables import Cell, Column, Table, TypedRows

VOTES = "votes"
"""The second name of a label whose own votes are compared with each other."""


class ComparedRow(Record):
    """A row about two labels, or about the votes on one, for one side and part."""

    side: AnnotationSide
    label: str
    """The reference, such as people's label; or the label whose votes are compared."""
    against: str
    """The label that is judged by it; `votes` where votes are compared with each other."""
    part: str
    """The part that is compared, by its name in the first label; empty if it has none."""

    @property
    def remark(self) -> str:
        """The row's note; empty for a row that needs none, such as a count."""
        return str(getattr(self, "note", ""))


AnyRow = TypeVar("AnyRow", bound=ComparedRow)


class ComparedRows(TypedRows[AnyRow], Generic[AnyRow]):
    """Rows about pairs of labels."""

    sources: tuple[str, ...] = ()
    """The names of the two sources, if there are two."""

    def tables(self) -> list[Table]:
        """A table for each pair of labels, of the columns that fit a page; `table` has all."""
        return [
            self.page(*(pair if pair[1] == VOTES else titled(pair, self.sources)), rows)
            for pair, rows in by_pair(self.rows).items()
        ]

    def page(self, label: str, against: str, rows: Sequence[AnyRow]) -> Table:
        """The table of one pair of labels."""
        raise NotImplementedError

    def page_of(
        self,
        title: str,
        columns: Sequence[Column],
        rows: Sequence[AnyRow],
        meaning: Iterable[str] = (),
        **cells: Callable[[AnyRow], Cell],
    ) -> Table:
        """Columns of rows as a table, with their notes; `cells`: of a column without a field."""
        shown: dict[str, Callable[[AnyRow], Cell]] = {"part": lambda row: part_shown(row.part), **cells}
        records = [row.model_dump() | {name: cell(row) for name, cell in shown.items()} for row in rows]
        return Table.of(title, columns, records, (*remarks(rows), *meaning, *self.notes))


def by_pair(rows: Iterable[AnyRow]) -> dict[tuple[str, str], list[AnyRow]]:
    """The rows of each pair of labels, by their names; a part that both share is left out of them."""
    rows_by_pair: dict[tuple[str, str], list[AnyRow]] = {}
    for row in rows:
        end, against = f".{row.part}", row.against
        same = bool(row.part) and row.label.endswith(end) and (against.endswith(end) or against == VOTES)
        pair = (row.label.removesuffix(end), against.removesuffix(end)) if same else (row.label, against)
        rows_by_pair.setdefault(pair, []).append(row)
    return rows_by_pair


def remarks(rows: Sequence[ComparedRow]) -> list[str]:
    """The notes of rows, each once, with the sides and parts that have it."""
    about: dict[str, list[str]] = {}
    for row in rows:
        if row.remark:
            about.setdefault(row.remark, []).append(_about(row))
    return [f"{', '.join(dict.fromkeys(names))}: {note}." for note, names in about.items()]


def _about(row: ComparedRow) -> str:
    if row.side != "not told":
        return " ".join(filter(None, (row.side, row.part)))
    return f"{row.part} (side unknown)" if row.part else "side unknown"


def titled(pair: tuple[str, str], sources: Sequence[str]) -> tuple[str, str]:
    """The names of the two labels, with their sources where there are two."""
    return (f"{pair[0]} of {sources[0]}", f"{pair[1]} of {sources[1]}") if sources else pair


def part_shown(part: str) -> str:
    """The name of a part in words, which a narrow terminal puts below each other."""
    return part.replace("_", " ") or DASH


def interval_shown(low: float | None, high: float | None) -> str:
    """Both ends as one word, which no narrow terminal breaks."""
    return DASH if low is None or high is None else f"{low:.2f}…{high:.2f}"


def bounds(name: str, score: UserScore) -> dict[str, Any]:
    """The fields of a row for a score and its interval."""
    return {name: score.value, f"{name}_low": score.low, f"{name}_high": score.high}
