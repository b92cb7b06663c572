"""RecLLMSim's data sets: a file for each conversation, simulated with a profile as text or of people with a structured one.

As published with "To What Extent Can LLMs Assist in User Simulation for Task-Oriented Conversations" and
"Human vs. Agent in Task-Oriented Conversations" (SIGIR-AP 2025). Annotations become labels with their published names;
those whose key depends on the edition have the name of what they hold (`published_labels`).
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeAlias, cast, get_args

from ...errors import DataError, at
from ..domains import NO_LABELS, Dataset, Domain, Material, labelled
from ..files.json import difference, member, read_json, write_json
from ..files.paths import content, json_files
from ..formats.source import Contents, Format, Source
from ..identity import digest, named
from ..records import HUMAN, Conversation, Label, Message, as_list, as_object
from ..rules.linter import DIALOGUE_RULES
from ..text.languages import language_of
from .profiles import KIND, Situation
from .published_labels import FINAL, KEYS, LABELS, OF_MESSAGE, keys_for, label_of, published, renamed
from .tasks import task_name

Variant: TypeAlias = Literal["simulated", "human", "human_v2"]

TRANSLATIONS = ("preference_zh", "task_context_zh", "content_zh", "content_zh_old")
"""Translations, which are no labels."""

SIMULATED_KEYS = ("task", "preference_id", "task_context_id", "preference", "preference_zh", "task_context",
                  "task_context_zh", "history")  # fmt: skip
HUMAN_KEYS = ("chat_model", "history", "task_context", "task_type", "profile")
_BY_PATH = "by_path"
"""Field of `extra`: keys of the situation that are not in the file, but in its path."""
_FILE, _TURN = "file", "turn"
"""Fields of `extra`: what a file, or a turn in it, holds in another form or order than ours (`difference`)."""
_STRATEGY = "strategy"
INDENT = 4
"""Indent of the published files, which have no final newline."""

_BESIDE = {"task_context", "task_type", "preference", "profile"}
"""Keys of which every conversation has two or more: rows of data for fine-tuning have a `history` too."""

_USER = re.compile(r"User_\d+")
_UNSAFE = re.compile(r'[\x00-\x1f/\\:*?"<>|]+')


def from_object(value: Any, path: str | Path) -> Conversation:
    """The conversation of a parsed file, without an id; DataError names the place of an error."""
    if not isinstance(value, dict):
        raise DataError(f"{at(path)}: is not an object: a conversation is an object with 'history'")
    history = member(value, "history", list, path, advice="this is not a RecLLMSim file, or a broken one")
    messages = tuple(_message(turn, path, f"history[{number}]") for number, turn in enumerate(history))
    in_path = _in_path(value, Path(path))
    scenario = _situation(value | in_path, messages, path).scenario()
    keys = renamed(value)
    names: dict[str, str] = {key: name for name, key in keys.items()}
    labelled_keys = {names.get(key, key): key for key in map(str, value) if _is_label(key, value)}
    labels = {name: label_of(name, value[key]) for name, key in labelled_keys.items()}
    extra: dict[str, Any] = {"variant": _variant("preference" in scenario, value, value.get("profile", {}))}
    extra |= {key: kept for key, kept in ((KEYS, keys), (_BY_PATH, sorted(in_path))) if kept}
    extra |= {key: value[key] for key in TRANSLATIONS if key in value}
    conversation = Conversation(id="", scenario=scenario, messages=messages, labels=labels, extra=extra)
    patch = difference(value | {"history": None}, _file(conversation) | {"history": None})
    if patch:
        conversation = conversation.model_copy(update={"extra": extra | {_FILE: patch}})
    return conversation


def to_object(conversation: Conversation) -> dict[str, Any]:
    """The conversation as the object of a file; ValueError if it is of another domain.

    A new simulation has the published keys in the published order, without keys that have no value. Left out are
    messages that are not stored and everything that the format cannot hold (see `unsupported`).
    """
    history = [_turn(message) for message in conversation.messages if message.stored]
    return _restored(_file(conversation) | {"history": history}, conversation.extra.get(_FILE))


def unsupported(conversation: Conversation) -> list[str]:
    """What a file cannot hold of a conversation, by kind; a goodbye is left out on purpose, and is not listed."""
    stored = [message for message in conversation.messages if message.stored]
    kinds: dict[str, Any] = {
        "rejected drafts": any(attempt.verdict == "rejected" for attempt in conversation.attempts()),
        "tool calls": any(message.tool_calls for message in stored),
        "spans": any(message.spans for message in stored),
        "messages of a third role": any(message.name is not None for message in conversation.messages),
    } | {
        f"label {name}": not _is_label(name, {name: published(name, label)})
        for name, label in conversation.labels.items()
        if label != Label()
    }
    return [kind for kind, is_lost in kinds.items() if is_lost]


def variant(conversation: Conversation) -> Variant:
    """The published variant to which the conversation belongs; ValueError if it is of another domain."""
    from_source = conversation.extra.get("variant")
    if from_source in get_args(Variant):
        return cast(Variant, from_source)
    situation = Situation.of(conversation)
    user = conversation.provenance.nodes.get("user_simulator") if conversation.provenance is not None else None
    # The profile of a simulated user may be a person's, where the scenario is that of a person's conversation.
    simulated = situation.preference is not None or (user is not None and user.replays is None)
    return _variant(simulated, conversation.labels, situation.profile or {})


def _variant(simulated: bool, labels: Mapping[str, Any], profile: Mapping[str, Any]) -> Variant:
    if simulated:
        return "simulated"
    return "human_v2" if "chat_model" in labels or "background" in profile else "human"


def _situation(value: Mapping[str, Any], messages: Iterable[Message], path: str | Path) -> Situation:
    """The situation of a file's conversation: simulated if it has a preference, else of people."""
    simulated = value.get("preference") is not None
    profile_key = "preference" if simulated else "profile"
    if not isinstance(value.get(profile_key), str if simulated else dict):
        kind = "a text" if simulated else "an object"
        problem = f"is not {kind}" if profile_key in value else "and 'preference' are missing"
        raise DataError(f"{at(path)}: {profile_key!r} {problem}: a conversation has the profile of its user")
    task = member(value, "task" if simulated else "task_type", str, path)
    context = member(value, "task_context", str, path)
    numbers: dict[str, Any] = {}
    for key in ("task_context_id", "preference_id") if simulated else ():
        number = value.get(key)
        if key in value and type(number) is not int:
            raise DataError(f"{at(path)}: {key!r} is not a whole number: mend the file there")
        numbers[key] = number
    language = language_of(context) or language_of("".join(message.text for message in messages)) or "en"
    return Situation(language=language, task=task, task_context=context, **numbers, **{profile_key: value[profile_key]})


