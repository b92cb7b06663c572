"""The state of a conversation, as every node of the graph reads it, and what it says in the form of records."""

import hashlib
import operator
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Required, TypeAlias, cast, get_args

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage
from langgraph.graph.message import add_messages
from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from ..data.records import Attempt as AttemptRecord
from ..data.records import Conversation, Role, bare
from .attachments import parts_in

NodePlace: TypeAlias = Literal[
    "user_prompt_selector", "user_simulator", "question_validator", "assistant_prompt_selector", "assistant",
    "answer_validator", "turn_recorder", "closing",
]  # fmt: skip
"""A node of the graph, by name."""

PLACES: tuple[NodePlace, ...] = get_args(NodePlace)


class Prompt(TypedDict, total=False):
    """The instruction of a prompt selector to a speaker, which is sent but never stored as a message."""

    name: Required[str]
    digest: Required[str]
    text: Required[str]
    quote: str
    """Words that the instruction refers to; they are sent after it as data, between quote marks."""


class Draft(TypedDict, total=False):
    """A draft of a message by a speaker."""

    text: Required[str]
    """The cleaned text."""
    raw: str
    """The text before cleaning, if that changed it."""
    cleaned: list[str]
    spans: list[dict[str, Any]]
    """`{"text", "start"}` each, if the speaker knows them (a replayed answer)."""
    usage: dict[str, int]
    """Tokens of the call, by the names of `data.Usage`."""
    finish_reason: str
    """Why the model stopped writing, as the endpoint reports it."""
    flaw: str
    """What is wrong with the reply as it came: see `data.Attempt.flaw`."""
    retried: dict[str, int]
    """How often the call was made again, by fault."""
    shared: bool
    """Whether another version of the conversation got this reply and paid for it."""
    model: str
    """Name of the model that answered."""
    reasoning: str
    """The endpoint's reasoning text. It is stored, but is not part of the message and is never sent on."""
    tool_calls: list[dict[str, Any]]
    """The tool calls for it in order, each the plain form of a `data.ToolCall`."""
    parts: list[dict[str, Any]]
    """Images, recordings, files and other content beside the text, each the plain form of a `data.Part`."""
    steps: list[dict[str, Any]]
    """The steps of an agent's turn in order, each the plain form of a `data.records.Step`."""
    kept: dict[str, Any]
    """The channels of an agent's state after the call that are plain JSON."""
    labels: dict[str, Any]
    extra: dict[str, Any]
    stored: bool
    """False for a message that is recorded but is not part of the published history. The verdict may override it."""


class Verdict(TypedDict, total=False):
    """A validator's judgement of one draft."""

    accepted: Required[bool]
    reason: str | None
    """Why it is rejected: one of the validator's reasons."""
    repair: str | None
    """Explanation for the repair: the parts of an answer that were not found, or a sentence."""
    notes: list[str]
    """Observations that are counted but do not reject the draft."""
    text: str
    """The text to store instead of the draft's, such as slices of the section."""
    spans: list[dict[str, Any]]
    observed: bool
    """True if the draft is kept although it would have been rejected."""
    judging: dict[str, int]
    """Tokens of the models that judged it, as a draft's `usage`."""
    explanation: str
    """The words of these models; they are recorded and never sent on."""
    measured: dict[str, Any]
    """The measurements of the draft by the validator, by name; recorded and never sent on."""
    must: bool
    """True if what is rejected must never be sent, not even after the last attempt."""
    failed: str
    """Why it could not be judged, in one line: the conversation ends as `model_failed`, with any value of
    `accepted`."""
    stored: bool
    """False for a message that is recorded but is not part of the published history."""


