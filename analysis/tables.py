"""A table of results: typed cells with their units, printed, exported, and shown in notebooks."""

import csv
import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic, Literal, Self, TypeAlias, TypeVar, get_args

from pydantic import model_validator

from ..data.records import Record
from ..data.text.terminal import plain
from ..errors import of_extra
from .fitting import Fitted

Cell: TypeAlias = str | int | float | bool | None
"""None is a value that there is not; a note of the table says why."""

Kind: TypeAlias = Literal["text", "count", "number", "p", "flag"]
"""`number` may hold whole numbers too, as a column does whose rows are measures; `p` is a probability."""

RowRecord = TypeVar("RowRecord", bound=Record)

_FIELD_KINDS: Mapping[Any, Kind] = {str: "text", int: "count", int | None: "count", bool: "flag", float: "number",
                                     float | None: "number"}  # fmt: skip

DASH = "–"
"""What stands for a missing value wherever people read the table; in CSV and data frames it is empty."""

SMALLEST_P = 0.001

_MARKDOWN = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|~&$"})
_LATEX = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': "''",
        DASH: "--",
        "[": "{[}",  # a bracket or star behind a row's end would be an argument of it
        "]": "{]}",
        "*": "{*}",
    }
)


class Column(Record):
    """What a column holds."""

    name: str
    kind: Kind = "text"
    unit: str = ""
    """Such as `words`, `characters`; empty for shares (0 to 1) and for what is counted by the name itself."""
    places: int = 3
    """Decimal places wherever people read it; CSV, JSON and data frames hold the whole number."""

    @property
    def heading(self) -> str:
        """Name and unit, as they stand above the column."""
        return f"{self.name} ({self.unit})" if self.unit else self.name

    def shown(self, cell: Cell) -> str:
        """The cell as people read it."""
        if cell is None:
            return DASH
        if isinstance(cell, bool):
            return "yes" if cell else "no"
        if not isinstance(cell, float):
            return " ".join(str(cell).split())
        if self.kind == "p" and cell < SMALLEST_P:
            return f"<{SMALLEST_P}"
        text = f"{cell:.{self.places}f}"
        return text if float(text) else text.removeprefix("-")


