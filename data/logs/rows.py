"""Rows of a question and its answer, and tables of messages: JSON, CSV, Parquet.

QReCC and TopiOCQA have `Question`, `Answer` or `Truth_answer`, `Conversation_no` and `Turn_no`; data for fine-tuning
`instruction`, `prompt`, `query` or `question` beside the answer. A table has these columns, or lists of messages, or one of
roles and one of texts, and perhaps the conversation's id and the time.
"""

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..files.json import STRICT, Broken, elements
from ..files.tables import PARQUET, Row, header_of, parquet_rows, text_rows
from ..formats.messages import Line, conversations
from ..formats.source import ConversationStream, Format, Source
from ..formats.turns import Turn, turns_of
from ..records import is_object
from . import dialogues
from .dialogues import CONVERSATIONS, SPEAKERS, TEXTS, TIMES, first_of, identifier, in_time, oldest_first

ANSWERS: Mapping[str, tuple[str, ...]] = {
    "Question": ("Answer", "Truth_answer"),
    "instruction": ("output", "response"),
    "query": ("response", "answer"),
    "prompt": ("completion", "response"),
    "question": ("answer", "response"),
    "message": ("reply", "answer"),
    "问题": ("回答", "答案", "回复"),
    "指令": ("输出", "回答", "回复"),
    "用户": ("助手", "客服", "机器人"),
}
"""Columns of questions, each with the columns in which its answer may stand."""
NUMBERS = ("Conversation_no", "Turn_no")
"""Columns of QReCC and TopiOCQA: the number of the conversation, and that of the question in it."""
CELLS = ("content", *TEXTS, "body")
"""Of a message's text in a table."""

_LISTS = ("messages", "conversations", "conversation", "history", "对话", "消息", "聊天记录")
"""Columns of lists, in JSON or Python's notation."""
_NO_ROW = ("messages", "conversations", "conversation", "turns", "choices", "对话", "消息")
"""Keys of lists that have the answers inside."""
_OF_ROWS = {*ANSWERS, *(name for names in ANSWERS.values() for name in names), "input"}
_KEYS = frozenset((*_OF_ROWS, *CELLS, *CONVERSATIONS, *TIMES, *SPEAKERS, *_LISTS, "system", "id"))
"""Names of columns that have a meaning, in lower case and with underscores."""
_BESIDE = {"instruction": "input", "指令": "输入"}
"""Columns whose text follows that of the question."""
_MOST_NAMED = 12


# --- Questions and answers


def read(path: str | Path, broken: Broken = STRICT) -> ConversationStream:
    """A conversation for each row, or for the rows that name the same one; DataError for a row without a question."""
    return of_rows(path, elements(path, broken), broken)


def of_rows(path: str | Path, rows: Iterable[tuple[str, Any]], broken: Broken = STRICT) -> ConversationStream:
    """The conversations of rows, each with its place in the file."""
    groups: dict[str, list[Line]] = {}
    empty = 0
    for place, row in rows:
        with broken.reading(place):
            if (columns := _columns(row)) is None:
                has = ", ".join(list(row)[:_MOST_NAMED]) if is_object(row) else f"a {type(row).__name__}"
                problem = "is not a question with its answer, as the first row is: give texts; it has"
                raise DataError(f"{at(path, place)}: {problem} {has}")
            turns = _turns(path, place, row, *columns)
            empty += not turns
            if turns:
                name = identifier(row) or str(row.get(NUMBERS[0]) or "")
                groups.setdefault(name or f"\0{place}", []).append(Line(place, turns, row))
    yield from conversations(path, (_joined(name, lines) for name, lines in groups.items()), broken)
    return (f"{empty} row{'s' if empty > 1 else ''} without a text left out",) if empty else ()


def is_row(value: Any) -> bool:
    """Whether an object has a question and an answer, and no list of messages."""
    return _columns(value) is not None


