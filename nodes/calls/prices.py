"""What a call of a model costs, by the table of genai-prices that is installed: nothing is fetched."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from langchain_core.language_models import BaseChatModel

from ...errors import of_extra
from ..models.offline.model import OfflineChatModel
from ..models.specs import endpoint_url
from ..settings.redaction import host_of

Tokens = Mapping[str, int]
"""Tokens of a call, by the names of `data.Usage`."""

LONG = 16_000
"""Input tokens from which a call is priced by itself: some models cost more for long inputs."""

PROVIDERS = {
    "anthropic": "anthropic",
    "azure_openai": "azure",
    "bedrock": "aws",
    "bedrock_converse": "aws",
    "cohere": "cohere",
    "deepseek": "deepseek",
    "fireworks": "fireworks",
    "google_genai": "google",
    "google_vertexai": "google",
    "groq": "groq",
    "mistralai": "mistral",
    "openrouter": "openrouter",
    "perplexity": "perplexity",
    "together": "together",
    "xai": "x-ai",
}
"""Providers of specs by their name in the table of prices."""

UNPRICED = frozenset({"ollama", "huggingface", "nvidia"})
"""Providers whose models bear names of others' models, and not their prices."""


@dataclass(frozen=True)
class PriceQuery:
    """A chat model as it is asked for: what its price depends on."""

    name: str
    """Its name, without the provider."""
    provider: str | None = None
    """The provider of its spec; None if only its endpoint is known."""
    url: str | None = None
    """Its endpoint; never shown, as it may hold credentials."""

    @property
    def host(self) -> str:
        """Host and port of the endpoint, or the provider, for messages."""
        return host_of(self.url) if self.url else self.provider or self.name


def asked_model(model: BaseChatModel) -> PriceQuery | None:
    """The model as its price is looked up; None for the embedded offline model, which makes no calls that cost."""
    if isinstance(model, OfflineChatModel):
        return None
    spec = str((model.metadata or {}).get("spec", ""))
    provider, _, name = spec.partition(":")
    model_name = getattr(model, "model_name", None) or getattr(model, "model", None)
    named = name or (model_name if isinstance(model_name, str) else "") or type(model).__name__
    return PriceQuery(named, provider or None, endpoint_url(model))


def price(query: PriceQuery, tokens: Tokens) -> float | None:
    """US dollars of a call; None if the price of the model is unknown.

    MissingExtraError without the extra `cost`.

    The price is that of the endpoint where the table contains it, else that of the model by its name. So a gateway's
    price is taken to be the list price.
    """
    inputs, outputs = tokens.get("input_tokens", 0), tokens.get("output_tokens", 0)
    cached = min(tokens.get("cached_tokens", 0), inputs)
    if inputs >= LONG:
        return _price(query, inputs, outputs, cached)
    rates = _rates(query)
    if rates is None:
        return None
    return (inputs - cached) * rates[0] + cached * rates[1] + outputs * rates[2]


@cache
def _rates(query: PriceQuery) -> tuple[float, float, float] | None:
    """Dollars of an input token, of a cached one and of an output token.

    They are cached, because a look into the table takes longer than adding.
    """
    prices = [_price(query, *tokens) for tokens in ((1000, 0, 0), (1000, 0, 1000), (0, 1000, 0))]
    per_token = [value / 1000 for value in prices if value is not None]
    return (per_token[0], per_token[1], per_token[2]) if len(per_token) == 3 else None


def _price(query: PriceQuery, inputs: int, outputs: int, cached: int) -> float | None:
    """The price by the first way in which the table finds the model; None if it finds none."""
    table = of_extra("genai_prices", "cost")
    usage = table.Usage(input_tokens=inputs, output_tokens=outputs, cache_read_tokens=cached)
    for way in _ways(query):
        try:
            return float(table.calc_price(usage, query.name, **way).total_price)
        except (LookupError, ValueError):
            continue
    return None


def _ways(query: PriceQuery) -> list[dict[str, str]]:
    """Where the table looks for the model: at its provider, at its endpoint, or anywhere."""
    if query.provider in UNPRICED:
        return []
    provider = PROVIDERS.get(query.provider or "")
    ways: list[dict[str, str]] = [{"provider_id": provider}] if provider else []
    if query.url:
        ways.append({"provider_api_url": query.url})
    if not provider:
        ways.append({})
    return ways
