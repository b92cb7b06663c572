"""The errors that a user can cause: each is a `DuologueError`.

Any other exception is a bug.

Each kind is also the built-in error that fits, so that other code can catch it without knowing Duologue.
"""

from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pydantic import ValidationError


class DuologueError(Exception):
    """An error that the user can correct: one line with the fault, its place, and the remedy."""

    exit_code = 2
    """Of a command that it ends: 2 for input that cannot be used, 1 for work that was begun and is not complete."""


class DataError(DuologueError, ValueError):
    """Data that cannot be used."""


class SettingError(DuologueError, ValueError):
    """A setting, an option or an argument that cannot be used."""


class ModelError(DuologueError, ValueError):
    """A model that cannot be made, with the reason and the remedy."""


class MissingExtraError(DuologueError, ImportError):
    """A package that is not installed; the message names the extra that installs it."""


def from_ctrl_c(error: BaseException | None) -> bool:
    """Whether it is a Ctrl-C, or what Python 3.11 makes of one that comes while a class is made."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None


def at(path: str | Path, *where: object) -> str:
    """`file: line 3, messages` as the beginning of an error's line; `where`: parts of the position in the file."""
    position = ", ".join(map(str, where))
    return f"{path}: {position}" if position else str(path)


@contextmanager
def placed(*where: object) -> Generator[None]:
    """Inside, an error about data or a setting begins with its place; an empty text adds nothing."""
    try:
        yield
    except (DataError, SettingError) as error:
        raise type(error)(": ".join([*(str(part) for part in where if part), str(error)])) from None


def kind(value: object) -> str:
    """The type of an object, and its name if it has one, for an error: `function judge`."""
    name = getattr(value, "__qualname__", None)
    return f"{type(value).__name__} {name}" if isinstance(name, str) else type(value).__name__


def shown(value: object) -> str:
    """A value in an error: its type, and its name or itself, in at most 80 characters."""
    text = kind(value) if hasattr(value, "__qualname__") else f"{kind(value)} {value!r}"
    return text if len(text) <= 80 else text[:77] + "..."


class InvalidValue(NamedTuple):
    """The first value that pydantic refuses."""

    value: Any
    type: str
    where: tuple[int | str, ...]
    path: str
    """Keys and numbers on the way to it, joined by dots; empty for the whole."""
    message: str
    reason: str
    """The sentence of our own validator without pydantic's prefix; else the message."""


def first_invalid(error: "ValidationError") -> InvalidValue:
    """The first of the values that an error is about."""
    first = error.errors(include_url=False)[0]
    reason = first.get("ctx", {}).get("error", first["msg"]) if first["type"] == "value_error" else first["msg"]
    where = first["loc"]
    return InvalidValue(first["input"], first["type"], where, ".".join(map(str, where)), first["msg"], str(reason))


def of_extra(module: str, extra: str) -> ModuleType:
    """The module, such as `scipy.stats`; MissingExtraError if the extra that installs it is missing."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.split(".")[0]
        if error.name is None or error.name.split(".")[0] != package:
            raise
        raise MissingExtraError(f'{package} is not installed: pip install "duologue[{extra}]"', name=package) from None
