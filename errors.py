"""The errors that a user can cause: each is a `DuologueError`. Any other exception is a bug.

Each kind is also the built-in error that fits, so that other code can catch it without knowing Duologue.
"""

from importlib import import_module
from pathlib import Path
from types import ModuleType


class DuologueError(Exception):
    """An error that the user can correct: one line that says what is wrong, where, and what to do."""

    exit_code = 2
    """Of a command that it ends: 2 for input that cannot be used, 1 for work that was begun and is not complete."""


class DataError(DuologueError, ValueError):
    """Data that cannot be used."""


class SettingError(DuologueError, ValueError):
    """A setting, an option or an argument that cannot be used."""


class ModelError(DuologueError, ValueError):
    """A model that cannot be made: says why, and what to do."""


class MissingExtraError(DuologueError, ImportError):
    """A package that is not installed; the message names the extra that installs it."""


def at(path: str | Path, *where: object) -> str:
    """`file: line 3, messages` as the beginning of an error's line; `where`: parts of the position in the file."""
    position = ", ".join(map(str, where))
    return f"{path}: {position}" if position else str(path)


def of_extra(module: str, extra: str) -> ModuleType:
    """The module, such as `scipy.stats`; MissingExtraError if the extra that installs it is missing."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.split(".")[0]
        if error.name is None or error.name.split(".")[0] != package:
            raise
        raise MissingExtraError(f'{package} is not installed: pip install "duologue[{extra}]"', name=package) from None
