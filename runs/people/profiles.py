"""Making user profiles on disk, with pace, budgets and resuming."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias

from langchain_core.language_models import BaseChatModel

from ...data.recllmsim import Coverage, Profile, coverage, shipped_profiles
from ...data.text.languages import Language
from ...data.text.words import OF_MESSAGE, tokens_about
from ...errors import SettingError
from ...graphs.casts.shipped import library
from ...nodes.calls.spending import PriceQuery, asked_model
from ...nodes.models.specs import chat_model, model_provenance
from ...nodes.profiles import ProfileLimits, ProfileMaker, ProfileStopReason, Proposal
from ...prompts import Library
from ..asking.questions import Payment, ask_missing, count_payments
from ..asking.store import AnswerStore
from ..engine.conduct import Conduct
from ..engine.event_loop import waiting
from ..journals.calls import ReplyCost
from ..planning.plans import REJECTED, CallEstimate, CallPlan, CallTokens, ModelCalls
from .profile_files import ProfileFiles, accepted_texts, drafts_codec, drafts_of, key_of_next

NAME = "profiles"
Inventor: TypeAlias = str | BaseChatModel
"""What writes the profiles: a model's spec, or a chat model."""
RULE = (
    "a request as it would be sent, beside half of the profiles that are wanted, four characters a token (a Chinese one "
    "each); profiles as long as the shipped ones; reasoning is not foreseen"
)
ASSUMED = {
    "about": "one draft in ten is rejected",
    "at least": "short profiles, and no draft is rejected",
    "at most": "long profiles; of each every attempt in every round is needed",
}


@dataclass(frozen=True)
class MadeProfiles:
    """The result of making profiles."""

    path: Path
    drafts: Path
    """File of every draft, accepted or not, a line each."""
    target: int
    profiles: tuple[Profile, ...]
    """All profiles in the file, from this call or earlier ones."""
    new: int
    """How many of them this call made."""
    rejected: dict[str, int]
    """Rejected drafts by reason, with those of earlier calls."""
    usage: dict[str, int]
    """Tokens of all drafts."""
    coverage: Coverage
    """Of the pool and the made profiles together."""
    stop: ProfileStopReason | None
    """None if a limit or the control of runs ended it."""
    failure: str | None = None
    notes: tuple[str, ...] = ()
    stopped: str | None = None
    """The bound that was reached, or who ended it, in words."""

    @property
    def complete(self) -> bool:
        """Whether the file holds at least `target` profiles."""
        return len(self.profiles) >= self.target


async def agenerate(
    count: int,
    out: str | Path,
    assistant: Inventor = "offline",
    *,
    language: Language = "en",
    pool: Sequence[Profile] = (),
    limits: ProfileLimits | None = None,
    prompts: str | Path | Library | None = None,
    conduct: Conduct | None = None,
    watch: Callable[[int], None] | None = None,
) -> MadeProfiles:
    """Make profiles until the file holds `count` of them; those of earlier calls count.

    `pool`: existing profiles, from which the new ones must differ. `conduct`: pace, bounds, and the file of all calls,
    to record or to replay. `watch` is called with the number kept so far.

    RunError if the file holds profiles that were not made here.
    """
    if count < 1:
        raise SettingError(f"count must be at least 1, not {count}")
    limits, conduct = limits or ProfileLimits(), conduct or Conduct()
    control, model, pages = conduct.controlled(), _inventor(assistant), library(NAME, prompts, language)
    with ProfileFiles(Path(out), language, model_provenance(model)) as file:
        before, kept = len(file.profile_texts), list(file.profile_texts)
        maker = ProfileMaker(model, pages, limits, language, pool, kept, **file.going_on(limits.attempts))
        works: dict[str, ProfileMaker] = dict.fromkeys(file.store.done, maker)
        if before >= count:
            maker.stop = "done"
        else:
            works[key_of_next(maker)] = maker

        async def ask(maker: ProfileMaker, keep: Callable[[Proposal], None]) -> None:
            if control.begins:
                async for proposal in maker.proposals(count):
                    keep(proposal)  # before the next call
                    if not control.begins:
                        return

        def on_draft(proposal: Proposal) -> None:
            file.add(proposal)
            if watch is not None:
                watch(len(file.profile_texts))

        count_payments(control.spending, _payments(file.proposals, asked_model(model)))
        stopped = await ask_missing(
            file.store, works, ask, conduct=conduct, control=control, concurrency=1, on_answer=on_draft
        )
        control.over()
        if stopped and maker.stop is None:
            maker.stop, maker.failure = "model_failed", stopped
        profiles = tuple(Profile.of(text) for text in file.profile_texts)
        return MadeProfiles(
            path=file.path,
            drafts=file.drafts,
            target=count,
            profiles=profiles,
            new=len(profiles) - before,
            rejected=dict(Counter(p.get("reason", "") for p in file.proposals if p["verdict"] == "rejected")),
            usage=_spent(file.proposals),
            coverage=coverage([*pool, *profiles]),
            stop=maker.stop,
            failure=maker.failure,
            notes=tuple(file.notes),
            stopped=control.ending,
        )


