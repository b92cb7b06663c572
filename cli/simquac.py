"""`duologue papers simquac ...`: the tables of "Let the LLMs Talk", its baselines, its readers, and the repair of its data."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..data import DataError
from ..data import simquac as simquac_format
from ..data.files.json import write_lines
from ..data.loading import Loaded
from ..data.simquac import UNANSWERABLE, ReadingQuestion
from ..errors import SettingError
from .options.model_fields import extended, spread
from .options.run import RunOptions, options_of_run
from .options.shared import (  # fmt: skip
    Prompts,
    Yes,
    attempts_for,
    force_for,
    journal_in,
    limit_to,
    model_for,
    option,
    out_to,
    people_from,
    seed_of,
)
from .output.overwriting import check_free, check_outside
from .output.sources import lacks, names_of_files
from .output.tables import PRINTED, TableOutput, read_source
from .running.asking import begun
from .running.interrupts import ask_all
from .streams import put, say

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ..graphs import Cast
    from ..graphs.simquac import Hold
    from ..runs.reading import ReadingAnswers

simquac = typer.Typer(help="Tables of the SimQuAC paper, and repair of its data.", no_args_is_help=True)

Source = Annotated[Path, typer.Argument(metavar="SRC", help="A SimQuAC or QuAC file, teacher topics, or a run.")]
Sources = Annotated[list[Path], typer.Argument(metavar="SRC...", help="SimQuAC or QuAC files, or runs.")]

HOLDS: "dict[str, Hold | None]" = {"teacher": None, "grammar": "grammar", "likelihood": "likelihood"}
"""Prefixes of a teacher, with how it is held to the section."""


def stats_command(
    sources: Sources,
    figure: Annotated[Path | None, option("Draw Figure 2 into this file, SVG or PNG.", metavar="FILE")] = None,
    output: TableOutput = PRINTED,
) -> int:
    """Print Table 5 and Figure 2: answers, coverage, flow and questions, and tests between files."""
    from ..analysis.simquac import simquac_statistics

    loaded = {name: read_source(path) for name, path in zip(names_of_files(sources), sources, strict=True)}
    for one in loaded.values():
        _check_sections(one)
    statistics = simquac_statistics(loaded)
    if figure is not None:
        check_free(figure, force=output.force)
        statistics.figure().savefig(figure)
    output.show(statistics)
    return 0


def teacher_command(
    source: Source,
    people: Annotated[Path | None, people_from("a file with their answers; teacher topics have them itself")] = None,
    overlap: Annotated[
        Literal["ours", "published"],
        option("Define the overlap of two answers: ours, or the paper's, of any line of the teacher's answer."),
    ] = "ours",
    output: TableOutput = PRINTED,
) -> int:
    """Print Table 3: a teacher's answers beside people's, F1 and HEQ, valid answers by attempt."""
    from ..analysis.simquac import teacher_statistics

    loaded, references = read_source(source), None if people is None else read_source(people)
    _check_sections(loaded)
    output.show(teacher_statistics(source.name or str(source), loaded, references, overlap))
    return 0


def validators_command(source: Source, output: TableOutput = PRINTED) -> int:
    """Put the same answers through the published validator and ours."""
    from ..analysis import Table
    from ..analysis.simquac import compare_validators

    rows = compare_validators(read_source(source))
    table = Table.across("The same answers through two validators", rows)
    output.give([row.model_dump(mode="json") for row in rows], [table])
    return 0


def baseline_command(
    source: Source, seed: Annotated[int, seed_of("the simulations")] = 0, output: TableOutput = PRINTED
) -> int:
    """Measure the rule-based teacher on people's questions, and the rule-based student."""
    from .. import graphs, runs
    from ..analysis import Column, Table
    from ..analysis.simquac import answers as scored
    from ..nodes.limits import Limits
    from ..nodes.messages import selector

    references = simquac_format.read(source)
    if not references:
        raise DataError(f"{source}: holds no conversation: give a QuAC file")
    scenarios = graphs.simquac.scenarios(simquac_format.read_topics(source))

    def simulated(cast: graphs.Cast) -> list[Any]:
        return list(runs.simulate(cast, scenarios, limits=Limits(seed=seed)))

    plain = graphs.simquac.cast()
    unselected = plain.replace(user_prompt_selector=selector(lambda state: "user/next", plain.prompts))
    teachers = {"offline": simulated(graphs.simquac.cast(user=f"replay:{source}"))}
    for name, answerer in (("first sentence", scored.first_sentence), ("random sentence", scored.random_sentence)):
        teachers[name] = scored.answered_by(answerer, references)
    students = {"offline": simulated(plain), "offline, no prompt selector": simulated(unselected)}
    of_teachers = {name: scored.score_teacher(talks, references).model_dump() for name, talks in teachers.items()}
    of_students = {name: scored.score_student(talks).model_dump() for name, talks in students.items()}
    tables = [
        Table(
            title=title,
            columns=(Column(name="measure"), *(Column(name=name, kind="number") for name in scores)),
            rows=tuple(
                (field.replace("_", " "), *(one[field] for one in scores.values()))
                for field in next(iter(scores.values()))
            ),
        )
        for title, scores in (("Teachers on people's questions", of_teachers), ("Students", of_students))
    ]
    output.give({"teachers": of_teachers, "students": of_students}, tables)
    return 0


