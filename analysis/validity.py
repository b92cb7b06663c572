"""Whether simulated users are good for testing: do they tell a bad assistant from a good one, and rate as people do.

The two are never one number, and it calls no model. Needs the extra `stats`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any, Literal, TypeAlias

from typing_extensions import override

from ..data.labels.reading import annotations_in
from ..data.people import UserPart, part_of, user_of
from ..data.records import Conversation, Record, as_object
from ..data.rules.notices import noticed
from ..errors import DataError, of_extra
from .coefficients import concordance, peoples_pairs
from .estimates import Difference, Estimate, paired
from .labels.reading import number_of
from .outcomes import scenario_key, score_of
from .tables import Cell, Column, Table, TabledReport

LABEL = "satisfaction"
"""Name of the label of replies or of a conversation, and of the score by which a user says it."""
POINTS = (1.0, 5.0)
LENGTH = "reply length"

Values: TypeAlias = Sequence[float | None]
"""The rating of each rated conversation; None without one."""


class MeetingResult(Record):
    """The difference that a user makes between one assistant and the reference."""

    user: str
    satisfaction_by: str
    """How the user says its satisfaction: `model`, `rule`, or how else."""
    scenarios: str
    """Which scenarios: `errands`, `contexts of people`, or the name of a file."""
    assistant: str
    reference: str
    conversations: int
    """With this assistant; with the reference there are as many, but for those that failed."""
    failed: int
    """Of both, conversations without a score, as after a failing endpoint: they count in no difference."""
    success: Difference
    """Share of successes over the scenarios that both assistants met, less the reference's: below 0 where it is told."""
    satisfaction: Difference
    """Mean satisfaction, 1 to 5, in the same way."""


def detects(difference: Difference) -> Literal["yes", "no", "prefers it", "too few", "not tried"]:
    """Whether the interval of the difference lies below 0, holds it, or lies above it."""
    if difference.low is None or difference.high is None:
        return "too few" if difference.groups else "not tried"
    return "yes" if difference.high < 0 else "prefers it" if difference.low > 0 else "no"


def told_apart(
    user: str, says_by: str, scenarios: str, met: Mapping[str, Sequence[Conversation]]
) -> tuple[MeetingResult, ...]:
    """The difference of each assistant from the first, the reference, in success and satisfaction."""
    rows = [
        (name, scenario_key(one), value[0], satisfaction_in(one))
        for name, conversations in met.items()
        for one in conversations
        if not isinstance(value := score_of(one), str)
    ]
    columns = ["assistant", "scenario", "success", "satisfaction"]
    frame = of_extra("pandas", "stats").DataFrame(rows, columns=columns)
    reference, *others = met
    return tuple(
        MeetingResult(
            user=user,
            satisfaction_by=says_by,
            scenarios=scenarios,
            assistant=name,
            reference=reference,
            conversations=len(met[name]),
            failed=len(met[reference]) + len(met[name]) - int(frame["assistant"].isin([reference, name]).sum()),
            success=_difference(frame, reference, name, "success", (0.0, 1.0)),
            satisfaction=_difference(frame, reference, name, "satisfaction", POINTS),
        )
        for name in others
    )


def _difference(frame: Any, reference: str, other: str, name: str, scale: tuple[float, float]) -> Difference:
    means = frame.astype({name: float}).pivot_table(name, "scenario", "assistant", sort=False)
    means = means.reindex(columns=[reference, other]).dropna(how="all")
    common = means.dropna()
    found = paired([[pair] for pair in common.itertuples(index=False, name=None)], scale)
    if left_out := len(means) - len(common):
        reasons = (found.reason, f"{left_out} scenarios that only one of both has are left out")
        found = found.model_copy(update={"reason": "; ".join(filter(None, reasons))})
    return found


def satisfaction_in(conversation: Conversation) -> float | None:
    """The recorded satisfaction of a conversation; None without one."""
    value = as_object(conversation.scores.get(LABEL)).get("value")
    return None if isinstance(value, bool) or not isinstance(value, int | float | str) else number_of(str(value))


@dataclass(frozen=True)
class RatedConversations:
    """Conversations that people rated with their satisfaction."""

    conversations: tuple[Conversation, ...]
    satisfaction: tuple[float, ...]
    """Of each conversation: the mean over its replies that have one, else its own label."""

    @classmethod
    def of(cls, conversations: Sequence[Conversation], part: UserPart = "all") -> "RatedConversations":
        """Those of the conversations of a part of the users that have a satisfaction; DataError without one."""
        own = (one for one in conversations if part == "all" or part_of(user_of(one)) == part)
        pairs = [(one, value) for one in own if (value := satisfaction_of(one)) is not None]
        if not pairs:
            raise DataError(
                f"no conversation (part: {part}) has a satisfaction of its user: give people's conversations whose replies "
                f"have the label {LABEL!r}, a number, such as those of RecLLMSim's newer study; without it, leave them out "
                "and try the user people:SRC"
            )
        return cls(tuple(one for one, _ in pairs), tuple(value for _, value in pairs))

    @cached_property
    def users(self) -> tuple[str, ...]:
        """The user of each conversation."""
        return tuple(map(user_of, self.conversations))

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The places of the better and the worse of two conversations of one user, across tasks."""
        return peoples_pairs(self.users, self.satisfaction)

    def concordance(self, values: Values, above: Values | None = None) -> Estimate:
        """The share of the pairs in which `values` prefer what the person preferred, as in `coefficients.concordance`."""
        return concordance(self.users, self.satisfaction, values, above)


def satisfaction_of(conversation: Conversation) -> float | None:
    """The mean satisfaction with the replies, else that of the conversation's own label; None without a rating."""
    replies = (annotations_in(message).get(LABEL) for message in conversation.messages if message.role == "assistant")
    values = [value for words in replies if words and (value := number_of(words[0])) is not None]
    own = annotations_in(conversation).get(LABEL)
    return fmean(values) if values else number_of(own[0]) if own else None


