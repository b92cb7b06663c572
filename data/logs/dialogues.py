"""Messages and turns of a speaker and a text under any keys, rows of a question and its answer, and tables of both.

CrossWOZ has `messages` of the roles `usr` and `sys`, Taskmaster `utterances` of `speaker` and `text`, Schema-Guided Dialogue
`turns` of `speaker` and `utterance`. QReCC and TopiOCQA have `Question`, `Answer` or `Truth_answer`, `Conversation_no` and
`Turn_no`; other data `prompt`, `query` or `question` beside the answer. A table (CSV, TSV, Parquet) has columns of these
names. Of several known keys that are there the first counts. Names of roles, which are values, are in `formats.messages`.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ...errors import DataError, at
from ..files.json import STRICT, Broken, as_value, elements
from ..files.tables import PARQUET, Row, header_of, parquet_rows, text_rows
from ..formats.messages import (
    IDS,
    SIDES,
    Line,
    Turn,
    conversations,
    identifier,
    is_item,
    is_name,
    is_turn,
    plain_role,
    role_of,
    talks_of,
    turns_of,
)
from ..formats.source import ConversationStream, Format, Source
from ..records import as_list, as_object, is_object

LISTS = (
    "turns", "utterances", "dialogue", "dialog", "log", "conversation", "conversations", "messages", "history",
    "trajectory", "对话", "消息", "聊天记录",
)  # fmt: skip
"""Of the list of turns; the first one that holds turns counts."""
SPEAKERS = (
    "speaker", "role", "sender", "author", "from", "interlocutor", "participant",
    "角色", "说话人", "说话者", "发言人", "发送人", "发送者",
)  # fmt: skip
TEXTS = ("text", "utterance", "content", "value", "message", "内容", "文本", "消息", "话语")
CONVERSATIONS = (
    *IDS, "conversation", "thread", "session", "chat", "dialogue", "dialog", "convo_id", "ticket_id", "ticket", "case_id",
    "case", "issue_id", "room_id", "room",
    "对话id", "对话_id", "对话编号", "会话id", "会话_id", "会话编号", "对话", "会话", "工单号",
)  # fmt: skip
"""Of the conversation's name in a table, in lower case."""
TIMES = (
    "timestamp", "time", "created_at", "datetime", "sent_at", "date", "时间", "时间戳", "发送时间", "创建时间", "日期",
)  # fmt: skip
_NAMES = (*IDS, "convo_id", "id", "对话ID", "对话id", "对话编号", "会话ID", "会话id", "会话编号")
"""Of a dialogue's name."""
_OF_DIALOGUES = ("speaker", "interlocutor", "participant", "说话人", "说话者", "发言人")
"""Keys under which data sets of dialogues write `system` for the assistant."""
_PLAIN = ("user", "assistant", "system")
"""Names of roles that say nothing else."""
ANSWERS: Mapping[str, tuple[str, ...]] = {
    "Question": ("Answer", "Truth_answer"),
    "query": ("response", "answer"),
    "prompt": ("completion", "response"),
    "question": ("answer", "response"),
}
"""Columns of questions, each with the columns in which its answer may stand."""
NUMBERS = ("Conversation_no", "Turn_no")
"""Columns of QReCC and TopiOCQA: the number of the conversation, and that of the question in it."""
CELLS = ("content", *TEXTS, "body")
"""Of a message's text in a table."""

_ADDRESSES = ("hashed_ip", "header")
"""Keys of WildChat for the address of a person, and for what their browser sent."""
_LISTS = ("messages", "conversations", "conversation")
"""Columns of lists of messages."""
_NO_ROW = (*_LISTS, "turns", "choices", "history", "chat_history")
"""Keys of lists that have the answers inside, or what was said before."""
_OF_ROWS = {*ANSWERS, *(name for names in ANSWERS.values() for name in names)}
_KEYS = frozenset((*_OF_ROWS, *CELLS, *CONVERSATIONS, *TIMES, *SPEAKERS, *_LISTS, "system", "id"))
"""Names of columns that have a meaning, in lower case and with underscores."""
_MOST_NAMED = 12

T = TypeVar("T")


def first_of(names: Iterable[str], present: Iterable[str]) -> str:
    """The first of the names that is present; empty without one."""
    own = set(present)
    return next((name for name in names if name in own), "")


