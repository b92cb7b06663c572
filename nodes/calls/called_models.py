"""What the calls of a model share with one another: their endpoint, how often they are tried, and their tokens."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage

from ...data.identity import digest
from ...data.text.model_tokens import tokens_about
from ..models.offline.model import OfflineChatModel
from ..models.specs import endpoint_host


def endpoint_of(model: BaseChatModel) -> str | None:
    """Which endpoint a model calls: its host, else the name of its class; None for the embedded offline model."""
    return None if isinstance(model, OfflineChatModel) else endpoint_host(model) or type(model).__name__


@lru_cache(maxsize=64)
def address_digest(endpoint: str | None) -> str:
    """What is kept of an endpoint's address: its digest."""
    return digest(endpoint or "")[:16]


def served_name(message: AIMessage) -> str | None:
    """The name of the model that answered, as the endpoint gives it."""
    served = message.response_metadata.get("model_name") or message.response_metadata.get("model")
    return str(served) if served else None


def side_of(role: str) -> str:
    """`user` and `assistant` for what these say, else `judge`: a judge's role says more than that."""
    return role if role in ("user", "assistant") else "judge"


def most_tries(model: BaseChatModel) -> int | None:
    """How often a call may be made, as the model's spec says it (`max_retries`); None if it does not."""
    arguments = (model.metadata or {}).get("arguments")
    retries = arguments.get("max_retries") if isinstance(arguments, Mapping) else None
    return retries + 1 if isinstance(retries, int) else None


def tokens_expected(messages: Sequence[BaseMessage]) -> int:
    """About how many tokens a call takes: a guess before it, which its usage corrects."""
    return sum(tokens_about(str(message.content)) for message in messages) + 100


def tokens_taken(message: AIMessage) -> int:
    """The tokens that the endpoint reports; 0 if it reports none."""
    return int(message.usage_metadata["total_tokens"]) if message.usage_metadata else 0
