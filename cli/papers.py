"""`duologue papers`: the tables of the papers on SimQuAC and RecLLMSim, and their baselines and data."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..data import DataError
from ..data import simquac as simquac_data
from ..data.files.json import write_lines
from ..data.files.paths import names_of
from ..data.loading import Loaded, description_of, load
from ..data.recllmsim import read_pool, read_tasks, shipped_tasks
from ..data.text.languages import Language
from ..errors import SettingError, at
from . import options
from .options import argument, option
from .printing import TableFormat, check_apart, check_free, give, print_json, put, say, stderr
from .running import HowToRun, carried_out, carrying, how_to_run

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ..analysis.tables import TabledReport
    from ..graphs import Cast

TEACHER = "teacher"
"""Prefix of a reader that is the simquac cast's teacher."""


@dataclass(frozen=True)
class Asked:
    """What a command line asks for."""

    sources: tuple[str, ...]
    train: Path | None
    models: tuple[str, ...]
    without: tuple[str, ...]
    language: Language | None
    form: TableFormat
    out: Path | None
    how: HowToRun

    def paths(self, least: int = 1, most: int | None = None) -> list[Path]:
        """The sources; SettingError for too few or too many."""
        if not least <= len(self.sources) <= (most or len(self.sources)):
            raise SettingError(
                f"SRC: give {least if most in (None, least) else f'{least} or {most}'}, not {len(self.sources)}"
            )
        return [Path(source) for source in self.sources]

    def give(self, report: "TabledReport") -> int:
        """Print a report; 1 if a model gave no answer about some."""
        give(report, self.form, self.out, self.how.as_json)
        return int(bool(report.to_json().get("unanswered")))

    def answers(self, requests: Mapping[str, Any], what: str) -> Mapping[str, Sequence[Any]]:
        """The answers of each chat model, under one set of bounds."""
        from ..runs.ask import questions_planned

        askings = dict(requests)
        if not askings:
            return {}

        async def work(settings: Any) -> dict[str, list[Any]]:
            return {name: await asking.answers(settings) for name, asking in askings.items()}

        return carried_out(
            self.how,
            lambda _: questions_planned(askings.values(), what),
            work,
            models=[asking.model for asking in askings.values()],
            kept="the same command with --replies goes on",
        )


@how_to_run("limit", "repeats", "shard", "ray")
def papers_command(
    paper: Annotated[str, argument("PAPER", "simquac or recllmsim.")],
    what: Annotated[str, argument("WHAT", "A wrong one lists all.")],
    sources: Annotated[list[str] | None, argument("[SRC...]", "Data sets or runs; docs/papers says which.")] = None,
    train: Annotated[Path | None, option("predict: learn from these too.", metavar="SRC")] = None,
    model: options.Models = None,
    without: Annotated[list[str] | None, option("preference: leave this one out.", metavar="PERSON:ID")] = None,
    language: options.LanguageOf = None,
    form: options.Form = "text",
    out: options.File = None,
    *,
    how: HowToRun,
) -> int:
    """Print the tables of the papers.

    simquac: stats SRC... (Table 5), teacher SRC [PEOPLE] (Table 3), validators SRC, readers SRC... (Table 7), baseline SRC,
    repair SRC --out FILE. recllmsim: stats SRC, tasks [FILE], profiles N [POOL], predict SRC..., intents SRC, satisfaction
    SRC, judges SRC, preference ANSWERS [STUDY] (Table 4). Exit code 1: a model gave no answer about some.
    """
    functions = PAPERS.get(paper)
    if functions is None:
        raise SettingError(f"PAPER: {paper!r} is none: give {' or '.join(PAPERS)}")
    if what not in functions:
        raise SettingError(f"WHAT: {paper} has no {what!r}: give {', '.join(functions)}")
    check_apart(out, *(sources or ()))
    asked = Asked(
        tuple(sources or ()), train, tuple(dict.fromkeys(model or ())), tuple(without or ()), language, form, out, how
    )
    if out is not None and not how.plan and what != "profiles":
        check_free(out)
    with how.keys():
        return functions[what](asked)


# SimQuAC


def _simquac_stats(asked: Asked) -> int:
    from ..analysis.simquac import simquac_statistics

    paths = asked.paths()
    return asked.give(simquac_statistics(dict(zip(names_of(paths), map(_about_sections, paths), strict=True))))


def _teacher(asked: Asked) -> int:
    from ..analysis.simquac import teacher_statistics

    source, *people = asked.paths(1, 2)
    references = load(people[0]) if people else None
    return asked.give(teacher_statistics(source.name or str(source), _about_sections(source), references))


def _validators(asked: Asked) -> int:
    from ..analysis.simquac import compare_validators

    return asked.give(compare_validators(load(asked.paths(1, 1)[0])))


