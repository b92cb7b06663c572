"""`duologue papers`: the tables of the papers on SimQuAC and RecLLMSim, a command each, and their baselines and data."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..data import DataError
from ..data import simquac as simquac_data
from ..data.files.json import write_lines
from ..data.loading import Loaded
from ..data.recllmsim import read_pool, read_tasks, shipped_tasks
from ..data.text.languages import Language
from ..errors import SettingError
from ..studies.recllmsim import DEFAULT
from .options.model_fields import extended, spread
from .options.run import RunOptions, options_of_run
from .options.shared import (
    RatedSource,
    Yes,
    force_for,
    journal_in,
    json_of,
    language_of,
    model_for,
    option,
    out_to,
    people_from,
    seed_of,
    study_of,
)
from .output.overwriting import check_free, check_outside, check_unread
from .output.sources import lacks, names_of_files
from .output.tables import PRINTED, TableOutput, read_source
from .running.asking import OPTIONS, JournalOption, ask_models, asked, begun, check_journal
from .streams import print_json, put, say, stderr

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ..analysis.tables import TabledReport
    from ..graphs import Cast
    from ..runs.asks import ReadingAnswers
    from ..runs.profiles import MadeProfiles

Sections = Annotated[Path, typer.Argument(metavar="SRC", help="A SimQuAC or QuAC file, teacher topics, or a run.")]
Words = Annotated[
    list[str] | None, model_for("over words: forest or logistic. May be repeated. Default: forest, logistic.")
]
HELD = {"teacher": None, "grammar": "grammar"}
"""Prefixes of a reader that is the simquac cast's teacher, with how it is held to the section."""


# SimQuAC


def simquac_stats(
    sources: Annotated[list[Path], typer.Argument(metavar="SRC...", help="SimQuAC or QuAC files, or runs.")],
    output: TableOutput = PRINTED,
) -> int:
    """Print Table 5: answers, coverage, flow and questions, and tests between files."""
    from ..analysis.simquac import simquac_statistics

    loaded = [_about_sections(path) for path in sources]
    output.show(simquac_statistics(dict(zip(names_of_files(sources), loaded, strict=True))))
    return 0


def teacher(
    source: Sections,
    people: Annotated[Path | None, people_from("a file with their answers; teacher topics have them itself")] = None,
    output: TableOutput = PRINTED,
) -> int:
    """Print Table 3: a teacher's answers beside people's, F1 and HEQ, valid answers by attempt."""
    from ..analysis.simquac import teacher_statistics

    references = None if people is None else read_source(people)
    output.show(teacher_statistics(source.name or str(source), _about_sections(source), references))
    return 0


def validators(source: Sections, output: TableOutput = PRINTED) -> int:
    """Put the same answers through the published validator and ours."""
    from ..analysis.simquac import compare_validators

    output.show(compare_validators(read_source(source)))
    return 0


def baseline(
    source: Sections, seed: Annotated[int, seed_of("the simulations")] = 0, output: TableOutput = PRINTED
) -> int:
    """Measure the rule-based teacher on people's questions, and the rule-based student."""
    from ..studies.simquac import baseline as measured

    output.show(measured(source, seed))
    return 0


def repair(
    source: Sections,
    out: Annotated[Path, out_to("this file; the list of changes goes to FILE.changes.jsonl beside it.", "FILE")],
    force: Annotated[bool, force_for("those of --out; and repair people's answers too")] = False,
) -> int:
    """Restore lost first words, case and offsets of a model's answers, by their section.

    An answer that begins at the second word of a sentence is taken to have lost its first word. People sometimes begin
    there on purpose, so files of people's answers need --force.
    """
    changes_file = Path(f"{out}.changes.jsonl")
    check_free(out, changes_file, force=force)
    sources = simquac_data.read(source)
    if not force and any(map(simquac_data.by_people, sources)):
        raise DataError(
            f"{source}: holds people's answers, and the repair would change correct ones too (21 of 446 in the open QuAC "
            "file): give a file of a model's answers, or --force to repair these all the same"
        )
    conversations, changes = simquac_data.repair(sources)
    for line in simquac_data.write(conversations, out):
        say(f"left out: {line}")
    write_lines(changes_file, (change.model_dump(mode="json") for change in changes))
    kinds = [change.kind for change in changes]
    put(", ".join(f"{kind.replace('_', ' ')} {kinds.count(kind)}" for kind in dict.fromkeys(kinds)) or "nothing mended")
    put(f"data set: {out}", f"changes:  {changes_file}")
    return 0


