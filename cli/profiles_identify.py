"""`duologue profiles identify`: what conversations tell of their users' profiles, beside the label prior."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..data import DataError
from ..data.text.languages import Language
from ..errors import SettingError
from .asking import OPTIONS, Kept, ask_models, check_kept, silent
from .options import extended
from .output import say, stderr
from .overwriting import check_outside, check_unread
from .run_options import RunOptions, Yes
from .tables import AsJson, Force, Form, Out, check_given, give, read_whole

if TYPE_CHECKING:  # needs an extra, and `--help` need not wait for it
    from ..analysis.identification import ProfileTalk, Ranker
    from ..analysis.identification.settings import AnySplit

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
def identify(
    sources: Annotated[
        list[Path],
        typer.Argument(metavar="SRC...", help="RecLLMSim's conversations, simulated and people's, or their like."),
    ],
    setting: Annotated[
        Literal["sim", "human", "sim2human", "human2sim", "sim4human"],
        typer.Option(
            help="Learnt from and tested on: simulated users, people, one of them and then the other, or people with "
            "simulated users mixed in (sim4human)."
        ),
    ] = "human",
    split: Annotated[
        Literal["users", "conversations", "published", "both", "all"],
        typer.Option(
            help="users: whole users are held out, in five folds; published: a fifth of the conversations at random, whose "
            "users are mostly learnt from too; conversations: such ones in five folds, so that each is tested once, as by "
            "users; both: one table of users and published; all: of the three, and what knowing the users is worth."
        ),
    ] = "users",
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="NAME|SPEC",
            help=f"What tells profiles, may be given more than once: {', '.join(NAMES)} (xgboost: extra xgboost), offline "
            "(rules), or a chat model that ranks options, such as openai:NAME. Default: forest, logistic, offline.",
        ),
    ] = None,
    encoder: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Fine-tune the encoder of Transformers in this folder too (extra torch)."),
    ] = None,
    guesses: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Answers of `duologue label --labels profile`: people's guesses are a row."),
    ] = None,
    ratio: Annotated[
        float | None,
        typer.Option(min=0, help="Of sim4human: simulated conversations for each of people's. Default: all there are."),
    ] = None,
    labels: Annotated[
        Literal["hot", "cold", "both"] | None,
        typer.Option(
            help="Of sim4human: only simulated conversations with a most (hot) or least (cold) frequent option."
        ),
    ] = None,
    top: Annotated[
        int | None, typer.Option(min=1, help=f"Of --labels: how many options are hot, or cold. Default: {TOP}.")
    ] = None,
    fifth: Annotated[
        bool,
        typer.Option(
            "--fifth",
            help="Of sim2human and human2sim: test only the fifth that the published split tests, beside other settings.",
        ),
    ] = False,
    pairs: Annotated[
        bool,
        typer.Option(
            "--pairs",
            help="Only the four published pairs: travel habits from conversations about travel, dining preferences from "
            "recipes, spending habits from gifts, daily interests from skills.",
        ),
    ] = False,
    assistant: Annotated[
        list[str] | None,
        typer.Option(
            "--assistant",
            metavar="NAME",
            help="People's conversations with this assistant alone, as the files name it (chat_model); `none`: with one "
            "that they do not name. May be given more than once. Default: all. Simulated ones stay.",
        ),
    ] = None,
    no_others: Annotated[bool, typer.Option("--no-others", help='Leave out the option "Others".')] = False,
    vocabulary: Annotated[
        Literal["closed", "published"],
        typer.Option(
            help="published: only options that training or test conversations have, as the published binarizer."
        ),
    ] = "closed",
    language: Annotated[Language, typer.Option(help="Language in which messages are read.")] = "zh",
    seeds: Annotated[int, typer.Option(min=1, max=100, help="Seeds that each model is taught with.")] = 1,
    trees: Annotated[int, typer.Option(min=1, max=10_000, help="Trees of a forest, or of boosted trees.")] = 100,
    kept: Kept = None,
    seed: Annotated[
        int, typer.Option(help="Seed of the users that are drawn for intervals, and of a mixture's conversations.")
    ] = 0,
    yes: Yes = False,
    as_json: AsJson = False,
    form: Form = "rich",
    out: Out = None,
    force: Force = False,
    **values: Any,
) -> int:
    """Tell users' profiles from conversations: personality, interests, travel, dining, spending; the prior is a row.

    Exit code 1: a chat model said nothing of some conversations.
    """
    from ..analysis import identification
    from ..analysis.identification.mixture import Mixture
    from ..analysis.judges.turns import path_of
    from ..analysis.trust import UNTOLD, Trusts
    from ..data.identity import digest
    from ..runs.label_origins import annotated_keys

    options = RunOptions(**values, yes=yes, as_json=as_json)
    check_given(out, as_json=as_json, form=form, force=force)
    check_unread(kept)
    for source in sources:
        check_outside(kept, source)
    asked = list(dict.fromkeys(model or DEFAULT))
    check_kept(kept, [name for name in asked if name != OFFLINE and not _is_learnt(name)], "--model")
    if top is not None and labels is None:
        raise SettingError("--top says how many options are hot or cold: give --labels hot, cold or both too")
    mixture = Mixture(
        setting=setting, ratio=ratio, others=not no_others, labels=labels, top=top or TOP, pairs=pairs, fifth=fifth
    )
    learnt = identification.models([name for name in asked if _is_learnt(name)], trees)
    if encoder is not None:
        learnt.append(identification.encoder(encoder))
    loaded = [read_whole(source) for source in sources]
    for each in loaded:
        for note in each.notes:
            say(f"{each.path}: {note}" if len(loaded) > 1 else note)
    conversations = [conversation for each in loaded for conversation in each.conversations]
    if again := len(conversations) - len({(one.id, path_of(one), digest(one.scenario)) for one in conversations}):
        say(f"{again} conversations are there more than once, and count so: give each source once")
    talks = identification.profile_talks(conversations, language)
    for line in (lines := identification.left_out(conversations, language)):
        say(line)
    if not talks:
        raise DataError(
            f"{sources[0]}: no conversation has a profile of the vocabulary and is in {language}"
            f"{'' if lines else ': give RecLLMSim conversations, simulated or of people'}"
        )
    if assistant:
        talks, line = identification.with_assistants(talks, assistant)
        say(line)
    splits = SPLITS[split]
    tested = [talks[place] for place in identification.places_tested(talks, mixture, splits, seed=seed)]
    written = frozenset().union(*map(annotated_keys, sources))
    trusts = Trusts.of(conversations, written)
    told = identification.read_guesses(guesses) if guesses is not None else []
    for line in identification.guesses_left_out(guesses, talks) if guesses is not None else ():
        say(line)
    with options.surroundings():
        rankers, failed = _rankers([name for name in asked if not _is_learnt(name)], tested, kept, options)
    with stderr.status("begins") as status:
        report = identification.identify(
            talks,
            learnt,
            rankers,
            mixture=mixture,
            splits=splits,
            seeds=seeds,
            vocabulary=vocabulary,
            guesses=told,
            seed=seed,
            watch=status.update,
            trust=trusts.note("profile_mapped", of_messages=False) or UNTOLD,
        )
    tables = report.brief() if form == "rich" else report.tables()
    give(report.to_json(), tables, as_json=as_json, form=form, out=out, force=force)
    return 1 if failed or any(each.broken for each in loaded) else 0


def _is_learnt(name: str) -> bool:
    """Whether it is no ranker: a chat model's spec has a colon."""
    return name != OFFLINE and ":" not in name


def _rankers(
    specs: Sequence[str], talks: "Sequence[ProfileTalk]", kept: Path | None, options: RunOptions
) -> "tuple[list[Ranker], int]":
    """The rankers of specs, and of how many conversations chat models could say nothing."""
    from ..analysis.identification import VOCABULARY, Ranker, by_words
    from ..runs.ranking import Heard, RankedOptions, ranking

    heard = [Heard(talk.id, talk.language, talk.messages) for talk in talks]
    models = {spec: ranking(spec, heard, VOCABULARY) for spec in specs if spec != OFFLINE}
    said = ask_models(models, "conversations", kept=kept, options=options)

    def ranker(spec: str, answers: Sequence[RankedOptions]) -> Ranker:
        ranked = {talk.messages: one.options for talk, one in zip(talks, answers, strict=True)}
        return Ranker(spec, lambda talk: ranked[talk.messages])

    failed = sum(silent(said[spec], spec, "--model", "conversation", they="count as wrong") for spec in models)
    return [Ranker(OFFLINE, by_words) if spec == OFFLINE else ranker(spec, said[spec]) for spec in specs], failed
