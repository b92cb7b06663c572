"""Further nodes of a conversation, such as a moderator: on the way on from a node, they may speak, stop or go elsewhere."""

from collections.abc import Collection, Mapping
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, RemoveMessage, convert_to_messages
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END
from langgraph.runtime import Runtime
from langgraph.types import Command

from ..nodes.contract import ContractError, check_labels, check_reason
from ..nodes.limits import Limits
from ..nodes.node_forms import AnyNode
from ..nodes.state import State
from .casts.cast import Cast
from .failures import NodeError, failure_of
from .places import Place, limits_of

_ANSWERS = ("messages", "stop", "labels")


def further_place(name: str, node: object, cast: Cast, goes_on: str, nodes: Collection[str]) -> Place:
    """The place of a further node, which is any LangGraph node: it reads the graph's own state.

    It answers None, a text or a message, which is said in its name, or an update with `messages`, `stop` and `labels`;
    as a `Command` also with a `goto`: to the end of the conversation for the reason `user_ended`, if it gives none.
    `nodes`: those of the graph. Messages of the state that it answers, as a compiled graph does, are not said again.
    """
    call = AnyNode(node)

    async def run(state: State, config: RunnableConfig, runtime: Runtime[Limits]) -> Command[Any]:
        limits = limits_of(cast, state, runtime)
        own = runtime if runtime.context is limits else runtime.override(context=limits)
        try:
            answer: Any = await call(state, own)
        except SystemExit as error:  # it would end this process, and not its own conversation alone
            raise NodeError(failure_of(name, error), {}) from error
        goto: Any = answer.goto if isinstance(answer, Command) else None
        update = _update(name, answer.update if isinstance(answer, Command) else answer, state, cast)
        ways = list(goto) if isinstance(goto, (list, tuple)) else [goto] if goto else []
        ways = ["closing" if way == END else way for way in ways or [END if update.get("stop") else goes_on]]
        if wrong := [
            way for way in ways if not isinstance(way, str) or way not in nodes
        ]:  # LangGraph would end the conversation there
            raise ContractError(f"{name}: goto: expected a node of the graph or END, got {wrong[0]!r}")
        if "closing" in ways and not update.get("stop") and not state.get("stop"):
            update["stop"] = "user_ended"
        return Command(update=update, goto=ways)

    return run


def _update(name: str, answer: Any, state: State, cast: Cast) -> dict[str, Any]:
    """What the graph takes of an answer; ContractError for anything else."""
    if isinstance(answer, (str, BaseMessage)):
        answer = {"messages": [answer]}
    if not isinstance(answer, Mapping) and answer is not None:
        raise ContractError(f"{name}: expected a text, a message or an update, got {type(answer).__name__}")
    update = dict(answer or {})
    if unknown := sorted(update.keys() - set(_ANSWERS)):
        raise ContractError(f"{name}: expected an update with {', '.join(_ANSWERS)}, got the key {unknown[0]!r}")
    if "stop" in update:
        check_reason(name, update["stop"], cast.own_reasons)
    check_labels(name, update)
    if "messages" in update:
        given = update["messages"]
        new = convert_to_messages(given if isinstance(given, list) else [given])
        if any(isinstance(one, RemoveMessage) for one in new):
            raise ContractError(
                f"{name}: expected messages to say, got a RemoveMessage: what was said stands in the record"
            )
        ours = {one.id for one in state["messages"]}
        before = f"{state['origin']['id']}:{name}:{len(state.get('attempts', []))}"
        update["messages"] = [
            HumanMessage(content=one.content, name=name, id=f"{before}:{len(state['messages']) + number}")
            for number, one in enumerate(one for one in new if one.id is None or one.id not in ours)
        ]
    return update