@extended(options_of_run("replies", "frozen"))
def readers(
    sources: Annotated[list[Path], typer.Argument(metavar="SRC...", help="SimQuAC or QuAC files, or runs.")],
    model: Annotated[
        list[str] | None,
        model_for(
            "to answer: retriever (the nearest sentence by idf), first (the first sentence), teacher:MODEL (the simquac "
            "cast's assistant), and grammar:MODEL (the same, held to the section at an endpoint of "
            "llama.cpp), or any model with our prompt. May be repeated. Default: retriever."
        ),
    ] = None,
    journal: Annotated[Path | None, journal_in("this folder, with the runs of models", "DIR")] = None,
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
    for path in sources:
        check_outside(journal, path)
    named = zip(names_of_files(sources), sources, strict=True)
    sets = {name: simquac_data.questions_of(read_source(path).conversations) for name, path in named}
    specs = list(dict.fromkeys(model or ["retriever"]))
    plain = {"retriever": ("nearest sentence", nearest), "first": ("first sentence", first)}
    with options.surroundings():
        # A spec that is none is told before anything is asked.
        casts = {spec: _reader(spec) for spec in specs if spec not in plain}
        report = read(dict(plain[spec] for spec in specs if spec in plain), sets)
        told = _read(casts, sets, journal, options) if casts else {}
    rows = [*report.rows]
    for (spec, name), (answers, failures) in told.items():
        rows.append(score_reader(spec, sets[name], answers, name, failures=failures))
    rows.sort(key=lambda row: list(sets).index(row.data))
    notes = (
        f"Unanswerable questions of a conversation: {simquac_data.UNANSWERABLE}; a reader sees the section and no earlier "
        "turn. A refusal counts 1 where there is no answer, else 0. An answer of several spans is compared by its best "
        "span. 95 % intervals are over sections.",
    )
    output.show(report.model_copy(update={"rows": tuple(rows), "notes": notes}))
    return 1 if any(row.failed for row in rows) else 0


def _reader(spec: str) -> "Cast":
    """The reader or teacher of an identifier; SettingError for anything else."""
    from ..graphs import single_turn

    kind, _, model = spec.partition(":")
    if (":" not in spec and spec != "offline") or (model if kind in HELD else spec).startswith(("replay:", "people:")):
        raise SettingError(
            f"--model {spec}: is not a model that reads: give retriever, first, teacher:MODEL or a model"
        )
    hold: Any = HELD.get(kind)
    return (
        single_turn.teacher(model or spec, hold=hold) if spec == "offline" or kind in HELD else single_turn.reader(spec)
    )


def _read(
    casts: "Mapping[str, Cast]", sets: Mapping[str, Any], folder: Path | None, options: RunOptions
) -> "dict[tuple[str, str], ReadingAnswers]":
    """Ask each cast about each data set, one after the other, under one set of bounds."""
    from ..runs.asks import answers_planned, aread
    from ..runs.next_turn import folder_name

    works = {
        (spec, name): (cast, those, folder and folder / folder_name(f"{spec} {name}"))
        for spec, cast in casts.items()
        for name, those in sets.items()
    }
    conduct = begun(answers_planned({", ".join(key): work for key, work in works.items()}), options, casts.values())

    async def work(show: Callable[[str], None]) -> "dict[tuple[str, str], ReadingAnswers]":
        answers = {}
        for (spec, name), (cast, those, place) in works.items():
            show(f"{spec}: {len(those)} questions of {name}")
            answers[spec, name] = await aread(cast, those, conduct.with_(out=place))
        return answers

    left = "nothing is kept without --journal" if folder is None else "continue with the same command"
    return asked(work, conduct, "asking", left)


def _about_sections(path: Path) -> Loaded:
    """The conversations of a source; DataError for one without a conversation about a section."""
    loaded = read_source(path)
    if not any(map(simquac_data.DOMAIN.is_about, loaded)):
        raise DataError(
            f"{lacks(loaded, 'a section')}: this needs SimQuAC or QuAC JSON, teacher topics, or a run or records of such "
            "conversations: give those"
        )
    return loaded


# RecLLMSim


def recllmsim_stats(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="Files of RecLLMSim, or a run about tasks.")],
    output: TableOutput = PRINTED,
) -> int:
    """Print the published tables: quality, counts, hallucination, behaviour, profiles, satisfaction."""
    from ..analysis.recllmsim import Talks, recllmsim_tables

    loaded = read_source(source)
    say(*loaded.notes)
    talks = Talks.of(loaded)
    if not talks.talks:
        raise DataError(
            f"{lacks(loaded, 'a task with a profile')}: the tables need RecLLMSim files, or a run or records of such "
            "conversations: give those"
        )
    output.show(recllmsim_tables(talks))
    return 1 if loaded.broken else 0