def _in_path(value: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """What the published generator writes into the path `TASK_ENV/PID_CTX.json` (or `TASK/...`) alone; else nothing."""
    numbers = re.fullmatch(r"(\d+)_(\d+)(_\w+)?", path.stem)  # behind them the number of a repeat
    if "task" in value or value.get("preference") is None or numbers is None:
        return {}
    folder = path.resolve().parent.name
    shorter = folder.rpartition("_")[0]
    task = shorter if task_name(folder) == "other" and task_name(shorter) != "other" else folder
    of_path = {"task": task, "preference_id": int(numbers[1]), "task_context_id": int(numbers[2])}
    return {key: found for key, found in of_path.items() if key not in value}


def _message(turn: Any, path: str | Path, where: str) -> Message:
    role = turn.get("role") if isinstance(turn, dict) else None
    if role not in ("user", "assistant") or not isinstance(text := turn.get("content"), str):
        raise DataError(f"{at(path, where)}: needs a 'role' (user or assistant) and a text as 'content': mend it there")
    extra = {key: turn[key] for key in turn if key in TRANSLATIONS}
    known = {"role", "content", *extra, *NO_LABELS}
    labels = {key: label_of(key, turn[key]) for key in turn if key not in known and turn[key] is not None}
    message = Message(role=role, text=text, labels=labels, extra=extra)
    patch = difference(turn, _turn(message))
    return message.model_copy(update={"extra": extra | {_TURN: patch}}) if patch else message


def _turn(message: Message) -> dict[str, Any]:
    values = _published(message.labels, message.extra.get(_TURN))
    values |= {key: message.extra[key] for key in TRANSLATIONS if key in message.extra}
    keys = dict.fromkeys((*OF_MESSAGE, *message.labels))
    turn = {"role": message.role, "content": message.text}
    turn |= {key: values[key] for key in keys if values.get(key) is not None}
    return _restored(turn, message.extra.get(_TURN))


def _published(labels: Mapping[str, Label], patch: Any, keys: Mapping[str, str] | None = None) -> dict[str, Any]:
    """By key what a file holds of labels: what it held in another form than ours, as long as the label is the same."""
    values: dict[str, Any] = {}
    for name, label in labels.items():
        key = name if keys is None else keys[name]
        held = as_object(as_object(patch).get("values")).get(key)
        values[key] = published(name, label) if held is None or label_of(name, held) != label else held
    return values


def _file(conversation: Conversation) -> dict[str, Any]:
    """The object of a new simulation's file, with an empty history."""
    situation = Situation.of(conversation)
    of_situation = situation.model_dump(mode="python", exclude={"kind", "language"}, exclude_none=True)
    simulated = variant(conversation) == "simulated"
    if simulated and of_situation.pop("profile", None) is not None:
        of_situation["preference"] = situation.profile_text  # the one form that simulated users have in these files
    labels = _published(conversation.labels, conversation.extra.get(_FILE), _label_keys_of(conversation))
    values = labels | of_situation | {"history": []}
    values |= {key: conversation.extra[key] for key in TRANSLATIONS if key in conversation.extra}
    if not simulated:
        values["task_type"] = values.pop("task")
    strategies = sorted(key for key in labels if key.startswith(_STRATEGY))
    own = (key for key in labels if _is_label(key, labels))
    keys = dict.fromkeys((*(SIMULATED_KEYS if simulated else HUMAN_KEYS), *LABELS, *strategies, *own))
    left = as_list(conversation.extra.get(_BY_PATH))
    return {key: values[key] for key in keys if values.get(key) is not None and key not in left}


def _label_keys_of(conversation: Conversation) -> dict[str, str]:
    """By name the key of each label in the conversation's file; DataError as `keys_for`."""
    # A key may look like that of a behaviour label and hold none.
    odd = {name: name for name in conversation.labels if name.startswith(_STRATEGY)}
    there = {**as_object(conversation.extra.get(KEYS)), **odd}
    return keys_for(conversation.labels, there, str(conversation.extra.get("path") or conversation.id))


def _is_label(key: str, values: Mapping[str, Any]) -> bool:
    """Whether a key of a file holds a label: a published one, or somebody's own with votes or by people."""
    published_key = key in LABELS or key.startswith(_STRATEGY)
    own = HUMAN in key or f"{key}{HUMAN}" in values or FINAL in as_object(values[key])
    return (published_key or own) and values[key] is not None


def _restored(derived: Mapping[str, Any], patch: Any) -> dict[str, Any]:
    """The original object from its patch, with annotations that were changed or added since."""
    fields = as_object(patch)
    merged = {**fields.get("values", {}), **derived}
    order = dict.fromkeys((*fields.get("order", ()), *derived, *merged))
    return {key: merged[key] for key in order if key in merged}


def is_history(value: Any) -> bool:
    """Whether a file's value is a RecLLMSim conversation, possibly a broken one."""
    if not isinstance(value, dict) or any(isinstance(value.get(key), list) for key in ("messages", "conversations")):
        return False  # a line of a log may name a profile too
    beside = value.keys() & _BESIDE
    return ("history" in value and (bool(beside) or len(value) == 1)) or {"task_context", "profile"} <= beside


def holds_conversations(source: Source) -> bool:
    """Whether a file, or any file below a folder, is a RecLLMSim conversation, possibly cut off."""
    return _any_history(source.path) if source.is_folder else is_history(source.value)


def _any_history(folder: Path) -> bool:
    for file in json_files(folder):
        try:
            has_history = b'"history"' in content(file)
        except DataError:  # it cannot be read, so it decides nothing
            continue
        try:
            if has_history and is_history(read_json(file)):
                return True
        except DataError:
            return True
    return False


def read_folder(path: str | Path) -> Contents:
    """The conversations of a file or of all files below a folder, and the unreadable files.

    `extra["path"]` of each conversation is its path relative to the folder, or the name of a single file. The notes give the
    number of each variant, and the files that hold no conversation, such as a map. DataError if there is no
    conversation at all.
    """
    root = Path(path)
    read: list[Conversation] = []
    broken: list[str] = []
    others: list[str] = []
    for file in json_files(root) if root.is_dir() else [root]:
        relative = file.relative_to(root).as_posix() if file != root else file.name
        try:
            value = read_json(file)
            if file != root and not is_history(value):
                others.append(relative)
                continue
            conversation = from_object(value, file)
        except DataError as error:
            broken.append(str(error))
        else:
            extra = {"path": relative} | conversation.extra
            above = _user_folder(file.resolve().parts[-3:])  # as published, whatever part of it was given
            if above and not _user_folder(PurePosixPath(relative).parts) and variant(conversation) != "simulated":
                extra["user_folder"] = above
            read.append(conversation.model_copy(update={"extra": extra}))
    if not read:
        raise DataError(broken[0] if broken else f"{at(path)}: holds no RecLLMSim conversation: give their folder")
    conversations = tuple(named(read))
    counts = sorted(Counter(map(variant, conversations)).items())
    notes = ["conversations: " + ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts)]
    if without := sum(variant(one) != "simulated" and not user_folder(one) for one in conversations):
        notes.append(
            f"{without} conversations of people stand in no folder User_k: users, and so the development and "
            "test split, are taken from their profiles"
        )
    if others:
        notes.append(f"passed over, no conversation: {', '.join(others[:3])}{', ...' if len(others) > 3 else ''}")
    return Contents(conversations, tuple(notes), tuple(broken))


