"""Rows of questions and answers, of chosen and rejected answers, and tables of messages: JSON, CSV, Parquet, workbooks.

Columns of rows: Alpaca's `instruction`, `input` and `output`. `system`, `history`, `query` and `response` of ms-swift.
`prompt`, `completion`, `chosen`, `rejected` and `label` of TRL. `kto_tag` and ShareGPT's `conversations` beside
`chosen` and `rejected` of LLaMA-Factory. Texts that begin with `Human:` as in Anthropic's HH-RLHF. `Question`,
`Answer` or `Truth_answer`, `Conversation_no` and `Turn_no` of QReCC and TopiOCQA.

A table has these columns, or lists of messages, or one of roles and one of texts, and perhaps the conversation's id and
the time.
"""

import ast
import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..files.broken_lines import readable
from ..files.json_values import elements
from ..files.tables import NAMES, PARQUET, Row, header_of, parquet_rows, text_rows, workbook_rows
from ..formats import messages
from ..formats.detection import ConversationStream, Format, Source
from ..formats.turns import SYSTEM, Turn, role_of, sharegpt_turn, turns_of, with_ids
from ..records import is_object
from . import dialogues
from .key_names import (  # fmt: skip
    ANSWERS,
    BY_ROLE,
    CELLS,
    CONVERSATIONS,
    IDS,
    INPUTS,
    NUMBERS,
    SPEAKERS,
    TIMES,
    first_of,
    identifier,
    in_time,
    oldest_first,
)

_LISTS = ("messages", "conversations", "conversation", "turns", "choices", "对话", "消息")
_OTHERS = ("messages", "response", "completion", "output", "preferred_output", "choices", "conversations", "rejected_output")  # fmt: skip
"""Keys by which a line of messages would be taken for another form: what a row has under them goes under `row`."""
_SYSTEMS = ("system", "system_prompt")
_REJECTED = ("rejected", "rejected_response", "rejected_messages")
_TRANSCRIPT = re.compile(r"\n\n(Human|Assistant): ?")
_CELL_LISTS = ("messages", "conversations", "conversation", "history", "对话", "消息", "聊天记录")
"""Columns of lists in JSON or Python's notation."""
_OF_ROWS = {*ANSWERS, *(name for names in ANSWERS.values() for name in names), *INPUTS.values()} - {*_CELL_LISTS}
_KEYS = frozenset((*_OF_ROWS, *CELLS, *CONVERSATIONS, *TIMES, *SPEAKERS, *_CELL_LISTS, "rejected", "system", "id"))
"""Names of columns that have a meaning, in lower case and with underscores."""
_CALLS = ("tool_calls", "tool_call_id")
_MOST_NAMED = 12


def read(path: str | Path) -> ConversationStream:
    """A conversation for each row, or for the rows that name the same one.

    DataError for a row without a question.
    """
    return of_rows(path, elements(path))


def of_rows(path: str | Path, rows: Iterable[tuple[str, Any]]) -> ConversationStream:
    """The conversations of rows, each with its place in the file; rejected answers are kept and counted in a note."""
    groups: dict[str, tuple[str, list[dict[str, Any]]]] = {}
    rejected = empty = 0
    for place, row in rows:
        value: dict[str, Any] = {}
        with readable(place):
            if not is_row(row):
                raise DataError(f"{at(path, place)}: {_problem_of_row(row)}")
            try:
                value = _value(row)
            except ValueError as error:
                raise DataError(f"{at(path, place)}: {error}") from None
        if not value:
            continue
        if not value["messages"]:
            empty += 1
            continue
        rejected += any(row.get(key) for key in _REJECTED)
        name = "" if row.get(_history_key(row)) else identifier(row) or str(row.get(NUMBERS[0]) or "")
        if name:
            value = {key: inner for key, inner in value.items() if key not in (*IDS, NUMBERS[0]) or str(inner) != name}
            if own := {"id": value.pop("id")} if "id" in value else {}:  # of the row: it is its first message's
                value["messages"] = [value["messages"][0] | own, *value["messages"][1:]]
        value = ({"id": name} if name else {}) | value
        groups.setdefault(name or f"\0{place}", (place, []))[1].append(value)
    yield from messages.iterate(path, ((place, _joined(_in_order(listed))) for place, listed in groups.values()))
    notes = (
        [f"{rejected} rejected answer{'s are' if rejected > 1 else ' is'} kept beside the chosen"] if rejected else []
    )
    return (*notes, *([f"{empty} row{'s' if empty > 1 else ''} without a text left out"] if empty else []))


