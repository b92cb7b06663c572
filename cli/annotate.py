"""`duologue annotate`: labels for the conversations of a run or a data set, in a copy."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..errors import ModelError, SettingError
from .annotation_plans import annotation_plan, tell_plan
from .interrupts import INTERRUPTED, STOPPED, run
from .options import extended
from .output import print_json, put, say, stderr
from .planning import go_on
from .run_options import KEPT_CALLS, LEAVING, MONEY_AND_TIME, PACES, RunOptions, Yes

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ..data.labels import LabelDefinition
    from ..nodes.annotators import Annotator
    from ..runs.annotating import Annotations
    from ..runs.annotation_journal import Labelled
    from ..runs.control import Control

OPTIONS: dict[str, tuple[Any, Any]] = {
    **MONEY_AND_TIME,
    **PACES,
    **{name: KEPT_CALLS[name] for name in ("record", "replay_calls", "keep_calls")},
    **LEAVING,
}
"""Options that say how annotators are asked: a field of `RunOptions` each."""


NOTHING = "nothing to ask: what these labels are about has them already, or is not there; --redo LABEL asks anew"


@extended(OPTIONS)
def annotate(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SRC",
            help="A run folder, a data set of any format, or, for justification, a study's answers. It is not written.",
        ),
    ],
    labels: Annotated[
        str, typer.Option(metavar="NAMES", help="Which labels, such as behaviour,intent. docs/labels.md has them all.")
    ],
    out: Annotated[Path | None, typer.Option(help="Folder for the labelled copy, and for every vote.")] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="SPEC",
            show_default="offline",
            help="What labels: offline (a rule-based baseline), openai:NAME, PROVIDER:NAME, or MODULE:NAME, a function.",
        ),
    ] = None,
    models: Annotated[
        str | None, typer.Option(metavar="SPECS", help="Several of these, with a comma between, for one vote each.")
    ] = None,
    votes: Annotated[
        int | None, typer.Option(min=1, show_default="3", help="Votes on each label, each with a seed of its own.")
    ] = None,
    aggregate: Annotated[
        Literal["majority", "dawid-skene"],
        typer.Option(help="What votes come to: the published rule, or weighed by how each annotator errs."),
    ] = "majority",
    labels_dir: Annotated[
        Path | None, typer.Option(help="Folder with pages of your own labels; they come before those of the same name.")
    ] = None,
    redo: Annotated[
        list[str] | None,
        typer.Option(metavar="LABEL", help="Label again what has this label already; several with a comma between."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on in --out: ask only for what is missing there.")
    ] = False,
    attempts: Annotated[int, typer.Option(min=1, help="Most calls for a reply, the first included.")] = 3,
    json_schema: Annotated[
        bool, typer.Option("--json-schema", help="Send the label's JSON schema with each call, for openai: models.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of all calls.")] = 0,
    yes: Yes = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON on stdout.")] = False,
    **values: Any,
) -> int:
    """Label conversations, with several votes on each label, and write a labelled copy.

    Exit code 0: everything has its label, or votes that came to a tie; 1: an annotator failed, a bound ended it, or no reply
    about something could be read.
    """
    from ..data.label_rules import RULES
    from ..nodes.annotators import annotator
    from ..nodes.models.specs import OR_OFFLINE
    from ..prompts.label_pages import labels_named
    from ..runs.annotated_copies import check_copy, counts, results, write_copy
    from ..runs.annotating import voters
    from ..runs.annotation_journal import FOLDER
    from ..runs.justifications import ANSWERS, loaded_for

    options = RunOptions(**values, yes=yes, as_json=as_json, resume=resume)
    chosen = labels_named([name.strip() for name in labels.split(",") if name.strip()], labels_dir)
    if not chosen:
        raise SettingError("--labels names no label: write such as behaviour,intent")
    if model is not None and models is not None:
        raise SettingError("--model and --models: give one of them; --models has a vote each")
    if out is None and not options.plan:
        raise SettingError("--out is missing: the labels are written into a copy, never into the source")
    if out is not None:
        check_copy(source, out)
    loaded = loaded_for(source, chosen)
    for note in loaded.notes:
        say(f"{loaded.path}: {note}")
    with options.surroundings():
        specs = [spec.strip() for spec in models.split(",") if spec.strip()] if models else [model or "offline"]
        try:
            made = [annotator(spec, attempts=attempts, structured=json_schema) for spec in specs]
        except ModelError as error:
            lacking = next((repr(label.name) for label in chosen if label.name not in RULES), "")
            instead = f"or give a function, --model MODULE:NAME ('offline' has no rule for {lacking})"
            raise ModelError(str(error).replace(OR_OFFLINE, instead) if lacking else str(error)) from None
        asked = voters(made, votes)
        folder = None if out is None else out / FOLDER
        again = tuple(name.strip() for each in redo or () for name in each.split(",") if name.strip())
        plan = annotation_plan(
            loaded.conversations, chosen, asked, again, attempts, folder=folder, resume=options.resume, seed=seed
        )
        if options.plan:
            return tell_plan(plan, as_json, "" if plan.whole.count else NOTHING)
        assert out is not None
        assert folder is not None
        _say_hosts(asked)
        go_on(plan.whole, quiet=as_json, yes=yes)
        control = options.control()
        control.spending.refuse_unknown(plan.models)
        done = _asked(loaded.conversations, chosen, asked, folder, options, control, seed, again)
    notes = write_copy(loaded, out, results(done, aggregate))
    for note in (*notes, *control.spending.notes):
        say(note)
    told = counts(done, aggregate)
    return _report(done, told, out, control, as_json, of_answers=loaded.kind == ANSWERS, resumed=options.resume)


def _asked(
    conversations: Any,
    labels: "list[LabelDefinition]",
    asked: "list[Annotator]",
    folder: Path,
    options: RunOptions,
    control: "Control",
    seed: int,
    redo: tuple[str, ...],
) -> "Annotations":
    """All votes; of a work that is interrupted those that the folder has."""
    from ..runs.annotating import aannotate, so_far

    told = 0

    def work() -> Any:
        return aannotate(
            conversations,
            labels,
            asked,
            seed=seed,
            redo=redo,
            resume=options.resume,
            out=folder,
            concurrency=options.concurrency or "auto",
            conduct=options.conduct(control),
            watch=tell_one,
        )

    with stderr.status("0 labelled") as status:

        def tell_one(one: "Labelled") -> None:
            nonlocal told
            told += 1
            spent = control.spending.total
            status.update(f"{told} labelled, {spent.calls} calls, {spent.tokens} tokens")

        try:
            done: Annotations = run(work(), control, lambda: 0, options.max_time)
        except (KeyboardInterrupt, asyncio.CancelledError):
            control.ending = STOPPED
            done = so_far(conversations, labels, asked, seed=seed, redo=redo, out=folder)
    return done


def _say_hosts(asked: "list[Annotator]") -> None:
    """Where calls go, and what makes the votes of one model differ."""
    from ..nodes.annotators import ModelAnnotator, is_unseeded
    from ..nodes.models.specs import endpoint_host

    models = [each for each in asked if isinstance(each, ModelAnnotator)]
    for host in sorted({host for each in models if (host := endpoint_host(each.model))}):
        say(f"calls go to {host}")
    if len(asked) > 1 and any(map(is_unseeded, models)):
        say(
            "the model takes no seed: its votes differ by the order of values and the annotator's number in the request"
        )
    if len(asked) > len({id(each) for each in asked}) and any(
        getattr(each.model, "temperature", None) == 0 for each in models
    ):
        say("temperature is 0: several votes of one model will hardly differ; write ?temperature=1, or give --models")


def _report(
    done: "Annotations",
    told: dict[str, dict[str, int]],
    out: Path,
    control: "Control",
    as_json: bool,
    *,
    of_answers: bool = False,
    resumed: bool = False,
) -> int:
    """Say what was labelled; gives the exit code."""
    further = "duologue agreement says how far to trust them"
    if of_answers:
        further = "read some yourself; duologue stats preference tells how often each is given"
    from ..runs.annotated_copies import unread_of
    from ..runs.annotation_journal import FOLDER, VOTES_FILE

    spent = control.spending.total
    if as_json:
        print_json(
            {
                "out": str(out),
                "planned": len(done.planned),
                "missing": done.missing,
                "labels": told,
                "calls": spent.calls,
                "tokens": spent.tokens,
                "stopped": done.stopped,
            }
        )
    else:
        for name, of_label in told.items():
            put(
                f"{name}: {of_label['labelled']} labelled, {of_label['ties']} with a tie, "
                f"{of_label['refused_votes']} of {of_label['votes']} votes without a value"
            )
        bound = control.spending.max_cost is not None or control.spending.max_tokens is not None
        whole = " in all, those of earlier commands too" if resumed and bound else ""
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
            f"the votes on {label} are in {out / FOLDER / VOTES_FILE}; a page with 'votes: true' stores them in the copy"
        )
    if not done.missing:
        if passed := done.stopped or control.spending.over():
            say(f"{passed}; the last calls were under way by then, and nothing is missing")
        return 1 if unread else 0
    why = done.stopped or next((each.error for each in done.failed), None) or "it was not asked"
    say(f"{done.missing} of {len(done.planned)} are missing: {why}; the same command goes on with --resume")
    return INTERRUPTED if control.ending == STOPPED else 1
