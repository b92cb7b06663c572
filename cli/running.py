"""What every `duologue simulate CAST` does around its run: name the hosts, end cleanly on a signal, report."""

import asyncio
import signal
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar

import typer

from ..data import DataError, identity
from ..data.formats.unsupported import total
from ..data.stop_reasons import in_words
from .output import counts_table, print_json, put, say, stdout
from .planning import conversations_planned, go_on
from .progress import Progress

LIMITS: dict[str, tuple[Any, Any]] = {
    "seed": (Annotated[int, typer.Option(help="Seed of the run.")], 0),
    "max_turns": (
        Annotated[
            int | None,
            typer.Option(
                min=1,
                help="Most exchanges (a user's turn and its answer). Default: the cast's own number, or that of the replayed conversations.",
            ),
        ],
        None,
    ),
    "question_attempts": (
        Annotated[
            int | None,
            typer.Option(min=1, help="Most calls for a turn of the user, the first included. Default: the cast's."),
        ],
        None,
    ),
    "answer_attempts": (
        Annotated[
            int | None,
            typer.Option(
                min=1, help="Most calls for a turn of the assistant, the first included. Default: the cast's."
            ),
        ],
        None,
    ),
    "max_tokens": (
        Annotated[
            int | None,
            typer.Option(min=1, help="Most tokens of a conversation, over all calls. Default: the cast's."),
        ],
        None,
    ),
}
"""Options for the limits of each conversation; those that are None are the cast's (`limits_with`)."""

Concurrency: TypeAlias = Annotated[int, typer.Option(min=1, help="Conversations at the same time.")]
Resume: TypeAlias = Annotated[
    bool, typer.Option("--resume", help="Continue the run in --out: simulate only what is missing there.")
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print the summary as JSON on stdout.")]

T = TypeVar("T")
OUT = Path("out")
"""Folder of runs without --out."""


def limits_with(cast: Any, options: dict[str, Any]) -> Any:
    """The cast's limits, with the options that were given, by the fields' names, in their place."""
    return replace(cast.limits, **{name: value for name, value in options.items() if value is not None})


def simulated(
    cast: Any,
    scenarios: list[Any],
    folder: Path,
    limits: Any,
    source: dict[str, Any],
    *,
    concurrency: int,
    resume: bool,
    as_json: bool,
    yes: bool = False,
) -> int:
    """Simulate into the folder with a progress bar, and report; gives the exit code."""
    summary = run_into(
        cast, scenarios, folder, limits, source, concurrency=concurrency, resume=resume, quiet=as_json, yes=yes
    )
    return report(summary, as_json)


def run_into(
    cast: Any,
    scenarios: list[Any],
    folder: Path,
    limits: Any,
    source: dict[str, Any],
    *,
    concurrency: int,
    resume: bool,
    quiet: bool,
    yes: bool = False,
) -> Any:
    """Simulate into the folder, with a progress bar unless `quiet`; gives the run's summary.

    Before a large run it says how large, and at a terminal asks whether to go on, unless `quiet` or `yes`.
    """
    from .. import runs

    say_hosts(cast)
    check_replays(cast, scenarios)
    go_on(conversations_planned(cast, scenarios, folder, limits, resume=resume), quiet=quiet, yes=yes)
    with Progress(len(scenarios), quiet=quiet) as progress, resumable(folder):
        work = runs.arun(
            cast,
            scenarios,
            folder,
            limits=limits,
            concurrency=concurrency,
            resume=resume,
            watch=progress.watch,
            keep=progress.keep,
            source=source,
        )
        return run(work)


def check_replays(cast: Any, scenarios: list[Any]) -> None:
    """Say for how many scenarios a replayed side has no conversation; DataError if it has none for any."""
    from ..nodes.replay import ReplaySpeaker

    keys = [identity.digest(scenario["scenario"]) for scenario in scenarios]
    for node in (cast.user_simulator, cast.assistant):
        if isinstance(node, ReplaySpeaker):
            replayable = {key for key, _ in node.by_scenario}
            lacking = sum(key not in replayable for key in keys)
            if lacking and lacking == len(keys):
                raise DataError(
                    f"the {node.role} replays {node.source}, which has no conversation about any of the scenarios: "
                    "replay a data set that was made for the same scenarios"
                )
            if lacking:
                say(
                    f"the {node.role} replays {node.source}, which lacks {lacking} of {len(keys)} scenarios: these fail"
                )


def say_hosts(cast: Any) -> None:
    """The endpoint's host, once a run: a stray setting could send conversations elsewhere."""
    from ..nodes.models.specs import endpoint_host
    from ..nodes.validators import models_of

    asking = (cast.user_simulator, cast.assistant, cast.question_validator, cast.answer_validator)
    models = (model for node in asking for model in models_of(node))
    for host in sorted({host for model in models if (host := endpoint_host(model))}):
        say(f"calls go to {host}")


def run(work: Coroutine[Any, Any, T]) -> T:
    """The work's result. SIGTERM ends it as Ctrl-C does: finished and unfinished conversations are written down."""

    async def terminable() -> T:
        task = asyncio.current_task()
        if task is not None:
            with suppress(NotImplementedError):  # a system without signals
                asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await work

    return asyncio.run(terminable())


@contextmanager
def resumable(folder: Path) -> Iterator[None]:
    """After an interruption, say how to continue the run, then end the command."""
    try:
        yield
    except (KeyboardInterrupt, asyncio.CancelledError):
        say(
            f"interrupted: the finished conversations are in {folder}; the same command with --out {folder} --resume goes on"
        )
        raise typer.Exit(130) from None


def report(summary: Any, as_json: bool) -> int:
    """Say how a run ended; gives the exit code."""
    for note in summary.notes:
        say(note)
    if as_json:
        print_json(
            {
                "out": str(summary.path),
                "dataset": str(summary.dataset),
                "planned": summary.planned,
                "finished": summary.finished,
                "equal": summary.equal,
                "failed": summary.failed,
                "left_out": summary.left_out,
                **summary.counts.model_dump(mode="json"),
            }
        )
    else:
        counts = summary.counts
        stops = "; ".join(f"{in_words(reason)}: {count}" for reason, count in counts.stops.items()) or "none"
        stdout.print(
            f"{summary.finished} of {summary.planned} conversations finished ({stops}), {counts.exchanges} exchanges, {counts.tokens} tokens",
            soft_wrap=True,
        )
        stdout.print(counts_table(counts))
        for line in summary.left_out[:5]:
            say(f"not in the data set: {line}")
        if total(summary.left_out) > 5:
            say(f"not in the data set: {total(summary.left_out) - 5} more, named in its card")
        for name, reason in list(summary.failed.items())[:5]:
            say(f"failed: {name}: {reason}")
        if len(summary.failed) > 5:
            say(f"failed: {len(summary.failed) - 5} more, in {summary.path / 'failures.jsonl'}")
        put(f"run:     {summary.path}")
        put(f"dataset: {summary.dataset}")
    if summary.finished == summary.planned and not summary.complete:
        say(
            f"{summary.counts.stops.get('budget', 0)} were cut off by --max-tokens: with --resume and a higher limit they are simulated again"
        )
    elif not summary.complete:
        say(
            f"{summary.planned - summary.finished} are missing: the same command with --out {summary.path} --resume tries them again"
        )
    return 0 if summary.complete else 1
