"""The style filter: a validator that brings any simulated user's messages nearer to people's by rejection sampling."""

from dataclasses import dataclass, field
from typing import Any, Literal

from langgraph.runtime import Runtime

from ....data.identity import call_seed
from ....data.people.splits import UserPart
from ....data.text.languages import Language
from ....prompts import Library, shipped
from ...contract import Node, describe
from ...limits import Limits
from ...state import Draft, State, Update, Verdict, attempt_number, history
from ...validators.composition import ValidatorWrapper, not_empty
from .learnt import REASON, AtPlace, StyleComparison, StyleSource
from .options import LikeOptions
from .traits import LENGTH, PLACES, TRAITS, Trait, traits_of

PAGES = "like"
"""Name of the shipped prompt templates about people's style."""
MEASURED = "like"
"""Key of an attempt's `measured`."""


@dataclass(frozen=True)
class LikePeople(ValidatorWrapper):
    """A validator of the user's drafts that makes the accepted ones like people's messages.

    The validator in it judges first, and its rejections stand. A draft that it accepts is accepted with the probability
    min(1, p / (M q)). In it p is the share of such messages among people's, q among the simulator's drafts. At the
    bound every draft is accepted, so that no conversation ends by this validator. A message that ends the conversation,
    or has no words, is not judged.
    """

    manners: StyleComparison = field(repr=False)
    pages: Library = field(repr=False)
    """The prompt templates `user/like_...`, with the words of the repair."""
    part: UserPart = "all"
    most: int | None = None
    """The call of a turn whose draft is always accepted; None: the second-to-last one that the limits allow."""

    @property
    def judges_flaws(self) -> bool:
        """Whether the validator in it does."""
        return getattr(self.node, "judges_flaws", False) is True

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        update = await self.node(state, runtime)
        verdicts, drafts = update.get("verdicts", []), state.get("drafts", [])
        ended = update.get("stop") is not None or state.get("stop") is not None
        settled = any(not verdict["accepted"] or verdict.get("failed") for verdict in verdicts)
        if ended or settled or len(verdicts) < len(drafts):
            return update
        earlier = len(history(state, "user"))
        judged: list[Verdict] = []
        for number, (draft, verdict) in enumerate(zip(drafts, verdicts, strict=True)):
            judged.append(self._judged(draft, verdict, earlier, state, runtime.context, number))
            earlier += verdict.get("stored", draft.get("stored", True))
        return {**update, "verdicts": judged}

    def _judged(
        self, draft: Draft, verdict: Verdict, earlier: int, state: State, limits: Limits, number: int
    ) -> Verdict:
        text = verdict.get("text", draft["text"])
        if not text.strip() or not verdict.get("stored", draft.get("stored", True)):
            return verdict
        place = PLACES[min(earlier, 1)]
        here, attempt = self.manners.places[place], attempt_number(state)
        most = self.bound(limits)
        traits = traits_of(text, self.manners.language)
        opinion = here.opinion(traits, most)
        # 31 bits: the draw is the same in any process, and no other draw of the attempt.
        draw = call_seed(limits.seed, state.get("id", ""), MEASURED, state.get("turn", 0), attempt, number) / 2**31
        at_bound = attempt >= most
        measured: dict[str, Any] = {
            "place": place,
            "characters": traits.characters,
            "has": [trait for trait in TRAITS if trait in traits.has],
            "people": _short(opinion.people),
            **({} if opinion.drafts is None else {"drafts": _short(opinion.drafts)}),
            **({} if opinion.weight is None else {"weight": _short(opinion.weight)}),
            "accept": _short(opinion.accept),
            "draw": _short(draw),
            **({"bound": True} if at_bound else {}),
        }
        marked: Verdict = {**verdict, "measured": {**verdict.get("measured", {}), MEASURED: measured}}
        if at_bound or draw < opinion.accept:
            return marked
        name, values = advice(here, text, self.manners.language)
        return {**marked, "accepted": False, "reason": REASON, "repair": self.pages[name].fill_from(values)}

    def bound(self, limits: Limits) -> int:
        """The call of a turn whose draft is always accepted.

        By default the second-to-last one: if the cast's own rules reject that draft, one call is left.
        """
        attempts = limits.question_attempts
        return min(self.most or max(attempts - 1, min(attempts, 2)), attempts)

    def provenance(self) -> dict[str, Any]:
        people, drafts = self.manners.people, self.manners.drafts
        described: dict[str, Any] = {
            "like": people.name,
            "digest": people.digest,
            "part": self.part,
            "language": self.manners.language,
            "messages": people.messages,
            "users": people.users,
            "drafts": "unknown" if drafts is None else drafts.name,
            "after": describe(self.node),
        }
        if drafts is not None:
            described |= {"drafts_digest": drafts.digest, "drafts_counted": drafts.messages}
        return described | ({"most": self.most} if self.most is not None else {})

    def _accepted(self) -> float:
        """Share of the simulator's drafts that would be accepted before the bound, over both places."""
        most, accepted, all_drafts = self.bound(Limits()), 0.0, 0
        for place in self.manners.places.values():
            if place.drafts is not None:
                accepted += place.drafts.counted * place.accepted(most)
                all_drafts += place.drafts.counted
        return accepted / all_drafts

    def remarks(self) -> list[str]:
        """Remarks on the estimates, a line each."""
        people, lines = self.manners.people, []
        if self.manners.drafts is None:
            lines.append(
                f"--like {people.name}: what the simulator itself writes is unknown, so drafts are drawn towards what "
                "most people do, and not to people's shares: give drafts=RUN, a run of it without --like"
            )
        elif (share := self._accepted()) < 0.1:
            lines.append(
                f"--like {people.name}: of 100 drafts of {self.manners.drafts.name} about {100 * share:.2g} would be accepted, so "
                "most turns take all their calls: change the user's templates or settings first, or allow more attempts"
            )
        if self.manners.pooled:
            lines.append(f"--like {people.name}: first and later messages are taken together, as there are few")
        return lines


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def advice(here: AtPlace, text: str, language: Language) -> tuple[str, dict[str, object]]:
    """Prompt template and values of the repair for the draft's trait that is least like people."""
    traits = traits_of(text, language)
    ratios = here.ratios(traits.cell(here.cuts))
    order: tuple[Trait | Literal["length"], ...] = (*TRAITS, LENGTH)
    worst = min(order, key=lambda name: ratios[name])
    if worst == "length":
        longer = traits.characters > here.length
        return f"user/like_{'shorter' if longer else 'longer'}", {"number": here.length, "own": traits.characters}
    share = here.people.having[TRAITS.index(worst)]
    way = "without" if worst in traits.has else "with"
    return f"user/like_{way}_{worst}", {"number": round(100 * share)}


