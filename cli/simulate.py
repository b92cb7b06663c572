"""`duologue simulate CAST`: a run folder full of conversations."""

import asyncio
import signal
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from ..data import identity, load
from ..data import simquac as format
from ..data.checks import QUESTION_WORDS
from ..data.simquac import Topic
from .output import print_json, say, stdout, tally_table
from .progress import Progress

simulate = typer.Typer(help="Simulate conversations into a run folder.", no_args_is_help=True)

T = TypeVar("T")
OUT = Path("out")


@simulate.callback()
def casts() -> None:
    """Simulate conversations into a run folder."""


@simulate.command("simquac")
def simquac(
    topics: Annotated[
        Path | None,
        typer.Option(
            help="Topics: JSON lines, SimQuAC or QuAC JSON, a run. Default: the shipped samples, or a replayed file's own."
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N topics.")] = None,
    sample: Annotated[int | None, typer.Option(min=1, help="N topics drawn by the seed, in the file's order.")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Conversations about each topic.")] = 1,
    user: Annotated[str, typer.Option(help="The student: openai:NAME, offline, replay:FILE.")] = "offline",
    assistant: Annotated[str, typer.Option(help="The teacher: openai:NAME, offline, replay:FILE.")] = "offline",
    prompts: Annotated[
        Path | None, typer.Option(help="Folder of prompt pages that replace the shipped ones by name.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the run.")] = 0,
    max_turns: Annotated[
        int | None,
        typer.Option(min=1, help="Exchanges of a conversation. Default: 12, or as many as a replayed file has."),
    ] = None,
    question_attempts: Annotated[int, typer.Option(min=1, help="Calls for a question, the first included.")] = 4,
    answer_attempts: Annotated[int, typer.Option(min=1, help="Calls for an answer, the first included.")] = 4,
    question_words: Annotated[int, typer.Option(min=1, help="Most words of a question.")] = QUESTION_WORDS,
    one_question: Annotated[bool, typer.Option("--one-question", help="Reject several questions in one.")] = False,
    no_repeats: Annotated[bool, typer.Option("--no-repeats", help="Reject a question that was asked before.")] = False,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens that a conversation may cost.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Conversations at the same time.")] = 8,
    out: Annotated[Path | None, typer.Option(help="Run folder. Default: the next free out/simquac-N.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Simulate only what is missing in the folder.")] = False,
    max_topic_bytes: Annotated[int, typer.Option(min=1, help="Most bytes of a topic's text.")] = format.MAX_BYTES,
    licence: Annotated[
        str | None, typer.Option(help="Licence and attribution of the topics' text, for the card.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON on stdout.")] = False,
) -> int:
    """A student asks about a section that only the teacher sees ("Let the LLMs Talk", WSDM 2024)."""
    from .. import graphs, runs
    from ..nodes.limits import Limits
    from ..nodes.replay import PREFIX

    if resume and out is None:
        raise ValueError("--resume needs --out: say which run to continue")
    replays = [spec.removeprefix(PREFIX) for spec in (user, assistant) if spec.startswith(PREFIX)]
    if len(replays) == 2 and repeats > 1:
        raise ValueError("--repeats: a conversation whose both sides are replayed is the same each time: leave it out")
    limits = Limits(
        max_turns=max_turns,
        question_attempts=question_attempts,
        answer_attempts=answer_attempts,
        seed=seed,
        max_tokens=max_tokens,
    )
    found, source = _topics(topics, replays, max_topic_bytes)
    source["licence"] = licence or source.get("licence")
    cast = graphs.simquac.cast(
        user,
        assistant,
        prompts=prompts,
        question_words=question_words,
        one_question=one_question,
        no_repeats=no_repeats,
    )
    drawn = runs.chosen(graphs.simquac.scenarios(found), limit=limit, sample=sample, seed=seed)
    scenarios = runs.repeated(drawn, repeats)
    folder = out or runs.new_folder(OUT, "simquac")
    _say_hosts(cast)
    with Progress(len(scenarios), quiet=as_json) as progress, _resumable(folder):
        summary = _run(
            runs.arun(
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
        )
    return _report(summary, as_json)


def _topics(path: Path | None, replays: list[str], max_bytes: int) -> tuple[list[Topic], dict[str, Any]]:
    """Every topic, and what is known of their source."""
    given = path or (Path(replays[0]) if replays else None)
    if given is not None:
        found, source = format.read_topics(given, max_bytes=max_bytes), {"source": given.name}
    else:
        found = format.samples()
        source = {"source": "samples/topics.jsonl", "licence": "MIT, written for duologue", "licence_id": "mit"}
    if len(set(replays)) == 2:
        say("user and assistant replay two files: answers belong to the questions of their own file")
    for replayed in sorted(set(replays)):
        for line in load(replayed).notes:
            say(f"{replayed}: {line}")
    equal = identity.equals(identity.ordinals(topic.scenario() for topic in found))
    if equal:
        say(f"{equal} of {len(found)} topics repeat{'s' if equal == 1 else ''} an earlier one; each is simulated")
    return found, dict(source)


def _say_hosts(cast: Any) -> None:
    """The endpoint's host, once a run: a stray setting could send conversations elsewhere."""
    from ..nodes.models import endpoint_host

    models = (getattr(node, "model", None) for node in (cast.user_simulator, cast.assistant))
    for host in sorted({host for model in models if model is not None and (host := endpoint_host(model))}):
        say(f"calls go to {host}")


def _run(work: Coroutine[Any, Any, T]) -> T:
    """The work's result; a polite kill ends it as Ctrl-C does: what is finished is written, what runs is recorded."""

    async def terminable() -> T:
        task = asyncio.current_task()
        if task is not None:
            with suppress(NotImplementedError):  # a system without signals
                asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await work

    return asyncio.run(terminable())


@contextmanager
def _resumable(folder: Path) -> Iterator[None]:
    """What to do after an interruption, said before the command ends."""
    try:
        yield
    except (KeyboardInterrupt, asyncio.CancelledError):
        say(f"interrupted: what is finished is in {folder}; the same command with --out {folder} --resume goes on")
        raise typer.Exit(130) from None


def _report(summary: Any, as_json: bool) -> int:
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
        stops = ", ".join(f"{reason} {count}" for reason, count in counts.stops.items()) or "none"
        stdout.print(
            f"{summary.finished} of {summary.planned} conversations finished ({stops}), {counts.exchanges} exchanges, {counts.tokens} tokens"
        )
        stdout.print(tally_table(counts))
        for line in summary.left_out[:5]:
            say(f"not in the data set: {line}")
        if len(summary.left_out) > 5:
            say(f"not in the data set: {len(summary.left_out) - 5} more, named in its card")
        for name, reason in list(summary.failed.items())[:5]:
            say(f"failed: {name}: {reason}")
        if len(summary.failed) > 5:
            say(f"failed: {len(summary.failed) - 5} more, in {summary.path / 'failures.jsonl'}")
        print(f"run:     {summary.path}")
        print(f"dataset: {summary.dataset}")
    if summary.finished == summary.planned and not summary.complete:
        say(f"{summary.counts.stops.get('budget', 0)} ended at the bound of tokens, not by themselves")
    elif not summary.complete:
        say(
            f"{summary.planned - summary.finished} are missing: the same command with --out {summary.path} --resume tries them again"
        )
    return 0 if summary.complete else 1
