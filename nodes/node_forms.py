"""The forms that LangGraph takes of a node, as the async call `(state, runtime)` that the graph makes."""

import inspect
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langgraph.errors import ParentCommand
from langgraph.pregel import Pregel
from langgraph.runtime import Runtime

from .contract import ContractError, Node, call_of, describe
from .foreign import in_thread
from .limits import Limits
from .replies import AnswerError, messages_answered, reply_of
from .state import ANSWERS, NodePlace, State


@dataclass(frozen=True)
class AnyNode:
    """A function that is not async, one that takes other things than the runtime, or a Runnable."""

    node: Any

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Any:
        try:
            return await self._called(state, runtime)
        except ParentCommand as to_us:  # of a node in a compiled graph
            return to_us.args[0]

    async def _called(self, state: State, runtime: Runtime[Limits]) -> Any:
        config = ensure_config()
        if isinstance(self.node, Pregel):
            return await _written(self.node, state, config, runtime.context)
        if isinstance(self.node, Runnable):
            return await self.node.ainvoke(state, config)
        given = {"config": config, "runtime": runtime, "writer": runtime.stream_writer, "store": runtime.store}
        wanted = inspect.signature(self.node).parameters.keys() & given.keys()
        call = partial(self.node, state, **{name: given[name] for name in wanted})
        return await call() if inspect.iscoroutinefunction(call_of(self.node)) else await in_thread(call)

    def provenance(self) -> dict[str, Any]:
        return describe(self.node)


def node_of(node: Any) -> Node:
    """The node as the graph calls it; one of the usual form stays as it is."""
    is_async = not isinstance(node, Runnable) and inspect.iscoroutinefunction(call_of(node))
    first = [*inspect.signature(node).parameters.values()][:2] if is_async else []
    is_usual = [one.name for one in first if one.kind != one.KEYWORD_ONLY] == ["state", "runtime"]
    return node if is_usual else AnyNode(node)


async def _written(
    graph: Pregel[Any, Any, Any, Any], state: State, config: RunnableConfig, limits: Limits
) -> dict[str, Any]:
    """Of a compiled graph's last state what its nodes have written, as LangGraph takes it of a subgraph."""
    written, last = set[str](), dict[str, Any]()
    stream: AsyncIterator[Any] = graph.astream(state, config, context=limits, stream_mode=["updates", "values"])
    async for mode, part in stream:
        if mode == "values":
            last = part
            continue
        for node, update in part.items():
            if node != "__interrupt__":
                written.update(*(update if isinstance(update, list) else [update or ()]))
    return {key: value for key, value in last.items() if key in written}


async def spoken(place: NodePlace, answer: Any) -> Any:
    """The update of a node's answer: a speaker may answer a text, a message, or `messages`, which become drafts."""
    if answer is None:
        return {}
    further = dict(answer) if isinstance(answer, dict) else {"messages": answer}
    if "drafts" not in ANSWERS[place] or "messages" not in further:
        return answer
    try:
        words = _as_assistant(further.pop("messages"))
        return {"drafts": [reply_of(await messages_answered(words, ()))], **further}
    except AnswerError as error:
        raise ContractError(f"{place}: {error}") from None


def _as_assistant(answer: Any) -> Any:
    """Messages of whichever side as a model's own, since a draft is what the speaker said itself."""
    if isinstance(answer, list):
        return [_as_assistant(one) for one in answer]
    if isinstance(answer, HumanMessage):
        return AIMessage(content=answer.content, id=answer.id)
    return answer