def repair_command(
    source: Source,
    out: Annotated[Path, out_to("this file; the list of changes goes to FILE.changes.jsonl beside it.", "FILE")],
    force: Annotated[bool, force_for("those of --out; and repair people's answers too")] = False,
) -> int:
    """Restore lost first words, case and offsets of a model's answers, by their section.

    An answer that begins at the second word of a sentence is taken to have lost its first word. People sometimes begin
    there on purpose, so files of people's answers need --force.
    """
    changes_file = Path(f"{out}.changes.jsonl")
    check_free(out, changes_file, force=force)
    sources = simquac_format.read(source)
    if not force and any(map(simquac_format.by_people, sources)):
        raise DataError(
            f"{source}: holds people's answers, and the repair would change correct ones too (21 of 446 in the open QuAC "
            "file): give a file of a model's answers, or --force to repair these all the same"
        )
    conversations, changes = simquac_format.repair(sources)
    for line in simquac_format.write(conversations, out):
        say(f"left out: {line}")
    write_lines(changes_file, (change.model_dump(mode="json") for change in changes))
    kinds = [change.kind for change in changes]
    put(", ".join(f"{kind.replace('_', ' ')} {kinds.count(kind)}" for kind in dict.fromkeys(kinds)) or "nothing mended")
    put(f"data set: {out}", f"changes:  {changes_file}")
    return 0


@extended(options_of_run("record", "replay_calls", "keep_calls"))
def readers_command(
    sources: Sources,
    model: Annotated[
        list[str] | None,
        model_for(
            "to answer: retriever (the nearest sentence by idf), first (the first sentence), teacher:MODEL (the simquac "
            "cast's assistant), grammar:MODEL and likelihood:MODEL (the same, held to the section at an endpoint of "
            "llama.cpp), or any model with our prompt. May be repeated. Default: retriever."
        ),
    ] = None,
    limit: Annotated[int | None, limit_to("conversations of each file")] = None,
    journal: Annotated[Path | None, journal_in("this folder, with the runs of models", "DIR")] = None,
    history: Annotated[int, option("Show a model this number of earlier turns.", min=0)] = 0,
    unanswerable: Annotated[
        str, option("Take the first N unanswerable questions of a conversation, or all.", metavar="N|all")
    ] = str(UNANSWERABLE),
    whole: Annotated[
        bool, option("Compare with all spans of an answer together. Default: with the best span.", "--whole")
    ] = False,
    prompts: Prompts = None,
    attempts: Annotated[int | None, attempts_for("an answer", "4")] = None,
    seed: Annotated[int, seed_of("all calls")] = 0,
    yes: Yes = False,
    output: TableOutput = PRINTED,
    **values: Any,
) -> int:
    """Print Table 7: reading-comprehension models on QuAC and SimQuAC.

    Precision, recall, F1, exact match and HEQ. Exit code 1: a question could not be asked, and a note has the reason.
    """
    from ..analysis.simquac.readers import first, nearest, read, score_reader

    options = RunOptions(**values, yes=yes, as_json=output.json)
    output.check()
    if unanswerable != "all" and not unanswerable.isdecimal():
        raise SettingError(f"--unanswerable {unanswerable}: write a number from 0, or all")
    most = None if unanswerable == "all" else int(unanswerable)
    sets: dict[str, list[ReadingQuestion]] = {}
    for name, path in zip(names_of_files(sources), sources, strict=True):
        check_outside(journal, path)
        sets[name] = simquac_format.questions_of(
            read_source(path).conversations[:limit], unanswerable=most, history=history
        )
    specs = list(dict.fromkeys(model or ["retriever"]))
    plain = {"retriever": ("nearest sentence", nearest), "first": ("first sentence", first)}
    with options.surroundings():
        # A spec that is none is told before anything is asked.
        casts = {spec: _cast_of(spec, prompts, seed, attempts) for spec in specs if spec not in plain}
        report = read(dict(plain[spec] for spec in specs if spec in plain), sets, each_line=not whole)
        asked = _ask(casts, sets, journal, options, f"history {history}, unanswerable {unanswerable}") if casts else {}
    rows = [*report.rows]
    for (spec, name), (answers, failures) in asked.items():
        rows.append(score_reader(spec, sets[name], answers, name, not whole, failures=failures))
    rows.sort(key=lambda row: list(sets).index(row.data))
    seen = f"{history or 'no'} earlier turn{'s' if history > 1 else ''}"
    notes = (
        f"Unanswerable questions of a conversation: {unanswerable}; a reader sees the section and {seen}. A refusal counts 1 "
        "where there is no answer, else 0. "
        f"An answer of several spans is compared {'as a whole' if whole else 'by its best span'}. 95 % intervals are over "
        "sections.",
    )
    output.show(report.model_copy(update={"rows": tuple(rows), "notes": notes}))
    return 1 if any(row.failed for row in rows) else 0


