"""Two versions of an agent in pairs: conversations of one scenario and repeat, held with each.

The user has the same seed in both conversations of a pair, so they are equal up to the first answer that differs. The
figures are of `analysis.over_users.pairs`: on these scenarios, and on scenarios like these.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ....data.identity import digest
from ....data.records import Conversation, Record
from ...outcomes import SUCCESS, Crashes, outcome, scenario_key
from ...over_users.pairs import (
    PairedDifference,
    SuiteDifference,
    ValueRange,
    holm,
    on_these_scenarios,
    paired_difference,
    pass_hat_differences,
)
from ..failed_conversations import FailedConversation, FailureGroup, failed_conversation, joined_groups
from .conversation_values import usual_values

Margin: TypeAlias = float | Literal["shown"]
"""What fails a new version: `shown`, a loss that is shown on these scenarios; a number above 0, unless a loss of at most
that share is shown."""
PairFault: TypeAlias = Literal["user", "infrastructure"]
"""Whose fault it is that a pair does not count."""
SHARE: ValueRange = (0.0, 1.0)


class TestedPair(Record):
    """The conversations of a scenario and repeat with both versions."""

    __test__ = False

    id: str
    """Of both conversations."""
    scenario: str
    """What it is about, in a few words."""
    old: bool | None
    """Whether the old version succeeded; None without a score."""
    new: bool | None
    old_reason: str
    new_reason: str
    left_out: PairFault | None = None
    """Why the pair does not count in the main figure: whose fault it is. None if it counts."""
    differs_at: int | None = None
    """Number of the first message that differs, from 0; None if all are equal."""
    user_differs: bool = False
    """Whether the first message that differs is the user's, although it had heard the same."""


class MeasureDifference(PairedDifference):
    """Two versions by one measure beside success."""

    measure: str
    adjusted_p: float | None
    """p adjusted for the number of measures, by Holm's method."""


class ScenarioChange(Record):
    """How often each version succeeded in a scenario, of so many pairs."""

    scenario: str
    pairs: int
    old: int
    new: int


class PairedTest(PairedDifference):
    """Two versions of an agent, compared by success in pairs; the figures are those of the pairs that count."""

    old_name: str
    new_name: str
    suite: SuiteDifference
    """On these scenarios; the fields beside it are on scenarios like these."""
    by_scenario: tuple[ScenarioChange, ...]
    """Scenarios with a pair that counts, those that lost most first."""
    with_left_out: PairedDifference
    """The same of all pairs: a conversation without a score counts as a failure."""
    left_out: dict[PairFault, int]
    """Pairs that do not count, by whose fault it is."""
    pass_hat: dict[int, PairedDifference]
    """pass^k by k, up to the fewest pairs of a scenario."""
    measures: tuple[MeasureDifference, ...]
    """Tokens, turns, tool calls, scores of one's own and rejected drafts of the pairs that count."""
    tested: tuple[TestedPair, ...]
    """Every pair, in the order of the scenarios."""
    shared_replies: int = 0
    """Drafts of the user that one version took from the other, which had been sent the same and paid for them."""
    groups: tuple[FailureGroup, ...] = ()
    """Groups of the failed conversations of the pairs that count, each with its number of conversations by version."""
    margin: Margin | None = None
    """What fails the new version; None: nothing."""
    not_compared: tuple[str, ...] = ()
    """What only one of two runs has, a line each."""

    @property
    def lost(self) -> tuple[TestedPair, ...]:
        """Pairs that count, in which only the old version succeeded."""
        return tuple(pair for pair in self.tested if pair.left_out is None and pair.old and not pair.new)

    @property
    def won(self) -> tuple[TestedPair, ...]:
        """Pairs that count, in which only the new version succeeded."""
        return tuple(pair for pair in self.tested if pair.left_out is None and pair.new and not pair.old)


