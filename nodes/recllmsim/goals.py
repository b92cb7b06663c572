"""The user of a plain agent test, with a goal and facts that the assistant does not get."""

from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage

from ...prompts import Library
from ..messages.building import MARKS, as_text, fenced, messages_for
from ..state import State


@dataclass(frozen=True)
class GoalMessages:
    """Messages for the user: its goal, its facts, rules of behaviour, and the conversation."""

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
    """The user's facts and persona, a line for each fact.

    `facts` may be a text, a list or an object.
    """
    facts = scenario.get("facts", "")
    if isinstance(facts, dict):
        lines = [f"{name}: {as_text(value)}" for name, value in facts.items()]
    else:
        lines = [as_text(fact) for fact in (facts if isinstance(facts, list) else [facts])]
    return "\n".join(line for line in (*lines, str(scenario.get("persona", ""))) if line)