def _columns(row: Any) -> tuple[str, str] | None:
    """The column of the question and that of the answer."""
    if not is_object(row) or any(isinstance(row.get(key), list) for key in _NO_ROW):
        return None
    for question, answers in ANSWERS.items():
        by_role = question == "用户" and any(key in row for key in SPEAKERS)  # which may also hold a name
        if isinstance(row.get(question), str) and not by_role:
            for answer in answers:
                if answer in row and isinstance(row[answer], str | None):
                    return question, answer
    return None


def _turns(path: str | Path, place: str, row: Mapping[str, Any], question: str, answer: str) -> list[Turn]:
    """The turns of a row: what was said before, its question, its answer."""
    listed = row.get("history") or row.get("chat_history")
    pairs = listed if isinstance(listed, list) else []
    if all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        sides = ("user", "assistant")
        turns = [Turn(side, text) for pair in pairs for side, text in zip(sides, pair, strict=True) if text]
    elif len(turns := turns_of(pairs)) < len(pairs):
        problem = "'history' is not a list of pairs of texts, or of messages: write [[question, answer], ...]"
        raise DataError(f"{at(path, place)}: {problem}")
    beside = row.get(_BESIDE.get(question, ""))
    if text := "\n\n".join(part for part in (row[question], beside) if isinstance(part, str) and part):
        turns.append(Turn("user", text))
    return [*turns, *([Turn("assistant", row[answer])] if row[answer] else [])]


def _joined(name: str, lines: list[Line]) -> Line:
    """The rows of a conversation by their numbers, or the oldest first; further keys are those of the first row.

    Those of a further row are those of its question.
    """
    rows = [{**line.further, "": line} for line in lines]
    ordered = in_time(rows, NUMBERS[1]) if NUMBERS[1] in rows[0] else oldest_first(rows)
    turns: list[Turn] = []
    further: dict[str, Any] = {}
    for row in ordered:
        line = row.pop("")
        question, answer = _columns(row) or ("", "")
        taken = {question, answer, _BESIDE.get(question), "history", "chat_history"}
        beside = {key: value for key, value in row.items() if key not in taken and str(value) != name}
        if turns:
            line.turns[0].further = beside
        else:
            further = beside
        turns += line.turns
    if name.startswith("\0"):
        return Line(lines[0].place, turns, further, lines[0].further)
    return Line(lines[0].place, turns, {**further, "id": name})


FORMAT = Format(
    "rows",
    "rows of questions and answers",
    lambda source: is_row(source.first),
    read,
    sign=f"one of {', '.join(ANSWERS)} with an answer",
)


# --- Tables


def read_table(path: str | Path, broken: Broken = STRICT) -> ConversationStream:
    """The conversations of a table; DataError that names its columns if they are not those of messages or answers."""
    parquet = Source(path).begin.startswith(PARQUET)
    placed = parquet_rows(Path(path)) if parquet else text_rows(Path(path))
    rows = [(place, _named(row)) for place, row in placed]
    columns = list(dict.fromkeys(column for _, row in rows for column in row))
    conversations = _of_table(path, rows, columns, broken) if rows else None
    if conversations is None:
        problem = _problem(columns) if rows else "is a table without rows: give one with messages"
        raise DataError(f"{at(path)}: {problem}")
    return (yield from conversations)


def _named(row: Row) -> dict[str, Any]:
    """The row with the names of columns that have a meaning as they are written elsewhere, without empty cells."""
    result: dict[str, Any] = {}
    for column, value in row.items():
        name = re.sub(r"[\s-]+", "_", column.strip().lower())
        key = name if name in _KEYS and name not in result and column not in _OF_ROWS else column
        if key in (*_LISTS, "tool_calls") and isinstance(value, str) and value.lstrip().startswith("["):
            value = _parsed(value)
        if value != "" or key in (*_OF_ROWS, *CELLS):
            result[key] = value
    return result


def _parsed(cell: str) -> Any:
    """The list of a cell, in JSON or in Python's notation, as pandas writes it; else the cell."""
    for parse in (json.loads, ast.literal_eval):
        try:
            value = json.loads(json.dumps(parse(cell), allow_nan=False))
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(value, list) and (not value or any(isinstance(inner, dict | list) for inner in value)):
            return value
    return cell