def profiles_planned(
    count: int,
    out: str | Path,
    assistant: Inventor = "offline",
    *,
    language: Language = "en",
    pool: Sequence[Profile] = (),
    limits: ProfileLimits | None = None,
    prompts: str | Path | Library | None = None,
) -> CallPlan:
    """The plan of `generate`, whose parameters it has: of the profiles that the file lacks."""
    limits, path, store = limits or ProfileLimits(), Path(out), AnswerStore(drafts_codec({}))
    store.read(drafts_of(path))
    stored_texts = accepted_texts(list(store.done.values()))
    number, most = max(0, count - len(stored_texts)), limits.attempts * limits.rounds
    model = asked_model(chat_model(assistant))

    def estimated() -> CallEstimate:
        pages = library(NAME, prompts, language)
        # The pool grows with each profile: its middle stands for all.
        texts = [*stored_texts, *shipped_profiles(language).texts]
        pool_texts = [*stored_texts, *(texts[place % len(texts)] for place in range(number // 2))]
        maker = ProfileMaker(_inventor(assistant), pages, limits, language, pool, pool_texts)
        sent = _tokens(maker.messages(maker.prompt()))
        lengths = sorted(map(tokens_about, texts))
        mean, long = fmean(lengths), lengths[-1]
        # What was rejected is sent again with its repair, which is about as long as it.
        most_sent = most * sent + limits.rounds * limits.attempts * (limits.attempts - 1) / 2 * 2 * long
        low, about = CallTokens(sent, 0.0, lengths[0], 1.0), CallTokens(sent, 0.0, mean, 1.0).times(1 + REJECTED)
        ends = low.times(number), about.times(number), CallTokens(most_sent, 0.0, most * long, most).times(number)
        return CallEstimate((ModelCalls(model, ends),), RULE, ASSUMED)

    length = f"each asked for up to {limits.attempts} times"
    return CallPlan(number, "profiles", number, number * most, length, model is not None, estimated)


def _inventor(assistant: Inventor) -> BaseChatModel:
    return chat_model(assistant, side="inventor")


def _tokens(messages: Sequence[Any]) -> int:
    return sum(tokens_about(str(message.text)) + OF_MESSAGE for message in messages)


@waiting(agenerate)
def generate() -> None:
    """As `agenerate`, from code that is not async; works inside a running loop too, as in a notebook."""


def _spent(proposals: Sequence[Proposal]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for proposal in proposals:
        total.update(proposal.get("usage", {}))
    return {"input_tokens": total["input_tokens"], "output_tokens": total["output_tokens"], "calls": total["calls"]}


def _payments(proposals: Sequence[Proposal], price_query: PriceQuery | None) -> Iterator[Payment]:
    for proposal in proposals:
        if usage := proposal.get("usage"):
            yield ReplyCost("assistant", None, usage, reply=proposal.get("raw", proposal["text"])), price_query
