"""Objects by import path, `module:name`, with which plain data names a user's own node, agent or cast."""

import sys
from importlib import import_module
from importlib.util import find_spec
from inspect import isroutine
from pathlib import Path
from traceback import walk_tb
from typing import Any, TypeGuard

from ...data.packages import is_own
from ...errors import SettingError
from .redaction import error_line

FORM = "MODULE:NAME, such as my_agents:booking"


def is_import_path(text: object) -> TypeGuard[str]:
    """Whether the text has the form `module:name`; both parts may be dotted names."""
    if not isinstance(text, str):
        return False
    module, colon, name = text.partition(":")
    return bool(colon) and all(part.isidentifier() for part in (*module.split("."), *name.split(".")))


def imported(path: str, what: str) -> Any:
    """The object of an import path; the working directory is searched too.

    SettingError begins with `what` and says what failed: the form, the import (with the line that raised), or the
    name.
    """
    if not is_import_path(path):
        raise SettingError(f"{what}: {path.partition('?')[0]!r} is not an import path: give {FORM}")
    module, _, name = path.partition(":")
    working_folder = str(Path.cwd())
    if working_folder not in sys.path:
        sys.path.append(working_folder)  # and left there, for imports that the module makes later
    try:
        value: Any = import_module(module)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and error.name in (module, module.split(".")[0]):
            advice = f"write {module[:-3]}:{name}, without .py" if module.endswith(".py") else f"check {path!r}"
            raise SettingError(
                f"{what}: there is no module {module!r} on the path or in this folder: {advice}"
            ) from None
        raise SettingError(
            f"{what}: {path}: importing {module} failed in {line_of(error)}: {error_line(error)}"
        ) from error
    for part in name.split("."):
        try:
            value = getattr(value, part)
        except AttributeError:
            raise SettingError(f"{what}: the module {module!r} has no {name!r}: check {path!r}") from None
    return value


def lies_here(path: str) -> bool:
    """Whether an import path names an object of a file in the working folder, which is imported to find out.

    A module that is installed under the same name comes first, as in `imported`: then the answer is no.
    """
    module, _, name = path.partition(":")
    here = Path.cwd()
    file = next((file for file in (here / f"{module}.py", here / module / "__init__.py") if file.is_file()), None)
    if file is None:
        return False
    spec = find_spec(module)
    if spec is not None and (spec.origin is None or Path(spec.origin).resolve() != file.resolve()):
        return False
    value = imported(f"{module}:__dict__", file.name)
    return name.partition(".")[0] in value


def line_of(error: BaseException) -> str:
    """The file's name and the line outside Duologue that raised an error, or that has the wrong syntax."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return f"{Path(error.filename).name}, line {error.lineno}"
    places = [(frame.f_code.co_filename, line, is_own(frame)) for frame, line in walk_tb(error.__traceback__)]
    file, line, _ = next((place for place in reversed(places) if not place[2]), places[-1])
    return f"{Path(file).name}, line {line}"


def import_path_of(value: object) -> str | None:
    """The import path with which another process can import this function; None without one."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isroutine(value) or not isinstance(module, str) or not isinstance(name, str) or module == "__main__":
        return None
    path = f"{module}:{name}"
    try:
        return path if is_import_path(path) and imported(path, "") is value else None
    except SettingError:
        return None
