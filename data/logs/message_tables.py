"""Tables of messages, or of questions with their answers: CSV and TSV, Parquet (pyarrow), workbooks (openpyxl).

The columns decide. A table has one of roles and one of texts, and may have the conversation's id and the time. Or it
has those of `training_rows`, or lists of messages, as data sets of chats have them in Parquet files.
"""

import ast
import json
import re
from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from ...errors import DataError, at
from ..files.tables import NAMES, PARQUET, Row, header_of, parquet_rows, text_rows, workbook_rows
from ..formats import messages
from ..formats.detection import Contents, ConversationStream, Format, Source
from ..formats.refusals import is_spreadsheet
from ..formats.spooled import Spooled, spooled_json, whole
from ..records import is_object
from . import dialogue_turns, training_rows
from .key_names import ANSWERS, CELLS, CONVERSATIONS, INPUTS, SPEAKERS, TIMES, first_of
from .times import in_time

_LISTS = ("messages", "conversations", "conversation", "history", "对话", "消息", "聊天记录")
"""Columns of lists in JSON or Python's notation."""
_OF_ROWS = {*ANSWERS, *(name for names in ANSWERS.values() for name in names), *INPUTS.values()} - {*_LISTS}
_KEYS = frozenset((*_OF_ROWS, *CELLS, *CONVERSATIONS, *TIMES, *SPEAKERS, *_LISTS, "rejected", "system", "id"))
"""Names of columns that have a meaning, in lower case and with underscores."""
_CALLS = ("tool_calls", "tool_call_id")
_MOST_NAMED = 12

Rows: TypeAlias = Spooled[Any] | Sequence[Any]
"""Place and row of each row of a table."""


def one_by_one(path: str | Path) -> ConversationStream:
    """The conversations of a table; DataError that names its columns if they are not those of messages or answers.

    The generator's result is the notes.
    """
    notes: list[str] = []
    others: list[tuple[str, str]] = []
    fits = False
    for sheet, placed in _tables(Path(path)):
        rows, columns = spooled_json(), dict[str, None]()
        for place, row in placed:
            named = _named(row)
            columns |= dict.fromkeys(named)
            rows.append((place, named))
        if rows and (conversations := _of_rows(path, rows, list(columns))) is not None:
            fits = True
            notes += yield from conversations
        elif rows:
            others.append((sheet, _problem(list(columns))))
    if not fits:
        problem = others[0][1] if others else "is a table without rows: give one with messages"
        raise DataError(f"{at(path)}: {problem}")
    return (*notes, *(f"the sheet {sheet!r} left out: {problem}" for sheet, problem in others))


def _tables(path: Path) -> Iterator[tuple[str, Iterable[tuple[str, Row]]]]:
    begin = Source(path).begin
    if is_spreadsheet(path, begin):
        yield from workbook_rows(path)
    else:
        yield "", parquet_rows(path) if begin.startswith(PARQUET) else text_rows(path)


def is_table(file: Path) -> bool:
    """Whether a file is such a table; hidden files are none."""
    return file.is_file() and not file.name.startswith(".") and FORMAT.claims(Source(file))


def problem_of(path: Path) -> str:
    """Why a table cannot be read, by its first rows; empty if it can."""
    columns: list[str] = []
    try:
        for _, rows in _tables(path):
            for place, row in islice(rows, 1):
                named = _named(row)
                if (conversations := _of_rows(path, [(place, named)], list(named))) is not None:
                    deque(conversations, maxlen=0)
                    return ""
                columns = columns or list(row)
    except DataError as error:
        return str(error)
    return f"{at(path)}: {_problem(columns)}"


def _named(row: Row) -> dict[str, Any]:
    """The row with the names of columns that have a meaning as they are written elsewhere, without empty cells."""
    result: dict[str, Any] = {}
    for column, value in row.items():
        name = re.sub(r"[\s-]+", "_", column.strip().lower())
        key = name if name in _KEYS and name not in result else column
        if key in (*_LISTS, _CALLS[0]) and isinstance(value, str) and value.lstrip().startswith("["):
            value = _parsed(value)
        if value != "" or key in (*_OF_ROWS, *CELLS):
            result[key] = value
    return result