def write(conversations: Iterable[Conversation], folder: str | Path) -> list[str]:
    """Write one file for each conversation below the folder, in the published layout byte for byte.

    A conversation that was read gets its relative path again, of a repeat with its number behind it (`_2`, `_3` ...). A
    simulated one, and one whose path is taken or cannot be had, gets `<task>/<preference_id>_<task_context_id>.json`,
    with the conversation's id appended if that is taken too. Returns a line for each thing that was left out.
    """
    root = Path(folder)
    taken: set[str] = set()
    lost: Counter[str] = Counter()
    for conversation in conversations:
        lost.update(unsupported(conversation))
        path = _own_path(conversation)
        if path is None or path.casefold() in taken:
            lost["the path, which is taken or leads out of the folder"] += "path" in conversation.extra
            path = _fresh_path(conversation, taken)
        taken.add(path.casefold())
        write_json(root / path, to_object(conversation), indent=INDENT)
    return [f"{kind}, of {count} conversation{'s' if count > 1 else ''}" for kind, count in lost.items() if count]


def _own_path(conversation: Conversation) -> str | None:
    """The path that it was read from; None for one that can lead out of the folder, or name its card."""
    path = str(conversation.extra.get("path") or "")
    file = PurePosixPath(path)
    if (
        not file.name
        or file.is_absolute()
        or {"..", "readme.md"} & {*map(str.lower, file.parts)}
        or {*path} & {*"\\\0"}
    ):
        return None
    return str(file.with_stem(f"{file.stem}_{conversation.repeat + 1}")) if conversation.repeat else path


