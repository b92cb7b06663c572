"""Where the repository lies, and the package's files in it."""

from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROOMS = ("data", "prompts", "nodes", "graphs", "runs", "analysis", "views", "studies", "hosts", "labelling", "cli")


def files() -> list[Path]:
    """The package's Python files: those at its root and in its rooms."""
    return sorted(ROOT.glob("*.py")) + sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))


@cache
def file_of(parts: tuple[str, ...]) -> str | None:
    """The file of a module, by the parts of its name below the package; None if there is none."""
    for path in (Path(*parts).with_suffix(".py") if parts else None, Path(*parts, "__init__.py")):
        if path is not None and (ROOT / path).is_file():
            return path.as_posix()
    return None
