"""`duologue readers`: how well questions of QuAC and SimQuAC can be read, and what is learnt from one for the other."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..data.simquac import UNANSWERABLE, Question, questions_of
from ..errors import DataError, SettingError, at
from .interrupts import INTERRUPTED, STOPPED, run
from .options import extended
from .output import say, stderr
from .overwriting import check_free, check_outside, check_unread
from .planning import Plan, go_on, models_asked, models_of_cast
from .run_options import KEPT_CALLS, LEAVING, MONEY_AND_TIME, PACES, RunOptions, Yes
from .running import say_hosts, say_uncounted
from .stats import names_of_files
from .tables import AsJson, Force, Form, Out, give, read_whole

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ..analysis.readers import Results
    from ..graphs import Cast
    from ..runs.reading import Answers

OPTIONS: dict[str, tuple[Any, Any]] = {
    **{name: option for name, option in MONEY_AND_TIME.items() if name != "plan"},
    **PACES,
    **{name: KEPT_CALLS[name] for name in ("record", "replay_calls", "keep_calls")},
    **LEAVING,
}
"""Options that say how models are asked: a field of `RunOptions` each."""

RETRIEVER = "retriever"
FEATURES = "features"


def number_or_all(text: str | int) -> int | None:
    """The value of an option that is a number from 0, or `all`, which is None."""
    words = str(text).strip().lower()
    if words == "all":
        return None
    if not words.isdecimal():
        raise SettingError(f"--unanswerable {text}: write a number from 0, or all")
    return int(words)


@extended(OPTIONS)
def readers(
    sources: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="QuAC or SimQuAC JSON, or runs of the simquac cast.")
    ],
    reader: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SPEC",
            help="Who answers, may be given more than once: retriever (the nearest sentence by idf), features (trained, see --train), hf:PATH (a Hugging Face model, extra torch), teacher:SPEC (the simquac cast's assistant with its validator), or openai:NAME, PROVIDER:NAME, agent:URL, MODULE:NAME (asked with a page of ours). Default: retriever.",
        ),
    ] = None,
    train: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Train the reader over features on this data set, on other topics than it is asked about; may be given more than once. A row each.",
        ),
    ] = None,
    trainable: Annotated[
        bool, typer.Option("--trainable", help="The same as --reader features; without --train on each FILE.")
    ] = False,
    folds: Annotated[
        int, typer.Option(min=2, help="Parts of the topics, each of which is left out of training once.")
    ] = 5,
    history: Annotated[int, typer.Option(min=0, help="Earlier exchanges that a reader sees.")] = 0,
    unanswerable: Annotated[
        int | None,
        typer.Option(
            parser=number_or_all,
            metavar="N|all",
            show_default=str(UNANSWERABLE),
            help="Most unanswerable questions of a conversation, the first ones; later ones are left out.",
        ),
    ] = str(UNANSWERABLE),  # type: ignore[assignment]  # typer parses the default
    whole: Annotated[
        bool,
        typer.Option(
            "--whole",
            help="Compare with all spans of an answer together. Default: with the best of them, as programs read the files.",
        ),
    ] = False,
    least_agreement: Annotated[
        float,
        typer.Option(min=0, max=1, help="Leave out questions on which people's own F1 is lower; QuAC's program: 0.4."),
    ] = 0.0,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N conversations of each file.")] = None,
    kept_answers: Annotated[
        Path | None,
        typer.Option(
            "--answers",
            metavar="DIR",
            help="Folder for every answer with its score, and the runs of models. The same command goes on from there.",
        ),
    ] = None,
    prompts: Annotated[
        Path | None, typer.Option(help="Folder of prompt pages; each replaces the shipped page of the same name.")
    ] = None,
    attempts: Annotated[
        int | None, typer.Option(min=1, help="Most calls for an answer, the first included. Default: 4.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the folds and of all calls.")] = 0,
    yes: Yes = False,
    as_json: AsJson = False,
    form: Form = "rich",
    out: Out = None,
    force: Force = False,
    **values: Any,
) -> int:
    """Ask readers the questions of QuAC or SimQuAC: precision, recall, F1, exact match, HEQ; train on one, test on another.

    Exit code 0: every question was asked; 1: a question could not be asked, and the table says why.
    """
    from ..analysis.readers import FeatureReader, Results, Retriever

    options = RunOptions(**values, yes=yes, as_json=as_json)
    if out is not None:
        check_free(out, force=force)
    check_unread(kept_answers)
    for path in (*sources, *(train or ())):
        check_outside(kept_answers, path)
    specs = list(dict.fromkeys(reader or ([] if trainable or train else [RETRIEVER])))
    if (trainable or train) and FEATURES not in specs:
        specs.append(FEATURES)

    sets = _questions(sources, limit, unanswerable, history)
    known = _questions(train, limit, unanswerable, history) if train else sets
    results = Results(each_line=not whole, least_agreement=least_agreement)
    results.baselines(sets)
    for spec in specs:
        if spec == RETRIEVER:
            results.read("nearest sentence", Retriever(), sets)
        elif spec == FEATURES:
            results.cross(FEATURES, lambda: FeatureReader(each_line=not whole), known, sets, folds, seed)
        elif spec.startswith("hf:"):
            results.read(spec, _hugging_face(spec), sets)
    casts = {spec: spec for spec in specs if spec not in (RETRIEVER, FEATURES) and not spec.startswith("hf:")}
    if casts:
        with options.surroundings():
            made = {spec: _cast(spec, prompts, seed, attempts) for spec in casts}
            _ask(made, sets, kept_answers, options, results)
    report = results.report(_notes(unanswerable, history, whole=whole, trained=FEATURES in specs, folds=folds))
    written = [] if kept_answers is None else _write(results, kept_answers)
    tables = report.narrow() if form == "rich" and out is None else report.tables()
    give(report.model_dump(mode="json"), tables, as_json=as_json, form=form, out=out, force=force)
    if written:
        say(f"written: {', '.join(map(str, written))}")
    return 1 if results.lost or any(row.failed for row in report.rows) else 0


def _questions(
    paths: Sequence[Path], limit: int | None, unanswerable: int | None, history: int
) -> dict[str, list[Question]]:
    """The questions of each file, by its name; DataError names the one without any."""
    found = {}
    for name, path in zip(names_of_files(paths), paths, strict=True):
        talks = read_whole(path).conversations[:limit]
        try:
            found[name] = questions_of(talks, unanswerable=unanswerable, history=history)
        except DataError as error:
            raise DataError(f"{at(path)}: {error}") from None
    return found


def _hugging_face(spec: str) -> Callable[[Sequence[Question]], list[str | None]]:
    """The model of `hf:PATH`, or `hf:PATH?marker=true`."""
    from ..nodes.models.hugging_face import HuggingFaceReader

    path, _, arguments = spec.partition("?")
    if arguments not in ("", "marker=true", "marker=false"):
        raise SettingError(f"--reader {spec}: after ? only marker=true is known")
    return HuggingFaceReader.of(path, marker=arguments == "marker=true")


def _cast(spec: str, prompts: Path | None, seed: int, attempts: int | None) -> "Cast":
    """The reader or teacher of a spec."""
    from ..graphs import reading

    folder = None if prompts is None else str(prompts)
    if spec == "offline" or spec.startswith("teacher:"):
        return reading.teacher(spec.removeprefix("teacher:"), prompts=folder, seed=seed, attempts=attempts)
    return reading.reader(spec, prompts=folder, seed=seed, attempts=attempts)


def _ask(
    casts: "Mapping[str, Cast]",
    sets: Mapping[str, Sequence[Question]],
    folder: Path | None,
    options: RunOptions,
    results: "Results",
) -> None:
    """Ask each cast about each data set, one after the other, under one set of bounds."""
    from ..runs.next_turn import folder_name
    from ..runs.reading import aread

    control = options.control()
    for each in casts.values():
        control.spending.refuse_unknown(models_asked(each))
        say_hosts(each)
        say_uncounted(each, options)
    go_on(_plan(casts, sets), quiet=options.as_json, yes=options.yes)
    conduct = options.conduct(control)
    found: dict[tuple[str, str], Answers] = {}

    async def work() -> None:
        for spec, each in casts.items():
            for name, questions in sets.items():
                status.update(f"{spec}: {len(questions)} questions of {name}")
                place = None if folder is None else folder / folder_name(f"{spec} {name}")
                found[spec, name] = await aread(
                    each, questions, out=place, concurrency=options.concurrency or "auto", conduct=conduct
                )

    with stderr.status("asking") as status:
        try:
            run(work(), control, lambda: 0, options.max_time)
        except (KeyboardInterrupt, asyncio.CancelledError):
            control.ending = STOPPED
    for note in control.spending.notes:
        say(note)
    if control.ending == STOPPED:
        kept = "nothing is kept without --answers" if folder is None else "the same command goes on"
        say(f"interrupted: {kept}")
        raise typer.Exit(INTERRUPTED)
    if control.ending is not None:
        say(f"ended early: {control.ending}")
    for (spec, name), (given, failures) in found.items():
        results.add(spec, name, sets[name], given, failures=failures)


def _plan(casts: "Mapping[str, Cast]", sets: Mapping[str, Sequence[Question]]) -> Plan:
    """How many questions are asked, at most."""
    count = len(casts) * sum(map(len, sets.values()))
    most = sum(each.limits.answer_attempts * sum(map(len, sets.values())) for each in casts.values())
    asked = any(models_asked(each) or not models_of_cast(each) for each in casts.values())
    return Plan(count, "questions", count, most, "each one answer", asked)


def _notes(unanswerable: int | None, history: int, *, whole: bool, trained: bool, folds: int) -> list[str]:
    """What a reader of the table must know."""
    kept = "All questions" if unanswerable is None else f"At most {unanswerable} unanswerable questions a conversation"
    seen = f"{history} earlier exchanges" if history else "no earlier exchange"
    notes = [
        f"{kept}; a reader sees the section and {seen}. A refusal counts 1 where there is no answer, else 0.",
        f"An answer of several spans is compared {'as a whole' if whole else 'by its best span'}. "
        "95 % intervals are over sections.",
    ]
    if trained:
        notes.append(f"Trained on {folds - 1} of {folds} folds of the topics and asked about the other one.")
    return notes


def _write(results: "Results", folder: Path) -> list[Path]:
    """Every answer, a line each."""
    from ..data.formats.folders import make_folder
    from ..data.formats.jsonfiles import dumps, write_text

    make_folder(folder)
    path = folder / "answers.jsonl"
    write_text(path, "".join(dumps(one.model_dump(mode="json")) + "\n" for one in results.answered))
    return [path]