def in_time(turns: list[T], written: Iterable[Any]) -> list[T]:
    """The messages by their times; as they stand where a time is missing or not readable.

    Equal times keep their order, unless all stand from the newest to the oldest.
    """
    times = list(map(_time, written))
    if any(time is None for time in times) or len(set(map(type, times))) > 1:
        return turns
    stored = [*zip(times, turns, strict=True)]
    try:
        ordered, backwards = (sorted(one, key=lambda pair: pair[0]) for one in (stored, stored[::-1]))  # type: ignore[arg-type,return-value]
    except TypeError:  # with a time zone and without
        return turns
    newest_first = backwards == stored[::-1] and times[:1] != times[-1:]
    return [turn for _, turn in (backwards if newest_first else ordered)]


def _time(value: Any) -> float | datetime | None:
    try:
        number = float(value)  # also of a text: seconds
        return number if math.isfinite(number) else None
    except (TypeError, ValueError, OverflowError):
        pass
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


class SpokenRow(NamedTuple):
    """A message that stands alone, and the keys of its speaker and its text."""

    place: str
    row: Mapping[str, Any]
    speaker: str = "role"
    text: str = "content"

    @property
    def name(self) -> str:
        """The speaker's name; of an item of the Responses API without one the assistant's."""
        name = self.row.get(self.speaker, "assistant" if is_item(self.row) else None)
        name = (name.get("role") or name.get("name")) if is_object(name) else name
        return str(name) if is_name(name) else ""

    def turn(self, role: str) -> Turn:
        """The turn of a message of other keys; a speaker's name that says more than the role is a further key."""
        says_more = is_object(self.row.get(self.speaker)) or self.name.lower() not in _PLAIN
        named = (self.speaker,) if says_more else ()
        further = {
            key: value for key, value in self.row.items() if key in named or key not in (self.speaker, self.text)
        }
        return Turn(role, str(self.row.get(self.text) or ""), further=further)


# --- Dialogues


class _Keys(NamedTuple):
    """Where a dialogue has its turns, and these their speaker and their text."""

    turns: str
    speaker: str
    text: str


def is_dialogue(value: Any) -> bool:
    """Whether a value has turns of a speaker and a text."""
    return is_object(value) and _keys(value) is not None


def _keys(value: Mapping[str, Any]) -> _Keys | None:
    for name in LISTS:
        turns = value.get(name)
        if not isinstance(turns, list) or not turns or not all(map(is_object, turns)):
            continue
        if name in ("messages", "conversation", "conversations") and any(map(is_turn, turns[:3])):
            return None  # whatever other keys its messages have
        for speaker in SPEAKERS:
            for text in TEXTS:
                if all(SpokenRow("", turn, speaker).name and isinstance(turn.get(text), str) for turn in turns[:3]):
                    keys = _Keys(name, speaker, text)
                    return None if _is_other_form(keys, turns) else keys
    return None


