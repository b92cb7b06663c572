"""Rows as Hugging Face's `datasets` has them: of QuAC a conversation each (read and written), of SQuAD 2 a question each.

The columns are those of `quac` and `squad_v2` there; QuAC's labels of a turn (followup, yesno) are null where the data
has none.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, count, groupby
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..files.json import elements, write_lines
from ..formats.source import Format
from ..grounding import MARKER
from ..records import Conversation, Span, as_object
from .dataset import from_object, paragraph_of
from .topics import ENDING, Topic

LABELS: Mapping[str, tuple[str, ...]] = {"followup": ("y", "n", "m"), "yesno": ("y", "n", "x")}
"""A QuAC teacher's labels of a turn: whether to ask on (yes, no, maybe), and the kind of answer (yes, no, neither)."""

_ABOUT = {"title": "wikipedia_page_title", "section_title": "section_title", "background": "background"}
"""By key of QuAC's JSON the column of its rows."""
_COLUMNS = ("dialogue_id", *_ABOUT.values(), "context")
_OF_TURNS = ("questions", "turn_ids", "followups", "yesnos")


def _paragraphs(
    conversations: Iterable[Conversation], left_out: list[str]
) -> Iterator[tuple[Topic, str, dict[str, Any]]]:
    first = 1
    for conversation in conversations:
        paragraph = paragraph_of(conversation, first, left_out)
        first += len(paragraph.get("qas", []))
        name = paragraph.get("id")
        yield Topic.of(conversation), name if isinstance(name, str) else conversation.id, paragraph


def _answers(qa: Mapping[str, Any], section: str) -> tuple[list[Span], Span]:
    """The references, or the spans of one answer; and the answer that the source marks as the original one, else the first."""
    listed, marked = qa.get("answers"), _span(qa.get("orig_answer"))
    answers = [span for value in listed if (span := _span(value))] if isinstance(listed, list) else []
    answers = answers or [marked or Span(text=MARKER, start=len(section) + 1)]
    return answers, marked or answers[0]


def _span(value: Any) -> Span | None:
    text, start = as_object(value).get("text"), as_object(value).get("answer_start")
    return Span(text=text, start=start) if isinstance(text, str) and type(start) is int else None


