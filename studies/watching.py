"""Show a conversation while it is simulated: in a notebook as HTML, elsewhere as lines of text."""

from collections.abc import Mapping
from typing import Any

from ..data.records import Conversation, stop_in_words
from ..data.text.terminal import plain
from ..graphs.graph import Compiled, cast_of
from ..graphs.records import record
from ..runs.progress import Cell, in_notebook
from ..views.notebook import notebook_html


async def watch(graph: Compiled, scenario: Mapping[str, Any], context: Any = None) -> Conversation:
    """Run the graph and show every message as it comes: in the notebook's cell, elsewhere as printed lines.

    Args:
        graph: The graph, as `graphs.conversation` gives it.
        scenario: The initial state.
        context: Passed to the graph, such as its limits.

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
    cell, printed = (Cell() if in_notebook() else None), 0
    name = cast_of(graph).name
    conversation = record(scenario, name)
    stream = graph.astream(scenario, context=context, stream_mode="values")  # type: ignore[call-overload]
    async for state in stream:
        conversation = record(state, name)
        if cell is not None:
            cell.tell(str(conversation), **{"text/html": notebook_html(conversation)})
            continue
        for message in conversation.messages[printed:]:
            reasons = ", ".join(attempt.reason or "rejected" for attempt in message.rejected)
            before = f"  (rejected before: {reasons})" if reasons else ""
            print(plain(f"{message.name or message.role}: {message.text}{before}"))
        printed = len(conversation.messages)
    if cell is None and conversation.stop is not None:
        print(stop_in_words(conversation.stop))
    return conversation
