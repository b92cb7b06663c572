"""Two versions of an agent in pairs, a conversation of one scenario and repeat with each: two questions, two figures.

The user has the same seed in both conversations of a pair, so they are equal up to the first answer that differs.

*On these scenarios* (`on_these_scenarios`): the scenarios are fixed, as in a suite of regressions, and only repeats are
drawn. The pairs in which one version alone succeeded decide: the exact sign test (McNemar 1947), and the interval by
Agresti and Min ("Simple improved confidence intervals for comparing matched proportions", 2005).

*On scenarios like these* (`estimates.paired`): scenarios are drawn too, so each counts once, and the interval is over
them.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb, fsum, inf, sqrt
from statistics import NormalDist
from typing import Any, Literal, TypeAlias

from ...data.identity import digest
from ...data.records import Conversation, Message, Record, as_object
from ..attempts import rejected_drafts
from ..estimates import FEWEST, Difference, Span, by_group, holm, paired
from ..faults import SUCCESS
from ..outcomes import outcome, scenario_key
from ..tables import Column, Table
from .failures import FailedConversation, FailureGroup, failed_conversation, groups_of

Margin: TypeAlias = float | Literal["shown"]
"""What fails a new version: `shown`, a loss that is shown on these scenarios; a number above 0, unless a loss of at most
that share is shown."""
PairFault: TypeAlias = Literal["user", "infrastructure"]
"""Whose fault it is that a pair does not count."""
Shown: TypeAlias = Literal["better", "worse", "not shown"]
SHARE: Span = (0.0, 1.0)
REJECTED, SCORE = "share of drafts rejected", "score "
ALPHA, POWER = 0.05, 0.8
_Z, _Z_POWER = NormalDist().inv_cdf(1 - ALPHA / 2), NormalDist().inv_cdf(POWER)
AT_MOST = 5
"""Groups of failures, and won or lost pairs, that are named."""


class SuiteDifference(Record):
    """Two versions on these scenarios, by the success of each pair."""

    pairs: int = 0
    both: int = 0
    only_old: int = 0
    only_new: int = 0
    neither: int = 0
    difference: float | None = None
    """Share of successes of the new version less that of the old one, over pairs."""
    low: float | None = None
    """Lower end of its 95 % interval."""
    high: float | None = None
    p: float | None = None
    """Two-sided p of the exact sign test over the pairs that differ."""
    detectable: float | None = None
    """The smallest loss or gain that so many pairs, of which as many differ, show with a chance of 80 %."""
    shown: Shown = "not shown"
    """`better` or `worse` where p is below .05."""


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

    @property
    def kind(self) -> str:
        """`lost` where only the old version succeeds, `won` where only the new one does, or what else became of it."""
        if self.left_out is not None:
            return "left out"
        if self.old == self.new:
            return "both succeed" if self.old else "neither succeeds"
        return "lost" if self.old else "won"


class MeasureDifference(Record):
    """Two versions by one measure beside success."""

    measure: str
    difference: Difference
    adjusted_p: float | None
    """p adjusted for the number of measures, by Holm's method."""


class ScenarioChange(Record):
    """How often each version succeeded in a scenario, of so many pairs."""

    scenario: str
    pairs: int
    old: int
    new: int


class PairedTest(Record):
    """Two versions of an agent, compared by success in the pairs that count."""

    old_name: str
    new_name: str
    suite: SuiteDifference
    """On these scenarios."""
    difference: Difference
    """On scenarios like these."""
    with_left_out: Difference
    """The same of all pairs: a conversation without a score counts as a failure."""
    by_scenario: tuple[ScenarioChange, ...]
    """Scenarios with a pair that counts, those that lost most first."""
    left_out: dict[PairFault, int]
    """Pairs that do not count, by whose fault it is."""
    measures: tuple[MeasureDifference, ...]
    """Tokens, turns, tool calls, scores of one's own and rejected drafts of the pairs that count."""
    tested: tuple[TestedPair, ...]
    """Every pair, in the order of the scenarios."""
    groups: tuple[FailureGroup, ...]
    """Groups of the failed conversations of the pairs that count, each with its number of conversations by version."""
    shared_replies: int = 0
    """Drafts of the user that one version took from the other, which had been sent the same and paid for them."""
    margin: Margin | None = None
    """What fails the new version; None: nothing."""
    not_compared: tuple[str, ...] = ()
    """What only one of two runs has, a line each."""


