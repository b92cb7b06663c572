"""Documents of the user's own: Markdown, plain text, HTML and Word as headings and paragraphs.

Markdown is read by markdown-it-py; HTML becomes Markdown by markdownify, Word becomes HTML by mammoth (extra `documents`).
"""

import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ..errors import DataError, MissingExtraError, at, of_extra
from .files.paths import content

MARKDOWN, TEXT, HTML, WORD = (".md", ".markdown"), (".txt", ".text"), (".html", ".htm", ".xhtml"), (".docx",)
SUFFIXES = (*MARKDOWN, *TEXT, *HTML, *WORD)
LISTED = ".md, .txt, .html or .docx"
OTHERS = (".doc", ".odt", ".rtf", ".pdf", ".epub", ".tex", ".rst", ".org", ".adoc", ".ipynb")
"""Formats of documents that `read` only refuses."""
TITLE = 80
"""Most characters of a first line that is taken for the title."""

_UNSPACED = "[\u2e80-\u312f\u3190-\u9fff\uf900-\ufaff\uff00-\uffef]"
"""Characters of scripts that put no space between words, with their punctuation. Korean puts spaces."""
_WRAP = re.compile(rf"(?<={_UNSPACED})\n(?={_UNSPACED})")
_FRONT = re.compile(r"---[ \t]*\n(.*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_HEADING = re.compile(r"^ {0,3}(?:#{1,6}(?:[ \t]|$)|(?:=+|-+)[ \t]*$)", re.MULTILINE)
_LAYOUT = re.compile(
    r"<!--.*?-->|</?(?:a|b|i|u|br|p|em|strong|span|div|img|sub|sup|small|center|h[1-6]|table|tr|td|th|ul|ol|li|details|summary|code|pre|kbd|hr|figure)\b[^<>]*>",
    re.DOTALL,
)
_NOT_TEXT = "nav footer aside button select textarea noscript iframe object svg script style template".split()
_STYLES = "\n".join(
    ["p[style-name='Title'] => h1:fresh", *(f"p[style-name='heading {n}'] => h{n + 1}:fresh" for n in range(1, 6))]
)
"""Word's title stands above its headings."""
_ITEM = re.compile(r"\s*(?:[-*+•–]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s|\s{2,}\S|\t")
"""A line that does not go on with the line before: an item of a list, or an indented line."""
_END = re.compile(r"[.!?,;:。！？，；：…]\W*$")


@dataclass(frozen=True)
class Block:
    """A heading, or a paragraph, list, table or piece of code as readable text."""

    text: str
    level: int | None = None
    """Level of a heading, 1 the highest; None for all other text."""


@dataclass(frozen=True)
class Document:
    """A document's headings and paragraphs."""

    name: str
    """Name of the file, or its path inside the folder that was read, with `/`."""
    blocks: tuple[Block, ...]
    title: str | None = None
    """Title that the file declares outside of its text: in front matter, or `<title>` in HTML."""
    notes: tuple[str, ...] = ()
    """Remarks about the reading, without the document's name."""


def read(path: str | Path) -> tuple[list[Document], list[str]]:
    """The documents of a file or folder, by name, and notes about files that were passed over.

    DataError for a format that is not read, for a text that is not UTF-8, and for a folder without documents.
    MissingExtraError for HTML and Word without the extra `documents`. Hidden files are passed over.
    """
    root = Path(path)
    if not root.is_dir():
        return [_document(root, root.name)], []
    files = sorted(file for file in root.rglob("*") if file.is_file() and not _is_hidden(file.relative_to(root)))
    readable = [file for file in files if file.suffix.lower() in SUFFIXES]
    if not readable:
        raise DataError(f"{at(path)}: holds no document: give a folder with {LISTED} files")
    others = [file.name for file in files if file not in set(readable)]
    notes = [f"{len(others)} other files are not documents and passed over: {', '.join(others[:5])}"] if others else []
    return [_document(file, file.relative_to(root).as_posix()) for file in readable], notes


def _is_hidden(path: Path) -> bool:
    return any(part.startswith((".", "~$")) for part in path.parts)


def _document(path: Path, name: str) -> Document:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise DataError(f"{at(path)}: {suffix} files are not read: save it as {LISTED}")
    stored = content(path)
    try:
        if suffix in (*HTML, *WORD):
            blocks, title = _of_html(_word(stored) if suffix in WORD else stored)
        else:
            text = stored.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
            blocks, title = of_markdown(text) if suffix in MARKDOWN else of_text(text)
    except MissingExtraError as error:
        raise MissingExtraError(f"{at(path)}: {error}, or save it as Markdown or text", name=error.name) from None
    except UnicodeDecodeError as error:
        raise DataError(f"{at(path)}: is not UTF-8 at byte {error.start}: save it as UTF-8") from None
    except DataError as error:
        raise DataError(f"{at(path)}: {error}") from None
    return Document(name, tuple(blocks), title)


def of_markdown(text: str) -> tuple[list[Block], str | None]:
    """Headings and readable text of Markdown, and the title in its front matter.

    A link becomes its text, an image its alternative text, and each row of a table a line. Headings inside lists and
    quotations are text.
    """
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

    title = None
    if (front := _FRONT.match(text)) and isinstance(fields := _yaml(front[1] or ""), dict):
        title, text = fields.get("title"), text[front.end() :]
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    return list(_blocks(SyntaxTreeNode(tokens))), _one_line(title) if isinstance(title, str) else None


def _yaml(text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return None


def _blocks(node: Any) -> Iterator[Block]:
    """The blocks below a node of Markdown's tree; a list and a table are one each."""
    for one in node.children:
        if one.type == "heading" and node.is_root:
            yield Block(_one_line("\n".join(_lines(one))), int(one.tag[1:]))
        elif one.type == "blockquote":
            yield from _blocks(one)
        elif text := "\n".join(_lines(one)).strip("\n").rstrip():
            yield Block(text)


def _lines(node: Any) -> Iterator[str]:
    """The lines of readable text of a node, those of an item of a list behind its mark."""
    if node.type == "list_item":
        mark = f"{node.info}{node.markup} " if node.info else "- "
        for number, line in enumerate(line for child in node.children for line in _lines(child) if line.strip()):
            yield (" " * len(mark) if number else mark) + line
    elif node.type == "tr":
        yield " | ".join(_one_line("\n".join(_lines(cell))) for cell in node.children)
    elif node.type == "inline":
        yield from _inline(node.token.children or ()).split("\n")
    elif node.type == "html_block":
        yield _unwrapped(_LAYOUT.sub("", node.content).split("\n"))
    elif node.type in ("fence", "code_block"):
        yield from node.content.strip("\n").split("\n")
    else:
        for child in node.children:
            yield from _lines(child)


def _inline(tokens: Iterable[Any]) -> str:
    """The readable text of inline tokens; only hard line breaks stay breaks."""
    rows = [[""]]
    for token in tokens:
        if token.type == "softbreak":
            rows[-1].append("")
        elif token.type == "hardbreak":
            rows.append([""])
        elif token.type == "html_inline":
            rows[-1][-1] += _LAYOUT.sub("", token.content)
        else:
            rows[-1][-1] += _inline(token.children) if token.type == "image" else token.content
    return "\n".join(map(_unwrapped, rows))


def of_text(text: str) -> tuple[list[Block], str | None]:
    """The blocks of a plain text, and its title if it has one.

    A title is a first paragraph of one short line without a full stop. A text with Markdown headings is Markdown, any
    other has no headings. The lines of a paragraph are joined, but not with a line that is indented
    or begins an item of a list.
    """
    if _HEADING.search(text):
        blocks, _ = of_markdown(text)
        if any(block.level for block in blocks):
            return blocks, None
    blocks = [
        block for chunk in re.split(r"\n[^\S\n]*(?:\n[^\S\n]*)+", text) for block in _paragraph(chunk.strip("\n"))
    ]
    if len(blocks) > 1 and blocks[0].level is None and _is_title(blocks[0].text):
        return blocks[1:], blocks[0].text.strip()
    return blocks, None


def _paragraph(chunk: str) -> Iterator[Block]:
    rows: list[list[str]] = []
    for line in chunk.split("\n"):
        if not rows or _ITEM.match(line):
            rows.append([])
        rows[-1].append(line)
    text = "\n".join(row[0][: len(row[0]) - len(row[0].lstrip())] + _unwrapped(row) for row in rows).rstrip()
    if text.strip():
        yield Block(text)


def _is_title(text: str) -> bool:
    return bool(text) and "\n" not in text and len(text) <= TITLE and not _END.search(text) and not _ITEM.match(text)


def _of_html(page: str | bytes) -> tuple[list[Block], str | None]:
    """The blocks of a page, in the encoding that it declares, and its `<title>`: of its only `<main>`, else of its only `<article>`, else of all of it."""
    soup = of_extra("bs4", "documents").BeautifulSoup(page, "html.parser")
    title = _one_line(soup.title.extract().get_text()) if soup.title else None
    for tag in soup.find_all(_NOT_TEXT) + soup.find_all(hidden=True):
        tag.extract()
    root = next((tags[0] for name in ("main", "article") if len(tags := soup.find_all(name)) == 1), soup)
    convert = of_extra("markdownify", "documents").markdownify
    return of_markdown(convert(str(root), heading_style="ATX", bullets="-"))[0], title or None


def _word(stored: bytes) -> str:
    """The HTML of a Word document; headings are the paragraphs in Word's own styles Title and Heading 1 to 5."""
    mammoth = of_extra("mammoth", "documents")
    pictures = mammoth.images.img_element(lambda _: {"src": ""})  # only their alternative text is read
    try:
        return str(mammoth.convert_to_html(io.BytesIO(stored), style_map=_STYLES, convert_image=pictures).value)
    except Exception as error:  # mammoth has no error of its own for a file that is not a Word document
        raise DataError(f"is not a Word document that can be read ({type(error).__name__}): save it as .txt") from None


def _unwrapped(lines: Iterable[str]) -> str:
    """Lines that were broken to fit a width, joined by a space, or by nothing in Chinese and Japanese."""
    text = "\n".join(filter(None, (line.strip() for line in lines)))
    return _WRAP.sub("", text).replace("\n", " ")


def _one_line(text: str) -> str:
    return _unwrapped(" ".join(line.split()) for line in text.splitlines())
