"""What there is to label: a piece of work for each conversation and label, and what of it a folder has already."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..data.identity import digest
from ..data.label_units import WHY, missing, units_of
from ..data.labels import LabelDefinition
from ..data.records import Conversation
from ..errors import SettingError
from .annotation_journal import Labelled
from .journal import RunError

_OF_MESSAGES = frozenset({"role", "content"})
_OF_CONVERSATIONS = frozenset(
    {
        "history",
        "chat_model",
        "task",
        "task_type",
        "task_context",
        "task_context_id",
        "preference",
        "preference_id",
        "profile",
    }
)
_OF_REASONS = frozenset({"preference", WHY})
"""Keys of published files, and of answers to a study, that are no labels."""


@dataclass(frozen=True)
class Work:
    """One conversation to label with one label."""

    conversation: Conversation
    label: LabelDefinition
    units: tuple[int, ...]
    round: int = 0

    @property
    def id(self) -> str:
        """What the seeds of its calls are derived from, and what its votes are kept under (`work_id`)."""
        return work_id(self.conversation, self.label.name, self.round)


def work_id(conversation: Conversation, label: str, round: int) -> str:
    """A digest of the conversation, the label's name, and how often it was redone.

    Of a conversation whose text has changed it is another one: votes on what was said before are none on it.
    """
    texts = [(each.role, each.text) for each in conversation.messages]
    return digest("annotation", conversation.id, label, round, texts)[:16]


def planned(
    conversations: Iterable[Conversation],
    labels: Sequence[LabelDefinition],
    redo: Sequence[str] = (),
    rounds: Mapping[str, int] | None = None,
) -> list[Work]:
    """What lacks a label, and all of what is redone.

    SettingError for two labels in one place and for a label to redo that is not asked for; DataError where another label
    stands in the place of one.
    """
    check_places(labels)
    if unknown := [name for name in redo if name not in {label.name for label in labels}]:
        raise SettingError(f"--redo {unknown[0]}: is none of the labels that are asked for (--labels)")
    works = []
    for conversation in conversations:
        for label in labels:
            units = units_of(conversation, label) if label.name in redo else missing(conversation, label)
            if units:
                works.append(Work(conversation, label, tuple(units), (rounds or {}).get(label.name, 0)))
    return works


def check_places(labels: Sequence[LabelDefinition]) -> None:
    """SettingError for two labels in one place, and for one where the data itself stands."""
    for label in labels:
        taken = _OF_MESSAGES if label.of_messages else _OF_REASONS if label.unit == "reason" else _OF_CONVERSATIONS
        if wrong := [key for key in label.keys if key in taken]:
            raise SettingError(
                f"the label {label.name!r} would be stored as {wrong[0]!r}, where the data itself stands: name it otherwise, or "
                "write key: or in: with another name in its page"
            )
    for number, label in enumerate(labels):
        for other in labels[number + 1 :]:
            shared = set(label.keys) & set(other.keys)
            if shared and label.place == other.place and label.of_messages == other.of_messages:
                raise SettingError(
                    f"the labels {label.name!r} and {other.name!r} are stored under the same key, "
                    f"{min(shared)!r}: take one of them, or two folders"
                )


def check_source(conversations: Iterable[Conversation], votes: Iterable[Labelled], folder: object) -> None:
    """RunError where votes that a folder has are not on these conversations: they were asked for about another source.

    A file that has changed since is none of another source, as long as some have not; nor are further ones.
    """
    known = {talk.extra.get("path") or talk.id: talk for talk in conversations}
    fits = False
    for each in (votes := list(votes)):
        talk = known.get(each.path or each.conversation)
        if talk is None:
            raise RunError(
                f"{folder}: its copy was made of another source, which has {each.path or each.conversation}: give that "
                "source, or choose another folder"
            )
        fits = fits or each.id == work_id(talk, each.label, each.round)
    if votes and not fits:
        raise RunError(
            f"{folder}: its copy was made of another source: nothing that was labelled there, such as "
            f"{votes[0].path or votes[0].conversation}, has the same words here: give that source, or choose another folder"
        )
