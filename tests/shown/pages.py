"""The commands and the Python of README and docs, page by page, in the order in which a reader meets them."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tests.shown.sections import without_ways_in
from tests.tree import ROOT

FENCED = re.compile(r"^```(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:^    .*\n)+", re.MULTILINE)
PROGRAM = re.compile(r"[./\w-]*\b(?:duologue|python|pytest|make|pip|git|langgraph|curl|ray|export|cd|time)\b|\. ")
"""What a line of an indented block begins with, if it is a command."""
IN_A_HARNESS = re.compile(r'^```python\n"""An agent of rules in .*?^```$', re.MULTILINE | re.DOTALL)
TRACED = re.compile(r"^```python\n(?:(?!```).*\n)*?from openinference.*\n(?:(?!```).*\n)*^```$", re.MULTILINE)
COMMENT = re.compile(r"(?:^|\s+)# .*$", re.MULTILINE)


@dataclass(frozen=True)
class Step:
    """A command, or a block of Python."""

    page: str
    line: int
    text: str
    is_python: bool = False

    @property
    def words(self) -> list[str]:
        return shlex.split(self.text)


def pages() -> list[Path]:
    """README, CONTRIBUTING and the pages of docs."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def text_of(page: Path) -> str:
    """A page's text without what has tests of its own: ways in, and code of a harness that has to be installed."""
    text = without_ways_in(page.relative_to(ROOT).as_posix(), page.read_text(encoding="utf-8"))
    for apart in (IN_A_HARNESS, *([] if find_spec("openinference") else [TRACED])):
        text = apart.sub(lambda block: "\n" * block[0].count("\n"), text)
    return text


def blocks(text: str) -> Iterator[tuple[int, str, str]]:
    """Each block with its line and its language; an indented one has none."""
    for block in FENCED.finditer(text):
        yield text.count("\n", 0, block.start()) + 1, block[1], block[2]
    prose = FENCED.sub(lambda block: "\n" * block[0].count("\n"), text)
    for block in INDENTED.finditer(prose):
        yield prose.count("\n", 0, block.start()) + 1, "", re.sub("^    ", "", block[0], flags=re.MULTILINE)


def is_python(text: str) -> bool:
    """Whether an indented block is Python: `name = ...`, `from ... import ...`."""
    return re.match(r"(?:from \w+|import \w+|\w+ = )", text) is not None


def steps(page: Path) -> list[Step]:
    """The commands and the blocks of Python of a page, in order."""
    name, found = page.relative_to(ROOT).as_posix(), []
    for line, language, text in sorted(blocks(text_of(page))):
        if language == "python" or (not language and is_python(text)):
            found.append(Step(name, line, text, is_python=True))
        elif language == "sh" or (not language and PROGRAM.match(text)):
            for command in whole(COMMENT.sub("", text)):
                found.append(Step(name, line, command))
    return found


def whole(text: str) -> Iterator[str]:
    """The commands of a block: a line that ends with a backslash, or inside of quotes, goes on in the next one."""
    command = ""
    for line in text.splitlines():
        command += line.removesuffix("\\") if line.endswith("\\") else f"{line}\n"
        if not line.endswith("\\") and command.count("'") % 2 == 0 and command.strip():
            yield command.strip()
            command = ""


def saved(page: Path) -> Iterator[tuple[str, str]]:
    """The files that a page shows after "Save this as `NAME`" or "saved as `NAME`", with their text."""
    text = text_of(page)
    for file in re.finditer(
        r"[Ss]aved? (?:this )?as `([^`]+)`[^`]*?:\n+```\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL
    ):
        yield file[1], file[2]
