"""Conversations whose turns name a speaker and a text, under any keys: data sets of conversations, and many logs.

Taskmaster has `utterances` of `speaker` and `text`, Schema-Guided Dialogue `turns` of `speaker` and `utterance`, CrossWOZ
`messages` of the roles `usr` and `sys`; sdialog and DialogueKit have such turns too.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import DataError, at
from ..files.broken_lines import readable
from ..files.json_values import elements
from ..formats import messages
from ..formats.detection import ConversationStream, Format, Source
from ..formats.turns import Turn, role_of
from ..records import is_object
from . import rows
from .key_names import LISTS, NAMES, SPEAKERS, TEXTS
from .requests import is_turn

_OF_DIALOGUES = ("speaker", "interlocutor", "participant", "说话人", "说话者", "发言人")
"""Keys under which data sets of dialogues write `system` for the assistant."""
_SIDES = {"usr": "user", "sys": "assistant", "prompter": "user"}
_PLAIN = ("user", "assistant", "system")

_UNKNOWN = (
    "write user and assistant in their place, or read the file with a format of your own "
    "(--log-format MODULE:NAME, docs/extend/log_format.md)"
)


RESERVED = (
    "id", "messages", "role", "content", "parts", "tool_calls", "function_call", "tool_call_id", "system", "choices",
    "response", "completion", "output", "preferred_output", "chosen", "conversations",
)  # fmt: skip
"""Keys that mean something in a line of messages, or in one of its messages: others' keys of that name go under another."""


class _Keys(NamedTuple):
    """Where a dialogue has its turns, and these their speaker and their text."""

    turns: str
    speaker: str
    text: str


@dataclass
class _Dialogue:
    """A dialogue of a file, whose speakers are not yet user and assistant."""

    place: str
    value: Mapping[str, Any]
    keys: _Keys
    turns: list[tuple[str, str, dict[str, Any]]]
    """Speaker, text and further keys of each turn."""
    name: str = ""
    split: str = ""


def read(path: str | Path) -> ConversationStream:
    """A conversation for each dialogue; DataError for one without turns of a speaker and a text.

    A file may hold a list of dialogues, one a line, an object of them by their ids, or an object of such lists. The
    generator's result is the notes.
    """
    return of_values(path, elements(path))


def of_values(path: str | Path, values: Iterable[tuple[str, Any]]) -> ConversationStream:
    """The conversations of dialogues, each with its place in the file; what the speakers are depends on all of them."""
    dialogues: list[_Dialogue] = []
    empty = 0
    for place, value in values:
        with readable(place):
            found = list(_dialogues(path, place, value))
            dialogues += [one for one in found if one is not None]
            empty += found.count(None)
    roles = _roles(path, dialogues)
    yield from messages.iterate(path, ((one.place, _line(one, roles)) for one in dialogues))
    return (f"{empty} dialogue{'s' if empty > 1 else ''} without turns left out",) if empty else ()


def is_dialogue(value: Any) -> bool:
    """Whether a value has turns of a speaker and a text."""
    return is_object(value) and _keys(value) is not None


def _keys(value: Mapping[str, Any]) -> _Keys | None:
    for name in LISTS:
        turns = value.get(name)
        if not isinstance(turns, list) or not turns or not all(map(is_object, turns)):
            continue
        if name == "history" and rows.is_row(value):
            continue
        if name in ("messages", "conversation", "conversations") and any(map(is_turn, turns[:3])):
            return None  # whatever other keys its messages have
        for speaker in SPEAKERS:
            for text in TEXTS:
                if all(_speaker(turn, speaker) and isinstance(turn.get(text), str) for turn in islice(turns, 3)):
                    keys = _Keys(name, speaker, text)
                    return None if _is_other_form(keys, turns) else keys
    return None