def tasks(
    source: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="A workbook or YAML file of tasks. Default: those shipped.")
    ] = None,
    language: Annotated[Language, language_of("the shipped tasks.")] = "en",
    as_json: Annotated[bool, json_of("an object, each task with the list of its contexts")] = False,
) -> int:
    """Print the tasks of simulated users, with their contexts."""
    contexts_of = read_tasks(source) if source else shipped_tasks(language)
    if as_json:
        print_json(contexts_of)
        return 0
    for name, contexts in contexts_of.items():
        put(f"{name} ({len(contexts)})", *(f"  {n}: {' '.join(text.split())}" for n, text in enumerate(contexts)))
    return 0


@extended(options_of_run("yes", "replies", "frozen"))
def profiles(
    count: Annotated[int, typer.Argument(metavar="N", help="Profiles that the file is to have.", min=1, max=1_000_000)],
    model: Annotated[str, model_for("to write the profiles: openai:NAME, PROVIDER:NAME or offline.")] = "offline",
    out: Annotated[Path | None, out_to("this file. Default: out/profiles-LANGUAGE.txt.", "FILE")] = None,
    pool: Annotated[
        Path | None, option("Differ from the user profiles in this file or folder.", "--profiles", metavar="SRC")
    ] = None,
    language: Annotated[Language, language_of("the profiles.")] = "en",
    seed: Annotated[int, seed_of("the calls")] = 0,
    as_json: Annotated[bool, json_of("the summary")] = False,
    **values: Any,
) -> int:
    """Write user profiles with a model, up to a number; the same command goes on. Exit code 1: profiles are missing."""
    from ..nodes.models.specs import chat_model
    from ..nodes.profiles import ProfileLimits
    from ..runs.profiles import agenerate, profiles_planned

    options = RunOptions(**values, as_json=as_json)
    file = out or Path("out") / f"profiles-{language}.txt"
    check_unread(file)
    with options.surroundings():
        writer = chat_model(model)
        kept = read_pool(pool).profiles if pool else ()
        settings: dict[str, Any] = {"language": language, "pool": kept, "limits": ProfileLimits(seed=seed)}
        conduct = begun(profiles_planned(count, file, writer, **settings), options, models=[writer])

        def work(show: Callable[[str], None]) -> "Coroutine[Any, Any, MadeProfiles]":
            def watch(accepted: int) -> None:
                show(f"{accepted} of {count} profiles")

            return agenerate(count, file, writer, **settings, settings=conduct, watch=watch)

        left = f"the finished profiles are in {file}; continue with the same command"
        making = asked(work, conduct, f"0 of {count} profiles", left)
    summary: dict[str, Any] = {"out": str(making.path), "profiles": len(making.profiles), "new": making.new}
    summary |= {
        "rejected": making.rejected,
        "usage": making.usage,
        "stop": making.stop,
        "failure": making.failure or None,
    }
    summary["coverage"] = making.coverage.model_dump(mode="json")
    if as_json:
        print_json(summary)
    else:
        put("\n".join(f"{name}: {value}" for name, value in summary.items() if value is not None))
    if not making.complete:
        why = making.failure or f"drafts were rejected as {', '.join(making.rejected)}"
        say(f"{count - len(making.profiles)} of {count} profiles are missing: {why}; continue with the same command")
    return 0 if making.complete else 1


@extended(OPTIONS)
def predict(
    sources: Annotated[
        list[Path], typer.Argument(metavar="SRC...", help="Conversations whose users have a profile, of one group.")
    ],
    train: Annotated[
        Path | None,
        option("Learn from these too, alone and mixed in, such as simulated users for people.", metavar="SRC"),
    ] = None,
    model: Annotated[
        list[str] | None,
        model_for(
            "to predict: forest, logistic, a chat model that ranks options (openai:NAME), or a folder of people's "
            "answers to `duologue label --labels profile_personality`. May be repeated. Default: forest, logistic."
        ),
    ] = None,
    journal: JournalOption = None,
    yes: Yes = False,
    output: TableOutput = PRINTED,
    **values: Any,
) -> int:
    """Predict users' profiles from their conversations, people held out and as published.

    Personality, interests, travel, dining, spending; the prior is a row. Exit code 1: a model gave no answer about some.
    """
    from ..studies.recllmsim import predict_profiles

    names = list(dict.fromkeys(model or DEFAULT))
    options = RunOptions(**values, yes=yes, as_json=output.json)
    check_journal(journal, sources, [name for name in names if ":" in name], "--model")
    tested = [conversation for path in sources for conversation in read_source(path)]
    other = None if train is None else read_source(train)
    return _measured(
        lambda ask, watch: predict_profiles(tested, other, names, ask=ask, notify=say, watch=watch),
        journal, options, output,
    )  # fmt: skip


