"""Between records and states: how a conversation begins, and what is recorded of it.

At the beginning: its id, its origin, the messages it already has, each side's memory. Of it: drafts as attempts, a state as
a conversation, an exception as a failure with whose fault it is.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any
from typing import cast as typed

from langchain_core.messages import AnyMessage, BaseMessage, HumanMessage, convert_to_messages
from langgraph.types import Overwrite
from pydantic import ValidationError

from ..data.executed_graph import SPEAKERS
from ..data.identity import VERSION, begun_with, conversation_id, digest
from ..data.packages import frames_of
from ..data.records import SIDES, WORDLESS, Conversation, Message, NodeInfo, Role
from ..errors import DataError, DuologueError, first_invalid
from ..nodes.attachments import parts_in
from ..nodes.contract import OF_THE_CALL, OF_THE_VERDICT, ContractError, describe
from ..nodes.langgraph_names import TASK
from ..nodes.limits import Limits
from ..nodes.models.faults import is_crash
from ..nodes.settings.redaction import error_line, redacted, without_known_secrets
from ..nodes.state import (
    GIVEN,
    Attempt,
    Draft,
    NodePlace,
    Planned,
    State,
    Verdict,
    attempt_number,
    chat_message,
    given,
    history,
    placed,
    recorded,
    role_of,
)  # fmt: skip
from ..nodes.worlds import WorldError, put_back
from .casts.cast import Cast

_NOT_PROVENANCE = frozenset({"id", "ordinal", "repeat", "opened", "replays", "stopped_at"})


def record(state: State | Mapping[str, Any], cast_name: str | None = None, *, memory: bool = False) -> Conversation:
    """The conversation of a final, an intermediate or an initial state, without loss.

    Drafts that no validator has judged yet are stored under `unsaid` as `unjudged`, credentials of this process as
    `[key]`, wherever they stand. `cast_name`: part of the id of an initial state's conversation, by default the
    scenario's kind. `memory`: whether the sides' memories are recorded.
    """
    if "scenario" not in state:
        raise DataError("the state has no scenario: no conversation has begun in it")
    scenario, origin = state["scenario"], state.get("origin", {})
    known = typed(State, {**state, "messages": convert_to_messages(state.get("messages", []))})
    messages, unsaid = recorded(in_flight(known))
    ordinal, repeat = origin.get("ordinal", 0), origin.get("repeat", 0)
    of_cast = str(scenario.get("kind")) if cast_name is None else cast_name
    name = origin.get("id") or conversation_id(of_cast, scenario, ordinal, repeat, begun_with(messages))
    closing = [attempt["usage"] for attempt in state.get("attempts", []) if attempt["role"] == "closing"]
    provenance = {key: value for key, value in origin.items() if key not in _NOT_PROVENANCE}
    plain = {
        "id": name,
        "scenario": scenario,
        "ordinal": ordinal,
        "repeat": repeat,
        "messages": messages,
        "unsaid": unsaid,
        "stop": state.get("stop"),
        "stopped_at": origin.get("stopped_at", ""),
        "provenance": provenance if "cast" in origin else None,  # before the opening there is none
        "memory": {side: kept for side, kept in state.get("memory", {}).items() if kept} if memory else {},
        "labels": state.get("labels", {}),
        "closing_usage": closing[-1] if closing else None,
        "extra": state.get("extra", {}),
    }
    return Conversation.model_validate(without_known_secrets(plain))


def in_flight(state: State) -> State:
    """The state with drafts that wait for a validator as unjudged attempts."""
    drafts = state.get("drafts")
    if not drafts or state.get("verdicts"):
        return state
    return typed(State, {**state, "attempts": [*state.get("attempts", []), *unjudged(state, drafts)]})


def as_given(message: Message) -> AnyMessage:
    """A message of a record for the beginning of a conversation: nothing of it is lost."""
    plain = message.plain()
    chat = chat_message(plain, "")
    chat.id = None
    chat.additional_kwargs[GIVEN] = plain
    return chat


FELL_WITH_ANOTHER = "fell_with_another"
"""Reason of a draft that is right itself, when another draft of the same call is rejected."""


def unjudged(state: State, drafts: Sequence[Draft], role: Role | None = None) -> list[Attempt]:
    """Drafts that no validator has judged, as attempts."""
    speaking = role or _speaking(state)
    told: Attempt = {**placed(speaking, state), "number": attempt_number(state, speaking), "verdict": "unjudged"}
    return [{**told, "text": draft["text"], **_of_the_call(draft, state)} for draft in drafts]


def _speaking(state: State) -> Role:
    sides = [role for message in state.get("messages", []) if (role := role_of(message))]  # a third one is neither
    return "assistant" if sides[-1:] == ["user"] else "user"


def attempts_of(
    role: Role, state: State, drafts: Sequence[Draft], verdicts: Sequence[Verdict], *, passed: bool
) -> list[Attempt]:
    """The drafts with their verdicts, as state and record keep them."""
    number = attempt_number(state, role)
    return [
        placed(role, state) | _attempt(draft, verdict, number, state, passed=passed)
        for draft, verdict in zip(drafts, verdicts, strict=True)
    ]


def _attempt(draft: Draft, verdict: Verdict, number: int, state: State, *, passed: bool) -> Attempt:
    judged = "rejected" if not passed else "observed" if verdict.get("observed") else "accepted"
    if state.get("stop") and verdict.get("reason") in WORDLESS:
        # An agent that took too long, or stopped for a person, has no words yet: no validator rejected them.
        return {"number": number, "text": draft["text"], "verdict": "unjudged"} | _of_the_call(draft, state)
    attempt: Attempt = {"number": number, "text": draft["text"], "verdict": judged}
    if "raw" in draft:
        attempt["raw"] = draft["raw"]
    fell = FELL_WITH_ANOTHER if judged == "rejected" and verdict["accepted"] else None
    details = {key: verdict.get(key) for key in OF_THE_VERDICT} | {"reason": verdict.get("reason") or fell}
    return attempt | {key: value for key, value in details.items() if value} | _of_the_call(draft, state)


def _of_the_call(draft: Draft, state: State) -> Attempt:
    details = {"prompt": state.get("prompt"), **{key: draft.get(key) for key in (*OF_THE_CALL, "seconds")}}
    return {key: value for key, value in details.items() if value or (key == "seconds" and value is not None)}


# Failures


class NodeFailedError(DuologueError, RuntimeError):
    """A node could not do its part.

    `failure` is what a record says of it, `update` what it had done before: the engine of a run adds it to the last state.
    """

    def __init__(self, failure: Mapping[str, Any], update: Mapping[str, Any]) -> None:
        super().__init__(f"{failure['node']}: {failure['error']}")
        self.failure, self.update = dict(failure), dict(update)


async def restore_world(limits: Limits, update: Mapping[str, Any]) -> None:
    """Put the world back to before the draft under way; NodeFailedError with what was done before if that fails."""
    try:
        await put_back(limits)
    except WorldError as error:
        raise NodeFailedError(failure_of("world", error), update) from error


def failure_of(node: str, error: BaseException | str, frames: Sequence[str] = ()) -> dict[str, Any]:
    """The failure to record of an error that a node raised, or told itself with its `frames`.

    It has the error's line, and the places in one's own code that it passed.
    """
    line = redacted(error) if isinstance(error, str) else error_line(error, placed=True)
    passed = frames if isinstance(error, str) else frames_of(error)
    return {"node": node, "error": line} | ({"frames": list(passed)} if passed else {})


def failure_in(error: BaseException) -> dict[str, Any]:
    """The failure to record of any exception that a graph raised, with the node that LangGraph names."""
    if isinstance(error, NodeFailedError):
        return error.failure
    if isinstance(error, WorldError):
        return failure_of("world", error)
    place = place_in(error)
    if place is None or isinstance(error, ContractError):
        return failure_of("graph", error)
    return blamed(place, failure_of(place, error), crashed=is_crash(error))


def place_in(error: BaseException) -> str | None:
    """The node that raised an exception, by the notes that LangGraph adds, the outermost last; None without one."""
    notes = [note for note in getattr(error, "__notes__", ()) if note.startswith(TASK)]
    return notes[-1][len(TASK) :].partition("'")[0] if notes else None


def blamed(place: str, failure: dict[str, Any], *, crashed: bool) -> dict[str, Any]:
    """The failure with its fault: that of the side whose own code crashed, an endpoint's that this code called."""
    if crashed:
        return failure | ({"fault": SIDES[typed(NodePlace, place)]} if place in SPEAKERS else {})
    return failure | ({"fault": "infrastructure"} if "frames" in failure else {})


# The beginning


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


def of_cast(cast: Cast, further: Mapping[str, Mapping[str, object]]) -> dict[str, Any]:
    """The origin that all conversations of a cast share: without limits, scenario and first messages."""
    nodes = cast.describe()
    for place, named in further.items():
        for name, node in named.items():
            nodes[name] = NodeInfo.of(name, describe(node)).model_copy(update={"after": place})
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
    labels, extra = ({}, {}) if anew else (state.get("labels", {}), state.get("extra", {}))
    grown = {"messages": messages, "attempts": attempts, "memory": memory, "labels": labels}
    update = {**_FRESH, "scenario": deepcopy(scenario), "origin": written, "turn": turn, "extra": extra}
    update |= {key: Overwrite(value) for key, value in grown.items()}
    if first:
        begun_state = typed(State, {**update, **grown})
        update["stop"] = cast.why_stops(begun_state, limits, role="user" if awaits_answer(begun_state) else None)
    return update


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
