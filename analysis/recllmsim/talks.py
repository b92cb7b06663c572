"""The counted unit: task-oriented conversations, each with its side, its task, its user and its assistant."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, pstdev
from typing import Literal, TypeAlias

from ...data.labels.reading import annotations_of
from ...data.loading import annotated_in
from ...data.recllmsim import DOMAIN, cluster, common_task, variant
from ...data.records import Conversation, Message, Role
from ..attempts import speaker_of
from ..labels.reliability import Trusts

TaskSide: TypeAlias = Literal["simulated", "people"]

SIDES: tuple[TaskSide, ...] = ("simulated", "people")
WHO: Mapping[TaskSide, str] = {"simulated": "simulated users", "people": "people"}
ALL = "all"
"""The row of all tasks, or of all assistants, together."""
NOT_TOLD = "not told"


@dataclass(frozen=True)
class TaskConversation:
    """One conversation as the tables count it: the messages of its published history."""

    conversation: Conversation
    side: TaskSide
    task: str
    """By its common name; both sets of travel contexts are one task."""
    user: str
    """The person, or the profile: conversations of one are not independent."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages that are in the published files."""
        return tuple(message for message in self.conversation.messages if message.stored)

    def messages_of(self, role: Role) -> list[Message]:
        """The messages of one side, in their order."""
        return [message for message in self.messages if message.role == role]

    @property
    def turns(self) -> int:
        """Half of the messages, rounded down: the published count."""
        return len(self.messages) // 2

    @property
    def assistant(self) -> str:
        """The model that answered: as the file names it (`chat_model`), or the run; else `not told`."""
        named = self.conversation.labels.get("chat_model")
        return named if isinstance(named, str) and named.strip() else speaker_of(self.conversation, "assistant")


@dataclass(frozen=True)
class Talks:
    """The task-oriented ones of some conversations."""

    talks: tuple[TaskConversation, ...]
    notes: tuple[str, ...] = ()
    """What was left out, and whether nothing is left."""
    annotated: frozenset[str] = frozenset()
    """Keys of labels that annotators wrote into the source (`Loaded.annotated`)."""

    @cached_property
    def trusts(self) -> Trusts:
        """How far the labels of these conversations can be trusted."""
        return Trusts.of((talk.conversation for talk in self.talks), self.annotated)

    @classmethod
    def of(cls, conversations: "Conversations") -> "Talks":
        """Those about a task and a profile; the others are counted in a note."""
        if isinstance(conversations, Talks):
            return conversations
        talks, other = [], []
        for conversation in conversations:
            if (talk := _talk(conversation)) is not None:
                talks.append(talk)
            else:
                other.append(conversation)
        notes = [f"{len(other)} conversations are about no task with a profile: left out."] if other else []
        if labelled := sum(bool(annotations_of(conversation)) for conversation in other):
            notes.append(f"{labelled} of those left out have labels: `duologue compare` compares two sides by them.")
        if not talks:
            notes.append("There is no task-oriented conversation.")
        return cls(tuple(talks), tuple(notes), annotated_in(conversations))

    def of_side(self, side: TaskSide) -> list[TaskConversation]:
        """The conversations of one side."""
        return [talk for talk in self.talks if talk.side == side]

    def users(self, side: TaskSide) -> set[str]:
        """The people, or the different profiles, of one side."""
        return {talk.user for talk in self.of_side(side)}

    def groups(self) -> Iterator[tuple[str, TaskSide, list[TaskConversation]]]:
        """Task, side and conversations: first all tasks together, then each; a side that has none is left out."""
        for task in (ALL, *sorted({talk.task for talk in self.talks})):
            for side in SIDES:
                if group := [talk for talk in self.talks if talk.side == side and task in (ALL, talk.task)]:
                    yield task, side, group

    def of_sides_with(self, judged: Callable[["TaskConversation"], object]) -> "Talks":
        """The conversations of each side of which any is judged, those that are not among them."""
        sides = {talk.side for talk in self.talks if judged(talk)}
        return Talks(tuple(talk for talk in self.talks if talk.side in sides), self.notes, self.annotated)

    def trust(
        self, key: str, judged: Callable[["TaskConversation"], object], *, of_messages: bool = False
    ) -> list[str]:
        """A note on the reliability of a label, for the sides of which any conversation has it."""
        sides = [side for side in SIDES if any(map(judged, self.of_side(side)))]
        note = self.trusts.note(key, sides, of_messages=of_messages) if sides else ""
        return [note] if note else []

    def without(self, judged: Callable[["TaskConversation"], object], what: str) -> list[str]:
        """A note for each side of which some conversations, or all, are not judged, if any is judged at all."""
        if not any(map(judged, self.talks)):
            return []
        notes = []
        for side in SIDES:
            of_side = self.of_side(side)
            if missing := sum(not judged(talk) for talk in of_side):
                notes.append(f"{missing} of {len(of_side)} conversations of {WHO[side]} have no {what}.")
        return notes

    def by_assistant(self) -> Iterator[tuple[str, list[TaskConversation]]]:
        """The conversations of each assistant by name; where there are several, first those of all together."""
        names = sorted({talk.assistant for talk in self.talks}, key=lambda name: (name == NOT_TOLD, name))
        if len(names) > 1:
            yield ALL, list(self.talks)
        for name in names:
            yield name, [talk for talk in self.talks if talk.assistant == name]


Conversations: TypeAlias = Iterable[Conversation] | Talks
"""The input of every table: conversations of any kind, or the task-oriented ones picked from them."""


def _talk(conversation: Conversation) -> TaskConversation | None:
    if not DOMAIN.is_about(conversation):
        return None
    try:
        side: TaskSide = "simulated" if variant(conversation) == "simulated" else "people"
        return TaskConversation(
            conversation, side, common_task(str(conversation.scenario["task"])), cluster(conversation)
        )
    except (ValueError, KeyError):  # a scenario without a profile, as somebody's own records may have it
        return None


def mean(values: Sequence[float]) -> float | None:
    """None without any value."""
    return fmean(values) if values else None


def spread(values: Sequence[float]) -> float | None:
    """Population standard deviation; None of fewer than two values, which have none."""
    return pstdev(values) if len(values) > 1 else None


def share(part: float, whole: float) -> float | None:
    """0 to 1; None of nothing."""
    return part / whole if whole else None
