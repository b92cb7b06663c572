"""Labels, scores, answers to questions afterwards, and further keys of the source, as tables beside their subject."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from markupsafe import Markup

from ..analysis.faults import SUCCESS
from ..data.domains import NO_LABELS
from ..data.formats.messages import asides, further
from ..data.labels.reading import FACTS, REMARKS, label_name, labels_in, values_of
from ..data.records import SCORES, Conversation, Label, Message
from .pages import render

Path: TypeAlias = tuple[str, ...]
"""Keys that lead to a value."""

AT_ONCE = 6
"""Rows that are shown at once; a longer table is folded."""
LONGEST = 60
"""Characters of a value beyond which it is a text, by which no list is filtered."""
_OF_FORM = ("role", "content", "from", "value", "id", "messages", "conversations", "labels")
"""Keys that the page shows already, as text, side or label."""
_SAID = ("value", "error", "reason", "frames", "broken")
"""Keys of a score that are shown as one text: what broke is in its reason."""


class LabelRow(NamedTuple):
    """One name with its value, and who gave it; empty where that is not known."""

    name: str
    value: str
    who: str = ""


class LabelTable(NamedTuple):
    """A table of names and values under a title."""

    title: str
    rows: tuple[LabelRow, ...]
    folded: bool


def labels_html(holder: Conversation | Message) -> Markup:
    """The tables of labels of a conversation or of one of its messages; empty if it has none.

    The conversation's own texts are left out, and every text is escaped.
    """
    scores, of_scores = _scores(holder.scores) if isinstance(holder, Conversation) else ([], [])
    labels = (*(label for label in labels_in(holder) if label[0] != SCORES), *of_scores)
    rows = tuple(LabelRow(name, text, _who(label[2])) for label in labels for name, text in _label_rows(*label))
    tables = [LabelTable("labels", rows, len(rows) > AT_ONCE)] if rows else []
    beside = _beside(holder)
    further = (LabelRow(" ".join(filter(None, path)).replace("_", " "), text) for path, text in _rows(beside))
    if rows := tuple(further):
        hint = " (some may be labels)" if any(key not in NO_LABELS for key in beside) else ""
        tables.append(LabelTable(f"from the source{hint}", rows, folded=True))
    of_source = _turns_of_source(holder) if isinstance(holder, Conversation) else ()
    if not (scores or tables or of_source):
        return Markup()
    return Markup(render("labels.html", scores=scores, tables=tables, asides=of_source))


def choices_of(conversation: Conversation) -> dict[str, list[str]]:
    """The values of each label of the conversation and of its messages by the label's name, for the filter of a list.

    The success is left out, which a list shows itself, and so are long texts.
    """
    found: dict[str, list[str]] = {}
    holders: tuple[Conversation | Message, ...] = (conversation, *conversation.messages)
    for holder in holders:
        for name, part, label in labels_in(holder):
            if part in REMARKS or name in FACTS or (name, part) == (SCORES, SUCCESS):
                continue
            of_label = found.setdefault(label_name(name, part), [])
            for text in _shown_values(label.value):
                if len(text) <= LONGEST and text not in of_label:
                    of_label.append(text)
    return {name: texts for name, texts in found.items() if texts}


def _shown_values(value: Any) -> list[str]:
    """The values as the data writes them; none where nobody judged."""
    values = value if isinstance(value, list) else [value]
    return [" ".join((_text(item) or "").split()) for item in values if values_of(item)]


def _who(label: Label) -> str:
    """Who gave a label; votes of one model have a number each."""
    return ", ".join(dict.fromkeys(one.partition(" #")[0] for one in label.by))


def _scores(scores: Mapping[str, Any]) -> tuple[list[tuple[str, str]], list[tuple[str, str, Label]]]:
    """Name of each score with its value and reason as one text, and what else stands among the scores."""
    texts: list[tuple[str, str]] = []
    others: list[tuple[str, str, Label]] = []
    for name, score in scores.items():
        if not isinstance(score, Mapping) or not {"value", "error"} & set(score):
            others.append((SCORES, name, Label(value=score)))
            continue
        error = score.get("error") and f"failed: {score['error']}"
        frames = (text for _, text in _rows({"": score.get("frames", [])}))
        words = (_text(score.get("value")), error, _text(score.get("reason")), *frames)
        texts.append((name.replace("_", " "), ": ".join(filter(None, words)) or "no score"))
        if more := {key: value for key, value in score.items() if key not in _SAID}:
            others.append((SCORES, name, Label(value=more)))
    return texts, others


def _label_rows(name: str, part: str, label: Label) -> Iterator[tuple[str, str]]:
    """Name and value of each row of a label: the result of the votes, or that it is a tie; then the votes, if they say more."""
    value_rows = list(_rows({part: label.value}))
    votes = [(number, text) for number, vote in enumerate(label.votes, start=1) for _, text in _rows({"": vote})]
    if value_rows:
        yield from ((".".join(filter(None, (name, *path))), text) for path, text in value_rows)
    elif votes:
        yield label_name(name, part), "tie"
    if len(label.votes) > 1 or [text for _, text in votes] != [text for _, text in value_rows]:
        yield from ((f"{label_name(name, part)}, vote {number}", text) for number, text in votes)


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


def _text(value: Any) -> str | None:
    """A value in words; None for nothing."""
    if isinstance(value, list):
        return ", ".join(text for item in value if (text := _text(item)) is not None) or None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return None if value is None or value == "" else str(value)


def _beside(holder: Conversation | Message) -> dict[str, Any]:
    """Further keys of the source, without those that are labels already."""
    values = further(holder) if isinstance(holder, Conversation) else holder.extra
    return {key: value for key, value in values.items() if key not in _OF_FORM and key not in holder.labels}


def _turns_of_source(conversation: Conversation) -> tuple[tuple[str, Any], ...]:
    """Name and text of each instruction of the source."""
    return tuple(("instruction", aside.get("system")) for aside in asides(conversation))
