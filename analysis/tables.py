"""A table of results: typed cells with their units, printed, exported, and shown in notebooks."""

import csv
import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Self, TypeAlias

from pydantic import Field, model_validator
from typing_extensions import override

from ..data.records import Record
from ..data.text.terminal import on_one_line, plain
from ..errors import of_extra

Cell: TypeAlias = str | int | float | bool | None
"""None is a missing value; a note of the table gives the reason."""

CellKind: TypeAlias = Literal["text", "count", "number", "p", "flag"]
"""`number` may hold whole numbers too, as a column does whose rows are measures; `p` is a probability."""

SMALLEST_P = 0.001
DASH = "–"
"""The sign of a missing value wherever people read the table; in CSV and data frames it is empty."""

MARKDOWN = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|~&$"})
"""Markdown's signs, escaped."""


class Column(Record):
    """The content of a column."""

    name: str
    kind: CellKind = "text"
    unit: str = ""
    """Such as `words`, `characters`; empty for shares (0 to 1) and for what is counted by the name itself."""
    places: int = 3
    """Decimal places wherever people read it; CSV, JSON and data frames hold the whole number."""
    wide: bool = False
    """Whether a narrow terminal drops it, as its content stands in the title or the notes, or only exports need it."""

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
                        f"table {self.title!r}, row {number}: {cell!r} is not a {column.kind} for column {column.name!r}"
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
    def across(cls, title: str, rows: Mapping[str, Mapping[str, Cell]], notes: Iterable[str] = ()) -> Self:
        """A column for each source by its name, and a row for each measure of them."""
        columns = [Column(name="measure"), *(Column(name=name, kind="number") for name in rows)]
        measures = next(iter(rows.values()), {})
        cells = tuple((name.replace("_", " "), *(one[name] for one in rows.values())) for name in measures)
        return cls(title=title, columns=tuple(columns), rows=cells, notes=tuple(notes))

    def narrow(self) -> Self:
        """The table for a terminal, without its wide columns."""
        places = [place for place, column in enumerate(self.columns) if not column.wide]
        columns = tuple(self.columns[place] for place in places)
        return self.model_copy(
            update={"columns": columns, "rows": tuple(tuple(row[place] for place in places) for row in self.rows)}
        )

    def to_csv(self) -> str:
        """Comma-separated values, unrounded, a missing one empty; title and notes have no place in it."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(column.heading for column in self.columns)
        # `repr` of a subclass of float (numpy has one) is not a number.
        writer.writerows([float(cell) if isinstance(cell, float) else cell for cell in row] for row in self.rows)
        return text.getvalue()

    def to_markdown(self) -> str:
        """A table of GitHub's Markdown, the title above it and the notes as a list below."""
        lines = [f"**{markdown_text(self.title)}**", ""]
        lines += [piped(markdown_text(column.heading) for column in self.columns)]
        lines += [piped("---" if column.kind == "text" else "---:" for column in self.columns)]
        lines += [piped(map(markdown_text, row)) for row in self.shown()]
        if self.notes:
            lines += ["", *(f"- {markdown_text(note)}" for note in self.notes)]
        return "\n".join(lines) + "\n"

    def rich(self) -> Any:
        """The table for rich to print; what looks like its markup is text."""
        from rich.console import Group
        from rich.table import Table as RichTable
        from rich.text import Text

        body = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for column in self.columns:
            # A number is never broken; a text goes on below where the terminal is narrow.
            of_text = column.kind == "text"
            body.add_column(
                Text(column.heading),
                justify="left" if of_text else "right",
                overflow="fold",
                no_wrap=not of_text,
                min_width=None if of_text else max(map(len, map(column.shown, self.cells(column))), default=None),
            )
        for row in self.shown():
            body.add_row(*(Text(plain(text)) for text in row))
        return Group(Text(self.title, style="bold"), body, *(Text(note, style="dim") for note in self.notes))

    def frame(self) -> Any:
        """A pandas data frame, unrounded, with types that have missing values. Needs the extra `stats`."""
        pandas = of_extra("pandas", "stats")
        return pandas.DataFrame(
            {
                column.name: pandas.array([row[number] for row in self.rows], dtype=_DTYPES[column.kind])
                for number, column in enumerate(self.columns)
            }
        )

    def objects(self) -> list[dict[str, Cell]]:
        """An object for each row, by the columns' names with `_` for their spaces."""
        names = [column.name.replace(" ", "_") for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in self.rows]

    def cells(self, column: Column) -> list[Cell]:
        """The cells of a column."""
        place = self.columns.index(column)
        return [row[place] for row in self.rows]

    def shown(self) -> list[list[str]]:
        """The cells as texts, rounded, a dash for what is missing."""
        return [[column.shown(cell) for column, cell in zip(self.columns, row, strict=True)] for row in self.rows]


