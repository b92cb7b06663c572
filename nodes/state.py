"""The state of a conversation in flight: plain JSON values that checkpoints and streams can carry."""

import hashlib
from collections.abc import Mapping
from typing import Any, Literal, Required, TypeAlias, TypedDict, cast, get_args

from ..data.records import Role

Place: TypeAlias = Literal[
    "user_prompt_selector",
    "user_simulator",
    "question_validator",
    "assistant_prompt_selector",
    "assistant",
    "answer_validator",
    "turn_recorder",
    "closing",
]
"""The nodes of the one topology."""

PLACES: tuple[Place, ...] = get_args(Place)


class Prompt(TypedDict, total=False):
    """The line that a selector gives to the speaker: sent, never stored as a message."""

    name: Required[str]
    digest: Required[str]
    text: Required[str]
    quote: str
    """Words that the line is about: sent behind it as data, between marks of their own."""


class Draft(TypedDict, total=False):
    """One message as a speaker wrote it."""

    text: Required[str]
    """As cleaned."""
    raw: str
    """As it came, where that differs."""
    cleaned: list[str]
    spans: list[dict[str, Any]]
    """`{"text", "start"}` each, where the speaker itself knows them (a replayed answer)."""
    usage: dict[str, int]
    """`input_tokens`, `output_tokens`, `calls` of the call; `cached_tokens` and `reasoning_tokens` where there are."""
    finish_reason: str
    """Why the model stopped writing, in its endpoint's word."""
    model: str
    """Name of the model that was served."""
    reasoning: str
    """What the endpoint gave as reasoning: kept, never sent on, never said."""
    tool_calls: list[dict[str, Any]]
    """The tools that were called for it, each the plain form of a `data.ToolCall`, in their order."""
    kept: dict[str, Any]
    """Named channels of an agent's state after the call."""
    labels: dict[str, Any]
    extra: dict[str, Any]
    stored: bool
    """False: said, and not part of the published history, unless the validator says otherwise."""


class Verdict(TypedDict, total=False):
    """What a validator says of one draft."""

    accepted: Required[bool]
    reason: str | None
    """Why not, from the validator's closed set."""
    repair: str | None
    """What to say to repair it: the parts of an answer that were not found, or a sentence."""
    notes: list[str]
    """What was counted and does not matter."""
    text: str
    """What is stored in place of the draft's text: the section's own slices."""
    spans: list[dict[str, Any]]
    observed: bool
    """The draft stands although it would have been rejected."""
    stored: bool
    """False: said, and not part of the published history."""


class State(TypedDict, total=False):
    """Everything about a conversation while it goes on."""

    scenario: Required[dict[str, Any]]
    """What it is about; its `kind` says which other keys there are."""
    ordinal: int
    repeat: int
    id: str
    messages: list[dict[str, Any]]
    """Messages that were said, each the plain form of a `data.Message`."""
    turn: int
    """Exchanges that are complete."""
    opened: int
    """Exchanges that the initial state held."""
    prompt: Prompt | None
    drafts: list[Draft]
    """What the speaker just wrote: several messages, one, or none."""
    verdicts: list[Verdict]
    attempts: list[dict[str, Any]]
    """Rejected drafts of the turn that is being spoken, each the plain form of a `data.Attempt`."""
    unsaid: list[dict[str, Any]]
    """Turns that ended without a message, each the plain form of a `data.records.Unsaid`."""
    speaking: Role | None
    """Whose turn it is."""
    came_from: Place
    """The node that ran last."""
    taken: dict[str, int]
    """How often each edge was taken, by `source>target`."""
    memory: dict[str, Any]
    """What the side keeps for itself: stands only in the state that a node of its trio is given."""
    memories: dict[Role, dict[str, Any]]
    """What each side keeps for itself. No node is given it; to the nodes of a trio it is `memory`."""
    pending_memory: dict[str, Any] | None
    """What the speaker will keep if its drafts stand."""
    record_memory: bool
    """Whether the record holds what each side keeps."""
    stop: str | None
    """Why the conversation ends: a core reason, or one of the cast's own (`cast:reason`)."""
    failure: dict[str, str] | None
    provenance: dict[str, Any]
    labels: dict[str, Any]
    extra: dict[str, Any]
    """What a conversation that is re-enacted had besides; carried and never read."""
    timing: dict[str, Any]


class Update(TypedDict, total=False):
    """What a node may answer. The rest of the state is kept by the graph."""

    prompt: Prompt | None
    """From a prompt selector; None, or nothing, if it has nothing to say."""
    drafts: list[Draft]
    """From a speaker."""
    verdicts: list[Verdict]
    """From a validator: one for each draft."""
    memory: dict[str, Any]
    """From a prompt selector or a speaker: all that its side keeps for itself from now on, in place of what the
    state's `memory` holds. Of a speaker it counts once its drafts stand: a rejected draft has not happened."""
    stop: str | None
    """From a speaker, a validator or the recorder: the conversation ends here. A reason of the core, or one that the
    cast declares (`Cast.stop_reasons`), written `cast:reason`."""
    labels: dict[str, Any]
    """From the recorder or the closing node: what is said of the conversation as a whole."""


ANSWERS: dict[Place, frozenset[str]] = {
    "user_prompt_selector": frozenset({"prompt", "memory"}),
    "user_simulator": frozenset({"drafts", "stop", "memory"}),
    "question_validator": frozenset({"verdicts", "stop"}),
    "assistant_prompt_selector": frozenset({"prompt", "memory"}),
    "assistant": frozenset({"drafts", "stop", "memory"}),
    "answer_validator": frozenset({"verdicts", "stop"}),
    "turn_recorder": frozenset({"labels", "stop"}),
    "closing": frozenset({"labels"}),
}
"""Which keys the node of each place may answer with."""


def prompt(name: str, text: str) -> Prompt:
    """A prompt of one's own for a selector to give: its digest is that of the text."""
    return {"name": name, "digest": hashlib.sha256(text.encode("utf-8")).hexdigest()[:16], "text": text}


def merged(state: State, changes: Mapping[str, Any]) -> State:
    """The state with other values: what LangGraph makes of an update."""
    return cast(State, {**state, **changes})


def attempt_number(state: State) -> int:
    """Number of the call that is due, or was just made: 1 for the first of a turn."""
    return max((int(attempt.get("number", 1)) for attempt in state.get("attempts", [])), default=0) + 1


def said(state: State, role: Role | None = None) -> list[dict[str, Any]]:
    """The messages of one side, or of both, that belong to the history."""
    return [
        message
        for message in state.get("messages", [])
        if role in (None, message["role"]) and message.get("stored", True)
    ]


def awaits_answer(state: State) -> bool:
    """Whether the conversation was begun with a user's message that nobody has answered yet."""
    messages = said(state)
    just_begun = state.get("turn", 0) == state.get("opened", 0)
    return just_begun and bool(messages) and messages[-1]["role"] == "user"
