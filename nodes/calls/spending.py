"""What a run has spent on calls of models, what the calls under way will take, and when that is too much."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from langchain_core.language_models import BaseChatModel

from ...data.records import Usage
from ...data.text.words import tokens_about
from ...data.tracing import host_of
from ...errors import SettingError, of_extra
from ..models.offline.model import OfflineChatModel
from ..models.specs import endpoint_url
from .gate import RunOverError
from .store import Replies

UNPRICED = ("ollama", "huggingface", "nvidia")  # whose models bear names of others' models, and not their prices
FEW = 2  # ended calls by which the most that a call takes is known within a factor of two


@dataclass(frozen=True)
class PriceQuery:
    """A chat model as it is asked for: what its price depends on."""

    name: str  # its name, without the provider
    provider: str | None = None  # the provider of its name; None if only its endpoint is known
    url: str | None = field(default=None, repr=False)  # its endpoint; never shown, as it may hold credentials

    @property
    def host(self) -> str:
        """Host and port of the endpoint, or the provider, for messages."""
        return host_of(self.url) if self.url else self.provider or self.name


def asked_model(model: BaseChatModel) -> PriceQuery | None:
    """The model as its price is looked up; None for the embedded offline model, which makes no calls that cost."""
    if isinstance(model, OfflineChatModel):
        return None
    provider, _, name = str((model.metadata or {}).get("spec", "")).partition(":")
    model_name = getattr(model, "model_name", None) or getattr(model, "model", None)
    named = name or (model_name if isinstance(model_name, str) else "") or type(model).__name__
    return PriceQuery(named, provider or None, endpoint_url(model))


def price(query: PriceQuery, tokens: Mapping[str, int]) -> float | None:
    """US dollars of a call with these tokens (names of `data.Usage`), by the installed table of genai-prices.

    None if the table does not have the model. The price is that of the endpoint where the table has it, else the list
    price of the model's name. MissingExtraError without the extra `cost`.
    """
    inputs, outputs = tokens.get("input_tokens", 0), tokens.get("output_tokens", 0)
    cached = min(tokens.get("cached_tokens", 0), inputs)
    if (found := _in_table(query)) is None:
        return None
    usage = of_extra("genai_prices", "cost").Usage(input_tokens=inputs, output_tokens=outputs, cache_read_tokens=cached)
    return float(found.calc_price(usage)["total_price"])


@cache
def _in_table(query: PriceQuery) -> Any:
    """The prices of a model; None without any. They are kept, as to look for them takes longer than a call."""
    table = of_extra("genai_prices", "cost")
    compatible = query.provider in (None, "openai", "langchain_openai")  # anybody's models are called so
    places: list[dict[str, Any]] = [{"provider_api_url": query.url}] if query.url else []
    places.append({} if compatible else {"provider_id": str(query.provider).replace("_", "-")})
    for where in places if query.provider not in UNPRICED else ():
        with suppress(LookupError, ValueError):
            return table.calc_price(table.Usage(input_tokens=1), query.name, **where).model_price
    return None


@dataclass
class Spending:
    """Calls, tokens and cost of a run so far, and the run's budgets.

    `add` each reply that was paid for, once: also those that a resumed run finds among the kept ones.
    """

    max_cost: float | None = None  # most US dollars; None: no bound, and no price is looked up unless `priced`
    max_tokens: float | None = None  # most tokens, input and output
    priced: bool = False  # whether the cost is reported although nothing bounds it
    total: Usage = field(default_factory=Usage.none)
    cost: float | None = 0.0  # US dollars; None as soon as the price of a call is unknown
    notes: list[str] = field(default_factory=list)  # remarks on the figures, each only once
    unknown: str | None = None  # the first model whose price is unknown, and where it answered; None without one
    no_room: str | None = None  # why the next call did not fit into the budget, in words

    def __post_init__(self) -> None:
        for name, bound in (("max_cost", self.max_cost), ("max_tokens", self.max_tokens)):
            if bound is not None and not bound > 0:
                raise SettingError(f"{name} must be above 0, not {bound}")

    @property
    def counted_cost(self) -> float | None:
        """US dollars so far; None where no price is looked up, or one is unknown."""
        return self.cost if self.prices else None

    @property
    def bounded(self) -> bool:
        """Whether tokens or cost are bounded."""
        return self.max_cost is not None or self.max_tokens is not None

    def refuse_unknown(self, models: Iterable[PriceQuery]) -> None:
        """SettingError, before the first call, if the cost is bounded and the price of one of the models is unknown."""
        for query in models if self.max_cost is not None else ():
            if price(query, {"input_tokens": 1}) is None:
                what = f"the price of the model {query.name!r} ({query.host}) is unknown"
                raise SettingError(f"--max-cost: {what}: bound the run by --max-tokens instead")

    def add(
        self,
        model: str | None,
        usage: Mapping[str, int],
        *,
        query: PriceQuery | None,
        sent: int = 0,
        reply: str = "",
    ) -> tuple[int, float]:
        """Count a reply of the `model` that answered; gives its tokens and dollars.

        `query`: the model that was called; None for one that costs nothing, such as the embedded offline model.
        `sent`: tokens of what was sent, by its characters, and `reply`: its text; both count if the endpoint reported none.
        """
        calls, tokens = usage.get("calls", 1), usage
        by_characters = not (usage.get("input_tokens", 0) or usage.get("output_tokens", 0))
        if by_characters:
            tokens = {"input_tokens": sent, "output_tokens": tokens_about(reply)}
            by_characters = any(tokens.values())
        name = model or (query.name if query is not None else "offline")
        if by_characters and query is not None:
            self._note(f"no usage reported by {query.host}: tokens are counted by characters")
        cost = self._cost(name, query, tokens)
        return self._count(calls, tokens, cost), cost or 0.0

    def _count(self, calls: int, tokens: Mapping[str, int], cost: float | None) -> int:
        sent, replied = tokens.get("input_tokens", 0), tokens.get("output_tokens", 0)
        self.total += Usage(calls=calls, input_tokens=sent, output_tokens=replied)
        self.cost = None if self.cost is None or cost is None else self.cost + cost
        return sent + replied

    def include(self, more: "Spending") -> None:
        """Add what others have spent; the bounds stay."""
        self._count(more.total.calls, more.total.model_dump(), more.cost)
        self.notes += [line for line in more.notes if line not in self.notes]
        self.unknown = self.unknown or more.unknown

    def add_kept(self, replies: Replies) -> None:
        """Count the replies that an earlier command has paid for: a run's bounds hold over all its calls."""
        for to, sent, reply in replies.paid():
            if "drafts" in reply:
                self.add_update(reply)
                continue
            usage, metadata = reply.get("usage_metadata") or {}, reply.get("response_metadata") or {}
            spec = str(to.get("spec") or (to.get("arguments") or {}).get("model") or "")
            provider, _, name = spec.rpartition(":")
            cached = (usage.get("input_token_details") or {}).get("cache_read", 0)
            self.add(
                metadata.get("model_name") or metadata.get("model"),
                {"input_tokens": 0, "output_tokens": 0, **usage, "cached_tokens": cached},
                query=PriceQuery(name.partition("?")[0], provider or None),
                sent=sent,
                reply=str(reply.get("content", "")),
            )

    def add_update(self, update: Any) -> tuple[int, float]:
        """Count what an agent's own models took, by the drafts of its update and their steps; gives tokens and dollars.

        A model of an unknown price costs nothing here: a note says so.
        """
        taken = [(0, 0.0)]
        for draft in update.get("drafts", []):
            for told in [step for step in draft.get("steps", []) if step.get("usage")] or [draft]:
                model, usage = told.get("model"), told.get("usage", {})
                query = PriceQuery(str(model)) if model else None
                if query is not None and self.prices and price(query, usage) is None:
                    self._note(f"the price of {model!r}, a model of the agent's own, is unknown: it is not counted")
                    query = None
                if usage:
                    taken.append(self.add(model or "agent", usage, query=query))
        return sum(tokens for tokens, _ in taken), sum(dollars for _, dollars in taken)

    @property
    def prices(self) -> bool:
        """Whether prices are looked up."""
        return self.max_cost is not None or self.priced

    def _cost(self, name: str, query: PriceQuery | None, tokens: Mapping[str, int]) -> float | None:
        """The cost of a call at the price of the model that answered, else of the requested model."""
        if query is None:
            return 0.0
        if not self.prices:
            return None
        cost = price(PriceQuery(name, query.provider, query.url), tokens)
        if cost is None and name != query.name and (cost := price(query, tokens)) is not None:
            self._note(
                f"the price of {name!r} is unknown: it is counted at that of {query.name!r}, for which it answered"
            )
        if cost is None and self.unknown is None:
            self.unknown = f"{name!r} ({query.host})"
        return cost

    def _note(self, line: str) -> None:
        if line not in self.notes:
            self.notes.append(line)

    def reached(self, tokens: float = 0.5, cost: float = 1e-9) -> str | None:
        """The bound that so much more would pass, with what is spent, in words; None if there is room."""
        if self.max_tokens is not None and self.total.tokens + tokens > self.max_tokens:
            return f"--max-tokens {self.max_tokens:,} is reached, with {self.total.tokens:,} tokens"
        if self.max_cost is not None and (self.cost or 0.0) + cost > self.max_cost:
            return f"--max-cost {self.max_cost:g} is reached, with ${self.cost or 0.0:.4g}"
        return None

    def leave_no_room(self, tokens: float, cost: float = 1e-9) -> None:
        """Nothing more is spent, as the next call, of so many tokens, would pass a bound."""
        self.no_room = f"{self.reached(tokens, cost)}: the next call, of about {tokens:,.0f} tokens, would pass it"

    def over(self) -> str | None:
        """Why nothing more may be spent, in words; None if something may."""
        if self.max_cost is not None and self.cost is None:
            return f"the price of the model {self.unknown} is unknown, so --max-cost cannot be kept"
        return self.reached() or self.no_room


