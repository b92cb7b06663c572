"""How a conversation begins: its id, its origin, the messages it already has, each side's memory."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any
from typing import cast as typed

from langchain_core.messages import BaseMessage, HumanMessage
from langgraph.types import Overwrite
from pydantic import ValidationError

from ..data.identity import VERSION, begun_with, conversation_id, digest
from ..data.records import SIDES, Conversation, Message, NodeInfo
from ..errors import first_invalid
from ..nodes.attachments import parts_in
from ..nodes.contract import ContractError, describe
from ..nodes.limits import Limits
from ..nodes.state import GIVEN, Planned, State, given, history, role_of
from .casts.cast import Cast
from .records import as_given

_FRESH: Mapping[str, Any] = {"turn": 0, "prompt": None, "drafts": None, "verdicts": [], "stop": None, "extra": {}}


def begun(planned: Planned) -> dict[str, Any]:
    """The graph's input for a planned conversation; ContractError if messages or memories are none."""
    origin = {key: planned[key] for key in ("id", "ordinal", "repeat", "forks", "replays") if key in planned}
    try:
        messages = [as_given(Message.model_validate(message)) for message in planned.get("messages", [])]
    except ValidationError as error:
        raise _not_messages(error) from None
    first = {"scenario": planned["scenario"], "origin": origin, "messages": messages}
    own = {key: planned.get(key, {}) for key in ("labels", "extra")}
    return first | {"memory": _memory(planned.get("memories", {}))} | own


def id_of(planned: Planned, cast: str) -> str:
    """The id of a planned conversation, or the digest of cast name, scenario and first messages that it will get."""
    if name := planned.get("id"):
        return str(name)
    first = begun_with(planned.get("messages", []))
    return conversation_id(cast, planned["scenario"], planned.get("ordinal", 0), planned.get("repeat", 0), first)


def of_cast(cast: Cast, further: Mapping[str, object] | None = None) -> dict[str, Any]:
    """The origin that all conversations of a cast share: without limits, scenario and first messages."""
    nodes = cast.describe() | {name: NodeInfo.of(name, describe(node)) for name, node in (further or {}).items()}
    return {
        "cast": cast.name,
        "nodes": {place: node.plain() for place, node in nodes.items()},
        "words": cast.words,
        "stop_reasons": cast.own_reasons,
        "prompts": cast.prompts.digests,
    }


def opening(cast: Cast, described: Mapping[str, Any], state: State, limits: Limits) -> dict[str, Any]:
    """The first update of a conversation; of one that goes on after its opening an empty one.

    On a thread that holds a conversation another scenario begins a new one: what was said before is gone from the
    state, and stands in the thread's history. Labels, memory and `extra` cannot be given there: what a thread holds and
    what is given are merged before any node reads them. ContractError if there is no scenario, a message is neither the user's nor
    the assistant's, or the thread's conversation is over.
    """
    scenario = state.get("scenario")
    if not isinstance(scenario, dict):
        raise ContractError("the initial state has no 'scenario': give it one, such as simquac.scenario(topic)")
    origin = state.get("origin", {})
    goes_on = "cast" in origin
    if goes_on and origin.get("data") == digest(scenario):
        if state.get("stop"):
            raise ContractError("the conversation of this thread is over: give another scenario or thread_id")
        return {}
    ours = {attempt.get("message") for attempt in state.get("attempts", [])}
    anew = goes_on or bool(ours)
    kept = () if goes_on else ("id", "ordinal", "repeat", "forks", "replays")
    own = {key: origin[key] for key in kept if key in origin}
    first = [message for message in state.get("messages", []) if message.id not in ours]
    memory = {} if anew else _memory(state.get("memory", {}))
    plain = [record_of(message) for message in first]
    ordinal, repeat = own.get("ordinal", 0), own.get("repeat", 0)
    name = own.get("id") or conversation_id(cast.name, scenario, ordinal, repeat, begun_with(plain))
    if not plain and cast.greeting is not None:
        plain = [Message(role="assistant", text=cast.greeting, stored=False).plain()]
    messages, attempts = given(plain, name)
    turn = turns_in(plain)
    written = {
        **own, "id": name, "ordinal": ordinal, "repeat": repeat, "opened": turn, **described,
        "limits": limits.plain(), "data": digest(scenario), "version": VERSION,
    }  # fmt: skip
    if first:
        written["begun"] = begun_with(plain)
    update: dict[str, Any] = {
        **_FRESH, "scenario": deepcopy(scenario), "origin": written, "messages": Overwrite(messages),
        "attempts": Overwrite(attempts), "turn": turn, "memory": Overwrite(memory),
        "labels": Overwrite({} if anew else state.get("labels", {})), "extra": {} if anew else state.get("extra", {}),
    }  # fmt: skip
    if first:
        begun_state = typed(State, overwritten(update))
        update["stop"] = cast.why_stops(begun_state, limits, role="user" if awaits_answer(begun_state) else None)
    return update


def overwritten(update: Mapping[str, Any]) -> dict[str, Any]:
    """The state as LangGraph has it after the opening's update."""
    return {key: value.value if isinstance(value, Overwrite) else value for key, value in update.items()}


def turns_in(messages: Sequence[dict[str, Any]]) -> int:
    """The number of complete turns in messages of a record."""
    records = tuple(Message.model_validate(message) for message in messages)
    exchanges = Conversation(id="", scenario={}, messages=records).exchanges
    return sum(1 for exchange in exchanges if any(message.stored for message in exchange.assistant))


def record_of(message: BaseMessage) -> dict[str, Any]:
    """A given message in the form of a record."""
    plain = message.additional_kwargs.get(GIVEN)
    role = role_of(message) or ("user" if isinstance(message, HumanMessage) else None)
    if plain is None:
        if role is None:
            raise ContractError(
                f"the first messages: expected the user's and the assistant's, got a {message.type} message"
            )
        plain = {"role": role, "text": str(message.text)} | ({"extra": {"name": message.name}} if message.name else {})
        plain |= {"parts": parts} if (parts := parts_in(message)) else {}
    try:
        return Message.model_validate(plain).plain()
    except ValidationError as error:
        raise _not_messages(error) from None


def _not_messages(error: ValidationError) -> ContractError:
    first = first_invalid(error)
    return ContractError(f"the first messages: {first.path}: {first.message}")


def _memory(memory: object) -> dict[str, Any]:
    """What each side remembers at the beginning; ContractError if it is not an object for each side."""
    if isinstance(memory, dict) and all(
        side in SIDES.values() and isinstance(kept, dict) for side, kept in memory.items()
    ):
        return memory
    raise ContractError("the initial state's memory: expected an object for each side, such as {'user': {}}")


def awaits_answer(state: State) -> bool:
    """Whether the messages end with one of the user's, so that the assistant speaks first."""
    stored = history(state)
    return bool(stored) and stored[-1]["role"] == "user"
