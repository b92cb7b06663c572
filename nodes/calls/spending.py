"""What a run has spent on calls of models, and when that is too much."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...data.text.model_tokens import tokens_about
from ...errors import SettingError
from .prices import PriceQuery, price

COUNTED = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
"""What is added up, by the names of `data.Usage`; cached and reasoning tokens are parts of the first two."""


class ReplyCost(NamedTuple):
    """What a kept reply has taken."""

    role: str
    model: str | None
    usage: Mapping[str, int]
    """By the names of `data.Usage`; without tokens if the endpoint reported none."""
    sent: Sequence[str] = ()
    """The texts that were sent, where tokens are to be counted by characters."""
    reply: str = ""

    @classmethod
    def of(cls, role: str, call: Mapping[str, Any], messages: Callable[[], Mapping[str, Any]]) -> "ReplyCost":
        """What a model's reply in a call journal has taken; `messages`: those of its conversation, by digest."""
        reply = call["reply"]
        usage, metadata = reply.get("usage_metadata") or {}, reply.get("response_metadata") or {}
        counted = {name: usage.get(name, 0) for name in ("input_tokens", "output_tokens")} | {"calls": 1}
        if cached := (usage.get("input_token_details") or {}).get("cache_read"):
            counted["cached_tokens"] = cached
        sent = {} if usage else messages()
        texts = [] if usage else [str(sent.get(digest, {}).get("content", "")) for digest in call.get("sent", [])]
        model = metadata.get("model_name") or metadata.get("model")
        return cls(role, model, counted, texts, str(reply.get("content", "")))


