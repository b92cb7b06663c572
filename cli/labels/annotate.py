"""`duologue annotate`: labels for the conversations of a run or a data set, in a copy."""

import itertools
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...data.text.terminal import names_in
from ...errors import ModelError, SettingError
from ..options import completions
from ..options.model_fields import extended
from ..options.run import RunOptions, options_of_run
from ..options.sections import OUTPUT
from ..options.shared import (
    LabelsDir,
    Yes,
    attempts_for,
    json_of,
    labels_named,
    model_for,
    option,
    out_to,
    resume_with,
    seed_of,
)
from ..output.sources import say_notes
from ..running.asking import begun
from ..running.interrupts import STOPPED, ask, exit_code
from ..streams import print_json, put, say

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ...data.labels.definition import LabelDefinition
    from ...nodes.annotators import Annotator, ModelAnnotator
    from ...runs.engine.control import Control
    from ...runs.labels.annotating import Annotations
    from ...runs.labels.vote_journal import LabelVotes

VOTING = "Votes"
"""Section of the help."""

NOTHING = "nothing to ask: what these labels are about has them already, or is not there; --redo LABEL asks anew"


@extended(options_of_run("record", "replay_calls", "keep_calls"))
def annotate_command(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SRC",
            help="A run folder, a data set of any format, or, for justification, a study's answers. It is not changed.",
        ),
    ],
    labels: Annotated[list[str], labels_named("to write, such as style,intent; docs/labels/by_models.md lists all.")],
    out: Annotated[Path | None, out_to("this folder: the labelled copy, and every vote.")] = None,
    model: Annotated[
        list[str] | None,
        model_for(
            "to label: openai:NAME, PROVIDER:NAME, or MODULE:NAME, a function. May be repeated, for one vote each.",
        ),
    ] = None,
    votes: Annotated[
        int | None,
        option("Ask for this number of votes on each label, each with a seed of its own.", min=1, show_default="3"),
    ] = None,
    resume: Annotated[bool, resume_with("label only missing items")] = False,
    redo: Annotated[
        list[str] | None,
        option(
            "Label again conversations that have these labels. May be repeated.",
            metavar="NAME,...",
            autocompletion=completions.label_names,
        ),
    ] = None,
    labels_dir: LabelsDir = None,
    attempts: Annotated[int, attempts_for("a reply", section=VOTING)] = 3,
    seed: Annotated[int, seed_of("all calls", VOTING)] = 0,
    yes: Yes = False,
    as_json: Annotated[bool, json_of("the summary", section=OUTPUT)] = False,
    **values: Any,
) -> int:
    """Label conversations by models or functions.

    Asks for several votes on each label, and writes a labelled copy. Exit code 0: each item has its label, or votes
    that tie; 1: an annotator failed, a limit ended the work, or no reply about an item could be read.
    """
    from ...data.labels.reading import FOLDER
    from ...nodes.annotators import ModelAnnotator, annotator
    from ...nodes.models.specs import OR_OFFLINE
    from ...prompts.label_pages import labels_named
    from ...runs.labels.annotating import voters
    from ...runs.labels.copies import check_copy, check_keys, counts, results, write_copy
    from ...runs.labels.justifications import ANSWERS, loaded_for
    from ...runs.labels.plan import annotation_plan

    options = RunOptions(**values, yes=yes, as_json=as_json, resume=resume)
    chosen = labels_named(names_in(labels), labels_dir)
    if not chosen:
        raise SettingError("--labels: name one or more, such as style,intent")
    if out is None and not options.plan:
        raise SettingError("--out is missing: the labels are written into a copy, never into the source")
    if out is not None:
        check_copy(source, out)
    loaded = loaded_for(source, chosen)
    say_notes(loaded, named=True)
    check_keys(loaded, chosen)
    with options.surroundings():
        try:
            annotators = [annotator(spec, attempts=attempts) for spec in model or ()]
        except ModelError as error:
            raise ModelError(str(error).replace(OR_OFFLINE, "or give a function, --model MODULE:NAME")) from None
        voting = voters(annotators, votes)
        folder = None if out is None else out / FOLDER
        again = tuple(names_in(redo or ()))
        plan = annotation_plan(
            loaded.conversations, chosen, voting, again, attempts, folder=folder, resume=options.resume, seed=seed
        )
        if options.plan and not plan.count and not as_json:
            say(NOTHING)
        asked_voters = [voter for voter in voting if isinstance(voter, ModelAnnotator)]
        if not options.plan:
            _say_sameness(voting, asked_voters)
        control = begun(plan, options, models=[voter.model for voter in asked_voters])
        assert out is not None
        assert folder is not None
        done = _votes_on(loaded.conversations, chosen, voting, folder, options, control, seed, again)
    notes = write_copy(loaded, out, results(done))
    say(*notes, *control.spending.notes)
    label_counts = counts(done)
    return _report(done, label_counts, out, control, as_json, of_answers=loaded.kind == ANSWERS, resumed=options.resume)


