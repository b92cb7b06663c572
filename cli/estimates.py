"""About how many tokens and dollars a run takes, found without a call."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from ..data.formats import record_lines
from ..data.formats.detection import CONVERSATIONS
from ..data.text.model_tokens import OF_MESSAGE, tokens_about

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from langchain_core.language_models import BaseChatModel

    from ..data.records import Role
    from ..nodes.calls.prices import Asked

LENGTHS: Mapping["Role", tuple[int, int]] = {"user": (10, 80), "assistant": (20, 400)}
"""Tokens of a message of each side: of a short one and of a long one."""

REJECTED = 1 / 3
"""Share of the drafts of an expensive run that are asked for again."""

SAMPLED = 12
"""Most scenarios whose first calls are written out."""

ENOUGH = 5
"""Finished conversations of the folder from which their own mean is used."""

BY_PAGES = (
    "first calls as they would be sent, four characters a token (a Chinese one each); each exchange adds a message of "
    f"each side, of {LENGTHS['user'][0]} to {LENGTHS['user'][1]} and {LENGTHS['assistant'][0]} to "
    f"{LENGTHS['assistant'][1]} tokens; from half of the exchanges and no draft rejected to all of them and every third"
)
BY_FINISHED = "the mean of the {count} finished conversations of the folder, and two standard errors to both sides"


@dataclass(frozen=True)
class Tokens:
    """Tokens that the calls of one side take."""

    input: float = 0.0
    cached: float = 0.0
    output: float = 0.0
    calls: float = 0.0

    @property
    def all(self) -> float:
        """Input and output."""
        return self.input + self.output

    def times(self, factor: float) -> "Tokens":
        """So many times as many."""
        return Tokens(self.input * factor, self.cached * factor, self.output * factor, self.calls * factor)


@dataclass(frozen=True)
class Estimate:
    """Tokens and cost of a run: of a cheap one and of an expensive one."""

    tokens: tuple[int, int]
    cost: tuple[float, float] | None
    """US dollars; None if the price of a model is unknown."""
    unknown: str | None
    """Why the cost is unknown."""
    rule: str


def estimate(cast: Any, missing: list[Any], folder: Path, limits: Any, *, resume: bool) -> Estimate:
    """The estimate for conversations that are yet to be simulated."""
    limits = limits.or_else(cast.limits)
    finished = list(_finished(folder)) if resume else []
    roles: tuple[Role, ...] = ("user", "assistant")
    asking: dict[Role, BaseChatModel] = {role: model for role in roles if (model := speaker_model(cast, role))}
    sides: dict[Role, tuple[Tokens, Tokens]]
    if len(finished) >= ENOUGH:
        rule = BY_FINISHED.format(count=len(finished))
        sides = {role: _by_mean([of_role[role] for of_role in finished], len(missing)) for role in asking}
    else:
        rule = BY_PAGES
        sides = asyncio.run(_by_pages(cast, asking, missing, limits))
    low, high = (round(sum(side[end].all for side in sides.values())) for end in (0, 1))
    cost, unknown = _cost(asking, sides)
    return Estimate((low, high), cost, unknown, rule)


def speaker_model(cast: Any, role: "Role") -> "BaseChatModel | None":
    """The chat model that plays a side; None if something else does."""
    from ..nodes.speakers import ChatSpeaker

    speaker = cast.user_simulator if role == "user" else cast.assistant
    return speaker.model if isinstance(speaker, ChatSpeaker) else None


def _finished(folder: Path) -> Iterator[dict["Role", Tokens]]:
    """Tokens of each finished conversation of the folder, by side."""
    if not (folder / CONVERSATIONS).is_file():
        return
    for conversation in record_lines.iterate_run(folder):
        sides: dict[Role, Tokens] = {}
        for role in LENGTHS:
            used = [attempt.usage for attempt in conversation.attempts(role) if attempt.usage is not None]
            sides[role] = Tokens(
                sum(usage.input_tokens for usage in used),
                sum(usage.cached_tokens for usage in used),
                sum(usage.output_tokens for usage in used),
                sum(usage.calls for usage in used),
            )
        yield sides


def _by_mean(finished: list[Tokens], count: int) -> tuple[Tokens, Tokens]:
    """So many further conversations like the finished ones."""
    if not count:
        return Tokens(), Tokens()
    mean = Tokens(
        *(fmean(getattr(each, name) for each in finished) for name in ("input", "cached", "output", "calls"))
    ).times(count)
    error = 2 * stdev(each.all for each in finished) * (1 / len(finished) + 1 / count) ** 0.5 * count
    share = error / mean.all if mean.all else 0.0
    return mean.times(max(0.0, 1 - share)), mean.times(1 + share)


async def _by_pages(
    cast: Any, asking: Mapping["Role", "BaseChatModel"], missing: list[Any], limits: Any
) -> dict["Role", tuple[Tokens, Tokens]]:
    """Each side's calls, from those that begin a conversation."""
    sample = missing[:: max(1, -(-len(missing) // SAMPLED))]
    exchanges, count = limits.max_turns or 1, len(missing)
    sides: dict[Role, tuple[Tokens, Tokens]] = {}
    for role, model in asking.items():
        first = fmean([await first_call(cast, role, state, limits) for state in sample]) if sample else 0.0
        most = getattr(model, "max_tokens", None)
        ends = []
        for end, turns in ((0, -(-exchanges // 2)), (1, exchanges)):
            lengths = {side: LENGTHS[side][end] for side in LENGTHS}
            own = min(lengths[role], most) if isinstance(most, int) else lengths[role]
            # Each call is sent what was said before it: the sum of 0, 1, ... exchanges.
            sent = turns * first + turns * (turns - 1) / 2 * sum(lengths.values())
            again = 1 + (REJECTED if end else 0.0)
            ends.append(Tokens(sent, 0.0, turns * own, turns).times(again * count))
        sides[role] = (ends[0], ends[1])
    return _bounded(sides, limits.max_tokens, count)


def _bounded(
    sides: dict["Role", tuple[Tokens, Tokens]], max_tokens: int | None, count: int
) -> dict["Role", tuple[Tokens, Tokens]]:
    """The estimates under the limit of tokens of each conversation."""
    if max_tokens is None:
        return sides
    totals = [sum(side[end].all for side in sides.values()) or 1.0 for end in (0, 1)]
    shares = [min(1.0, max_tokens * count / total) for total in totals]
    return {role: (low.times(shares[0]), high.times(shares[1])) for role, (low, high) in sides.items()}


async def first_call(cast: Any, role: "Role", scenario: Any, limits: Any) -> int:
    """About how many tokens a side is sent in its first call about a scenario."""
    from langgraph.runtime import Runtime

    from ..data.records import Message
    from ..graphs.beginning import opening
    from ..nodes.state import merged

    state = merged(merged(scenario, opening(scenario, cast, limits)), {"memory": {}, "speaking": role})
    if role == "assistant":
        asked = Message(role="user", text="word" * round(fmean(LENGTHS["user"])))
        state = merged(state, {"messages": [*state.get("messages", []), asked.plain()]})
    selector = getattr(cast, f"{role}_prompt_selector")
    if type(selector).__module__.startswith("duologue."):  # one of somebody's own may call a model
        update = await selector(state, Runtime(context=limits))
        state = merged(state, {"prompt": update.get("prompt")})
    speaker = cast.user_simulator if role == "user" else cast.assistant
    return sum(tokens_about(str(message.text)) + OF_MESSAGE for message in speaker.build(state))


def _cost(
    asking: Mapping["Role", "BaseChatModel"], sides: Mapping["Role", tuple[Tokens, Tokens]]
) -> tuple[tuple[float, float] | None, str | None]:
    """What the calls cost, or why that is unknown."""
    from ..errors import MissingExtraError
    from ..nodes.calls.prices import asked_model

    totals = [0.0, 0.0]
    for role, model in asking.items():
        asked = asked_model(model)
        for end in (0, 1):
            try:
                cost = 0.0 if asked is None else _price(asked, sides[role][end])
            except MissingExtraError as error:
                return None, str(error)
            if cost is None:
                return None, f"no price of the model {asked.name!r} is known" if asked else None
            totals[end] += cost
    return (totals[0], totals[1]), None


def _price(asked: "Asked", tokens: Tokens) -> float | None:
    """The price of the calls: of one of average length, so many times."""
    from ..nodes.calls.prices import price

    calls = tokens.calls or 1.0
    each = {
        "input_tokens": round(tokens.input / calls),
        "cached_tokens": round(tokens.cached / calls),
        "output_tokens": round(tokens.output / calls),
    }
    one = price(asked, each)
    return None if one is None else one * tokens.calls
