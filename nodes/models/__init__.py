"""Chat models: `openai:NAME`, the embedded rule-based `offline`, or any LangChain chat model."""

from ...errors import ModelError
from .specs import chat_model

__all__ = ["ModelError", "chat_model"]
