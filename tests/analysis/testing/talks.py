"""Conversations with a score, for tests of results."""

from typing import Any

from duologue.data import Conversation, Message
from duologue.data.records import labels_from


def talk(name: str, success: Any, *said: Any, scenario: Any = "a", repeat: int = 0, **more: Any) -> Conversation:
    """A conversation; `said`: messages, or texts, the user's first. `broken`, `error`: of its score."""
    score = {"value": success, "reason": more.pop("reason", "it says so")}
    score |= {key: more.pop(key) for key in ("broken", "error", "frames") if key in more}
    messages = tuple(
        Message(role="assistant" if number % 2 else "user", text=one) if isinstance(one, str) else one
        for number, one in enumerate(said)
    )
    scores = {"success": score} | {key: {"value": value} for key, value in more.pop("scored", {}).items()}
    more.setdefault("stop", "user_ended")
    return Conversation(
        id=name,
        scenario={"title": scenario} if isinstance(scenario, str) else scenario,
        repeat=repeat,
        labels=labels_from({"scores": scores} if success is not None or "error" in score else {}),
        messages=messages,
        **more,
    )