def reply_length(conversation: Conversation) -> float:
    """Mean characters of the replies; 0 without one."""
    lengths = [len(message.text) for message in conversation.messages if message.role == "assistant" and message.stored]
    return fmean(lengths) if lengths else 0.0


BASELINES: Mapping[str, Callable[[Conversation], float | None]] = {
    LENGTH: reply_length,
    "number of turns": lambda one: float(sum(bool(exchange.user) for exchange in one.exchanges)),
    "what a user notices": lambda one: noticed(one.messages, one.stop).satisfaction,
}
"""Scores of a conversation by name; the last is the rule by which users without a model say how satisfied they are."""


class TesterRow(Record):
    """The concordance of a score or user with people."""

    tester: str
    kind: Literal["baseline", "tester"]
    concordance: Estimate
    above_length: Estimate
    """Less the concordance of the replies' length, over the pairs that both have."""
    failed: int = 0
    """Conversations without its rating."""
    failure: str = ""


class PeopleReport(Record):
    """Scores of conversations against people."""

    conversations: int
    users: int
    pairs: int
    rows: tuple[TesterRow, ...]

    def table(self) -> Table:
        """A row for each score and user."""
        columns = [Column(name="tester"), Column(name="pairs", kind="count")]
        names = ("concordance", "low", "high", "above length", "above low", "above high")
        columns += [Column(name=name, kind="number") for name in names]
        rows: list[tuple[Cell, ...]] = [
            (row.tester, row.concordance.n, *row.concordance.ends, *row.above_length.ends) for row in self.rows
        ]
        notes = (
            "concordance: of the pairs of a person's conversations, the share of which the simulated user prefers the same "
            "one; ties count 0.5. The satisfaction is people's own label. 95 % intervals over people.",
            *dict.fromkeys(f"{row.tester}: {row.concordance.reason}." for row in self.rows if row.concordance.reason),
            *(f"{row.tester}: gives nothing for {row.failed} of {self.conversations} conversations: {row.failure}"
              for row in self.rows if row.failed),
        )  # fmt: skip
        title = f"Preferences of simulated users and {self.users} people: {self.pairs} pairs"
        return Table(title=title, columns=tuple(columns), rows=tuple(rows), notes=notes)


def people_report(
    rated: RatedConversations,
    values_by_tester: Mapping[str, Values],
    failures: Mapping[str, Sequence[str]] | None = None,
) -> PeopleReport:
    """Scores against people: by name a value for each conversation of `rated`; `failures`: why values are missing."""
    baselines = {name: [of(one) for one in rated.conversations] for name, of in BASELINES.items()}
    rows = [
        TesterRow(
            tester=name,
            kind="tester" if name in values_by_tester else "baseline",
            concordance=rated.concordance(values),
            above_length=Estimate() if name == LENGTH else rated.concordance(values, baselines[LENGTH]),
            failed=sum(value is None for value in values),
            failure=next(iter((failures or {}).get(name, ())), ""),
        )
        for name, values in {**baselines, **values_by_tester}.items()
    ]
    users = {rated.users[better] for better, _ in rated.pairs}
    return PeopleReport(conversations=len(rated.users), users=len(users), pairs=len(rated.pairs), rows=tuple(rows))


class ValidityReport(TabledReport):
    """The validity of simulated users, in two parts that are not added up."""

    people: PeopleReport | None = None
    """None without people's conversations."""
    told: tuple[MeetingResult, ...] = ()
    """Empty if no assistants were met."""
    seed: int = 0
    repeats: int = 1

    @override
    def tables(self) -> list[Table]:
        people = [] if self.people is None else [self.people.table()]
        return [*people, *([self.table()] if self.told else [])]

    def table(self) -> Table:
        """Two rows for each user and bad assistant: by success, and by the user's satisfaction."""
        columns = [Column(name=name) for name in ("user", "assistant", "by")]
        columns += [Column(name=name, kind="count", wide=name == "n") for name in ("n", "scenarios")]
        names, wide = ("reference", "it", "difference", "low", "high"), ("reference", "it")
        columns += [Column(name=name, kind="number", places=2, wide=name in wide) for name in names]
        columns.append(Column(name="detects"))
        rows: list[tuple[Cell, ...]] = []
        reasons = []
        for row in self.told:
            for by, one in (("success", row.success), (f"satisfaction: {row.satisfaction_by}", row.satisfaction)):
                means = (one.old, one.new, *one.ends)
                rows.append((row.user, row.assistant, by, row.conversations, one.groups, *means, detects(one)))
                reasons += [f"{row.user}, {row.assistant}, {by}: {one.reason}."] if one.reason else []
        notes = (
            "reference, it: share of successes, or mean satisfaction (1 to 5), with the first assistant and with that of the "
            "row. difference: the second less the first, with its 95 % interval over shared scenarios; detects: whether it "
            "lies below 0. n: conversations with each.",
            *(f"{user}: {scenarios}." for user, scenarios in {row.user: row.scenarios for row in self.told}.items()),
            *reasons,
            "How human a user is: duologue compare. That is another thing, and stands beside this, never added to it.",
        )
        return Table(
            title="Assistants that each user distinguishes", columns=tuple(columns), rows=tuple(rows), notes=notes
        )