def _parsed(cell: str) -> Any:
    """The list of a cell, in JSON or in Python's notation, as pandas writes it; else the cell."""
    for parse in (json.loads, _literal):
        try:
            value = parse(cell)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(value, list) and (not value or any(isinstance(inner, dict | list) for inner in value)):
            return value
    return cell


def _literal(cell: str) -> Any:
    return json.loads(json.dumps(ast.literal_eval(cell), allow_nan=False))


def _of_rows(path: str | Path, rows: Rows, columns: list[str]) -> ConversationStream | None:
    """The conversations of rows; None if their columns are not those of any form."""
    first = rows[0][1]
    if training_rows.is_row(first):
        return _read(training_rows.of_rows(path, rows))
    if any(isinstance(first.get(key), list) for key in ("messages", "conversations", "conversation")):
        return _of_lines(path, ((place, training_rows.line_of(row)) for place, row in rows))
    if dialogue_turns.is_dialogue(first):
        return dialogue_turns.of_values(path, lambda: rows)
    speaker, text = first_of(SPEAKERS, columns), first_of(CELLS, columns)
    return _of_messages(path, rows, columns, speaker, text) if speaker and text else None


def _read(contents: Contents) -> ConversationStream:
    yield from contents.conversations
    return contents.notes


def _of_lines(path: str | Path, lines: Iterable[tuple[str, Any]]) -> ConversationStream:
    yield from messages.iterate(path, lines)
    return ()


def _of_messages(path: str | Path, rows: Rows, columns: list[str], speaker: str, text: str) -> ConversationStream:
    """The conversations of rows that are messages: by the id that they name, in the order of their times."""
    name, time = first_of(CONVERSATIONS, columns), first_of(TIMES, columns)
    numbers: dict[str, array[int]] = {}
    for number, (_, row) in enumerate(rows):
        numbers.setdefault(str(row.get(name, "")), array("Q")).append(number)
    moved = False

    def values() -> Iterator[tuple[str, dict[str, Any]]]:
        nonlocal moved
        for own, listed in numbers.items():
            turns = [
                {key: value for key, value in row.items() if key != name and value is not None}
                for _, row in map(rows.__getitem__, listed)
            ]
            turns = [turn | {text: str(turn.get(text, ""))} for turn in turns]
            ordered = in_time(turns, time)
            moved = moved or ordered != turns
            yield rows[listed[0]][0], {**({"id": own} if own else {}), "utterances": ordered}

    if any(key in columns for key in _CALLS):
        notes = yield from _of_lines(path, _lines(values(), speaker, text))
    else:
        notes = yield from dialogue_turns.of_values(path, values)
    notes += (f"messages are in the order of {time!r}",) if moved else ()
    return notes if name else (*notes, "no column names the conversation: all rows are one")


def _lines(
    values: Iterable[tuple[str, Mapping[str, Any]]], speaker: str, text: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Lines of messages with the columns of tools, which a dialogue has not."""
    for place, value in values:
        turns = [
            {
                "role": turn.get(speaker),
                "content": turn[text],
                **{key: turn[key] for key in turn if key not in (speaker, text)},
            }
            for turn in value["utterances"]
        ]
        yield place, {**{key: value[key] for key in value if key != "utterances"}, "messages": turns}


def _problem(columns: list[str]) -> str:
    """The line for a table whose columns do not fit."""
    listed = ", ".join(columns[:_MOST_NAMED]) + (
        f" and {len(columns) - _MOST_NAMED} more" if columns[_MOST_NAMED:] else ""
    )
    text = first_of(CELLS, columns)
    lacks = f"no column of roles beside {text!r}" if text else "neither columns of roles and texts nor of answers"
    return f"has {lacks}: name one role and one content, or question and answer; its columns are {listed}"


def _recognised(source: Source) -> bool:
    if source.is_folder or is_object(source.first):
        return False
    if source.begin.startswith(PARQUET) or is_spreadsheet(source.path, source.begin):
        return True
    columns = [re.sub(r"[\s-]+", "_", name.strip().lower()) for name in header_of(source.begin) or ()]
    return bool({*SPEAKERS, *CELLS, *_OF_ROWS, *_LISTS} & set(columns))


FORMAT = Format(
    "tables",
    "tables of messages: CSV, TSV, Parquet, workbooks",
    _recognised,
    whole(one_by_one),
    one_by_one=one_by_one,
    sign=f"Parquet or a workbook; or a first line of {NAMES}, one of them of roles, texts or answers",
)