Attempt: TypeAlias = dict[str, Any]
"""A draft with its verdict: the plain form of a `data.Attempt` with `role`, `turn`, `at` (number of the messages before
it) and, once it is accepted, `message`: the id of the message that it became, with its `spans`, `parts`, `stored`,
`labels` and `extra`. A message that the conversation began with, and the assistant's fallback, have one with the number 0
and the verdict `given` or `fallback`."""


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
    memory: Annotated[dict[str, Any], operator.or_]
    """By side (`user`, `assistant`) what it keeps for itself."""
    stop: str | None
    """Why the conversation ends: a core reason, or one of the cast (`cast:reason`)."""
    speaking: Role | None
    """Of which side the node is that reads this; None for those of both. Each node's place says it, no update does."""
    labels: Annotated[dict[str, Any], operator.or_]
    """Labels of the conversation as a whole: scores, answers to questions afterwards."""
    extra: dict[str, Any]


class Planned(TypedDict, total=False):
    """A conversation to be had: plain JSON, as a scenario's source gives it."""

    scenario: Required[dict[str, Any]]
    """What it is about; its `kind` names the domain."""
    id: str
    ordinal: int
    repeat: int
    messages: list[dict[str, Any]]
    """The messages that it begins with, each the plain form of a `data.Message`."""
    memories: dict[Role, dict[str, Any]]
    """What each side remembers."""
    forks: dict[str, Any]
    """The conversation that it forks, and where: the plain form of a `data.records.Fork`."""
    replays: dict[str, Any]
    """Of a replay the stored `record` as plain JSON, and the `source` that holds it."""
    labels: dict[str, Any]
    extra: dict[str, Any]
    """The `extra` of the conversation, such as that of a re-enacted one; `behaviours` in it are those of its user."""


@with_config(ConfigDict(extra="forbid", strict=True))
class Update(TypedDict, total=False):
    """A node's update; the graph changes the rest of the state."""

    prompt: Prompt | None
    """From a prompt selector; None or missing if it gives no prompt."""
    drafts: list[Draft]
    """From a speaker."""
    verdicts: list[Verdict]
    """From a validator: one for each draft."""
    memory: dict[str, Any]
    """From a prompt selector or a speaker: the side's new memory, which replaces the old one. A speaker's memory takes
    effect only if its drafts are accepted."""
    stop: str | None
    """From any node but the closing one: ends the conversation. A core reason, or one that the cast declares
    (`Cast.stop_reasons`), written `cast:reason`."""
    failed: str
    """From a speaker: why it failed after these drafts. They are recorded, and the conversation ends as failed."""
    crashed: bool
    """From a speaker with `failed`: whether its own code failed, and not an endpoint that it calls."""
    frames: list[str]
    """From a speaker that failed: the places in its own code that the error passed."""
    labels: dict[str, Any]
    """From the recorder or the closing node: labels of the conversation as a whole."""
    usage: dict[str, int]
    """From the closing node: tokens of the models that it asked, by the names of `data.Usage`."""


_SELECTED, _SPOKEN = (
    frozenset({"prompt", "memory", "stop"}),
    frozenset("drafts stop memory failed crashed frames".split()),
)
ANSWERS: dict[NodePlace, frozenset[str]] = {
    **dict.fromkeys(("user_prompt_selector", "assistant_prompt_selector"), _SELECTED),
    **dict.fromkeys(("user_simulator", "assistant"), _SPOKEN),
    **dict.fromkeys(("question_validator", "answer_validator"), frozenset({"verdicts", "stop"})),
    "turn_recorder": frozenset({"labels", "stop"}),
    "closing": frozenset({"labels", "usage"}),
}
"""The keys that the update of each node of the graph may have."""


def prompt(name: str, text: str) -> Prompt:
    """A prompt without a page, for a selector of your own; its digest is that of the text."""
    return {"name": name, "digest": hashlib.sha256(text.encode("utf-8")).hexdigest()[:16], "text": text}


def merged(state: State, changes: Mapping[str, Any]) -> State:
    """The state with changed values; unlike `after` by no reducer."""
    return cast(State, {**state, **changes})