def on_these_scenarios(pairs: Sequence[tuple[bool, bool]]) -> SuiteDifference:
    """The difference of two versions on fixed scenarios, from the success of the old and the new version in each pair."""
    kinds = [(True, True), (True, False), (False, True), (False, False)]
    both, lost, won, neither = (sum((bool(old), bool(new)) == kind for old, new in pairs) for kind in kinds)
    number = len(pairs)
    if not number:
        return SuiteDifference()
    differ, whole = lost + won, number + 2  # half a pair is added to each of the four kinds
    centre = (won - lost) / whole
    half = _Z * sqrt(max(0.0, (differ + 1) - (won - lost) ** 2 / whole)) / whole
    p = min(1.0, 2 * sum(comb(differ, few) for few in range(min(lost, won) + 1)) / 2**differ)
    return SuiteDifference(
        pairs=number,
        both=both,
        only_old=lost,
        only_new=won,
        neither=neither,
        difference=(won - lost) / number,
        low=max(-1.0, centre - half),
        high=min(1.0, centre + half),
        p=p,
        detectable=_detectable(number, differ),
        shown="not shown" if p >= ALPHA else "better" if won > lost else "worse",
    )


def _detectable(pairs: int, differ: int) -> float | None:
    """The smallest difference that is shown with a chance of 80 %; None where not even one of 1 is.

    It is limited by the pairs that differ anyhow, and by the fewest of one kind that the sign test needs.
    """
    by_noise = (_Z + _Z_POWER) * sqrt(max(differ, 1) / pairs) / sqrt(pairs)
    by_count = next((rate / 100 for rate in range(1, 101) if _at_least(FEWEST, pairs, rate / 100) >= POWER), inf)
    smallest = max(by_noise, by_count)
    return smallest if smallest <= 1 else None


def _at_least(count: int, of: int, chance: float) -> float:
    return 1 - fsum(comb(of, few) * chance**few * (1 - chance) ** (of - few) for few in range(min(count, of + 1)))


# Pairing


@dataclass(frozen=True)
class _Half:
    """What is compared of a conversation."""

    scenario: str
    title: str
    success: bool | None
    reason: str
    not_of_agent: PairFault | None
    """Whose fault a failure is that is not counted."""
    failure: FailedConversation | None
    messages: tuple[tuple[str, str], ...]
    """Of each message its role and a digest."""
    shared: int
    """Drafts of the user that came from another version."""
    values: Mapping[str, float]
    shares: Collection[str]
    """Names of the values that are true or false, or shares."""

    @classmethod
    def of(cls, conversation: Conversation) -> "_Half":
        result = outcome(conversation)
        values, shares = _values_of(conversation)
        return cls(
            scenario=scenario_key(conversation),
            title=result.scenario,
            success=result.success,
            reason=result.reason,
            not_of_agent=result.fault if result.fault in ("user", "infrastructure") else None,
            failure=failed_conversation(conversation, result),
            messages=tuple(
                (message.role, digest(message.text, [part.model_dump() for part in message.parts], _acts(message)))
                for message in conversation.messages
            ),
            shared=sum(attempt.shared for attempt in conversation.attempts("user")),
            values=values,
            shares=shares,
        )


def _acts(message: Message) -> list[tuple[Any, ...]]:
    """The calls of tools before a message, with what they gave."""
    return [(call.name, call.arguments, call.result, call.error) for call in message.tool_calls]


