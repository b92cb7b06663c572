"""Files that are not read: each is named for what it is, with what to do."""

import re
import zipfile
from pathlib import Path
from typing import Any

from ..attachments import raster_type
from ..attempts import is_object

_MESSAGES = "write one message a line, with conversation_id, role and content (docs/start/log_formats.md)"
_UNPACK = "unpack it, and give the files"
_RECORDING = f"is a recording or film: transcribe it, and {_MESSAGES}"
_MAGIC = {
    b"%PDF-": f"is a PDF: copy the conversation out of it, and {_MESSAGES}",
    b"SQLite format 3": "is an SQLite database: export its messages as CSV, with columns of role and content",
    b"7z\xbc\xaf\x27\x1c": f"is a 7z archive: {_UNPACK}",
    b"\xfd7zXZ\x00": f"is compressed by xz: {_UNPACK}",
    b"BZh": f"is compressed by bzip2: {_UNPACK}",
    b"\x28\xb5\x2f\xfd": f"is compressed by zstd: {_UNPACK}",
    b"ID3": _RECORDING,
    b"OggS": _RECORDING,
    b"fLaC": _RECORDING,
}
_SUBTITLES = re.compile(r"WEBVTT\b|\d+\r?\n\d\d:\d\d:\d\d[,.]\d{3} --> ")
_DATE = r"^\u200e?\[?\d{1,4}[./-]\d{1,2}[./-]\d{2,4},?\s\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:\s?[APap]\.?\s?[Mm]\.?)?"
_CHAT = re.compile(rf"{_DATE}(?:\]| -)\s[^:\n]{{1,60}}: ", re.MULTILINE)
_MOST_NAMED = 4

UNKNOWN = "is not in a known format"
"""What the error of a file without a known form says."""
MOST_KEYS = 6
"""Most keys of a file that a refusal names."""
LINE = '{"conversation_id": "1", "role": "user", "content": "Hello"}'
"""The smallest line of a log that is read."""


def unknown(first: Any) -> str:
    """What is said of a file that no form fits, given its first value."""
    if line := unread_form(first):
        return line
    role = first.get("role") if is_object(first) else None
    if isinstance(role, str) and "content" in first:
        return f"the form fits, but not the role {role!r}: write user or assistant, as in {LINE} (docs/start/log_formats.md)"
    keys = [" ".join(str(key).split())[:40] for key in first] if is_object(first) else []
    more = ", ..." if len(keys) > MOST_KEYS else ""
    begins = f" (it begins with {', '.join(keys[:MOST_KEYS])}{more})" if keys else ""
    return (
        f"{UNKNOWN}{begins}; the smallest line that is read is {LINE} (docs/start/log_formats.md); "
        "`duologue check --form` lists what was looked for, --log-format MODULE:NAME reads a form of your own"
    )


def unread_form(first: Any) -> str:
    """What is said of a JSON file of a form that is known, but not read; empty for others."""
    if not is_object(first):
        return ""
    if is_object(log := first.get("log")) and isinstance(log.get("entries"), list):
        return (
            "is a HAR file, requests that a browser recorded: write the bodies of those to a chat model, one a line, "
            "as request and response (docs/start/log_formats.md)"
        )
    if isinstance(first.get("requests"), list) and {"requesterUsername", "responderUsername"} & first.keys():
        return (
            f"is a chat export of GitHub Copilot: of each request take message.text and the response, and {_MESSAGES}"
        )
    if isinstance(tabs := first.get("tabs"), list) and any(is_object(tab) and "bubbles" in tab for tab in tabs[:3]):
        return f"is a chat export of Cursor: of each bubble take type and text, and {_MESSAGES}"
    if {"instance_id", "model_patch"} <= first.keys():
        return "holds patches (predictions for SWE-bench), not conversations: give the agent's trajectories"
    steps = first.get("trajectory")
    step = steps[0] if isinstance(steps, list) and steps else None
    if is_object(step) and {"action", "observation"} <= step.keys():
        return (
            "is an agent's trajectory of actions and observations (SWE-agent): give its history of role and content, "
            f"or {_MESSAGES}"
        )
    return ""


def refusal(path: Path, begin: bytes) -> str:
    """What a file is, by how it begins, and what to do; empty if unknown."""
    if begin.startswith(b"PK\x03\x04"):
        return _of_archive(path)
    if kind := raster_type(begin):
        return f"is an image ({kind}): images belong to messages, as parts of their content (docs/start/log_formats.md)"
    if begin[4:8] == b"ftyp" or (begin[:4] == b"RIFF" and begin[8:12] == b"WAVE"):
        return _RECORDING
    if problem := next((line for magic, line in _MAGIC.items() if begin.startswith(magic)), ""):
        return problem
    text = begin.decode("utf-8-sig", "replace").lstrip()
    if _SUBTITLES.match(text):
        return f"is a transcript with times (VTT or SRT), which has no roles: {_MESSAGES}"
    if re.match(_DATE, text) and _CHAT.search(text):
        return f"is an export of a messenger (WhatsApp), whose names are not roles: {_MESSAGES}"
    return ""


def archive_names(path: Path) -> list[str]:
    """The names of the files in a zip archive; none if it is not one, or damaged."""
    try:
        with zipfile.ZipFile(path) as packed:
            return [name for name in packed.namelist() if not name.endswith("/")]
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError):
        return []


def is_spreadsheet(path: Path, begin: bytes) -> bool:
    """Whether a file is a workbook, which is a zip archive with certain files."""
    return begin.startswith(b"PK\x03\x04") and "xl/workbook.xml" in archive_names(path)


def _of_archive(path: Path) -> str:
    names = archive_names(path)
    if not names:
        return f"is a damaged or empty zip archive: {_UNPACK}"
    if "word/document.xml" in names:
        return f"is a Word document: copy the conversation out of it, and {_MESSAGES}"
    listed = ", ".join(" ".join(name.split())[:60] for name in names[:_MOST_NAMED])
    more = f" and {len(names) - _MOST_NAMED} more" if names[_MOST_NAMED:] else ""
    return f"is a zip archive with {listed}{more}: {_UNPACK}"
