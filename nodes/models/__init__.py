"""Chat models: `openai:NAME`, the embedded rule-based `offline`, or any LangChain chat model."""

from ...errors import ModelError
from .specs import chat_model, endpoint_host, model_provenance, parse_spec, takes_seed

__all__ = ["ModelError", "chat_model", "endpoint_host", "model_provenance", "parse_spec", "takes_seed"]