def _values_of(conversation: Conversation) -> tuple[dict[str, float], set[str]]:
    """Numbers of a conversation by their names, and the names of those that are true or false, or shares."""
    calls = [call for draft in conversation.attempts("assistant") for call in draft.tool_calls if not call.waits]
    drafts = sum(draft.verdict != "unjudged" for draft in conversation.attempts("assistant"))
    values: dict[str, float] = {
        "tokens": conversation.usage.tokens,
        "turns": len(conversation.exchanges),
        "tool calls": len(calls),
    }
    shares = set[str]()
    if drafts:
        values[REJECTED] = rejected_drafts(conversation, "assistant") / drafts
        shares.add(REJECTED)
    for name, score in conversation.scores.items():
        value = as_object(score).get("value")
        if name != SUCCESS and isinstance(value, int | float):
            values[SCORE + name] = float(value)
            shares |= {SCORE + name} if isinstance(value, bool) else set()
    return values, shares


_Halves: TypeAlias = tuple[_Half | None, _Half | None]


def compare_pairs(
    old: Iterable[Conversation],
    new: Iterable[Conversation],
    *,
    names: tuple[str, str] = ("old", "new"),
    planned: Collection[str] | None = None,
    margin: Margin | None = None,
    not_compared: Sequence[str] = (),
) -> PairedTest:
    """Compare the conversations of two versions, each with the one of the same id.

    Args:
        old: Conversations with the old version.
        new: Conversations with the new one.
        names: Names of both versions; equal ones become `NAME (old)` and `NAME (new)`.
        planned: Ids of the pairs; one without a record on a side counts as without a score. Default: all ids.
        margin: What fails the new version: `shown`, or the greatest loss that may not be excluded.
        not_compared: What only one of two runs has, a line each.

    Raises:
        ValueError: The margin is neither `shown` nor above 0 and below 1.
    """
    if not (margin is None or margin == "shown" or (isinstance(margin, int | float) and 0 < margin < 1)):
        raise ValueError(f"a margin is 'shown' or a number above 0 and below 1, not {margin!r}")
    if names[0] == names[1]:
        names = f"{names[0]} (old)", f"{names[1]} (new)"
    before, after = ({one.id: _Half.of(one) for one in conversations} for conversations in (old, new))
    ids = dict.fromkeys([*before, *after] if planned is None else planned)
    pairs: dict[str, _Halves] = {name: (before.get(name), after.get(name)) for name in ids}
    tested = tuple(_pair(name, *halves) for name, halves in pairs.items())
    counted = [pairs[pair.id] for pair in tested if pair.left_out is None]
    left_out = Counter(pair.left_out for pair in tested if pair.left_out is not None)
    return PairedTest(
        old_name=names[0],
        new_name=names[1],
        suite=on_these_scenarios([(bool(pair.old), bool(pair.new)) for pair in tested if pair.left_out is None]),
        difference=paired(_by_scenario(counted, SUCCESS), SHARE),
        with_left_out=paired(_by_scenario(pairs.values(), SUCCESS, without=0.0), SHARE),
        by_scenario=_changes(counted),
        left_out={fault: left_out[fault] for fault in ("user", "infrastructure") if left_out[fault]},
        measures=_measures(counted),
        tested=tested,
        groups=groups_of(
            {
                name: [
                    half.failure for pair in counted if (half := pair[side]) is not None and half.failure is not None
                ]
                for side, name in ((1, names[1]), (0, names[0]))
            }
        ),
        shared_replies=sum(half.shared for halves in pairs.values() for half in halves if half is not None),
        margin=margin,
        not_compared=tuple(not_compared),
    )


def _pair(name: str, old: _Half | None, new: _Half | None) -> TestedPair:
    halves = [half for half in (old, new) if half is not None]
    left_out: PairFault | None = None
    if any(half.not_of_agent == "user" for half in halves):
        left_out = "user"
    elif any(half.not_of_agent for half in halves) or len(halves) < 2 or any(half.success is None for half in halves):
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


def _by_scenario(pairs: Iterable[_Halves], name: str, without: float | None = None) -> list[list[tuple[float, float]]]:
    """The values of both versions by scenario; `without`: the value of a conversation that has none."""
    found = []
    for halves in pairs:
        old, new = (without if (value := _value(half, name)) is None else value for half in halves)
        key = next((half.scenario for half in halves if half is not None), None)
        if old is not None and new is not None and key is not None:
            found.append((key, (old, new)))
    return by_group(found)


