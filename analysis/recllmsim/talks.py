"""The counted unit of RecLLMSim's tables: a conversation about a task, with its side, user, assistant and labels."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ...data.labels.reading import annotations_in, annotations_of
from ...data.loading import Loaded
from ...data.recllmsim import DOMAIN, cluster, common_task, variant
from ...data.records import Conversation, Message, Role, as_object, value_of
from ...errors import of_extra
from ..attempts import speaker_of

TaskSide: TypeAlias = Literal["simulated", "people"]

SIDES: tuple[TaskSide, ...] = ("simulated", "people")
NOT_TOLD = "not told"
"""The assistant that no source names."""

SCORES: Mapping[str, Mapping[str, int]] = {
    "Memorization": {"否": 1, "是": 0},
    "Detail": {"详细": 2, "一般": 1, "简略": 0},
    "Availability": {"很有用": 2, "有一定参考": 1, "不可用": 0},
    "Diversity": {"结果多样": 2, "一般": 1, "结果单一": 0},
}
"""Points of each answer to each question of a questionnaire.

Memorization asks whether the assistant forgot anything, so that no is the good answer; the published scripts leave it out
and score the other three as here.
"""


@dataclass(frozen=True)
class Talk:
    """One conversation as the tables count it: the messages of its published history."""

    conversation: Conversation
    side: TaskSide
    task: str
    """By its common name; both sets of travel contexts are one task."""
    user: str
    """The person, or the profile: conversations of one are not independent."""

    @property
    def messages(self) -> list[Message]:
        """The messages that are in the published files."""
        return [message for message in self.conversation.messages if message.stored]

    def messages_of(self, role: Role) -> list[Message]:
        """The messages of one side, in their order."""
        return [message for message in self.messages if message.role == role]

    @property
    def assistant(self) -> str:
        """The model that answered: as the file names it (`chat_model`), or the run; else `not told`."""
        named = value_of(self.conversation.labels, "chat_model")
        return named if isinstance(named, str) and named.strip() else speaker_of(self.conversation, "assistant")

    @property
    def ratings(self) -> dict[str, int]:
        """Annotators' points of each item of the rating, 0 to 2."""
        return _points(value_of(self.conversation.labels, "rating"))

    @property
    def self_report(self) -> dict[str, int]:
        """What the simulating model reports as its user, 0 to 2, such as `satisfaction detail`."""
        reported = _points(value_of(self.conversation.labels, "satisfaction"))
        return {f"satisfaction {item}": points for item, points in reported.items()}

    @property
    def options(self) -> dict[str, str]:
        """The person's answer to each question of the questionnaire."""
        options = as_object(value_of(self.conversation.labels, "questionnaire"))
        return {question: str(option).strip() for question, option in options.items()}

    @property
    def questionnaire(self) -> dict[str, int]:
        """The points of each answer that is one of the published ones."""
        return {item: SCORES[item][option] for item, option in self.options.items() if option in SCORES.get(item, {})}

    @property
    def judgements(self) -> list[str]:
        """Of each reply that is judged whether it is made up: `yes`, `no` or `cannot tell`."""
        judged = [annotations_in(reply).get("hallucination", [""])[0] for reply in self.messages_of("assistant")]
        return [value for value in judged if value in ("yes", "no", "cannot tell")]

    @property
    def satisfaction(self) -> dict[int, int]:
        """The user's points, 1 to 5, of each reply that has them, by its place from 1."""
        points = [annotations_in(reply).get("satisfaction", [""])[0] for reply in self.messages_of("assistant")]
        return {turn: int(value) for turn, value in enumerate(points, start=1) if value in ("1", "2", "3", "4", "5")}


@dataclass(frozen=True)
class Talks:
    """The task-oriented ones of some conversations, and what a reader must know of the others."""

    talks: tuple[Talk, ...]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, conversations: "Iterable[Conversation] | Talks") -> "Talks":
        """Those about a task and a profile; the others are counted in a note."""
        if isinstance(conversations, Talks):
            return conversations
        every = list(conversations)
        found = [_talk(conversation) for conversation in every]
        other = [conversation for conversation, talk in zip(every, found, strict=True) if talk is None]
        notes = [f"{len(other)} conversations are about no task with a profile: left out."] if other else []
        if labelled := sum(bool(annotations_of(conversation)) for conversation in other):
            notes.append(f"{labelled} of those left out have labels: `duologue compare` compares two sides by them.")
        if written := conversations.annotated if isinstance(conversations, Loaded) else ():
            notes.append(f"Labels by `duologue annotate` or `label`, not of the source: {', '.join(sorted(written))}.")
        return cls(tuple(talk for talk in found if talk is not None), tuple(notes))

    def frame(self) -> Any:
        """A pandas data frame with a row for each conversation."""
        pandas = of_extra("pandas", "stats")
        columns = ("side", "task", "user", "assistant", "talk")
        rows = [(talk.side, talk.task, talk.user, talk.assistant, talk) for talk in self.talks]
        frame = pandas.DataFrame(rows, columns=columns)
        frame["side"] = pandas.Categorical(frame["side"], SIDES)
        return frame


def own_profile(conversation: Conversation) -> Mapping[str, Any] | None:
    """The profile of a person, or that which a simulated one is mapped to, as it is; None without one."""
    mapped = value_of(conversation.labels, "profile_mapped")
    own = mapped if isinstance(mapped, Mapping) else conversation.scenario.get("profile")
    return own if isinstance(own, Mapping) else None


def _talk(conversation: Conversation) -> Talk | None:
    if not DOMAIN.is_about(conversation):
        return None
    try:
        side: TaskSide = "simulated" if variant(conversation) == "simulated" else "people"
        return Talk(conversation, side, common_task(str(conversation.scenario["task"])), cluster(conversation))
    except (ValueError, KeyError):  # a scenario without a profile, as somebody's own records may have it
        return None


def _points(rating: object) -> dict[str, int]:
    items = rating.items() if isinstance(rating, dict) else ()
    return {str(item): points for item, points in items if type(points) is int and 0 <= points <= 2}
