"""Whether simulated users react to a worse assistant as people do: the protocol of ConvApparel (2602.16938).

People and simulated users each talk with a good and with a bad assistant. For each measure the reaction of a side is its
mean with the bad assistant less that with the good one. Both reactions are compared with each other.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from scipy.stats import norm
from typing_extensions import override

from ....data.records import Conversation, Record
from ....data.text.languages import Language
from ...over_users.estimate import FEWEST_USERS, FloatArray, of_users
from ...tables import Column, Table, TabledReport
from ..matching import matched
from ..measures import MEASURES, Measure
from ..measures.transcripts import UserTranscript
from ..ranking import benjamini_hochberg
from .features import FEATURES

LEVEL = 0.05

ReactionFinding: TypeAlias = Literal[
    "", "same direction", "stronger", "weaker", "opposite", "not shown", "only simulated", "none shown"
]
"""How the simulated users' reaction stands beside people's.

`same direction`: both react so, and a difference is not shown. `not shown`: of the simulated users. `none shown`: of
neither side. Empty without an interval.
"""


class ReactionRow(Record):
    """The reaction of both sides by one measure: the mean with the bad assistant less that with the good one."""

    measure: str
    unit: str
    human: float | None = None
    human_low: float | None = None
    human_high: float | None = None
    human_p: float | None = None
    """Of no reaction of people, adjusted over all measures (Benjamini and Hochberg 1995)."""
    sim: float | None = None
    sim_low: float | None = None
    sim_high: float | None = None
    sim_p: float | None = None
    difference: float | None = None
    """The simulated users' reaction less people's."""
    low: float | None = None
    high: float | None = None
    p: float | None = None
    """Of equal reactions, adjusted over all measures."""
    finding: ReactionFinding = ""


class ReactionReport(TabledReport):
    """The reactions of simulated users and of people to a worse assistant."""

    rows: tuple[ReactionRow, ...]
    conversations: tuple[int, int, int, int]
    """Of the simulated users with the good and the bad assistant, then of people."""
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """The number of people's reactions, and how simulated users react there."""
        people = [row for row in self.rows if row.human_p is not None and row.human_p <= LEVEL]
        counts = Counter(row.finding for row in people)
        listed = ", ".join(f"{finding} {count}" for finding, count in counts.most_common()) or "none"
        only = sum(row.finding == "only simulated" for row in self.rows)
        return (
            f"People are shown to react by {len(people)} of {len(self.rows)} measures; simulated users there: {listed}. By "
            f"{only} further measures only simulated users are."
        )

    @override
    def tables(self) -> list[Table]:
        columns = [Column(name="measure")]
        for name in ("human", "sim", "difference"):
            ends = ("low", "high") if name == "difference" else (f"{name} low", f"{name} high")
            columns += [Column(name=one, kind="number") for one in (name, *ends)]
            columns.append(Column(name="p" if name == "difference" else f"{name} p", kind="p"))
        columns.append(Column(name="finding"))
        notes = (
            "human, sim: mean with the bad assistant less that with the good one, in the measure's unit. difference: the "
            "second less the first. 95 % intervals over users; p by the bootstrap's standard error, adjusted over measures.",
            self.verdict,
            *self.notes,
        )
        return [Table.of("Reactions to a worse assistant", columns, self.rows, notes)]


@dataclass(frozen=True)
class _Groups:
    """A side's values with the good and with the bad assistant, and the place of the user of each conversation.

    A user who met both counts as often in one as in the other.
    """

    values: FloatArray
    bad: np.ndarray
    user: np.ndarray
    users: int

    @classmethod
    def of(
        cls, good: Sequence[UserTranscript], bad: Sequence[UserTranscript], measures: Sequence[Measure]
    ) -> "_Groups":
        transcripts = [*good, *bad]
        names, place = of_users([one.cluster for one in transcripts])
        # Each group by itself: measures of sameness look into the others of a group.
        columns = [[*one.values(good), *one.values(bad)] for one in measures]
        values = np.array(columns, dtype=float).reshape(len(measures), len(transcripts)).T
        return cls(values, np.arange(len(transcripts)) >= len(good), place, len(names))

    @property
    def fewest(self) -> int:
        """Users of the group that has fewer."""
        return min(len(set(self.user[of_group])) for of_group in (self.bad, ~self.bad))

    def reaction(self, counts: np.ndarray | None = None) -> FloatArray:
        """The difference of the means over conversations. `counts`: how often each user counts."""
        weights = np.ones(len(self.user)) if counts is None else counts[self.user].astype(float)
        means = []
        for of_group in (self.bad, ~self.bad):
            of_values = ~np.isnan(self.values) * (weights * of_group)[:, None]
            total = of_values.sum(axis=0)
            sums = (np.nan_to_num(self.values) * of_values).sum(axis=0)
            means.append(np.divide(sums, total, out=np.full(self.values.shape[1], np.nan), where=total > 0))
        reaction: FloatArray = means[0] - means[1]
        return reaction

    def drawn(self, draws: int, draw: np.random.Generator) -> FloatArray:
        """The reactions of draws of users with replacement."""
        counts = (np.bincount(draw.integers(self.users, size=self.users), minlength=self.users) for _ in range(draws))
        return np.array([self.reaction(one) for one in counts])