def _value(half: _Half | None, name: str) -> float | None:
    if half is None:
        return None
    if name == SUCCESS:
        return None if half.success is None else float(half.success)
    return half.values.get(name)


def _changes(pairs: Iterable[_Halves]) -> tuple[ScenarioChange, ...]:
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


def _measures(pairs: Sequence[_Halves]) -> tuple[MeasureDifference, ...]:
    """Each measure that is not 0 everywhere, with p adjusted for their number."""
    halves = [half for pair in pairs for half in pair if half is not None]
    names = dict.fromkeys(name for half in halves for name, value in half.values.items() if value)
    shares = {name for name in names if all(name in half.shares for half in halves if name in half.values)}
    differences = [paired(_by_scenario(pairs, name), SHARE if name in shares else None) for name in names]
    adjusted = holm([one.p for one in differences])
    return tuple(
        MeasureDifference(measure=name, difference=one, adjusted_p=p)
        for name, one, p in zip(names, differences, adjusted, strict=True)
    )


# In words


def paired_lines(result: PairedTest) -> list[str]:
    """The comparison in lines: on these scenarios, on scenarios like these, what is left out, where the versions part."""
    lines = [_verdict(result), f"on scenarios like these: {_difference(result.difference)}"]
    if number := sum(result.left_out.values()):
        words = {"user": "by a fault of the user", "infrastructure": "without a score or a record"}
        whose = " and ".join(f"{count} {words[fault]}" for fault, count in result.left_out.items())
        lines.append(f"{number} of {len(result.tested)} pairs are left out: {whose}")
        lines.append(f"with them, a conversation without a score as a failure: {_difference(result.with_left_out)}")
    return [*lines, *_same_user(result), *result.not_compared]


def _verdict(result: PairedTest) -> str:
    """What the pairs show on these scenarios, and what so many could have shown."""
    suite, old = result.suite, result.old_name
    if suite.difference is None:
        return f"against {old}: no pair counts"
    pairs = f"{suite.pairs} pair{'s' * (suite.pairs != 1)}"
    lost = f"only {old} succeeds in {suite.only_old} of {pairs}, only {result.new_name} in {suite.only_new}"
    shown = f"{suite.shown} than {old}" if suite.shown != "not shown" else f"no difference from {old} is shown"
    certainty = f"95 % interval {suite.low:+.2f} to {suite.high:+.2f}, p {_p(suite.p)}"
    line = f"on these scenarios: {shown}: {lost}; difference {suite.difference:+.2f} ({certainty})"
    if suite.shown != "not shown":
        return line
    if suite.detectable is None:
        return f"{line}; so few pairs show none, however large: more repeats are needed"
    return f"{line}; so many pairs show one of {suite.detectable:.2f} with a chance of 80 %"


def _difference(one: Difference) -> str:
    """Both means over scenarios and the difference, with the interval and p."""
    if one.value is None or one.old is None or one.new is None:
        return f"no difference: {one.reason}"
    number = f"{one.groups} scenario{'s' * (one.groups != 1)}"
    certainty = one.reason if one.low is None else f"95 % interval {one.low:+.2f} to {one.high:+.2f}, p {_p(one.p)}"
    return f"{one.new:.2f} against {one.old:.2f} over {number}, difference {one.value:+.2f} ({certainty})"


def _p(p: float | None) -> str:
    return "unknown" if p is None else "below 0.001" if p < 0.001 else f"{p:.2g}"


def _same_user(result: PairedTest) -> Iterator[str]:
    """In how many pairs the conversations are equal up to an answer of the agent, and what both versions share."""
    every = len(result.tested)
    to_the_end = sum(pair.differs_at is None for pair in result.tested)
    users = sum(pair.user_differs for pair in result.tested)
    if every:
        which = "all pairs" if not users else f"{every - users} of {every} pairs"
        line = f"{which} are equal up to an answer of the agent, and {to_the_end} of {every} to the end"
        yield line + f"; in {users} the user differs after the same messages" * bool(users)
    if count := result.shared_replies:
        verb = "reply of the user is" if count == 1 else "replies of the user are"
        yield f"{count} {verb} shared by the versions: the user was sent the same, and asked once"


