"""Show a conversation, or a run, while it is simulated: in a notebook as HTML, elsewhere as lines of text."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias, overload

from ..analysis.growth import RunGrowth
from ..data.records import Conversation
from ..data.stop_reasons import in_words
from ..data.text.terminal import plain
from .conversation import notebook_html
from .live.page import LiveParts, notebook_parts

LOOK = 0.1
"""Seconds of reading a run folder at a time: what runs in the same event loop waits for it."""
LISTED = 10
"""Most conversations of a run that a cell lists."""

RunPath: TypeAlias = str | Path
"""A run folder."""


class Watchable(Protocol):
    """A compiled graph that streams its states and makes records of them, as `graphs.conversation` gives."""

    def astream(self, input: Any, config: Any = None, **settings: Any) -> AsyncIterator[Any]:
        """The states, each as soon as it is reached."""
        ...

    def record(self, state: Any) -> Conversation:
        """The record of a state."""
        ...


@overload
async def watch(
    graph: Watchable,
    scenario: Mapping[str, Any],
    context: Any = None,
    *,
    config: Mapping[str, Any] | None = None,
    show: Callable[[Conversation], None] | None = None,
) -> Conversation: ...
@overload
async def watch(
    graph: RunPath | Sequence[RunPath], *, until: "asyncio.Future[Any] | None" = None, every: float = 1.0
) -> None: ...
async def watch(
    graph: Watchable | RunPath | Sequence[RunPath],
    scenario: Mapping[str, Any] | None = None,
    context: Any = None,
    *,
    config: Mapping[str, Any] | None = None,
    show: Callable[[Conversation], None] | None = None,
    until: "asyncio.Future[Any] | None" = None,
    every: float = 1.0,
) -> Conversation | None:
    """Run the graph and show every message as it comes, or show a run folder while it grows.

    Args:
        graph: The graph. Or the run folder of many conversations, or several: they are only read, and any process may write them.
        scenario: The initial state; of a graph only, as are `context`, `config` and `show`.
        context: Passed to the graph, such as its limits.
        config: Passed to the graph.
        show: Called with the record after every message, every rejected draft and at the end. Default: show it in the
            notebook's cell, or print it as lines.
        until: The task that makes the run. Default: until every planned conversation is over.
        every: Seconds between two looks at the run folder.

    Returns:
        The conversation of a graph; None for run folders.
    """
    if isinstance(graph, str | Path | Sequence):
        await _watch_runs([graph] if isinstance(graph, str | Path) else graph, until, every)
        return None
    if scenario is None:
        raise TypeError("watch() needs the scenario on which the graph is run")
    show = show or _display()
    conversation = graph.record(scenario)
    before = None
    async for state in graph.astream(scenario, config, context=context, stream_mode="values"):
        conversation = graph.record(state)
        attempts = sum(1 for _ in conversation.attempts())
        now = (len(conversation.messages), attempts, conversation.stop, conversation.failure)
        if now != before:
            before = now
            show(conversation)
    show(conversation)
    return conversation


async def _watch_runs(folders: Sequence[RunPath], until: "asyncio.Future[Any] | None", every: float) -> None:
    """Show the runs until the task is done, or all their conversations are over."""
    runs = [RunGrowth(folder, newest=LISTED) for folder in folders]
    parts, show = LiveParts(runs), _Cell() if _in_notebook() else _RunLines()
    title = ", ".join(run.name for run in runs)
    while True:
        over = until.done() if until is not None else parts.has_ended
        news = [run.look(LOOK) for run in runs]
        line = ", ".join(_line(run) for run in runs)
        state = "The run is over." if over else "The run is under way."
        state = state if any(run.planned for run in runs) else "The run has not begun."
        show.put(line, partial(_run_html, title, parts, state))
        if over and not any(news):
            return
        await asyncio.sleep(0 if any(news) and over else every)


def _run_html(title: str, parts: LiveParts, state: str) -> str:
    return notebook_parts(title, parts.html(state))


def _line(run: RunGrowth) -> str:
    """A run's progress in a line."""
    failed = f", {run.cut_short} failed or cut short" if run.cut_short else ""
    return f"{run.name}: {run.finished} of {run.planned} finished{failed}"


def _in_notebook() -> bool:
    if "IPython" not in sys.modules:
        return False
    from IPython.core.getipython import get_ipython

    return getattr(get_ipython(), "kernel", None) is not None


def _display() -> Callable[[Conversation], None]:
    """How to show a growing conversation here: in one cell output that is replaced, or as printed lines."""
    return _Cell() if _in_notebook() else _Lines()


class _Cell:
    """One output of a notebook's cell."""

    def __init__(self) -> None:
        self._handle: Any = None

    def __call__(self, conversation: Conversation) -> None:
        self.put(str(conversation), lambda: notebook_html(conversation))

    def put(self, text: str, html: Callable[[], str]) -> None:
        """Show this in place of what is shown."""
        from IPython import display as displays

        display: Any = displays.display
        bundle = {"text/plain": text, "text/html": html()}
        if self._handle is None:
            self._handle = display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)


class _RunLines:
    """Lines on stdout, each when it differs from the one before."""

    def __init__(self) -> None:
        self._last = ""

    def put(self, text: str, html: Callable[[], str]) -> None:
        """Print the text."""
        if text != self._last:
            self._last = text
            print(plain(text))


class _Lines:
    """Lines on stdout, each message once, with the reasons of the drafts before it."""

    def __init__(self) -> None:
        self._shown = 0
        self._ended = False

    def __call__(self, conversation: Conversation) -> None:
        for message in conversation.messages[self._shown :]:
            reasons = ", ".join(attempt.reason or "rejected" for attempt in message.rejected)
            print(plain(f"{message.role}: {message.text}" + (f"  (rejected before: {reasons})" if reasons else "")))
        self._shown = len(conversation.messages)
        over = any(edge.target == "__end__" and edge.count for edge in conversation.edges)
        if over and not self._ended:
            self._ended = True
            print(in_words(conversation.stop))
