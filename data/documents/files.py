"""Which files are documents, and the reading of one or of a folder of them."""

import os
from collections import Counter
from pathlib import Path

from ...errors import DataError, MissingExtraError, at
from ..files.regular_files import content
from .blocks import MOST_LINES, Block, Document, check
from .encodings import decoded
from .hypertext import page
from .markdown import titled_markdown
from .plain import text_blocks
from .word import word_blocks

MARKDOWN = (".md", ".markdown")
TEXT = (".txt", ".text")
HTML = (".html", ".htm", ".xhtml")
WORD = (".docx",)
SUFFIXES = (*MARKDOWN, *TEXT, *HTML, *WORD)
MOST_BYTES = dict.fromkeys(SUFFIXES, 10_000_000) | dict.fromkeys(WORD, 50_000_000)
"""Most bytes of a document by the end of its name: ten books of text; a Word document holds pictures too."""
LISTED = ".md, .txt, .html or .docx"
OTHERS = (".doc", ".odt", ".rtf", ".pdf", ".epub", ".tex", ".rst", ".org", ".adoc", ".ipynb")
"""Formats of documents that are not read."""


def is_document(path: Path) -> bool:
    """Whether a file is a document by the end of its name, also of a kind that `read` only refuses."""
    return path.suffix.lower() in (*SUFFIXES, *OTHERS)


def read(path: str | Path) -> tuple[list[Document], list[str]]:
    """The documents of a file or folder, by name, and notes about files that were passed over.

    DataError for a format that is not read, for a text that is not UTF-8, and for a folder without documents.
    MissingExtraError for HTML and Word without the extra `documents`. Hidden files are passed over.
    """
    root = Path(path)
    if not root.is_dir():
        return [_document(root, root.name)], []
    files = _files(root)
    readable = [file for file in files if file.suffix.lower() in SUFFIXES]
    if not readable:
        raise DataError(f"{at(path)}: holds no document: give a folder with {LISTED} files")
    notes = []
    others = Counter(file.suffix.lower() or file.name for file in files if file not in set(readable))
    if others:
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(others.items()))
        noun = "file is not a document" if others.total() == 1 else "files are not documents"
        notes.append(f"{others.total()} other {noun} and passed over: {kinds}")
    return [_document(file, file.relative_to(root).as_posix()) for file in readable], notes


def _files(root: Path) -> list[Path]:
    """Every file below the folder that is not hidden, by the parts of its path."""

    def unreadable(error: OSError) -> None:
        raise DataError(f"{at(error.filename)}: cannot be read ({error.strerror}): check the folder") from None

    files = []
    for folder, folders, names in os.walk(root, onerror=unreadable):
        folders[:] = [name for name in folders if not name.startswith(".")]
        files += [Path(folder, name) for name in names if not name.startswith((".", "~$"))]
    return sorted(files, key=lambda file: file.relative_to(root).parts)


def _document(path: Path, name: str) -> Document:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise DataError(f"{at(path)}: {suffix} files are not read: save it as {LISTED}")
    read = content(path, MOST_BYTES[suffix])
    try:
        blocks, title, notes = _read(read, suffix)
    except MissingExtraError as error:
        raise MissingExtraError(f"{at(path)}: {error}, or save it as Markdown or text", name=error.name) from None
    except DataError as error:
        raise DataError(f"{at(path)}: {error}") from None
    return Document(name, tuple(blocks), title, tuple(notes))


def _read(read: bytes, suffix: str) -> tuple[list[Block], str | None, list[str]]:
    if suffix in WORD:
        return word_blocks(read), None, []
    text = decoded(read) if suffix in HTML else _utf8(read)
    if "\0" in text:
        raise DataError("holds NUL characters: this is not a text")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if suffix in HTML:
        return page(text)
    check(text.count("\n"), MOST_LINES, "lines")
    return titled_markdown(text) if suffix in MARKDOWN else text_blocks(text)


def _utf8(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8 at byte {error.start}: save it as UTF-8") from None
