"""`duologue stats`: tables of numbers about conversations."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from ..data import DataError, load
from ..data import simquac as simquac_format
from ..data.loading import Loaded, names_of
from ..data.records import Record
from .output import say
from .stats_judges import judges
from .stats_learnt import intents, satisfaction
from .stats_preference import preference
from .stats_recllmsim import lacks, recllmsim
from .tables import AsJson, Figures, Force, ForceAll, Form, Out, draw_figures, give, read_whole

VALUES = 5
"""Values of a label that the terminal shows."""


class StatsGroup(TyperGroup):
    """A group whose first word may be a path: then its command is `logs`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments, with `logs` before a path or an option of it."""
        of_group = ("-h", "--help")
        if args and args[0] not in self.commands and args[0] not in of_group and _is_source(args):
            args = ["logs", *args]
        return list(super().parse_args(ctx, args))


def _is_source(args: Sequence[str]) -> bool:
    """Whether the first word, or one behind an option, is the path of something that is there, or looks like one."""
    words = args if args[0].startswith("-") else args[:1]
    return any(Path(word).exists() or "/" in word or "." in word for word in words if not word.startswith("-"))


stats = typer.Typer(
    cls=StatsGroup,
    help="Tables of numbers about conversations: `stats SRC...` for any, and more for those of a domain.",
    no_args_is_help=True,
    subcommand_metavar="SRC | COMMAND [OPTIONS]",
)


stats.command("recllmsim")(recllmsim)
stats.command("preference")(preference)
stats.command("judges")(judges)
stats.command("satisfaction")(satisfaction)
stats.command("intents")(intents)


@stats.callback()
def tables_of() -> None:
    """Tables of numbers about conversations."""


@stats.command("baseline")
def baseline(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A QuAC file: people's questions with their answers.")],
    seed: Annotated[int, typer.Option(help="Seed of the simulations.")] = 0,
    as_json: AsJson = False,
    form: Form = "rich",
    out: Out = None,
    force: Force = False,
) -> int:
    """Measure the offline speakers, which work by rules: the teacher on people's questions, the student with that teacher."""
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
        force=force,
    )
    return 0


@stats.command("logs")
def logs(
    sources: Annotated[
        list[Path], typer.Argument(metavar="SRC...", help="Conversations of any kind: logs, data sets, runs.")
    ],
    as_json: AsJson = False,
    form: Form = "rich",
    out: Out = None,
    force: Force = False,
) -> int:
    """Count any conversations: messages, words, questions, refusals, tool calls, tokens, ends, lengths, labels."""
    from ..analysis.label_counts import LabelCounts, label_table
    from ..analysis.logs import log_statistics, log_tables
    from ..analysis.trust import Trusts
    from ..runs.label_origins import annotated_keys

    loaded = [load(path, stream=True) for path in sources]
    for each in loaded:
        for note in each.notes:
            say(f"{each.path}: {note}" if len(loaded) > 1 else note)
    statistics, labels, tables = [], [], []
    for name, path, each in zip(names_of(sources), sources, loaded, strict=True):
        models = annotated_keys(path)
        counts = LabelCounts(Trusts.of((), models))
        statistics.append(log_statistics(name, counts.passing(each)))
        rows = counts.rows(Trusts.of(each, models)) if counts.values else []
        labels.append(rows)
        if rows or counts.texts:
            of = name if len(loaded) > 1 else ""
            tables.append(label_table(rows, counts.texts, of, short=VALUES if form == "rich" else 0))
    give(
        [
            each.model_dump(mode="json") | {"labels": [row.model_dump(mode="json") for row in rows]}
            for each, rows in zip(statistics, labels, strict=True)
        ],
        [*log_tables(statistics), *tables],
        as_json=as_json,
        form=form,
        out=out,
        force=force,
    )
    return 1 if any(each.broken for each in loaded) else 0


@stats.command("simquac")
def simquac(
    sources: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Data sets or runs of teacher-student conversations.")
    ],
    as_json: AsJson = False,
    form: Form = "rich",
    out: Out = None,
    figures: Figures = None,
    force: ForceAll = False,
) -> int:
    """Answers, coverage of the section, flow and questions of each file, and tests between each pair of files."""
    from ..analysis.simquac import simquac_statistics
    from ..analysis.simquac.figures import simquac_figures

    by_name = {name: read_whole(path) for name, path in zip(names_of_files(sources), sources, strict=True)}
    lacking = {name: line for name, loaded in by_name.items() if (line := _no_section(loaded, "stats simquac"))}
    if len(lacking) == len(by_name):
        raise DataError(next(iter(lacking.values())))
    for line in lacking.values():
        say(f"left out: {line}")
    statistics = simquac_statistics({name: loaded for name, loaded in by_name.items() if name not in lacking})
    if figures is not None:
        draw_figures(simquac_figures(statistics), figures, out, force=force)
    give(statistics.to_json(), statistics.tables(), as_json=as_json, form=form, out=out, force=force)
    return 0


@stats.command("teacher")
def teacher(
    source: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="teacher_sim_topics.txt, or a run of a teacher on people's questions."),
    ],
    reference: Annotated[
        Path | None,
        typer.Option(
            "--reference",
            metavar="FILE",
            help="People's answers. Not needed for teacher_sim_topics.txt, which has them.",
        ),
    ] = None,
    rule: Annotated[
        Literal["ours", "published"],
        typer.Option(
            "--rule",
            help="When two answers overlap (the paper's Table 3). ours: one contains the other, or a line of it; published: one contains the other as a whole, lines joined, as the paper counts.",
        ),
    ] = "ours",
    as_json: AsJson = False,
    form: Form = "rich",
    out: Out = None,
    figures: Figures = None,
    force: ForceAll = False,
) -> int:
    """A teacher's answers compared with people's: overlap, F1 and HEQ, lengths, valid answers by attempt."""
    from ..analysis.simquac import teacher_statistics
    from ..analysis.simquac.figures import teacher_figures

    loaded, references = read_whole(source), None if reference is None else read_whole(reference)
    if line := _no_section(loaded, "stats teacher"):
        raise DataError(line)
    statistics = teacher_statistics(source.name or str(source), loaded, references, rule)
    if figures is not None:
        draw_figures(teacher_figures(statistics), figures, out, force=force)
    give(statistics.model_dump(mode="json"), statistics.tables(), as_json=as_json, form=form, out=out, force=force)
    return 0


def _no_section(loaded: Loaded, command: str) -> str:
    """Why the command cannot use a file; empty if it has a conversation about a section."""
    if any(map(simquac_format.DOMAIN.is_about, loaded)):
        return ""
    return (
        f"{lacks(loaded, 'a section')}: {command} needs SimQuAC or QuAC JSON, teacher topics, "
        "or a run or records of such conversations: give those"
    )


def names_of_files(paths: Sequence[Path]) -> list[str]:
    """A name for each path: the file's name; the whole path if two files share a name; numbered if a path repeats."""
    file_names = [path.name or str(path) for path in paths]
    names: list[str] = []
    for path, file_name in zip(paths, file_names, strict=True):
        unique = all(other == path for other, name in zip(paths, file_names, strict=True) if name == file_name)
        name = file_name if unique else str(path)
        earlier = sum(str(other) == str(path) for other in paths[: len(names)])
        names.append(f"{name} ({earlier + 1})" if earlier else name)
    return names
