"""Conversations that wait for an agent: only the run can end its turns."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

CONVERSATION: "ContextVar[asyncio.Task[Any] | None]" = ContextVar("duologue_conversation_task", default=None)
"""The task of the conversation that is under way in a run."""


@dataclass
class AgentTurns:
    """The turns of agents that are under way in a run."""

    waiting: "Counter[asyncio.Task[Any]]" = field(default_factory=Counter)
    """Conversations that wait for an agent, with the number of its turns under way."""
    dropped: bool = False
    """Whether agents are waited for no more."""

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Inside, the conversation waits for an agent."""
        conversation = CONVERSATION.get()
        if conversation is None:
            yield
            return
        self.waiting[conversation] += 1
        if self.dropped:
            conversation.cancel()
        try:
            yield
        finally:
            self.waiting[conversation] -= 1
            if not self.waiting[conversation]:
                del self.waiting[conversation]

    def drop(self) -> None:
        """Cancel the conversations that wait for an agent, now and from now on."""
        self.dropped = True
        for conversation in list(self.waiting):
            conversation.cancel()
