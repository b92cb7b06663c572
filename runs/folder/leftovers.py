"""Leftovers in a run folder: half-written files of a killed process."""

import re
from collections.abc import Iterator
from pathlib import Path

from ...data.files.journals import is_of_journal
from ...data.formats.source import CONVERSATIONS, FAILURES, MANIFEST
from ...errors import DataError, at
from ..journals.calls import CALLS

DATASET = "dataset"
"""The folder of a run's data set."""

CARD = "README.md"
"""The data set's card, beside its files."""

PROMPTS = "prompts.json"
"""File of a run's prompt pages by name: together with the digests in the records it shows what was sent."""

_PARTIAL = re.compile(r"\.(?P<name>.+)\.\d+\.partial", re.DOTALL)
"""Name of a file that is being written; the number is the process."""


def partials(folder: Path) -> Iterator[Path]:
    """The half-written files of a run.

    Below its data set these are all such files. Beside it they are only those of the run's own files, since another
    command may be writing a page there.
    """
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        match = _PARTIAL.fullmatch(path.name)
        if match is not None and path.is_file() and is_own(match["name"]):
            yield path
    if (folder / DATASET).is_dir():
        yield from (path for path in sorted((folder / DATASET).rglob(".*.partial")) if _PARTIAL.fullmatch(path.name))


def is_own(name: str) -> bool:
    """Whether a run folder's file with this name is one that the run writes."""
    journals = (CONVERSATIONS, FAILURES, CALLS)
    return name in (MANIFEST, PROMPTS) or any(is_of_journal(Path(name), of) for of in journals)


def remove(paths: Iterator[Path]) -> None:
    """Remove the files."""
    for path in paths:
        try:
            path.unlink()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise DataError(f"{at(path)}: cannot be removed ({error.strerror}): remove it by hand") from None
