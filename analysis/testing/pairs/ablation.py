"""Several variants of a cast, all compared with the first: conversations of one scenario and repeat, held with each.

Each measure of each variant has a paired difference to the first (`analysis.over_users.paired`): scenarios are
independent, conversations of a scenario are not. p is adjusted for all differences together, by Holm's method.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import NamedTuple

from typing_extensions import override

from ....data.records import Conversation, Record
from ...outcomes import agent_failed, at_own_limit, scenario_key
from ...over_users.pair_power import ALPHA
from ...over_users.paired import PairedDifference, holm, paired_difference
from ...tables import Column, Table, TabledReport
from .pairing import SHARE, MeasureDifference
from .pairs_text import NO_INTERVAL, shared_line


class MeasuredValues(NamedTuple):
    """A measure of conversations."""

    values: Sequence[float | None]
    """One for each conversation; None where the measure is not defined for it."""
    share: bool
    """Whether the values are shares, or true or false."""


MeasureAll = Callable[[Sequence[Conversation]], Mapping[str, MeasuredValues]]
"""Measures of conversations by name."""


@dataclass(frozen=True)
class MeasuredVariant:
    """The measured conversations of a variant, without these themselves."""

    name: str
    planned: int
    """Conversations that its run planned."""
    scenarios: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of each conversation that counts, by id, its scenario's key."""
    measures: Mapping[str, MeasuredValues] = field(default_factory=dict[str, MeasuredValues])
    """Values in the order of `scenarios`."""
    differs: tuple[str, ...] = ()
    """The settings in which it differs from the first, a line each."""
    shared: int = 0
    """Drafts of the user that came from another variant."""

    @classmethod
    def of(
        cls,
        name: str,
        conversations: Iterable[Conversation],
        measure: MeasureAll,
        planned: int,
        differs: Sequence[str] = (),
    ) -> "MeasuredVariant":
        """The variant with measured conversations; one that a bound or an endpoint's failure ended does not count."""
        counted = {one.id: one for one in conversations if _counts(one)}
        scenarios = {key: scenario_key(one) for key, one in counted.items()}
        shared = sum(attempt.shared for one in counted.values() for attempt in one.attempts("user"))
        return cls(name, planned, scenarios, measure(list(counted.values())), tuple(differs), shared)

    def by_id(self, measure: str) -> dict[str, float]:
        """The values of a measure by the conversations' ids; empty where no conversation has it."""
        if measure not in self.measures:
            return {}
        values = zip(self.scenarios, self.measures[measure].values, strict=True)
        return {name: value for name, value in values if value is not None}


def _counts(conversation: Conversation) -> bool:
    return conversation.ended_by_itself or agent_failed(conversation) or at_own_limit(conversation)


class VariantMean(Record):
    """The mean of a variant by one measure."""

    measure: str
    variant: str
    conversations: int
    """Conversations that have the measure."""
    scenarios: int
    mean: float | None
    """Mean over scenarios of the scenario's mean; None where no conversation has the measure."""


class VariantDifference(MeasureDifference):
    """A variant against the first, by one measure; p is adjusted for all measures of all variants."""

    variant: str


class VariantSettings(Record):
    """A variant, and how it differs from the first."""

    name: str
    planned: int
    counted: int
    """Conversations that ended by themselves or that their own agent ended."""
    differs: tuple[str, ...]
    """The settings in which it differs from the first, a line each."""
    shared_replies: int = 0
    """Drafts of its user that came from another variant, which had been sent the same and paid for them."""


