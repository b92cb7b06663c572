"""The comparison of simulated users with people, from conversations to the report."""

from collections.abc import Callable, Sequence

import numpy as np

from ...data.records import Conversation
from ...data.text.languages import Language
from .categories import category_row
from .discriminator import discriminate
from .examples import examples
from .measures import MEASURES, Label, Measure, labels_of
from .measures.measure import each
from .numbers import Side, measured
from .persona import persona_rows
from .ranking import ranked
from .report import Apart, Part, Report, Row
from .rows import Draws, about, number_rows, task_rows
from .sides import matched, summary
from .speech import Speech

EXAMPLES_OF = 10
"""Measures at the top of which messages are shown."""

TRANSLATION: Apart = "translation"
ANNOTATION: Apart = "annotation"


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
    """How far the simulated users are from people, measure by measure, with the floor that people are from people.

    Parameters
    - `published`: simulated users of an earlier study, for the distance that they had.
    - `language`: of both sides, `en` or `zh`; by default one that both have.
    - `part`: of the people `tune`, `test` or `all`; a user is for good in one of the two parts.
    - `measures`: which, and in `duologue.analysis.realism.measures` what each is.
    - `shufflings`, `resamples`, `halvings`: how much chance is drawn, from `seed`.

    What cannot be compared (nobody on a side, one user only, no text of the user, no label, no common language or
    task) is a note of the report or the reason in a row. MissingExtraError without scikit-learn (extra `ml`), and
    without jieba (extra `zh`) where the language is Chinese.
    """
    sim, human = tuple(sim), tuple(human)
    draws = Draws(seed, shufflings, resamples, halvings)
    found = matched(sim, human, published, language, part)
    known = [one for one in measures if found.language or one.wordless]
    one, two = measured(found.sim, known), measured(found.human, known)
    theirs = measured(found.published, known) if found.published else None
    labels = labels_of(found.sim, found.human)
    notes = list(found.notes)
    if not labels:
        notes.append("Labels: the two sides have no annotation in common.")
    translated = any(speech.translated for speech in (*found.sim, *found.human))
    rows = _rows(one, two, known, labels, draws, theirs, translated)
    rows += [_wordy(measure) for measure in measures if measure not in known]
    ordered = _with_examples(ranked(rows), one, two, known, examples_each)
    usable = [
        column
        for column, measure in enumerate(known)
        if not measure.pairwise
        and (measure.survives_translation or not translated)
        and _varies(one.values[:, column], two.values[:, column])
    ]
    return Report(
        language=found.language,
        part=part,
        seed=seed,
        sim=summary(sim, found.sim),
        human=summary(human, found.human),
        published=summary(tuple(published), found.published)
        if published is not None and found.published is not None
        else None,
        tasks=found.tasks,
        notes=tuple(notes),
        measures=tuple(ordered),
        discriminator=discriminate(one, two, known, usable, draws, theirs),
        persona=tuple(persona_rows(one, two, known)),
    )


def _rows(
    sim: Side,
    human: Side,
    measures: Sequence[Measure],
    labels: Sequence[Label],
    draws: Draws,
    published: Side | None,
    translated: bool,
) -> list[Row]:
    """The rows of measures and labels, with their tasks, not yet ranked."""
    numeric = [_mean_of(label) for label in labels if label.numeric]
    rows = []
    for group, annotated in ((measures, False), (numeric, True)):
        if not group:
            continue
        sides = (sim, human, published)
        one, two, three = sides if not annotated else (side and measured(side.speeches, group) for side in sides)
        assert one is not None
        assert two is not None
        in_tasks = task_rows(one, two, group, draws)
        for row, measure in zip(number_rows(one, two, group, draws, three), group, strict=True):
            lost: Apart = TRANSLATION if translated and not measure.survives_translation else ""
            update = {"tasks": tuple(in_tasks[row.name]), "apart": ANNOTATION if annotated else lost}
            rows.append(row.model_copy(update=update))
    for label in labels:
        if not label.numeric:
            rows.append(category_row(sim, human, label, draws, published).model_copy(update={"apart": ANNOTATION}))
    return rows


def _mean_of(label: Label) -> Measure:
    mean: Callable[[Speech], float | None] = label.mean
    return Measure(
        name=label.name,
        family="labels",
        unit="mean value",
        definition="Mean of the annotation's values in a conversation.",
        source="the data's own annotation",
        direction="higher values",
        of=each(mean),
        wordless=True,
    )


def _wordy(measure: Measure) -> Row:
    """The row of a measure that needs words where the sides have no common language."""
    return Row(**about(measure), reason="the sides have no common language")


def _varies(*sides: np.ndarray) -> bool:
    """Whether every side tells values and there are different ones, be it between two sides that never vary."""
    told = [values[~np.isnan(values)] for values in sides]
    return all(values.size for values in told) and bool(np.ptp(np.concatenate(told)) > 0)


def _with_examples(rows: Sequence[Row], sim: Side, human: Side, measures: Sequence[Measure], count: int) -> list[Row]:
    """The rows with messages that show the first of them."""
    columns = {measure.name: column for column, measure in enumerate(measures)}
    result = list(rows)
    for place, row in enumerate(result[:EXAMPLES_OF]):
        column = columns.get(row.name)
        if column is None or row.effect is None:
            continue
        one, two = (examples(side, column, measures[column], count) for side in (sim, human))
        result[place] = row.model_copy(update={"examples_sim": one, "examples_human": two})
    return result
