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
from ..formats.turns import LISTS as TURNS
from ..formats.turns import Turn, is_item, is_turn, role_of, turns_of
from ..records import is_object
from .dialogues import (
    CONVERSATIONS,
    LISTS,
    SPEAKERS,
    TEXTS,
    TIMES,
    SpokenRow,
    dialogues_of,
    first_of,
    identifier,
    in_time,
    is_dialogue,
    is_name,
    roles_of,
)

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
_NAMING = frozenset("id no nr number key ticket room call case issue channel".split())
"""Last words of a key that may name the conversation of a message."""
_OF_MESSAGES = frozenset("message msg turn row line step index seq parent reply".split())
"""First words of such a key that names something else."""
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
    column = first_of((NUMBERS[1], *TIMES), lines[0].raw)
    first, *others = in_time(lines, [line.raw.get(column) for line in lines])
    for line in others:
        line.turns[0].further = dict(line.further)
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
    written = ((place, {key: cell for key, cell in row.items() if cell is not None}) for place, row in rows)
    spoken = [
        SpokenRow(
            place, row if isinstance(row.get(text), list) else {**row, text: str(row.get(text, ""))}, speaker, text
        )
        for place, row in written
    ]
    lines, notes = of_messages(path, spoken, broken)
    yield from conversations(path, lines, broken)
    return notes


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


def spoken_row(place: str, value: Any) -> SpokenRow | None:
    """A value as a message that stands alone, under any known keys; None for others."""
    if is_turn(value) or is_item(value) or not is_object(value):
        return SpokenRow(place, value) if is_object(value) else None
    speaker = next((key for key in SPEAKERS if role_of(value.get(key)) is not None), "")
    text = next((key for key in TEXTS if isinstance(value.get(key), str)), "")
    listed = any(isinstance(value.get(key), list) for key in (*TURNS, *LISTS))
    found = bool(speaker and text) and (speaker, text) != ("role", "content") and not listed
    return SpokenRow(place, value, speaker, text) if found else None


def of_messages(path: str | Path, rows: Sequence[SpokenRow], broken: Broken) -> tuple[list[Line], tuple[str, ...]]:
    """The conversations of messages that stand alone, by what names them, in the order of their times; and notes."""
    if not rows:
        return [], ()
    columns = {re.sub(r"[\s-]+", "_", key.strip().casefold()): key for one in rows for key in one.row}
    time = columns.get(first_of(TIMES, columns), "")
    column = columns.get(first_of(CONVERSATIONS, columns), "")
    column = column or ("" if any(identifier(one.row) for one in rows) else _shared_column(rows))
    groups: dict[str, list[SpokenRow]] = {}
    for one in rows:
        name = one.row.get(column) if column else identifier(one.row)
        own = {key: value for key, value in one.row.items() if key != column}
        groups.setdefault(str(name) if is_name(name) else "", []).append(one._replace(row=own))
    lines, moved = list[Line](), False
    for name, group in groups.items():
        ordered = in_time(group, [one.row.get(time) for one in group])
        moved = moved or ordered != group
        with broken.reading(group[0].place):
            roles = roles_of(at(path, group[0].place), [one.name for one in ordered], group[0].speaker)
            plain = [{**one.row, "role": roles[one.name]} for one in ordered if one.is_plain]
            turns = turns_of(plain) if len(plain) == len(ordered) else [one.turn(roles[one.name]) for one in ordered]
            lines.append(Line(group[0].place, turns, {"id": name} if name else {}))
    notes = (f"messages are in the order of {time!r}",) if moved else ()
    return lines, notes if any(groups) else (*notes, "nothing names the conversation: all messages are one")


def _shared_column(rows: Sequence[SpokenRow]) -> str:
    """A key such as `ticket` whose values name conversations: at least half of them stand at messages of several roles."""
    for column in dict.fromkeys(key for one in rows for key in one.row):
        words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", column)]
        if not words or words[-1] not in _NAMING or words[0] in _OF_MESSAGES:
            continue
        names: dict[str, set[str]] = {}
        for one in rows:
            if is_name(one.row.get(column)):
                names.setdefault(str(one.row[column]), set()).add(one.name)
        if names and 2 * sum(len(speakers) > 1 for speakers in names.values()) >= len(names):
            return column
    return ""


def _recognised(source: Source) -> bool:
    if source.is_folder or is_object(source.first):
        return False
    if source.begin.startswith(PARQUET):
        return True
    names = header_of(source.begin[:5000]) or ()
    columns = {re.sub(r"[\s-]+", "_", name.strip().lower()) for name in names} | {*names}
    return bool(columns & {*SPEAKERS, *CELLS, *_OF_ROWS, *_LISTS})


TABLES = Format("tables", "tables of messages: CSV, TSV, Parquet", _recognised, read_table)
