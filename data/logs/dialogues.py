"""Conversations whose turns name a speaker and a text, under any keys: data sets of conversations, and many logs.

CrossWOZ has `messages` of the roles `usr` and `sys`, Taskmaster `utterances` of `speaker` and `text`, Schema-Guided Dialogue
`turns` of `speaker` and `utterance`; sdialog and DialogueKit have such turns too. Of several known keys that are there the
first counts. Names of roles, which are values, are in `formats.turns`.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ...errors import DataError, at
from ..files.json import STRICT, Broken, elements
from ..formats.messages import Line, talks_of
from ..formats.source import ConversationStream, Format, Source
from ..formats.turns import SIDES, Turn, is_item, is_turn, plain_role
from ..records import as_object, is_object

IDS = ("conversation_id", "thread_id", "session_id", "chat_id", "dialog_id", "dialogue_id", "conversation_hash")
"""Keys that name the conversation of a line."""
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
    *IDS, "conversation", "thread", "session", "chat", "dialogue", "dialog", "convo_id", "ticket_id",
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


T = TypeVar("T")


def first_of(names: Iterable[str], present: Iterable[str]) -> str:
    """The first of the names that is present; empty without one."""
    own = set(present)
    return next((name for name in names if name in own), "")


def is_name(value: Any) -> bool:
    """Whether a value is a text or a whole number."""
    return isinstance(value, str | int) and not isinstance(value, bool) and str(value) != ""


def identifier(value: Mapping[str, Any]) -> str:
    """The id of the conversation that a line or its metadata names; empty without one."""
    holders = (value, as_object(value.get("metadata")))
    return next((str(holder[key]) for holder in holders for key in IDS if is_name(holder.get(key))), "")


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

    @property
    def is_plain(self) -> bool:
        """Whether it has the keys of OpenAI's messages."""
        return (self.speaker, self.text) == ("role", "content")

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


def read(path: str | Path, broken: Broken = STRICT) -> ConversationStream:
    """A conversation for each dialogue; DataError for one without turns of a speaker and a text.

    A file may hold a list of dialogues, one a line, or an object of them by their ids or in a list. The generator's result is the
    notes.
    """
    return talks_of(path, elements(path, broken), broken, dialogues_of)


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


def _recognised(source: Source) -> bool:
    return is_dialogue(source.first) or bool(_dialogues_in(source.first))


FORMAT = Format("dialogues", "dialogues whose turns have a role and a text", _recognised, read)
