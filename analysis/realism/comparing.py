"""The comparison of simulated users with people, from conversations to the report."""

from collections.abc import Sequence

import numpy as np

from ...data.records import Conversation
from ...data.text.languages import Language
from .categories import category_row, refused_row
from .discriminator import discriminate
from .examples import typical_messages
from .matching import matched, summary
from .measures import MEASURES, Label, Measure, labels_of
from .measures.measure import per_conversation
from .persona import persona_rows
from .ranking import ranked
from .report import Part, Report, Row, SetApart
from .rows import Draws, description, number_rows, task_rows
from .samples import Sample, measured

ROWS_WITH_EXAMPLES = 10
"""Rows, from the first, that get messages to show them."""


def compare(
    sim: Sequence[Conversation],
    human: Sequence[Conversation],
    published: Sequence[Conversation] | None = None,
    *,
    language: Language | None = None,
    part: Part = "all",
    seed: int = 0,
    measures: Sequence[Measure] = MEASURES,
    examples_each: int = 3,
    shufflings: int = 2000,
    resamples: int = 1000,
    halvings: int = 100,
) -> Report:
    """How far the simulated users are from people, measure by measure, and how far people are from other people.

    Parameters
    - `published`: simulated users of an earlier study, for the distance that they had.
    - `language`: in which both sides are compared, `en` or `zh`; by default one that both have.
    - `part`: of the people `tune`, `test` or `all`; a user is for good in one of the two parts.
    - `measures`: those to compute; `duologue.analysis.realism.measures` has them all.
    - `examples_each`: messages of each side that show a measure.
    - `shufflings`, `resamples`, `halvings`: number of random draws for p, for intervals and for the floor.
    - `seed`: of all random draws.

    What cannot be compared (nobody on a side, one user only, no text of the user, no label, no common language or
    task) is a note of the report or the reason in a row. MissingExtraError without scikit-learn (extra `ml`), and
    without jieba (extra `zh`) where the language is Chinese.
    """
    sim, human = tuple(sim), tuple(human)
    draws = Draws(seed, shufflings, resamples, halvings)
    sources = matched(sim, human, published, language, part)
    computed = [measure for measure in measures if sources.language or measure.wordless]
    sim_sample, human_sample = measured(sources.sim, computed), measured(sources.human, computed)
    earlier = measured(sources.published, computed) if sources.published else None
    labels = labels_of(sources.sim, sources.human)
    notes = list(sources.notes)
    if not labels:
        notes.append("Labels: the two sides have no annotation in common.")
    translated = any(transcript.translated for transcript in (*sources.sim, *sources.human))
    rows = [
        *_measure_rows(sim_sample, human_sample, computed, draws, earlier, translated),
        *_label_rows(sim_sample, human_sample, labels, draws, earlier),
        *(_row_without_language(measure) for measure in measures if measure not in computed),
    ]
    usable = [
        column
        for column, measure in enumerate(computed)
        if not measure.pairwise
        and (measure.survives_translation or not translated)
        and _varies(sim_sample.values[:, column], human_sample.values[:, column])
    ]
    return Report(
        language=sources.language,
        part=part,
        seed=seed,
        sim=summary(sim, sources.sim),
        human=summary(human, sources.human),
        published=summary(tuple(published), sources.published)
        if published is not None and sources.published is not None
        else None,
        tasks=sources.tasks,
        notes=tuple(notes),
        measures=tuple(_with_examples(ranked(rows), sim_sample, human_sample, computed, examples_each)),
        discriminator=discriminate(sim_sample, human_sample, computed, usable, draws, earlier),
        persona=tuple(persona_rows(sim_sample, human_sample, computed)),
    )


def _measure_rows(
    sim: Sample,
    human: Sample,
    measures: Sequence[Measure],
    draws: Draws,
    published: Sample | None,
    translated: bool,
) -> list[Row]:
    """The rows of measures, with their tasks, not yet ranked."""
    if not measures:
        return []
    by_task = task_rows(sim, human, measures, draws)
    rows = []
    for row, measure in zip(number_rows(sim, human, measures, draws, published), measures, strict=True):
        apart: SetApart = "translation" if translated and not measure.survives_translation else ""
        rows.append(row.model_copy(update={"tasks": tuple(by_task[row.name]), "apart": apart}))
    return rows


def _label_rows(
    sim: Sample, human: Sample, labels: Sequence[Label], draws: Draws, published: Sample | None
) -> list[Row]:
    """The rows of annotations, numbers before categories, those refused last; all are set apart."""
    refused = [refused_row(label) for label in labels if label.refused]
    labels = [label for label in labels if not label.refused]
    means = [_mean_of(label) for label in labels if label.numeric]
    sides = (measured(sim.transcripts, means), measured(human.transcripts, means))
    earlier = measured(published.transcripts, means) if published is not None else None
    rows = _measure_rows(*sides, means, draws, earlier, translated=False)
    rows += [category_row(sim, human, label, draws, published) for label in labels if not label.numeric] + refused
    apart: SetApart = "annotation"
    return [row.model_copy(update={"apart": apart}) for row in rows]


def _mean_of(label: Label) -> Measure:
    return Measure(
        name=label.name,
        family="labels",
        unit="mean value",
        definition="Mean of the annotation's values in a conversation.",
        source="the data's own annotation",
        direction="higher values",
        of=per_conversation(label.mean),
        keyboard="No: annotators give it, nobody types it.",
        wordless=True,
    )


def _row_without_language(measure: Measure) -> Row:
    """The row of a measure that needs words where the sides have no common language."""
    return Row(**description(measure), reason="the sides have no common language")


def _varies(*sides: np.ndarray) -> bool:
    """Whether every side has values and not all of them, of both sides together, are equal."""
    defined = [values[~np.isnan(values)] for values in sides]
    return all(values.size for values in defined) and bool(np.ptp(np.concatenate(defined)) > 0)


def _with_examples(
    rows: Sequence[Row], sim: Sample, human: Sample, measures: Sequence[Measure], count: int
) -> list[Row]:
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