def markdown_text(text: str) -> str:
    """A text on one line in which Markdown and HTML are text, and an address is not a link."""
    return on_one_line(text).translate(MARKDOWN).replace("://", r"\://").replace("www.", r"www\.")


def piped(cells: Iterable[str]) -> str:
    """A row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


class TabledReport(Record):
    """Results that are printed and exported as tables, and written as one JSON document."""

    def tables(self) -> list[Table]:
        """Every table, with all columns: what is exported."""
        raise NotImplementedError

    def narrow(self) -> list[Table]:
        """The tables for a terminal, without their wide columns."""
        return [table.narrow() for table in self.tables()]

    def to_json(self) -> Any:
        """All fields, unrounded."""
        return self.model_dump(mode="json")


class TablesReport(TabledReport):
    """Some facts, and tables by name."""

    about: Mapping[str, Any] = Field(default_factory=dict)
    by_name: dict[str, Table]

    @override
    def tables(self) -> list[Table]:
        return list(self.by_name.values())

    def table(self, name: str = "") -> Table:
        """The table of this name; without one the first."""
        return self.by_name[name or next(iter(self.by_name))]

    @override
    def to_json(self) -> dict[str, Any]:
        """The facts, the rows of each table as objects, and the notes by table."""
        rows = {name: table.objects() for name, table in self.by_name.items()}
        return {**self.about, **rows, "notes": {name: list(table.notes) for name, table in self.by_name.items()}}


def table_of(title: str, frame: Any, notes: Iterable[str] = (), wide: Iterable[str] = (), *, places: int = 3) -> Table:
    """The table of a pandas data frame; `wide`: columns that a narrow terminal does without."""
    kinds: Mapping[str, CellKind] = {"i": "count", "f": "number", "b": "flag"}
    hidden = set(wide)
    columns = tuple(
        Column(name=str(name).replace("_", " "), kind=kinds.get(dtype.kind, "text"), places=places, wide=name in hidden)
        for name, dtype in frame.dtypes.items()
    )
    rows = tuple(tuple(map(_cell, row)) for row in frame.itertuples(index=False))
    return Table(title=title, columns=columns, rows=rows, notes=tuple(notes))


def _cell(value: Any) -> Cell:
    """The cell as a plain value, None where pandas has none."""
    plain_value = value.item() if hasattr(value, "item") else value
    return None if plain_value is None or plain_value != plain_value else plain_value  # only NaN differs from itself


def _finite(cell: Cell) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool) and math.isfinite(cell)


_FITS: Mapping[CellKind, Callable[[Cell], bool]] = {
    "text": lambda cell: isinstance(cell, str),
    "count": lambda cell: isinstance(cell, int) and not isinstance(cell, bool),
    "number": _finite,
    "p": lambda cell: _finite(cell) and isinstance(cell, int | float) and 0 <= cell <= 1,
    "flag": lambda cell: isinstance(cell, bool),
}
_DTYPES = {"text": "string", "count": "Int64", "number": "Float64", "p": "Float64", "flag": "boolean"}
