"""A list that sorts, filters and unfolds: rows of figures, each with the HTML that it unfolds into."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from zlib import compress

from markupsafe import Markup

from .labels.filters import DISPUTES, ListedLabel
from .pages import embedded, page, render

SCRIPT = "list.js"
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
    """A row: a cell for each column, and the HTML or the page that it opens."""

    cells: Sequence[str | int | float | None]
    text: str
    """The text that is searched."""
    packed: str = ""
    """The HTML that it unfolds into, compressed by `packed`."""
    href: str = ""
    """Address of a page to link to instead."""
    anchor: str = ""
    """The element id of what it unfolds into: an address that ends with it, or with `ANCHOR/3`, opens the row."""
    small: str = ""
    """Small print in the first cell."""
    choices: Mapping[str, str] = field(default_factory=dict)
    """Value for each filter."""
    hints: Mapping[str, str] = field(default_factory=dict)
    """What the cell of a column of texts says when it is pointed at, by the column's label."""


def list_page(
    title: str,
    columns: Sequence[ListColumn],
    rows: Sequence[ListRow],
    *,
    lines: Sequence[str] = (),
    result: str = "",
    summary: str = "",
    legend: str = "",
    graph: str = "",
    graph_line: str = "",
    beside: bool = True,
    after: str = "",
    rejections: str = "",
    images: bool = False,
    labels: Sequence[ListedLabel] = (),
    origin: str = "",
) -> str:
    """The page as HTML, with its script in it.

    Rows can be filtered by every key of their `choices` that varies. A column without any value is left out.

    `origin`: as of `page`. `lines`: texts below the title. `result`: HTML below the title. `summary`, `graph`, `after`:
    HTML, put in as it is. `beside`: show the graph beside the list on a wide screen, else folded.

    `labels`: those that rows can be filtered by, each shown with its trust. `legend`: what the marks of trust mean.
    `rejections`: label of the column that counts rejected drafts. `images`: whether a packed row has an image.
    """
    names = list(rows[0].choices) if rows else []
    filled = [n for n in range(len(columns)) if not rows or any(row.cells[n] is not None for row in rows)]
    columns = [columns[n] for n in filled]
    rows = [replace(row, cells=tuple(row.cells[n] for n in filled)) for row in rows]
    headings = [column.label for column in columns]
    body = render(
        "list.html",
        title=title,
        lines=lines,
        result=Markup(result),
        summary=Markup(summary),
        legend=legend,
        columns=columns,
        rows=rows,
        at_once=AT_ONCE,
        filters=[(name, sorted({row.choices[name] for row in rows})) for name in names],
        rejections=headings.index(rejections) if rejections else None,
        graph=Markup(graph),
        graph_line=graph_line,
        beside=beside,
        after=Markup(after),
        texts=embedded([row.text for row in rows]),
        labels=labels,
        disputes=[
            (1 << bit, words)
            for bit, words in enumerate(DISPUTES)
            if any(bits >> bit & 1 for label in labels for bits in label.disputes.values())
        ],
        labelled=embedded([label.plain() for label in labels]),
    )
    return page(title, body, script=SCRIPT, images=images, origin=origin)


def packed(html: str) -> str:
    """HTML deflated, in base64: the page stays small, and a browser parses only the rows that are unfolded."""
    return b64encode(compress(html.encode("utf-8", "replace"), 6)).decode("ascii")
