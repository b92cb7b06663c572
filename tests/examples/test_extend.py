"""A way in, a section of a page, is short, and what it prints is what happens.

A block after "Save this as `NAME`:" is that file. Other Python blocks are executed in order in one namespace, shell blocks
through the command. A text block is what the block before it prints: each of its lines occurs there.
"""

import ast
import asyncio
import gzip
import re
import shlex
import sys
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from duologue import data
from tests.shown import sections

WAYS_IN = sections.WAYS_IN
LONGEST = 60
BLOCK = re.compile(r"(?:Save this as `(?P<file>[^`]+)`:\n)?```(?P<kind>\w+)\n(?P<text>.*?)```", re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_registry: None) -> Any:
    """An empty folder in which the modules of a page are found, and forgotten afterwards."""
    (tmp_path / "page").mkdir()
    monkeypatch.chdir(tmp_path / "page")
    monkeypatch.syspath_prepend(tmp_path / "page")
    before = set(sys.modules)
    yield tmp_path / "page"
    for name in set(sys.modules) - before:
        if Path(getattr(sys.modules[name], "__file__", None) or "/").is_relative_to(tmp_path):
            del sys.modules[name]


def squeezed(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize(("page", "heading"), WAYS_IN)
def test_a_way_in_is_short(page: str, heading: str) -> None:
    assert len(sections.section(page, heading).splitlines()) <= LONGEST


@pytest.mark.heavy
@pytest.mark.parametrize(("page", "heading"), [("start/graph.md", ""), *WAYS_IN])
def test_what_a_way_in_shows_is_what_happens(page: str, heading: str, folder: Path, forks: Any) -> None:
    namespace: dict[str, Any] = {}
    printed = ""
    blocks = list(BLOCK.finditer(sections.section(page, heading)))
    for block, after in zip(blocks, [*blocks[1:], None], strict=True):
        text, is_refused = block["text"], after is not None and after["kind"] == "text"
        if block["file"]:
            (folder / block["file"]).parent.mkdir(parents=True, exist_ok=True)
            (folder / block["file"]).write_text(text, encoding="utf-8")
        elif block["kind"] == "python":
            output = StringIO()
            with redirect_stdout(output):
                done = eval(compile(text, page, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), namespace)
                if done is not None:
                    asyncio.run(done)
            printed = output.getvalue()
        elif block["kind"] == "sh":
            printed = ""
            for line in text.splitlines():
                program, *arguments = shlex.split(line)
                assert program == "duologue"
                done = forks.run(*arguments, cwd=folder)
                printed += done.stdout + done.stderr
                code = 2 if is_refused and line == text.splitlines()[-1] else 1 if "check" in arguments else 0
                assert done.returncode == code, (line, done.stderr)
        else:
            assert block["kind"] == "text"
            for line in text.splitlines():
                assert squeezed(line) in squeezed(printed)


def test_the_log_format_of_the_page_cuts_no_message_and_reads_gzip(folder: Path) -> None:
    page = sections.section("data/formats.md", "A format of your own")
    source = next(block["text"] for block in BLOCK.finditer(page) if block["file"] == "till.py")
    (folder / "till.py").write_text(source)
    (folder / "monday.gz").write_bytes(gzip.compress(b"== ann\nC: 1 == 1?\n== bo\nC: Tea.\n"))
    till = import_module("till")
    data.register_format(till.FORMAT)
    assert [talk.messages[0].text for talk in data.load("monday.gz")] == ["1 == 1?", "Tea."]
