"""The progress of a run: at a terminal by rich, in a notebook's cell, and in a log a line a minute."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from datetime import timedelta
from time import monotonic
from typing import Any

from ..data.records import Conversation, as_object
from ..data.text.terminal import on_one_line
from ..nodes.calls.service import Calls

A_SECOND, A_MINUTE = 1.0, 60.0


@dataclass
class Figures:
    """What a run has come to."""

    planned: int
    calls: Calls
    what: str = "conversations"
    ended: int = 0
    failed: int = 0
    scored: int = 0
    successes: int = 0
    rejected: int = 0
    """Drafts that were rejected."""
    began: float = field(default_factory=monotonic)

    def add(self, conversation: Conversation) -> None:
        """Count a conversation that is over."""
        self.ended += 1
        self.failed += not conversation.finished
        self.rejected += sum(attempt.verdict == "rejected" for attempt in conversation.attempts(new_only=True))
        value = as_object(conversation.scores.get("success")).get("value")
        self.scored += value is not None
        self.successes += bool(value)

    @property
    def line(self) -> str:
        """All of it in one line."""
        spent, cost = self.calls.spending.total, self.calls.spending.counted_cost
        seconds = max(1e-9, monotonic() - self.began)
        rate = self.ended / seconds
        under_way = len(self.calls.works)
        parts = [
            f"{self.ended} of {self.planned} {self.what}",
            f"{under_way} under way" if under_way else "",
            f"{self.failed} failed" if self.failed else "",
            f"{self.successes} of {self.scored} succeeded" if self.scored else "",
            f"{self.rejected} drafts rejected" if self.rejected else "",
            f"{spent.tokens:,} tokens" if spent.tokens else "",
            f"${cost:.2f}" if cost else "",
            f"{spent.calls / seconds:.3g} calls/s" if spent.calls else "",
            f"{timedelta(seconds=round((self.planned - self.ended) / rate))} left"
            if 0 < self.ended < self.planned
            else "",
            *(f"{gate.endpoint}: {held}" for gate in self.calls.gates.values() if (held := gate.held_back_by)),
            f"ends: {self.calls.ending}" if self.calls.ending else "",
        ]
        return on_one_line(" | ".join(filter(None, parts)))


@contextmanager
def shown(figures: Figures, progress: bool | None) -> Iterator[None]:
    """Inside, the progress is shown, in a notebook once a second has passed."""
    if not figures.planned or not (in_notebook() if progress is None else progress):
        yield
        return
    if not in_notebook() and sys.stderr.isatty():
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        with Live(
            get_renderable=lambda: Text(figures.line),
            console=Console(stderr=True),
            transient=True,
            refresh_per_second=4,
        ):
            yield
        return
    tell = Cell().tell if in_notebook() else _log
    over = threading.Event()

    def often() -> None:
        while not over.wait(A_SECOND if in_notebook() else A_MINUTE):
            with suppress(Exception):  # what cannot be shown must not end the run
                tell(figures.line)

    context = copy_context()  # in which a notebook notes whose cell it is
    teller = threading.Thread(target=lambda: context.run(often), name="duologue progress", daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()
        if in_notebook():
            with suppress(Exception):
                tell(figures.line)


def _log(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


class Cell:
    """The output of a notebook's cell, which is replaced by the next one."""

    def __init__(self) -> None:
        self._handle: Any = None

    def tell(self, text: str, **further: str) -> None:
        """Show a text, or what `further` has by MIME type."""
        from IPython import display as displays

        display: Any = displays.display
        bundle = {"text/plain": text, **further}
        if self._handle is None:
            self._handle = display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)


def in_notebook() -> bool:
    """Whether this process runs the cells of a notebook, without an import of IPython where none is."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None
