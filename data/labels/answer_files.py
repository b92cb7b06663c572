"""People's answers in files: CSV and JSON lines."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ...errors import DataError, SettingError, at, first_invalid
from ..files.json_files import dumps, write_text
from ..files.regular_files import content
from .definition import LabelDefinition, PartDefinition
from .items import LabelAnswer
from .side_by_side import QUIZ, STUDY, is_asked

MOST_BYTES = 500_000_000
"""Most bytes of a file of answers."""

_HEAD = ("by", "label", "conversation", "message", "path", "model_shown", "chosen_by", "seen")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What a spreadsheet takes for the begin of a formula."""
_OF_STUDY = (STUDY, QUIZ)
"""Labels that stand on no page: the quiz, and the label of each conversation of a study."""
_WORDS = PartDefinition(text=True)
_YES_OR_NO = ("true", "false")


def write(answers: Sequence[LabelAnswer], path: Path) -> None:
    """Write answers in the form that the file's name ends with: `.csv` or `.jsonl`.

    SettingError for another ending.
    """
    forms: dict[str, Callable[[], str]] = {
        ".csv": lambda: _csv(answers),
        ".jsonl": lambda: "".join(dumps(answer.plain()) + "\n" for answer in answers),
    }
    write_text(path, _of_ending(path, forms)())


def read(path: Path, by: str, labels: Mapping[str, LabelDefinition] | None = None) -> list[LabelAnswer]:
    """The answers in a file of such a form.

    `by`: the person, where the file does not name one; `labels`: definitions by which cells are read as texts, lists or
    numbers. DataError names the broken row in one line.
    """
    text = content(path, MOST_BYTES).decode("utf-8-sig", "replace")
    forms: dict[str, Callable[[], Iterable[Any]]] = {
        ".csv": lambda: _rows(text),
        ".jsonl": lambda: map(json.loads, filter(str.strip, text.split("\n"))),
    }
    reading = _of_ending(path, forms)
    answers: list[LabelAnswer] = []
    try:
        for number, row in enumerate(reading(), start=1):
            answers.append(_answer(row, by, at(path, f"answer {number}"), labels or {}))
    except DataError:
        raise
    except (ValueError, csv.Error, RecursionError) as error:
        raise DataError(f"{path}: cannot be read ({error}): give a file of this form, whole") from None
    return answers


def _of_ending(path: Path, forms: Mapping[str, Any]) -> Any:
    if path.suffix not in forms:
        raise SettingError(f"{path}: ends with none of {', '.join(forms)}: name the file by its form")
    return forms[path.suffix]


def _answer(row: Any, by: str, where: str, labels: Mapping[str, LabelDefinition]) -> LabelAnswer:
    if not isinstance(row, Mapping):
        raise DataError(f"{where}: is not an object: give label, conversation and value")
    if row.get("label") is None and len(labels) == 1:  # one label was asked for: what else could it be
        row = {**row, "label": next(iter(labels))}
    if missing := [name for name in ("label", "conversation") if not row.get(name)]:
        raise DataError(f"{where}: {missing[0]} is missing: name what the answer is about")
    label, value = labels.get(str(row.get("label"))), row.get("value")
    if isinstance(value, Mapping):
        parts = {} if label is None else dict(label.parts)
        if row.get("label") in _OF_STUDY:
            parts = {name: _WORDS for name in map(str, value) if is_asked(name)}
        row = {**row, "value": {name: _typed(entry, parts.get(str(name))) for name, entry in value.items()}}
    try:
        return LabelAnswer.model_validate({"by": by, **row})
    except ValidationError as error:
        first = first_invalid(error)
        raise DataError(f"{where}: {first.path}: {first.message}: mend it") from None


def _csv(answers: Sequence[LabelAnswer]) -> str:
    """A row for each answer: who and what, then a column for each part.

    Lists are joined by ` | `.
    """
    parts = list(dict.fromkeys(name for answer in answers for name in answer.value))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    columns = [name for name in _HEAD if name != "chosen_by" or any(answer.chosen_by for answer in answers)]
    writer.writerow([*columns, *map(_cell, map(_column, parts))])
    for answer in answers:
        fields = answer.model_dump()
        head = [fields[name] for name in columns]
        writer.writerow([_cell(value) for value in (*head, *(answer.value.get(name) for name in parts))])
    return out.getvalue()


def _column(part: str) -> str:
    """The column of a part: its name, unless that is another column's."""
    return f"value.{part}" if part in _HEAD or part.startswith("value.") else part


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = " | ".join(map(_word, value)) if isinstance(value, list) else _word(value)
    return f"'{text}" if text.lstrip("'").startswith(_FORMULA) else text


def _word(value: Any) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)


def _rows(text: str) -> Iterable[dict[str, Any]]:
    names = text.partition("\n")[0]
    separator = max(",;\t", key=names.count)  # a spreadsheet of another country separates by semicolons
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator)
    for row in reader:
        cells = {_uncell(key): _uncell(cell) for key, cell in row.items() if key is not None and isinstance(cell, str)}
        head: dict[str, Any] = {name: cells.pop(name) for name in _HEAD if cells.get(name)}
        if "message" in head:
            head["message"] = _value(head["message"])
        value = {name.removeprefix("value."): _Cell(cell) for name, cell in cells.items() if cell and name not in _HEAD}
        yield {**head, "value": value}


class _Cell(str):
    """A word from a cell that may stand for a number, yes, or a list."""


def _typed(value: Any, part: PartDefinition | None) -> Any:
    """The value that is meant: a text stays one; of several values even one alone is a list."""
    several = part is not None and part.several is not None
    if isinstance(value, _Cell) and (several or (part is None and " | " in value)):
        value = [_Cell(word) for word in value.split(" | ")]
    if isinstance(value, list):
        words = [_typed(one, part and part.model_copy(update={"several": None})) for one in value]
        return words[0] if len(words) == 1 and part is not None and not several else words
    if not isinstance(value, _Cell):
        return value
    return str(value) if part is not None and (part.text or value in part.values) else _value(value)


def _uncell(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(_FORMULA) else cell


def _value(cell: str) -> Any:
    if cell.lower() in _YES_OR_NO:  # a spreadsheet writes TRUE
        return cell.lower() == "true"
    number = cell.removeprefix("-")
    return int(cell) if number.isascii() and number.isdecimal() and len(number) < 10 else str(cell)
