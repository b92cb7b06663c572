"""How many conversations, users and messages there are, and how long they are, by task and side."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from functools import lru_cache
from typing import TypeAlias

from ...data.domains import in_language
from ...data.recllmsim import task_name
from ...data.records import Record, Role
from ...data.text.languages import Language
from ..tables import TypedRows
from .talks import ALL, SIDES, WHO, Conversations, Talks, TaskConversation, TaskSide, mean

LengthMeasure: TypeAlias = Callable[[str], int | Sized]
"""The length of a text, or its pieces: `len`, or a tokenizer such as `encoding.encode` or `jieba.lcut`."""


class TaskCounts(Record):
    """The conversations of one side about one task."""

    task: str
    side: TaskSide
    conversations: int
    contexts: int
    """Different task contexts."""
    users: int
    """People, or different profiles of simulated users."""
    messages: int
    turns: float | None
    """Mean over conversations of messages // 2."""


class BasicCounts(TypedRows[TaskCounts], title="Basic counts"):
    """Basic counts of the published history, as in the published scripts "basic_statistics" and "basic_count"."""


def basic_counts(conversations: Conversations) -> BasicCounts:
    """A row for each task and side."""
    talks = Talks.of(conversations)
    rows = [
        TaskCounts(
            task=task,
            side=side,
            conversations=len(group),
            contexts=len({str(talk.conversation.scenario.get("task_context")) for talk in group}),
            users=len({talk.user for talk in group}),
            messages=sum(len(talk.messages) for talk in group),
            turns=mean([talk.turns for talk in group]),
        )
        for task, side, group in talks.groups()
    ]
    notes = list(talks.notes)
    if rows:
        notes.append("Turns: messages // 2. Users: people, or different profiles.")
    sides = {talk.side for talk in talks.talks}
    notes += [f"There is no conversation of {WHO[side]}." for side in SIDES if rows and side not in sides]
    if joined := sum(task_name(str(talk.conversation.scenario["task"])) == "new_travel" for talk in talks.talks):
        notes.append(f"Travel planning holds {joined} conversations about new travel planning, as published tables do.")
    return BasicCounts(rows=tuple(rows), notes=tuple(notes))


class TaskLengths(Record):
    """How long the user's, or the assistant's, texts are in one side's conversations about one task."""

    task: str
    side: TaskSide
    role: Role
    messages: int
    per_message: float | None
    """Mean over the messages; the note of the table has the unit."""
    per_conversation: float | None
    """Mean over conversations of the total length of the role's messages."""


class TaskLengthTable(TypedRows[TaskLengths], title="Lengths"):
    """Lengths in characters or in a tokenizer's tokens.

    The published script "basic_count" counts a tokenizer's tokens, of simulated users those of the Chinese translation.
    With a language the translation beside a message stands for it here too.
    """


def lengths(
    conversations: Conversations,
    length: LengthMeasure = len,
    unit: str = "characters",
    language: Language | None = None,
) -> TaskLengthTable:
    """A row for each task, side and role.

    Lengths are of the texts as they were said, or of those in the language.
    """
    talks = Talks.of(conversations)
    rows, unread = [], 0
    measured = lru_cache(maxsize=None)(lambda text: counted(length, text))  # a tokenizer may be slow
    for task, side, group in talks.groups():
        for role in _ROLES:
            of_messages = [_lengths(talk, role, measured, language) for talk in group]
            read = [number for of_talk in of_messages for number in of_talk if number is not None]
            messages = sum(map(len, of_messages))
            unread += messages - len(read) if task == ALL else 0
            rows.append(
                TaskLengths(
                    task=task,
                    side=side,
                    role=role,
                    messages=messages,
                    per_message=mean(read),
                    per_conversation=_mean_total(of_messages),
                )
            )
    return TaskLengthTable(rows=tuple(rows), notes=tuple(_notes(talks, unit, language, unread)))


_NAMES: Mapping[Language, str] = {"en": "English", "zh": "Chinese"}
_ROLES: tuple[Role, Role] = ("user", "assistant")


def _lengths(
    talk: TaskConversation, role: Role, measured: Callable[[str], int], language: Language | None
) -> list[int | None]:
    """The length of each message; None where there is no text in the language."""
    spoken: Language = "zh" if talk.conversation.scenario.get("language") == "zh" else "en"
    texts = (
        message.text if language is None else in_language(message, language, spoken)
        for message in talk.messages_of(role)
    )
    return [None if text is None else measured(text) for text in texts]


def counted(length: LengthMeasure, text: str) -> int:
    """The length of the text, by a function that gives it or its pieces."""
    measured = length(text)
    if isinstance(measured, Sized):
        return len(measured)
    return sum(1 for _ in measured) if isinstance(measured, Iterable) else int(measured)


def _mean_total(lengths: Sequence[Sequence[int | None]]) -> float | None:
    """Over conversations whose every message has a length."""
    return mean([sum(number for number in of_talk if number is not None) for of_talk in lengths if None not in of_talk])


def _notes(talks: Talks, unit: str, language: Language | None, unread: int) -> Sequence[str]:
    notes = list(talks.notes)
    if not talks.talks:
        return notes
    spoken = sorted({str(talk.conversation.scenario.get("language", "en")) for talk in talks.talks})
    as_read = f"in {_NAMES[language]}" if language else "as they were written"
    notes.append(
        f"{unit.capitalize() if unit.islower() else unit} of the texts {as_read}: mean over messages, and over conversations' totals."
    )
    if language is None and len(spoken) > 1:
        notes.append(
            "Texts are in English and Chinese: lengths of the two are not comparable; name a language for that."
        )
    if unread:
        notes.append(f"{unread} messages are not to be had in {_NAMES[language or 'en']}: they have no length here.")
    if not any(talk.messages_of("user") for talk in talks.talks):
        notes.append("No user wrote anything, so there is no length of a user's message.")
    return notes
