"""Labels, scores, answers to questions afterwards, and further keys of the source, as tables beside their subject."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from markupsafe import Markup

from ...analysis.labels.reliability import NOT_CALIBRATED, Trust
from ...data.domains import TOPIC_KEYS, USER_KEYS
from ...data.formats.messages import asides
from ...data.labels.reading import SCORES, Label, label_keys, label_name, read, side_of
from ...data.records import Conversation, Message
from ..pages import render
from ..shown_conversation import ShownConversation

Path: TypeAlias = tuple[str, ...]
"""Keys that lead to a value."""

LEGEND = (
    "At the right of each label, whose it is: people's, a model's, computed by a rule, or not told by the data. How far two "
    "labels agree: duologue agreement."
)
NO_LABELS = frozenset({*USER_KEYS, *TOPIC_KEYS, "assistant", "model", "title", "name", "language", "date", "time", "timestamp",
                       "created_at", "path", "file", "source", "split"})  # fmt: skip
"""Keys of a source that say who, when and where, and label nothing."""
AT_ONCE = 6
"""Rows that are shown at once; a longer table is folded."""

_OF_FORM = ("role", "content", "from", "value", "id", "messages", "conversations", "labels")
"""Keys that the page shows already, as text, side or label."""


@dataclass(frozen=True)
class LabelRow:
    """One name with its value, and the value's reliability; None for a value that is not a label."""

    name: str
    value: str
    trust: Trust | None


@dataclass(frozen=True)
class LabelRows:
    """A table of names and values under a title."""

    title: str
    rows: tuple[LabelRow, ...]
    folded: bool


def labels_html(holder: Conversation | Message, shown: ShownConversation) -> Markup:
    """The tables of labels of a conversation or of one of its messages; empty if it has none.

    The conversation's own texts are left out, and every text is escaped.
    """
    trusts, side, of_messages = shown.trusts, side_of(shown.conversation), isinstance(holder, Message)
    own_labels = label_keys(holder, trusts.annotated)
    score_texts, of_scores = _scores(own_labels)
    scores = [LabelRow(name.replace("_", " "), text, trusts.of_score(side, name)) for name, text in score_texts]
    rows = tuple(
        LabelRow(name, text, trusts.of_label(side, label.key, label.part, of_messages=of_messages))
        for label in (*(label for label in shown.labels(holder) if label.key != SCORES), *of_scores)
        for name, text in _label_rows(label)
    )
    tables = [LabelRows("labels", rows, len(rows) > AT_ONCE)] if rows else []
    beside = _beside(holder, own_labels)
    if rows := tuple(
        LabelRow(" ".join(filter(None, path)).replace("_", " "), text, None) for path, text in _rows(beside)
    ):
        perhaps = any(key not in NO_LABELS for key in beside)  # keys that no reader knows: some may be labels
        hint = f" (if any is a label: {NOT_CALIBRATED})" if perhaps else ""
        tables.append(LabelRows(f"from the source{hint}", rows, folded=True))
    source_turns = _turns_of_source(holder) if isinstance(holder, Conversation) else ()
    legend = (
        LEGEND
        if shown.legend
        and isinstance(holder, Conversation)
        and (scores or any(r.trust for t in tables for r in t.rows))
        else ""
    )
    if not (scores or tables or source_turns):
        return Markup()
    return Markup(render("labels.html", scores=scores, tables=tables, asides=source_turns, legend=legend))


def _scores(labels: Mapping[str, Any]) -> tuple[list[tuple[str, str]], list[Label]]:
    """Name of each score with its value and reason as one text, and what else stands among the scores."""
    texts: list[tuple[str, str]] = []
    others: list[Label] = []
    scores = labels.get(SCORES)
    if not isinstance(scores, Mapping):
        return texts, [*read(SCORES, scores)]
    for name, score in scores.items():
        if not isinstance(score, Mapping) or not {"value", "error"} & set(score):
            others.append(Label(SCORES, name, score))
            continue
        error = score.get("error") and f"failed: {score['error']}"
        words = (_text(score.get("value")), error, _text(score.get("reason")), *_texts(score.get("frames", [])))
        texts.append((name, ": ".join(filter(None, words)) or "no score"))
        if more := {key: value for key, value in score.items() if key not in ("value", "error", "reason", "frames")}:
            others.append(Label(SCORES, name, more))
    return texts, others


def _label_rows(label: Label) -> Iterator[tuple[str, str]]:
    """Name and value of each row of a label.

    The first rows hold the result of the votes, or that it is a tie; the votes follow, except a single vote of the same
    value.
    """
    value_rows = list(_rows({label.part: label.value}))
    votes = [(number, text) for number, vote in enumerate(label.votes, start=1) for text in _texts(vote)]
    if value_rows:
        yield from ((_named((label.key, *path)), text) for path, text in value_rows)
    elif votes:
        yield label.name, "tie"
    if len(label.votes) > 1 or [text for _, text in votes] != [text for _, text in value_rows]:
        yield from ((f"{label.name}, vote {number}", text) for number, text in votes)


def _rows(values: Mapping[str, Any], above: Path = ()) -> Iterator[tuple[Path, str]]:
    """Keys and value of each annotation; of an object a row for each key."""
    for key, value in values.items():
        path = (*above, key)
        if isinstance(value, Mapping):
            yield from _rows(value, path)
        elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
            for number, item in enumerate(value, start=1):
                yield from _rows(item if isinstance(item, Mapping) else {"": item}, (*path, str(number)))
        elif (text := _text(value)) is not None:
            yield path, text


def _texts(value: Any) -> list[str]:
    return [text for _, text in _rows({"": value})]


def _named(path: Path) -> str:
    """The name of a row by its keys, as the command line takes that of a label."""
    key, *rest = path
    return ".".join(filter(None, (label_name(key, rest[0] if rest else ""), *rest[1:])))


def _text(value: Any) -> str | None:
    """A value in words; None for nothing."""
    if isinstance(value, list):
        texts = [text for item in value if (text := _text(item)) is not None]
        return ", ".join(texts) or None
    if isinstance(value, bool):
        return "yes" if value else "no"
    return None if value is None or value == "" else str(value)


def _beside(holder: Conversation | Message, labels: Mapping[str, Any]) -> dict[str, Any]:
    """Further keys of the source, without those that are labels already."""
    patches = [patch.get("values") for patch in holder.extra.values() if isinstance(patch, dict)]
    further = {key: value for values in patches if isinstance(values, dict) for key, value in values.items()}
    return {key: value for key, value in further.items() if key not in _OF_FORM and key not in labels}


def _turns_of_source(conversation: Conversation) -> tuple[tuple[str, Any], ...]:
    """Name and content of each turn of the source without a role: instructions, calls and results of tools."""
    contents: list[tuple[str, Any]] = []
    for aside in asides(conversation):
        if isinstance(text := aside.get("system"), str):
            contents.append(("instruction", text))
            continue
        turn = next((value for value in aside.values() if isinstance(value, dict)), {})
        content = turn.get("tool_calls") or turn.get("function_call") or turn.get("content") or turn.get("value")
        contents.append((str(turn.get("name") or turn.get("role") or turn.get("from") or "tool"), content or ""))
    return tuple(contents)
