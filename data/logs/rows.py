"""Rows of a question and its answer, and tables of messages: JSON, CSV, Parquet.

QReCC and TopiOCQA have `Question`, `Answer` or `Truth_answer`, `Conversation_no` and `Turn_no`; data for fine-tuning
`instruction`, `prompt`, `query` or `question` beside the answer. A table has these columns, or lists of messages, or one of
roles and one of texts, and perhaps the conversation's id and the time.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..files.json import STRICT, Broken, as_value, elements
from ..files.tables import PARQUET, Row, header_of, parquet_rows, text_rows
from ..formats.messages import Line, conversations, talks_of
from ..formats.source import ConversationStream, Format, Source
from ..formats.turns import Turn, turns_of
from ..records import is_object
from .dialogues import CONVERSATIONS, SPEAKERS, TEXTS, TIMES, dialogues_of, first_of, identifier, in_time, is_dialogue

ANSWERS: Mapping[str, tuple[str, ...]] = {
    "Question": ("Answer", "Truth_answer"),
    "instruction": ("output", "response"),
    "query": ("response", "answer"),
    "prompt": ("completion", "response"),
    "question": ("answer", "response"),
}
"""Columns of questions, each with the columns in which its answer may stand."""
NUMBERS = ("Conversation_no", "Turn_no")
"""Columns of QReCC and TopiOCQA: the number of the conversation, and that of the question in it."""
CELLS = ("content", *TEXTS, "body")
"""Of a message's text in a table."""

_LISTS = ("messages", "conversations", "conversation")
"""Columns of lists of messages."""
_NO_ROW = (*_LISTS, "turns", "choices", "history", "chat_history")
"""Keys of lists that have the answers inside, or what was said before."""
_OF_ROWS = {*ANSWERS, *(name for names in ANSWERS.values() for name in names), "input"}
_KEYS = frozenset((*_OF_ROWS, *CELLS, *CONVERSATIONS, *TIMES, *SPEAKERS, *_LISTS, "system", "id"))
"""Names of columns that have a meaning, in lower case and with underscores."""
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
            name = identifier(row) or str(row.get(NUMBERS[0]) or "")
            line = _line(place, row, name, *columns)
            empty += not line.turns
            if line.turns:
                groups.setdefault(name or f"\0{place}", []).append(line)
    yield from conversations(path, (_joined(name, lines) for name, lines in groups.items()), broken)
    return (f"{empty} row{'s' if empty > 1 else ''} without a text left out",) if empty else ()


def is_row(value: Any) -> bool:
    """Whether an object has a question and an answer, and no list of messages."""
    return _columns(value) is not None


def _columns(row: Any) -> tuple[str, str] | None:
    if not is_object(row) or any(isinstance(row.get(key), list) and row[key] for key in _NO_ROW):
        return None
    pairs = ((question, answer) for question, answers in ANSWERS.items() for answer in answers)
    return next(
        (pair for pair in pairs if isinstance(row.get(pair[0]), str) and isinstance(row.get(pair[1], 0), str | None)),
        None,
    )


def _line(place: str, row: Mapping[str, Any], name: str, question: str, answer: str) -> Line:
    """The turns of a row and its further keys; the `input` of an instruction follows it after a blank line."""
    texts = [row[question], row.get("input") if question == "instruction" else ""]
    asked = "\n\n".join(text for text in texts if isinstance(text, str) and text)
    said = [("user", asked), ("assistant", row[answer])]
    taken = {question, answer, "input" if question == "instruction" else ""}
    further = {key: value for key, value in row.items() if key not in taken and str(value) != name}
    return Line(place, [Turn(role, text) for role, text in said if text], further, row)


def _joined(name: str, lines: list[Line]) -> Line:
    """The rows of a conversation by their numbers or times; the keys of a further row are those of its question."""
    if name.startswith("\0"):
        return lines[0]
    rows = [{**line.raw, "": line} for line in lines]
    first, *others = (row[""] for row in in_time(rows, first_of((NUMBERS[1], *TIMES), rows[0])))
    for line in others:
        line.turns[0].further = line.further
    turns = [turn for line in (first, *others) for turn in line.turns]
    return Line(first.place, turns, {**first.further, "id": name})


FORMAT = Format("rows", "rows of questions and answers", lambda source: is_row(source.first), read)


# --- Tables


def read_table(path: str | Path, broken: Broken = STRICT) -> ConversationStream:
    """The conversations of a table; DataError that names its columns if they are not those of messages or answers."""
    parquet = Source(path).begin.startswith(PARQUET)
    placed = parquet_rows(Path(path)) if parquet else text_rows(Path(path))
    rows = [(place, _named(row)) for place, row in placed]
    if not rows:
        raise DataError(f"{at(path)}: is a table without rows: give one with messages")
    columns, first = list(dict.fromkeys(column for _, row in rows for column in row)), rows[0][1]
    if is_row(first):
        return (yield from of_rows(path, rows, broken))
    if key := next((key for key in _LISTS if isinstance(first.get(key), list)), ""):
        yield from conversations(path, (_of_list(place, row, key) for place, row in rows), broken)
        return ()
    if is_dialogue(first):
        return (yield from talks_of(path, rows, broken, dialogues_of))
    speaker, text = first_of(SPEAKERS, columns), first_of(CELLS, columns)
    if not speaker or not text:
        more = f" and {len(columns) - _MOST_NAMED} more" if columns[_MOST_NAMED:] else ""
        problem = "has no columns of roles and texts, nor of questions and answers; its columns are"
        raise DataError(f"{at(path)}: {problem} {', '.join(columns[:_MOST_NAMED])}{more}")
    return (yield from _of_messages(path, rows, columns, speaker, text, broken))


def _named(row: Row) -> dict[str, Any]:
    """The row with the names of columns that have a meaning as they are written elsewhere, without empty cells."""
    result: dict[str, Any] = {}
    for column, value in row.items():
        name = re.sub(r"[\s-]+", "_", column.strip().lower())
        key = name if name in _KEYS and name not in result and column not in _OF_ROWS else column
        if key in (*_LISTS, "tool_calls"):
            value = as_value(value)
        if value != "" or key in (*_OF_ROWS, *CELLS):
            result[key] = value
    return result


def _of_list(place: str, row: Mapping[str, Any], key: str) -> Line:
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
        yield from conversations(path, lines, broken)
        notes: tuple[str, ...] = ()
    else:
        values = [(place, {"id": own, "utterances": ordered[own]}) for own, (place, _) in groups.items()]
        notes = yield from talks_of(path, values, broken, dialogues_of)
    notes += (f"messages are in the order of {time!r}",) if moved else ()
    return notes if name else (*notes, "no column names the conversation: all rows are one")


def _of_row(row: Mapping[str, Any], speaker: str, text: str) -> list[Turn]:
    message = {key: value for key, value in row.items() if key not in (speaker, text)}
    return turns_of({"role": row.get(speaker), "content": row[text], **message}) or [Turn(str(row.get(speaker)), None)]


def _recognised(source: Source) -> bool:
    if source.is_folder or is_object(source.first):
        return False
    if source.begin.startswith(PARQUET):
        return True
    names = header_of(source.begin[:5000]) or ()
    columns = {re.sub(r"[\s-]+", "_", name.strip().lower()) for name in names} | {*names}
    return bool(columns & {*SPEAKERS, *CELLS, *_OF_ROWS, *_LISTS})


TABLES = Format("tables", "tables of messages: CSV, TSV, Parquet", _recognised, read_table)
