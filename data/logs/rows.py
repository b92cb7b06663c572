"""Rows of a question and its answer, and tables of messages: JSON, CSV, Parquet, workbooks.

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
from ..files.tables import ARCHIVE, PARQUET, Row, has_workbook, header_of, parquet_rows, text_rows, workbook_rows
from ..formats.messages import iterate
from ..formats.source import ConversationStream, Format, Source
from ..formats.turns import Turn, role_of, sharegpt_turn, turns_of, with_ids
from ..records import is_object
from . import dialogues
from .dialogues import CONVERSATIONS, IDS, SPEAKERS, TEXTS, TIMES, first_of, identifier, in_time, oldest_first

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
_OTHERS = ("response", "completion", "output", "choices", "chosen")
"""Keys by which a line of messages would be taken for another form: what a row has under them goes under `row`."""
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
    groups: dict[str, tuple[str, list[dict[str, Any]]]] = {}
    empty = 0
    for place, row in rows:
        with broken.reading(place):
            if (columns := _columns(row)) is None:
                has = ", ".join(list(row)[:_MOST_NAMED]) if isinstance(row, Mapping) else f"a {type(row).__name__}"
                problem = "is not a question with its answer, as the first row is: give texts; it has"
                raise DataError(f"{at(path, place)}: {problem} {has}")
            try:
                value = _line(row, *columns)
            except DataError as error:
                raise DataError(f"{at(path, place)}: {error}") from None
            empty += not value["messages"]
            if value["messages"]:
                name = str(value.get("id") or "") if _is_named(row) else f"\0{place}"
                groups.setdefault(name, (place, []))[1].append(value)
    values = ((place, _joined(in_order(listed))) for place, listed in groups.values())
    yield from iterate(path, values, broken)
    return (f"{empty} row{'s' if empty > 1 else ''} without a text left out",) if empty else ()


def in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of a conversation by their numbers, or the oldest first."""
    return in_time(rows, NUMBERS[1]) if NUMBERS[1] in rows[0] else oldest_first(rows)


def is_row(value: Any) -> bool:
    """Whether an object has a question and an answer, and no list of messages."""
    return _columns(value) is not None


def _columns(row: Any) -> tuple[str, str] | None:
    """The column of the question and that of the answer."""
    if not isinstance(row, Mapping) or any(isinstance(row.get(key), list) for key in _NO_ROW):
        return None
    for question, answers in ANSWERS.items():
        by_role = question == "用户" and any(key in row for key in SPEAKERS)  # which may also hold a name
        if isinstance(row.get(question), str) and not by_role:
            for answer in answers:
                if answer in row and isinstance(row[answer], str | None):
                    return question, answer
    return None


def _is_named(row: Mapping[str, Any]) -> bool:
    return bool(identifier(row) or row.get(NUMBERS[0]))


def _line(row: Mapping[str, Any], question: str, answer: str) -> dict[str, Any]:
    """The row as a line of messages, with its further keys."""
    beside = {"instruction": "input", "指令": "输入"}.get(question, "")
    about = row.get(beside)
    instruction = "system" if row.get("system") is not None else "system_prompt"
    system = row.get(instruction)
    past = "history" if row.get("history") or not isinstance(row.get("chat_history"), list) else "chat_history"
    taken = {question, answer, past, *([beside] if isinstance(about, str) and about else [])}
    taken |= {instruction} if isinstance(system, str) else set()
    turns: list[Turn] = [{"role": "system", "content": system}] if isinstance(system, str) and system else []
    turns += _history(row.get(past))
    if text := "\n\n".join(part for part in (row[question], about) if isinstance(part, str) and part):
        parts = {question: row[question], beside: about} if about and isinstance(about, str) else {}
        turns.append({"role": "user", "content": text, **parts})
    if row[answer]:
        turns.append({"role": "assistant", "content": row[answer]})
    more = {key: value for key, value in row.items() if key not in taken}
    if others := {key: more.pop(key) for key in _OTHERS if key in more}:
        more["row"] = others
    if name := identifier(row) or str(row.get(NUMBERS[0]) or ""):
        more = {key: value for key, value in more.items() if key not in (*IDS, NUMBERS[0]) or str(value) != name}
        if turns and "id" in more:  # of the row: it is its first message's
            turns[0] |= {"id": more.pop("id")}
        more = {"id": name} | more
    return {**more, "messages": turns}


def _history(history: Any) -> list[Turn]:
    """The messages before the question: pairs of question and answer, or messages."""
    listed = history if isinstance(history, list) else []
    if all(isinstance(pair, list) and len(pair) == 2 for pair in listed):
        roles = ("user", "assistant")
        pairs = (zip(roles, pair, strict=True) for pair in listed)
        return [{"role": role, "content": text} for pair in pairs for role, text in pair if text]
    if len(turns := turns_of(listed)) < len(listed):
        raise DataError("'history' is not a list of pairs of texts, or of messages: write [[question, answer], ...]")
    return turns


