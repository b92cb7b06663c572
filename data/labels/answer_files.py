"""People's answers in other programs' forms: CSV, JSON lines, Label Studio's JSON."""

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
from ..records import Conversation
from .definition import LabelDefinition, PartDefinition
from .items import LabelAnswer, LabelKey
from .side_by_side import ONBOARDING, STUDY, is_asked

MOST_BYTES = 500_000_000
"""Most bytes of a file of answers."""

_HEAD = ("by", "label", "conversation", "message", "path", "model_shown", "chosen_by", "seen")
_OF_TASK = ("label", "conversation", "message", "path", "seen")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What a spreadsheet takes for the begin of a formula."""
_OF_STUDY = (STUDY, ONBOARDING)
"""Labels that stand on no page: each conversation of a study has its own."""
_WORDS = PartDefinition(text=True)
_YES_OR_NO = ("true", "false")


def write(
    answers: Sequence[LabelAnswer],
    path: Path,
    labels: Mapping[str, LabelDefinition],
    conversations: Mapping[str, Conversation],
) -> None:
    """Write answers in the form that the file's name ends with: `.csv`, `.jsonl`, or `.json` for Label Studio.

    SettingError for another ending.
    """
    forms: dict[str, Callable[[], str]] = {
        ".csv": lambda: _csv(answers),
        ".jsonl": lambda: "".join(dumps(answer.plain()) + "\n" for answer in answers),
        ".json": lambda: dumps(_tasks(answers, labels, conversations)) + "\n",
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
        ".json": lambda: _of_tasks(json.loads(text)),
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
    """A word from a cell or another program's form that may stand for a number, yes, or a list."""


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


def _tasks(
    answers: Sequence[LabelAnswer], labels: Mapping[str, LabelDefinition], conversations: Mapping[str, Conversation]
) -> list[dict[str, Any]]:
    """Label Studio's tasks: one for each labelled thing, with an annotation of each person."""
    tasks: dict[tuple[LabelKey, str], dict[str, Any]] = {}
    for answer in answers:
        conversation = conversations.get(answer.conversation)
        messages = conversation.messages if conversation is not None else ()
        what = {name: value for name, value in answer.model_dump().items() if name in _OF_TASK}
        dialogue = [{"author": message.role, "text": message.text} for message in messages]
        task = tasks.setdefault((answer.key, answer.seen), {"data": {**what, "dialogue": dialogue}, "annotations": []})
        label = labels.get(answer.label)
        results = [_result(name, value, label) for name, value in answer.value.items() if value is not None]
        shown: dict[str, Any] = {"model_shown": True} if answer.model_shown else {}
        shown |= {"chosen_by": answer.chosen_by} if answer.chosen_by else {}
        task["annotations"].append({"completed_by": {"email": answer.by}, **shown, "result": results})
    return [{"id": number, **task} for number, task in enumerate(tasks.values(), start=1)]


def _result(name: str, value: Any, label: LabelDefinition | None) -> dict[str, Any]:
    part = None if label is None else label.parts.get(name)
    if part.text if part is not None else name == "why":
        body: dict[str, Any] = {"type": "textarea", "value": {"text": [value]}}
    elif isinstance(value, int) and not isinstance(value, bool):  # stars begin at 1
        kind = "rating" if part is not None and part.scale is not None and part.scale[0] > 0 else "number"
        body = {"type": kind, "value": {kind: value}}
    else:
        values = value if isinstance(value, list) else [value]
        body = {"type": "choices", "value": {"choices": [json.dumps(one) if isinstance(one, bool) else str(one) for one in values]}}  # fmt: skip
    return {"from_name": name, "to_name": "dialogue", **body}


def _of_tasks(tasks: Any) -> Iterable[dict[str, Any]]:
    if not isinstance(tasks, list):
        raise DataError("the file holds no list of tasks: export as JSON in Label Studio")
    for number, task in enumerate(tasks, start=1):
        if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
            raise DataError(f"task {number} has no 'data': export as JSON in Label Studio, not as JSON-MIN")
        data = task["data"]
        for annotation in task.get("annotations") or []:
            if not isinstance(annotation, dict) or annotation.get("was_cancelled"):
                continue
            by = _person(annotation.get("completed_by"))
            head = {name: data[name] for name in _OF_TASK if data.get(name) is not None}
            if annotation.get("model_shown") is True:
                head["model_shown"] = True
            if annotation.get("chosen_by"):
                head["chosen_by"] = annotation["chosen_by"]
            results = [entry for entry in annotation.get("result") or [] if isinstance(entry, dict)]
            value = {str(entry.get("from_name")): _result_value(entry) for entry in results}
            yield {**head, **({"by": by} if by else {}), "value": value}


def _person(who: Any) -> str | None:
    """A person of Label Studio: an address, a name or a number, as the export has them."""
    if isinstance(who, dict):
        who = next((who[key] for key in ("email", "username", "id") if who.get(key)), None)
    return None if who is None else str(who)


def _result_value(result: Mapping[str, Any]) -> Any:
    value = result.get("value")
    if not isinstance(value, Mapping):
        return None
    for kind in ("rating", "number"):
        if kind in value:
            number = value[kind]
            return int(number) if isinstance(number, float) and number.is_integer() else number
    chosen = value.get("choices") or value.get("text") or []
    values = [_Cell(one) if isinstance(one, str) else one for one in (chosen if isinstance(chosen, list) else [chosen])]
    return values[0] if len(values) == 1 else values