@dataclass
class ModelSpending:
    """What the calls of one model, or of one role, have taken."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float | None = 0.0
    """US dollars; None as soon as the price of a call is unknown."""
    by_characters: int = 0
    """Calls without reported tokens, which were counted by characters."""

    @property
    def tokens(self) -> int:
        """Input and output."""
        return self.input_tokens + self.output_tokens

    def add(self, calls: int, tokens: Mapping[str, int], cost: float | None, *, by_characters: bool) -> None:
        """Add a reply."""
        self.calls += calls
        for name in COUNTED:
            setattr(self, name, getattr(self, name) + tokens.get(name, 0))
        self.cost = None if self.cost is None or cost is None else self.cost + cost
        self.by_characters += calls if by_characters else 0


class BudgetPart(NamedTuple):
    """What may be spent in all; None where there is no such bound."""

    tokens: float | None = None
    cost: float | None = None


@dataclass
class Spending:
    """Calls, tokens and cost of a run so far, by model and by role, and the run's budgets.

    `add` each reply that was paid for, once: also those that a resumed run finds in its journal of calls.
    """

    max_cost: float | None = None
    """Most US dollars; None: no bound, and no price is looked up unless `priced`."""
    max_tokens: float | None = None
    """Most tokens, input and output."""
    priced: bool = False
    """Whether the cost is reported although nothing bounds it."""
    total: ModelSpending = field(default_factory=ModelSpending)
    by_model: dict[str, ModelSpending] = field(default_factory=dict)
    by_role: dict[str, ModelSpending] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    """Remarks on the figures, each only once."""
    unknown: str | None = None
    """The first model whose price is unknown, and where it answered; None without one."""
    is_part: bool = False
    """Whether the bounds are one process' part of a run's: more may come, and the run decides when it is over."""
    no_room: str | None = None
    """Why the next call did not fit into the budget, in words."""

    def __post_init__(self) -> None:
        for name, bound in (("max_cost", self.max_cost), ("max_run_tokens", self.max_tokens)):
            if bound is not None and not bound > 0:
                raise SettingError(f"{name} must be above 0, not {bound}")

    @property
    def part(self) -> BudgetPart:
        """The bounds."""
        return BudgetPart(self.max_tokens, self.max_cost)

    def take_part(self, part: BudgetPart) -> None:
        """Spend no more than one process' part of what the run may spend."""
        self.is_part, self.max_tokens, self.max_cost = True, part.tokens, part.cost

    @property
    def bounded(self) -> bool:
        """Whether tokens or cost are bounded."""
        return self.max_cost is not None or self.max_tokens is not None

    def refuse_unknown(self, models: Iterable[PriceQuery]) -> None:
        """SettingError, before the first call, if the cost is bounded and the price of one of the models is unknown."""
        if self.max_cost is None:
            return
        for query in models:
            if price(query, {"input_tokens": 1, "output_tokens": 1}) is None:
                raise SettingError(
                    f"--max-cost: the price of the model {query.name!r} ({query.host}) is unknown: "
                    "bound the run by --max-run-tokens instead"
                )

    def add(
        self,
        model: str | None,
        usage: Mapping[str, int],
        *,
        role: str,
        query: PriceQuery | None,
        sent: Iterable[str] = (),
        reply: str = "",
    ) -> Mapping[str, int]:
        """Count a reply of the `model` that answered; gives the tokens that were counted.

        `query`: the model that was called; None for one that costs nothing, such as the embedded offline model.
        `sent` and `reply`: the texts of the call; they are counted if the endpoint reported no tokens.
        """
        calls = usage.get("calls", 1)
        by_characters = not (usage.get("input_tokens", 0) or usage.get("output_tokens", 0))
        tokens = _by_characters(sent, reply) if by_characters else usage
        by_characters = by_characters and bool(tokens["input_tokens"] or tokens["output_tokens"])
        name = model or (query.name if query is not None else "offline")
        if by_characters and query is not None:
            self._note(f"no usage reported by {query.host}: tokens are counted by characters")
        cost = self._cost(name, query, tokens)
        for spent in (
            self.total,
            self.by_model.setdefault(name, ModelSpending()),
            self.by_role.setdefault(role, ModelSpending()),
        ):
            spent.add(calls, tokens, cost, by_characters=by_characters)
        return tokens

    def add_update(self, update: Any, role: str) -> int:
        """Count the drafts of an agent's update; gives their tokens. The cost of an agent's own calls is unknown."""
        tokens = 0
        for draft in update.get("drafts", []) if isinstance(update, Mapping) else []:
            if isinstance(draft, Mapping) and (usage := draft.get("usage")):
                self.add(draft.get("model") or "agent", usage, role=role, query=None)
                tokens += usage.get("input_tokens", 0) + usage.get("output_tokens", 0)
        return tokens

    def add_paid(self, paid: ReplyCost, query: PriceQuery | None) -> None:
        """Count a stored reply, as `add`."""
        self.add(paid.model, paid.usage, role=paid.role, query=query, sent=paid.sent, reply=paid.reply)

    def _cost(self, name: str, query: PriceQuery | None, tokens: Mapping[str, int]) -> float | None:
        """The cost of a call at the price of the model that answered, else of the requested model."""
        if query is None:
            return 0.0
        if self.max_cost is None and not self.priced:
            return None
        served = PriceQuery(name, query.provider, query.url)
        cost = price(served, tokens)
        if cost is None and served != query:
            cost = price(query, tokens)
            if cost is not None:
                self._note(
                    f"the price of {name!r}, which answered for {query.name!r}, is unknown: it is counted at that of {query.name!r}"
                )
        if cost is None and self.unknown is None:
            self.unknown = f"{name!r} ({query.host})"
        return cost

    def _note(self, line: str) -> None:
        if line not in self.notes:
            self.notes.append(line)

    def has_room(self, tokens: int, cost: float) -> bool:
        """Whether so much more may be spent."""
        if self.max_tokens is not None and self.total.tokens + tokens > self.max_tokens:
            return False
        return self.max_cost is None or (self.total.cost or 0.0) + cost <= self.max_cost

    def leave_no_room(self, tokens: int) -> None:
        """Nothing more is spent, as the next call, of so many tokens, would pass a bound."""
        if self.max_tokens is not None and (self.max_cost is None or self.total.tokens + tokens > self.max_tokens):
            bound, spent = f"--max-run-tokens {self.max_tokens:,}", f"{self.total.tokens:,} tokens"
        else:
            bound, spent = f"--max-cost {self.max_cost:g}", f"${self.total.cost or 0.0:.4g}"
        self.no_room = f"{bound} is reached, with {spent}: the next call, of about {tokens:,} tokens, would pass it"

    def over(self) -> str | None:
        """Why nothing more may be spent, in words; None if something may."""
        if self.is_part:
            return None
        if self.max_tokens is not None and self.total.tokens >= self.max_tokens:
            return f"--max-run-tokens {self.max_tokens:,} is reached, with {self.total.tokens:,} tokens"
        if self.max_cost is None:
            return self.no_room
        if self.total.cost is None:
            return f"the price of the model {self.unknown} is unknown, so --max-cost cannot be kept"
        if self.total.cost >= self.max_cost:
            return f"--max-cost {self.max_cost:g} is reached, with ${self.total.cost:.4g}"
        return self.no_room

    def plain(self) -> dict[str, object]:
        """The totals as plain values, for `--json`."""
        parts = {"model": self.by_model, "role": self.by_role}
        by = {f"by_{name}": {key: vars(spent) for key, spent in part.items()} for name, part in parts.items()}
        return {**vars(self.total), **by}


def _by_characters(sent: Iterable[str], reply: str) -> dict[str, int]:
    return {"input_tokens": sum(map(tokens_about, sent)), "output_tokens": tokens_about(reply)}
