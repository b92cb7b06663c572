"""About how many tokens and dollars a run takes, found without a call."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ...data import domains
from ...data.domain_parts import TypicalConversation
from ...data.formats import record_lines
from ...data.formats.detection import CONVERSATIONS
from ...data.text.model_tokens import OF_MESSAGE, tokens_about
from .costs import price_about

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from langchain_core.language_models import BaseChatModel

    from ...data.records import Role

ROLES: tuple["Role", ...] = ("user", "assistant")
ENDS = (0, 1, 2)
"""At least, about, at most."""


REJECTED = 1 / 10
"""Share of the drafts that are asked for again, about."""

SAMPLED = 12
"""Most scenarios whose first calls are written out."""

ENOUGH = 5
"""Finished conversations of the folder from which their own mean is used."""

BY_PAGES = (
    "first calls as they would be sent, four characters a token (a Chinese one each); with each call all messages "
    "before it are sent again; reasoning is not foreseen"
)
BY_FINISHED = "the mean of the {count} finished conversations of the folder, and two standard errors to both sides"


class TokenEstimate(NamedTuple):
    """Tokens that the calls of one side take."""

    input: float = 0.0
    cached: float = 0.0
    output: float = 0.0
    calls: float = 0.0

    @property
    def all(self) -> float:
        """Input and output."""
        return self.input + self.output

    @property
    def of_a_call(self) -> dict[str, int]:
        """Those of a call of average length, by the names of `data.Usage`."""
        calls = self.calls or 1.0
        return {
            "input_tokens": round(self.input / calls),
            "cached_tokens": round(self.cached / calls),
            "output_tokens": round(self.output / calls),
        }

    def times(self, factor: float) -> "TokenEstimate":
        """So many times as many."""
        return TokenEstimate(*(value * factor for value in self))


Ends: TypeAlias = tuple[TokenEstimate, TokenEstimate, TokenEstimate]
"""What a side takes: at least, about, at most."""


@dataclass(frozen=True)
class CostEstimate:
    """Tokens and cost of a run: at least, about, at most."""

    tokens: tuple[int, int, int]
    cost: tuple[float, float, float] | None
    """US dollars; None if the price of a model is unknown."""
    unknown: str | None
    """Why the cost is unknown."""
    rule: str
    assumed: Mapping[str, str]
    """What each end assumes, in words; empty where finished conversations tell."""

    def within(self, max_tokens: int | None, max_cost: float | None) -> "CostEstimate":
        """The estimate of a run with these bounds; it may pass them by the calls under way."""
        shares = [
            min(
                1.0,
                max_tokens / tokens if max_tokens and tokens else 1.0,
                max_cost / self.cost[end] if max_cost and self.cost is not None and self.cost[end] else 1.0,
            )
            for end, tokens in enumerate(self.tokens)
        ]
        if min(shares) == 1.0:
            return self
        low, about, high = (round(tokens * share) for tokens, share in zip(self.tokens, shares, strict=True))
        cost = self.cost and (self.cost[0] * shares[0], self.cost[1] * shares[1], self.cost[2] * shares[2])
        at_most = {"at most": f"{self.assumed['at most']}; then a bound of the run ends it"} if self.assumed else {}
        return replace(self, tokens=(low, about, high), cost=cost, assumed={**self.assumed, **at_most})


def estimate(cast: Any, missing: list[Any], folder: Path, limits: Any, *, resume: bool) -> CostEstimate:
    """The estimate for conversations that are yet to be simulated."""
    limits = limits.or_else(cast.limits)
    finished = list(_finished(folder)) if resume else []
    asking: dict[Role, BaseChatModel] = {role: model for role in ROLES if (model := speaker_model(cast, role))}
    sides: dict[Role, Ends]
    if len(finished) >= ENOUGH:
        rule, assumed = BY_FINISHED.format(count=len(finished)), dict[str, str]()
        sides = {role: _by_mean([of_role[role] for of_role in finished], len(missing)) for role in asking}
    else:
        talk = _talk(missing)
        rule, assumed = BY_PAGES, _assumed(talk, limits)
        sides = asyncio.run(_by_pages(cast, asking, missing, limits, talk))
    low, about, high = (round(sum(side[end].all for side in sides.values())) for end in ENDS)
    cost, unknown = _cost(asking, sides)
    return CostEstimate((low, about, high), cost, unknown, rule, assumed)


def _talk(missing: list[Any]) -> TypicalConversation:
    """How conversations about these scenarios go."""
    present = domains.present(state["scenario"] for state in missing)
    return present[0].typical if len(present) == 1 else domains.PLAIN.typical


def _turns(talk: TypicalConversation, limits: Any) -> tuple[int, int, int]:
    """Exchanges of a conversation: at least, about, at most."""
    most = limits.max_turns or 1
    return 1, most if talk.exchanges is None else min(talk.exchanges, most), most


def _assumed(talk: TypicalConversation, limits: Any) -> dict[str, str]:
    """What each end assumes, in words."""
    _, about, most = (f"{count} turn{'' if count == 1 else 's'}" for count in _turns(talk, limits))
    user, assistant = talk.lengths["user"][1], talk.lengths["assistant"][1]
    limit = "" if limits.max_tokens is None else ", within --max-tokens"
    return {
        "about": f"{about} with messages of {user} tokens (user) and {assistant} (assistant), {talk.known_by}; "
        "one draft in ten is retried",
        "at least": "one turn of short messages, and no draft is rejected",
        "at most": f"{most} of long messages, and each draft is rejected as often as may be{limit}",
    }


def speaker_model(cast: Any, role: "Role") -> "BaseChatModel | None":
    """The chat model that plays a side; None if something else does."""
    from ...nodes.people import WithPeople
    from ...nodes.speakers.speaker import ChatSpeaker

    speaker = cast.user_simulator if role == "user" else cast.assistant
    return speaker.model if isinstance(speaker, (ChatSpeaker, WithPeople)) else None


def _finished(folder: Path) -> Iterator[dict["Role", TokenEstimate]]:
    """Tokens of each finished conversation of the folder, by side."""
    if not (folder / CONVERSATIONS).is_file():
        return
    for conversation in record_lines.iterate_run(folder):
        sides: dict[Role, TokenEstimate] = {}
        for role in ROLES:
            used = [attempt.usage for attempt in conversation.attempts(role) if attempt.usage is not None]
            amounts = ("input_tokens", "cached_tokens", "output_tokens", "calls")
            sides[role] = TokenEstimate(*(sum(getattr(usage, amount) for usage in used) for amount in amounts))
        yield sides


def _by_mean(finished: list[TokenEstimate], count: int) -> Ends:
    """So many further conversations like the finished ones."""
    if not count:
        return TokenEstimate(), TokenEstimate(), TokenEstimate()
    mean = TokenEstimate(*map(fmean, zip(*finished, strict=True))).times(count)
    error = 2 * stdev(tokens.all for tokens in finished) * (1 / len(finished) + 1 / count) ** 0.5 * count
    share = error / mean.all if mean.all else 0.0
    return mean.times(max(0.0, 1 - share)), mean, mean.times(1 + share)


async def _by_pages(
    cast: Any, asking: Mapping["Role", "BaseChatModel"], missing: list[Any], limits: Any, talk: TypicalConversation
) -> dict["Role", Ends]:
    """Each side's calls, from those that begin a conversation."""
    sample = missing[:: max(1, -(-len(missing) // SAMPLED))]
    count, turns = len(missing), _turns(talk, limits)
    attempts = {"user": limits.question_attempts, "assistant": limits.answer_attempts}
    lengths = [_lengths(asking, talk, end) for end in ENDS]
    sides: dict[Role, Ends] = {}
    for role in asking:
        first = fmean([await first_call(cast, role, state, limits) for state in sample]) if sample else 0.0
        drafts = (1.0, 1 + REJECTED, float(attempts[role]))
        ends = []
        for end in ENDS:
            exchanges = turns[end]
            # Each call is sent what was said before it: the sum of 0, 1, ... exchanges.
            sent = exchanges * first + exchanges * (exchanges - 1) / 2 * sum(lengths[end].values())
            ends.append(TokenEstimate(sent, 0.0, exchanges * lengths[end][role], exchanges).times(drafts[end] * count))
        sides[role] = (ends[0], ends[1], ends[2])
    return _bounded(sides, limits.max_tokens, count)


def _lengths(asking: Mapping["Role", "BaseChatModel"], talk: TypicalConversation, end: int) -> dict["Role", int]:
    """Tokens of a message of each role; a model's maximum is taken for all its messages."""
    lengths: dict[Role, int] = {}
    for role, of_role in talk.lengths.items():
        bound = getattr(asking.get(role), "max_tokens", None)
        lengths[role] = of_role[end] if not isinstance(bound, int) else bound if end == 2 else min(of_role[end], bound)
    return lengths


def _bounded(sides: dict["Role", Ends], max_tokens: int | None, count: int) -> dict["Role", Ends]:
    """The estimates under the limit of tokens of each conversation."""
    if max_tokens is None:
        return sides
    totals = [sum(side[end].all for side in sides.values()) or 1.0 for end in ENDS]
    shares = [min(1.0, max_tokens * count / total) for total in totals]
    return {role: (a.times(shares[0]), b.times(shares[1]), c.times(shares[2])) for role, (a, b, c) in sides.items()}


async def first_call(cast: Any, role: "Role", scenario: Any, limits: Any) -> int:
    """About how many tokens a side is sent in its first call about a scenario."""
    from langgraph.runtime import Runtime

    from ...data.records import Message
    from ...graphs.conversations.beginning import opening
    from ...nodes.people import WithPeople
    from ...nodes.state import merged

    state = merged(merged(scenario, opening(scenario, cast, limits)), {"memory": {}, "speaking": role})
    if role == "assistant":
        question = Message(role="user", text="word" * _talk([scenario]).lengths["user"][1])
        state = merged(state, {"messages": [*state.get("messages", []), question.plain()]})
    selector = getattr(cast, f"{role}_prompt_selector")
    if type(selector).__module__.startswith("duologue."):  # one of somebody's own may call a model
        update = await selector(state, Runtime(context=limits))
        state = merged(state, {"prompt": update.get("prompt")})
    speaker = cast.user_simulator if role == "user" else cast.assistant
    messages = await speaker.sent(state, limits) if isinstance(speaker, WithPeople) else speaker.build(state)
    return sum(tokens_about(str(message.text)) + OF_MESSAGE for message in messages)


def _cost(
    asking: Mapping["Role", "BaseChatModel"], sides: Mapping["Role", Ends]
) -> tuple[tuple[float, float, float] | None, str | None]:
    """What the calls cost, each one of average length, or why that is unknown."""
    from ...nodes.calls.prices import asked_model

    totals = [0.0, 0.0, 0.0]
    for role, model in asking.items():
        query = asked_model(model)
        for end in ENDS:
            tokens = sides[role][end]
            dollars, unknown = price_about(query, tokens.of_a_call)
            if unknown is not None:
                return None, unknown
            totals[end] += dollars * tokens.calls
    return (totals[0], totals[1], totals[2]), None