def intents(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="Conversations whose users' messages have an intent.")],
    model: Words = None,
    output: TableOutput = PRINTED,
) -> int:
    """Predict intents of users' messages from words: of the message, and of the conversation up to it."""
    from ..analysis.recllmsim.values import measure_intents

    return _from_words(measure_intents, source, model, output)


def satisfaction(source: RatedSource, model: Words = None, output: TableOutput = PRINTED) -> int:
    """Predict satisfaction from words: 1 to 5, a number, dissatisfaction, or its reason."""
    from ..analysis.recllmsim.values import FOREST, measure_satisfaction

    return _from_words(measure_satisfaction, source, model, output, **FOREST)


@extended(OPTIONS)
def judges(
    source: RatedSource,
    model: Annotated[
        list[str] | None,
        model_for(
            "as a judge to measure: openai:NAME, PROVIDER:NAME, or a copy of SRC with a judge's labels. May be repeated."
        ),
    ] = None,
    journal: JournalOption = None,
    yes: Yes = False,
    output: TableOutput = PRINTED,
    **values: Any,
) -> int:
    """Measure judges of satisfaction against people.

    Kappa, error, AUC of dissatisfaction, concordance. Exit code 1: a model gave no rating of some turns.
    """
    from ..studies.recllmsim import judge_agreement

    options = RunOptions(**values, yes=yes, as_json=output.json)
    check_journal(journal, [source], model or (), "--model")
    loaded, names = read_source(source), list(dict.fromkeys(model or ()))
    return _measured(
        lambda ask, _: judge_agreement(loaded, names, ask=ask, notify=say), journal, options, output
    )  # fmt: skip


def preference(
    answers: Annotated[Path, typer.Argument(metavar="ANSWERS", help="The answers of `duologue label --study`.")],
    study: Annotated[Path | None, study_of(", for the names of its two systems")] = None,
    without: Annotated[
        list[str] | None,
        option("Leave out a preference that its reason contradicts; may be repeated.", metavar="PERSON:ID"),
    ] = None,
    output: TableOutput = PRINTED,
) -> int:
    """Print which system people prefer in a side-by-side study (Table 4), how far they agree, and their reasons."""
    from ..studies.people_answers import study_preferences

    output.show(study_preferences(answers, study, without=without or ()))
    return 0


def _from_words(measure: Any, source: Path, model: Sequence[str] | None, output: TableOutput, **forest: Any) -> int:
    from ..analysis.recllmsim.learning import models_of

    models = models_of(model or DEFAULT, **forest)
    output.check()
    loaded = read_source(source)
    with stderr.status("begins") as status:
        output.show(measure(loaded, models, watch=status.update))
    return 1 if loaded.broken else 0


def _measured(
    report: "Callable[[Any, Callable[[str], None]], TabledReport]",
    journal: Path | None,
    options: RunOptions,
    output: TableOutput,
) -> int:
    """Show a report whose chat models are asked within the bounds of the command; 1 if some gave no answer."""
    output.check()

    def ask(requests: Mapping[str, Any], what: str) -> Mapping[str, Sequence[Any]]:
        return ask_models(requests, what, journal=journal, options=options)

    with options.surroundings(), stderr.status("begins") as status:
        found = report(ask, status.update)
    output.show(found)
    return 1 if found.to_json().get("unanswered") else 0


SIMQUAC: Mapping[str, Callable[..., int]] = {
    "stats": simquac_stats,
    "teacher": teacher,
    "validators": validators,
    "readers": readers,
    "baseline": baseline,
    "repair": repair,
}
RECLLMSIM: Mapping[str, Callable[..., int]] = {
    "stats": recllmsim_stats,
    "tasks": tasks,
    "profiles": profiles,
    "predict": predict,
    "intents": intents,
    "satisfaction": satisfaction,
    "judges": judges,
    "preference": preference,
}
papers_command = typer.Typer(help="Print the tables of the papers.", no_args_is_help=True, add_completion=False)
for _paper, _about, _commands in (
    ("simquac", "Tables, baselines and data of the paper on teacher-student conversations.", SIMQUAC),
    ("recllmsim", "Tables, predictions and data of the papers on users with a task and a profile.", RECLLMSIM),
):
    _group = typer.Typer(help=_about, no_args_is_help=True, add_completion=False)
    for _name, _function in _commands.items():
        _group.command(_name)(spread(_function))
    papers_command.add_typer(_group, name=_paper)
