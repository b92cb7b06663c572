"""`duologue annotate`: labels by models or functions, beside the conversations of a run or a data set."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ..data.text.terminal import names_in
from ..errors import ModelError, SettingError
from . import options
from .options import argument, option
from .printing import print_json, put, say
from .running import HowToRun, carried_out, how_to_run

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ..runs.annotate import Annotations


@how_to_run("limit", "repeats", "shard", "ray")
def annotate_command(
    source: Annotated[
        Path, argument("SRC", "A run folder, a data set, or, for justification, a study's answers. It is not changed.")
    ],
    labels: options.Labels = None,
    model: options.Models = None,
    votes: Annotated[int | None, option("Votes on each label; default: 3.", min=1, metavar="N")] = None,
    redo: Annotated[bool, option("Label also what has the label in SRC.", "--redo")] = False,
    labels_dir: options.LabelsDir = None,
    *,
    how: HowToRun,
) -> int:
    """Label conversations by models or functions.

    Asks for several votes on each label, of one model or one of each, and writes the labels beside the data into --out.
    Exit code 0: each item has its label, or votes that tie; 1: an annotator failed, a limit ended the work, or no reply
    about an item could be read.
    """
    from ..nodes.models.specs import OR_OFFLINE
    from ..runs.annotate import AnnotationWork

    names = names_in(labels or ())
    if not names:
        raise SettingError(
            "--labels: give labels, such as --labels style,intent; docs/data/shipped_labels.md lists all"
        )
    if how.out is None and not how.plan:
        raise SettingError("--out is missing: name a folder for the labels")
    with how.keys():
        try:
            work = AnnotationWork(
                source,
                names,
                model or [],
                out=how.out,
                votes=votes,
                redo=redo,
                labels_dir=labels_dir,
                seed=how.seed or 0,
            )
        except ModelError as error:
            raise ModelError(str(error).replace(OR_OFFLINE, "or give a function, --model MODULE:NAME")) from None
        say(*(f"{work.loaded.path}: {note}" for note in work.loaded.notes))
        planned = work.plan()
        done = carried_out(how, lambda _: planned, work.annotations, out=how.out, models=work.models)
    return _report(done, work.loaded.kind == "answers", how.out, how.as_json)


def _report(done: "Annotations", of_reasons: bool, out: Path | None, as_json: bool) -> int:
    """Print what was labelled, and return the exit code."""
    counts = done.counts()
    if as_json:
        print_json({"out": str(out), "labels": counts, **done.summary()})
    else:
        for name, one in counts.items():
            without = f"{one['refused_votes']} of {one['votes']} votes without a value"
            put(f"{name}: {one['labelled']} labelled, {one['ties']} with a tie, {without}")
        further = "duologue agreement measures their reliability"
        if of_reasons:
            further = "duologue papers recllmsim preference prints how often each is given"
        put(f"{done.calls} calls, {done.tokens} tokens; not calibrated: {further}", f"labels: {out}")
    if not done.planned:
        say("nothing to ask: what these labels are about has them already, or is not there; --redo asks anew")
    if done.refused:
        said = repr(done.refused[0][:80])
        why = f"each reply was refused or could not be read, such as {said}"
        say(f"{len(done.refused)} have no value: {why}; another --out asks anew")
    if done.failed:
        say(f"{done.failed} of {done.planned} are missing: {done.why}; continue with the same command")
    return 1 if done.failed or done.refused else 0
