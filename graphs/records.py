"""From state to record, and the state as nodes of today's form read it."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, cast

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, convert_to_messages

from ..data.attachments import bounded
from ..data.identity import begun_with, conversation_id
from ..data.records import Attempt as AttemptRecord
from ..data.records import Conversation, Message, Role
from ..errors import DataError
from ..nodes.conversation_state import State, rejected_now, role_of
from ..nodes.messages.attachments import parts_in, sendable
from ..nodes.settings.redaction import without_known_secrets
from ..nodes.state import Draft
from ..nodes.state import State as TodaysState
from .attempts import unjudged

GIVEN = "record"
"""Key of a given message's `additional_kwargs` for the message as the record has it."""
OF_A_MESSAGE = ("spans", "parts", "stored", "labels", "extra")
"""Keys of an accepted attempt that the record has at the message."""
OF_AN_ATTEMPT = frozenset(AttemptRecord.model_fields)


def chat_message(message: Mapping[str, Any], name: str) -> AnyMessage:
    """A message of a record as LangChain's, with this id; what can be sent of its parts are content blocks."""
    content: Any = message["text"]
    if message.get("parts"):
        blocks, _ = sendable(message)
        content = [{"type": "text", "text": message["text"]}, *blocks] if blocks else content
    kind = AIMessage if message["role"] == "assistant" else HumanMessage
    return kind(content=content, id=name, name=message.get("name"))


def text_of(message: BaseMessage) -> str:
    """The words of a message."""
    return str(message.text)


