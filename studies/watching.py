"""Show a conversation while it is simulated: in a notebook as HTML, elsewhere as lines of text."""

from collections.abc import Callable, Mapping
from typing import Any

from ..data.records import Conversation, stop_in_words
from ..data.text.terminal import plain
from ..graphs.graph import Compiled, cast_of
from ..graphs.records import record
from ..runs.progress import Cell, in_notebook
from ..views.notebook import notebook_html


async def watch(
    graph: Compiled,
    scenario: Mapping[str, Any],
    context: Any = None,
    *,
    config: Mapping[str, Any] | None = None,
    show: Callable[[Conversation], None] | None = None,
) -> Conversation:
    """Run the graph and show every message as it comes.

    Args:
        graph: The graph, as `graphs.conversation` gives it.
        scenario: The initial state.
        context: Passed to the graph, such as its limits.
        config: Passed to the graph.
        show: Called with the record after every message, every rejected draft and at the end. Default: show it in the
            notebook's cell, or print it as lines.

    Returns:
        The conversation.

    Raises:
        ContractError: The graph was not made by `graphs.builder`, or the scenario does not fit it.

    Example::

        >>> import asyncio, duologue
        >>> graph, topics = duologue.graphs.simquac.graph, duologue.data.simquac.samples()
        >>> work = duologue.watch(graph, duologue.graphs.simquac.scenario(topics[0]), duologue.Limits(max_turns=1))
        >>> conversation = asyncio.run(work)  # in a notebook: await work
        user: What can you tell me about From launch to splashdown?
        assistant: A Saturn V rocket lifted Apollo 11 off from Kennedy Space Center in Florida on July 16, 1969.
        the maximum number of turns was reached
    """
    show = show or _display()
    name = cast_of(graph).name
    conversation = record(scenario, name)
    before = None
    stream = graph.astream(scenario, config, context=context, stream_mode="values")  # type: ignore[call-overload]
    async for state in stream:
        conversation = record(state, name)
        attempts = sum(1 for _ in conversation.attempts())
        now = (len(conversation.messages), attempts, conversation.stop, conversation.failure)
        if now != before:
            before = now
            show(conversation)
    show(conversation)
    return conversation


def _display() -> Callable[[Conversation], None]:
    """How to show a growing conversation here: in one cell output that is replaced, or as printed lines."""
    if not in_notebook():
        return _Lines()
    cell = Cell()
    return lambda conversation: cell.tell(str(conversation), **{"text/html": notebook_html(conversation)})


class _Lines:
    """Lines on stdout, each message once, with the reasons of the drafts before it."""

    def __init__(self) -> None:
        self._shown = 0
        self._ended = False

    def __call__(self, conversation: Conversation) -> None:
        for message in conversation.messages[self._shown :]:
            reasons = ", ".join(attempt.reason or "rejected" for attempt in message.rejected)
            before = f"  (rejected before: {reasons})" if reasons else ""
            print(plain(f"{message.name or message.role}: {message.text}{before}"))
        self._shown = len(conversation.messages)
        if conversation.stop is not None and not self._ended:
            self._ended = True
            print(stop_in_words(conversation.stop))
