"""`duologue recllmsim identify`: user-attribute prediction from conversations, beside the label prior."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ...data import DataError
from ...data.text.languages import Language
from ...errors import SettingError
from ..options.model_fields import extended
from ..options.run import RunOptions
from ..options.sections import TRAINING
from ..options.shared import Seeds, Trees, Yes, answers_in, language_of, model_for, option, seed_of, split_by
from ..output.sources import say_notes
from ..output.tables import PRINTED, TableOutput, read_whole
from ..running.asking import OPTIONS, JournalOption, ask_models, check_journal, silent
from ..streams import say, stderr

if TYPE_CHECKING:  # needs an extra, and `--help` need not wait for it
    from ...analysis.recllmsim.identification import ProfileTalk, Ranker
    from ...analysis.recllmsim.identification.settings import AnySplit

MIXTURE = "Mixtures of simulated users and people"
CONVERSATIONS = "Conversations and options"
"""Sections of the help."""

OFFLINE = "offline"
SPLITS: "Mapping[str, tuple[AnySplit, ...]]" = {
    "users": ("users",),
    "conversations": ("conversations",),
    "published": ("published",),
    "both": ("published", "users"),
    "all": ("published", "conversations", "users"),
}
TOP = 3
DEFAULT = ("forest", "logistic", OFFLINE)
NAMES = ("forest", "forest-alone", "forest-chain", "logistic", "logistic-chain", "xgboost", "xgboost-chain")


@extended(OPTIONS)
def identify_command(
    sources: Annotated[
        list[Path],
        typer.Argument(metavar="SRC...", help="RecLLMSim's conversations, simulated and people's, or their like."),
    ],
    setting: Annotated[
        Literal["sim", "human", "sim2human", "human2sim", "sim4human"],
        option(
            "Train and test on simulated users, on people, on one of them and then the other, or on people with "
            "simulated users mixed in (sim4human)."
        ),
    ] = "human",
    model: Annotated[
        list[str] | None,
        model_for(
            f"to predict: {', '.join(NAMES)} (xgboost: extra xgboost), offline "
            "(rules), or a chat model that ranks options, such as openai:NAME. May be repeated. Default: forest, logistic, offline."
        ),
    ] = None,
    split: Annotated[
        Literal["users", "conversations", "published", "both", "all"],
        split_by(
            "a fifth of the conversations at random, whose "
            "users are mostly in training too; conversations: such ones in five folds, so that each is tested once, as by "
            "users; both: one table of users and published; all: of the three, and the value of user leakage."
        ),
    ] = "users",
    encoder: Annotated[
        Path | None,
        option("Fine-tune the encoder of Transformers in this folder too (extra torch).", metavar="PATH"),
    ] = None,
    answers: Annotated[
        Path | None, answers_in(" of `duologue label --labels profile`: people's guesses are a row")
    ] = None,
    journal: JournalOption = None,
    pairs: Annotated[
        bool,
        option(
            "Take only the four published pairs: travel habits from conversations about travel, dining preferences from "
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
            "Mix in only simulated conversations with one of the most (hot) or least (cold) frequent options (sim4human).",
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
            "Test only the fifth that the published split tests (sim2human, human2sim), beside other settings.",
            "--fifth",
            section=MIXTURE,
        ),
    ] = False,
    with_assistant: Annotated[
        list[str] | None,
        option(
            "Take only people's conversations with this assistant, as the files name it (chat_model); `none`: with one "
            "that they do not name. May be repeated. Default: all. Simulated ones stay.",
            section=CONVERSATIONS,
            metavar="NAME",
        ),
    ] = None,
    language: Annotated[Language, language_of("the messages that are read.", section=CONVERSATIONS)] = "zh",
    no_others: Annotated[bool, option('Leave out the option "Others".', "--no-others", section=CONVERSATIONS)] = False,
    vocabulary: Annotated[
        Literal["closed", "published"],
        option(
            "Predict all options (closed), or only those that training or test conversations have, as the published binarizer.",
            section=CONVERSATIONS,
        ),
    ] = "closed",
    seeds: Seeds = 1,
    trees: Trees = 100,
    seed: Annotated[int, seed_of("a mixture's conversations", TRAINING)] = 0,
    yes: Yes = False,
    output: TableOutput = PRINTED,
    **values: Any,
) -> int:
    """Predict users' profiles from their conversations.

    Personality, interests, travel, dining and spending; the prior is a row. Exit code 1: a chat model ranked no options
    for some conversations.
    """
    from ...analysis.labels.reliability import UNTOLD, Trusts
    from ...analysis.recllmsim import identification
    from ...analysis.recllmsim.identification.mixture import Mixture
    from ...analysis.recllmsim.judges.turns import path_of
    from ...data.identity import digest
    from ...data.loading import annotated_in

    options = RunOptions(**values, yes=yes, as_json=output.json)
    output.check()
    model_names = list(dict.fromkeys(model or DEFAULT))
    check_journal(
        journal, sources, [name for name in model_names if name != OFFLINE and not _is_learnt(name)], "--model"
    )
    if top is not None and frequency is None:
        raise SettingError("--top: is the number of hot or cold options: give --frequency hot, cold or both too")
    mixture = Mixture(
        setting=setting, ratio=ratio, others=not no_others, labels=frequency, top=top or TOP, pairs=pairs, fifth=fifth
    )
    learnt = identification.models([name for name in model_names if _is_learnt(name)], trees)
    if encoder is not None:
        learnt.append(identification.encoder(encoder))
    loaded = [read_whole(source) for source in sources]
    say_notes(*loaded)
    conversations = [conversation for source_loaded in loaded for conversation in source_loaded.conversations]
    if again := len(conversations) - len({(one.id, path_of(one), digest(one.scenario)) for one in conversations}):
        say(f"{again} conversations are there more than once, and count so: give each source once")
    talks = identification.profile_talks(conversations, language)
    say(*(lines := identification.left_out(conversations, language)))
    if not talks:
        raise DataError(
            f"{sources[0]}: no conversation has a profile of the vocabulary and is in {language}"
            f"{'' if lines else ': give RecLLMSim conversations, simulated or of people'}"
        )
    if with_assistant:
        talks, line = identification.with_assistants(talks, with_assistant)
        say(line)
    splits = SPLITS[split]
    tested = [talks[place] for place in identification.places_tested(talks, mixture, splits, seed=seed)]
    trusts = Trusts.of(conversations, annotated_in(*loaded))
    guesses = identification.read_guesses(answers) if answers is not None else []
    say(*identification.guesses_left_out(answers, talks) if answers is not None else ())
    with options.surroundings():
        rankers, failed = _rankers([name for name in model_names if not _is_learnt(name)], tested, journal, options)
    with stderr.status("begins") as status:
        report = identification.identify(
            talks,
            learnt,
            rankers,
            mixture=mixture,
            splits=splits,
            seeds=seeds,
            vocabulary=vocabulary,
            guesses=guesses,
            seed=seed,
            watch=status.update,
            trust=trusts.note("profile_mapped", of_messages=False) or UNTOLD,
        )
    output.show(report)
    return 1 if failed or any(source_loaded.broken for source_loaded in loaded) else 0


def _is_learnt(name: str) -> bool:
    """Whether it is no ranker: a chat model's spec has a colon."""
    return name != OFFLINE and ":" not in name


def _rankers(
    specs: Sequence[str], talks: "Sequence[ProfileTalk]", journal: Path | None, options: RunOptions
) -> "tuple[list[Ranker], int]":
    """The rankers of specs, and of how many conversations chat models could say nothing."""
    from ...analysis.recllmsim.identification import VOCABULARY, Ranker, by_words
    from ...runs.asking.option_ranking import RankedConversation, RankedOptions, ranking

    heard = [RankedConversation(talk.id, talk.language, talk.messages) for talk in talks]
    models = {spec: ranking(spec, heard, VOCABULARY) for spec in specs if spec != OFFLINE}
    answers_of = ask_models(models, "conversations", journal=journal, options=options)

    def ranker(spec: str, answers: Sequence[RankedOptions]) -> Ranker:
        ranked = {talk.messages: one.options for talk, one in zip(talks, answers, strict=True)}
        return Ranker(spec, lambda talk: ranked[talk.messages])

    failed = sum(silent(answers_of[spec], spec, "--model", "conversation", they="count as wrong") for spec in models)
    return [Ranker(OFFLINE, by_words) if spec == OFFLINE else ranker(spec, answers_of[spec]) for spec in specs], failed