def _joined(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The rows of a conversation: the keys of a further one are those of its first message."""
    value, *others = rows
    for row in others:
        first, *rest = row.pop("messages")
        own = {key: inner for key, inner in row.items() if key not in first and key != "id"}
        value["messages"] += [{**first, **own}, *rest]
    return value


FORMAT = Format(
    "rows",
    "rows of questions and answers",
    lambda source: is_row(source.first),
    read,
    sign=f"one of {', '.join(ANSWERS)} with an answer",
    skips=True,
)


# --- Tables


def read_table(path: str | Path, broken: Broken = STRICT) -> ConversationStream:
    """The conversations of a table; DataError that names its columns if they are not those of messages or answers."""
    notes: list[str] = []
    others: list[tuple[str, str]] = []
    fits = False
    for sheet, placed in _tables(Path(path)):
        rows = [(place, _named(row)) for place, row in placed]
        columns = list(dict.fromkeys(column for _, row in rows for column in row))
        if rows and (conversations := _of_table(path, rows, columns, broken)) is not None:
            fits = True
            notes += yield from conversations
        elif rows:
            others.append((sheet, _problem(columns)))
    if not fits:
        problem = others[0][1] if others else "is a table without rows: give one with messages"
        raise DataError(f"{at(path)}: {problem}")
    return (*notes, *(f"the sheet {sheet!r} left out: {problem}" for sheet, problem in others))


def _tables(path: Path) -> Iterator[tuple[str, Iterable[tuple[str, Row]]]]:
    begin = Source(path).begin
    if begin.startswith(ARCHIVE):
        yield from workbook_rows(path)
    else:
        yield "", parquet_rows(path) if begin.startswith(PARQUET) else text_rows(path)


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
        return _without_notes(iterate(path, ((place, _of_list(row, key)) for place, row in rows), broken))
    if dialogues.is_dialogue(first):
        return dialogues.of_values(path, rows, broken)
    speaker, text = first_of(SPEAKERS, columns), first_of(CELLS, columns)
    return _of_messages(path, rows, columns, speaker, text, broken) if speaker and text else None


def _without_notes(conversations: Iterator[Any]) -> ConversationStream:
    yield from conversations
    return ()


def _of_list(row: Mapping[str, Any], key: str) -> dict[str, Any]:
    """A row with a list of messages, of OpenAI's or ShareGPT's form, as a line of messages."""
    listed = row.get(key)
    turns: list[Turn] = []
    for message in listed if isinstance(listed, list) else ():
        if is_object(message) and "from" in message:
            further = {name: value for name, value in message.items() if name not in ("from", "value")}
            turns += [{**turn, **further}] if (turn := sharegpt_turn(message)) else []
        else:
            role = role_of(message.get("role")) if is_object(message) and "content" in message else None
            turns += [{**message, "role": role}] if role else turns_of(message)
    further = {name: value for name, value in row.items() if name != key}
    return {**further, "messages": with_ids(turns) if turns else listed}


def _of_messages(
    path: str | Path, rows: Sequence[tuple[str, Any]], columns: list[str], speaker: str, text: str, broken: Broken
) -> ConversationStream:
    """The conversations of rows that are messages: by the id that they name, in the order of their times."""
    name, time = first_of(CONVERSATIONS, columns), first_of(TIMES, columns)
    groups: dict[str, tuple[str, list[dict[str, Any]]]] = {}
    for place, row in rows:
        turn = {key: value for key, value in row.items() if key != name and value is not None}
        own = groups.setdefault(str(row.get(name, "")), (place, []))[1]
        own.append(turn | {text: str(turn.get(text, ""))})
    ordered = {own: in_time(turns, time) for own, (_, turns) in groups.items()}
    moved = any(ordered[own] != turns for own, (_, turns) in groups.items())
    named = [(own, place, {"id": own} if own else {}) for own, (place, _) in groups.items()]
    if "tool_calls" in columns or "tool_call_id" in columns:  # which a dialogue has not
        plain = {own: [_message(turn, speaker, text) for turn in turns] for own, turns in ordered.items()}
        notes = yield from _without_notes(
            iterate(path, ((place, {**head, "messages": plain[own]}) for own, place, head in named), broken)
        )
    else:
        notes = yield from dialogues.of_values(
            path, ((place, {**head, "utterances": ordered[own]}) for own, place, head in named), broken
        )
    notes += (f"messages are in the order of {time!r}",) if moved else ()
    return notes if name else (*notes, "no column names the conversation: all rows are one")


def _message(turn: Mapping[str, Any], speaker: str, text: str) -> Turn:
    further = {key: value for key, value in turn.items() if key not in (speaker, text)}
    return {"role": turn.get(speaker), "content": turn[text], **further}


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
    if source.begin.startswith(PARQUET) or (source.begin.startswith(ARCHIVE) and has_workbook(source.path)):
        return True
    names = header_of(source.begin[:5000]) or ()
    columns = {re.sub(r"[\s-]+", "_", name.strip().lower()) for name in names} | {*names}
    return bool(columns & {*SPEAKERS, *CELLS, *_OF_ROWS, *_LISTS})


TABLES = Format(
    "tables",
    "tables of messages: CSV, TSV, Parquet, workbooks",
    _recognised,
    read_table,
    sign="Parquet or a workbook; or a first line of columns, one of them of roles, texts or answers",
    skips=True,
)
