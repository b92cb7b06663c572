"""The state of a running conversation: plain JSON values for checkpoints and streams."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Required, TypeAlias, cast, get_args

from typing_extensions import TypedDict

from ..data.records import Role

NodePlace: TypeAlias = Literal[
    "user_prompt_selector",
    "user_simulator",
    "question_validator",
    "assistant_prompt_selector",
    "assistant",
    "answer_validator",
    "turn_recorder",
    "closing",
]
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
    """`input_tokens`, `output_tokens`, `calls` of the call; `cached_tokens` and `reasoning_tokens` if there are any."""
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
    kept: dict[str, Any]
    """Named channels of an agent's state after the call."""
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


class State(TypedDict, total=False):
    """The state of a conversation."""

    scenario: Required[dict[str, Any]]
    """What it is about; its `kind` determines the other keys."""
    ordinal: int
    repeat: int
    id: str
    messages: list[dict[str, Any]]
    """The messages so far, each the plain form of a `data.Message`."""
    turn: int
    """Number of complete turns."""
    opened: int
    """Number of complete turns in the initial state."""
    prompt: Prompt | None
    drafts: list[Draft]
    """The speaker's latest drafts: one for each message of its reply, possibly none."""
    verdicts: list[Verdict]
    attempts: list[dict[str, Any]]
    """Rejected drafts of the current turn, each the plain form of a `data.Attempt`."""
    unsaid: list[dict[str, Any]]
    """Turns that ended without a message, each the plain form of a `data.records.Unsaid`."""
    speaking: Role | None
    """Whose turn it is."""
    came_from: NodePlace
    """The node that ran last."""
    memory: dict[str, Any]
    """The side's private memory. Only the nodes of that side see it in their state."""
    memories: dict[Role, dict[str, Any]]
    """The private memory of each side. Nodes do not see it; the nodes of a side see their own as `memory`."""
    stop: str | None
    """Why the conversation ends: a core reason, or one of the cast (`cast:reason`)."""
    provenance: dict[str, Any]
    forks: dict[str, Any]
    """Of an initial state the conversation that it forks, and where: the plain form of a `data.provenance.Fork`."""
    replays: dict[str, Any] | None
    """Of a replay the stored conversation: its `record` as plain JSON, the `source` that holds it, and `same`, the
    import path of a function that compares answers. None once it has left the record. Nodes do not see it."""
    labels: dict[str, Any]
    extra: dict[str, Any]
    """The `extra` of the conversation, such as that of a re-enacted one; `behaviours` in it are those of its user."""


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


ANSWERS: dict[NodePlace, frozenset[str]] = {
    "user_prompt_selector": frozenset({"prompt", "memory", "stop"}),
    "user_simulator": frozenset({"drafts", "stop", "memory", "failed", "crashed", "frames"}),
    "question_validator": frozenset({"verdicts", "stop"}),
    "assistant_prompt_selector": frozenset({"prompt", "memory", "stop"}),
    "assistant": frozenset({"drafts", "stop", "memory", "failed", "crashed", "frames"}),
    "answer_validator": frozenset({"verdicts", "stop"}),
    "turn_recorder": frozenset({"labels", "stop"}),
    "closing": frozenset({"labels", "usage"}),
}
"""The keys that the update of each node of the graph may have."""


def prompt(name: str, text: str) -> Prompt:
    """A prompt without a page, for a selector of your own; its digest is that of the text."""
    return {"name": name, "digest": hashlib.sha256(text.encode("utf-8")).hexdigest()[:16], "text": text}


def merged(state: State, changes: Mapping[str, Any]) -> State:
    """The state with changed values, as LangGraph applies an update."""
    return cast(State, {**state, **changes})


def attempt_number(state: State) -> int:
    """Number of the current call of the turn, from 1."""
    return max((int(attempt.get("number", 1)) for attempt in state.get("attempts", [])), default=0) + 1


def said(state: State) -> list[dict[str, Any]]:
    """The messages so far in the form of records, each with its attempts; a third one's words begin with its name."""
    return state.get("messages", [])


def rejected(state: State) -> list[dict[str, Any]]:
    """The rejected drafts of the turn under way, in order."""
    return state.get("attempts", [])


def memory_of(state: State, role: Role) -> dict[str, Any]:
    """What a side remembers."""
    return state.get("memory", {})


def id_of(state: State) -> str:
    """The id of the conversation; empty before it has one."""
    return str(state.get("id", ""))


def without_rejected(state: State, attempts: Sequence[Mapping[str, Any]] = ()) -> State:
    """The state as if the turn under way had these rejected drafts only."""
    return merged(state, {"attempts": [*attempts]})


def history(state: State, role: Role | None = None) -> list[dict[str, Any]]:
    """The stored messages of one side, or of both."""
    return [
        message
        for message in state.get("messages", [])
        if role in (None, message["role"]) and message.get("stored", True)
    ]


def standing(message: Mapping[str, Any]) -> dict[str, Any]:
    """The accepted or observed draft of a message; empty if it has none."""
    attempts: Sequence[dict[str, Any]] = message.get("attempts", ())
    return attempts[-1] if attempts and attempts[-1].get("verdict") != "rejected" else {}


PRIVATE = ("kept", "reasoning")
"""Keys of an attempt that the nodes of the other side do not see."""


def seen_by(role: Role, state: State) -> State:
    """The state without what the other side's drafts hold in private: kept channels and reasoning.

    Only messages and turns with something private are copied.
    """
    changed: dict[str, Any] = {
        key: [_shown_to(role, turn) for turn in turns]
        for key in ("messages", "unsaid")
        if (turns := cast("list[dict[str, Any]]", state.get(key, []))) and _hold_private(role, turns)
    }
    if state.get("speaking") not in (None, role) and "attempts" in state:
        changed["attempts"] = [_public(attempt) for attempt in state["attempts"]]
    return merged(state, changed) if changed else state


def _hold_private(role: Role, turns: Sequence[dict[str, Any]]) -> bool:
    """Whether one of these messages or unsaid turns holds something that a side does not see."""
    for turn in turns:
        if turn["role"] != role:
            for attempt in turn.get("attempts", ()):
                if _is_private(attempt):
                    return True
    return False


def _shown_to(role: Role, turn: dict[str, Any]) -> dict[str, Any]:
    """A message or an unsaid turn as a side sees it."""
    if turn["role"] == role or not _hold_private(role, (turn,)):
        return turn
    return turn | {"attempts": [_public(attempt) for attempt in turn["attempts"]]}


def _is_private(attempt: Mapping[str, Any]) -> bool:
    return "kept" in attempt or "reasoning" in attempt or "reasoning" in attempt.get("cleaned", ())


def _public(attempt: dict[str, Any]) -> dict[str, Any]:
    """The attempt without what is private in it: also the raw text, if reasoning was removed from it."""
    if not _is_private(attempt):
        return attempt
    hidden = {*PRIVATE, "raw"} if "reasoning" in attempt.get("cleaned", ()) else set(PRIVATE)
    return {key: value for key, value in attempt.items() if key not in hidden}


def kept_messages(state: State) -> int:
    """Number of messages that a fork has from the conversation that it forks; 0 if it is not one."""
    forks = state.get("provenance", {}).get("forks") or state.get("forks")
    return int(forks["at"]) + 1 if forks and not forks.get("answers_only") else 0


def awaits_answer(state: State) -> bool:
    """Whether the initial state ends with a user's message that is not answered yet."""
    messages = history(state)
    just_begun = state.get("turn", 0) == state.get("opened", 0)
    return just_begun and bool(messages) and messages[-1]["role"] == "user"
