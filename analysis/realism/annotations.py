"""The annotations that a conversation carries, whatever their shape, as names with lists of values."""

from collections.abc import Callable, Iterator
from typing import Any

from ...data.records import Conversation

_NO_LABELS = frozenset({"profile_mapped", "questionnaire", "preference_summary", "preference_summary_old",
                        "chat_model", "conflict", "memo", "reason", "intent_zh"})  # fmt: skip
"""Notes of the published files that say nothing of the user's behaviour or of the answers' quality."""

_SAME = {
    "规划": "planning", "推荐": "recommendation", "检索": "search", "检索+推荐": "search & recommendation",
    "其他": "others", "其它": "others", "评估": "evaluation", "否": "no", "是": "yes", "无法判断": "cannot tell",
    "false": "no", "true": "yes",
}  # fmt: skip
"""Values of the published annotations that mean the same."""


def annotations_of(conversation: Conversation) -> dict[str, list[str]]:
    """Values of each label by name, of the conversation and of all its messages together."""
    merged: dict[str, list[str]] = {}
    for holder, place in [
        (conversation.labels, _of_conversation),
        *((m.labels, _of_message) for m in conversation.messages),
    ]:
        for key, value in holder.items():
            if key not in _NO_LABELS:
                for name, values in place(key, value):
                    merged.setdefault(name, []).extend(values)
    return merged


_Place = Callable[[str, Any], Iterator[tuple[str, list[str]]]]


def _of_message(key: str, value: Any) -> Iterator[tuple[str, list[str]]]:
    if isinstance(value, dict):
        value = value.get(key)
    if values := _plain(value):
        yield key.replace("_", " "), values


def _of_conversation(key: str, value: Any) -> Iterator[tuple[str, list[str]]]:
    """A label, or one for each dimension of an annotation with several; of votes their result `final`."""
    told = value.get("final", value) if isinstance(value, dict) else value
    if isinstance(told, dict):
        for dimension, one in told.items():
            if values := _plain(one):
                yield f"{key} {dimension}".replace("_", " "), values
    elif values := _plain(told):
        yield key.replace("_", " "), values


def _plain(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    texts = [str(one).strip().lower() for one in values if isinstance(one, str | int | bool)]
    return [_SAME.get(text, text) for text in texts]
