"""`duologue recllmsim identify`: user-attribute prediction from conversations, beside the label prior."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ...data.text.languages import Language
from ...studies.recllmsim.attribute_prediction import (
    DEFAULT,
    NAMES,
    OFFLINE,
    TOP,
    AttributePrediction,
    SplitChoice,
    is_trained,
    mixture_of,
    trained_models,
)
from ...studies.sources import MOST_DRAWN
from ..options.model_fields import extended
from ..options.run import RunOptions
from ..options.sections import TRAINING
from ..options.shared import Draw, Seeds, Trees, Yes, answers_in, language_of, model_for, option, seed_of, split_by
from ..output.sources import say_notes
from ..output.tables import PRINTED, TableOutput, read_drawn
from ..running.asking import OPTIONS, JournalOption, ask_models, check_journal
from ..streams import say, stderr

MIXTURE = "Mixtures of simulated users and people"
CONVERSATIONS = "Conversations and options"
"""Sections of the help."""


@extended(OPTIONS)
def identify_command(
    sources: Annotated[
        list[Path],
        typer.Argument(metavar="SRC...", help="Conversations of RecLLMSim, simulated and people's, or similar ones."),
    ],
    setting: Annotated[
        Literal["sim", "human", "sim2human", "human2sim", "sim4human"],
        option(
            "Train and test on simulated users, on people, or on one group and then the other. sim4human: train on "
            "both groups, and test on people."
        ),
    ] = "human",
    model: Annotated[
        list[str] | None,
        model_for(
            f"to predict: {', '.join(NAMES)} (xgboost: extra stats), offline "
            "(rules), or a chat model that ranks options, such as openai:NAME. May be repeated. Default: forest, "
            "logistic, offline."
        ),
    ] = None,
    split: Annotated[
        SplitChoice,
        split_by(
            "a random fifth of the conversations, whose users are mostly in training too. "
            "conversations: five folds of conversations, each tested once. both: one table of users and published. "
            "all: one table of the three, with the effect of user leakage."
        ),
    ] = "users",
    answers: Annotated[
        Path | None, answers_in(" of `duologue label --labels profile_personality`, and add a row of people's guesses")
    ] = None,
    journal: JournalOption = None,
    pairs: Annotated[
        bool,
        option(
            "Take only the four published pairs: travel habits from conversations about travel, dining preferences "
            "from "
            "recipes, spending habits from gifts, daily interests from skills.",
            "--pairs",
        ),
    ] = False,
    ratio: Annotated[
        float | None,
        option(
            "Mix in this number of simulated conversations for each of people's (sim4human). Default: all.",
            section=MIXTURE,
            min=0,
        ),
    ] = None,
    frequency: Annotated[
        Literal["hot", "cold", "both"] | None,
        option(
            "Mix in only simulated conversations with one of the most (hot) or least (cold) frequent options "
            "(sim4human).",
            section=MIXTURE,
        ),
    ] = None,
    top: Annotated[
        int | None,
        option(f"Count N options as hot, or as cold (--frequency). Default: {TOP}.", section=MIXTURE, min=1),
    ] = None,
    fifth: Annotated[
        bool,
        option(
            "Test only the fifth that the published split tests (sim2human and human2sim).",
            "--fifth",
            section=MIXTURE,
        ),
    ] = False,
    with_assistant: Annotated[
        list[str] | None,
        option(
            "Take only people's conversations with this assistant, as the files name it (chat_model); `none`: those "
            "that name no assistant. May be repeated. Default: all. Simulated conversations stay.",
            section=CONVERSATIONS,
            metavar="NAME",
        ),
    ] = None,
    language: Annotated[Language, language_of("the messages that are read.", section=CONVERSATIONS)] = "zh",
    no_others: Annotated[bool, option('Leave out the option "Others".', "--no-others", section=CONVERSATIONS)] = False,
    vocabulary: Annotated[
        Literal["closed", "published"],
        option(
            "Predict all options (closed), or only those that training or test conversations have, as the published "
            "binarizer.",
            section=CONVERSATIONS,
        ),
    ] = "closed",
    seeds: Seeds = 1,
    trees: Trees = 100,
    draw: Draw = MOST_DRAWN,
    seed: Annotated[int, seed_of("the users that are drawn, and of a mixture's conversations", TRAINING)] = 0,
    yes: Yes = False,
    output: TableOutput = PRINTED,
    **values: Any,
) -> int:
    """Predict users' profiles from their conversations.

    Personality, interests, travel, dining and spending; the prior is a row. Exit code 1: a chat model ranked no options
    for some conversations.
    """
    options = RunOptions(**values, yes=yes, as_json=output.json)
    output.check()
    names = list(dict.fromkeys(model or DEFAULT))
    check_journal(journal, sources, [name for name in names if name != OFFLINE and not is_trained(name)], "--model")
    mixture = mixture_of(
        setting, ratio=ratio, no_others=no_others, frequency=frequency, top=top, pairs=pairs, fifth=fifth
    )
    trained = trained_models(names, trees)
    loaded = [read_drawn(source, draw, seed) for source in sources]
    say_notes(*loaded)
    prediction = AttributePrediction.of(
        loaded,
        names,
        trained,
        mixture,
        split=split,
        language=language,
        with_assistant=with_assistant or (),
        answers=answers,
        seed=seed,
        notify=say,
    )
    with options.surroundings():
        replies = ask_models(prediction.requests, "conversations", journal=journal, options=options)
        rankers, failed = prediction.rankers(replies)
    with stderr.status("begins") as status:
        report = prediction.report(rankers, seeds=seeds, vocabulary=vocabulary, watch=status.update)
    output.show(report)
    return 1 if failed or any(source_loaded.broken for source_loaded in loaded) else 0
