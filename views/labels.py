"""Labels, scores, answers to questions afterwards, and what else the source says, as tables beside what they are about."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from markupsafe import Markup

from ..analysis.annotations import side_of
from ..analysis.label_values import FINAL
from ..analysis.outcomes import SCORES
from ..analysis.trust import NOT_CALIBRATED, Trust, Trusts
from ..data.domain import TOPIC_KEYS, USER_KEYS
from ..data.formats.dialogues import asides
from ..data.records import Conversation, Message
from .pages import render

Path: TypeAlias = tuple[str, ...]
"""Keys that lead to a value."""

LEGEND = (
    "At the right of each label, how far it can be trusted. people's: people gave it. κ, AC1: its agreement with people's "
    "label of the same conversations of this side, with its 95 % interval. computed: a rule, no judgement. not calibrated: "
    "nobody has measured it here."
)
NO_LABELS = frozenset({*USER_KEYS, *TOPIC_KEYS, "assistant", "model", "title", "name", "language", "date", "time", "timestamp",
                       "created_at", "path", "file", "source", "split"})  # fmt: skip
"""Keys of a source that say who, when and where, and label nothing."""
AT_ONCE = 6
"""Rows that are shown at once; a longer table is folded."""

_OF_FORM = ("role", "content", "from", "value", "id", "messages", "conversations", "labels")
"""Keys that the page shows already, as text, side or label."""


@dataclass(frozen=True)
class Row:
    """One name with its value, and how far the value can be trusted; None for what is no label."""

    name: str
    value: str
    trust: Trust | None


@dataclass(frozen=True)
class Rows:
    """A table of names and values under a title."""

    title: str
    rows: tuple[Row, ...]
    folded: bool


def labels_html(holder: Conversation | Message, conversation: Conversation, trusts: Trusts) -> Markup:
    """The tables of a conversation or of a message of it, its own texts aside; empty if it has none. Every text is
    escaped. `trusts`: of the conversations among which it is shown."""
    side, of_messages = side_of(conversation), isinstance(holder, Message)
    known = trusts.labels_of(holder)
    given, labels = _scores(known)
    scores = [Row(name.replace("_", " "), text, trusts.of_score(side, name)) for name, text in given]
    rows = tuple(
        Row(
            _named(name, path, labels),
            text,
            trusts.of_label(
                side, path[0], _part(path, labels), of_messages=of_messages, of_vote=_is_vote(path, labels)
            ),
        )
        for name, text, path in _rows(labels)
    )
    tables = [Rows("labels", rows, len(rows) > AT_ONCE)] if rows else []
    beside = _beside(holder, known)
    if rows := tuple(Row(name, text, None) for name, text, _ in _rows(beside)):
        perhaps = any(key not in NO_LABELS for key in beside)  # keys that no reader knows: some may be labels
        told = f" (if any is a label: {NOT_CALIBRATED})" if perhaps else ""
        tables.append(Rows(f"from the source{told}", rows, folded=True))
    said = _said_by_neither(holder) if isinstance(holder, Conversation) else ()
    legend = (
        LEGEND if isinstance(holder, Conversation) and (scores or any(r.trust for t in tables for r in t.rows)) else ""
    )
    if not (scores or tables or said):
        return Markup()
    return Markup(render("labels.html", scores=scores, tables=tables, asides=said, legend=legend))


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
        told.append((name, ": ".join(text for text in texts if text) or "no score"))
        if more := {key: value for key, value in score.items() if key not in ("value", "error", "reason")}:
            others[name] = more
    rest = {key: value for key, value in labels.items() if key != SCORES}
    return tuple(told), (rest | {SCORES: others} if others else rest)


def _rows(values: Mapping[str, Any], above: Path = ()) -> Iterator[tuple[str, str, Path]]:
    """Name, value and keys of each annotation; of an object a row for each key."""
    for key, value in values.items():
        path = (*above, key)
        if isinstance(value, Mapping):
            yield from _rows(value, path)
        elif isinstance(value, list) and any(isinstance(each, Mapping) for each in value):
            for number, each in enumerate(value, start=1):
                yield from _rows(each if isinstance(each, Mapping) else {"": each}, (*path, str(number)))
        elif (text := _text(value)) is not None:
            yield " ".join(filter(None, path)).replace("_", " "), text, path


def _part(path: Path, labels: Mapping[str, Any]) -> str:
    """The part of a label that its keys lead to, those of its votes aside; empty if it has no parts."""
    voted = isinstance(label := labels.get(path[0]), Mapping) and FINAL in label
    rest = path[2:] if voted else path[1:]
    return rest[0] if rest and rest[0] != path[0] else ""  # a label with a memo beside it is no part


def _is_vote(path: Path, labels: Mapping[str, Any]) -> bool:
    """Whether the keys lead to one vote, not to what the votes come to."""
    voted = isinstance(label := labels.get(path[0]), Mapping) and FINAL in label
    return voted and path[1:2] != (FINAL,)


def _named(name: str, path: Path, labels: Mapping[str, Any]) -> str:
    """The name of a row, which says what a vote is and leaves `final` out."""
    if not (isinstance(label := labels.get(path[0]), Mapping) and FINAL in label):
        return name
    which = "" if path[1] == FINAL else f"vote {path[1]}"
    return " ".join(filter(None, (path[0], *path[2:], which))).replace("_", " ")


def _text(value: Any) -> str | None:
    """A value in words; None for nothing."""
    if isinstance(value, list):
        texts = [text for each in value if (text := _text(each)) is not None]
        return ", ".join(texts) or None
    if isinstance(value, bool):
        return "yes" if value else "no"
    return None if value is None or value == "" else str(value)


def _beside(holder: Conversation | Message, labels: Mapping[str, Any]) -> dict[str, Any]:
    """Further keys of the source, without those that are labels already."""
    patches = [patch.get("values") for patch in holder.extra.values() if isinstance(patch, dict)]
    found = {key: value for values in patches if isinstance(values, dict) for key, value in values.items()}
    return {key: value for key, value in found.items() if key not in _OF_FORM and key not in labels}


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
