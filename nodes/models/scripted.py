"""A chat model that answers given lines, for tests."""

from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult


class ScriptedModel(BaseChatModel):
    """Says its lines in turn, then the last one for ever.

    Which line is next depends on the messages alone, on how many of them are its own: one model may speak in many
    conversations at once. Tools may be bound to it; a line may be a message with tool calls.
    """

    lines: list[str | AIMessage]

    @property
    def _llm_type(self) -> str:
        return "duologue-scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        """The model itself: its lines say which tools are called."""
        return self

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        said = sum(isinstance(message, AIMessage) for message in messages)
        line = self.lines[min(said, len(self.lines) - 1)]
        message = AIMessage(line) if isinstance(line, str) else line.model_copy()
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        return self._generate(messages)
