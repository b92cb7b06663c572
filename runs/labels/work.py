"""The work of labelling: one piece for each conversation and label, without what a folder has already."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...data.identity import digest
from ...data.labels.answers import WHY, missing, units_of
from ...data.labels.definition import LabelDefinition
from ...data.records import Conversation
from ...errors import SettingError
from ..journals.journal import RunError
from .vote_journal import LabelVotes

_OF_MESSAGES = frozenset({"role", "content"})
_OF_CONVERSATIONS = frozenset(
    "history chat_model task task_type task_context task_context_id preference preference_id profile".split()
)
_OF_REASONS = frozenset({"preference", WHY})
"""Keys of published files, and of answers to a study, that are not labels."""


@dataclass(frozen=True)
class LabellingWork:
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

    A conversation with another text has another id: votes on the earlier text do not count for it.
    """
    texts = [(message.role, message.text) for message in conversation.messages]
    return digest("annotation", conversation.id, label, round, texts)[:16]


def planned(
    conversations: Iterable[Conversation],
    labels: Sequence[LabelDefinition],
    redo: Sequence[str] = (),
    rounds: Mapping[str, int] | None = None,
) -> list[LabellingWork]:
    """The conversations that lack a label, and all units of redone labels.

    SettingError for two labels in one place and for a label to redo that is not asked for. DataError where another
    label stands in the place of one.
    """
    check_places(labels)
    if unknown := [name for name in redo if name not in {label.name for label in labels}]:
        raise SettingError(f"--redo {unknown[0]}: is not one of the requested labels (--labels)")
    works = []
    for conversation in conversations:
        for label in labels:
            units = units_of(conversation, label) if label.name in redo else missing(conversation, label)
            if units:
                works.append(LabellingWork(conversation, label, tuple(units), (rounds or {}).get(label.name, 0)))
    return works


def check_places(labels: Sequence[LabelDefinition]) -> None:
    """SettingError for two labels in one place, and for one where the data itself stands."""
    for label in labels:
        taken = _OF_MESSAGES if label.of_messages else _OF_REASONS if label.unit == "reason" else _OF_CONVERSATIONS
        if wrong := [key for key in label.keys if key in taken]:
            raise SettingError(
                f"the label {label.name!r} would be stored as {wrong[0]!r}, where the data itself stands: name it otherwise"
            )
    for number, label in enumerate(labels):
        for other in labels[number + 1 :]:
            shared = set(label.keys) & set(other.keys)
            if shared and label.shape.place == other.shape.place and label.of_messages == other.of_messages:
                raise SettingError(
                    f"the labels {label.name!r} and {other.name!r} are stored under the same key, "
                    f"{min(shared)!r}: take one of them, or two folders"
                )


def check_source(conversations: Iterable[Conversation], votes: Iterable[LabelVotes], folder: object) -> None:
    """RunError where votes that a folder has are not on these conversations: they were asked for about another source.

    Files that have changed since, and further ones, are not another source, as long as some have not changed.
    """
    by_path = {talk.extra.get("path") or talk.id: talk for talk in conversations}
    fits = False
    for record in (votes := list(votes)):
        talk = by_path.get(record.path or record.conversation)
        if talk is None:
            raise RunError(
                f"{folder}: its copy was made of another source, which has {record.path or record.conversation}: give that "
                "source, or choose another folder"
            )
        fits = fits or record.id == work_id(talk, record.label, record.round)
    if votes and not fits:
        raise RunError(
            f"{folder}: its copy was made of another source: nothing that was labelled there, such as "
            f"{votes[0].path or votes[0].conversation}, has the same words here: give that source, or choose another folder"
        )
