"""The user of a plain agent test: it has a goal and knows facts, and the assistant knows neither."""

import json
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage

from ..prompts import Library
from .messages import MARKS, fenced, messages_for
from .state import State


@dataclass(frozen=True)
class GoalMessages:
    """Messages for the user: its goal, what it knows, how to behave, and the conversation."""

    pages: Library

    def __call__(self, state: State) -> list[BaseMessage]:
        scenario = state["scenario"]
        texts = {"goal": goal_of(scenario), "facts": facts_of(scenario)}
        return messages_for(
            "user",
            state,
            system=self.pages["user/system"].fill(),
            material=self.pages["user/material"].fill(**{gap: fenced(text, *MARKS) for gap, text in texts.items()}),
            own_drafts=False,
        )

    def provenance(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class HelperMessages:
    """Messages for a model as the assistant: a page and the conversation, neither goal nor facts."""

    pages: Library

    def __call__(self, state: State) -> list[BaseMessage]:
        system = self.pages["assistant/system"].fill()
        return messages_for("assistant", state, system=system, material="", own_drafts=True)

    def provenance(self) -> dict[str, Any]:
        return {}


def goal_of(scenario: dict[str, Any]) -> str:
    """What the user wants: the scenario's goal, else what its first message asks for."""
    return str(scenario.get("goal") or scenario.get("first_message") or "")


def facts_of(scenario: dict[str, Any]) -> str:
    """What the user knows and who it is, a line for each fact: `facts` may be a text, a list or an object."""
    facts = scenario.get("facts", "")
    if isinstance(facts, dict):
        lines = [f"{name}: {_text(value)}" for name, value in facts.items()]
    else:
        lines = [_text(fact) for fact in (facts if isinstance(facts, list) else [facts])]
    return "\n".join(line for line in (*lines, str(scenario.get("persona", ""))) if line)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
