"""The progress of a run, shown in a notebook cell, at a terminal, or as lines of a log."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import copy_context
from html import escape
from shutil import get_terminal_size
from threading import Event, Thread
from time import strftime
from typing import Any, TypeVar

from ...data.records import Conversation
from ...data.text.terminal import on_one_line, plain
from ...nodes.state import State
from .control import Control
from .figures import RunFigures

T = TypeVar("T")

A_SECOND = 1.0
A_MINUTE = 60.0

_BAR = "flex:1 1 4em;max-width:16em;height:1em"
_ROW = "display:flex;flex-wrap:wrap;align-items:center;gap:0 1.2em"
_FRAME = "font-size:13px;line-height:1.6;font-variant-numeric:tabular-nums;overflow-wrap:anywhere"
"""No colours: a cell has those of its notebook, light or dark."""


@contextmanager
def called_every(seconds: float, tell: Callable[[], object]) -> Iterator[None]:
    """Inside, a thread calls `tell` periodically, first after this many seconds."""
    over = Event()

    def often() -> None:
        while not over.wait(seconds):
            with suppress(Exception):  # what cannot be shown, as on a closed terminal, must not end the run
                tell()

    context = copy_context()  # in which a notebook notes whose cell it is
    teller = Thread(target=lambda: context.run(often), name="duologue progress", daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()


@contextmanager
def shown(planned: int, control: Control, progress: bool | None) -> Iterator[RunFigures | None]:
    """Inside, the progress of a run is shown; gives the figures to count with, None if it is not shown.

    `progress`: as `Conduct.progress`.
    """
    if not planned or not is_shown(progress):
        yield None
        return
    figures = RunFigures(planned, control.spending, control.endpoints, ending=lambda: control.ending)
    display = NotebookCell(figures) if in_notebook() else ProgressLines(figures)
    if progress and display.in_place:
        display.tell()
    try:
        with called_every(A_SECOND if display.in_place else A_MINUTE, display.tell):
            yield figures
    finally:
        if progress or display.displayed:
            with suppress(Exception):
                display.tell(last=True)


def counted(
    counting: Iterable[RunFigures | None],
    watch: Callable[[State], None] | None,
    keep: Callable[[Conversation], None] | None,
) -> tuple[Callable[[State], None] | None, Callable[[Conversation], None] | None]:
    """`watch` and `keep` that call figures too."""
    present = [figures for figures in counting if figures is not None]
    return _all([*(one.watch for one in present), watch]), _all([*(one.keep for one in present), keep])


def _all(functions: Sequence[Callable[[T], None] | None]) -> Callable[[T], None] | None:
    """One function that calls these; None for none."""
    called = [function for function in functions if function is not None]

    def call(value: T) -> None:
        for function in called:
            function(value)

    return call if called else None


class NotebookCell:
    """A text in the output of a notebook's cell, which is replaced by the next one."""

    in_place = True

    def __init__(self, figures: RunFigures) -> None:
        self.displayed = False
        self._figures, self._handle = figures, None

    def tell(self, *, last: bool = False) -> None:
        """Show the figures as they are now; the last ones stay."""
        from IPython import display as displays

        display: Any = displays.display
        bundle = {"text/plain": "\n".join(map(plain, self._figures.lines(100))), "text/html": html(self._figures)}
        if self._handle is None:
            self._handle = display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)
        self.displayed = True


class ProgressLines:
    """A line on stderr: at a terminal one that is replaced by the next one, elsewhere one below the other."""

    def __init__(self, figures: RunFigures) -> None:
        self.displayed = False
        self._figures, self.in_place = figures, sys.stderr.isatty()

    def tell(self, *, last: bool = False) -> None:
        """Show the figures as they are now."""
        line = on_one_line(self._figures.line())
        line = f"\r\x1b[2K{line[: get_terminal_size().columns - 1]}" if self.in_place else timed(line)
        sys.stderr.write(line + ("" if self.in_place and not last else "\n"))
        sys.stderr.flush()
        self.displayed = True


def timed(line: str) -> str:
    """A line of a log, which begins with the time of day."""
    return f"{strftime('%H:%M:%S')} {line}"


def html(figures: RunFigures) -> str:
    """The figures as HTML for a cell, every text escaped."""
    words = figures.words()
    done = f'<progress max="{figures.planned}" value="{figures.finished}" aria-label="conversations" style="{_BAR}"></progress>'
    rows = (
        [words.conversations, *words.left],
        [words.turns, *words.rejected[:1]],
        [*words.spent, *words.calls],
        *([waiting] for waiting in words.waiting),
    )
    lines = ["".join(f"<span>{escape(on_one_line(part))}</span>" for part in row) for row in rows if row]
    lines[0] = done + lines[0]
    return f'<div style="{_FRAME}">' + "".join(f'<div style="{_ROW}">{line}</div>' for line in lines) + "</div>"


def is_shown(progress: bool | None) -> bool:
    """Whether progress is shown here under this setting (`Conduct.progress`)."""
    return in_notebook() if progress is None else progress


def in_notebook() -> bool:
    """Whether this process runs the cells of a notebook, without an import of IPython where none is."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None
