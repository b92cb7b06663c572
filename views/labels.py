"""Labels, scores, answers to questions afterwards, and what else the source says, as tables beside what they are about."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from ..analysis.outcomes import SCORES
from ..data.formats.dialogues import asides
from ..data.records import Conversation, Message
from .pages import render

AT_ONCE = 6
"""Rows that are shown at once; a longer table is folded."""

_OF_FORM = ("role", "content", "from", "value", "id", "messages", "conversations", "labels")
"""Keys that the page shows already, as text, side or label."""


@dataclass(frozen=True)
class Rows:
    """A table of names and values under a title."""

    title: str
    rows: tuple[tuple[str, str], ...]
    folded: bool


def labels_html(holder: Conversation | Message) -> Markup:
    """The tables of a conversation or of a message, its own texts aside; empty if it has none. Every text is escaped."""
    scores, labels = _scores(holder.labels)
    tables = [Rows("labels", rows, len(rows) > AT_ONCE)] if (rows := tuple(_rows(labels))) else []
    if rows := tuple(_rows(_beside(holder))):
        tables.append(Rows("from the source", rows, folded=True))
    said = _said_by_neither(holder) if isinstance(holder, Conversation) else ()
    if not (scores or tables or said):
        return Markup()
    return Markup(render("labels.html", scores=scores, tables=tables, asides=said))


def _scores(labels: Mapping[str, Any]) -> tuple[tuple[tuple[str, str], ...], dict[str, Any]]:
    """Name of each score with its value and reason as one text, and the labels without what these say."""
    given = labels.get(SCORES)
    if not isinstance(given, Mapping):
        return (), dict(labels)
    told: list[tuple[str, str]] = []
    others: dict[str, Any] = {}
    for name, score in given.items():
        if not isinstance(score, Mapping) or not {"value", "error"} & set(score):
            others[name] = score
            continue
        texts = [
            _text(score.get("value")),
            score.get("error") and f"failed: {score['error']}",
            _text(score.get("reason")),
        ]
        told.append((name.replace("_", " "), ": ".join(text for text in texts if text) or "no score"))
        if more := {key: value for key, value in score.items() if key not in ("value", "error", "reason")}:
            others[name] = more
    rest = {key: value for key, value in labels.items() if key != SCORES}
    return tuple(told), (rest | {SCORES: others} if others else rest)


def _rows(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Name and value of each annotation; of an object a row for each key."""
    for key, value in values.items():
        name = f"{before} {key}".strip().replace("_", " ")
        if isinstance(value, Mapping):
            yield from _rows(value, name)
        elif isinstance(value, list) and any(isinstance(each, Mapping) for each in value):
            for number, each in enumerate(value, start=1):
                yield from _rows(each if isinstance(each, Mapping) else {"": each}, f"{name} {number}")
        elif (text := _text(value)) is not None:
            yield name, text


def _text(value: Any) -> str | None:
    """A value in words; None for nothing."""
    if isinstance(value, list):
        texts = [text for each in value if (text := _text(each)) is not None]
        return ", ".join(texts) or None
    if isinstance(value, bool):
        return "yes" if value else "no"
    return None if value is None or value == "" else str(value)


def _beside(holder: Conversation | Message) -> dict[str, Any]:
    """Further keys of the source, without those that are labels already."""
    patches = [patch.get("values") for patch in holder.extra.values() if isinstance(patch, dict)]
    found = {key: value for values in patches if isinstance(values, dict) for key, value in values.items()}
    return {key: value for key, value in found.items() if key not in _OF_FORM and key not in holder.labels}


def _said_by_neither(conversation: Conversation) -> tuple[tuple[str, Any], ...]:
    """Name and content of each turn of the source that no side said: instructions, calls and results of tools."""
    found: list[tuple[str, Any]] = []
    for aside in asides(conversation):
        if isinstance(text := aside.get("system"), str):
            found.append(("instruction", text))
            continue
        turn = next((value for value in aside.values() if isinstance(value, dict)), {})
        content = turn.get("tool_calls") or turn.get("function_call") or turn.get("content") or turn.get("value")
        found.append((str(turn.get("name") or turn.get("role") or turn.get("from") or "tool"), content or ""))
    return tuple(found)
