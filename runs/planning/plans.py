"""Plans of what models are asked: how many calls, and about how many tokens and dollars.

Code that asks models gives the calls of each model (`ModelCalls`). Tokens, dollars and the lines of a plan come from
these.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from ...errors import MissingExtraError
from ...nodes.calls.spending import PriceQuery, price

ENDS = (0, 1, 2)
"""At least, about, at most."""
NAMES = ("low", "about", "high")

ANSWER = (20, 60, 200)
"""Tokens of a judge's reply: a short one, the mean, a long one."""

REJECTED = 1 / 10
"""Share of the drafts that are asked for again, about."""

AS_SENT = "every request as it would be sent, four characters a token (a Chinese one each)"


class CallTokens(NamedTuple):
    """Tokens that some calls take."""

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
        amounts = (round(value / (self.calls or 1.0)) for value in self[:3])
        return dict(zip(("input_tokens", "cached_tokens", "output_tokens"), amounts, strict=True))

    def times(self, factor: float) -> "CallTokens":
        """So many times as many."""
        return CallTokens(*(value * factor for value in self))


Ends: TypeAlias = tuple[CallTokens, CallTokens, CallTokens]


class ModelCalls(NamedTuple):
    """Calls of one model, or of something that costs nothing: at least, about, at most."""

    model: PriceQuery | None
    ends: Ends

    @classmethod
    def of(cls, model: PriceQuery | None, requests: Iterable[tuple[int, int]]) -> "ModelCalls":
        """Calls that are counted one by one: tokens that each sends and gets."""
        sent = list(requests)
        tokens = CallTokens(sum(one[0] for one in sent), 0.0, sum(one[1] for one in sent), len(sent))
        return cls(model, (tokens, tokens, tokens))

    def times(self, factors: Sequence[float]) -> "ModelCalls":
        """So many times as many, with a factor for each end."""
        low, about, high = (tokens.times(factor) for tokens, factor in zip(self.ends, factors, strict=True))
        return ModelCalls(self.model, (low, about, high))


@dataclass(frozen=True)
class CallEstimate:
    """Tokens and cost of calls: at least, about, at most."""

    calls: tuple[ModelCalls, ...]
    rule: str
    """How tokens are counted."""
    assumed: Mapping[str, str] = field(default_factory=dict)
    """What each end assumes, in words; empty where nothing is assumed."""
    is_range: bool = True
    """False if every request is counted as it would be sent, once: the ends are one."""

    @property
    def tokens(self) -> tuple[int, int, int]:
        """Input and output."""
        low, about, high = (round(sum(calls.ends[end].all for calls in self.calls)) for end in ENDS)
        return low, about, high

    @cached_property
    def unknown(self) -> str | None:
        """Why the cost is unknown."""
        return next((why for calls in self.calls for end in ENDS if (why := _price(calls, end)[1])), None)

    @cached_property
    def cost(self) -> tuple[float, float, float] | None:
        """US dollars; None if the price of a model is unknown."""
        if self.unknown is not None:
            return None
        low, about, high = (sum(_price(calls, end)[0] for calls in self.calls) for end in ENDS)
        return low, about, high

    def within(self, max_tokens: int | None, max_cost: float | None) -> "CallEstimate":
        """The estimate under these bounds; a run may pass them by the calls under way."""
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
        assumed = "; then ".join(filter(None, [self.assumed.get("at most"), "a bound of the run ends it"]))
        calls = tuple(calls.times(shares) for calls in self.calls)
        return replace(self, calls=calls, assumed={**self.assumed, "at most": assumed})

    def plain(self) -> dict[str, Any]:
        """The estimate as JSON values."""
        sent, replied = (round(sum(calls.ends[1][part] for calls in self.calls)) for part in (0, 2))
        cost: Any = self.cost if self.cost is None or self.is_range else self.cost[1]
        return {
            "tokens": {**dict(zip(NAMES, self.tokens, strict=True)), "input": sent, "output": replied},
            "cost": dict(zip(NAMES, cost, strict=True)) if isinstance(cost, tuple) else cost,
            "cost_unknown": self.unknown,
            "rule": self.rule,
            "assumed": dict(self.assumed),
        }

    @property
    def lines(self) -> list[str]:
        """The estimate in words."""
        low, about, high = map(_rounded, self.tokens)
        sent, replied = (_rounded(self.plain()["tokens"][part]) for part in ("input", "output"))
        tokens = f"{about} (at least {low}, at most {high})" if self.is_range else f"{sent} sent and {replied} replied"
        assumed = [f"{end}: {words}" for end, words in self.assumed.items()]
        return [f"tokens: about {tokens}", f"cost:   {self._dollars}", *assumed, f"how tokens are counted: {self.rule}"]

    @property
    def _dollars(self) -> str:
        if self.cost is None:
            return f"unknown: {self.unknown}"
        low, about, high = self.cost
        if not any(calls.model is not None and calls.ends[2].calls for calls in self.calls):
            return "nothing: no language model is called"
        return f"about ${about:.2g}" + (f" (at least ${low:.2g}, at most ${high:.2g})" if self.is_range else "")


