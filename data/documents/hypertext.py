"""HTML, by Beautiful Soup (extra `documents`): the text that a reader of the page sees, without its navigation."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, TypeAlias

from ...errors import of_extra
from .blocks import Block, check, heading, one_line, paragraph, unwrapped
from .tags import APART, HEADINGS

ENDING = (APART - {"br"}).union(HEADINGS)
"""Tags that end a paragraph."""
LEFT_OUT = frozenset("nav footer aside button select textarea noscript iframe object svg".split())
"""Parts of a page that are not text of the document; the notes have their sizes."""
NO_TEXT = frozenset("script style template".split())

MOST_SIGNS = 200_000
"""Most tags, their ends and entities of a page: a book of 500 pages has about 30,000. Beautiful Soup takes some
microseconds for an entity, and 50 for a tag with its text."""
MOST_OPEN = 100
"""Most comments or tags without an end, behind the last end of one, that are left to the parser."""

LONGEST_MARK = 8
"""Most pieces of text in the mark of a note, such as `[`, `1` and `]`."""

_Event: TypeAlias = tuple[str, Any]
_MARK = re.compile(r"\[[^\[\]]{1,12}\]|\(\d{1,3}\)|[*\u2020\u2021\u00a7\u00b6]{1,3}")
_NUMBERS = re.compile(r"\d{1,3}(?:\s?[,\u2013-]\s?\d{1,3})*")
_NO_UNIT = re.compile(r"(?:[^\W\d_]{4}|[.!?\"'\u201d\u2019)])\s?\Z")
"""What stands before a note's number: a word, which a unit or a variable is not long enough for, or the end of one."""


def page(text: str) -> tuple[list[Block], str | None, list[str]]:
    """The blocks of a page, its `<title>`, and notes about what was left out.

    The page's text is that of its only `<main>`, else of its only `<article>`, else of all of it. MissingExtraError
    without Beautiful Soup.
    """
    check(text.count("<") + text.count("&"), MOST_SIGNS, "signs of tags and entities (< and &)")
    soup = of_extra("bs4", "documents").BeautifulSoup(_ended(text), "html.parser")
    title = soup.title.extract() if soup.title and soup.title.find_parent("svg") is None else None
    left: Counter[str] = Counter()
    for tag in _apart_from_text(soup):
        if tag.name not in NO_TEXT and not _is_anchor(tag):
            left[tag.name if tag.name in LEFT_OUT else "hidden parts"] += _size(tag)
        tag.extract()
    root = next((tags[0] for name in ("main", "article") if len(tags := soup.find_all(name)) == 1), soup)
    if root is not soup:
        left[f"outside of <{root.name}>"] += _size(soup) - _size(root)
    parts = ", ".join(f"{name} {size:,}" for name, size in left.items() if size)
    name = one_line(title.get_text()) if title else ""
    return blocks(root), name or None, [f"left out of the page, in characters: {parts}"] if parts else []


def _ended(text: str) -> str:
    """The page with unclosed comments and tags escaped as text.

    The parser would look for the end of each through all the rest.
    """
    for begin, end in (("<!--", "-->"), ("<", ">")):
        last = text.rfind(end) + 1
        if text.count(begin, last) > MOST_OPEN:
            text = text[:last] + text[last:].replace(begin, begin.replace("<", "&lt;"))
    return text


def _apart_from_text(soup: Any) -> list[Any]:
    """The outermost tags whose content is not a text of the document."""
    outermost, stack = [], [soup]
    while stack:
        for tag in stack.pop().find_all(recursive=False):
            if tag.name in LEFT_OUT or tag.name in NO_TEXT or tag.has_attr("hidden") or _is_anchor(tag):
                outermost.append(tag)
            else:
                stack.append(tag)
    return outermost


def _is_anchor(tag: Any) -> bool:
    """Whether it is the sign beside a heading that links to the heading itself."""
    return tag.name == "a" and str(tag.get("href", "")).startswith("#") and tag.get_text().strip() in ("#", "¶", "§")


def _size(tag: Any) -> int:
    return len(one_line(" ".join(tag.stripped_strings)))


def blocks(root: Any) -> list[Block]:
    """Headings and readable text below a tag of Beautiful Soup: list items and rows of a table a line each.

    Headings inside lists and tables are text. An image is its alternative text.
    """
    reader = _Reader()
    for kind, what in _events(root):
        match kind:
            case "open":
                reader.open(what)
            case "close":
                reader.close(what.name)
            case _:
                reader.text(what)
    reader.flush()
    return reader.blocks


