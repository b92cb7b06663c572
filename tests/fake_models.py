"""Fake chat models of more than one test: they keep the options of calls, or are paid for."""

from typing import Any

from langchain_core.exceptions import ModelInvalidRequestError
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from pydantic import Field

from duologue.nodes.models.offline.model import OfflineChatModel
from duologue.nodes.models.scripted import ScriptedModel


class SeedlessModel(ScriptedModel):
    """One without a seed."""

    by_call: bool = True
    options: list[dict[str, Any]] = Field(default_factory=list, exclude=True)
    """The options of each call so far."""

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **options: Any
    ) -> ChatResult:
        self.options.append(options)
        return super()._generate(messages, stop, run_manager, **options)


class SeededModel(SeedlessModel):
    """One that takes a seed."""

    seed: int | None = None
    tokens: tuple[int, int] | None = (5, 2)

    @property
    def seeds(self) -> list[Any]:
        """The seed of each call so far."""
        return [options["seed"] for options in self.options]


class PaidModel(BaseChatModel):
    """The embedded model behind a till: it counts its calls, and refuses after so many."""

    side: str
    till: Any
    """A list with an entry for each call."""
    most: int = 10**9
    misbehave: float = 0.3
    seed: int | None = None
    words: str = ""

    @property
    def _llm_type(self) -> str:
        return "paid"

    @property
    def model(self) -> str:
        return f"paid{self.words}"

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **more: Any) -> Any:
        if len(self.till) >= self.most:
            raise ModelInvalidRequestError("the till is closed")
        self.till.append(1)
        return OfflineChatModel(side=self.side, misbehave=self.misbehave)._generate(messages, stop, **more)