def reactions_of(
    sim: tuple[Sequence[Conversation], Sequence[Conversation]],
    human: tuple[Sequence[Conversation], Sequence[Conversation]],
    *,
    language: Language | None = None,
    measures: Sequence[Measure] | None = None,
    seed: int = 0,
    draws: int = 2000,
) -> ReactionReport:
    """Compare the reactions of simulated users and of people to a worse assistant.

    Args:
        sim: Simulated conversations with the good, and with the bad assistant.
        human: People's with the good, and with the bad assistant.
        language: Language in which all are compared; default: one that they have in common.
        measures: The measures; default: the shipped ones that need no other conversations, and the published features.
        seed: Seed of the draws.
        draws: Bootstrap draws of users.

    Returns:
        The report; a side with fewer than 8 users in a group has no interval.
    """
    chosen = [one for one in measures or (*MEASURES, *FEATURES) if not one.pairwise]
    pairs = [matched(sim[place], human[place], None, language, "all") for place in range(2)]
    sizes = (len(pairs[0].sim), len(pairs[1].sim), len(pairs[0].human), len(pairs[1].human))
    notes = [f"{name}: {note}" for name, pair in zip(("Good", "Bad"), pairs, strict=True) for note in pair.notes]
    if not all(sizes):
        return ReactionReport(rows=(), conversations=sizes, notes=(*notes, "A group has no conversation to compare."))
    sides = {
        "human": _Groups.of(pairs[0].human, pairs[1].human, chosen),
        "sim": _Groups.of(pairs[0].sim, pairs[1].sim, chosen),
    }
    estimates = {name: side.reaction() for name, side in sides.items()}
    drawn = {
        name: side.drawn(draws, np.random.default_rng([seed, number]))
        for number, (name, side) in enumerate(sides.items())
    }
    fewest = min(side.fewest for side in sides.values())
    estimates["difference"] = estimates["sim"] - estimates["human"]
    drawn["difference"] = drawn["sim"] - drawn["human"]
    tests = {name: _tests(estimates[name], drawn[name], fewest) for name in estimates}
    adjusted = {name: benjamini_hochberg([p for *_, p in rows]) for name, rows in tests.items()}
    rows = []
    for place, measure in enumerate(chosen):
        cells: dict[str, float | None] = {}
        for name in estimates:
            low, high, _ = tests[name][place]
            ends = ("low", "high", "p") if name == "difference" else (f"{name}_low", f"{name}_high", f"{name}_p")
            cells |= {name: _number(estimates[name][place])}
            cells |= dict(zip(ends, (low, high, adjusted[name][place]), strict=True))
        row = ReactionRow.model_validate({"measure": measure.name, "unit": measure.unit, **cells})
        rows.append(row.model_copy(update={"finding": _finding(row)}))
    rows.sort(key=lambda row: (row.human_p is None, row.human_p))
    return ReactionReport(rows=tuple(rows), conversations=sizes, notes=tuple(notes))


def _tests(
    estimates: FloatArray, drawn: FloatArray, fewest: int
) -> list[tuple[float | None, float | None, float | None]]:
    """For each measure the 95 % interval and p, by the draws; None with too few users.

    If all users react alike there is no error: then p is that of a sign test. `fewest`: users of the smallest group.
    """
    rows: list[tuple[float | None, float | None, float | None]] = []
    for estimate, column in zip(estimates, drawn.T, strict=True):
        defined = column[~np.isnan(column)]
        error = float(defined.std(ddof=1)) if len(defined) > len(column) / 2 else 0.0
        if fewest < FEWEST_USERS or np.isnan(estimate) or not len(defined):
            rows.append((None, None, None))
            continue
        if error < 1e-12:
            rows.append((None, None, 1.0 if abs(estimate) < 1e-12 else 2 * 0.5**fewest))
            continue
        low, high = (float(end) for end in np.quantile(defined, [0.025, 0.975]))
        rows.append((low, high, float(2 * norm.sf(abs(estimate) / error))))
    return rows


def _finding(row: ReactionRow) -> ReactionFinding:
    if row.human is None or row.sim is None or (row.human_p is None and row.sim_p is None):
        return ""
    people, simulated, differ = (p is not None and p <= LEVEL for p in (row.human_p, row.sim_p, row.p))
    if not people:
        return "only simulated" if simulated else "none shown"
    if not simulated:
        return "not shown"
    if row.sim * row.human < 0:
        return "opposite"
    if not differ:
        return "same direction"
    return "stronger" if abs(row.sim) > abs(row.human) else "weaker"


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