def _votes_on(
    conversations: Any,
    labels: "list[LabelDefinition]",
    annotators: "list[Annotator]",
    folder: Path,
    options: RunOptions,
    control: "Control",
    seed: int,
    redo: tuple[str, ...],
) -> "Annotations":
    """All votes, or those that the folder has of an interrupted work."""
    from ...runs.labels.annotating import aannotate, so_far

    def work(show: Callable[[str], None]) -> "Coroutine[Any, Any, Annotations]":
        number = itertools.count(1)

        def tell(_: "LabelVotes") -> None:
            spent = control.spending.total
            show(f"{next(number)} labelled, {spent.calls} calls, {spent.tokens} tokens")

        return aannotate(
            conversations,
            labels,
            annotators,
            seed=seed,
            redo=redo,
            resume=options.resume,
            out=folder,
            concurrency=options.concurrency or "auto",
            conduct=options.conduct(control),
            watch=tell,
        )

    done = ask(work, control, "0 labelled", max_time=options.max_time)
    return done or so_far(conversations, labels, annotators, seed=seed, redo=redo, out=folder)


def _say_sameness(annotators: "list[Annotator]", models: "list[ModelAnnotator]") -> None:
    """Print what makes the votes of one model differ, or hardly so."""
    from ...nodes.models.specs import takes_seed

    if len(annotators) > 1 and not all(takes_seed(voter.model) for voter in models):
        say(
            "the model takes no seed: its votes differ by the order of values and the annotator's number in the request"
        )
    if len(annotators) > len({id(annotator) for annotator in annotators}) and any(
        getattr(voter.model, "temperature", None) == 0 for voter in models
    ):
        say("temperature is 0: several votes of one model will hardly differ; write ?temperature=1, or repeat --model")


def _report(
    done: "Annotations",
    label_counts: dict[str, dict[str, int]],
    out: Path,
    control: "Control",
    as_json: bool,
    *,
    of_answers: bool = False,
    resumed: bool = False,
) -> int:
    """Print what was labelled, and return the exit code."""
    further = "duologue agreement measures their reliability"
    if of_answers:
        further = "read some yourself; duologue papers recllmsim preference prints how often each is given"
    from ...data.labels.reading import FOLDER
    from ...runs.labels.copies import unread_of
    from ...runs.labels.vote_journal import VOTES_FILE

    spent = control.spending.total
    if as_json:
        print_json(
            {
                "out": str(out),
                "planned": len(done.planned),
                "missing": done.missing,
                "labels": label_counts,
                "calls": spent.calls,
                "tokens": spent.tokens,
                "stopped": done.stopped,
            }
        )
    else:
        for name, of_label in label_counts.items():
            put(
                f"{name}: {of_label['labelled']} labelled, {of_label['ties']} with a tie, "
                f"{of_label['refused_votes']} of {of_label['votes']} votes without a value"
            )
        whole = " in all, those of earlier commands too" if resumed and control.spending.bounded else ""
        put(f"{spent.calls} calls, {spent.tokens} tokens{whole}; not calibrated: {further}")
        put(f"copy:  {out}")
    if not done.planned:
        say(NOTHING)
    unread = unread_of(done)
    for name, (number, reply) in unread.items():
        say(
            f"{number} of {name} have no value: each reply was refused or could not be read, such as {reply[:80]!r}; "
            f"--redo {name} asks anew"
        )
    for label in done.unstored:
        say(
            f"the votes on {label} are in {out / FOLDER / VOTES_FILE}; a definition with 'votes: true' stores them "
            "in the copy"
        )
    if not done.missing:
        if passed := done.stopped or control.spending.over():
            say(f"{passed}; the last calls were under way by then, and nothing is missing")
        return 1 if unread else 0
    why = done.stopped or next((failure.error for failure in done.failed), None) or "it was not asked"
    say(f"{done.missing} of {len(done.planned)} are missing: {why}; continue with --resume")
    return exit_code(control) if control.ending == STOPPED else 1
