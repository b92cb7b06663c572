"""`duologue papers recllmsim`: Measure and make data as in the papers of RecLLMSim."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..data import DataError
from ..data.labels.reading import annotations_of
from ..data.recllmsim import read_pool, read_tasks, shipped_tasks
from ..data.text.languages import Language
from ..studies.recllmsim import DEFAULT
from .options.model_fields import extended
from .options.run import RunOptions, options_of_run
from .options.shared import (
    RatedSource,
    Yes,
    json_of,
    language_of,
    model_for,
    option,
    out_to,
    seed_of,
    study_of,
)
from .output.overwriting import check_unread
from .output.sources import lacks
from .output.tables import PRINTED, TableOutput, read_source
from .running.asking import OPTIONS, JournalOption, ask_models, asked, begun, check_journal
from .streams import print_json, put, say, stderr

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ..analysis.recllmsim.talks import TablesReport
    from ..runs.profiles import MadeProfiles

Words = Annotated[
    list[str] | None, model_for("over words: forest or logistic. May be repeated. Default: forest, logistic.")
]


def stats(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="Files of RecLLMSim, or a run about tasks.")],
    output: TableOutput = PRINTED,
) -> int:
    """Print the published tables: quality, counts, hallucination, behaviour, profiles, satisfaction."""
    from ..analysis.recllmsim import Talks, recllmsim_tables

    loaded = read_source(source)
    say(*loaded.notes)
    talks = Talks.of(loaded)
    if not talks.talks:
        labelled = any(map(annotations_of, loaded))
        raise DataError(
            f"{lacks(loaded, 'a task with a profile')}: the tables need RecLLMSim files, or a run or records of such "
            "conversations: give those"
            f"{'. Labels of other conversations are used by duologue compare' if labelled else ''}"
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
        put(f"{name} ({len(contexts)})")
        for number, context in enumerate(contexts):
            put(f"  {number}: {' '.join(context.split())}")
    return 0


@extended(options_of_run("yes", "replies", "frozen"))
def profiles(
    count: Annotated[int, typer.Argument(metavar="N", help="Profiles that the file is to have.", min=1, max=1_000_000)],
    model: Annotated[str, model_for("to write the profiles: openai:NAME, PROVIDER:NAME or offline.")] = "offline",
    out: Annotated[Path | None, out_to("this file. Default: out/profiles-LANGUAGE.txt.", "FILE")] = None,
    pool: Annotated[
        Path | None,
        option("Differ from the user profiles in this file or folder.", "--profiles", metavar="SRC"),
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

            return agenerate(count, file, writer, **settings, conduct=conduct, watch=watch)

        left = f"the finished profiles are in {file}; continue with the same command"
        making = asked(work, conduct, f"0 of {count} profiles", left)
    kinds = making.coverage.model_dump(mode="json")
    summary: dict[str, Any] = {
        "out": str(making.path),
        "profiles": len(making.profiles),
        "new": making.new,
        "rejected": making.rejected,
        "usage": making.usage,
        "stop": making.stop,
        "failure": making.failure or None,
        "coverage": kinds,
    }
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

    def report(ask: Any, watch: Callable[[str], None]) -> "TablesReport":
        return predict_profiles(tested, other, names, ask=ask, notify=say, watch=watch)

    return _measured(report, journal, options, output)


def intents(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="Conversations whose users' messages have an intent.")],
    model: Words = None,
    output: TableOutput = PRINTED,
) -> int:
    """Predict intents of users' messages from words: of the message, and of the conversation up to it."""
    from ..analysis.recllmsim.learning import models_of
    from ..analysis.recllmsim.values import measure_intents

    models = models_of(model or DEFAULT)
    output.check()
    loaded = read_source(source)
    with stderr.status("begins") as status:
        output.show(measure_intents(loaded, models, watch=status.update))
    return 1 if loaded.broken else 0


def satisfaction(source: RatedSource, model: Words = None, output: TableOutput = PRINTED) -> int:
    """Predict satisfaction from words: 1 to 5, a number, dissatisfaction, or its reason."""
    from ..analysis.recllmsim.learning import models_of
    from ..analysis.recllmsim.values import FOREST, measure_satisfaction

    models = models_of(model or DEFAULT, **FOREST)
    output.check()
    loaded = read_source(source)
    with stderr.status("begins") as status:
        output.show(measure_satisfaction(loaded, models, watch=status.update))
    return 1 if loaded.broken else 0


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
    loaded = read_source(source)
    names = list(dict.fromkeys(model or ()))

    def report(ask: Any, watch: Callable[[str], None]) -> "TablesReport":
        return judge_agreement(loaded, names, ask=ask, notify=say)

    return _measured(report, journal, options, output)


def preference(
    answers: Annotated[Path, typer.Argument(metavar="ANSWERS", help="The answers of `duologue label --study`.")],
    study: Annotated[Path | None, study_of(", for the names of its two systems")] = None,
    without: Annotated[
        list[str] | None,
        option("Leave out a preference that its reason contradicts; may be repeated.", metavar="PERSON:ID"),
    ] = None,
    output: TableOutput = PRINTED,
) -> int:
    """Print which system people prefer in a side-by-side study, how far they agree, and their reasons."""
    from ..studies.people_answers import study_preferences

    output.show(study_preferences(answers, study, without=without or ()))
    return 0


COMMANDS: Mapping[str, Callable[..., int]] = {
    "stats": stats,
    "tasks": tasks,
    "profiles": profiles,
    "predict": predict,
    "intents": intents,
    "satisfaction": satisfaction,
    "judges": judges,
    "preference": preference,
}


def _measured(
    report: "Callable[[Any, Callable[[str], None]], TablesReport]",
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
    return 1 if found.about.get("unanswered") else 0
