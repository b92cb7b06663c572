"""Progress of a run in a notebook: a text that is updated in place; elsewhere a line a minute on stderr."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

from .figures import Figures

EVERY_SECOND = 1.0
EVERY_MINUTE = 60.0


class Shown:
    """A text in the output of the running cell, or lines of a log if there is no cell."""

    def __init__(self) -> None:
        self.in_cell = _in_notebook()
        self._handle: Any = None

    def tell(self, figures: Figures) -> None:
        """Show the figures as they are now."""
        if not self.in_cell:
            print(figures.line(), file=sys.stderr, flush=True)  # noqa: T201  # as a log has it
            return
        from IPython import display as displays

        display: Any = displays.display
        bundle = {"text/plain": "\n".join(figures.lines(100))}
        if self._handle is None:
            self._handle = display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)


@contextmanager
def shown(figures: Figures) -> Iterator[None]:
    """Inside, the figures are shown again and again, and a last time at the end."""
    where = Shown()
    over = Event()

    def tell_often() -> None:
        while not over.wait(EVERY_SECOND if where.in_cell else EVERY_MINUTE):
            where.tell(figures)

    if where.in_cell:
        where.tell(figures)
    teller = Thread(target=tell_often, name="duologue progress", daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()
        where.tell(figures)


def _in_notebook() -> bool:
    """Whether a cell of a notebook is running, without an import of IPython where none is."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"
