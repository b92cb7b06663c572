"""The rules of task-oriented conversations: the rules for any dialogue, and rules for tasks and annotations."""

from collections.abc import Callable, Mapping
from typing import Any

from ..records import Conversation
from ..rules.linter import DIALOGUE_RULES, Reasons, Rule, quoted, texts_of

PASTED = 0.6
"""Least share of the task context's pieces, 0 to 1, with which a message counts as a copy of it."""
PIECE = 8
"""Length of a piece in characters."""

_JUDGED = {"否": None, "是": "made up", "无法判断": "cannot be judged"}


def user_pastes_task(conversation: Conversation) -> Reasons:
    context = _pieces(str(conversation.scenario.get("task_context", "")))
    for number, text in texts_of(conversation, "user"):
        share = len(context & _pieces(text)) / len(context) if context else 0.0
        if share >= PASTED:
            yield number, f"{share:.0%} of the task context stand in {quoted(text)}"


def hallucination(conversation: Conversation) -> Reasons:
    """Hallucination labels in both published shapes: an object with a memo, or one of three Chinese words."""
    for number, message in enumerate(conversation.messages):
        label = message.labels.get("hallucination")
        judgement = _JUDGED.get(label) if isinstance(label, str) else None
        if isinstance(label, dict) and label.get("hallucination") is True:
            judgement = f"made up ({label.get('memo')})"
        if judgement:
            yield number, f"{judgement}: {quoted(message.text)}"


def label_shape(conversation: Conversation) -> Reasons:
    for number, message in enumerate(conversation.messages):
        for name, value in message.labels.items():
            if name in _SHAPES and not (_SHAPES[name](value) or _is_tie(value)):
                yield number, f"{name} is {quoted(repr(value))}"


def _is_tie(value: Any) -> bool:
    """Whether these are votes that came to nothing."""
    return isinstance(value, dict) and value.get("final", 0) is None


def _is_hallucination(value: Any) -> bool:
    if isinstance(value, dict):
        return isinstance(value.get("hallucination"), bool) and isinstance(value.get("memo"), str)
    return isinstance(value, str) and value in _JUDGED


def _is_intent(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(intent, str) for intent in value))


_SHAPES: Mapping[str, Callable[[Any], bool]] = {
    "hallucination": _is_hallucination,
    "intent": _is_intent,
    "intent_zh": lambda value: isinstance(value, str),
    "satisfaction": lambda value: isinstance(value, str) and value in ("1", "2", "3", "4", "5"),
    "reason": lambda value: isinstance(value, str),
}


def _pieces(text: str) -> set[str]:
    text = "".join(text.split()).casefold()
    return {text[start : start + PIECE] for start in range(len(text) - PIECE + 1)}


_ALL = {
    **DIALOGUE_RULES,
    "user-pastes-task": Rule("warning", "a user's message that copies the task context", user_pastes_task),
    "hallucination": Rule("warning", "a reply that annotators call made up, or cannot judge", hallucination),
    "label-shape": Rule("warning", "an annotation in none of the published shapes", label_shape),
}
_ORDER = (
    *("user-empty", "user-role-leak", "user-prompt-leak", "user-repeat", "user-plan", "user-pastes-task"),
    *("assistant-first", "same-side-again", "user-last", "error-reply", "hallucination", "label-shape"),
)

RULES: Mapping[str, Rule] = {name: _ALL[name] for name in _ORDER}
"""Each rule by its id, the user's before the assistant's."""
