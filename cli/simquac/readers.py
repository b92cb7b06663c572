"""`duologue simquac readers`: reading-comprehension models on QuAC and SimQuAC."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ...data.simquac import KIND, UNANSWERABLE, ReadingQuestion, questions_of
from ...errors import DataError, SettingError, at
from ...studies.sources import of_drawn_users
from ..options.model_fields import extended
from ..options.run import RunOptions, options_of_run
from ..options.sections import CAST
from ..options.shared import Prompts, Yes, attempts_for, draw_of, journal_in, limit_to, model_for, option, seed_of
from ..output.overwriting import check_outside
from ..output.sources import names_of_files
from ..output.tables import PRINTED, TableOutput, read_source
from ..streams import say, stderr
from .asked_readers import ask, cast_of, check_journal, write_answers

QUESTIONS = "Questions and answers"
"""Section of the help."""

RETRIEVER, FIRST = "retriever", "first"
MOST_READ = 12_000
"""Conversations of a file that are taken at most, unless another number is given: QuAC has 11,567 to train on."""


def number_or_all(text: str | int) -> int | None:
    """The value of an option that is a number from 0, or `all`, which becomes None."""
    words = str(text).strip().lower()
    if words == "all":
        return None
    if not words.isdecimal():
        raise SettingError(f"--unanswerable {text}: write a number from 0, or all")
    return int(words)


@extended(options_of_run("record", "replay_calls", "keep_calls"))
def readers_command(
    sources: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="QuAC or SimQuAC JSON, or runs of the simquac cast.")
    ],
    model: Annotated[
        list[str] | None,
        model_for(
            "to answer: retriever (the nearest sentence by idf), first (the first sentence), "
            "teacher:MODEL (the simquac cast's assistant with its validator), grammar:MODEL and "
            "likelihood:MODEL (the same, held to the section at an endpoint of llama.cpp). Or "
            "openai:NAME, PROVIDER:NAME, agent:URL, MODULE:NAME (with our prompt template). May be repeated. "
            "Default: retriever."
        ),
    ] = None,
    limit: Annotated[int | None, limit_to("conversations of each file")] = None,
    journal: Annotated[Path | None, journal_in("this folder, with its score and the runs of models", "DIR")] = None,
    history: Annotated[int, option("Show a model this number of earlier turns.", section=QUESTIONS, min=0)] = 0,
    unanswerable: Annotated[
        int | None,
        option(
            "Take the first N unanswerable questions of a conversation, and leave later ones out.",
            section=QUESTIONS,
            parser=number_or_all,
            metavar="N|all",
            show_default=str(UNANSWERABLE),
        ),
    ] = str(UNANSWERABLE),  # type: ignore[assignment]  # typer parses the default
    whole: Annotated[
        bool,
        option(
            "Compare with all spans of an answer together. Default: with the best span, as other programs do.",
            "--whole",
            section=QUESTIONS,
        ),
    ] = False,
    min_agreement: Annotated[
        float,
        option(
            "Leave out questions on which people's own F1 is lower; QuAC's program: 0.4.",
            section=QUESTIONS,
            min=0,
            max=1,
            metavar="F1",
        ),
    ] = 0.0,
    prompts: Prompts = None,
    attempts: Annotated[int | None, attempts_for("an answer", "4", section=CAST)] = None,
    seed: Annotated[int, seed_of("the draw and of all calls", CAST)] = 0,
    draw: Annotated[int, draw_of(MOST_READ, "about sections")] = MOST_READ,
    yes: Yes = False,
    output: TableOutput = PRINTED,
    **values: Any,
) -> int:
    """Measure reading-comprehension models on QuAC and SimQuAC.

    Precision, recall, F1, exact match and HEQ. Exit code 0: every question was asked; 1: a question could not be asked,
    and the table gives the reason.
    """
    from ...analysis.simquac.readers import Results, Retriever, first

    options = RunOptions(**values, yes=yes, as_json=output.json)
    output.check()
    check_journal(journal)
    for path in sources:
        check_outside(journal, path)
    specs = list(dict.fromkeys(model or [RETRIEVER]))
    others = [spec for spec in specs if spec not in (RETRIEVER, FIRST)]
    sets, set_notes = _questions(sources, limit=limit, draw=draw, seed=seed, unanswerable=unanswerable, history=history)
    results = Results(each_line=not whole, least_agreement=min_agreement)
    with options.surroundings():
        # A spec that is none is told before anything is asked or learnt.
        casts = {spec: cast_of(spec, prompts, seed, attempts) for spec in others}
        results.baselines(sets)
        with stderr.status("reading") as status:
            for spec in specs:
                status.update(f"{spec}: {sum(map(len, sets.values()))} questions")
                if spec == RETRIEVER:
                    results.read("nearest sentence", Retriever(), sets)
                elif spec == FIRST:
                    results.read("first sentence", first, sets)
        if casts:
            conditions = f"history {history}, unanswerable {unanswerable}"
            ask(casts, sets, journal, options, results, conditions)
    report = results.report(dict.fromkeys((*_notes(unanswerable, history, whole=whole), *set_notes)))
    written = None if journal is None else write_answers(results, journal)
    output.show(report)
    if written is not None:
        say(f"written: {written}")
    return 1 if results.lost or any(row.failed for row in report.rows) else 0


def _questions(
    paths: Sequence[Path], *, limit: int | None, draw: int, seed: int, unanswerable: int | None, history: int
) -> tuple[dict[str, list[ReadingQuestion]], list[str]]:
    """The questions of each file, by its name, and notes; DataError names a file without any."""
    questions: dict[str, list[ReadingQuestion]] = {}
    notes = []
    for name, path in zip(names_of_files(paths), paths, strict=True):
        talks = read_source(path).conversations[:limit]
        talks, drawn = of_drawn_users(talks, draw, seed, say, "sections")
        notes += [f"{name}: {drawn}"] if drawn else []
        try:
            questions[name] = questions_of(talks, unanswerable=unanswerable, history=history)
        except DataError as error:
            raise DataError(f"{at(path)}: {error}") from None
        if others := sum(conversation.scenario.get("kind") != KIND for conversation in talks):
            are = "conversation is" if others == 1 else "conversations are"
            notes.append(f"{name}: {others} {are} about no section, and left out.")
        if empty := sum(not one.section.strip() for one in questions[name]):
            have = "question has" if empty == 1 else "questions have"
            notes.append(f"{name}: {empty} {have} an empty section: no reader can answer there.")
    return questions, notes


def _notes(unanswerable: int | None, history: int, *, whole: bool) -> list[str]:
    """What a reader of the table must know."""
    extent = (
        "All questions" if unanswerable is None else f"At most {unanswerable} unanswerable questions a conversation"
    )
    seen = f"{history or 'no'} earlier turn{'s' if history > 1 else ''}"
    return [
        f"{extent}; a reader sees the section and {seen}. A refusal counts 1 where there is no answer, else 0.",
        f"An answer of several spans is compared {'as a whole' if whole else 'by its best span'}. "
        "95 % intervals are over sections.",
    ]
