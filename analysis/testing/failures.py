"""Conversations without success, and their groups by cause."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from pydantic import Field

from ...data.records import Conversation, Record
from ..estimates import by_group
from ..faults import Cause, Whose
from ..outcomes import Outcome, details_of, in_words


class ButFor(Record):
    """Whose fault a failure is, by repairs."""

    id: str
    fault: Whose
    """`user`, `assistant`, `tools`, `scenario`, or `undecided`."""
    because: str
    """What was put right, or why it is undecided."""
    conversations: int = 0
    """Conversations that were begun for it."""


class FailedConversation(Record):
    """A conversation that came to its end without success: it failed, or has no score."""

    id: str
    scenario: str
    success: bool | None
    """None without a score."""
    messages: int
    stop: str
    fault: Whose
    reason: str
    """What the score says of it, and how it ended."""
    cause: Cause
    frames: tuple[str, ...] = ()
    """The last places in one's own code that an error passed."""
    details: tuple[str, ...] = ()
    """These places, and tools that ended in an error, a line each."""

    @property
    def left_out(self) -> bool:
        """Whether it says nothing of the agent: it is the user simulator's or the infrastructure's."""
        return self.fault in ("user", "infrastructure")


class FailureGroup(Record):
    """Conversations without success that have one cause."""

    name: str
    """What broke and the last node, in words."""
    faults: dict[Whose, int]
    """Its conversations by whose fault it is."""
    conversations: int
    scenarios: int
    """Number of scenarios in which it occurs."""
    first: FailedConversation
    """The shortest of them."""
    versions: dict[str, int] = Field(default_factory=dict)
    """Its conversations by version of the agent, where several are compared."""

    @property
    def fault(self) -> str:
        """Whose fault it is, in words: with numbers where not all are of one side."""
        several = len(self.faults) > 1
        return ", ".join(f"{whose} {count}" if several else whose for whose, count in self.faults.items())

    @property
    def share(self) -> str:
        """Its conversations by version, in words; empty without versions."""
        return ", ".join(f"{name} {count}" for name, count in self.versions.items())


def failed_conversation(conversation: Conversation, result: Outcome) -> FailedConversation | None:
    """The entry of a conversation; None of a success, and of one that was cut short."""
    if result.cause is None:
        return None
    return FailedConversation(
        id=result.id,
        scenario=result.scenario,
        success=result.success,
        messages=len(conversation.messages),
        stop=conversation.stop or "not told",
        fault=result.fault,
        reason=in_words(result, conversation.stop),
        cause=result.cause,
        frames=result.frames,
        details=tuple(details_of(result)),
    )


def groups_of(versions: Mapping[str, Iterable[FailedConversation]]) -> tuple[FailureGroup, ...]:
    """The groups of failures by the version's name, the largest first; a version `""` is not named."""
    every = ((version, failure) for version, failures in versions.items() for failure in failures)
    members = by_group((failure.cause.group, (version, failure)) for version, failure in every)
    groups = [_group(group, [*versions]) for group in members]
    return tuple(sorted(groups, key=lambda group: (-group.conversations, group.name)))


def _group(members: Sequence[tuple[str, FailedConversation]], versions: Sequence[str]) -> FailureGroup:
    counts = {version: sum(of == version for of, _ in members) for version in versions if version}
    return FailureGroup(
        name=members[0][1].cause.group,
        faults=dict(Counter(failure.fault for _, failure in members).most_common()),
        conversations=len(members),
        scenarios=len({failure.scenario for _, failure in members}),
        first=min((failure for _, failure in members), key=lambda failure: (failure.messages, failure.id)),
        versions=counts,
    )
