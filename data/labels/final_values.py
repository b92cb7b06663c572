"""What votes on a whole label come to, part by part: the final value that a file holds."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from ..records import Json
from .definition import LabelDefinition, PartDefinition
from .vote_weights import dawid_skene
from .votes import Vote, aggregate

VoteRule: TypeAlias = Literal["majority", "dawid-skene"]
"""How votes become a value: by the published rule (`data.labels.votes.aggregate`), or weighed (`data.labels.vote_weights`)."""

Ballot: TypeAlias = Sequence[Mapping[str, Any] | None]
"""The votes on one item, in the order of the annotators; None for one that was refused or could not be read."""


def finals(label: LabelDefinition, items: Sequence[Ballot], rule: VoteRule = "majority") -> list[Json | None]:
    """The final value of each item, or `None`.

    A part in which nothing wins is `None`, and so is an item without any vote.

    `items`: ballots of equal length, if the rule is `dawid-skene`. A word or number needs valid votes of more than half of
    those who were asked. Of a list, such as several intents, those of its values win that more than half named. A text
    is the one of the first annotator that agrees with the rest of the final value: texts are not counted.
    """
    weighed = _weighed(label, items) if rule == "dawid-skene" else [{} for _ in items]
    return [_final(label, ballot, of_item) for ballot, of_item in zip(items, weighed, strict=True)]


def _final(label: LabelDefinition, ballot: Ballot, weighed: Mapping[str, Vote | None]) -> Json | None:
    valid = [vote for vote in ballot if vote is not None]
    if not valid:
        return None
    final: dict[str, Any] = dict.fromkeys(label.parts)
    # A part that depends on another comes after it, and a text after everything that can be counted.
    for name in sorted(label.parts, key=lambda name: (label.parts[name].text, bool(label.parts[name].only_if))):
        part = label.parts[name]
        if not label.applies(name, final):
            continue
        values = [vote[name] for vote in valid if vote.get(name) is not None and label.applies(name, vote)]
        voters = len(values) if part.only_if else len(ballot)
        if part.text:
            final[name] = _text(label, name, valid, final)
        elif part.several is not None:
            final[name] = _several(part, values, voters)
        elif name in weighed:
            final[name] = weighed[name]
        elif 2 * len(values) > voters:
            final[name] = aggregate(values).value
    return final


def _text(
    label: LabelDefinition, name: str, valid: Sequence[Mapping[str, Any]], final: Mapping[str, Any]
) -> str | list[str] | None:
    counted = [other for other, part in label.parts.items() if not part.text]
    agreeing = (vote for vote in valid if all(vote.get(other) == final[other] for other in counted))
    text: str | list[str] | None = next((vote[name] for vote in agreeing if vote.get(name) is not None), None)
    return text


def _several(part: PartDefinition, lists: Sequence[Sequence[Vote]], voters: int) -> list[Vote] | None:
    named = list(dict.fromkeys(value for vote in lists for value in vote))
    won = [value for value in named if 2 * sum(value in vote for vote in lists) > voters]
    assert part.several is not None
    return won if 2 * len(lists) > voters and part.several[0] <= len(won) <= part.several[1] else None


def _weighed(label: LabelDefinition, items: Sequence[Ballot]) -> list[dict[str, Vote | None]]:
    """The value of each part by item, where the part is one of a list of values or a number."""
    weighed: list[dict[str, Vote | None]] = [{} for _ in items]
    for name, part in label.parts.items():
        if part.text or part.several is not None:
            continue
        ballots = [[None if vote is None else vote.get(name) for vote in ballot] for ballot in items]
        for of_item, value in zip(weighed, dawid_skene(ballots).values, strict=True):
            of_item[name] = value
    return weighed
