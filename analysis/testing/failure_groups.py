"""Groups of failed conversations with equal causes, the largest first."""

from collections.abc import Iterable, Mapping

from pydantic import Field

from ...data.records import Record
from .failed_conversations import FailedConversation
from .failure_sites import Expectation, SiteKind


class FailureGroup(Record):
    """Failed conversations that have one cause."""

    name: str
    """The cause in words."""
    site: SiteKind
    expectation: Expectation
    tool: str = ""
    conversations: int
    share: float
    """Of all failed conversations, 0 to 1."""
    first: str
    """Id of the shortest of them."""
    message: int | None = None
    """The number of the message at which that one went wrong, from 0."""
    scenarios: int = 1
    """Number of scenarios in which it occurs."""
    versions: dict[str, int] = Field(default_factory=dict)
    """Its conversations by version of the agent, where several are compared."""


def groups_of(failures: Iterable[FailedConversation]) -> tuple[FailureGroup, ...]:
    """The groups of failed conversations, which have to be in order, the shortest first."""
    return joined_groups({"": failures})


def joined_groups(versions: Mapping[str, Iterable[FailedConversation]]) -> tuple[FailureGroup, ...]:
    """The groups of the failed conversations of several versions, by the version's name; `""` is not named."""
    by_name: dict[str, list[tuple[str, FailedConversation]]] = {}
    for version, failures in versions.items():
        for failure in failures:
            if failure.cause is not None:
                by_name.setdefault(failure.cause.name, []).append((version, failure))
    total = sum(map(len, by_name.values()))
    groups = [_group(name, group, total) for name, group in by_name.items()]
    return tuple(sorted(groups, key=lambda group: (-group.conversations, group.name)))


def _group(name: str, members: list[tuple[str, FailedConversation]], total: int) -> FailureGroup:
    _, shortest = min(members, key=lambda member: (member[1].messages, member[1].id))
    cause = shortest.cause
    assert cause is not None
    counts: dict[str, int] = {}
    for version, _ in members:
        counts[version] = counts.get(version, 0) + 1
    return FailureGroup(
        name=name,
        site=cause.site,
        expectation=cause.expectation,
        tool=cause.tool,
        conversations=len(members),
        share=len(members) / total,
        first=shortest.id,
        message=cause.message,
        scenarios=len({(version, failure.row) for version, failure in members}),
        versions={version: count for version, count in counts.items() if version},
    )