@dataclass(frozen=True)
class CallPlan:
    """How much there is to do, and how many calls that takes."""

    count: int
    what: str
    """Of what, such as `conversations`."""
    usual: int
    """Calls if no draft is rejected and every conversation is as long as it may be."""
    most: int
    """Calls if every draft is rejected as often as may be."""
    length: str
    """How long each is, in words."""
    calls_models: bool
    """Whether a model, an agent or an endpoint is called, that is, more than the offline model and stored messages."""
    estimated: Callable[[], CallEstimate]
    """About how much it takes, which may need some time."""
    further: tuple[str, ...] = ()
    """What makes calls of its own, which are not counted."""
    again: str = "drafts are rejected"
    """Why a call is made again."""
    fewer: tuple[str, ...] = ()
    """Why fewer calls may be made than are counted, a line each."""
    parts: tuple[str, Mapping[str, Mapping[str, int]]] | None = None
    """What it consists of, such as `labels`, and the numbers of each part."""

    @property
    def line(self) -> str:
        """The plan in one line."""
        what = self.what.removesuffix("s") if self.count == 1 else self.what
        calls = f"up to {self.usual:,} calls, and up to {self.most:,} if {self.again}"
        beside = f"; calls made by {' and '.join(self.further)} are not counted" if self.further else ""
        return f"{self.count:,} {what} planned, {self.length}: {calls if self.most else 'no calls of a model'}{beside}"

    def lines(self, max_tokens: int | None = None, max_cost: float | None = None) -> list[str]:
        """The plan in words, with what it takes under these bounds."""
        if not self.most:
            return [self.line]
        parts = (
            f"{name}: {', '.join(f'{number:,} {what}' for what, number in numbers.items())}"
            for name, numbers in (self.parts[1] if self.parts else {}).items()
        )
        return [self.line, *parts, *self.fewer, *self.estimated().within(max_tokens, max_cost).lines]

    def plain(self, max_tokens: int | None = None, max_cost: float | None = None) -> dict[str, Any]:
        """The plan as JSON values, with what it takes under these bounds."""
        return {
            self.what: self.count,
            "calls": {"usual": self.usual, "most": self.most},
            **({self.parts[0]: dict(self.parts[1])} if self.parts else {}),
            **self.estimated().within(max_tokens, max_cost).plain(),
            "not_counted": list(self.further),
            "fewer": list(self.fewer),
        }


def joined(plans: Mapping[str, CallPlan], what: str, length: str, part: str) -> CallPlan:
    """The plan of several plans by name, one after the other; `part`: what each is, such as `runs`.

    `what`: of what; the plans of anything else count only with their calls.
    """

    def estimated() -> CallEstimate:
        estimates = [plan.estimated() for plan in plans.values()]
        ends = dict.fromkeys(end for estimate in estimates for end in estimate.assumed)
        assumed = {end: _each_once(estimate.assumed.get(end) for estimate in estimates) for end in ends}
        calls = tuple(calls for estimate in estimates for calls in estimate.calls)
        return CallEstimate(calls, _each_once(estimate.rule for estimate in estimates), assumed)

    return CallPlan(
        sum(plan.count for plan in plans.values() if plan.what == what),
        what,
        sum(plan.usual for plan in plans.values()),
        sum(plan.most for plan in plans.values()),
        length,
        any(plan.calls_models for plan in plans.values()),
        estimated,
        tuple(dict.fromkeys(place for plan in plans.values() for place in plan.further)),
        fewer=tuple(dict.fromkeys(line for plan in plans.values() for line in plan.fewer)),
        parts=(part, {name: {plan.what: plan.count, "calls": plan.usual} for name, plan in plans.items()}),
    )


def _each_once(texts: Iterable[str | None]) -> str:
    return " / ".join(dict.fromkeys(filter(None, texts)))


def _price(calls: ModelCalls, end: int) -> tuple[float, str | None]:
    """US dollars of the calls, each one of average length; 0 and the reason without a price."""
    if calls.model is None:
        return 0.0, None
    try:
        dollars = price(calls.model, calls.ends[end].of_a_call)
    except MissingExtraError as error:
        return 0.0, str(error)
    if dollars is None:
        return 0.0, f"no price of the model {calls.model.name!r} is known"
    return dollars * calls.ends[end].calls, None


def _rounded(value: int) -> str:
    """A number with two digits that count: more would pretend to be known."""
    digits = len(str(value))
    return f"{round(value, 2 - digits):,}" if digits > 2 else str(value)
