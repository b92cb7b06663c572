"""A list that sorts, filters and unfolds: rows of figures, each with the HTML that it unfolds into."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from zlib import compress

from markupsafe import Markup

from .pages import embedded, page, render

AT_ONCE = 200
"""Rows that are shown at first; scrolling down shows more."""


@dataclass(frozen=True)
class ListColumn:
    """A column of a list.

    A column of numbers sorts by number and can be filtered by a range.
    """

    label: str
    number: bool = True
    digits: int = 0
    """Decimal places that are shown."""
    hint: str = ""


@dataclass(frozen=True)
class ListRow:
    """A row: a cell for each column, and the HTML that it opens."""

    cells: Sequence[str | int | float | None]
    text: str
    """The text that is searched."""
    html: str = ""
    """What it unfolds into."""
    anchor: str = ""
    """The element id of what it unfolds into: an address that ends with it, or with `ANCHOR/3`, opens the row."""
    small: str = ""
    """Small print in the first cell."""
    choices: Mapping[str, str] = field(default_factory=dict[str, str])
    """Value for each filter."""
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict[str, list[str]])
    """The values of each label, of which one at a time is a filter and a column."""
    hints: Mapping[str, str] = field(default_factory=dict[str, str])
    """What the cell of a text says when it is pointed at, by the column's label."""


def list_page(
    title: str,
    columns: Sequence[ListColumn],
    rows: Sequence[ListRow],
    *,
    lines: Sequence[str] = (),
    result: str = "",
    summary: str = "",
    summary_title: str = "Settings and counts",
    graph: str = "",
) -> str:
    """The page as HTML, with its script in it.

    Rows can be filtered by every key of their `choices` that varies, and by one label. A column without any value is left
    out.

    `lines`: texts below the title. `result`, `summary`, `graph`: HTML, put in as it is.
    """
    filled = [n for n in range(len(columns)) if not rows or any(row.cells[n] is not None for row in rows)]
    rows = [replace(row, cells=tuple(row.cells[n] for n in filled)) for row in rows]
    body = render(
        "list.html",
        title=title,
        lines=lines,
        result=Markup(result),
        summary=Markup(summary),
        summary_title=summary_title,
        columns=[columns[n] for n in filled],
        rows=rows,
        at_once=AT_ONCE,
        filters=[(name, sorted({row.choices[name] for row in rows})) for name in (rows[0].choices if rows else ())],
        graph=Markup(graph),
        packed=[_packed(row.html) for row in rows],
        texts=embedded([row.text for row in rows]),
        labels=sorted({name for row in rows for name in row.labels}),
        labelled=embedded([dict(row.labels) for row in rows]),
    )
    return page(title, body, script="list.js")


def _packed(html: str) -> str:
    """HTML deflated, in base64: the page stays small, and a browser parses only the rows that are unfolded."""
    return b64encode(compress(html.encode("utf-8", "replace"), 6)).decode("ascii") if html else ""
