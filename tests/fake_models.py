"""Fake chat models of more than one test: they keep the options of calls, or are paid for."""

from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from pydantic import Field

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