def after(state: State, update: Mapping[str, Any]) -> State:
    """The state as LangGraph will have it after an update of the graph's own nodes, whose messages are all new."""
    before = cast("dict[str, Any]", state)
    grown = {**before, **update}
    grown |= {key: [*before.get(key, []), *update[key]] for key in ("messages", "attempts") if key in update}
    grown |= {key: before.get(key, {}) | update[key] for key in ("memory", "labels") if key in update}
    return cast(State, grown)


def id_of(state: State) -> str:
    """The id of the conversation; empty before it has one."""
    return str(state.get("origin", {}).get("id", ""))


def memory_of(state: State, role: Role) -> dict[str, Any]:
    """What a side remembers."""
    return dict(state.get("memory", {}).get(role, {}))


def role_of(message: BaseMessage) -> Role | None:
    """Who said a message; None for a further node."""
    if isinstance(message, AIMessage):
        return "assistant"
    return "user" if isinstance(message, HumanMessage) and not message.name else None


def rejected(state: State, role: Role | None = None) -> list[Attempt]:
    """The rejected drafts of a side's turn that is under way, in order; by default of the side that reads the state."""
    now = placed(role or cast(Role, state.get("speaking")), state)
    waiting = [one for one in state.get("attempts", []) if one["verdict"] == "rejected" and "message" not in one]
    return [one for one in waiting if {key: one[key] for key in now} == now]


def attempt_number(state: State, role: Role | None = None) -> int:
    """The number of a side's next call within the turn under way, from 1."""
    return max((int(one.get("number", 1)) for one in rejected(state, role)), default=0) + 1


def repeats(state: State, role: Role | None = None) -> int:
    """How often the same words came in the rejected drafts of a side's turn under way, at most; replies without any do not count."""
    replies: dict[int, str] = {}
    for one in rejected(state, role):
        number = int(one.get("number", 1))
        replies[number] = f"{replies.get(number, '')}\n{one['text']}".strip()
    return max(Counter(filter(None, replies.values())).values(), default=0)


def placed(role: Role, state: State) -> Attempt:
    """Of an attempt whose draft it is, in which turn, and after how many messages."""
    return {"role": role, "turn": state.get("turn", 0), "at": len(state.get("messages", []))}


def without_rejected(state: State, attempts: Sequence[Mapping[str, Any]] = (), role: Role | None = None) -> State:
    """The state as if a side's turn under way had these rejected drafts only; `role` as of `rejected`."""
    gone = {id(one) for one in rejected(state, role)}
    kept: list[Attempt] = [one for one in state.get("attempts", []) if id(one) not in gone]
    if (side := role or state.get("speaking")) is not None:
        kept += [{**one, **placed(side, state), "verdict": "rejected"} for one in attempts]
    return merged(state, {"attempts": kept})


GIVEN = "record"
"""Key of a given message's `additional_kwargs` for the message as the record has it."""
OF_A_MESSAGE = ("spans", "parts", "stored", "labels", "extra")
"""Keys of an accepted attempt that a record has at the message."""
_OF_AN_ATTEMPT = frozenset(AttemptRecord.model_fields)


def chat_message(message: Mapping[str, Any], name: str) -> AnyMessage:
    """A message of a record as LangChain's, with this id; its parts stand in its attempt."""
    kind = AIMessage if message["role"] == "assistant" else HumanMessage
    return kind(content=message["text"], id=name, name=message.get("name"))


def given(messages: Sequence[dict[str, Any]], name: str) -> tuple[list[AnyMessage], list[Attempt]]:
    """Messages of records with which the conversation of this id begins, and the attempts that hold what they are."""
    names = [f"{name}:{number}" for number in range(len(messages))]
    attempts: list[Attempt] = [
        {"role": one["role"], "turn": 0, "at": number, "number": 0, "text": one["text"], "verdict": "given",
         "message": names[number], "given": one}
        for number, one in enumerate(messages)
    ]  # fmt: skip
    return list(map(chat_message, messages, names)), attempts


