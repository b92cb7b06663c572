"""Rows of QuAC as Hugging Face's `datasets` has them, read; and both formats of rows for the registry."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from ...errors import DataError, at, first_invalid
from ..files.json_values import elements
from ..formats.detection import Format, Source
from ..grounding import MARKER
from ..records import Conversation, Record, as_object
from .dataset import from_object
from .row_writers import LABELS, QUAC_FEATURES, write_quac, write_squad_v2


def read_quac(path: str | Path) -> list[Conversation]:
    """The conversations of rows of QuAC, in order; DataError names a broken row.

    Labels may be texts or the numbers of `datasets`. The row may have a label, or an original answer that is not the
    first one. The answers of its question are then references, as in QuAC's own files. Else they are the spans of one
    answer, as in SimQuAC's files.
    """
    row_articles = [_article(value, path, place) for place, value in elements(path)]
    articles: list[dict[str, Any]] = []
    for own, group in groupby(row_articles, lambda article: "title" in article):
        joined = list(group)
        paragraphs = [paragraph for article in joined for paragraph in article["paragraphs"]]
        articles += joined if own else [{"paragraphs": paragraphs}]
    return from_object({"data": articles}, path)


class _Answers(Record):
    texts: tuple[tuple[str, ...], ...]
    answer_starts: tuple[tuple[int, ...], ...]

    @model_validator(mode="before")
    @classmethod
    def _of_a_list(cls, value: Any) -> Any:
        """An object of lists; `datasets` may also have a list of objects."""
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            return value
        return {key: [item.get(key) for item in value] for key in cls.model_fields}


class _Originals(Record):
    texts: tuple[str, ...]
    answer_starts: tuple[int, ...]


class _Row(BaseModel):
    """A row of QuAC; further columns are passed over."""

    model_config = ConfigDict(strict=True, extra="ignore")

    dialogue_id: str
    wikipedia_page_title: str
    background: str
    section_title: str
    context: str
    turn_ids: list[str]
    questions: list[str]
    followups: list[str | int | None]
    yesnos: list[str | int | None]
    answers: _Answers
    orig_answers: _Originals

    def article(self) -> dict[str, Any]:
        """An article of QuAC's own layout if the row has references, else of SimQuAC's, with all in the paragraph.

        ValueError if questions, ids, labels and answers do not fit together.
        """
        columns = (self.followups, self.yesnos, self.answers.texts, self.answers.answer_starts)
        originals = (self.orig_answers.texts, self.orig_answers.answer_starts)
        if {len(column) for column in (*columns, *originals, self.turn_ids)} - {len(self.questions)}:
            raise ValueError("questions, ids, labels and answers are not as many")
        qas: list[dict[str, Any]] = []
        for number, (name, question) in enumerate(zip(self.turn_ids, self.questions, strict=True)):
            texts, starts = self.answers.texts[number], self.answers.answer_starts[number]
            if not texts or len(texts) != len(starts):
                raise ValueError(f"question {number} has no answer, or not as many texts as starts")
            labels = {
                label: _label(value, names)
                for (label, names), value in zip(
                    LABELS.items(), (self.followups[number], self.yesnos[number]), strict=True
                )
            }
            original = _written(originals[0][number], originals[1][number])
            answers = list(map(_written, texts, starts))
            qas.append({**labels, "question": question, "answers": answers, "id": name, "orig_answer": original})
        about = {"background": self.background, "section_title": self.section_title, "title": self.wikipedia_page_title}
        if any(qa["orig_answer"] != qa["answers"][0] or any(qa[label] is not None for label in LABELS) for qa in qas):
            own = [{key: value for key, value in qa.items() if value is not None} for qa in qas]
            return {**about, "paragraphs": [{"context": self.context, "id": self.dialogue_id, "qas": own}]}
        plain = [
            {
                **{key: qa[key] for key in ("question", "id", "answers")},
                "is_impossible": [answer["text"] for answer in qa["answers"]] == [MARKER],
            }
            for qa in qas
        ]
        ordered = {key: about[key] for key in ("title", "section_title", "background")}
        return {"paragraphs": [{"context": self.context, **ordered, "qas": plain}]}


def _label(value: str | int | None, names: Sequence[str]) -> str | None:
    """A label as a text; None for none, which `datasets` may write as -1."""
    if value is None or value == -1:
        return None
    name = value if isinstance(value, str) else dict(enumerate(names)).get(value)
    if name not in names:
        raise ValueError(f"{value!r} is not one of the labels {', '.join(names)}")
    return name


def _written(text: str, start: int) -> dict[str, Any]:
    return {"text": text, "answer_start": start}


def _article(value: Any, path: str | Path, place: str) -> dict[str, Any]:
    try:
        return _Row.model_validate(value).article()
    except ValidationError as error:
        first = first_invalid(error)
        problem = "is missing" if first.type == "missing" else "has another type than in QuAC"
        problem = f"{first.path or 'it'!r} {problem}"
    except ValueError as error:
        problem = str(error)
    raise DataError(f"{at(path, place)}: {problem}: a row of QuAC has {', '.join(QUAC_FEATURES)}")


def _holds_quac(source: Source) -> bool:
    return as_object(source.first).keys() >= {"dialogue_id", "context", "questions", "answers"}


def _holds_squad(source: Source) -> bool:
    first = as_object(source.first)
    return first.keys() >= {"context", "question"} and isinstance(first.get("answers"), dict)


def _no_conversations(path: Path) -> list[Conversation]:
    raise DataError(
        f"{at(path)}: is rows of SQuAD 2, which do not group questions into conversations: "
        "give the file that they were written from, or rows of QuAC"
    )


FORMATS = (
    Format(
        "quac",
        "rows of QuAC, as `datasets` has them",
        _holds_quac,
        read_quac,
        write_quac,
        sign="`dialogue_id`, `context`, `questions` and `answers`",
    ),
    Format(
        "squad_v2",
        "rows of SQuAD 2, as `datasets` has them",
        _holds_squad,
        _no_conversations,
        write_squad_v2,
        sign="`context`, `question`, and `answers` as an object",
    ),
)
