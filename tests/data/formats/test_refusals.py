"""Files that are not read are named for what they are, with what to do."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from duologue.data import load

FILES = {
    b"%PDF-1.7\n\xff\xfe": "is a PDF: copy",
    b"\x89PNG\r\n\x1a\n\xff": "is an image (image/png)",
    b"\xff\xd8\xff\xe0": "is an image (image/jpeg)",
    b"SQLite format 3\0\xff": "is an SQLite database: export",
    b"\x28\xb5\x2f\xfd\xff": "is compressed by zstd: unpack it",
    b"\0\0\0\x20ftypM4A \xff": "is a recording or film: transcribe it",
    b"WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n": "is a transcript with times",
    b"1\r\n00:00:01,000 --> 00:00:02,000\r\nHello\r\n": "is a transcript with times",
    b"12/03/24, 10:15 - This chat is encrypted\n12/03/24, 10:16 - Ann: Hello\n": "is an export of a messenger",
    "\u200e[12.03.24, 10:15:01] Ann: Hello\n": "is an export of a messenger",
    "1/2/24, 9:05\u202fPM - Ann: Hello\n": "is an export of a messenger",
}


@pytest.mark.parametrize(("content", "problem"), FILES.items(), ids=FILES.values())
def test_a_file_is_named_by_how_it_begins(content: bytes | str, problem: str, fault: Callable[..., str]) -> None:
    Path("log").write_bytes(content if isinstance(content, bytes) else content.encode())
    line = fault(load, "log")
    assert problem in line
    assert "UTF-8" not in line


def packed(*names: str) -> str:
    with zipfile.ZipFile("log.zip", "w") as archive:
        for name in names:
            archive.writestr(name, "[]")
    return "log.zip"


def test_a_zip_archive_is_named_with_what_it_holds(fault: Callable[..., str]) -> None:
    assert fault(load, packed("a.json")).endswith("is a zip archive with a.json: unpack it, and give the files")
    assert "with a, b, c, d and 2 more" in fault(load, packed(*"abcdef"))
    assert "is a Word document" in fault(load, packed("word/document.xml"))
    Path("log.zip").write_bytes(Path("log.zip").read_bytes()[:40])
    assert "is a damaged or empty zip archive" in fault(load, "log.zip")


@pytest.mark.parametrize("text", ["12/03/24 was a day.\n", "1\n2\n3\n", "Ann: Hello\n"])
def test_other_texts_are_of_no_known_format(text: str, fault: Callable[..., str]) -> None:
    Path("log").write_text(text, encoding="utf-8")
    assert "not in a known format" in fault(load, "log")


JSON_FORMS = {
    '{"log": {"version": "1.2", "entries": [{"request": {}, "response": {}}]}}': "is a HAR file",
    '{"requesterUsername": "a", "responderUsername": "GitHub Copilot", "requests": []}': "is a chat export of GitHub Copilot",
    '{"tabs": [{"bubbles": [{"type": "user", "text": "Hi"}]}]}': "is a chat export of Cursor",
    '[{"instance_id": "a", "model_patch": "diff"}]': "holds patches (predictions for SWE-bench)",
    '{"trajectory": [{"action": "ls", "observation": "a", "thought": "b"}]}': "is an agent's trajectory",
}


@pytest.mark.parametrize(("text", "problem"), JSON_FORMS.items(), ids=JSON_FORMS.values())
def test_a_json_file_of_a_form_that_is_not_read_is_named_with_what_to_do(
    text: str, problem: str, fault: Callable[..., str]
) -> None:
    Path("log.json").write_text(text, encoding="utf-8")
    line = fault(load, "log.json")
    assert problem in line
    assert "write " in line or "give " in line
