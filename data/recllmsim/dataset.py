"""RecLLMSim files, each with one conversation: simulated with a profile as text, or of people with a structured profile.

As published with "To What Extent Can LLMs Assist in User Simulation for Task-Oriented Conversations" and
"Human vs. Agent in Task-Oriented Conversations" (SIGIR-AP 2025). Annotations become labels with their published names
and values, whose shapes differ between the variants; those whose key depends on the edition have the name of what they
hold (`published_labels`).
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from ...errors import DataError, at
from ..files.json_values import member
from ..formats.dialogues import difference
from ..records import Conversation, Message
from ..text.languages import Language, language_of
from .published_labels import KEYS, is_behaviour, keys_for, renamed
from .situations import Situation

Variant: TypeAlias = Literal["simulated", "human", "human_v2"]

MESSAGE_LABELS = ("intent", "intent_zh", "hallucination", "satisfaction", "reason")
"""Annotations of a message."""
MESSAGE_TRANSLATIONS = ("content_zh", "content_zh_old")
_OF_MESSAGE = ("content_zh", "intent", "intent_zh", "hallucination", "content_zh_old", "satisfaction", "reason")
TRANSLATIONS = ("preference_zh", "task_context_zh")

SIMULATED_KEYS = ("task", "preference_id", "task_context_id", "preference", "preference_zh", "task_context",
                  "task_context_zh", "history")  # fmt: skip
HUMAN_KEYS = ("chat_model", "history", "task_context", "task_type", "profile")
LABELS = ("chat_model", "questionnaire", "conflict", "preference_summary_old", "preference_summary", "rating",
          "satisfaction", "profile_mapped", "post_questions")  # fmt: skip
"""Annotations of a conversation in file order. Those that begin with `strategy` follow them, sorted."""

_STRATEGY = "strategy"
_NUMBERS = frozenset(map(str, range(1, 100)))
"""Names of votes."""


def from_object(value: Any, path: str | Path) -> Conversation:
    """The conversation of a parsed file, without an id; DataError names the place of an error."""
    if not isinstance(value, dict):
        raise DataError(f"{at(path)}: is not an object: a conversation is an object with 'history'")
    history = member(value, "history", list, path, advice="this is not a RecLLMSim file, or a broken one")
    messages = tuple(_message(turn, path, f"history[{number}]") for number, turn in enumerate(history))
    scenario = _situation(value, messages, path).scenario()
    keys = renamed(value)
    names: dict[str, str] = {key: name for name, key in keys.items()}
    labels: dict[str, Any] = {
        names.get(key, key): value[key]
        for key in map(str, value)
        if key in LABELS or key.startswith(_STRATEGY) or _is_voted(value[key])
    }
    extra: dict[str, Any] = {"variant": _variant(value)} | ({KEYS: keys} if keys else {})
    extra |= {key: value[key] for key in TRANSLATIONS if key in value}
    conversation = Conversation(id="", scenario=scenario, messages=messages, labels=labels, extra=extra)
    patch = difference(value | {"history": None}, _file(conversation) | {"history": None})
    if patch:
        conversation = conversation.model_copy(update={"extra": extra | {"file": patch}})
    return conversation


def to_object(conversation: Conversation) -> dict[str, Any]:
    """The conversation as the object of a file; ValueError if it is of another domain.

    A new simulation has the published keys in the published order, without keys that have no value. Left out are
    messages that are not stored and everything that the format cannot hold (see `unsupported_fields`).
    """
    history = [_turn(message) for message in conversation.messages if message.stored]
    return _restored(_file(conversation) | {"history": history}, conversation.extra.get("file"))


def unsupported_fields(conversation: Conversation) -> dict[str, int]:
    """Number of items by kind that a file cannot hold.

    A goodbye is not counted: it is left out on purpose.
    """
    published = {*SIMULATED_KEYS, *HUMAN_KEYS, *LABELS}
    labels = conversation.labels.items()
    unknown = [
        key
        for key, value in labels
        if not (key in published or is_behaviour(key) or key.startswith(_STRATEGY) or _is_voted(value))
    ]
    return {
        "rejected drafts": sum(attempt.verdict == "rejected" for attempt in conversation.attempts()),
        "tool calls": sum(len(message.tool_calls) for message in conversation.messages if message.stored),
        "spans": sum(len(message.spans) for message in conversation.messages if message.stored),
        "messages of a third role": sum(message.name is not None for message in conversation.messages),
    } | {f"label {label}": 1 for label in unknown}


def variant(conversation: Conversation) -> Variant:
    """The published variant to which the conversation belongs; ValueError if it is of another domain."""
    from_source = conversation.extra.get("variant")
    if from_source in get_args(Variant):
        return from_source  # type: ignore[return-value]
    situation = Situation.of(conversation)
    if situation.preference is not None or _is_simulated(conversation):
        return "simulated"
    return "human_v2" if "chat_model" in conversation.labels or "background" in (situation.profile or {}) else "human"


def _is_simulated(conversation: Conversation) -> bool:
    """Whether the user of a record is simulated, and not a stored user that is replayed.

    Its profile may still be a person's, where the scenario is that of a person's conversation.
    """
    user = conversation.provenance.nodes.get("user_simulator") if conversation.provenance is not None else None
    return user is not None and user.replays is None


def in_language(message: Message, language: Language, spoken: Language | None = None) -> str | None:
    """The message in a language: its own text or the source's translation; None if there is neither.

    `spoken` is the language of the conversation; without it the language is detected from the text.
    """
    translated = message.extra.get(f"content_{language}")
    if isinstance(translated, str):
        return translated
    return message.text if (spoken or language_of(message.text) or language) == language else None


def _variant(value: Mapping[str, Any]) -> Variant:
    if isinstance(value.get("preference"), str):
        return "simulated"
    return "human_v2" if "chat_model" in value or "background" in value.get("profile", {}) else "human"


def _situation(value: Mapping[str, Any], messages: Iterable[Message], path: str | Path) -> Situation:
    """The situation of a file's conversation: simulated if it has a preference, else of people."""
    simulated = value.get("preference") is not None
    profile_key = "preference" if simulated else "profile"
    if not isinstance(value.get(profile_key), str if simulated else dict):
        problem = (
            f"is not {'a text' if simulated else 'an object'}"
            if profile_key in value
            else "and 'preference' are missing"
        )
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