def _of_table(
    path: str | Path, rows: Sequence[tuple[str, Any]], columns: list[str], broken: Broken
) -> ConversationStream | None:
    """The conversations of rows; None if their columns are not those of any form."""
    first = rows[0][1]
    if is_row(first):
        return of_rows(path, rows, broken)
    if key := next((key for key in _LISTS[:3] if isinstance(first.get(key), list)), ""):
        return _without_notes(conversations(path, (_of_list(place, row, key) for place, row in rows), broken))
    if dialogues.is_dialogue(first):
        return dialogues.of_values(path, rows, broken)
    speaker, text = first_of(SPEAKERS, columns), first_of(CELLS, columns)
    return _of_messages(path, rows, columns, speaker, text, broken) if speaker and text else None


def _without_notes(conversations: Iterator[Any]) -> ConversationStream:
    yield from conversations
    return ()


def _of_list(place: str, row: Mapping[str, Any], key: str) -> Line:
    """A row with a list of messages, of OpenAI's or ShareGPT's form."""
    listed = row.get(key)
    turns = turns_of(listed) if isinstance(listed, list) else []
    return Line(place, turns, {name: value for name, value in row.items() if name != key})


def _of_messages(
    path: str | Path, rows: Sequence[tuple[str, Any]], columns: list[str], speaker: str, text: str, broken: Broken
) -> ConversationStream:
    """The conversations of rows that are messages: by the id that they name, in the order of their times."""
    name, time = first_of(CONVERSATIONS, columns), first_of(TIMES, columns)
    groups: dict[str, tuple[str, list[dict[str, Any]]]] = {}
    for place, row in rows:
        message = {key: value for key, value in row.items() if key != name and value is not None}
        own = groups.setdefault(str(row.get(name, "")), (place, []))[1]
        own.append(message | {text: str(message.get(text, ""))})
    ordered = {own: in_time(messages, time) for own, (_, messages) in groups.items()}
    moved = any(ordered[own] != messages for own, (_, messages) in groups.items())
    if "tool_calls" in columns or "tool_call_id" in columns:  # which a dialogue has not
        lines = [
            Line(place, [turn for one in ordered[own] for turn in _of_row(one, speaker, text)], {"id": own})
            for own, (place, _) in groups.items()
        ]
        notes = yield from _without_notes(conversations(path, lines, broken))
    else:
        values = [(place, {"id": own, "utterances": ordered[own]}) for own, (place, _) in groups.items()]
        notes = yield from dialogues.of_values(path, values, broken)
    notes += (f"messages are in the order of {time!r}",) if moved else ()
    return notes if name else (*notes, "no column names the conversation: all rows are one")


def _of_row(row: Mapping[str, Any], speaker: str, text: str) -> list[Turn]:
    message = {key: value for key, value in row.items() if key not in (speaker, text)}
    return turns_of({"role": row.get(speaker), "content": row[text], **message}) or [Turn(str(row.get(speaker)), None)]


def _problem(columns: list[str]) -> str:
    """The line for a table whose columns do not fit."""
    more = f" and {len(columns) - _MOST_NAMED} more" if columns[_MOST_NAMED:] else ""
    text = first_of(CELLS, columns)
    lacks = f"no column of roles beside {text!r}" if text else "neither columns of roles and texts nor of answers"
    listed = ", ".join(columns[:_MOST_NAMED]) + more
    return f"has {lacks}: name one role and one content, or question and answer; its columns are {listed}"


def _recognised(source: Source) -> bool:
    if source.is_folder or is_object(source.first):
        return False
    if source.begin.startswith(PARQUET):
        return True
    names = header_of(source.begin[:5000]) or ()
    columns = {re.sub(r"[\s-]+", "_", name.strip().lower()) for name in names} | {*names}
    return bool(columns & {*SPEAKERS, *CELLS, *_OF_ROWS, *_LISTS})


TABLES = Format(
    "tables",
    "tables of messages: CSV, TSV, Parquet",
    _recognised,
    read_table,
    sign="Parquet, or a first line of columns, one of them of roles, texts or answers",
)
