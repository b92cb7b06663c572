"""Groups of failures with names by a model, beside those of the rules."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from ...analysis.outcomes import Crashes, outcome
from ...analysis.testing.failed_conversations import FailureGroup, failed_conversation
from ...analysis.testing.pairs.pairing import PairedTest
from ...analysis.testing.result import Successes
from ...analysis.testing.result_text import GROUPS
from ...data.records import Conversation
from ...runs.engine.conduct import Conduct
from ...runs.engine.conversing import Concurrency
from ...runs.labels.annotating import LabelWatch
from ...runs.labels.failure_names import LABEL, FailureNaming

R = TypeVar("R", Successes, PairedTest)


def naming_by(source: object) -> FailureNaming:
    """The naming by a model identifier, a chat model or a function; SettingError for the offline rules."""
    return FailureNaming.of(source)


def examples_of(
    result: Successes, sides: Sequence[Iterable[Conversation]], crashes: Crashes = "failure"
) -> dict[str, Conversation]:
    """The shortest conversation of each group that is shown, by the group's name.

    `sides`: the conversations of the result, and those of the version that it is compared with.
    """
    paired = result.against.groups[:GROUPS] if result.against is not None else ()
    firsts = {group.name: group.first for group in (*paired, *result.groups[:GROUPS])}
    ids = set(firsts.values())
    examples: dict[str, Conversation] = {}
    for side in sides:
        for conversation in side:
            if conversation.id not in ids:
                continue
            own = outcome(conversation, crashes)
            cause = failed_conversation(conversation, own, 0).cause if own.success is False else None
            if cause is not None and firsts.get(cause.name) == conversation.id:
                examples.setdefault(cause.name, conversation)
    return examples


async def with_names(
    result: Successes,
    naming: FailureNaming,
    examples: Mapping[str, Conversation],
    *,
    folder: Path | None,
    conduct: Conduct,
    concurrency: Concurrency = "auto",
    watch: LabelWatch | None = None,
) -> tuple[Successes, str]:
    """The result whose groups have names, and why some have none, in one line.

    A name that the record of a conversation has as its label `failure`, such as a person's, stands beside the model's.
    """
    named = await naming.names(examples, folder=folder, conduct=conduct, concurrency=concurrency, watch=watch)
    names: dict[str, dict[str, str]] = {}
    for cause, conversation in examples.items():
        label = conversation.labels.get(LABEL)
        by = {"the label": label if isinstance(label, str) else "", naming.by: named.names.get(cause, "")}
        names[cause] = {who: text for who, text in by.items() if text}
    against = None if result.against is None else _named(result.against, names)
    lacking = len(examples) - len(named.names)
    problem = f"{lacking} of {len(examples)} groups are not named by {naming.by}: {named.problem}" if lacking else ""
    return _named(result, names).model_copy(update={"against": against}), problem


def _named(result: R, names: Mapping[str, dict[str, str]]) -> R:
    groups: Iterable[FailureGroup] = (
        group.model_copy(update={"names": names.get(group.name, {})}) for group in result.groups
    )
    return result.model_copy(update={"groups": tuple(groups)})
