"""Code that is not Duologue's, and how its failures are reported."""

import sysconfig
from pathlib import Path
from traceback import walk_tb

from pydantic import ValidationError

PACKAGE = __name__.partition(".")[0]
LONGEST_REASON = 200
"""Maximum characters of another package's error that are repeated."""
FRAMES = 5
"""Maximum of places that are recorded of an error."""

CELL = "<ipython-input"
"""Begin of the name that IPython gives the code of a cell."""

_INSTALLED = tuple(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))


def is_shipped(function: object) -> bool:
    """Whether a function or an object is Duologue's own: its failure is a bug, and must look like one."""
    module = getattr(function, "__module__", None)
    return isinstance(module, str) and module.partition(".")[0] == PACKAGE


def failure(error: BaseException) -> str:
    """An error of a foreign function in one line, with the last place in its file."""
    words = " ".join(str(error).split())
    if isinstance(error, ValidationError):  # without pydantic's addresses, which would leave no room for the fields
        problems = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_url=False))
        words = f"{error.title}: {'; '.join(problems)}"
    if len(words) > LONGEST_REASON:
        words = words[: LONGEST_REASON - 1] + "…"
    return f"{type(error).__name__}{': ' if words else ''}{words}{place_of(error)}"


def place_of(error: BaseException) -> str:
    """The last place in a user's own files that an error passed, such as ` (shop/till.py:12 in read)`; empty without one."""
    return "".join(f" ({place})" for place in frames_of(error)[-1:])


def frames_of(error: BaseException) -> list[str]:
    """The last places in a user's own files that an error passed, the innermost last: `shop/tools.py:12 in book`.

    Code of installed packages, the standard library and Duologue is left out, and so are all values. A file has only
    its folder and name, in a home folder only its name: a record that is shared names nobody.
    """
    passed = [
        f"{_shown_file(name)}:{number} in {frame.f_code.co_name}"
        for frame, number in walk_tb(error.__traceback__)
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] != PACKAGE
        and _is_somebodys(name := frame.f_code.co_filename)
    ]
    inner = error.exceptions[0] if isinstance(error, BaseExceptionGroup) else None if passed else error.__cause__
    return (passed + ([] if inner is None else frames_of(inner)))[-FRAMES:]


def _is_somebodys(name: str) -> bool:
    """Whether a file of code is neither installed nor made up."""
    if name.startswith(CELL):
        return True
    installed = name.startswith(_INSTALLED) or not {"site-packages", "dist-packages"}.isdisjoint(Path(name).parts)
    return not name.startswith("<") and not installed


def _shown_file(name: str) -> str:
    """A file as a record names it: the file of a notebook's cell has another name in each process."""
    path = Path(name)
    if name.startswith(CELL) or path.parent.name.startswith("ipykernel_"):
        return "notebook cell"
    try:
        is_home = path.parent.parent == Path.home().parent
    except RuntimeError:  # nobody knows whose home it is
        is_home = True
    return path.name if is_home else f"{path.parent.name}/{path.name}"