def is_row(value: Any) -> bool:
    """Whether an object has a question and an answer, and no list of messages with its answers inside."""
    return isinstance(value, Mapping) and (_columns(value) is not None or _is_transcript(value))


def _columns(row: Mapping[str, Any]) -> tuple[str, str] | None:
    """The column of the question and that of the answer."""
    listed = any(isinstance(row.get(key), list) for key in _LISTS)
    for question, answers in ANSWERS.items():
        if question not in row or (listed and question not in _LISTS) or not _is_words(row[question]):
            continue
        if question == BY_ROLE and any(key in row for key in SPEAKERS):
            continue
        for answer in answers:
            if answer in row and (row[answer] is None or _is_words(row[answer])):
                return question, answer
    whole = row.get("chosen") if "rejected" in row and not listed else None
    return ("", "chosen") if isinstance(whole, list) and _begins(_turns(whole)) else None


def _is_words(value: Any) -> bool:
    return isinstance(value, str) or bool(_turns(value))


def _is_transcript(row: Mapping[str, Any]) -> bool:
    return all(isinstance(row.get(key), str) and _TRANSCRIPT.match(row[key]) for key in ("chosen", "rejected"))


def _problem_of_row(row: Any) -> str:
    answers = dict.fromkeys(answer for listed in ANSWERS.values() for answer in listed)
    seen = ", ".join(list(row)[:_MOST_NAMED]) if isinstance(row, Mapping) else f"a {type(row).__name__}"
    return (
        "is not a question with its answer, as the first row is: give texts or messages as "
        f"{', '.join(key for key in ANSWERS if key not in _LISTS)} and {', '.join(answers)}; it has {seen}"
    )