@dataclass
class Reservations:
    """The calls under way in one event loop, each with its part of what is left of the budget.

    A call's part is an upper estimate: what it sends, by its characters, and the most that a call took beyond that, at the
    highest price of a token so far; more while few calls have told what they take. Until one has ended one is under way;
    then twice as many as have.
    """

    spending: Spending
    closed: bool = False  # whether no call may begin any more
    _ended: int = 0
    _beyond: float = 0.0  # most tokens of one of those beyond what it was expected to send
    _price: float = 0.0  # most dollars of a token
    _held: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])  # tokens and dollars of each
    _change: asyncio.Event = field(default_factory=asyncio.Event)

    @asynccontextmanager
    async def room(self, expected: int) -> AsyncIterator[Callable[[int, float], None]]:
        """Inside, a call is under way that sends about so many tokens; waits until there is room.

        Gives what is called with the tokens and dollars that it took. RunOverError if there will be no room.
        """
        part = (0.0, 0.0)
        while self.spending.bounded and not self.closed:
            tokens = expected + self._beyond * (1 + FEW / max(1, self._ended))
            part = tokens, tokens * self._price
            passed = self.spending.reached(*map(sum, zip(part, *self._held, strict=True)))
            if passed is None and len(self._held) < max(1, 2 * self._ended):
                break
            if not self._held:
                self.spending.leave_no_room(*part)
            if self.spending.over() is not None:
                raise RunOverError
            await self._change.wait()
        if self.closed:
            raise RunOverError
        self._held.append(part)

        def took(tokens: int, dollars: float) -> None:
            self._ended += 1
            self._beyond = max(self._beyond, tokens - expected)
            self._price = max(self._price, dollars / max(1, tokens))

        try:
            yield took
        finally:
            self._held.remove(part)
            self.wake()

    def wake(self) -> None:
        """Let waiting calls look again whether there is room."""
        change, self._change = self._change, asyncio.Event()
        change.set()

    def close(self) -> None:
        """Let no call begin any more."""
        self.closed = True
        self.wake()
