"""From state to record: makes a conversation of any state, initial, intermediate or final."""

from collections.abc import Mapping
from typing import Any

from ...data.attachments import bounded
from ...data.identity import begun_with, conversation_id
from ...data.records import Conversation, Role
from ...errors import DataError
from ...nodes.contract import OF_THE_CALL
from ...nodes.settings.redaction import without_known_secrets
from ...nodes.state import State, attempt_number
from .trace import counted_edges


def state_id(state: State | Mapping[str, Any], cast: str) -> str:
    """The id in the state, or the digest of cast name, scenario and first messages that it will get."""
    if name := state.get("id"):
        return str(name)
    begun = begun_with(state.get("messages", []))
    return conversation_id(cast, state["scenario"], state.get("ordinal", 0), state.get("repeat", 0), begun)


def record(state: State | Mapping[str, Any], cast: str | None = None) -> Conversation:
    """The conversation of a final, an intermediate or an initial state, without loss.

    Drafts of a turn that is not over are stored under `unsaid`, drafts without a verdict as `unjudged`. Only inline
    content of parts over `data.attachments.MOST_INLINE` bytes is replaced by its digest and size, and credentials of
    this process by `[key]`, wherever they stand.

    `cast`: the cast's name, which is part of the id of an initial state's conversation; by default the
    scenario's kind. `ConversationGraph.record` passes its own.
    """
    if "scenario" not in state:
        raise DataError("the state has no scenario: no conversation has begun in it")
    scenario = state["scenario"]
    messages = state.get("messages", [])
    return Conversation.model_validate(
        without_known_secrets(
            {
                "id": state_id(state, str(scenario.get("kind")) if cast is None else cast),
                "scenario": scenario,
                "ordinal": state.get("ordinal", 0),
                "repeat": state.get("repeat", 0),
                "messages": [bounded(message) for message in messages],
                "unsaid": [bounded(turn) for turn in (*state.get("unsaid", []), *_in_flight(state, len(messages)))],
                "stop": state.get("stop"),
                "failure": state.get("failure"),
                "provenance": state.get("provenance"),
                "edges": counted_edges(state.get("taken", {})),
                "timing": state.get("timing", {}),
                "memory": state.get("memories", {}) if state.get("record_memory") else {},
                "labels": state.get("labels", {}),
                "closing_usage": state.get("closing_usage"),
                "extra": state.get("extra", {}),
            }
        )
    )


def _in_flight(state: State | Mapping[str, Any], after: int) -> list[dict[str, Any]]:
    """The turn that is being spoken, if anything was drafted in it."""
    role: Role | None = state.get("speaking")
    number = attempt_number(state)  # type: ignore[arg-type]
    unjudged = [
        {"number": number, "text": draft["text"], "verdict": "unjudged"}
        | {key: value for key in OF_THE_CALL if (value := draft.get(key))}
        | ({"prompt": prompt} if (prompt := state.get("prompt")) else {})
        for draft in state.get("drafts", [])
    ]
    attempts = [*state.get("attempts", []), *unjudged]
    return [{"role": role, "after": after, "attempts": attempts}] if attempts else []
