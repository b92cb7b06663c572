"""`duologue readers`: how well questions of QuAC and SimQuAC can be read, and what is learnt from one for the other."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ..data.simquac import KIND, UNANSWERABLE, Question, questions_of
from ..errors import DataError, SettingError, at
from .options import extended
from .output import say, stderr
from .overwriting import check_outside
from .readers_asked import ask, cast_of, check_kept, hugging_face, write_answers
from .run_options import KEPT_CALLS, LEAVING, MONEY_AND_TIME, PACES, RunOptions, Yes
from .stats import names_of_files
from .tables import AsJson, Force, Form, Out, check_given, give, read_whole

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
    check_given(out, as_json=as_json, form=form, force=force)
    check_kept(kept_answers)
    for path in (*sources, *(train or ())):
        check_outside(kept_answers, path)
    specs = list(dict.fromkeys(reader or ([] if trainable or train else [RETRIEVER])))
    if (trainable or train) and FEATURES not in specs:
        specs.append(FEATURES)

    others = [spec for spec in specs if spec not in (RETRIEVER, FEATURES)]
    sets, told = _questions(sources, limit, unanswerable, history)
    known, of_known = _questions(train or [], limit, unanswerable, history) if train else (sets, [])
    results = Results(each_line=not whole, least_agreement=least_agreement)
    with options.surroundings():
        # A spec that is none is told before anything is asked or learnt.
        casts = {spec: cast_of(spec, prompts, seed, attempts) for spec in others if not spec.startswith("hf:")}
        models = {spec: hugging_face(spec) for spec in others if spec.startswith("hf:")}
        results.baselines(sets)
        with stderr.status("reading") as status:
            for spec in specs:
                status.update(f"{spec}: {sum(map(len, sets.values()))} questions")
                if spec == RETRIEVER:
                    results.read("nearest sentence", Retriever(), sets)
                elif spec == FEATURES:
                    results.cross(FEATURES, lambda: FeatureReader(each_line=not whole), known, sets, folds, seed)
                elif spec in models:
                    results.read(spec, models[spec], sets)
        if casts:
            given = f"history {history}, unanswerable {unanswerable}"
            ask(casts, sets, kept_answers, options, results, given)
    notes = _notes(unanswerable, history, whole=whole, trained=FEATURES in specs, folds=folds)
    report = results.report(dict.fromkeys((*notes, *told, *of_known)))
    written = None if kept_answers is None else write_answers(results, kept_answers)
    tables = report.narrow() if form == "rich" and out is None else report.tables()
    give(report.model_dump(mode="json"), tables, as_json=as_json, form=form, out=out, force=force)
    if written is not None:
        say(f"written: {written}")
    return 1 if results.lost or any(row.failed for row in report.rows) else 0


def _questions(
    paths: Sequence[Path], limit: int | None, unanswerable: int | None, history: int
) -> tuple[dict[str, list[Question]], list[str]]:
    """The questions of each file, by its name, and notes; DataError names a file without any."""
    found: dict[str, list[Question]] = {}
    notes = []
    for name, path in zip(names_of_files(paths), paths, strict=True):
        talks = read_whole(path).conversations[:limit]
        try:
            found[name] = questions_of(talks, unanswerable=unanswerable, history=history)
        except DataError as error:
            raise DataError(f"{at(path)}: {error}") from None
        if others := sum(each.scenario.get("kind") != KIND for each in talks):
            are = "conversation is" if others == 1 else "conversations are"
            notes.append(f"{name}: {others} {are} about no section, and left out.")
        if empty := sum(not one.section.strip() for one in found[name]):
            have = "question has" if empty == 1 else "questions have"
            notes.append(f"{name}: {empty} {have} an empty section: no reader can answer there.")
    return found, notes


def _notes(unanswerable: int | None, history: int, *, whole: bool, trained: bool, folds: int) -> list[str]:
    """What a reader of the table must know."""
    kept = "All questions" if unanswerable is None else f"At most {unanswerable} unanswerable questions a conversation"
    seen = f"{history or 'no'} earlier exchange{'s' if history > 1 else ''}"
    notes = [
        f"{kept}; a reader sees the section and {seen}. A refusal counts 1 where there is no answer, else 0.",
        f"An answer of several spans is compared {'as a whole' if whole else 'by its best span'}. "
        "95 % intervals are over sections.",
    ]
    if trained:
        notes.append(f"Trained on {folds - 1} of {folds} folds of the topics and asked about the other one.")
    return notes