def said(state: State | Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The messages in the form of records, each with its attempts, and the turns without a message.

    A message that somebody put into the state by hand has no attempts, nor has one of a further node, which is recorded
    with its name and is not part of the published history.
    """
    messages: list[dict[str, Any]] = []
    numbers: dict[int, tuple[dict[str, Any], int | None]] = {}
    turns = {attempt.get("message"): attempt.get("turn") for attempt in state.get("attempts", [])}
    by_id: dict[str, dict[str, Any]] = {}
    for number, message in enumerate(convert_to_messages(state.get("messages", []))):
        plain = _plain(message)
        by_id[str(message.id)] = plain
        numbers[number] = plain, turns.get(message.id)
        messages.append(plain)
    unsaid: list[dict[str, Any]] = []
    last: tuple[Any, ...] = ()
    for attempt in state.get("attempts", []):
        if attempt["role"] == "closing":
            continue
        said_as = by_id.get(attempt.get("message", ""))
        if said_as is not None and "given" in attempt:
            said_as |= {**attempt["given"], "text": said_as["text"]}
            continue
        if said_as is not None:
            said_as |= {key: attempt[key] for key in OF_A_MESSAGE if key in attempt}
        elif (near := numbers.get(attempt["at"])) is not None and _is_of(near[0], attempt):
            said_as = near[0] if near[1] in (None, attempt["turn"]) else None  # a rejected draft before it
        if attempt["verdict"] == "fallback":
            continue
        plain = {key: value for key, value in attempt.items() if key in OF_AN_ATTEMPT}
        if said_as is not None:
            if "message" in attempt:
                plain.pop("parts", None)
            said_as.setdefault("attempts", []).append(plain)
        elif (turn := (attempt["role"], attempt["at"], attempt["turn"])) == last:
            unsaid[-1]["attempts"].append(plain)
        else:
            last = turn
            unsaid.append({"role": attempt["role"], "after": attempt["at"], "attempts": [plain]})
    return messages, unsaid


def _plain(message: BaseMessage) -> dict[str, Any]:
    """A message without what its attempts say of it."""
    role = role_of(message)
    plain: dict[str, Any] = {"role": role or "user", "text": text_of(message)}
    if parts := parts_in(message):
        plain["parts"] = parts
    return plain if role is not None else plain | {"name": message.name or message.type, "stored": False}


def _is_of(message: Mapping[str, Any], attempt: Mapping[str, Any]) -> bool:
    """Whether a message is of the side that made an attempt, and not a third one's."""
    return bool(message["role"] == attempt["role"] and "name" not in message)


def record(state: State | Mapping[str, Any], cast_name: str | None = None, *, memory: bool = False) -> Conversation:
    """The conversation of a final, an intermediate or an initial state, without loss.

    Drafts that no validator has judged yet are stored under `unsaid` as `unjudged`. Inline content of parts over
    `data.attachments.MOST_INLINE` bytes is replaced by its digest and size, and credentials of this process by
    `[key]`, wherever they stand. `cast_name`: part of the id of an initial state's conversation, by default the
    scenario's kind. `memory`: whether the sides' memories are recorded.
    """
    if "scenario" not in state:
        raise DataError("the state has no scenario: no conversation has begun in it")
    scenario, origin = state["scenario"], state.get("origin", {})
    messages, unsaid = said(in_flight(cast(State, state)))
    name = origin.get("id") or conversation_id(
        str(scenario.get("kind")) if cast_name is None else cast_name,
        scenario,
        origin.get("ordinal", 0),
        origin.get("repeat", 0),
        begun_with(messages),
    )
    closing = [attempt["usage"] for attempt in state.get("attempts", []) if attempt["role"] == "closing"]
    return Conversation.model_validate(
        without_known_secrets(
            {
                "id": name,
                "scenario": scenario,
                "ordinal": origin.get("ordinal", 0),
                "repeat": origin.get("repeat", 0),
                "messages": [bounded(message) for message in messages],
                "unsaid": [bounded(turn) for turn in unsaid],
                "stop": state.get("stop"),
                "provenance": provenance_of(origin),
                "memory": {side: kept for side, kept in state.get("memory", {}).items() if kept} if memory else {},
                "labels": state.get("labels", {}),
                "closing_usage": closing[-1] if closing else None,
                "extra": state.get("extra", {}),
            }
        )
    )


_NOT_PROVENANCE = frozenset({"id", "ordinal", "repeat", "opened", "replays"})


def provenance_of(origin: Mapping[str, Any]) -> dict[str, Any] | None:
    """The provenance for the record; None before the opening."""
    if "cast" not in origin:
        return None
    return {key: value for key, value in origin.items() if key not in _NOT_PROVENANCE}


def in_flight(state: State) -> State:
    """The state with drafts that wait for a validator as unjudged attempts."""
    drafts = state.get("drafts")
    if not drafts or state.get("verdicts"):
        return state
    return cast(State, {**state, "attempts": [*state.get("attempts", []), *unjudged(state, drafts)]})


def as_today(state: State, role: Role | None, *, shows_all: bool = False) -> TodaysState:
    """The state in the form that nodes of today read: messages and turns as in records, one side's memory."""
    messages, unsaid = said(state)
    messages = [worded(one) for one in messages]
    now = unsaid.pop() if role is not None and rejected_now(state, role) else {"attempts": []}
    origin = state["origin"]
    shown: dict[str, Any] = {
        "scenario": dict(state["scenario"]),
        "id": origin["id"],
        "ordinal": origin.get("ordinal", 0),
        "repeat": origin.get("repeat", 0),
        "messages": messages,
        "turn": state.get("turn", 0),
        "opened": origin.get("opened", 0),
        "prompt": state.get("prompt"),
        "drafts": [_without_memory(draft) for draft in state.get("drafts") or []],
        "verdicts": list(state.get("verdicts", [])),
        "attempts": now["attempts"],
        "unsaid": unsaid,
        "speaking": role,
        "stop": state.get("stop"),
        "labels": dict(state.get("labels", {})),
        "extra": dict(state.get("extra", {})),
        "provenance": provenance_of(origin),
    }
    shown |= {key: origin[key] for key in ("forks", "replays") if key in origin}
    if role is not None:
        shown["memory"] = deepcopy(state.get("memory", {}).get(role, {}))
    if shows_all:
        shown["memories"] = deepcopy(state.get("memory", {}))
    return cast(TodaysState, shown)


def worded(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message as nodes of today read it: a third one's words begin with its name."""
    name = message.get("name")
    return {**message, "text": f"{name}: {message['text']}"} if name else dict(message)


def _without_memory(draft: Draft) -> Draft:
    """The draft without the memory that waits in it until it is accepted."""
    return cast(Draft, {key: value for key, value in draft.items() if key != "memory"})


def as_given(message: Message) -> AnyMessage:
    """A message of a record for the beginning of a conversation: nothing of it is lost."""
    plain = message.plain()
    chat = chat_message(plain, "")
    chat.id = None
    chat.additional_kwargs[GIVEN] = plain
    return chat
