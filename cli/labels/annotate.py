"""`duologue annotate`: labels by models or functions, beside the conversations of a run or a data set."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...data.text.terminal import names_in
from ...errors import ModelError, SettingError
from ..options.model_fields import extended
from ..options.run import RunOptions, options_of_run
from ..options.shared import LabelsDir, Yes, json_of, labels_named, model_for, option, out_to, seed_of
from ..output.sources import say_notes
from ..running.asking import asked, begun
from ..streams import print_json, put, say

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ...data.loading import Loaded
    from ...runs.annotate import Annotations

NOTHING = "nothing to ask: what these labels are about has them already, or is not there; --redo asks anew"


@extended(options_of_run("replies", "frozen"))
def annotate_command(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SRC",
            help="A run folder, a data set of any format, or, for justification, a study's answers. It is not changed.",
        ),
    ],
    labels: Annotated[list[str], labels_named("to ask for, such as style,intent; docs/labels/by_models.md lists all.")],
    model: Annotated[
        list[str] | None,
        model_for(
            "to label: openai:NAME, PROVIDER:NAME, or MODULE:NAME, a function. May be repeated, for one vote each.",
        ),
    ] = None,
    out: Annotated[Path | None, out_to("this folder: the labels; the same command goes on from there.")] = None,
    votes: Annotated[
        int | None,
        option("Ask for this number of votes on each label, each with a seed of its own.", min=1, show_default="3"),
    ] = None,
    redo: Annotated[bool, option("Label also what has the label in SRC.", "--redo")] = False,
    labels_dir: LabelsDir = None,
    seed: Annotated[int, seed_of("all calls")] = 0,
    yes: Yes = False,
    as_json: Annotated[bool, json_of("the summary")] = False,
    **values: Any,
) -> int:
    """Label conversations by models or functions.

    Asks for several votes on each label, and writes the labels beside the data. Exit code 0: each item has its label, or
    votes that tie; 1: an annotator failed, a limit ended the work, or no reply about an item could be read.
    """
    from ...nodes.models.specs import OR_OFFLINE
    from ...runs.annotate import AnnotationWork

    options = RunOptions(**values, yes=yes, as_json=as_json)
    if out is None and not options.plan:
        raise SettingError("--out is missing: name a folder for the labels")
    with options.surroundings():
        try:
            work = AnnotationWork.of(
                source, names_in(labels), model or [], out=out, votes=votes, redo=redo, labels_dir=labels_dir, seed=seed
            )
        except ModelError as error:
            raise ModelError(str(error).replace(OR_OFFLINE, "or give a function, --model MODULE:NAME")) from None
        say_notes(work.loaded, named=True)
        plan = work.plan()
        conduct = begun(plan, options, models=work.models)

        async def annotations(show: Callable[[str], None]) -> "Annotations":
            number = itertools.count(1)
            return await work.annotations(
                conduct,
                on_answer=lambda _: show(f"{next(number)} of {plan.count} labelled"),
            )

        left = f"the replies are in {out}; continue with the same command"
        done = asked(annotations, conduct, f"0 of {plan.count} labelled", left)
    return _report(done, work.loaded, out, as_json)


def _report(done: "Annotations", loaded: "Loaded", out: Path | None, as_json: bool) -> int:
    """Print what was labelled, and return the exit code."""
    counts = done.counts()
    if as_json:
        print_json({"out": str(out), "labels": counts, **done.summary()})
    else:
        for name, of_label in counts.items():
            put(
                f"{name}: {of_label['labelled']} labelled, {of_label['ties']} with a tie, "
                f"{of_label['refused_votes']} of {of_label['votes']} votes without a value"
            )
        further = "duologue agreement measures their reliability"
        if loaded.kind == "answers":
            further = "duologue papers recllmsim preference prints how often each is given"
        put(f"{done.calls} calls, {done.tokens} tokens; not calibrated: {further}", f"labels: {out}")
    if not done.planned:
        say(NOTHING)
    if done.refused:
        say(
            f"{len(done.refused)} have no value: each reply was refused or could not be read, such as "
            f"{done.refused[0][:80]!r}; another --out asks anew"
        )
    if done.failed:
        say(f"{done.failed} of {done.planned} are missing: {done.why}; continue with the same command")
    return 1 if done.failed or done.refused else 0
