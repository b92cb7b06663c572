"""The annotations that both sides carry: shares of their values, or their mean where the values are numbers.

They are somebody's reading of a conversation, and the two sides may have been read by different hands.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....data.records import Conversation
from ..speech import Speech

_NO_LABELS = frozenset({"profile_mapped", "questionnaire", "preference_summary", "preference_summary_old",
                        "chat_model", "conflict", "memo", "reason", "intent_zh"})  # fmt: skip
"""Notes of the published files that say nothing of the user's behaviour or of the answers' quality."""

_SAME = {
    "规划": "planning", "推荐": "recommendation", "检索": "search", "检索+推荐": "search & recommendation",
    "其他": "others", "其它": "others", "评估": "evaluation", "否": "no", "是": "yes", "无法判断": "cannot tell",
    "false": "no", "true": "yes",
}  # fmt: skip
"""Values of the published annotations that mean the same."""

_MOST_VALUES = 20
"""A label with more different values than that is a text."""


@dataclass(frozen=True)
class Label:
    """An annotation that both sides carry."""

    name: str
    values: tuple[str, ...]
    """Its values on either side, the most frequent first."""

    @property
    def numeric(self) -> bool:
        """Whether all values are whole numbers, so that they have a mean."""
        return all(value.lstrip("-").isdigit() for value in self.values)

    def shares(self, speech: Speech) -> Mapping[str, float] | None:
        """Shares of the values in a conversation; None if it has not the label."""
        told = dict(_labels(speech.conversation)).get(self.name)
        return {value: told.count(value) / len(told) for value in set(told)} if told else None

    def mean(self, speech: Speech) -> float | None:
        """Mean of a numeric label in a conversation."""
        shares = self.shares(speech)
        return None if shares is None else sum(float(value) * share for value, share in shares.items())


def labels_of(sim: Sequence[Speech], human: Sequence[Speech]) -> list[Label]:
    """The labels that both sides carry, by name, those that have one value everywhere or no few left out."""
    sides = [_counts(speech.conversation for speech in side) for side in (sim, human)]
    found = []
    for name in sorted(sides[0].keys() & sides[1].keys()):
        counts = {value: 0 for side in sides for value in side[name]}
        for side in sides:
            for value, count in side[name].items():
                counts[value] += count
        if 1 < len(counts) <= _MOST_VALUES:
            found.append(Label(name, tuple(sorted(counts, key=lambda value: (-counts[value], value)))))
    return found


def _counts(conversations: Iterable[Conversation]) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {}
    for conversation in conversations:
        for name, values in _labels(conversation):
            own = counts.setdefault(name, {})
            for value in values:
                own[value] = own.get(value, 0) + 1
    return counts


def _labels(conversation: Conversation) -> Iterator[tuple[str, list[str]]]:
    """Name and values of each label, of the conversation and of all its messages together."""
    merged: dict[str, list[str]] = {}
    for holder, place in [
        (conversation.labels, _of_conversation),
        *((m.labels, _of_message) for m in conversation.messages),
    ]:
        for key, value in holder.items():
            if key not in _NO_LABELS:
                for name, values in place(key, value):
                    merged.setdefault(name, []).extend(values)
    yield from merged.items()


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
