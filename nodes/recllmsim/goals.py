"""The user of a plain agent test, with a goal and facts that the assistant does not get."""

from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage

from ...prompts import Library
from ..messages.building import MARKS, as_text, fenced, messages_for, with_pages
from ..state import State


@dataclass(frozen=True)
class GoalMessages:
    """Messages for the user: its goal, its facts, rules of behaviour, and the conversation."""

    pages: Library

    def __call__(self, state: State) -> list[BaseMessage]:
        scenario = state["scenario"]
        texts = {"goal": goal_of(scenario), "facts": facts_of(scenario)}
        material = self.pages["user/material"].fill(**{gap: fenced(text, *MARKS) for gap, text in texts.items()})
        system = self.pages["user/system"]
        if unknown := "\n".join(filter(None, _lines(scenario.get("unknown") or ""))):  # what the user does not know
            page = with_pages(self.pages, system.source)["user/unknown"]
            material += "\n\n" + page.fill(unknown=fenced(unknown, *MARKS, "unknown", "/unknown"))
        return messages_for("user", state, system=system.fill(), material=material, own_drafts=False, pages=self.pages)


@dataclass(frozen=True)
class HelperMessages:
    """Messages for a model as the assistant: a system prompt and the conversation, without goal and facts."""

    pages: Library

    def __call__(self, state: State) -> list[BaseMessage]:
        system = self.pages["assistant/system"].fill()
        return messages_for("assistant", state, system=system, material="", own_drafts=True)


def goal_of(scenario: dict[str, Any]) -> str:
    """The user's goal: the scenario's goal, else its first message."""
    return str(scenario.get("goal") or scenario.get("first_message") or "")


def facts_of(scenario: dict[str, Any]) -> str:
    """The user's facts and persona, a line for each fact."""
    return "\n".join(filter(None, (*_lines(scenario.get("facts", "")), str(scenario.get("persona", "")))))


def _lines(facts: Any) -> list[str]:
    """The lines of a text, a list or an object."""
    if isinstance(facts, dict):
        return [f"{name}: {as_text(value)}" for name, value in facts.items()]
    return [as_text(fact) for fact in (facts if isinstance(facts, list) else [facts])]