def _cast_of(spec: str, prompts: Path | None, seed: int, attempts: int | None) -> "Cast":
    """The reader or teacher of an identifier; SettingError for anything else."""
    from ..graphs import single_turn

    kind, _, model = spec.partition(":")
    if (":" not in spec and spec != "offline") or (model if kind in HOLDS else spec).startswith(("replay:", "people:")):
        raise SettingError(
            f"--model {spec}: is not a model that reads: give retriever, first, teacher:MODEL or a model"
        )
    settings: Any = {"prompts": None if prompts is None else str(prompts), "seed": seed, "attempts": attempts}
    if spec == "offline" or kind in HOLDS:
        return single_turn.teacher(model or spec, hold=HOLDS.get(kind), **settings)
    return single_turn.reader(spec, **settings)


def _ask(
    casts: "Mapping[str, Cast]",
    sets: Mapping[str, Sequence[ReadingQuestion]],
    folder: Path | None,
    options: RunOptions,
    conditions: str,
) -> "dict[tuple[str, str], ReadingAnswers]":
    """Ask each cast about each data set, one after the other, under one set of bounds."""
    from ..runs.people.next_turn import folder_name
    from ..runs.reading import answers_planned, aread

    works = {
        (spec, name): (cast, those, folder and folder / folder_name(f"{spec} {name} {conditions}"))
        for spec, cast in casts.items()
        for name, those in sets.items()
    }
    control = begun(answers_planned({", ".join(key): work for key, work in works.items()}), options, casts.values())
    conduct = options.conduct(control)

    async def work(show: Callable[[str], None]) -> "dict[tuple[str, str], ReadingAnswers]":
        answers = {}
        for (spec, name), (reader, those, place) in works.items():
            show(f"{spec}: {len(those)} questions of {name}")
            answers[spec, name] = await aread(
                reader, those, out=place, concurrency=options.concurrency or "auto", conduct=conduct
            )
        return answers

    left = "nothing is kept without --journal" if folder is None else "continue with the same command"
    return ask_all(work, control, "asking", max_time=options.max_time, left=left)


def _check_sections(loaded: Loaded) -> None:
    """DataError for a source without a conversation about a section."""
    if not any(map(simquac_format.DOMAIN.is_about, loaded)):
        raise DataError(
            f"{lacks(loaded, 'a section')}: this needs SimQuAC or QuAC JSON, teacher topics, or a run or records of such "
            "conversations: give those"
        )


for _name, _function in (
    ("stats", stats_command),
    ("teacher", teacher_command),
    ("validators", validators_command),
    ("readers", readers_command),
    ("baseline", baseline_command),
    ("repair", repair_command),
):
    simquac.command(_name)(spread(_function))
