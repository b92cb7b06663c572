"""Labels, scores, answers to questions afterwards, and what else the source says, as tables beside what they are about."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from markupsafe import Markup

from ..analysis.annotations import side_of
from ..analysis.label_values import FINAL, is_voted, label_name, parts_of
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
        Row(name, text, trusts.of_label(side, key, part, of_messages=of_messages, of_vote=of_vote))
        for key, value in labels.items()
        for name, text, part, of_vote in _label_rows(key, value)
    )
    tables = [Rows("labels", rows, len(rows) > AT_ONCE)] if rows else []
    beside = _beside(holder, known)
    if rows := tuple(Row(" ".join(filter(None, path)).replace("_", " "), text, None) for path, text in _rows(beside)):
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


def _label_rows(key: str, value: Any) -> Iterator[tuple[str, str, str, bool]]:
    """Name, value and part of each row of a label, and whether it is one vote: what the votes came to, or that it is a
    tie, and then the votes, but for a vote that stands alone and says the same."""
    if not is_voted(value):
        for path, text in _rows({key: value}):
            # A label with a memo beside it has no parts.
            yield _named(path), text, path[1] if len(path) > 1 and path[1] != key else "", False
        return
    for part, said in parts_of(value).items():
        votes = [(number, text) for number, vote in enumerate(said.votes, start=1) for text in _texts({part: vote})]
        if came := list(_rows({part: said.value})):
            yield from ((_named((key, *path)), text, part, False) for path, text in came)
        elif votes:
            yield label_name(key, part), "tie", part, False
        if len(said.votes) > 1 or [text for _, text in votes] != [text for _, text in came]:
            yield from ((f"{label_name(key, part)}, vote {number}", text, part, True) for number, text in votes)
    of_votes = {name for name in value if name == FINAL or name.isdigit()}
    for path, text in _rows({key: {name: each for name, each in value.items() if name not in of_votes}}):
        yield _named(path), text, path[1], False


def _rows(values: Mapping[str, Any], above: Path = ()) -> Iterator[tuple[Path, str]]:
    """Keys and value of each annotation; of an object a row for each key."""
    for key, value in values.items():
        path = (*above, key)
        if isinstance(value, Mapping):
            yield from _rows(value, path)
        elif isinstance(value, list) and any(isinstance(each, Mapping) for each in value):
            for number, each in enumerate(value, start=1):
                yield from _rows(each if isinstance(each, Mapping) else {"": each}, (*path, str(number)))
        elif (text := _text(value)) is not None:
            yield path, text


def _texts(values: Mapping[str, Any]) -> list[str]:
    return [text for _, text in _rows(values)]


def _named(path: Path) -> str:
    """The name of a row by its keys, as the command line takes that of a label."""
    key, *rest = path
    return ".".join(filter(None, (label_name(key, rest[0] if rest else ""), *rest[1:])))


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
