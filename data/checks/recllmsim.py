"""The rules of task-oriented conversations, and what is odd about a file of them."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from ..records import Conversation
from .found import Found, shown
from .user_turns import is_plan, is_repeat, leaked_prompt, leaked_role, user_reasons

PASTED = 0.6
"""Share of the task context's pieces from which a message is a copy of it."""
PIECE = 8
"""Characters of a piece."""

_ERROR = re.compile(
    r"^\W*(?:api|server|internal|network|request)\s*(?:错误|异常|error\b)|^\W*(?:请求|网络|服务器?)(?:错误|异常|超时)",
    re.I,
)
_JUDGED = {"否": None, "是": "made up", "无法判断": "cannot be judged"}


def user_empty(conversation: Conversation) -> Found:
    for number, text in _said(conversation, "user"):
        if "empty" in user_reasons(text):
            yield number, f"the message {shown(text)} has no letter or digit"


def user_role_leak(conversation: Conversation) -> Found:
    for number, text in _said(conversation, "user"):
        if words := leaked_role(text):
            yield number, f"{shown(words)} in {shown(text[text.find(words) :])}"


def user_prompt_leak(conversation: Conversation) -> Found:
    for number, text in _said(conversation, "user"):
        if words := leaked_prompt(text):
            yield number, f"{shown(words)} in {shown(text[max(0, text.find(words) - 20) :])}"


def user_repeat(conversation: Conversation) -> Found:
    earlier: list[str] = []
    for number, text in _said(conversation, "user"):
        if is_repeat(text, earlier):
            yield number, f"said before: {shown(text)}"
        earlier.append(text)


def user_plan(conversation: Conversation) -> Found:
    last: str | None = None
    for number, message in enumerate(conversation.messages):
        if message.role == "assistant":
            last = message.text
        elif is_plan(message.text, last):
            yield number, f"a plan that answers nothing: {shown(message.text)}"


def user_pastes_task(conversation: Conversation) -> Found:
    context = _pieces(str(conversation.scenario.get("task_context", "")))
    for number, text in _said(conversation, "user"):
        share = len(context & _pieces(text)) / len(context) if context else 0.0
        if share >= PASTED:
            yield number, f"{share:.0%} of the task context stand in {shown(text)}"


def assistant_first(conversation: Conversation) -> Found:
    if conversation.messages and conversation.messages[0].role == "assistant":
        yield 0, f"opens: {shown(conversation.messages[0].text)}"


def same_side_again(conversation: Conversation) -> Found:
    for number, message in enumerate(conversation.messages[1:], start=1):
        if message.role == conversation.messages[number - 1].role:
            yield number, f"follows another message of the {message.role}: {shown(message.text)}"


def user_last(conversation: Conversation) -> Found:
    # A goodbye that is not stored has no reply by rule.
    stored = [(number, message) for number, message in enumerate(conversation.messages) if message.stored]
    if stored and stored[-1][1].role == "user":
        yield stored[-1][0], f"has no reply: {shown(stored[-1][1].text)}"


def error_reply(conversation: Conversation) -> Found:
    for number, text in _said(conversation, "assistant"):
        if _ERROR.search(text[:200]):
            yield number, f"reads like an error: {shown(text)}"


def hallucination(conversation: Conversation) -> Found:
    """Of both published shapes: an object with a memo, and one of three Chinese words."""
    for number, message in enumerate(conversation.messages):
        given = message.labels.get("hallucination")
        said = _JUDGED.get(given) if isinstance(given, str) else None
        if isinstance(given, dict) and given.get("hallucination") is True:
            said = f"made up ({given.get('memo')})"
        if said:
            yield number, f"{said}: {shown(message.text)}"


def label_shape(conversation: Conversation) -> Found:
    for number, message in enumerate(conversation.messages):
        for name, value in message.labels.items():
            if name in _SHAPES and not _SHAPES[name](value):
                yield number, f"{name} is {shown(repr(value))}"


def _is_hallucination(value: Any) -> bool:
    if isinstance(value, dict):
        return isinstance(value.get("hallucination"), bool) and isinstance(value.get("memo"), str)
    return isinstance(value, str) and value in _JUDGED


def _is_intent(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(one, str) for one in value))


_SHAPES: Mapping[str, Callable[[Any], bool]] = {
    "hallucination": _is_hallucination,
    "intent": _is_intent,
    "intent_zh": lambda value: isinstance(value, str),
    "satisfaction": lambda value: isinstance(value, str) and value in ("1", "2", "3", "4", "5"),
    "reason": lambda value: isinstance(value, str),
}


def _said(conversation: Conversation, role: str) -> list[tuple[int, str]]:
    return [(number, message.text) for number, message in enumerate(conversation.messages) if message.role == role]


def _pieces(text: str) -> set[str]:
    text = "".join(text.split()).casefold()
    return {text[at : at + PIECE] for at in range(len(text) - PIECE + 1)}