class Table(Record):
    """Rows of typed cells under named columns; ValueError for a cell that its column cannot hold."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    """What a reader must know: definitions, and why a value is missing."""

    @model_validator(mode="after")
    def _cells_fit(self) -> Self:
        names = [column.name for column in self.columns]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"table {self.title!r} needs columns of different names, not {names}")
        for number, row in enumerate(self.rows, start=1):
            if len(row) != len(names):
                raise ValueError(f"table {self.title!r}, row {number}: has {len(row)} cells for {len(names)} columns")
            for column, cell in zip(self.columns, row, strict=True):
                if cell is not None and not _FITS[column.kind](cell):
                    raise ValueError(
                        f"table {self.title!r}, row {number}: {cell!r} is no {column.kind} for column {column.name!r}"
                    )
        return self

    @classmethod
    def of(
        cls,
        title: str,
        columns: Sequence[Column],
        records: Iterable[Record | Mapping[str, Cell]],
        notes: Iterable[str] = (),
    ) -> Self:
        """A row for each record, by the columns' names with `_` for their spaces."""
        fields = [column.name.replace(" ", "_") for column in columns]
        rows = tuple(
            tuple(record[field] if isinstance(record, Mapping) else getattr(record, field) for field in fields)
            for record in records
        )
        return cls(title=title, columns=tuple(columns), rows=rows, notes=tuple(notes))

    @classmethod
    def across(cls, title: str, records: Sequence[Record], notes: Iterable[str] = ()) -> Self:
        """A column for each record, named by its first field, and a row for each other field."""
        first, *fields = type(records[0]).model_fields
        columns = [Column(name="measure"), *(Column(name=getattr(record, first), kind="number") for record in records)]
        rows = tuple((field.replace("_", " "), *(getattr(record, field) for record in records)) for field in fields)
        return cls(title=title, columns=tuple(columns), rows=rows, notes=tuple(notes))

    def to_csv(self) -> str:
        """Comma-separated values, unrounded, a missing one empty; title and notes have no place in it."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(column.heading for column in self.columns)
        # `repr` of a subclass of float (numpy has one) is no number.
        writer.writerows([float(cell) if isinstance(cell, float) else cell for cell in row] for row in self.rows)
        return text.getvalue()

    def to_markdown(self) -> str:
        """A table of GitHub's Markdown, the title above it and the notes as a list below."""
        lines = [f"**{_line(self.title).translate(_MARKDOWN)}**", ""]
        lines += [_piped(_line(column.heading).translate(_MARKDOWN) for column in self.columns)]
        lines += [_piped("---" if column.kind == "text" else "---:" for column in self.columns)]
        lines += [_piped(text.translate(_MARKDOWN) for text in row) for row in self.shown()]
        if self.notes:
            lines += ["", *(f"- {_line(note).translate(_MARKDOWN)}" for note in self.notes)]
        return "\n".join(lines) + "\n"

    def to_latex(self) -> str:
        r"""A `table` with `\toprule` and its like: a document that holds it needs the package booktabs."""
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_line(self.title).translate(_LATEX)}}}",
            rf"\begin{{tabular}}{{{''.join('l' if column.kind == 'text' else 'r' for column in self.columns)}}}",
            r"\toprule",
            _row(_line(column.heading).translate(_LATEX) for column in self.columns),
            r"\midrule",
            *(_row(map(self._latex, texts, row)) for texts, row in zip(self.shown(), self.rows, strict=True)),
            r"\bottomrule",
            r"\end{tabular}",
            *(rf"\par\footnotesize {_line(note).translate(_LATEX)}" for note in self.notes),
            r"\end{table}",
        ]
        return "\n".join(lines) + "\n"

    @staticmethod
    def _latex(text: str, cell: Cell) -> str:
        negative = isinstance(cell, int | float) and text.startswith("-")
        return f"$-${text[1:]}" if negative else text.translate(_LATEX)

    def rich(self) -> Any:
        """The table for rich to print; what looks like its markup is text."""
        from rich.console import Group
        from rich.text import Text

        shown = [[plain(text) for text in row] for row in self.shown()]
        body = Fitted([column.heading for column in self.columns], [c.kind == "text" for c in self.columns], shown)
        return Group(Text(self.title, style="bold"), body, *(Text(note, style="dim") for note in self.notes))

    def frame(self) -> Any:
        """A pandas data frame, unrounded, with types that know missing values. Needs the extra `stats`."""
        pandas = of_extra("pandas", "stats")
        return pandas.DataFrame(
            {
                column.name: pandas.array([row[number] for row in self.rows], dtype=_DTYPES[column.kind])
                for number, column in enumerate(self.columns)
            }
        )

    def shown(self) -> list[list[str]]:
        """The cells as texts, rounded, a dash for what is missing."""
        return [[column.shown(cell) for column, cell in zip(self.columns, row, strict=True)] for row in self.rows]


class Rows(Record, Generic[RowRecord]):
    """Rows of one kind, typed records, with notes: what a reader must know, such as why values are missing.

    A subclass says by its docstring what is counted, and by its `rows` what a row holds.
    """

    title: ClassVar[str]

    rows: tuple[RowRecord, ...] = ()
    notes: tuple[str, ...] = ()

    def table(self) -> Table:
        """A column for each field of a row."""
        (row, _) = get_args(type(self).model_fields["rows"].annotation)
        columns = [
            Column(name=name.replace("_", " "), kind=_FIELD_KINDS.get(field.annotation, "text"))
            for name, field in row.model_fields.items()
        ]
        return Table.of(self.title, columns, self.rows, self.notes)

    def to_json(self) -> list[dict[str, Any]]:
        """An object for each row; null where there is no value."""
        return [row.model_dump(mode="json") for row in self.rows]


def _finite(cell: Cell) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool) and math.isfinite(cell)


_FITS: Mapping[Kind, Callable[[Cell], bool]] = {
    "text": lambda cell: isinstance(cell, str),
    "count": lambda cell: isinstance(cell, int) and not isinstance(cell, bool),
    "number": _finite,
    "p": lambda cell: _finite(cell) and isinstance(cell, int | float) and 0 <= cell <= 1,
    "flag": lambda cell: isinstance(cell, bool),
}
_DTYPES: Mapping[Kind, str] = {
    "text": "string",
    "count": "Int64",
    "number": "Float64",
    "p": "Float64",
    "flag": "boolean",
}


def _line(text: str) -> str:
    return " ".join(text.split())


def _piped(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"
