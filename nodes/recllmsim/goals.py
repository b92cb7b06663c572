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
        if unknown := unknown_of(scenario):
            fence = fenced(unknown, *MARKS, "unknown", "/unknown")
            material += "\n\n" + with_pages(self.pages, self.pages["user/system"].source)["user/unknown"].fill(
                unknown=fence
            )
        return messages_for(
            "user",
            state,
            system=self.pages["user/system"].fill(),
            material=material,
            own_drafts=False,
            pages=self.pages,
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
    return "\n".join(line for line in (*_lines(scenario.get("facts", "")), str(scenario.get("persona", ""))) if line)


def unknown_of(scenario: dict[str, Any]) -> str:
    """What the user does not know, a line for each thing.

    `unknown` may be a text, a list or an object.
    """
    return "\n".join(filter(None, _lines(scenario.get("unknown") or "")))


def _lines(facts: Any) -> list[str]:
    if isinstance(facts, dict):
        return [f"{name}: {as_text(value)}" for name, value in facts.items()]
    return [as_text(fact) for fact in (facts if isinstance(facts, list) else [facts])]
