"""States of conversations, from messages in the form of records."""

from collections.abc import Mapping
from typing import Any

from duologue.data.records import Role
from duologue.nodes.state import State, merged, state_from, without_rejected


def state_with(values: Mapping[str, Any], speaking: Role | None = None) -> State:
    """The state of these values: `messages` and the rejected `attempts` of the side that speaks are records."""
    more = {key: value for key, value in values.items() if key not in ("scenario", "id", "messages", "attempts")}
    state = state_from(values["scenario"], values.get("messages", ()), values.get("id", "0" * 16))
    known = merged(state, {"turn": 0, "drafts": [], "verdicts": [], "speaking": speaking, **more})
    return without_rejected(known, values.get("attempts", ()))
