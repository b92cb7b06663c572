"""A chat model in this process that answers at once: what is left of a run's cost is the graph's own."""

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from .replies import USAGE, said
from .workload import Workload

TOKENS = {"input_tokens": USAGE["prompt_tokens"], "output_tokens": USAGE["completion_tokens"]}


class InstantChatModel(BaseChatModel):
    """Says the endpoint's texts one after another."""

    _calls: int = PrivateAttr(default=0)

    @property
    def calls(self) -> int:
        return self._calls

    @property
    def _llm_type(self) -> str:
        return "instant"

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self._calls += 1
        usage: Any = TOKENS | {"total_tokens": USAGE["total_tokens"]}
        message = AIMessage(content=said(self._calls), usage_metadata=usage)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        return self._generate(messages)


KINDS: dict[str, type[BaseMessage]] = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}


async def called_alone(work: Workload) -> int:
    """As many calls of the model alone by `ainvoke`, with messages as a conversation has half way; their number."""
    model = InstantChatModel()
    said_so_far = [said(number) for number in range(work.turns)]
    pages = work.texts
    requests = [
        [KINDS[role](content=text) for role, text in texts]
        for texts in (pages.for_user(0, said_so_far), pages.for_assistant(said_so_far))
    ]
    for number in range(work.calls):
        await model.ainvoke(requests[number % 2])
    return model.calls
