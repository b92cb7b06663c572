"""What a call of a model costs, by the table of genai-prices that is installed: nothing is fetched."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import ModuleType

from langchain_core.language_models import BaseChatModel

from ...errors import of_extra
from ..environment import host_of
from ..models.offline.model import OfflineChatModel
from ..models.specs import endpoint_url

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
class Asked:
    """A chat model as it is asked for: what its price depends on."""

    name: str
    """Its name, without the provider."""
    provider: str | None = None
    """The provider of its spec; None if only its endpoint tells."""
    url: str | None = None
    """Its endpoint; never shown, as it may hold credentials."""

    @property
    def host(self) -> str:
        """Host and port of the endpoint, or the provider, for messages."""
        return host_of(self.url) if self.url else self.provider or self.name


def asked_model(model: BaseChatModel) -> Asked | None:
    """The model as its price is looked up; None for the embedded offline model, which makes no calls that cost."""
    if isinstance(model, OfflineChatModel):
        return None
    spec = str((model.metadata or {}).get("spec", ""))
    provider, _, name = spec.partition(":")
    given = getattr(model, "model_name", None) or getattr(model, "model", None)
    named = name or (given if isinstance(given, str) else "") or type(model).__name__
    return Asked(named, provider or None, endpoint_url(model))


def price(asked: Asked, tokens: Tokens) -> float | None:
    """US dollars of a call; None if the price of the model is unknown. MissingExtraError without the extra `cost`.

    The table is asked for the endpoint's own price where it knows the endpoint, else for the model by its name: a
    gateway's price is taken to be the list price.
    """
    inputs, outputs = tokens.get("input_tokens", 0), tokens.get("output_tokens", 0)
    cached = min(tokens.get("cached_tokens", 0), inputs)
    if inputs >= LONG:
        return _price(asked, inputs, outputs, cached)
    rates = _rates(asked)
    if rates is None:
        return None
    return (inputs - cached) * rates[0] + cached * rates[1] + outputs * rates[2]


@cache
def _rates(asked: Asked) -> tuple[float, float, float] | None:
    """Dollars of an input token, of a cached one and of an output token: a look into the table takes longer than adding."""
    each = [_price(asked, *tokens) for tokens in ((1000, 0, 0), (1000, 0, 1000), (0, 1000, 0))]
    known = [value / 1000 for value in each if value is not None]
    return (known[0], known[1], known[2]) if len(known) == 3 else None


def _price(asked: Asked, inputs: int, outputs: int, cached: int) -> float | None:
    calculate = _calculation(of_extra("genai_prices", "cost"), asked)
    if calculate is None:
        return None
    try:
        return calculate(inputs, outputs, cached)
    except (LookupError, ValueError):
        return None


def _calculation(table: ModuleType, asked: Asked) -> Callable[[int, int, int], float] | None:
    """The price of tokens by the first way of finding the model that the table knows; None if it knows none."""
    if asked.provider in UNPRICED:
        return None
    provider = PROVIDERS.get(asked.provider or "")
    ways: list[dict[str, str]] = [{"provider_id": provider}] if provider else []
    if asked.url:
        ways.append({"provider_api_url": asked.url})
    if not provider:
        ways.append({})
    for way in ways:

        def calculate(inputs: int, outputs: int, cached: int, way: dict[str, str] = way) -> float:
            usage = table.Usage(input_tokens=inputs, output_tokens=outputs, cache_read_tokens=cached)
            return float(table.calc_price(usage, asked.name, **way).total_price)

        try:
            calculate(1, 1, 0)
        except (LookupError, ValueError):
            continue
        return calculate
    return None