def _baseline(asked: Asked) -> int:
    from ..studies.papers import baseline

    return asked.give(baseline(asked.paths(1, 1)[0], asked.how.seed or 0))


def _repair(asked: Asked) -> int:
    (source,) = asked.paths(1, 1)
    if asked.out is None:
        raise SettingError("--out is missing: name the file to write")
    changes_file = Path(f"{asked.out}.changes.jsonl")
    check_free(changes_file)
    conversations = _about_sections(source)
    if any(map(simquac_data.by_people, conversations)):
        raise DataError(
            f"{source}: holds people's answers, and the repair would change correct ones too (21 of 446 in the open QuAC "
            "file): give a file of a model's answers; duologue.data.simquac.repair repairs these all the same"
        )
    mended, changes = simquac_data.repair(conversations)
    say(*(f"left out: {line}" for line in simquac_data.write(mended, asked.out)))
    write_lines(changes_file, (change.model_dump(mode="json") for change in changes))
    kinds = [change.kind for change in changes]
    put(", ".join(f"{kind.replace('_', ' ')} {kinds.count(kind)}" for kind in dict.fromkeys(kinds)) or "nothing mended")
    put(f"data set: {asked.out}", f"changes:  {changes_file}")
    return 0


def _readers(asked: Asked) -> int:
    from ..analysis.simquac.readers import first, nearest, read, readers_table, score_reader
    from ..analysis.tables import TablesReport

    paths = asked.paths()
    named = zip(names_of(paths), paths, strict=True)
    sets = {name: simquac_data.questions_of(load(path).conversations) for name, path in named}
    specs = asked.models or ("retriever",)
    plain = {"retriever": ("nearest sentence", nearest), "first": ("first sentence", first)}
    casts = {spec: _reader(spec) for spec in specs if spec not in plain}
    rows = read(dict(plain[spec] for spec in specs if spec in plain), sets)
    for (spec, name), found in (_read(asked, casts, sets) if casts else {}).items():
        answers, failures = ([one[place] for one in found] for place in (0, 1))
        rows.append(score_reader(spec, sets[name], answers, name, failures=failures))
    rows.sort(key=lambda row: list(sets).index(row["data"]))
    notes = (
        f"Unanswerable questions of a conversation: {simquac_data.UNANSWERABLE}; a reader sees the section and no earlier "
        "turn. A refusal counts 1 where there is no answer, else 0. An answer of several spans is compared by its best "
        "span. 95 % intervals are over sections.",
    )
    asked.give(TablesReport(by_name={"readers": readers_table(rows, notes)}))
    return int(any(row["failed"] for row in rows))


def _reader(spec: str) -> "Cast":
    """The reader or teacher of an identifier; SettingError for anything else."""
    from ..graphs import single_turn

    kind, _, model = spec.partition(":")
    if (":" not in spec and spec != "offline") or (model if kind == TEACHER else spec).startswith(
        ("replay:", "people:")
    ):
        raise SettingError(
            f"--model {spec}: is not a model that reads: give retriever, first, teacher:MODEL or a model"
        )
    is_teacher = spec == "offline" or kind == TEACHER
    return single_turn.teacher(model or spec) if is_teacher else single_turn.reader(spec)


def _read(asked: Asked, casts: "Mapping[str, Cast]", sets: Mapping[str, Any]) -> dict[tuple[str, str], Any]:
    """The answers of each cast about each data set, one after the other, under one set of bounds."""
    from ..graphs.single_turn import answer_of, question_states
    from ..runs.ask import Runs

    works = {
        (spec, name): (cast, list(question_states(questions)), cast.limits)
        for spec, cast in casts.items()
        for name, questions in sets.items()
    }
    carry = carrying(asked.how, kept="the same command with --replies goes on")
    runs = Runs({", ".join(key): work for key, work in works.items()})
    talks = carry(runs, "questions", "each one answer")
    return {key: [answer_of(one) for one in talks[", ".join(key)]] for key in works}


def _about_sections(path: Path) -> Loaded:
    """The conversations of a source; DataError for one without a conversation about a section."""
    loaded = load(path)
    if not any(map(simquac_data.DOMAIN.is_about, loaded)):
        raise _lacking(loaded, "a section", "SimQuAC or QuAC JSON, teacher topics")
    return loaded


def _lacking(loaded: Loaded, topic: str, files: str) -> DataError:
    count = f"with {len(loaded)} conversation{'' if len(loaded) == 1 else 's'}, none about {topic}"
    held = count if len(loaded) else "without any conversation"
    return DataError(
        f"{at(loaded.path)}: is {description_of(loaded.kind)} {held}: this needs {files}, or a run or records of such "
        "conversations: give those"
    )


# RecLLMSim