def write_squad_v2(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write a row for each question, as JSON lines; gives a line for each thing that rows cannot hold.

    The context is the section, without CANNOTANSWER. A question has no answer where at least half of its references
    refuse, else those that do not are its answers. An id that occurs twice gets a number.
    """
    left_out = list[str]()
    seen: set[str] = set()

    def rows() -> Iterator[dict[str, Any]]:
        for topic, _, paragraph in _paragraphs(conversations, left_out):
            for qa in paragraph.get("qas", []):
                names = chain([str(qa.get("id"))], (f"{qa.get('id')}-{number}" for number in count(2)))
                name = next(name for name in names if name not in seen)
                seen.add(name)
                listed, original = _answers(qa, topic.section)
                references = listed if original in listed else [original, *listed]
                spans = [span for span in references if span.text != MARKER]
                spans = spans if 2 * len(spans) > len(references) else []
                answers = {"text": [span.text for span in spans], "answer_start": [span.start for span in spans]}
                row = {"id": name, "title": topic.title, "context": topic.section, "question": str(qa.get("question"))}
                yield row | {"answers": answers}

    write_lines(path, rows())
    lost = (
        "which questions are one conversation, titles and backgrounds of sections, labels of turns, outvoted references"
    )
    return [lost] * bool(seen) + left_out


def write_quac(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write a row for each conversation, as JSON lines; gives a line for each thing that rows cannot hold."""
    left_out, lost = list[str](), dict[str, None]()

    def rows() -> Iterator[dict[str, Any]]:
        for topic, name, paragraph in _paragraphs(conversations, left_out):
            qas = paragraph.get("qas", [])
            answers = [_answers(qa, topic.section) for qa in qas]
            labels = {key: [qa[key] if qa.get(key) in of else None for qa in qas] for key, of in LABELS.items()}
            read_as_spans = not any(map(any, labels.values())) and all(one == listed[0] for listed, one in answers)
            if read_as_spans and any(_span(qa.get("orig_answer")) and len(qa["answers"]) > 1 for qa in qas):
                lost["that an answer is a reference of its own and no further span"] = None
            if any(not isinstance(qa.get("id"), str) for qa in qas):
                lost["that ids of questions are numbers"] = None
            yield {
                "dialogue_id": name,
                "wikipedia_page_title": topic.title,
                "background": topic.background,
                "section_title": topic.header,
                "context": str(paragraph.get("context", topic.section + ENDING)),
                "turn_ids": [str(qa.get("id")) for qa in qas],
                "questions": [str(qa.get("question")) for qa in qas],
                **{f"{label}s": values for label, values in labels.items()},
                "answers": {
                    "texts": [[span.text for span in listed] for listed, _ in answers],
                    "answer_starts": [[span.start for span in listed] for listed, _ in answers],
                },
                "orig_answers": {
                    "texts": [original.text for _, original in answers],
                    "answer_starts": [original.start for _, original in answers],
                },
            }

    write_lines(path, rows())
    return [*lost, *left_out]


def read_quac(path: str | Path) -> list[Conversation]:
    """The conversations of rows of QuAC, in order; DataError names a broken row.

    Labels may be texts or the numbers of `datasets`. Where a row has a label, or an original answer that is not the first
    one, the answers of a question are references, as in QuAC's own files. Else they are the spans of one answer, as in
    SimQuAC's files.
    """
    rows: list[dict[str, Any]] = []
    for place, value in elements(path):
        try:
            rows.append(_article(as_object(value)))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            problem = f"{error} is missing" if isinstance(error, KeyError) else f"is no row of QuAC ({error})"
            raise DataError(
                f"{at(path, place)}: {problem}: a row has {', '.join((*_COLUMNS, *_OF_TURNS))}, answers, orig_answers"
            ) from None
    articles: list[dict[str, Any]] = []
    for own, group in groupby(rows, lambda article: "title" in article):
        joined = list(group)
        articles += joined if own else [{"paragraphs": [one for article in joined for one in article["paragraphs"]]}]
    return from_object({"data": articles}, path)


def _article(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row as an article of QuAC's own layout if it has references, else of SimQuAC's, with all in the paragraph.

    KeyError, TypeError or ValueError if questions, ids, labels and answers are missing or do not fit together.
    """
    if odd := [key for key in _COLUMNS if not isinstance(row[key], str)]:
        raise TypeError(f"{odd[0]!r} is not a text")
    listed, original = row["answers"], row["orig_answers"]
    if isinstance(listed, list):  # `datasets` may give a list of objects for an object of lists
        listed = {key: [one[key] for one in listed] for key in ("texts", "answer_starts")}
    columns: list[Any] = [row[key] for key in _OF_TURNS]
    columns += [holder[key] for holder in (original, listed) for key in ("texts", "answer_starts")]
    if not all(isinstance(column, list) for column in columns):
        raise TypeError("a column of the turns is not a list")
    qas: list[dict[str, Any]] = []
    for question, name, followup, yesno, text, start, texts, starts in zip(*columns, strict=True):
        if not (isinstance(question, str) and isinstance(name, str) and texts):
            raise TypeError("a question or its id is not a text, or it has no answer")
        labels = {"followup": _label(followup, "followup"), "yesno": _label(yesno, "yesno")}
        answers = [_written(*pair) for pair in zip(texts, starts, strict=True)]
        qas.append(
            {**labels, "question": question, "answers": answers, "id": name, "orig_answer": _written(text, start)}
        )
    about = {key: row[column] for key, column in _ABOUT.items()}
    if any(qa["orig_answer"] != qa["answers"][0] or any(qa[label] is not None for label in LABELS) for qa in qas):
        own = [{key: value for key, value in qa.items() if value is not None} for qa in qas]
        paragraph = {"context": row["context"], "id": row["dialogue_id"], "qas": own}
        return {**dict(sorted(about.items())), "paragraphs": [paragraph]}
    for qa in qas:
        refuses = [answer["text"] for answer in qa["answers"]] == [MARKER]
        qa["is_impossible"] = refuses
    keys = ("question", "id", "answers", "is_impossible")
    plain = [{key: qa[key] for key in keys} for qa in qas]
    return {"paragraphs": [{"context": row["context"], **about, "qas": plain}]}


def _label(value: Any, label: str) -> str | None:
    """A label as a text; None for none, which `datasets` may write as -1."""
    if value is None or value == -1:
        return None
    names = LABELS[label]
    name = names[value] if isinstance(value, int) and 0 <= value < len(names) else value
    if name not in names:
        raise ValueError(f"{value!r} is not one of the labels {', '.join(names)}")
    return str(name)


def _written(text: Any, start: Any) -> dict[str, Any]:
    if not isinstance(text, str) or type(start) is not int:
        raise TypeError("an answer is not a text with the whole number at which it starts")
    return {"text": text, "answer_start": start}


FORMATS = (
    Format(
        "quac",
        "rows of QuAC, as `datasets` has them",
        lambda source: as_object(source.first).keys() >= {"dialogue_id", "context", "questions", "answers"},
        read_quac,
        write_quac,
    ),
    Format("squad_v2", "rows of SQuAD 2, which are only written", lambda source: False, read_quac, write_squad_v2),
)
