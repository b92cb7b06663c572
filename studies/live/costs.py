"""What the conversations of a run cost, by list prices and by their records."""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Any

from ...analysis.growth import PriceOf
from ...data.provenance import SIDES
from ...data.records import Conversation, NodeInfo, Role, Usage


def prices() -> PriceOf | None:
    """The cost of a conversation; None where the extra `cost` is not installed."""
    return cost_of if find_spec("genai_prices") is not None else None


def cost_of(conversation: Conversation) -> float | None:
    """US dollars of the calls of a conversation; None if the price of one is unknown.

    A draft costs what its speaker's model costs. What judges and scorers ask costs what the only model of their nodes
    costs.
    """
    costs = [_cost(model, usage) for model, usage in _spent(conversation) if usage.tokens]
    priced = [cost for cost in costs if cost is not None]
    return sum(priced) if len(priced) == len(costs) else None


def _spent(conversation: Conversation) -> Iterator[tuple[str | None, Usage]]:
    """Tokens of a conversation, with the identifier of the model that took them."""
    nodes = conversation.provenance.nodes if conversation.provenance is not None else {}
    sides: tuple[tuple[Role, str, str], ...] = (
        ("user", "user_simulator", "question_validator"),
        ("assistant", "assistant", "answer_validator"),
    )
    for role, speaker, validator in sides:
        models, judges = _models(nodes, speaker), _models(nodes, validator)
        for attempt in conversation.attempts(role, new_only=True):
            if attempt.usage is not None and not attempt.rule_based:
                yield _only(models) or attempt.model, attempt.usage
            if attempt.judging is not None:
                yield _only(judges), attempt.judging
    if conversation.closing_usage is not None:
        others = {model for node in nodes if node not in SIDES for model in _models(nodes, node)}
        yield _only(others or _models(nodes, "user_simulator")), conversation.closing_usage


def _models(nodes: Mapping[str, NodeInfo], node: str) -> set[str]:
    """The identifiers of the models of a node."""
    return set(_specs(nodes[node].settings)) if node in nodes else set()


def _only(models: set[str]) -> str | None:
    return next(iter(models)) if len(models) == 1 else None


def _specs(settings: Any) -> Iterator[str]:
    if isinstance(settings, Mapping):
        for key, value in settings.items():
            if key == "spec" and isinstance(value, str):
                yield value
            else:
                yield from _specs(value)
    elif isinstance(settings, list | tuple):
        for value in settings:
            yield from _specs(value)


def _cost(model: str | None, usage: Usage) -> float | None:
    """Dollars of a usage; None without a model whose price is known."""
    from ...nodes.calls.prices import PriceQuery, price  # brings LangChain along, and most pages count no cost

    if model is None:
        return None
    if model == "offline":
        return 0.0
    provider, colon, name = model.partition(":")
    return price(PriceQuery(name, provider) if colon else PriceQuery(model), dict(usage))
