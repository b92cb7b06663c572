"""`duologue stats`: numbers about conversations."""

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ..data import DataError, load
from ..data import simquac as simquac_format
from ..data.loading import Loaded, description_of
from ..data.records import Record
from ..data.text.languages import Language
from ..errors import at
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

    by_name = {name: load(path) for name, path in zip(_names(sources), sources, strict=True)}
    lacking = {name: line for name, loaded in by_name.items() if (line := _no_section(loaded, "stats simquac"))}
    if len(lacking) == len(by_name):
        raise DataError(next(iter(lacking.values())))
    for line in lacking.values():
        say(f"left out: {line}")
    statistics = simquac_statistics({name: loaded for name, loaded in by_name.items() if name not in lacking})
    if figures is not None:
        draw_figures(simquac_figures(statistics), figures)
    give(statistics.to_json(), statistics.tables(), as_json=as_json, form=form, out=out)
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
    rule: Annotated[
        Literal["ours", "published"],
        typer.Option(
            "--rule",
            help="How Table 3 compares answers. ours: they overlap if one contains the other or a line of it; published: only as a whole, lines joined, as for the figures that the paper prints.",
        ),
    ] = "ours",
    as_json: AsJson = False,
    form: Form = "rich",
    out: Out = None,
    figures: Figures = None,
) -> int:
    """A teacher's answers beside people's: how they overlap, F1 and HEQ, lengths, validity by attempt."""
    from ..analysis.simquac import teacher_statistics
    from ..analysis.simquac.figures import teacher_figures

    loaded, references = load(source), None if reference is None else load(reference)
    if line := _no_section(loaded, "stats teacher"):
        raise DataError(line)
    statistics = teacher_statistics(source.name or str(source), loaded, references, rule)
    if figures is not None:
        draw_figures(teacher_figures(statistics), figures)
    give(statistics.model_dump(mode="json"), statistics.tables(), as_json=as_json, form=form, out=out)
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
    from ..analysis.recllmsim import RecllmsimStatistics, Talks, recllmsim_statistics
    from ..analysis.recllmsim.figures import recllmsim_figures

    names = list(RecllmsimStatistics.model_fields)
    for name in tables or ():
        if name not in names:
            raise DataError(f"there is no table {name!r}, only {', '.join(names)}")
    length: Callable[[str], Any] = len if tokenizer is None else _function(tokenizer)
    loaded = load(source)
    for note in loaded.notes:
        say(note)
    talks = Talks.of(loaded)
    if not talks.talks:
        raise DataError(
            f"{_lacks(loaded, 'a task with a profile')}: stats recllmsim needs RecLLMSim files, "
            "or a run or records of such conversations: give those"
        )
    unit = "characters" if tokenizer is None else f"tokens of {tokenizer}"
    statistics = recllmsim_statistics(talks, length=length, unit=unit, language=language)
    if figures is not None:
        draw_figures(recllmsim_figures(statistics), figures)
    value, shown = statistics.to_json(), statistics.by_name()
    if tables:
        names = [name for name in names if name in tables]
        value = {name: value[name] for name in names} | {"notes": {name: value["notes"][name] for name in names}}
    give(value, [shown[name].table() for name in names], as_json=as_json, form=form, out=out)
    return 1 if loaded.broken else 0


def _no_section(loaded: Loaded, command: str) -> str:
    """Why the command has nothing to count in a file; empty where a conversation is about a section."""
    if any(map(simquac_format.DOMAIN.is_about, loaded)):
        return ""
    return (
        f"{_lacks(loaded, 'a section')}: {command} needs SimQuAC or QuAC JSON, teacher topics, "
        "or a run or records of such conversations: give those"
    )


def _lacks(loaded: Loaded, topic: str) -> str:
    """What a path is, how much it holds, and that nothing of it is about what is wanted."""
    count = f"with {len(loaded)} conversation{'' if len(loaded) == 1 else 's'}, none about {topic}"
    return f"{at(loaded.path)}: is {description_of(loaded.kind)} {count if len(loaded) else 'without any conversation'}"


def _function(name: str) -> Callable[[str], Any]:
    """The function of a module on the path, or in this folder; DataError says what is wrong with the name."""
    module, _, function = name.partition(":")
    sys.path.append(str(Path.cwd()))
    try:
        attribute: Any = import_module(module)
        for part in function.split("."):
            attribute = getattr(attribute, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise DataError(f"--tokenizer {name}: {error}: give MODULE:FUNCTION, such as jieba:lcut") from None
    finally:
        sys.path.pop()
    if not callable(attribute):
        raise DataError(f"--tokenizer {name}: is no function: give MODULE:FUNCTION, such as jieba:lcut")
    from ..analysis.recllmsim.counts import counted

    tokens: Callable[[str], Any] = attribute
    try:
        counted(tokens, "a text")
    except Exception as error:
        raise DataError(
            f"--tokenizer {name}: cannot count a text ({error}): give a function of a text that gives its tokens or their number"
        ) from None
    return tokens


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
