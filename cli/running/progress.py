"""Progress of a run on stderr: a live display in a terminal, a line a minute in a log."""

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import RenderableType
from rich.live import Live
from rich.text import Text

from ...data.text.terminal import plain
from ..streams import say_in_log, stderr

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ...nodes.calls.spending import Spending
    from ...runs.engine.reports import EndpointNow

A_SECOND = 4
"""How often the display is renewed: the run only counts, and no text is made for each of its steps."""


class Progress:
    """Shows a run's figures while it is entered; with `quiet` it only counts."""

    def __init__(
        self,
        planned: int,
        spending: "Spending | None" = None,
        endpoints: "Callable[[], Iterable[EndpointNow]]" = tuple,
        *,
        ending: Callable[[], str | None] = lambda: None,
        quiet: bool = False,
    ) -> None:
        from ...runs.engine.figures import RunFigures

        self.figures = RunFigures(planned, spending, endpoints, ending=ending)
        self._quiet, self._live = quiet, not quiet and stderr.is_terminal
        self._shown, self._has_printed = ExitStack(), False

    def __enter__(self) -> Self:
        from ...runs.engine.progress import A_MINUTE, called_every

        if self._live:
            self._shown.enter_context(
                Live(get_renderable=self._lines, console=stderr, transient=True, refresh_per_second=A_SECOND)
            )
        elif not self._quiet:
            self._shown.enter_context(called_every(A_MINUTE, self._tell))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._shown.close()
        if self._has_printed:  # of a run of less than a minute the report tells all
            say_in_log(self.figures.line())

    def _lines(self) -> RenderableType:
        lines = map(plain, self.figures.lines(min(stderr.width, 100) - 1))
        return Text("\n".join(lines), no_wrap=True, overflow="ellipsis")

    def _tell(self) -> None:
        """Tell all in a line, as a log has it."""
        self._has_printed = True
        say_in_log(self.figures.line())
