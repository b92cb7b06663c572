"""The file with the Markdown of a test, which a CI job shows on its page."""

import os
from pathlib import Path

from ...data.files.json import write_text
from ...errors import DataError, at
from ..output.overwriting import check_free


def check_summary(file: Path | None) -> None:
    """DataError for a file that cannot be written, or that this command reads."""
    check_free(file, force=True)
    if file is not None and file.is_dir():
        raise DataError(f"{at(file)}: is a folder: name a file in it")


def is_shared(file: Path) -> bool:
    """Whether it is GitHub's job summary, into which other steps write too."""
    shared = os.environ.get("GITHUB_STEP_SUMMARY")  # noqa: TID251 - not a setting of Duologue's
    return bool(shared) and Path(str(shared)).resolve() == file.resolve()


def write_summary(file: Path, text: str) -> None:
    """Write the file anew.

    GitHub's job summary is appended to, as other steps of the job write into it too.
    """
    if not is_shared(file):
        write_text(file, text)
        return
    try:
        with file.open("a", encoding="utf-8", newline="\n") as opened:
            opened.write(text)
    except OSError as error:
        raise DataError(f"{at(file)}: cannot be written ({error.strerror}): choose another file") from None
