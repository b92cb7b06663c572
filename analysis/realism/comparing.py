"""The comparison of simulated users with people, from conversations to the report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from ...data.loading import annotated_in
from ...data.records import Conversation
from ...data.text.languages import Language
from ..labels.reliability import NOT_CALIBRATED, Trusts
from ..threads import one_thread, unscanned
from .categories import category_row, refused_row
from .discriminator import discriminate
from .examples import typical_messages
from .matching import MatchedConversations, matched, summary
from .measures import LabelMeasure, Measure, all_measures, labels_of, registered
from .measures.transcripts import UserTranscript
from .ranking import levels_of, ranked
from .records import RealismRow
from .report import RealismReport, SideSummary, UserPartName
from .rows import description, number_rows, reference_rows, statistics_of, with_detectable
from .statistics.auc import NOT_MEASURED, Discriminator
from .statistics.correlations import correlated_pairs, effective_number
from .statistics.samples import MeasuredUsers, joined, levelled, measured
from .statistics.two_samples import Draws, TwoSamples

ROWS_WITH_EXAMPLES = 10
"""Rows, from the first, that get messages to show them."""


@one_thread()
@unscanned()
def compare(
    sim: Sequence[Conversation],
    human: Sequence[Conversation],
    published: Sequence[Conversation] | None = None,
    *,
    language: Language | None = None,
    part: UserPartName = "all",
    references: Mapping[str, Sequence[Conversation]] = MappingProxyType({}),
    made: Sequence[Conversation] | None = None,
    seed: int = 0,
    measures: Sequence[Measure] | None = None,
    examples_each: int = 3,
    shufflings: int = 2000,
    halvings: int = 100,
    auc: bool = True,
) -> RealismReport:
    """Measure how far simulated users are from people, and how far people are from other people.

    Args:
        sim: Simulated conversations.
        human: People's conversations.
        published: Simulated users of an earlier study, for their distance.
        language: Language in which both groups are compared, `en` or `zh`; default: one that both have.
        part: Take only users of this split of the people: `tune`, `test` or `all`. A user's split
            never changes.
        references: Conversations of other people, by name. Their distance from `human` stands beside the human-human
            baseline, which contains only one study's people.
        made: Retrieval-based users (`duologue.runs.people.retrieval`), as a baseline.
        seed: Seed of all random draws.
        measures: The measures to compute; default: the shipped ones and those of your own (`register_measure`).
        examples_each: Number of messages of each group that show a measure.
        shufflings: Number of random draws for p.
        halvings: Number of random draws for the human-human baseline.
        auc: Whether the AUC is measured, which takes most of the time.

    Returns:
        The report. A note, or the reason in a row, names what cannot be compared. Such are an empty group, a single
        user, no text of the user, no label, and no common language or task.

    Raises:
        MissingExtraError: scikit-learn is missing (extra `stats`), or for Chinese jieba (extra `zh`).
    """
    annotated = annotated_in(sim), annotated_in(human)
    sim, human = tuple(sim), tuple(human)
    draws = Draws(seed, shufflings, halvings)
    measures = all_measures() if measures is None else measures
    sources = matched(sim, human, published, language, part, references, made)
    computed = [measure for measure in measures if sources.language or measure.wordless]
    sides = _Sides.of(sources, computed)
    sim_sample, human_sample = sides.sim, sides.human
    labels = labels_of(sources.sim, sources.human)
    notes = list(sources.notes)
    if not labels:
        notes.append("Labels: the two sides have no annotation in common.")
    translated = any(transcript.translated for transcript in (*sources.sim, *sources.human))
    trusts = Trusts.of(sim, annotated[0]), Trusts.of(human, annotated[1])
    of_measures, both = _measure_rows(sides, computed, draws, translated)
    of_labels, both_means = _label_rows(sides, labels, draws, trusts)
    levels = levels_of([*of_measures, *of_labels])
    rows = [
        *with_detectable(of_measures, both, levels),
        *with_detectable(of_labels, both_means, levels[len(of_measures) :]),
        *(
            RealismRow(**description(measure), reason="the sides have no common language")
            for measure in measures
            if measure not in computed
        ),
    ]
    own = [row for row, measure in zip(rows, computed, strict=False) if measure in registered()]
    if counted := [row.name for row in own if row.effect is not None]:
        notes.append(f"Measures of your own: {', '.join(counted)}. They count in adjusted p, AUC and mean distance.")
    if uncounted := [row.name for row in own if row.effect is None]:
        notes.append(f"Measures of your own that count nowhere: {', '.join(uncounted)}. They have no effect.")
    usable = [
        column
        for column, measure in enumerate(computed)
        if not measure.pairwise
        and (measure.survives_translation or not translated)
        and _varies(sim_sample.values[:, column], human_sample.values[:, column])
    ]
    ranked_columns = [column for column in range(len(computed)) if rows[column].is_ranked]
    cells = joined(sim_sample, human_sample)
    return RealismReport(
        language=sources.language,
        part=part,
        seed=seed,
        sim=summary(sim, sources.sim),
        human=summary(human, sources.human),
        published=_summary_of(published, sources.beside.get("published")),
        made=_summary_of(made, sources.beside.get("made")),
        references={name: summary(tuple(references[name]), side) for name, side in sources.references.items()},
        tasks=sources.tasks,
        by_assistant=sources.by_assistant,
        notes=tuple(notes),
        measures=tuple(_with_examples(ranked(rows), sim_sample, human_sample, computed, examples_each)),
        discriminator=discriminate(sim_sample, human_sample, computed, usable, draws, sides.beside, sides.references)
        if auc
        else Discriminator(auc=NOT_MEASURED, floor=NOT_MEASURED),
        effective_measures=effective_number(cells, ranked_columns),
        correlated=correlated_pairs(cells, ranked_columns, [measure.name for measure in computed]),
    )


def _summary_of(
    conversations: Sequence[Conversation] | None, compared: Sequence[UserTranscript] | None
) -> SideSummary | None:
    return None if conversations is None or compared is None else summary(tuple(conversations), compared)


@dataclass(frozen=True)
class _Sides:
    """The samples that are compared; their columns are the same measures. Simulated users and people are levelled."""

    sim: MeasuredUsers
    human: MeasuredUsers
    beside: dict[str, MeasuredUsers]
    """The published users and those made from people, where there are any."""
    references: dict[str, MeasuredUsers]

    @classmethod
    def of(cls, sources: MatchedConversations, measures: Sequence[Measure]) -> "_Sides":
        """The sides of the sources, measured."""

        def sample(transcripts: Sequence[UserTranscript]) -> MeasuredUsers:
            values = measured(transcripts, measures, among_others=False)
            return values.by_assistant() if sources.by_assistant else values

        return cls(
            *levelled(sample(sources.sim), sample(sources.human), measures),
            {name: sample(transcripts) for name, transcripts in sources.beside.items() if transcripts},
            {name: sample(transcripts) for name, transcripts in sources.references.items()},
        )

    def measured_again(self, measures: Sequence[Measure]) -> "_Sides":
        """The same conversations with other measures."""

        def again(side: MeasuredUsers) -> MeasuredUsers:
            return replace(measured(side.transcripts, measures), further_strata=side.further_strata)

        beside, references = (
            {name: again(side) for name, side in sides.items()} for sides in (self.beside, self.references)
        )
        return _Sides(again(self.sim), again(self.human), beside, references)


def _measure_rows(
    sides: _Sides, measures: Sequence[Measure], draws: Draws, translated: bool
) -> tuple[list[RealismRow], TwoSamples | None]:
    """The rows of the measures, and the statistics of the two sides that they show."""
    if not measures:
        return [], None
    sim, human = sides.sim, sides.human
    both = statistics_of(sim, human, measures, draws)
    apart = ["translation" if translated and not measure.survives_translation else "" for measure in measures]
    further: dict[str, Sequence[Any]] = {
        "apart": apart,
        "references": reference_rows(sim, human, sides.references, measures, draws),
    }
    return number_rows(both, sim, human, measures, sides.beside, further), both


def _label_rows(
    sides: _Sides, labels: Sequence[LabelMeasure], draws: Draws, trusts: tuple[Trusts, Trusts]
) -> tuple[list[RealismRow], TwoSamples | None]:
    """The rows of annotations, all set apart: numbers before categories, refused ones last. `trusts`: of both sides.

    With the statistics of the numbers.
    """
    refused = [refused_row(label) for label in labels if label.refused]
    labels = [label for label in labels if not label.refused]
    means = [_mean_of(label) for label in labels if label.numeric]
    rows, both = _measure_rows(sides.measured_again(means), means, draws, translated=False)
    rows += [
        category_row(sides.sim, sides.human, label, draws, sides.beside.get("published"))
        for label in labels
        if not label.numeric
    ]
    of_sim, of_human = trusts
    return [
        row.model_copy(
            update={
                "apart": "annotation",
                "trust_sim": of_sim.mark_of_name(row.name) or NOT_CALIBRATED,
                "trust_human": of_human.mark_of_name(row.name) or NOT_CALIBRATED,
            }
        )
        for row in [*rows, *refused]
    ], both


def _mean_of(label: LabelMeasure) -> Measure:
    return Measure(
        name=label.name,
        family="labels",
        unit="mean value",
        definition="Mean of the annotation's values in a conversation.",
        source="the data's own annotation",
        direction="higher values",
        of_conversation=label.mean,
        keyboard="No: annotators give it, it is not typed.",
        wordless=True,
    )


def _varies(*sides: np.ndarray) -> bool:
    """Whether every side has values and not all of them, of both sides together, are equal."""
    defined = [values[~np.isnan(values)] for values in sides]
    return all(values.size for values in defined) and bool(np.ptp(np.concatenate(defined)) > 0)


def _with_examples(
    rows: Sequence[RealismRow], sim: MeasuredUsers, human: MeasuredUsers, measures: Sequence[Measure], count: int
) -> list[RealismRow]:
    """The rows, the first of them with messages that show their measure."""
    columns = {measure.name: column for column, measure in enumerate(measures)}
    result = list(rows)
    for number, row in enumerate(result[:ROWS_WITH_EXAMPLES]):
        column = columns.get(row.name)
        if column is None or row.effect is None:
            continue
        of_sim, of_human = (typical_messages(side, column, measures[column], count) for side in (sim, human))
        result[number] = row.model_copy(update={"examples_sim": of_sim, "examples_human": of_human})
    return result
