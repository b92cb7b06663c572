"""The command `duologue`: options in, calls to the functions of the package, results printed."""

import gc
import sys
from typing import TYPE_CHECKING, Any

from ..errors import from_ctrl_c

if TYPE_CHECKING:
    from .commands import app

__all__ = ["app", "main"]


def main() -> None:
    """Run the command; Ctrl-C while its modules are still read, which takes a second, ends it in one line too."""
    # Modules and records stay until the end: to look through them after every 700 new objects takes an eighth of a run.
    gc.set_threshold(10_000)
    try:
        from .commands import main as begun
    except BaseException as error:
        if not from_ctrl_c(error):
            raise
        sys.stderr.write("duologue: interrupted\n")
        sys.exit(130)
    begun()


def __getattr__(name: str) -> Any:
    if name == "app":
        from .commands import app

        return app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