@dataclass(frozen=True)
class _Half:
    """What is compared of a conversation."""

    scenario: str
    title: str
    success: bool | None
    reason: str
    user_fault: bool
    failure: FailedConversation | None
    """Its entry among failed conversations; None if it did not fail."""
    messages: tuple[tuple[str, str], ...]
    """Of each message its role and a digest."""
    shared: int
    """Drafts of the user that came from another version."""
    values: Mapping[str, float] = field(default_factory=dict)
    shares: Collection[str] = ()
    """Names of the values that are true or false, or shares."""


def compare_pairs_of(
    old: Iterable[Conversation],
    new: Iterable[Conversation],
    *,
    names: tuple[str, str] = ("old", "new"),
    planned: Collection[str] | None = None,
    crashes: Crashes = "failure",
    margin: Margin | None = None,
    not_compared: Sequence[str] = (),
) -> PairedTest:
    """Compare the conversations of two versions, each with the one of the same id.

    Args:
        old: Conversations with the old version.
        new: Conversations with the new one.
        names: Names of both versions; equal ones become `NAME (old)` and `NAME (new)`.
        planned: Ids of the pairs; one without a record on a side counts as without a score. Default: all ids.
        crashes: What a crash of the agent counts as.
        margin: What fails the new version: `shown`, or the greatest loss that may not be excluded.
        not_compared: What only one of two runs has, a line each.

    Raises:
        ValueError: The margin is neither `shown` nor above 0 and below 1.
    """
    if not (margin is None or margin == "shown" or (isinstance(margin, int | float) and 0 < margin < 1)):
        raise ValueError(f"a margin is 'shown' or a number above 0 and below 1, not {margin!r}")
    if names[0] == names[1]:
        names = f"{names[0]} (old)", f"{names[1]} (new)"
    rows: dict[str, int] = {}
    sides = [{one.id: _half(one, crashes, rows) for one in conversations} for conversations in (old, new)]
    ids = dict.fromkeys([*sides[0], *sides[1]] if planned is None else planned)
    pairs = {name: (sides[0].get(name), sides[1].get(name)) for name in ids}
    tested = [_pair(name, *halves) for name, halves in pairs.items()]
    counted = [pair.id for pair in tested if pair.left_out is None]
    success = _by_scenario((pairs[name] for name in counted), SUCCESS)
    main = paired_difference(success, scale=SHARE)
    everything = _by_scenario(pairs.values(), SUCCESS, without=0.0)
    left_out = Counter(pair.left_out for pair in tested if pair.left_out is not None)
    return PairedTest(
        **dict(main),
        old_name=names[0],
        new_name=names[1],
        suite=on_these_scenarios([(bool(before), bool(after)) for scenario in success for before, after in scenario]),
        by_scenario=_changes([pairs[name] for name in counted]),
        with_left_out=paired_difference(everything, scale=SHARE),
        left_out={fault: left_out[fault] for fault in ("user", "infrastructure") if left_out[fault]},
        pass_hat=pass_hat_differences(
            [[(bool(before), bool(after)) for before, after in scenario] for scenario in success]
        ),
        measures=_measures([pairs[name] for name in counted]),
        shared_replies=sum(half.shared for halves in pairs.values() for half in halves if half is not None),
        tested=tuple(tested),
        groups=joined_groups(
            {
                name: [half.failure for pair in counted if (half := side[pair]).failure is not None]
                for name, side in zip(names, sides, strict=True)
            }
        ),
        margin=margin,
        not_compared=tuple(not_compared),
    )


def _changes(pairs: Iterable[tuple[_Half | None, _Half | None]]) -> tuple[ScenarioChange, ...]:
    """Each scenario with its successes by version, sorted by loss."""
    found: dict[str, list[int]] = {}
    titles: dict[str, str] = {}
    for old, new in pairs:
        if old is not None and new is not None:
            titles[old.scenario] = old.title
            counts = found.setdefault(old.scenario, [0, 0, 0])
            for place, more in enumerate((1, bool(old.success), bool(new.success))):
                counts[place] += more
    rows = [
        ScenarioChange(scenario=titles[key], pairs=count, old=old, new=new) for key, (count, old, new) in found.items()
    ]
    return tuple(sorted(rows, key=lambda row: (row.new - row.old) / row.pairs))


