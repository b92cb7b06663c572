"""States of conversations, from messages in the form of records."""

from collections.abc import Mapping, Sequence
from typing import Any

from duologue.data.records import Role
from duologue.nodes.state import State, merged, state_from, without_rejected


def state_with(values: Mapping[str, Any], speaking: Role | None = None) -> State:
    """The state of these values: `messages` and the rejected `attempts` of the side that speaks are records."""
    more = {key: value for key, value in values.items() if key not in ("scenario", "id", "messages", "attempts")}
    state = state_from(values["scenario"], values.get("messages", ()), values.get("id", "0" * 16))
    known = merged(state, {"turn": 0, "drafts": [], "verdicts": [], "speaking": speaking, **more})
    return without_rejected(known, values.get("attempts", ()))


SCENARIO = {"kind": "own", "title": "The pier", "section": "Three keepers.", "stars": [1, 2]}


def state(*drafts: Any, messages: Sequence[Any] = (), speaking: Role | None = "user", **more: Any) -> State:
    """A conversation, and the drafts that wait in it: texts or drafts; `messages`: role and text, or whole records."""
    said = [one if isinstance(one, dict) else {"role": one[0], "text": one[1]} for one in messages]
    waiting = [{"text": draft} if isinstance(draft, str) else draft for draft in drafts]
    return state_with({"id": "c1", "scenario": SCENARIO, "messages": said, "drafts": waiting, **more}, speaking)


def called(*calls: dict[str, Any], verdict: str = "accepted", kept: Any = None, then: str = "") -> State:
    """A conversation whose one reply made these calls, after a rejected draft that called `drop`."""
    earlier = {"text": "No.", "verdict": "rejected", "tool_calls": [{"name": "drop", "arguments": {}}]}
    attempt = {"text": "Done.", "verdict": verdict, "tool_calls": list(calls)} | ({"kept": kept} if kept else {})
    reply = {"role": "assistant", "text": "Done.", "attempts": [earlier, attempt]}
    messages = [reply, *([("user", then)] if then else [])]
    return state(messages=messages, speaking=None, scenario={"expected": {"seat": {"row": 4}}})


def with_unsaid(before: State, **attempt: Any) -> State:
    """The state after a turn of the assistant that ended without a message, with this attempt."""
    silent = {"role": "assistant", "at": 1, "turn": 0, "text": "", **attempt}
    return merged(before, {"attempts": [*before["attempts"], silent]})
