"""Progress of a run on stderr: a live display in a terminal, a line a minute in a log."""

from collections.abc import Callable, Iterable
from threading import Event, Thread
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rich.console import RenderableType
from rich.live import Live
from rich.text import Text

from ..data.text.terminal import plain
from .output import say, stderr

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ..data.records import Conversation
    from ..nodes.calls.spending import Spending
    from ..nodes.state import State
    from ..runs.figures import EndpointFigures

A_MINUTE = 60.0
A_SECOND = 4
"""How often the display is renewed: the run only counts, and no text is made for each of its steps."""


class Progress:
    """Shows a run's figures while it is entered; with `quiet` it only counts."""

    def __init__(
        self,
        planned: int,
        spending: "Spending | None" = None,
        endpoints: "Callable[[], Iterable[EndpointFigures]]" = tuple,
        *,
        quiet: bool = False,
    ) -> None:
        from ..runs.figures import Figures

        self.figures = Figures(planned, spending, endpoints)
        self._quiet, self._live = quiet, not quiet and stderr.is_terminal
        self._display = Live(get_renderable=self._lines, console=stderr, transient=True, refresh_per_second=A_SECOND)
        self._over, self._told = Event(), False
        self._log = Thread(target=self._tell_each_minute, name="duologue progress", daemon=True)

    def __enter__(self) -> Self:
        if self._live:
            self._display.start()
        elif not self._quiet:
            self._log.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._display.stop()
        elif not self._quiet:
            self._over.set()
            self._log.join()
            if self._told:  # of a run of less than a minute the report tells all
                say(self.figures.line())

    def watch(self, state: "State") -> None:
        """Count a state's new turns and rejections."""
        self.figures.watch(state)

    def keep(self, conversation: "Conversation") -> None:
        """Count a conversation that is over."""
        self.figures.keep(conversation)

    def under_way(self) -> int:
        """Conversations that have begun and are not over."""
        return self.figures.under_way()

    def _lines(self) -> RenderableType:
        lines = map(plain, self.figures.lines(min(stderr.width, 100) - 1))
        return Text("\n".join(lines), no_wrap=True, overflow="ellipsis")

    def _tell_each_minute(self, wait: Callable[[float], Any] | None = None) -> None:
        while not (wait or self._over.wait)(A_MINUTE):
            self._told = True
            say(self.figures.line())