def _value(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row as a line of messages, with its further keys; ValueError for a history that is not one."""
    if (columns := _columns(row)) is None:
        question, answer, opening = "", "chosen", []
        closing = _of_transcript(row["chosen"])
    else:
        question, answer = columns
        opening, closing = _question(row, question) if question else [], _turns(row[answer], "assistant")
    past = _history_key(row)
    instruction = next((key for key in _SYSTEMS if row.get(key) is not None), _SYSTEMS[0])
    taken = {question, answer, instruction, past}
    if opening and (about := INPUTS.get(question)) and opening[-1].get(about) is not None:
        taken.add(about)
    if _begins(closing):  # the answer is the whole conversation
        if opening != closing[: len(opening)]:
            taken.discard(question)
        opening = []
    system = row.get(instruction)
    if system is not None and not isinstance(system, str):
        taken.discard(instruction)
    turns: list[Turn] = [{"role": "system", "content": system}] if isinstance(system, str) and system else []
    turns += with_ids([*_history(row.get(past)), *opening, *closing])
    more = {key: value for key, value in row.items() if key not in taken}
    if others := {key: more.pop(key) for key in _OTHERS if key in more}:
        more["row"] = others
    return {**more, "messages": turns}


def _question(row: Mapping[str, Any], column: str) -> list[Turn]:
    """The question, with the row's `input` if it is an instruction: the message keeps both."""
    about = INPUTS.get(column, "")
    more = row.get(about)
    if not isinstance(row[column], str) or not isinstance(more, str):
        return _turns(row[column])
    text = "\n\n".join(part for part in (row[column], more) if part)
    parts = {column: row[column], about: more} if more else {}
    return [{"role": "user", "content": text, **parts}] if text else []


def _history(history: Any) -> list[Turn]:
    """The messages before the question: pairs of question and answer, or messages."""
    if history is None or history == "":
        return []
    if isinstance(history, list):
        if all(_is_pair(pair) for pair in history):
            return [turn for user, reply in history for turn in (*_turns(user), *_turns(reply, "assistant"))]
        if len(turns := _turns(history)) >= len(history):
            return turns
    raise ValueError("'history' is not a list of pairs of texts, or of messages: write [[question, answer], ...]")


def _history_key(row: Mapping[str, Any]) -> str:
    """The key of the messages before the question; a text under `chat_history` is a further key."""
    return "history" if row.get("history") or not isinstance(row.get("chat_history"), list) else "chat_history"


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and all(isinstance(text, str | None) for text in pair)


def _begins(turns: list[Turn]) -> bool:
    """Whether the turns begin with the user's message."""
    return next((turn["role"] for turn in turns if turn["role"] not in SYSTEM), "") == "user"


def _turns(value: Any, role: str = "user") -> list[Turn]:
    """A text as a message of the role; messages of OpenAI's or ShareGPT's form; nothing for other values."""
    if isinstance(value, str):
        return [{"role": role, "content": value}] if value else []
    listed = value if isinstance(value, list) else [value]
    if not listed or not all(map(is_object, listed)):
        return []
    turns = [turn for message in listed for turn in _of_message(message)]
    return turns if len(turns) >= len(listed) else []


def _of_message(message: Mapping[str, Any]) -> list[Turn]:
    """A message; the calls and results of ShareGPT as those of OpenAI's form."""
    if "from" not in message:
        role = role_of(message.get("role"))
        return [{**message, "role": role}] if role and "content" in message else turns_of(message)
    turn = sharegpt_turn(message)
    further = {key: value for key, value in message.items() if key not in ("from", "value")}
    return [{**turn, **further}] if turn else []


def _of_transcript(text: str) -> list[Turn]:
    """The turns of one text, each after a blank line and `Human:` or `Assistant:`."""
    _, *pieces = _TRANSCRIPT.split(text)
    names = {"Human": "user", "Assistant": "assistant"}
    return [{"role": names[name], "content": words} for name, words in zip(pieces[::2], pieces[1::2], strict=True)]


def _in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return in_time(rows, NUMBERS[1]) if NUMBERS[1] in rows[0] else oldest_first(rows)


def _joined(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The rows of a conversation: the keys of a further one are those of its first message."""
    value, *others = rows
    for row in others:
        first, *rest = row.pop("messages") or [{}]
        own = {key: inner for key, inner in row.items() if key not in first and key != "id"}
        value["messages"] += [{**first, **own}, *rest]
    return value


FORMAT = Format(
    "rows",
    "rows of questions and answers for fine-tuning, or of chosen and rejected answers",
    lambda source: is_row(source.first),
    read,
    sign="`instruction`, `query`, `prompt`, `question` or `message` with `output`, `response`, `completion`, `answer`, "
    "`reply` or `chosen`",
)


# --- Tables


def read_table(path: str | Path) -> ConversationStream:
    """The conversations of a table; DataError that names its columns if they are not those of messages or answers.

    The generator's result is the notes.
    """
    notes: list[str] = []
    others: list[tuple[str, str]] = []
    fits = False
    for sheet, placed in _tables(Path(path)):
        rows = [(place, _named(row)) for place, row in placed]
        columns = list(dict.fromkeys(column for _, row in rows for column in row))
        if rows and (conversations := _of_table(path, rows, columns)) is not None:
            fits = True
            notes += yield from conversations
        elif rows:
            others.append((sheet, _problem(columns)))
    if not fits:
        problem = others[0][1] if others else "is a table without rows: give one with messages"
        raise DataError(f"{at(path)}: {problem}")
    return (*notes, *(f"the sheet {sheet!r} left out: {problem}" for sheet, problem in others))


def _tables(path: Path) -> Iterator[tuple[str, Iterable[tuple[str, Row]]]]:
    if _is_workbook(Source(path)):
        yield from workbook_rows(path)
    else:
        yield "", parquet_rows(path) if Source(path).begin.startswith(PARQUET) else text_rows(path)


def _is_workbook(source: Source) -> bool:
    """Whether a file is a workbook, which is a zip archive with certain files."""
    if not source.begin.startswith(b"PK\x03\x04"):
        return False
    try:
        with zipfile.ZipFile(source.path) as packed:
            return "xl/workbook.xml" in packed.namelist()
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError):
        return False


def is_table(file: Path) -> bool:
    """Whether a file is such a table; hidden files are none."""
    return file.is_file() and not file.name.startswith(".") and TABLES.claims(Source(file))


def problem_of(path: Path) -> str:
    """Why a table cannot be read, by its first rows; empty if it can."""
    columns: list[str] = []
    try:
        for _, rows in _tables(path):
            for place, row in islice(rows, 1):
                named = _named(row)
                if (conversations := _of_table(path, [(place, named)], list(named))) is not None:
                    list(conversations)
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
        if key in (*_CELL_LISTS, _CALLS[0]) and isinstance(value, str) and value.lstrip().startswith("["):
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


def _of_table(path: str | Path, rows: Sequence[tuple[str, Any]], columns: list[str]) -> ConversationStream | None:
    """The conversations of rows; None if their columns are not those of any form."""
    first = rows[0][1]
    if is_row(first):
        return of_rows(path, rows)
    if any(isinstance(first.get(key), list) for key in ("messages", "conversations", "conversation")):
        return _without_notes(messages.iterate(path, ((place, _line(row)) for place, row in rows)))
    if dialogues.is_dialogue(first):
        return dialogues.of_values(path, rows)
    speaker, text = first_of(SPEAKERS, columns), first_of(CELLS, columns)
    return _of_messages(path, rows, columns, speaker, text) if speaker and text else None


def _without_notes(conversations: Iterator[Any]) -> ConversationStream:
    yield from conversations
    return ()


def _line(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with a list of messages, of OpenAI's or ShareGPT's form, as a line of messages."""
    key = next((key for key in ("messages", "conversations", "conversation") if isinstance(row.get(key), list)), "")
    further = {one: value for one, value in row.items() if one != key}
    return {**further, "messages": with_ids(_turns(row[key])) if key and _turns(row[key]) else row.get(key)}


def _of_messages(
    path: str | Path, rows: Sequence[tuple[str, Any]], columns: list[str], speaker: str, text: str
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
    values = [
        (place, {**({"id": own} if own else {}), "utterances": ordered[own]}) for own, (place, _) in groups.items()
    ]
    if any(key in columns for key in _CALLS):  # which a dialogue has not
        lines = ((place, _line_of_table(value, speaker, text)) for place, value in values)
        notes = yield from _without_notes(messages.iterate(path, lines))
    else:
        notes = yield from dialogues.of_values(path, values)
    notes += (f"messages are in the order of {time!r}",) if moved else ()
    return notes if name else (*notes, "no column names the conversation: all rows are one")


def _line_of_table(value: Mapping[str, Any], speaker: str, text: str) -> dict[str, Any]:
    turns = [
        {"role": turn.get(speaker), "content": turn[text]}
        | {key: inner for key, inner in turn.items() if key not in (speaker, text)}
        for turn in value["utterances"]
    ]
    return {**{key: inner for key, inner in value.items() if key != "utterances"}, "messages": turns}


def _problem(columns: list[str]) -> str:
    """The line for a table whose columns do not fit."""
    more = f" and {len(columns) - _MOST_NAMED} more" if columns[_MOST_NAMED:] else ""
    text = first_of(CELLS, columns)
    lacks = f"no column of roles beside {text!r}" if text else "neither columns of roles and texts nor of answers"
    listed = ", ".join(columns[:_MOST_NAMED]) + more
    return f"has {lacks}: name one role and one content, or question and answer; its columns are {listed}"


def _is_table(source: Source) -> bool:
    if source.is_folder or is_object(source.first):
        return False
    if source.begin.startswith(PARQUET) or _is_workbook(source):
        return True
    columns = [re.sub(r"[\s-]+", "_", name.strip().lower()) for name in header_of(source.begin) or ()]
    return bool({*SPEAKERS, *CELLS, *_OF_ROWS, *_CELL_LISTS} & set(columns))


TABLES = Format(
    "tables",
    "tables of messages: CSV, TSV, Parquet, workbooks",
    _is_table,
    read_table,
    sign=f"Parquet or a workbook; or a first line of {NAMES}, one of them of roles, texts or answers",
)
