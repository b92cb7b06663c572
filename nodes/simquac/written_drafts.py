"""A student and a teacher whose first drafts of a turn were written beforehand, for the demo."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, TypeAlias

from langgraph.runtime import Runtime

from ...data.identity import digest
from ...data.records import Role
from ..contract import Node, describe
from ..limits import Limits
from ..state import State, Update, attempt_number

TurnDrafts: TypeAlias = Mapping[Role, Sequence[str]]
"""The drafts of each role in a turn, in the order of its attempts."""


def sample_drafts() -> dict[str, list[TurnDrafts]]:
    """The drafts for some of the sample topics, by title and turn, in our own words."""
    text = files("duologue.data").joinpath("samples", "demo.json").read_text(encoding="utf-8")
    drafts: dict[str, list[TurnDrafts]] = json.loads(text)
    return drafts


@dataclass(frozen=True)
class WrittenDrafts:
    """Sends the drafts that were written for the topic and the turn, then those of another speaker.

    The validators judge them like any other draft.
    """

    role: Role
    otherwise: Node
    """Writes the drafts of attempts and turns for which none was written."""
    drafts: Mapping[str, Sequence[TurnDrafts]] = field(default_factory=sample_drafts)
    """By title of the topic."""

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        turns = self.drafts.get(str(state["scenario"].get("title")), ())
        turn, attempt = state.get("turn", 0), attempt_number(state)
        written = turns[turn][self.role] if turn < len(turns) else ()
        if attempt <= len(written):
            return {"drafts": [{"text": written[attempt - 1]}]}
        return await self.otherwise(state, runtime)

    def provenance(self) -> dict[str, Any]:
        return {"drafts": digest(self.drafts), "otherwise": describe(self.otherwise)}
