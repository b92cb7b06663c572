"""How large the project is, beside what it may be: lines and files by folder, words of the docs, commands and options.

Lines are those of `*.py`, blank ones too, of the files that git knows: `make size`.
"""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from duologue.cli import app

ROOT = Path(__file__).resolve().parent.parent
BUDGETS: dict[str, tuple[tuple[str, ...], int, int]] = {
    "data, prompts": (("data", "prompts"), 13_000, 95),
    "nodes": (("nodes",), 10_000, 62),
    "graphs": (("graphs",), 3_300, 24),
    "runs": (("runs",), 3_300, 24),
    "analysis": (("analysis",), 9_000, 56),
    "studies": (("studies",), 2_300, 18),
    "cli": (("cli",), 2_900, 26),
    "views, labelling": (("views", "labelling"), 2_200, 18),
    "hosts": (("hosts",), 750, 7),
    "root": (("",), 400, 3),
}
"""By name: the folders, and the most lines and files."""
PACKAGE, TESTS = (48_000, 340), (40_000, 300)
WORDS, PAGES = 45_000, 42
COMMANDS, OPTIONS = 17, 90


def tracked(*patterns: str) -> list[Path]:
    """The files of these patterns that git knows and that are there."""
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for name in listed.stdout.splitlines() if (path := ROOT / name).is_file()]


def folder_of(path: Path) -> str:
    """The folder at the root that a file lies in; empty for one of the root itself."""
    return "" if path.parent == ROOT else path.relative_to(ROOT).parts[0]


def lines_in(paths: list[Path]) -> int:
    """Physical lines of the files."""
    return sum(path.read_bytes().count(b"\n") for path in paths)


def words_in(paths: list[Path]) -> int:
    """Words of the files, divided by white space."""
    return sum(len(path.read_text(encoding="utf-8").split()) for path in paths)


def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command, a group only if it is called itself, with its words; a cast of `simulate` is not one of its own."""
    names = command.list_commands(None) if hasattr(command, "list_commands") else ()
    if not names or words[:1] == ("simulate",):
        yield " ".join(words[:1] if words[:1] == ("simulate",) else words), command
    for name in names:
        yield from commands(command.get_command(None, name), (*words, name))


def row(name: str, *numbers: int) -> None:
    """Print a row of the table."""
    print(f"{name:<24}" + "".join(f"{number:>10,}" for number in numbers))


def main() -> None:
    """Print the table."""
    python = tracked("*.py")
    print(f"{'':<24}{'lines':>10}{'at most':>10}{'files':>10}{'at most':>10}")
    package: list[Path] = []
    for name, (folders, lines, files) in BUDGETS.items():
        own = [path for path in python if folder_of(path) in folders]
        package += own
        row(name, lines_in(own), lines, len(own), files)
    row("package", lines_in(package), PACKAGE[0], len(package), PACKAGE[1])
    tests = [path for path in python if folder_of(path) == "tests"]
    row("tests", lines_in(tests), TESTS[0], len(tests), TESTS[1])
    pages = tracked("docs/*.md")
    words = words_in([*pages, *tracked("README.md", "CHANGELOG.md", "CONTRIBUTING.md")])
    row("docs: words, pages", words, WORDS, len(pages), PAGES)
    present = list(commands(typer.main.get_command(app)))
    options = {param.opts[0] for _, one in present for param in one.params if param.param_type_name == "option"}
    row("commands, options", len({name for name, _ in present}), COMMANDS, len(options), OPTIONS)


if __name__ == "__main__":
    main()
