"""`duologue stats satisfaction` and `duologue stats intents`: what words tell of them, with users held out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ..data import DataError
from ..data.text.languages import Language
from ..errors import SettingError, at
from .output import say, stderr
from .tables import AsJson, Force, Form, Out, check_given, give, read_whole

if TYPE_CHECKING:
    from ..data.loading import Loaded

MODELS = ("forest", "logistic")

Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="A model of words, may be given more than once (xgboost: extra xgboost). Default: forest, logistic.",
    ),
]
Trees = Annotated[int, typer.Option(min=1, max=10_000, help="Trees of a forest, or of boosted trees.")]
Seeds = Annotated[int, typer.Option(min=1, max=100, help="Seeds that each model is taught with.")]
Seed = Annotated[int, typer.Option(help="Seed of the users that are drawn for intervals.")]
Split = Annotated[
    Literal["users", "published"],
    typer.Option(
        help="users: whole users are held out, in five folds; published: a fifth of the turns at random, of whose users and "
        "conversations others are learnt from."
    ),
]


def satisfaction(
    source: Annotated[
        Path,
        typer.Argument(metavar="SRC", help="Conversations whose users say how satisfied they are with each reply."),
    ],
    task: Annotated[
        list[str] | None,
        typer.Option(
            "--task",
            metavar="NAME",
            help="Only this, may be given more than once: five (1 to 5), points (the same as a number), binary (3 or less), "
            "reasons (why), six (why, or satisfied), pairs (the better of two replies). Default: all.",
        ),
    ] = None,
    text: Annotated[
        Literal["talk", "reply"],
        typer.Option(help="talk: profile, task and all that was said up to the reply, as published; reply: it alone."),
    ] = "talk",
    following: Annotated[bool, typer.Option("--following", help="Read what the user says next too.")] = False,
    label: Annotated[str, typer.Option(help="Label in which SRC has what people say of a reply.")] = "satisfaction",
    split: Split = "users",
    model: Models = None,
    seeds: Seeds = 1,
    trees: Trees = 100,
    seed: Seed = 0,
    as_json: AsJson = False,
    form: Form = "rich",
    out: Out = None,
    force: Force = False,
) -> int:
    """Tell satisfaction from words: 1 to 5, a number, dissatisfied or not, why, the better of two replies."""
    from ..analysis.identification.values import learner
    from ..analysis.satisfaction import measure_satisfaction, told_turns
    from ..analysis.satisfaction.report import TASKS, TaskName

    if odd := [name for name in task or () if name not in TASKS]:
        raise SettingError(f"--task {odd[0]}: is no task: give {', '.join(TASKS)}")
    tasks: list[TaskName] = [name for name in TASKS if not task or name in task]
    for name in model or ():
        learner(name)
    check_given(out, as_json=as_json, form=form, force=force)
    loaded = read_whole(source)
    for note in loaded.notes:
        say(note)
    with stderr.status("cuts texts into words"):
        turns = told_turns(list(loaded.conversations), text, following=following, label=label)
    if not turns:
        raise DataError(
            f"{at(source)}: no reply has a label {label!r} of 1 to 5: give conversations whose users say how satisfied "
            "they are, such as people's second study of RecLLMSim, or name the label (--label)"
        )
    with stderr.status("begins") as status:
        report = measure_satisfaction(
            turns,
            model or MODELS,
            tasks=tasks,
            split=split,
            reads=f"{text} and next message" if following else text,
            trees=trees,
            seeds=seeds,
            seed=seed,
            trust=_trust(source, loaded, label),
            watch=status.update,
        )
    if not report.scores.rows:
        raise DataError(
            f"{at(source)}: {len(turns)} labelled replies of {len({turn.judged.user for turn in turns})} users are too few, or say "
            f"too much the same, for {', '.join(tasks)}: give conversations of more users"
        )
    give(
        report.to_json(),
        [report.scores.brief()] if form == "rich" else report.tables(),
        as_json=as_json,
        form=form,
        out=out,
        force=force,
    )
    return 1 if loaded.broken else 0


def intents(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="Conversations whose users' messages have an intent.")],
    side: Annotated[Literal["people", "simulated"], typer.Option(help="Whose messages.")] = "people",
    language: Annotated[Language, typer.Option(help="Language in which messages are read.")] = "zh",
    split: Split = "users",
    model: Models = None,
    seeds: Seeds = 1,
    trees: Trees = 100,
    seed: Seed = 0,
    as_json: AsJson = False,
    form: Form = "rich",
    out: Out = None,
    force: Force = False,
) -> int:
    """Tell what a user's message is for from its words, and from the talk up to it."""
    from ..analysis.identification import intent_turns, measure_intents

    check_given(out, as_json=as_json, form=form, force=force)
    loaded = read_whole(source)
    for note in loaded.notes:
        say(note)
    with stderr.status("cuts texts into words"):
        turns, several = intent_turns(loaded.conversations, side, language)
    if not turns:
        other = "people" if side == "simulated" else "simulated"
        raise DataError(
            f"{at(source)}: no message of {'simulated users' if side == 'simulated' else 'people'} in {language} has exactly "
            f"one intent: give conversations such as people's first study of RecLLMSim, --side {other}, or another "
            "--language"
        )
    trust = _trust(source, loaded, "intent", side)
    with stderr.status("begins") as status:
        report = measure_intents(
            turns,
            model or MODELS,
            split=split,
            several=several,
            trees=trees,
            seeds=seeds,
            seed=seed,
            trust=trust,
            watch=status.update,
        )
    give(
        report.to_json(),
        [report.scores.brief()] if form == "rich" else report.tables(),
        as_json=as_json,
        form=form,
        out=out,
        force=force,
    )
    return 1 if loaded.broken else 0


def _trust(source: Path, loaded: "Loaded", label: str, side: str = "") -> str:
    """How far the label of messages that is told can be trusted."""
    from ..analysis.trust import Trusts
    from ..runs.label_origins import annotated_keys

    trusts = Trusts.of(loaded.conversations, annotated_keys(source))
    return trusts.note(label, [side] if side else (), of_messages=True)