def _half(conversation: Conversation, crashes: Crashes, rows: dict[str, int]) -> _Half:
    row = rows.setdefault(scenario_key(conversation), len(rows))
    result = outcome(conversation, crashes)
    values, shares = usual_values(conversation)
    return _Half(
        scenario=scenario_key(conversation),
        title=result.scenario,
        success=result.success,
        reason=result.reason,
        user_fault=result.user_fault is not None or result.fault == "user",
        failure=failed_conversation(conversation, result, row) if result.success is False else None,
        messages=tuple(
            (message.role, digest(message.text, [part.model_dump() for part in message.parts]))
            for message in conversation.messages
        ),
        shared=sum(attempt.shared for attempt in conversation.attempts("user")),
        values=values,
        shares=shares,
    )


def _pair(name: str, old: _Half | None, new: _Half | None) -> TestedPair:
    halves = [half for half in (old, new) if half is not None]
    left_out: PairFault | None = None
    if any(half.user_fault for half in halves):
        left_out = "user"
    elif len(halves) < 2 or any(half.success is None for half in halves):
        left_out = "infrastructure"
    place = _first_difference(old.messages, new.messages) if old and new else None
    speakers = {half.messages[place][0] for half in halves if place is not None and place < len(half.messages)}
    both_go_on = place is not None and all(place < len(half.messages) for half in halves)
    return TestedPair(
        id=name,
        scenario=halves[0].title if halves else name,
        old=old.success if old else None,
        new=new.success if new else None,
        old_reason=old.reason if old else "it has no record",
        new_reason=new.reason if new else "it has no record",
        left_out=left_out,
        differs_at=place,
        user_differs=both_go_on and "user" in speakers,
    )


def _first_difference(old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]) -> int | None:
    shorter = min(len(old), len(new))
    place = next((place for place in range(shorter) if old[place] != new[place]), shorter)
    return None if place == len(old) == len(new) else place


def _by_scenario(
    pairs: Iterable[tuple[_Half | None, _Half | None]], name: str, without: float | None = None
) -> list[list[tuple[float, float]]]:
    """The values of both versions by scenario; `without`: the value of a conversation that has none."""
    scenarios: dict[str, list[tuple[float, float]]] = {}
    for halves in pairs:
        values = [_value(half, name) for half in halves]
        old, new = (without if value is None else value for value in values)
        key = next((half.scenario for half in halves if half is not None), None)
        if old is not None and new is not None and key is not None:
            scenarios.setdefault(key, []).append((old, new))
    return list(scenarios.values())


def _value(half: _Half | None, name: str) -> float | None:
    if half is None:
        return None
    if name == SUCCESS:
        return None if half.success is None else float(half.success)
    return half.values.get(name)


def _measures(pairs: Sequence[tuple[_Half | None, _Half | None]]) -> tuple[MeasureDifference, ...]:
    """Each measure that is not 0 everywhere, with p adjusted for their number."""
    halves = [half for pair in pairs for half in pair if half is not None]
    names = dict.fromkeys(name for half in halves for name, value in half.values.items() if value)
    shares = {name for name in names if all(name in half.shares for half in halves if name in half.values)}
    differences = {
        name: paired_difference(_by_scenario(pairs, name), scale=SHARE if name in shares else None) for name in names
    }
    adjusted = holm([one.p for one in differences.values()])
    return tuple(
        MeasureDifference(**dict(one), measure=name, adjusted_p=p)
        for (name, one), p in zip(differences.items(), adjusted, strict=True)
    )
