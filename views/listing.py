"""A list that sorts, filters and unfolds: rows of figures, each with the HTML that is behind it."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from zlib import compress

from markupsafe import Markup

from .pages import embedded, page, render

SCRIPT = "list.js"
AT_ONCE = 200
"""Rows that a browser lays out before they are scrolled to."""


@dataclass(frozen=True)
class Column:
    """A column; those with a number sort by it and can be filtered."""

    label: str
    number: bool = True
    digits: int = 0
    """Decimal places that are shown."""
    hint: str = ""


@dataclass(frozen=True)
class Row:
    """A row: a cell for each column, and what it unfolds into or where it leads."""

    cells: Sequence[str | int | float | None]
    text: str
    """What the search looks through."""
    packed: str = ""
    """HTML of ours, as `packed` gives it."""
    href: str = ""
    """Address of the page that holds it, in place of what it unfolds into."""
    small: str = ""
    """Further words in the first cell."""
    choices: Mapping[str, str] = field(default_factory=dict)
    """Value for each filter."""


def list_page(
    title: str,
    columns: Sequence[Column],
    rows: Sequence[Row],
    *,
    lines: Sequence[str] = (),
    about: str = "",
    graph: str = "",
    graph_line: str = "",
    beside: bool = True,
    after: str = "",
    rejections: str = "",
) -> str:
    """The page as HTML, its one script a part of it.

    `lines` stand below the title; `about`, `graph` and `after` are HTML of ours. `rejections`: label of the
    column that counts rejected drafts. Rows can be filtered by every key of their `choices` that varies.
    A column without any figure is left out. `beside`: whether the graph stands beside the list where there is room,
    or folded above it.
    """
    names = list(rows[0].choices) if rows else []
    told = [place for place in range(len(columns)) if not rows or any(row.cells[place] is not None for row in rows)]
    columns = [columns[place] for place in told]
    rows = [replace(row, cells=tuple(row.cells[place] for place in told)) for row in rows]
    labels = [column.label for column in columns]
    body = render(
        "list.html",
        title=title,
        lines=lines,
        about=Markup(about),
        columns=columns,
        rows=rows,
        at_once=AT_ONCE,
        filters=[(name, sorted({row.choices[name] for row in rows})) for name in names],
        rejections=labels.index(rejections) if rejections else None,
        graph=Markup(graph),
        graph_line=graph_line,
        beside=beside,
        after=Markup(after),
        texts=embedded([row.text for row in rows]),
    )
    return page(title, body, script=SCRIPT)


def packed(html: str) -> str:
    """HTML deflated, in base64: a browser need not parse what nobody has unfolded, and a page of a thousand
    conversations is small."""
    return b64encode(compress(html.encode("utf-8", "replace"), 6)).decode("ascii")