def like(
    source: StyleSource,
    node: Node = not_empty,
    *,
    language: Language | None = None,
    part: UserPart = "all",
    drafts: StyleSource | None = None,
    most: int | None = None,
    pages: Library | None = None,
) -> LikePeople:
    """A validator of the user's drafts that makes the accepted ones like the messages of people in a source.

    Method: rejection sampling (von Neumann 1951, "Various techniques used in connection with random digits").

    Args:
        source: Conversations of people, or their path.
        node: The validator that judges first.
        language: Language of the cast; default: the commonest one of the source.
        part: Take only users of this split of the source, as `compare --part`.
        drafts: Conversations of the same simulator without this validator, or their path, from which its own shares are
            estimated. Without them drafts are drawn towards the commonest style, and not to people's shares.
        most: The call of a turn whose draft is always accepted. Default: the second-to-last that the limits allow; the
            last is left for the rules of `node`.
        pages: A library with `user/like_...` of your own.

    Returns:
        The validator.

    Raises:
        DataError: There are fewer than 50 messages of people, or of drafts, in the language.

    Example::

        >>> import duologue
        >>> from duologue import nodes
        >>> cast = duologue.graphs.recllmsim.cast(user="openai:NAME", language="zh")  # doctest: +SKIP
        >>> guard = nodes.like("talks/", cast.question_validator, language="zh", drafts="out/run")  # doctest: +SKIP
        >>> cast = cast.replace(question_validator=guard)  # doctest: +SKIP
    """
    LikeOptions(part=part, most=most)
    manners = StyleComparison.of(source, language, part, drafts)
    return LikePeople(node, manners, pages or shipped(PAGES, manners.language), part, most)