def _message(turn: Any, path: str | Path, where: str) -> Message:
    role = turn.get("role") if isinstance(turn, dict) else None
    if role not in ("user", "assistant") or not isinstance(text := turn.get("content"), str):
        raise DataError(f"{at(path, where)}: needs a 'role' (user or assistant) and a text as 'content': mend it there")
    labels = {key: turn[key] for key in turn if key in MESSAGE_LABELS}
    extra = {key: turn[key] for key in turn if key in MESSAGE_TRANSLATIONS}
    message = Message(role=role, text=text, labels=labels, extra=extra)
    patch = difference(turn, _turn(message))
    return message.model_copy(update={"extra": extra | {"turn": patch}}) if patch else message


def _turn(message: Message) -> dict[str, Any]:
    annotations = message.labels | message.extra
    turn: dict[str, Any] = {"role": message.role, "content": message.text}
    turn |= {key: annotations[key] for key in _OF_MESSAGE if key in annotations}
    return _restored(turn, message.extra.get("turn"))


def _file(conversation: Conversation) -> dict[str, Any]:
    """The object of a new simulation's file, with an empty history."""
    situation = Situation.of(conversation)
    of_situation = situation.model_dump(mode="python", exclude={"kind", "language"}, exclude_none=True)
    simulated = variant(conversation) == "simulated"
    if simulated and of_situation.pop("profile", None) is not None:
        of_situation["preference"] = situation.profile_text  # the one form that simulated users have in these files
    labels = _stored_labels(conversation)
    values = labels | of_situation | {"history": []}
    values |= {key: conversation.extra[key] for key in TRANSLATIONS if key in conversation.extra}
    if not simulated:
        values["task_type"] = values.pop("task")
    strategies = sorted(key for key in labels if key.startswith(_STRATEGY))
    voted = (key for key, value in labels.items() if _is_voted(value))
    keys = dict.fromkeys((*(SIMULATED_KEYS if simulated else HUMAN_KEYS), *LABELS, *strategies, *voted))
    return {key: values[key] for key in keys if key in values and values[key] is not None}


def label_keys_of(conversation: Conversation, new: Iterable[str] = ()) -> dict[str, str]:
    """By name the key of each label in the conversation's file, and of `new` ones; DataError as `keys_for`."""
    known = conversation.extra.get(KEYS)
    there = {str(name): str(key) for name, key in (known if isinstance(known, dict) else {}).items()}
    where = str(conversation.extra.get("path") or conversation.id)
    return keys_for(dict.fromkeys((*conversation.labels, *new)), there | _odd(conversation), where)


def _odd(conversation: Conversation) -> dict[str, str]:
    """Keys of a file that look like those of behaviour labels and hold none."""
    return {key: key for key in conversation.labels if key.startswith(_STRATEGY)}


def _stored_labels(conversation: Conversation) -> dict[str, Any]:
    """The labels under the keys of a file."""
    keys = label_keys_of(conversation)
    return {keys[name]: value for name, value in conversation.labels.items()}


def _is_voted(value: Any) -> bool:
    """Whether a key of a file holds a label with its votes, whatever its name: a label of somebody's own."""
    return isinstance(value, dict) and isinstance(value.get("final"), dict) and set(value) - {"final"} <= _NUMBERS


def _restored(derived: Mapping[str, Any], patch: Any) -> dict[str, Any]:
    """The original object from its patch, with annotations that were changed or added since."""
    fields = patch if isinstance(patch, dict) else {}
    merged = {**fields.get("values", {}), **derived}
    order = dict.fromkeys((*fields.get("order", ()), *derived, *merged))
    return {key: merged[key] for key in order if key in merged}
