"""What a user can cause: every such error is a `DuologueError`; anything else that is raised is a bug.

Each kind is also the built-in error that fits, so that code which knows nothing of Duologue can catch it.
"""

from importlib import import_module
from pathlib import Path
from types import ModuleType


class DuologueError(Exception):
    """Something that the user can mend: one line that says what, where, and what to do."""


class DataError(DuologueError, ValueError):
    """Data that cannot be used."""


class SettingError(DuologueError, ValueError):
    """A setting, an option or an argument that cannot be used."""


class ModelError(DuologueError, ValueError):
    """A model that cannot be made: says why, and what to do."""


class MissingExtraError(DuologueError, ImportError):
    """A package is not installed: says which, and the extra that brings it."""


def at(path: str | Path, *where: object) -> str:
    """`file: place, place` as the beginning of an error's line."""
    places = ", ".join(str(place) for place in where)
    return f"{path}: {places}" if places else str(path)


def of_extra(module: str, extra: str) -> ModuleType:
    """The module, such as `scipy.stats`; MissingExtraError if the extra that brings it is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.split(".")[0]
        if error.name is None or error.name.split(".")[0] != package:
            raise
        raise MissingExtraError(f'{package} is not installed: pip install "duologue[{extra}]"', name=package) from None