def changed_lines(result: PairedTest) -> list[str]:
    """The groups of failures by version, and the first pairs that one version won, the lost ones first."""
    return [
        *(f"failed: {group.name}: {group.share}" for group in result.groups[:AT_MOST]),
        *_pair_lines("lost", result),
        *_pair_lines("won", result),
    ]


def _pair_lines(kind: Literal["lost", "won"], result: PairedTest) -> Iterator[str]:
    """Of the scenarios in which one version won pairs the first pair, and why the other version failed."""
    by_scenario = by_group((pair.scenario, pair) for pair in result.tested if pair.kind == kind)
    for first, *others in by_scenario[:AT_MOST]:
        name, failed = (result.new_name, first.new_reason) if kind == "lost" else (result.old_name, first.old_reason)
        place = "" if first.differs_at is None else f", differs from message {first.differs_at}"
        more = f"; {len(others)} more of this scenario" if others else ""
        yield f"{kind}: {first.scenario} ({first.id}{place}{more}): {name} failed: {failed}"
    if (left := len(by_scenario) - AT_MOST) > 0:
        yield f"{kind}: {left} more scenario{'s' * (left > 1)}"


def scenario_table(result: PairedTest) -> Table:
    """Successes of both versions by scenario, those that lost most first; equal ones are counted in a note."""
    changed = [row for row in result.by_scenario if row.old != row.new]
    equal = len(result.by_scenario) - len(changed)
    columns = [Column(name="scenario"), *(Column(name=name, kind="count") for name in ("pairs", "old", "new"))]
    notes = [f"{equal} scenario{'s' * (equal != 1)} with as many successes of both"] if equal else []
    return Table.of(f"Successes by scenario, {result.new_name} against {result.old_name}", columns, changed, notes)


def measure_table(result: PairedTest) -> Table:
    """Each measure beside success, a row."""
    rows = [
        one.difference.model_dump()
        | {"measure": one.measure, "pairs": one.difference.n, "difference": one.difference.value}
        | {"adjusted_p": one.adjusted_p}
        for one in result.measures
    ]
    notes = ["adjusted p: for the number of measures, by Holm's method"] if len(result.measures) > 1 else []
    notes += dict.fromkeys(one.difference.reason for one in result.measures if one.difference.reason)
    return Table.of(
        f"Other measures, {result.new_name} against {result.old_name}",
        [
            Column(name="measure"),
            Column(name="pairs", kind="count"),
            *(Column(name=name, kind="number", places=2) for name in ("old", "new", "difference", "low", "high")),
            *(Column(name=name, kind="p") for name in ("p", "adjusted p")),
        ],
        rows,
        notes,
    )


def not_as_good(result: PairedTest) -> str:
    """Why the new version does not pass; empty if it passes, or nothing was said of what fails it."""
    suite, against = result.suite, f"against {result.old_name}"
    if result.margin is None:
        return ""
    if suite.low is None:
        return f"{against}: no pair counts"
    if result.margin == "shown":
        return f"{against}: worse on these scenarios (p {_p(suite.p)})" if suite.shown == "worse" else ""
    loss = max(0.0, -suite.low)
    within = loss <= result.margin
    return "" if within else f"{against}: a loss of {loss:.2f} is not excluded (at most {result.margin:g} may be)"


def paired_properties(result: PairedTest) -> dict[str, str]:
    """The comparison as properties of a test suite, by name."""
    names = ("difference", "low", "high", "p", "pairs", "only_new", "only_old")
    numbers = {name: getattr(result.suite, name) for name in names}
    return {"against": result.old_name, "shown on these scenarios": result.suite.shown} | {
        name: f"{value:.6g}" for name, value in numbers.items() if value is not None
    }