def _events(root: Any) -> Iterator[_Event]:
    """Tags as they open and close, and texts between them; without recursion, as pages can be nested at will."""
    stack = [iter(root.contents)]
    tags = [root]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
            yield "close", tags.pop()
        elif hasattr(node, "contents"):
            yield "open", node
            stack.append(iter(node.contents))
            tags.append(node)
        elif type(node).__name__ in ("NavigableString", "CData"):  # not a comment, not a declaration
            yield "text", str(node)


class _Reader:
    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.pieces: list[str] = []
        """Pieces of the paragraph that is open."""
        self.level: int | None = None
        self.code = 0
        """How many `<pre>` are open."""
        self.lists: list[tuple[str, int]] = []
        """For each open list its kind and the number of its current item."""
        self.mark = ""
        """Mark of an item of which nothing was kept so far."""
        self.tables = 0
        self.row: list[str] = []
        self.cell: list[str] | None = None
        self.lines: list[str] = []
        """Lines of the list or table that is open."""
        self.raised: list[int] = []
        """For each open `<sup>` the number of pieces before it."""
        self.link = -1
        """The number of pieces before the last link into the page itself."""

    def text(self, text: str) -> None:
        self.pieces.append(text if self.code else re.sub(r"[^\S\n]+", " ", text))

    def open(self, tag: Any) -> None:
        name = tag.name
        if name == "br":
            self.pieces.append("\n" if self.code else "\0")
        elif name == "img":
            self.text(one_line(str(tag.get("alt") or "")))
        elif name in ENDING:
            self.flush()
        self.begin_raised(tag)
        if name in ("td", "th"):
            self.end_cell()
            self.cell = []
        elif name == "tr":
            self.end_row()
        elif name in HEADINGS and not self.lists and not self.tables:
            self.level = int(name[1])
        elif name == "pre":
            self.code += 1
        elif name == "table":
            self.tables += 1
        elif name in ("ul", "ol"):
            start = str(tag.get("start") or "1")
            self.lists.append((name, int(start) - 1 if start.isascii() and start.isdigit() else 0))
        elif name == "li" and self.lists:
            kind, number = self.lists[-1]
            self.lists[-1] = (kind, number + 1)
            self.mark = "- " if kind == "ul" else f"{number + 1}. "

    def close(self, name: str) -> None:
        if name in ENDING:
            self.flush()
        if name in HEADINGS:
            self.level = None
        elif name == "sup":
            self.end_raised()
        elif name == "pre":
            self.code -= 1
        elif name in ("td", "th"):
            self.end_cell()
        elif name == "tr":
            self.end_row()
        elif name == "table":
            self.end_row()
            self.tables -= 1
        elif name in ("ul", "ol"):
            self.lists.pop()
            self.mark = ""
        if not self.lists and not self.tables and self.lines:
            self.blocks += paragraph("\n".join(self.lines))
            self.lines = []

    def begin_raised(self, tag: Any) -> None:
        """Remember where a raised piece or a link into the page begins: it may be the mark of a note."""
        if tag.name == "sup":
            self.raised.append(len(self.pieces))
        elif tag.name == "a" and str(tag.get("href", "")).startswith("#"):
            self.link = len(self.pieces)

    def end_raised(self) -> None:
        """Leave the mark of a note out of the heading; a power or an ending such as `th` stays."""
        begin = self.raised.pop()
        if self.level is None or len(self.pieces) - begin > LONGEST_MARK:
            return
        mark, before = "".join(self.pieces[begin:]).strip(), "".join(self.pieces[max(0, begin - 1) : begin])
        if self.link >= begin or _MARK.fullmatch(mark) or (_NUMBERS.fullmatch(mark) and _NO_UNIT.search(before)):
            del self.pieces[begin:]

    def end_cell(self) -> None:
        if self.cell is not None:
            self.row.append(" ".join(self.cell))
        self.cell = None

    def end_row(self) -> None:
        self.end_cell()
        if any(self.row):
            self.lines.append(" | ".join(self.row))
        self.row = []

    def flush(self) -> None:
        """End the paragraph that is open."""
        whole = "".join(self.pieces)
        self.pieces = []
        self.link = -1
        if not self.code:
            whole = "\n".join(
                unwrapped(re.sub(" +", " ", line) for line in part.split("\n")) for part in whole.split("\0")
            )
        if not whole.strip():
            return
        if self.cell is not None:
            self.cell.append(one_line(whole))
        elif self.tables:
            self.lines.append(one_line(whole))
        elif self.level is not None:
            self.blocks += heading(whole, self.level)
        elif self.lists:
            indent = "  " * (len(self.lists) - 1)
            for line in whole.strip("\n").split("\n"):
                self.lines.append(f"{indent}{self.mark}{line}")
                self.mark = " " * len(self.mark)
        else:
            self.blocks += paragraph(whole)
