"""Scripted scenarios: a scenario that fixes what its user says (`script`), or begins in the middle (`messages`).

    {"goal": "get a refund", "script": ["I want a refund.", "KX4411."], "success": {...}}
    {"goal": "get a refund", "messages": [{"role": "user", "text": "KX4411"}, {"role": "assistant", "text": "Hi!"}], ...}

The script's messages are said one after the other, whatever the assistant answers, and no user model is asked; after the
last answer the conversation ends. Where `messages` end with the user's, the assistant answers first.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import DataError
from ...nodes.state import NodePlace, State, Update, said

SCRIPT, MESSAGES = "script", "messages"
_SHAPE = 'each {"role": "user" or "assistant", "text": ...}'


def checked_script(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """The scenario, with its first text of the user as the goal where it has none; DataError for another form."""
    script, begun = scenario.get(SCRIPT, []), first_messages(scenario)
    if not isinstance(script, list) or (SCRIPT in scenario and not script) or not all(map(_is_text, script)):
        raise DataError(f"{SCRIPT!r}: expected a list of the user's messages, each a text")
    said_by_user = [one["text"] for one in begun if one["role"] == "user"] + script
    named = {key for key in ("goal", "first_message", "kind") if key in scenario}
    if MESSAGES in scenario and "first_message" in scenario:
        raise DataError(f"'first_message': {MESSAGES!r} says how it begins: leave one of the two out")
    return dict(scenario) | ({"goal": said_by_user[0]} if said_by_user and not named else {})


def first_messages(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages with which a scenario begins; DataError for another form."""
    messages = scenario.get(MESSAGES, [])
    if not isinstance(messages, list) or (MESSAGES in scenario and not messages):
        raise DataError(f"{MESSAGES!r}: expected a list of messages, {_SHAPE}")
    found = []
    for number, one in enumerate(messages, start=1):
        text = one.get("text", one.get("content")) if isinstance(one, Mapping) else None
        if not _is_text(text) or one["role"] not in ("user", "assistant"):
            raise DataError(f"{MESSAGES!r}: message {number}: expected a list of messages, {_SHAPE}")
        found.append({"role": one["role"], "text": text})
    return found


def scripted_update(place: NodePlace, state: State) -> Update | None:
    """The update of a place of the user's side by the scenario's script; None without one."""
    script: Sequence[str] = state["scenario"].get(SCRIPT) or ()
    if not script or not isinstance(script, list):
        return None
    if place == "user_prompt_selector":
        return {"prompt": None}
    if place == "question_validator":
        return {"verdicts": [{"accepted": True} for _ in state.get("drafts") or ()]}
    if place != "user_simulator":
        return None
    begun = sum(one["role"] == "user" for one in first_messages(state["scenario"]))
    number = sum(one["role"] == "user" and not one.get("name") for one in said(state)) - begun
    return {"drafts": [{"text": script[number]}]} if number < len(script) else {"drafts": [], "stop": "user_ended"}


def _is_text(text: Any) -> bool:
    return isinstance(text, str) and bool(text.strip())
