"""A chat model that answers with scripted lines and keeps what it is sent, for tests."""

from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field, InstanceOf


class ScriptedModel(BaseChatModel):
    """Answers with its lines in turn, then always with the last one; raises a line that is an exception.

    The next line depends only on how many of the messages are its own: one model may be used in many conversations at
    once. Tools may be bound to it; a line may be a message with tool calls.
    """

    lines: list[str | InstanceOf[AIMessage] | InstanceOf[Exception]]
    by_call: bool = False
    """Whether each call takes the next line, for any request."""
    tokens: tuple[int, int] | None = None
    """Input and output tokens that each call reports; None: those of the line, if it is a message with any."""
    sent: list[list[BaseMessage]] = Field(default_factory=list, exclude=True)
    """The messages of each call so far."""

    @property
    def texts(self) -> list[str]:
        """The texts of the messages of each call so far, joined by line breaks."""
        return ["\n".join(str(message.text) for message in messages) for messages in self.sent]

    @property
    def _llm_type(self) -> str:
        return "duologue-scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        """The model with these settings, as its lines contain the tool calls."""
        return self.bind(**kwargs)

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        replies = len(self.sent) if self.by_call else sum(isinstance(message, AIMessage) for message in messages)
        self.sent.append(list(messages))
        line = self.lines[min(replies, len(self.lines) - 1)]
        if isinstance(line, Exception):
            raise line
        message = AIMessage(line) if isinstance(line, str) else line.model_copy()
        if self.tokens is not None:
            read, written = self.tokens
            message.usage_metadata = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        return self._generate(messages, *args, **kwargs)
