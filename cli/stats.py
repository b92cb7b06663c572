"""`duologue stats`: numbers about conversations."""

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from ..data import DataError, load
from ..data import simquac as simquac_format
from ..data.records import Record
from ..data.text.languages import Language
from .output import say
from .tables import AsJson, Figures, Form, Out, draw_figures, give

stats = typer.Typer(help="Numbers about conversations.", no_args_is_help=True)


@stats.callback()
def kinds() -> None:
    """Numbers about conversations."""


@stats.command("baseline")
def baseline(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A QuAC file: people's questions with their answers.")],
    seed: Annotated[int, typer.Option(help="Seed of the simulations.")] = 0,
    as_json: AsJson = False,
    form: Form = "rich",
    out: Out = None,
) -> int:
    """Measure the embedded baseline: its teacher on people's questions, its student on its own."""
    from .. import graphs, runs
    from ..analysis import Table
    from ..analysis.simquac import first_sentence, random_sentence, score_student, score_teacher
    from ..analysis.simquac.answers import answered_by
    from ..nodes.limits import Limits
    from ..nodes.simquac import next_question

    references = simquac_format.read(source)
    topics = simquac_format.read_topics(source)
    if not references:
        raise DataError(f"{source}: holds no conversation: give a QuAC file")
    scenarios = graphs.simquac.scenarios(topics)

    def simulated(cast: graphs.Cast) -> list[Any]:
        return runs.simulate(cast, scenarios, limits=Limits(seed=seed))

    plain = graphs.simquac.cast()
    teachers = [
        score_teacher("offline", simulated(graphs.simquac.cast(user=f"replay:{source}")), references),
        score_teacher("first sentence", answered_by(first_sentence, references), references),
        score_teacher("random sentence", answered_by(random_sentence, references), references),
    ]
    students = [
        score_student("offline", simulated(plain)),
        score_student(
            "offline, no prompt selector", simulated(plain.replace(user_prompt_selector=next_question(plain.prompts)))
        ),
    ]
    rows: dict[str, Sequence[Record]] = {"teachers": teachers, "students": students}
    give(
        {name: [row.model_dump(mode="json") for row in group] for name, group in rows.items()},
        [Table.across("Teachers on people's questions", teachers), Table.across("Students", students)],
        as_json=as_json,
        form=form,
        out=out,
    )
    return 0


@stats.command("simquac")
def simquac(
    sources: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Data sets or runs of teacher-student conversations.")
    ],
    as_json: AsJson = False,
    form: Form = "rich",
    out: Out = None,
    figures: Figures = None,
) -> int:
    """Answers, coverage, flow and questions of each file, and each pair of files compared."""
    from ..analysis.simquac import simquac_statistics
    from ..analysis.simquac.figures import simquac_figures

    told = simquac_statistics({name: load(path) for name, path in zip(_names(sources), sources, strict=True)})
    if figures is not None:
        draw_figures(simquac_figures(told), figures)
    give(told.to_json(), told.tables(), as_json=as_json, form=form, out=out)
    return 0


@stats.command("teacher")
def teacher(
    source: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="teacher_sim_topics.txt, or a run of a teacher on people's questions."),
    ],
    reference: Annotated[
        Path | None,
        typer.Option("--reference", metavar="FILE", help="People's answers; teacher topics hold them themselves."),
    ] = None,
    as_json: AsJson = False,
    form: Form = "rich",
    out: Out = None,
    figures: Figures = None,
) -> int:
    """A teacher's answers beside people's: how they overlap, F1 and HEQ, lengths, validity by attempt."""
    from ..analysis.simquac import teacher_statistics
    from ..analysis.simquac.figures import teacher_figures

    references = None if reference is None else load(reference)
    told = teacher_statistics(source.name or str(source), load(source), references)
    if figures is not None:
        draw_figures(teacher_figures(told), figures)
    give(told.model_dump(mode="json"), told.tables(), as_json=as_json, form=form, out=out)
    return 0


@stats.command("recllmsim")
def recllmsim(
    source: Annotated[
        Path, typer.Argument(metavar="SRC", help="RecLLMSim files, or a run, of conversations about tasks.")
    ],
    tables: Annotated[
        list[str] | None, typer.Option("--table", help="Only this table, by its key; may be given several times.")
    ] = None,
    language: Annotated[
        Language | None, typer.Option(help="Language of the texts that are measured. Default: as said.")
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:FUNCTION", help="What lengths are counted by: text in, tokens or their number out."
        ),
    ] = None,
    as_json: AsJson = False,
    form: Form = "rich",
    out: Out = None,
    figures: Figures = None,
) -> int:
    """Quality, counts, hallucination, behaviour, profiles and satisfaction, of simulated users and of people."""
    from ..analysis.recllmsim import RecllmsimStatistics, recllmsim_statistics
    from ..analysis.recllmsim.figures import recllmsim_figures

    names = list(RecllmsimStatistics.model_fields)
    for name in tables or ():
        if name not in names:
            raise DataError(f"there is no table {name!r}, only {', '.join(names)}")
    length: Callable[[str], Any] = len if tokenizer is None else _function(tokenizer)
    loaded = load(source)
    for note in loaded.notes:
        say(note)
    unit = "characters" if tokenizer is None else f"tokens of {tokenizer}"
    told = recllmsim_statistics(loaded, length=length, unit=unit, language=language)
    if figures is not None:
        draw_figures(recllmsim_figures(told), figures)
    value, shown = told.to_json(), told.by_name()
    if tables:
        names = [name for name in names if name in tables]
        value = {name: value[name] for name in names} | {"notes": {name: value["notes"][name] for name in names}}
    give(value, [shown[name].table() for name in names], as_json=as_json, form=form, out=out)
    return 1 if loaded.broken else 0


def _function(name: str) -> Callable[[str], Any]:
    """The function of a module on the path, or in this folder; DataError says what is wrong with the name."""
    module, _, function = name.partition(":")
    sys.path.append(str(Path.cwd()))
    try:
        found: Any = import_module(module)
        for part in function.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise DataError(f"--tokenizer {name}: {error}: give MODULE:FUNCTION, such as jieba:lcut") from None
    finally:
        sys.path.pop()
    function_found: Any = found
    if not callable(found):
        raise DataError(f"--tokenizer {name}: is no function: give MODULE:FUNCTION, such as jieba:lcut")
    from ..analysis.recllmsim.counts import counted

    try:
        counted(function_found, "a text")
    except Exception as error:
        raise DataError(
            f"--tokenizer {name}: cannot count a text ({error}): give a function of a text that gives its tokens or their number"
        ) from None
    return found  # type: ignore[no-any-return]


def _names(paths: Sequence[Path]) -> list[str]:
    """A name for each path: the file's; as it was given where two files have one name; numbered where it is twice."""
    short = [path.name or str(path) for path in paths]
    names: list[str] = []
    for path, name in zip(paths, short, strict=True):
        alone = all(other == path for other, same in zip(paths, short, strict=True) if same == name)
        whole = name if alone else str(path)
        again = sum(str(other) == str(path) for other in paths[: len(names)])
        names.append(f"{whole} ({again + 1})" if again else whole)
    return names