def _is_other_form(keys: _Keys, turns: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the turns are those of messages, requests or ShareGPT, which are read as they are."""
    if keys[1:] == ("role", "content") and turns[0]["role"] not in SIDES:
        return keys.turns == "messages" or (
            keys.turns in ("conversation", "conversations", "turns", "trajectory") and is_turn(turns[0])
        )
    return keys == ("conversations", "from", "value")


def dialogues_of(path: str | Path, place: str, value: Any, name: str = "") -> Iterator[Line]:
    """The dialogues of a value, perhaps without turns; DataError if it has none."""
    if is_object(value) and (keys := _keys(value)) is not None:
        yield _line(path, place, value, keys, name)
    elif _is_empty(value):
        yield Line(place, [], {})
    elif inner := _dialogues_in(value):
        for where, own_name, dialogue in inner:
            yield from dialogues_of(path, f"{place}, {where}", dialogue, own_name)
    else:
        has = ", ".join(list(value)[:12]) if is_object(value) else f"a {type(value).__name__}"
        raise DataError(
            f"{at(path, place)}: has no turns: give a list under {', '.join(LISTS[:5])} or such, of a role and a text; "
            f"it has {has}"
        )


def _is_empty(value: Any) -> bool:
    return is_object(value) and any(value.get(key) == [] for key in LISTS)


def _dialogues_in(value: Any) -> list[tuple[str, str, Any]]:
    """Place, name and value of each dialogue of an object, which holds them by their ids, or in a list."""
    if not is_object(value):
        return []
    if all(map(is_object, value.values())):
        first = next((inner for inner in value.values() if not _is_empty(inner)), None)
        return [(repr(key), key, inner) for key, inner in value.items()] if is_dialogue(first) else []
    lists = {key: inner for key, inner in value.items() if isinstance(inner, list) and any(map(is_dialogue, inner[:3]))}
    return [(f"{key}[{number}]", "", inner) for key, listed in lists.items() for number, inner in enumerate(listed)]


def _line(path: str | Path, place: str, value: Mapping[str, Any], keys: _Keys, name: str) -> Line:
    """The turns of a dialogue; DataError that names the speakers who are neither user nor assistant."""
    rows = [SpokenRow(place, turn, keys.speaker, keys.text) for turn in value[keys.turns]]
    for number, one in enumerate(rows):
        if not one.name or not isinstance(one.row.get(keys.text), str):
            where = at(path, place, f"turn {number}")
            problem = f"needs a role as {keys.speaker!r} and a text as {keys.text!r}, as the first turns have"
            raise DataError(f"{where}: {problem}")
    roles = roles_of(at(path, place), [one.name for one in rows], keys.speaker)
    key = next((key for key in _NAMES if is_name(value.get(key))), "")
    name = name or (str(value[key]) if key else "")
    taken = {keys.turns, *([key] if key and str(value[key]) == name else [])}
    further = {one: inner for one, inner in value.items() if one not in taken} | ({"id": name} if name else {})
    return Line(place, [one.turn(roles[one.name]) for one in rows], further, value)


def roles_of(where: str, speakers: Iterable[str], key: str) -> dict[str, str]:
    """The role of each speaker, who stands under a key; DataError that names those who are neither user nor assistant."""
    roles = {speaker: SIDES.get(speaker.lower()) or plain_role(speaker) or "" for speaker in speakers}
    if unknown := [speaker for speaker, role in roles.items() if not role]:
        listed = ", ".join(map(repr, unknown[:6])) + (f" and {len(unknown) - 6} more" if len(unknown) > 6 else "")
        raise DataError(
            f"{where}: {listed}: neither user nor assistant by name: write user and assistant in "
            "their place, or read the file with a format of your own (--log-format MODULE:NAME, docs/data/formats.md)"
        )
    if "assistant" not in roles.values() and key in _OF_DIALOGUES:
        return {speaker: "assistant" if role == "system" else role for speaker, role in roles.items()}
    return roles


DIALOGUES = Format(
    "dialogues",
    "dialogues whose turns have a role and a text",
    lambda source: is_dialogue(source.first) or bool(_dialogues_in(source.first)),
    lambda path, broken: talks_of(path, elements(path, broken), broken, dialogues_of),
)


# --- Questions and answers


def of_rows(path: str | Path, rows: Iterable[tuple[str, Any]], broken: Broken = STRICT) -> ConversationStream:
    """A conversation for each row, or for the rows that name the same one; DataError for a row without a question."""
    groups: dict[str, list[Line]] = {}
    empty = 0
    for place, row in rows:
        with broken.reading(place):
            if (columns := _columns(row)) is None:
                has = ", ".join(list(row)[:_MOST_NAMED]) if is_object(row) else f"a {type(row).__name__}"
                problem = "is not a question with its answer, as the first row is: give texts; it has"
                raise DataError(f"{at(path, place)}: {problem} {has}")
            name = identifier(row) or ("" if row.get(NUMBERS[0]) is None else str(row[NUMBERS[0]]))
            line = _row_line(place, row, name, *columns)
            empty += not line.turns
            if line.turns:
                groups.setdefault(name or f"\0{place}", []).append(line)
    yield from conversations(path, (_joined(name, lines) for name, lines in groups.items()), broken)
    return (f"{empty} row{'s' if empty > 1 else ''} without a text left out",) if empty else ()


def _columns(row: Any) -> tuple[str, str] | None:
    """The columns of question and answer; None for a row without them, or with a list of messages."""
    if not is_object(row) or any(isinstance(row.get(key), list) and row[key] for key in _NO_ROW):
        return None
    pairs = ((question, answer) for question, answers in ANSWERS.items() for answer in answers)
    return next(
        (pair for pair in pairs if isinstance(row.get(pair[0]), str) and isinstance(row.get(pair[1], 0), str | None)),
        None,
    )


def _row_line(place: str, row: Mapping[str, Any], name: str, question: str, answer: str) -> Line:
    """The turns of a row and its further keys."""
    said = [("user", row[question]), ("assistant", row[answer])]
    own = next((key for key in (*IDS, NUMBERS[0]) if str(row.get(key)) == name), "")
    further = {key: value for key, value in row.items() if key not in (question, answer, own)}
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


ROWS = Format(
    "rows",
    "rows of questions and answers",
    lambda source: _columns(source.first) is not None,
    lambda path, broken: of_rows(path, elements(path, broken), broken),
)


# --- Tables


def read_table(path: str | Path, broken: Broken = STRICT) -> ConversationStream:
    """The conversations of a table; DataError that names its columns if they are not those of messages or answers."""
    parquet = Source(path).begin.startswith(PARQUET)
    placed = parquet_rows(Path(path)) if parquet else text_rows(Path(path))
    rows = [(place, _named(row)) for place, row in placed]
    if not rows:
        raise DataError(f"{at(path)}: is a table without rows: give one with messages")
    columns, first = list(dict.fromkeys(column for _, row in rows for column in row)), rows[0][1]
    if _columns(first) is not None:
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
    row = without_addresses(row)
    return Line(place, turns_of(row.get(key)), {name: value for name, value in row.items() if name != key})


def without_addresses(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """A line of WildChat without addresses and headers of people; the digest of the address is the user's name."""
    if not isinstance(value.get("conversation_hash"), str):
        return value
    listed = [
        {key: inner for key, inner in turn.items() if key not in _ADDRESSES} if is_object(turn) else turn
        for turn in as_list(value.get("conversation"))
    ]
    holders = (value, *map(as_object, as_list(value.get("conversation"))))
    user = next((holder["hashed_ip"] for holder in holders if holder.get("hashed_ip")), None)
    more = {key: inner for key, inner in value.items() if key not in _ADDRESSES}
    return {**more, "conversation": listed} | ({"user": user} if user else {})


def spoken_row(place: str, value: Any) -> SpokenRow | None:
    """A value as a message that stands alone, under any known keys; None for others."""
    if is_turn(value) or is_item(value) or not is_object(value):
        return SpokenRow(place, value) if is_object(value) else None
    speaker = next((key for key in SPEAKERS if role_of(value.get(key)) is not None), "")
    text = next((key for key in TEXTS if isinstance(value.get(key), str)), "")
    listed = any(isinstance(value.get(key), list) for key in LISTS)
    found = bool(speaker and text) and (speaker, text) != ("role", "content") and not listed
    return SpokenRow(place, value, speaker, text) if found else None


def of_messages(path: str | Path, rows: Sequence[SpokenRow], broken: Broken) -> tuple[list[Line], tuple[str, ...]]:
    """The conversations of messages that stand alone, by what names them, in the order of their times; and notes."""
    if not rows:
        return [], ()
    columns = {re.sub(r"[\s-]+", "_", key.strip().casefold()): key for one in rows for key in one.row}
    time = columns.get(first_of(TIMES, columns), "")
    column = columns.get(first_of(CONVERSATIONS, columns), "")
    names = [one.row.get("id") for one in rows]
    shared = all(map(is_name, names)) and 2 * len(set(names)) <= len(names)
    column = column or ("id" if shared and not any(identifier(one.row) for one in rows) else "")
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
            if all((one.speaker, one.text) == ("role", "content") for one in ordered):  # OpenAI's
                turns = turns_of([{**one.row, "role": roles[one.name]} for one in ordered])
            else:
                turns = [one.turn(roles[one.name]) for one in ordered]
            lines.append(Line(group[0].place, turns, {"id": name} if name else {}))
    notes = (f"messages are in the order of {time!r}",) if moved else ()
    return lines, notes if any(groups) else (*notes, "nothing names the conversation: all messages are one")


def _is_table(source: Source) -> bool:
    if source.is_folder or is_object(source.first):
        return False
    if source.begin.startswith(PARQUET):
        return True
    names = header_of(source.begin[:5000]) or ()
    columns = {re.sub(r"[\s-]+", "_", name.strip().lower()) for name in names} | {*names}
    return bool(columns & {*SPEAKERS, *CELLS, *_OF_ROWS, *_LISTS})


TABLES = Format("tables", "tables of messages: CSV, TSV, Parquet", _is_table, read_table)
