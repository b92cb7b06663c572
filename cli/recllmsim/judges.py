"""`duologue recllmsim judges`: judges of satisfaction against people."""

from pathlib import Path
from typing import Annotated, Any, Literal

from ...data.text.terminal import names_in
from ...studies.recllmsim.satisfaction_judges import LABEL, JudgeComparison
from ...studies.sources import MOST_DRAWN
from ..options.model_fields import extended
from ..options.run import RunOptions
from ..options.sections import BOUNDS
from ..options.shared import (
    Draw,
    LabelsDir,
    RatedSource,
    Yes,
    label_rated,
    labels_named,
    model_for,
    option,
    seed_of,
    split_by,
)
from ..output.tables import PRINTED, TableOutput, read_drawn, read_source
from ..running.asking import OPTIONS, JournalOption, ask_models, check_journal
from ..streams import say


@extended(OPTIONS)
def judges_command(
    source: RatedSource,
    model: Annotated[
        list[str] | None,
        model_for(
            "as a judge to measure: openai:NAME, PROVIDER:NAME, or MODULE:NAME. MODULE:NAME is an annotator as in "
            "duologue annotate, or a function that returns a number from 1 to 5 for each reply. May be repeated."
        ),
    ] = None,
    labels: Annotated[
        list[str] | None,
        labels_named("to measure as judges: points of the replies in SRC or in --annotated."),
    ] = None,
    annotated: Annotated[
        Path | None,
        option(
            "Read a judge's labels from this copy of SRC, matched by path or id. Default label: that of --label.",
            "--annotated",
            metavar="SRC2",
        ),
    ] = None,
    label: Annotated[str, label_rated()] = LABEL,
    split: Annotated[
        Literal["users", "published"],
        split_by("a fifth of the turns at random, most of whose conversations are in training too."),
    ] = "users",
    template: Annotated[
        Path | None,
        option("Ask models with this prompt template, in place of the shipped one.", metavar="FILE"),
    ] = None,
    journal: JournalOption = None,
    labels_dir: LabelsDir = None,
    draw: Draw = MOST_DRAWN,
    seed: Annotated[int, seed_of("the users that are drawn", BOUNDS)] = 0,
    yes: Yes = False,
    output: TableOutput = PRINTED,
    **values: Any,
) -> int:
    """Measure judges of satisfaction against people.

    Kappa, error, AUC of dissatisfaction, concordance. Exit code 1: a model gave no rating of some turns.
    """
    options = RunOptions(**values, yes=yes, as_json=output.json)
    output.check()
    check_journal(journal, (source,), model or (), "--model")
    loaded = read_drawn(source, draw, seed)
    say(*loaded.notes)
    comparison = JudgeComparison.of(loaded, label, split, labels_dir, say)
    copy = None
    if annotated is not None:
        copy = read_source(annotated)
        say(*(f"{annotated}: {note}" for note in copy.notes))
    judges, reasons = comparison.by_labels(names_in(labels or ()), copy)
    names = list(dict.fromkeys(model or ()))
    with options.surroundings():
        functions = comparison.functions({name: name for name in names})
        requests = comparison.requests({name: name for name in names if name not in functions}, template)
        replies = ask_models(requests, "turns", journal=journal, options=options)
        further, failed = comparison.by_models(names, functions, replies)
    output.show(comparison.report([*judges, *further], reasons))
    return 1 if failed or loaded.broken else 0
