"""Markdown, by markdown-it-py: CommonMark with tables, strikethrough and footnotes, and front matter as YAML or TOML."""

import re
import tomllib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import DataError
from ..files.yaml_text import YamlError, loaded
from .blocks import Block, check, heading, one_line, paragraph, unwrapped
from .footnotes import with_footnotes
from .tags import tagged_blocks, without_tags

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

NESTING = 100
"""Most levels of lists and quotations inside each other; the parser leaves deeper text out."""

SIGNS = (*"[]*_`~<>&\\|!", "- ", "+ ", ". ", ") ")
"""What may begin a link, emphasis, code, a tag, a cell or an item, also several of them in one line."""
MOST_SIGNS = 200_000
"""Most of them: a book of 500 pages has about 20,000. The parser takes up to 50 microseconds for each."""
MOST_LOOKED_AT = 1_000_000
"""Most pieces of text that the parser looks at for the ends of links: it looks at the same ones again for each `[`."""

_FRONT = re.compile(r"(---|\+\+\+)[ \t]*\n(.*?\n)?(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_HEADING = re.compile(r"^ {0,3}(?:#{1,6}(?:[ \t]|$)|(?:=+|-+)[ \t]*$)", re.MULTILINE)
"""What each heading has: its `#`, or the line below it."""


def parsed(text: str) -> "list[Token]":
    """The tokens of a text from markdown-it-py; DataError if its nesting or its size exceeds a limit."""
    from markdown_it import MarkdownIt

    spaced = text.replace("\t", " ")
    check(sum(map(spaced.count, SIGNS)), MOST_SIGNS, "signs of Markdown, such as [ * ` < |")
    parser = MarkdownIt("commonmark", {"maxNesting": NESTING}).enable(["table", "strikethrough"])
    parser.use(with_footnotes)
    _bound_links(parser, text.count("["))
    tokens = parser.parse(text)
    if any(token.level >= NESTING - 1 for token in tokens):
        raise DataError(f"has lists or quotations nested {NESTING // 2} deep: make them flatter")
    return tokens


def _bound_links(parser: "MarkdownIt", brackets: int) -> None:
    """Have the parser give up with a DataError when it looks for the ends of links without end."""
    skip, left = parser.inline.skipToken, MOST_LOOKED_AT

    def bounded(state: "StateInline") -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise DataError(
                f"has {brackets:,} brackets [, the ends of which are not found in {MOST_LOOKED_AT:,} steps: "
                "write \\[ for those that begin no link, or split the document"
            )
        skip(state)

    parser.inline.skipToken = bounded  # type: ignore[method-assign]


def front_matter(text: str) -> tuple[dict[str, Any], str]:
    """The fields of the front matter, and the text behind it.

    Two rules around anything else are text.
    """
    match = _FRONT.match(text)
    if match is None:
        return {}, text
    try:
        fields = loaded(match[2] or "", once=False) if match[1] == "---" else tomllib.loads(match[2] or "")
    except (YamlError, ValueError, RecursionError):
        return {}, text
    return (fields, text[match.end() :]) if isinstance(fields, dict) else ({}, text)


def titled_markdown(text: str) -> tuple[list[Block], str | None, list[str]]:
    """The blocks of a Markdown file, the title in its front matter, and notes about what was left out."""
    fields, body = front_matter(text)
    title, tokens = fields.get("title"), parsed(body)
    name = one_line(title) if isinstance(title, str) else ""
    return _Reader().read(tokens), name or None, left_out(tokens)


def markdown_blocks(text: str) -> list[Block]:
    """Headings and readable text of Markdown.

    A link becomes its text, an image its alternative text, and each row of a table a line. Headings inside lists and
    quotations are text, as is what looks like a heading inside code.
    """
    return _Reader().read(parsed(text))


def left_out(tokens: "Sequence[Token]") -> list[str]:
    """A note with the size of the footnotes; none without any."""
    size = sum(len(token.content) for token in tokens if token.type == "footnote")
    return [f"left out of the text, in characters: footnotes {size:,}"] if size else []


def headed_blocks(text: str) -> tuple[list[Block], list[str]] | None:
    """The blocks of a text with Markdown headings, and notes; None if it has none.

    Only lines that look like headings are parsed.
    """
    if not _HEADING.search(text):
        return None
    tokens = parsed(text)
    headed = any(token.type == "heading_open" and token.level == 0 for token in tokens)
    return (_Reader().read(tokens), left_out(tokens)) if headed else None


class _Reader:
    """Goes through the tokens once and collects blocks."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.level: int | None = None
        """Level of the heading that is open."""
        self.lists: list[str] = []
        """For each open list the mark of its current item; spaces behind the item's first line."""
        self.lines: list[str] = []
        """Lines of the list or table that is open."""
        self.row: list[str] | None = None

    def read(self, tokens: "Sequence[Token]") -> list[Block]:
        for token in tokens:
            match token.type:
                case "heading_open":
                    self.level = int(token.tag[1:]) if token.level == 0 else None
                case "heading_close":
                    self.level = None
                case "inline":
                    self.inline(inline_text(token.children or ()))
                case "fence" | "code_block":
                    self.put(token.content.strip("\n"), whole=True)
                case "html_block":
                    self.html(token.content)
                case _:
                    self.frame(token)
        return self.blocks

    def frame(self, token: "Token") -> None:
        """Begin or end a list, an item, a table or a row."""
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                self.lists.append("")
            case "list_item_open":
                self.lists[-1] = f"{token.info}{token.markup} " if token.info else "- "
            case "bullet_list_close" | "ordered_list_close":
                self.lists.pop()
                self.close()
            case "tr_open":
                self.row = []
            case "tr_close":
                row, self.row = " | ".join(self.row or ()), None
                if self.lists:
                    self.put(row)
                else:
                    self.lines.append(row)
            case "table_close":
                self.close()

    def inline(self, text: str) -> None:
        if self.level is not None:
            self.blocks += heading(text, self.level)
        elif self.row is not None:
            self.row.append(one_line(text))
        else:
            self.put(text)

    def put(self, text: str, *, whole: bool = False) -> None:
        """Add text as a paragraph, or as lines of the open list."""
        if not text.strip():
            return
        if not self.lists:
            self.blocks += paragraph(text)
            return
        indent = "  " * (len(self.lists) - 1)
        for line in text.split("\n"):
            self.lines.append(f"{indent}{self.lists[-1]}{line if whole else line.strip()}")
            self.lists[-1] = " " * len(self.lists[-1])

    def html(self, text: str) -> None:
        for block in tagged_blocks(text):
            if block.level is not None and not self.lists:
                self.blocks.append(block)
            else:
                self.put(block.text)

    def close(self) -> None:
        """End the outermost list or a table."""
        if not self.lists and self.lines:
            self.blocks += paragraph("\n".join(self.lines))
            self.lines = []


def inline_text(tokens: "Iterable[Token]") -> str:
    """The readable text of inline tokens; only hard line breaks stay breaks."""
    lines, row = [], [""]
    for token in tokens:
        match token.type:
            case "softbreak":
                row.append("")
            case "hardbreak":
                lines.append(unwrapped(row))
                row = [""]
            case "image":
                row[-1] += one_line(inline_text(token.children or ()))
            case "html_inline":
                row[-1] += without_tags(token.content)
            case _:
                row[-1] += token.content
    return "\n".join([*lines, unwrapped(row)])
