"""How many conversations, users and messages there are, and how long they are, by task and side."""

from collections.abc import Callable, Iterable, Sequence, Sized
from typing import ClassVar, TypeAlias

from ...data.languages import Language
from ...data.recllmsim import in_language
from ...data.records import Message, Record, Role
from .rows import Rows
from .talks import Conversations, Side, Talk, Talks, mean

Measure: TypeAlias = Callable[[str], int | Sized]
"""The length of a text, or its pieces: `len`, or a tokenizer such as `encoding.encode` or `jieba.lcut`."""


class TaskCounts(Record):
    """The conversations of one side about one task."""

    task: str
    side: Side
    conversations: int
    contexts: int
    """Different task contexts."""
    users: int
    """People, or different profiles of simulated users."""
    messages: int
    user_messages: int
    assistant_messages: int
    turns: float | None
    """Mean over conversations of messages // 2."""
    user_length: float | None
    """Mean over the user's messages."""
    assistant_length: float | None
    """Mean over the assistant's messages."""
    user_length_per_conversation: float | None
    """Mean over conversations of the length of all that the user says."""
    assistant_length_per_conversation: float | None


class Counts(Rows[TaskCounts]):
    """Basic counts of the published history, and lengths in characters or in a tokenizer's tokens.

    The published scripts "basic_statistics" and "basic_count", which count a tokenizer's tokens of the
    simulated users' Chinese translation; with a language the translation beside a message stands for it here too.
    """

    title: ClassVar[str] = "Basic counts"


def basic_counts(
    conversations: Conversations, length: Measure = len, unit: str = "characters", language: Language | None = None
) -> Counts:
    """A row for each task and side. Lengths are of the texts as they were said, or of those in the language."""
    talks = Talks.of(conversations)
    rows, unread = [], 0
    for number, (task, side, group) in enumerate(talks.groups()):
        user, assistant = ([_lengths(talk, role, length, language) for talk in group] for role in _ROLES)
        if number < 2 and task == "all":
            unread += sum(one is None for lengths in (*user, *assistant) for one in lengths)
        rows.append(
            TaskCounts(
                task=task,
                side=side,
                conversations=len(group),
                contexts=len({str(talk.conversation.scenario.get("task_context")) for talk in group}),
                users=len({talk.user for talk in group}),
                messages=sum(len(talk.messages) for talk in group),
                user_messages=sum(map(len, user)),
                assistant_messages=sum(map(len, assistant)),
                turns=mean([talk.turns for talk in group]),
                user_length=mean(_known(one for lengths in user for one in lengths)),
                assistant_length=mean(_known(one for lengths in assistant for one in lengths)),
                user_length_per_conversation=mean([sum(_known(lengths)) for lengths in user if None not in lengths]),
                assistant_length_per_conversation=mean(
                    [sum(_known(lengths)) for lengths in assistant if None not in lengths]
                ),
            )
        )
    return Counts(rows=tuple(rows), notes=tuple(_notes(talks, unit, language, unread)))


_ROLES: tuple[Role, Role] = ("user", "assistant")


def _lengths(talk: Talk, role: Role, length: Measure, language: Language | None) -> list[int | None]:
    """The length of each message; None for one that is not to be had in the language."""
    spoken = talk.conversation.scenario.get("language")
    return [_length(one, length, language, "zh" if spoken == "zh" else "en") for one in talk.said(role)]


def _length(message: Message, length: Measure, language: Language | None, spoken: Language) -> int | None:
    text = message.text if language is None else in_language(message, language, spoken)
    if text is None:
        return None
    told = length(text)
    return told if isinstance(told, int) else len(told)


def _known(lengths: Iterable[int | None]) -> list[int]:
    return [one for one in lengths if one is not None]


def _notes(talks: Talks, unit: str, language: Language | None, unread: int) -> Sequence[str]:
    notes = list(talks.notes)
    if not talks.talks:
        return notes
    spoken = sorted({str(talk.conversation.scenario.get("language", "en")) for talk in talks.talks})
    said = f"in the language {language}" if language else "as they were said"
    notes.append(f"Lengths: {unit} of the texts {said}. Turns: messages // 2. Users: people, or profiles.")
    if language is None and len(spoken) > 1:
        notes.append(f"Texts are in {' and '.join(spoken)}: lengths of different languages are not comparable.")
    if unread:
        notes.append(f"{unread} messages are not to be had in the language {language}: they have no length here.")
    if not any(talk.said("user") for talk in talks.talks):
        notes.append("No user says anything, so there is no length of a user's message.")
    joined = sum("new travel" in str(talk.conversation.scenario["task"]) for talk in talks.talks)
    if joined:
        notes.append(f"Travel planning holds {joined} conversations about new travel planning, as published tables do.")
    return notes
