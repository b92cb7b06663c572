"""One conversation in the form that the ending of its file asks for: its record or its messages."""

from collections.abc import Callable, Mapping
from pathlib import Path

from ...data import Conversation
from ...data.files.json import dumps, write_text
from ...errors import DataError, at
from .overwriting import check_free

FORMS: Mapping[str, Callable[[Conversation], str]] = {
    ".json": lambda conversation: dumps(conversation.plain(), indent=2) + "\n",
    ".jsonl": lambda conversation: dumps(conversation.plain()) + "\n",
    ".txt": lambda conversation: f"{conversation}\n",
}
"""The text of a file by its ending: the record, the record as a line of a run's file, the messages."""


def is_page(out: Path) -> bool:
    """Whether a page is to be written: there is no ending, or it is that of HTML."""
    return out.is_dir() or out.suffix in ("", ".html")


def check_form(out: Path | None) -> None:
    """DataError for an ending of no form."""
    if out is not None and not is_page(out) and out.suffix not in FORMS:
        forms = ".html for a page, .json or .jsonl for the record, .txt for the messages"
        raise DataError(f"--out {at(out)}: nothing is written as {out.suffix!r}: let it end with {forms}")


def write_conversation(conversation: Conversation, out: Path, *, force: bool) -> Path:
    """Write the conversation in the form of the file's ending; DataError for a file that exists, without `force`."""
    check_free(out, force=force)
    write_text(out, FORMS[out.suffix](conversation))
    return out
