"""The state of a conversation: LangChain's messages, every draft that was made, and what each side remembers."""

import operator
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Required, TypeAlias, cast

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from ..data.attempts import Role
from .state import Draft, Prompt, Verdict

Attempt: TypeAlias = dict[str, Any]
"""A draft with its verdict: the plain form of a `data.Attempt` with `role`, `turn`, `at` (number of the messages before
it) and, once it is accepted, `message`: the id of the message that it became, whose `spans`, `parts`, `stored`, `labels`
and `extra` stand beside them. A message that the conversation began with has one with the number 0 and the verdict
`given`; the assistant's fallback has one with the number 0 and the verdict `fallback`."""


def joined(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """The reducer of `memory` and `labels`: what a node answers is added, by key."""
    return {**old, **new}


class State(TypedDict, total=False):
    """The state of a conversation, as every node of the graph reads it. A checkpointer can store all of it."""

    scenario: Required[dict[str, Any]]
    """What it is about; its `kind` names the domain."""
    origin: dict[str, Any]
    """Where it comes from, written at the opening: `id`, `ordinal`, `repeat`, the cast and its nodes, digests of its
    prompts, the limits, the version; `forks` of a conversation that takes up another one."""
    messages: Annotated[list[AnyMessage], add_messages]
    """The accepted messages: the user's are HumanMessages, the assistant's AIMessages; a HumanMessage with a name is of
    the further node of that name."""
    attempts: Annotated[list[Attempt], operator.add]
    turn: int
    """Number of complete turns."""
    prompt: Prompt | None
    """The selector's instruction for the draft under way."""
    drafts: list[Draft] | None
    """What the speaker just said, a draft for each message of its reply; None when nothing waits. After a rejection the
    rejected ones, until the speaker is asked again."""
    verdicts: list[Verdict]
    """The last verdicts, one for each draft."""
    memory: Annotated[dict[str, Any], joined]
    """By side (`user`, `assistant`) what it keeps for itself."""
    stop: str | None
    """Why the conversation ends: a core reason, or one of the cast (`cast:reason`)."""
    labels: Annotated[dict[str, Any], joined]
    """Labels of the conversation as a whole: scores, answers to questions afterwards."""
    extra: dict[str, Any]


def role_of(message: BaseMessage) -> Role | None:
    """Who said a message; None for a further node."""
    if isinstance(message, AIMessage):
        return "assistant"
    return "user" if isinstance(message, HumanMessage) and not message.name else None


def rejected_now(state: State, role: Role) -> list[Attempt]:
    """The rejected drafts of a side's turn that is under way, in order."""
    at, turn = len(state.get("messages", [])), state.get("turn", 0)
    return [
        one
        for one in state.get("attempts", [])
        if one["role"] == role and (one["at"], one["turn"]) == (at, turn) and _waits(one)
    ]


def next_number(state: State, role: Role) -> int:
    """The number of a side's next call within the turn under way, from 1."""
    return max((int(one["number"]) for one in rejected_now(state, role)), default=0) + 1


def after(state: State, update: Mapping[str, Any]) -> State:
    """The state as LangGraph will have it after an update of the graph's own nodes, whose messages are all new."""
    grown: dict[str, Any] = {**state, **update}
    for key in ("messages", "attempts"):
        if key in update:
            before: Sequence[Any] = state.get(key, [])  # type: ignore[assignment]
            grown[key] = [*before, *update[key]]
    for key in ("memory", "labels"):
        if key in update:
            grown[key] = joined(cast("dict[str, Any]", state.get(key, {})), update[key])
    return cast(State, grown)


def _waits(attempt: Attempt) -> bool:
    return attempt["verdict"] == "rejected" and "message" not in attempt