def state_from(scenario: Mapping[str, Any], messages: Sequence[dict[str, Any]] = (), name: str = "") -> State:
    """The state in which this has been said, each the plain form of a `data.Message`, for a node outside a graph."""
    chat, attempts = given(messages, name)
    return {"scenario": dict(scenario), "origin": {"id": name}, "messages": chat, "attempts": attempts}


def ended_state(conversation: Conversation) -> State:
    """The state of a recorded conversation at its end, for a scorer outside a graph; a failure is not in it."""
    plain = [message.plain() for message in conversation.messages]
    state = state_from(conversation.scenario, plain, conversation.id)
    for number, turn in enumerate(conversation.unsaid, start=1):
        of_turn = {"role": turn.role, "at": turn.after, "turn": -number}
        state["attempts"] += [{**attempt.plain(), **of_turn} for attempt in turn.attempts]
    return {**state, "stop": conversation.stop, "labels": bare(conversation.labels), "extra": conversation.extra}


def recorded(state: State) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The messages in the form of records, each with its attempts, and the turns without a message.

    A message that somebody put into the state by hand has no attempts, nor has one of a further node, which is recorded
    with its name and is not part of the published history.
    """
    turns = {attempt.get("message"): attempt.get("turn") for attempt in state.get("attempts", [])}
    messages = [_plain(message) for message in state.get("messages", [])]
    names = [str(message.id) for message in state.get("messages", [])]
    by_id = dict(zip(names, messages, strict=True))
    silent: list[dict[str, Any]] = []
    last: tuple[Any, ...] = ()
    for attempt in state.get("attempts", []):
        if attempt["role"] == "closing":
            continue
        said_as, at = by_id.get(attempt.get("message", "")), attempt["at"]
        if said_as is not None and "given" in attempt:
            said_as |= {**attempt["given"], "text": said_as["text"]}
            continue
        if said_as is not None:
            said_as |= {key: attempt[key] for key in OF_A_MESSAGE if key in attempt}
        elif 0 <= at < len(messages) and messages[at]["role"] == attempt["role"] and "name" not in messages[at]:
            said_as = messages[at] if turns.get(names[at]) in (None, attempt["turn"]) else None  # rejected before it
        if attempt["verdict"] == "fallback":
            continue
        plain = {key: value for key, value in attempt.items() if key in _OF_AN_ATTEMPT}
        if said_as is not None:
            if "message" in attempt:
                plain.pop("parts", None)
            said_as.setdefault("attempts", []).append(plain)
        elif (turn := (attempt["role"], at, attempt["turn"])) == last:
            silent[-1]["attempts"].append(plain)
        else:
            last = turn
            silent.append({"role": attempt["role"], "after": at, "attempts": [plain]})
    return messages, silent


def _plain(message: BaseMessage) -> dict[str, Any]:
    role = role_of(message)
    plain: dict[str, Any] = {"role": role or "user", "text": str(message.text)}
    if parts := parts_in(message):
        plain["parts"] = parts
    return plain if role is not None else plain | {"name": message.name or message.type, "stored": False}


def said(state: State) -> list[dict[str, Any]]:
    """The messages so far in the form of records, each with its attempts; a third one's words begin with its name."""
    return [worded(message) for message in recorded(state)[0]]


def worded(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message of a record as the sides read it: a third one's words begin with its name."""
    name = message.get("name")
    return {**message, "text": f"{name}: {message['text']}"} if name else dict(message)


def history(state: State, role: Role | None = None) -> list[dict[str, Any]]:
    """The stored messages of one side, or of both, in the form of records."""
    return [one for one in said(state) if role in (None, one["role"]) and one.get("stored", True)]


def standing(message: Mapping[str, Any]) -> dict[str, Any]:
    """The accepted or observed draft of a message; empty if it has none."""
    attempts: Sequence[dict[str, Any]] = message.get("attempts", ())
    return attempts[-1] if attempts and attempts[-1].get("verdict") != "rejected" else {}
