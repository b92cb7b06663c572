"""`duologue simulate simquac`: student and teacher."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ..data import identity, load
from ..data import simquac as format
from ..data.checks import QUESTION_WORDS
from ..data.simquac import Topic
from .output import say
from .running import OUT, AsJson, Concurrency, MaxTokens, Prompts, Resume, Seed, replayed, simulated


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
    prompts: Prompts = None,
    seed: Seed = 0,
    max_turns: Annotated[
        int | None,
        typer.Option(min=1, help="Exchanges of a conversation. Default: 12, or as many as a replayed file has."),
    ] = None,
    question_attempts: Annotated[int, typer.Option(min=1, help="Calls for a question, the first included.")] = 4,
    answer_attempts: Annotated[int, typer.Option(min=1, help="Calls for an answer, the first included.")] = 4,
    question_words: Annotated[int, typer.Option(min=1, help="Most words of a question.")] = QUESTION_WORDS,
    one_question: Annotated[bool, typer.Option("--one-question", help="Reject several questions in one.")] = False,
    no_repeats: Annotated[bool, typer.Option("--no-repeats", help="Reject a question that was asked before.")] = False,
    max_tokens: MaxTokens = None,
    concurrency: Concurrency = 8,
    out: Annotated[Path | None, typer.Option(help="Run folder. Default: the next free out/simquac-N.")] = None,
    resume: Resume = False,
    max_topic_bytes: Annotated[int, typer.Option(min=1, help="Most bytes of a topic's text.")] = format.MAX_BYTES,
    licence: Annotated[
        str | None, typer.Option(help="Licence and attribution of the topics' text, for the card.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """A student asks about a section that only the teacher sees ("Let the LLMs Talk", WSDM 2024)."""
    from .. import graphs, runs
    from ..nodes.limits import Limits

    replays = replayed(user, assistant, repeats=repeats, resume=resume, out=out)
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
    return simulated(cast, scenarios, folder, limits, source, concurrency=concurrency, resume=resume, as_json=as_json)


def _topics(path: Path | None, replays: list[Path], max_bytes: int) -> tuple[list[Topic], dict[str, Any]]:
    """Every topic, and what is known of their source."""
    given = path or (replays[0] if replays else None)
    if given is not None:
        found, source = format.read_topics(given, max_bytes=max_bytes), {"source": given.name}
    else:
        found = format.samples()
        source = {"source": "samples/topics.jsonl", "licence": "MIT, written for duologue", "licence_id": "mit"}
    if len(set(replays)) == 2:
        say("user and assistant replay two files: answers belong to the questions of their own file")
    for file in sorted(set(replays)):
        for line in load(file).notes:
            say(f"{file}: {line}")
    equal = identity.equals(identity.ordinals(topic.scenario() for topic in found))
    if equal:
        say(f"{equal} of {len(found)} topics repeat{'s' if equal == 1 else ''} an earlier one; each is simulated")
    return found, dict(source)