def _recllmsim_stats(asked: Asked) -> int:
    from ..analysis.recllmsim import Talks, recllmsim_tables

    loaded = load(asked.paths(1, 1)[0])
    say(*loaded.notes)
    talks = Talks.of(loaded)
    if not talks.talks:
        raise _lacking(loaded, "a task with a profile", "RecLLMSim files")
    return asked.give(recllmsim_tables(talks)) or int(bool(loaded.broken))


def _tasks(asked: Asked) -> int:
    files = asked.paths(0, 1)
    contexts_of = read_tasks(files[0]) if files else shipped_tasks(asked.language or "en")
    if asked.how.as_json:
        print_json(contexts_of)
        return 0
    for name, contexts in contexts_of.items():
        put(f"{name} ({len(contexts)})", *(f"  {n}: {' '.join(text.split())}" for n, text in enumerate(contexts)))
    return 0


def _profiles(asked: Asked) -> int:
    """Write user profiles with a model, up to a number; the same command goes on."""
    from ..nodes.models.specs import chat_model
    from ..runs.profiles import agenerate, profiles_planned

    number, *pool = asked.sources or ("",)
    if not number.isdecimal() or not int(number) or len(pool) > 1 or len(asked.models) != 1:
        raise SettingError("give the number of profiles, and perhaps the pool to differ from, and one --model")
    count, language = int(number), asked.language or "en"
    file = asked.out or Path("out") / f"profiles-{language}.txt"
    writer = chat_model(asked.models[0])
    settings: dict[str, Any] = {"language": language, "pool": read_pool(Path(pool[0])).profiles if pool else ()}
    making = carried_out(
        asked.how,
        lambda _: profiles_planned(count, file, writer, **settings),
        lambda conduct: agenerate(count, file, writer, **settings, seed=asked.how.seed or 0, settings=conduct),
        models=[writer],
        kept=f"the finished profiles are in {file}; continue with the same command",
    )
    summary: dict[str, Any] = {"out": str(file), "profiles": len(making.profiles), "new": making.new}
    summary |= {"rejected": making.rejected, "usage": making.usage}
    summary |= {"failure": making.failure or None, "coverage": making.coverage.model_dump(mode="json")}
    if asked.how.as_json:
        print_json(summary)
    else:
        put("\n".join(f"{name}: {value}" for name, value in summary.items() if value is not None))
    if making.failure:
        missing = count - len(making.profiles)
        say(f"{missing} of {count} profiles are missing: {making.failure}; continue with the same command")
    return int(bool(making.failure))


def _predict(asked: Asked) -> int:
    from ..studies.papers import predict_profiles

    tested = [conversation for path in asked.paths() for conversation in load(path)]
    other = None if asked.train is None else load(asked.train)
    status = stderr.status("begins")

    def watch(line: str) -> None:
        status.start()  # only now: before it, the progress of asking models is shown
        status.update(line)

    try:
        found = predict_profiles(tested, other, asked.models, ask=asked.answers, watch=watch)
    finally:
        status.stop()
    return asked.give(found)


def _judges(asked: Asked) -> int:
    from ..studies.papers import judge_agreement

    loaded = load(asked.paths(1, 1)[0])
    return asked.give(judge_agreement(loaded, asked.models, ask=asked.answers))


def _intents(asked: Asked) -> int:
    from ..analysis.recllmsim.values import measure_intents

    return _from_words(measure_intents, asked)


def _satisfaction(asked: Asked) -> int:
    from ..analysis.recllmsim.values import FOREST, measure_satisfaction

    return _from_words(measure_satisfaction, asked, **FOREST)


def _from_words(measure: Any, asked: Asked, **forest: Any) -> int:
    from ..analysis.recllmsim.learning import MODELS, models_of

    models = models_of(asked.models or MODELS, **forest)
    loaded = load(asked.paths(1, 1)[0])
    with stderr.status("begins") as status:
        found = measure(loaded, models, watch=status.update)
    return asked.give(found) or int(bool(loaded.broken))


def _preference(asked: Asked) -> int:
    from ..studies.labels import study_preferences

    answers, *study = asked.paths(1, 2)
    return asked.give(study_preferences(answers, study[0] if study else None, without=asked.without))


PAPERS: Mapping[str, Mapping[str, Callable[[Asked], int]]] = {
    "simquac": {
        "stats": _simquac_stats,
        "teacher": _teacher,
        "validators": _validators,
        "readers": _readers,
        "baseline": _baseline,
        "repair": _repair,
    },
    "recllmsim": {
        "stats": _recllmsim_stats,
        "tasks": _tasks,
        "profiles": _profiles,
        "predict": _predict,
        "intents": _intents,
        "satisfaction": _satisfaction,
        "judges": _judges,
        "preference": _preference,
    },
}
