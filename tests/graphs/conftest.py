"""Scripted casts: speakers that say given lines, so that every branch can be played."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from langgraph.runtime import Runtime

from duologue.data.simquac import Topic
from duologue.graphs import Cast, simquac
from duologue.nodes import Limits, State, Update
from duologue.nodes.replies import draft

SECTION = "Three keepers lived there (with a dog). The last one left in 1968. Ships still pass at night."


@dataclass
class Scripted:
    """Writes one line a call, or several or none; an exception in the script is raised.

    It stores what it was sent.
    """

    lines: list[Any]
    build: Any = None
    seen: list[State] = field(default_factory=list)

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        self.seen.append(state)
        line = self.lines[(len(self.seen) - 1) % len(self.lines)]
        if isinstance(line, Exception):
            raise line
        if isinstance(line, dict):
            return line  # type: ignore[return-value]
        texts = [line] if isinstance(line, str) else line
        return {"drafts": [draft(text) for text in texts]}


@pytest.fixture
def topic() -> Topic:
    return Topic(title="The lighthouse", background="It stands on the pier.", header="Keepers", section=SECTION)


@pytest.fixture
def scripted() -> type[Scripted]:
    return Scripted


@pytest.fixture
def casting() -> Callable[..., Cast]:
    """A SimQuAC cast whose speakers say these lines."""

    def make(user: list[Any], assistant: list[Any] | None = None, **changes: Any) -> Cast:
        plain = simquac.cast()
        return plain.replace(
            user_simulator=Scripted(user, plain.user_view),
            assistant=Scripted(assistant or ["Three keepers"], plain.assistant_view),
            **changes,
        )

    return make
