"""`duologue profiles identify`: what conversations tell of their users' profiles, beside the label prior."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..data import DataError
from ..data.text.languages import Language
from .interrupts import INTERRUPTED
from .options import extended
from .output import say, stderr
from .overwriting import check_outside, check_unread
from .planning import Plan, go_on
from .run_options import LEAVING, PACE, Yes
from .tables import AsJson, Force, Form, Out, give, read_whole
from .tracing import leaving

if TYPE_CHECKING:  # needs an extra, and `--help` need not wait for it
    from ..analysis.identification import ProfileTalk, Ranker

AT_ONCE = 8
"""Calls at the same time, unless another number is asked for."""
MOST_CALLS = 3
"""For one conversation: what cannot be read is asked for again."""
OFFLINE = "offline"
DEFAULT = ("forest", "logistic", OFFLINE)
NAMES = ("forest", "forest-chain", "logistic", "logistic-chain", "xgboost", "xgboost-chain")


@extended(LEAVING)
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
        Literal["users", "published", "both"],
        typer.Option(
            help="users: whole users are held out, in five folds; published: a fifth of the conversations at random, whose "
            "users are mostly learnt from too; both: one table of the two."
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
    top: Annotated[int, typer.Option(min=1, help="How many options are hot, or cold.")] = 5,
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
    kept: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep what a chat model says here; the same command goes on from there."),
    ] = None,
    concurrency: Annotated[
        int, typer.Option(min=1, rich_help_panel=PACE, help="Calls of a chat model at the same time.")
    ] = AT_ONCE,
    seed: Annotated[int, typer.Option(help="Seed of the users that are drawn for intervals.")] = 0,
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
    from ..analysis.identification.settings import Mixture
    from ..analysis.trust import UNTOLD, Trusts
    from ..runs.annotation_journal import annotated_keys

    check_unread(kept)
    for source in sources:
        check_outside(kept, source)
    mixture = Mixture(setting=setting, ratio=ratio, others=not no_others, labels=labels, top=top)
    asked = list(dict.fromkeys(model or DEFAULT))
    learnt = identification.models([name for name in asked if _is_learnt(name)], trees)
    if encoder is not None:
        learnt.append(identification.encoder(encoder))
    loaded = [read_whole(source) for source in sources]
    for each in loaded:
        for note in each.notes:
            say(f"{each.path}: {note}" if len(loaded) > 1 else note)
    conversations = [conversation for each in loaded for conversation in each.conversations]
    talks = identification.profile_talks(conversations, language)
    if not talks:
        raise DataError(
            f"{sources[0]}: no conversation has a profile of the vocabulary and is in {language}: "
            "give RecLLMSim's, simulated or people's, or another --language"
        )
    written = frozenset().union(*map(annotated_keys, sources))
    trusts = Trusts.of(conversations, written)
    told = identification.read_guesses(guesses) if guesses is not None else []
    rankers: list[Ranker] = []
    failed = 0
    with leaving(**values):
        for name in asked:
            if name == OFFLINE:
                rankers.append(identification.Ranker(OFFLINE, identification.by_words))
            elif not _is_learnt(name):
                ranker, silent = _asked(name, talks, kept, concurrency, quiet=as_json, yes=yes)
                rankers.append(ranker)
                failed += silent
    report = identification.identify(
        talks,
        learnt,
        rankers,
        mixture=mixture,
        splits=("published", "users") if split == "both" else (split,),
        seeds=seeds,
        vocabulary=vocabulary,
        guesses=told,
        seed=seed,
        trust=trusts.note("profile_mapped", of_messages=False) or UNTOLD,
    )
    give(report.to_json(), report.tables(), as_json=as_json, form=form, out=out, force=force)
    return 1 if failed or any(each.broken for each in loaded) else 0


def _is_learnt(name: str) -> bool:
    """Whether it is no ranker: a chat model's spec has a colon."""
    return name != OFFLINE and ":" not in name


def _asked(
    spec: str, talks: "Sequence[ProfileTalk]", kept: Path | None, concurrency: int, *, quiet: bool, yes: bool
) -> "tuple[Ranker, int]":
    """The ranker of a chat model, and of how many conversations it could say nothing."""
    from ..analysis.identification import VOCABULARY, ProfileTalk, Ranker
    from ..nodes.models.specs import chat_model
    from ..runs.ranking import Heard, rank_options

    chat_model(spec)  # one that cannot be made is refused before anything is announced
    heard = [Heard(talk.id, talk.language, talk.messages) for talk in talks]
    plan = Plan(
        len(heard), "conversations", len(heard), MOST_CALLS * len(heard), "each one question to a model", asked=True
    )
    go_on(plan, quiet=quiet, yes=yes)
    count = 0
    with stderr.status(f"0 of {len(heard)} conversations ranked") as status:

        def tell(_: object) -> None:
            nonlocal count
            count += 1
            status.update(f"{count} of {len(heard)} conversations ranked")

        try:
            said = rank_options(spec, heard, VOCABULARY, kept=kept, concurrency=concurrency, watch=tell)
        except KeyboardInterrupt:
            say("interrupted: " + ("nothing is kept without --kept" if kept is None else f"what was said is in {kept}"))
            raise typer.Exit(INTERRUPTED) from None
    failed = [one for one in said if one.error]
    if len(failed) == len(said):
        raise DataError(f"--model {spec}: says nothing of any conversation: {failed[0].error}")
    if failed:
        say(
            f"{spec}: says nothing of {len(failed)} of {len(said)} conversations, which count as wrong: {failed[0].error}"
        )
    ranked = {talk.messages: one.options for talk, one in zip(talks, said, strict=True)}

    def rank(talk: ProfileTalk) -> dict[str, tuple[str, ...]]:
        return ranked[talk.messages]

    return Ranker(spec, rank), len(failed)