def _is_other_form(keys: _Keys, turns: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the turns are those of `messages`, `completions` or `sharegpt`, which are read as they are."""
    if keys[1:] == ("role", "content") and turns[0]["role"] not in _SIDES:
        return keys.turns == "messages" or (
            keys.turns in ("conversation", "conversations", "turns", "trajectory") and is_turn(turns[0])
        )
    return keys == ("conversations", "from", "value")


def _speaker(turn: Mapping[str, Any], key: str) -> str:
    """The name of a turn's speaker; of an object its role or name."""
    name = turn.get(key)
    name = (name.get("role") or name.get("name")) if is_object(name) else name
    return str(name) if isinstance(name, str | int) and not isinstance(name, bool) else ""


def _dialogues(path: str | Path, place: str, value: Any, name: str = "", split: str = "") -> Iterator[_Dialogue | None]:
    """The dialogues of a value, None for each without turns; DataError if it has neither."""
    if is_object(value) and (keys := _keys(value)) is not None:
        turns = enumerate(value[keys.turns])
        spoken = [_turn(turn, keys, at(path, place, f"turn {number}")) for number, turn in turns]
        yield _Dialogue(place, value, keys, spoken, name, split)
    elif _is_empty(value):
        yield None
    elif inner := _dialogues_in(value):
        for where, own_name, own_split, dialogue in inner:
            yield from _dialogues(path, f"{place}, {where}", dialogue, own_name, own_split)
    else:
        has = ", ".join(list(value)[:12]) if is_object(value) else f"a {type(value).__name__}"
        raise DataError(
            f"{at(path, place)}: has no turns: give a list under {', '.join(LISTS[:5])} or such, of a role and a text; "
            f"it has {has}"
        )


def _is_empty(value: Any) -> bool:
    return is_object(value) and any(value.get(key) == [] for key in LISTS)


def _dialogues_in(value: Any) -> list[tuple[str, str, str, Any]]:
    """Place, name, split and value of each dialogue of an object.

    It holds them by their ids, or in lists.
    """
    if not is_object(value):
        return []
    first = next((inner for inner in value.values() if not _is_empty(inner)), None)
    if is_dialogue(first) and all(map(is_object, value.values())):
        return [(repr(key), key, "", inner) for key, inner in value.items()]
    lists = {key: inner for key, inner in value.items() if isinstance(inner, list) and any(map(is_dialogue, inner[:3]))}
    return [
        (f"{key}[{number}]", "", key if len(lists) > 1 else "", inner)
        for key, listed in lists.items()
        for number, inner in enumerate(listed)
    ]


def _turn(turn: Mapping[str, Any], keys: _Keys, where: str) -> tuple[str, str, dict[str, Any]]:
    name, text = _speaker(turn, keys.speaker), turn.get(keys.text)
    if not name or not isinstance(text, str):
        raise DataError(
            f"{where}: needs a role as {keys.speaker!r} and a text as {keys.text!r}, as the first turns have"
        )
    further = {key: value for key, value in turn.items() if key not in (keys.speaker, keys.text)}
    if is_object(turn[keys.speaker]) or name.lower() not in _PLAIN:
        further = {keys.speaker: turn[keys.speaker], **further}
    return name, text, further


def _roles(path: str | Path, dialogues: Sequence[_Dialogue]) -> dict[str, str]:
    """The role of each speaker of the file; DataError that names those without one."""
    places: dict[str, str] = {}
    for dialogue in dialogues:
        for name, _, _ in dialogue.turns:
            places.setdefault(name, dialogue.place)
    roles = {name: _SIDES.get(name.lower()) or role_of(name) or "" for name in places}
    if unknown := [name for name, role in roles.items() if not role]:
        listed = ", ".join(map(repr, unknown[:6])) + (f" and {len(unknown) - 6} more" if len(unknown) > 6 else "")
        raise DataError(f"{at(path, places[unknown[0]])}: {listed}: neither user nor assistant by name: {_UNKNOWN}")
    if "assistant" not in roles.values() and {one.keys.speaker for one in dialogues} <= {*_OF_DIALOGUES}:
        roles = {name: "assistant" if role == "system" else role for name, role in roles.items()}
    return roles


def _line(dialogue: _Dialogue, roles: Mapping[str, str]) -> dict[str, Any]:
    """The dialogue as a line of messages, with its further keys."""
    value = dialogue.value
    key = next((key for key in NAMES if _is_name(value.get(key))), "")
    name = dialogue.name or (str(value[key]) if key else "")
    taken = {dialogue.keys.turns, *([key] if key and str(value[key]) == name else [])}
    further = _apart({one: inner for one, inner in value.items() if one not in taken}, "row")
    split = {"split": dialogue.split} if dialogue.split and "split" not in further else {}
    turns: list[Turn] = [
        {"role": roles[speaker], "content": text, **_apart(more, "turn")} for speaker, text, more in dialogue.turns
    ]
    return {**({"id": name} if name else {}), **split, **further, "messages": turns}


def _apart(further: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Further keys; those of a reserved name go under the key."""
    reserved = {one: inner for one, inner in further.items() if one in RESERVED}
    others = {one: inner for one, inner in further.items() if one not in RESERVED}
    return others | ({key: reserved} if reserved else {})


def _is_name(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and str(value) != ""


def _recognised(source: Source) -> bool:
    return is_dialogue(source.first) or bool(_dialogues_in(source.first))


FORMAT = Format(
    "dialogues",
    "dialogues whose turns have a role and a text",
    _recognised,
    read,
    sign=f"a list of turns with a role ({', '.join(SPEAKERS)}) and a text ({', '.join(TEXTS)})",
)