class AblationReport(TabledReport):
    """Variants of a cast by several measures, each compared with the first in pairs of scenario and repeat."""

    variants: tuple[VariantSettings, ...]
    """In order; the first is the one that all others are compared with."""
    means: tuple[VariantMean, ...]
    """By measure, then by variant."""
    differences: tuple[VariantDifference, ...]
    """By measure, then by variant; the first has none."""
    notes: tuple[str, ...]

    @property
    def first(self) -> str:
        """Name of the variant that all others are compared with."""
        return self.variants[0].name

    def difference(self, variant: str, measure: str) -> VariantDifference:
        """The difference of a variant to the first by a measure; KeyError for another name."""
        matches = (one for one in self.differences if (one.variant, one.measure) == (variant, measure))
        if (one := next(matches, None)) is None:
            raise KeyError(f"{variant}: {measure}")
        return one

    def table(self) -> Table:
        """A row for each measure and variant."""
        differences = {(one.measure, one.variant): one for one in self.differences}
        fields = ("difference", "low", "high", "p", "adjusted_p")
        rows = []
        for mean in self.means:
            one = differences.get((mean.measure, mean.variant))
            figures = {name: None if one is None else getattr(one, name) for name in fields}
            rows.append({**dict(mean), **figures, "pairs": None if one is None else one.pairs})
        return Table.of(
            f"All against {self.first}",
            [
                Column(name="measure"),
                Column(name="variant"),
                *(Column(name=name, kind="number", places=2) for name in ("mean", "difference", "low", "high")),
                Column(name="p", kind="p", wide=True),
                Column(name="adjusted p", kind="p"),
                Column(name="pairs", kind="count", wide=True),
            ],
            rows,
            self.notes,
        )

    @override
    def tables(self) -> list[Table]:
        return [self.table()]

    @override
    def narrow(self) -> list[Table]:
        return [self.table().narrow()]

    def summary(self) -> list[str]:
        """The differences that are shown, a line each, or that there are none."""
        shown = [one for one in self.differences if one.adjusted_p is not None and one.adjusted_p < ALPHA]
        lines = [f"{one.variant}: {one.measure} {one.difference:+.2f}" for one in shown]
        return lines or [f"no variant is shown to differ from {self.first}: no adjusted p is below {ALPHA:g}"]


def compare_variants(variants: Sequence[MeasuredVariant], measures: Sequence[str] | None = None) -> AblationReport:
    """Compare variants with the first, in pairs of conversations of the same id.

    Args:
        variants: At least two, each with its measured conversations.
        measures: Names in order; None: each that is not 0 everywhere, in the order in which conversations have them.

    Returns:
        The report: means of each variant, and the differences to the first with p adjusted by Holm's method.
    """
    if measures is None:
        names = dict.fromkeys(name for variant in variants for name in variant.measures)
        measures = [name for name in names if any(any(variant.by_id(name).values()) for variant in variants)]
    first, *others = variants
    means, raw = [], []
    for measure in measures:
        values = [variant.by_id(measure) for variant in variants]
        means += [_mean(measure, variant, own) for variant, own in zip(variants, values, strict=True)]
        having = [variant.measures[measure] for variant in variants if measure in variant.measures]
        scale = SHARE if having and all(one.share for one in having if any(v is not None for v in one.values)) else None
        for variant, own in zip(others, values[1:], strict=True):
            pairs: dict[str, list[tuple[float, float]]] = {}
            for name, value in values[0].items():
                if name in own:
                    pairs.setdefault(first.scenarios[name], []).append((value, own[name]))
            raw.append((measure, variant.name, paired_difference(list(pairs.values()), scale=scale)))
    adjusted = holm([one.p for _, _, one in raw])
    return AblationReport(
        variants=tuple(
            VariantSettings(
                name=one.name,
                planned=one.planned,
                counted=len(one.scenarios),
                differs=one.differs,
                shared_replies=one.shared,
            )
            for one in variants
        ),
        means=tuple(means),
        differences=tuple(
            VariantDifference(**dict(one), measure=measure, variant=variant, adjusted_p=p)
            for (measure, variant, one), p in zip(raw, adjusted, strict=True)
        ),
        notes=tuple(_notes(variants, [one for _, _, one in raw])),
    )


def _mean(measure: str, variant: MeasuredVariant, values: Mapping[str, float]) -> VariantMean:
    scenarios: dict[str, list[float]] = {}
    for name, value in values.items():
        scenarios.setdefault(variant.scenarios[name], []).append(value)
    mean = fmean(map(fmean, scenarios.values())) if scenarios else None
    return VariantMean(
        measure=measure, variant=variant.name, conversations=len(values), scenarios=len(scenarios), mean=mean
    )


def _notes(variants: Sequence[MeasuredVariant], differences: Sequence[PairedDifference]) -> list[str]:
    notes = [
        f"low and high: the difference's 95 % interval over scenarios; adjusted p: for {len(differences)} "
        f"difference{'s' * (len(differences) != 1)}, by Holm's method"
    ]
    if any(one.pairs and one.low is None for one in differences):
        notes.append(NO_INTERVAL)
    for variant in variants[1:]:
        notes.append(f"{variant.name}: {'; '.join(variant.differs) or 'has the settings of the first'}")
    notes += shared_line(sum(variant.shared for variant in variants), "variants")
    notes += [
        f"{variant.name}: {variant.planned - len(variant.scenarios)} of {variant.planned} conversations do not count: "
        "they are missing, or a bound or an endpoint ended them"
        for variant in variants
        if len(variant.scenarios) < variant.planned
    ]
    return notes