def _fresh_path(conversation: Conversation, taken: set[str]) -> str:
    situation = Situation.of(conversation)
    numbers = (situation.preference_id, situation.task_context_id)
    stem = conversation.id if None in numbers else "_".join(map(str, numbers))
    if conversation.repeat and None not in numbers:
        stem += f"_{conversation.repeat + 1}"
    task = _UNSAFE.sub("_", situation.task).strip(". ")[:60] or "task"
    path = f"{task}/{stem}.json"
    return path if path.casefold() not in taken else f"{task}/{stem}_{conversation.id}.json"


def user_folder(conversation: Conversation) -> str:
    """The folder `User_k` that a person's conversation was read from; empty if it stood in none."""
    folder = conversation.extra.get("user_folder")
    in_path = _user_folder(PurePosixPath(str(conversation.extra.get("path", ""))).parts)
    return in_path or (folder if isinstance(folder, str) else "")


def _user_folder(parts: Sequence[str]) -> str:
    return next((part for part in reversed(parts[:-1]) if _USER.fullmatch(part)), "")


def cluster(conversation: Conversation) -> str:
    """Id of the user.

    For people it is the variant with the folder `User_k` (the profile may change between conversations), also where only
    a part of that folder was given; without such a folder the profile's digest. For simulated users it is the digest of
    the profile's text, so that equal profiles with two ids are one user.
    """
    situation = Situation.of(conversation)
    kind = variant(conversation)
    if kind != "simulated" and (folder := user_folder(conversation)):
        return f"{kind}/{folder}"
    profile = situation.profile_text if kind == "simulated" else situation.preference or situation.profile
    return f"{kind}/{digest(profile)[:16]}"


_SHOWN_FIRST = ("task", "task_context", "preference", "profile")


class RecLLMSim(Domain):
    """A user with a profile plans something with an assistant (RecLLMSim, SIGIR-AP 2025)."""

    kind = KIND
    formats = (Format("recllmsim", "RecLLMSim JSON", holds_conversations, read_folder),)
    dataset = Dataset("", "a conversation a file, in RecLLMSim's format", write, "TASK/FILE.json")
    rules = DIALOGUE_RULES

    def material(self, scenario: Mapping[str, Any]) -> tuple[Material, ...]:
        others = (key for key, value in scenario.items() if isinstance(value, (str, dict)))
        keys = dict.fromkeys((*_SHOWN_FIRST, *others))
        return labelled(scenario, [key for key in keys if key not in ("kind", "digest")])

    def user(self, conversation: Conversation) -> str:
        return cluster(conversation)

    def simulated(self, conversation: Conversation) -> bool | None:
        try:
            return variant(conversation) == "simulated"
        except DataError:  # a scenario of one's own under this kind
            return None


DOMAIN = RecLLMSim()
