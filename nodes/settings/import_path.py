"""Objects by import path, `module:name`, with which plain data names a user's own node, agent or cast."""

import sys
from inspect import isroutine
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from ...data.identity import digest
from ...errors import SettingError
from ..models.specs import is_import_path
from .redaction import error_line


def imported(path: str, what: str) -> Any:
    """The object of an import path; the working folder is searched too.

    SettingError begins with `what`, and says what is wrong: the form, the import with its line, or the name.
    """
    if not is_import_path(path):
        raise SettingError(f"{what}: {path.partition('?')[0]!r} is no import path: give MODULE:NAME")
    if (folder := str(Path.cwd())) not in sys.path:
        sys.path.append(folder)  # and left there, for imports that the module makes later
    try:
        return resolve_name(path)
    except (Exception, SystemExit) as error:
        why = error_line(error, placed=True)
        raise SettingError(f"{what}: {path} cannot be imported in {folder}: {why}") from error


def code_of(path: str) -> dict[str, str] | None:
    """The name of an import path, and a digest of its module's file: that of another version differs; None without a file."""
    module = path.partition("?")[0].partition(":")[0]
    file = getattr(sys.modules.get(module), "__file__", None)
    try:
        return {"name": module, "source": digest(Path(file).read_text("utf-8"))[:16]} if file else None
    except (OSError, ValueError):
        return None


def import_path_of(value: object) -> str | None:
    """The import path with which another process can import this function; None without one."""
    path = f"{getattr(value, '__module__', '')}:{getattr(value, '__qualname__', '')}"
    try:
        can_be = isroutine(value) and is_import_path(path) and not path.startswith("__main__:")
        return path if can_be and imported(path, "") is value else None
    except SettingError:
        return None
