"""Conversations with labels."""

from typing import Any

import pytest

from duologue.data.records import Conversation, Label, Message


def _talk(
    name: str, labels: dict[str, Any] | None = None, user: str = "", turns: Any = (), **extra: Any
) -> Conversation:
    messages = [
        message
        for of_reply in turns
        for message in (Message(role="user", text="?"), Message(role="assistant", text="!", labels=of_reply))
    ]
    scenario = {"kind": "call", "user": user or name}
    return Conversation(id=name, scenario=scenario, messages=tuple(messages), labels=labels or {}, extra=extra)


def _task(name: str, labels: dict[str, Any], variant: str, user: str = "") -> Conversation:
    scenario = {"kind": "recllmsim", "task": "recipe", "task_context": "Cook.", "profile": {"name": user or name}}
    extra = {"variant": variant, "path": f"{variant}/{name}.json"}
    return Conversation(id=name, scenario=scenario, labels=labels, extra=extra)


def _voted(*votes: Any, final: Any = None) -> Label:
    return Label(value=final, votes=votes)


@pytest.fixture
def talk():
    """A conversation of a user, `turns` being the labels of each reply."""
    return _talk


@pytest.fixture
def task():
    """A task-oriented conversation, of people (`human`, `human_v2`) or `simulated`."""
    return _task


@pytest.fixture
def voted():
    """A label with its votes."""
    return _voted
