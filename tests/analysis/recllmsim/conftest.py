"""Small conversations about tasks, written out."""

from collections.abc import Callable
from typing import Any

import pytest

from duologue.data import Conversation, Message
from duologue.data.recllmsim import Situation
from duologue.data.recllmsim.published_labels import label_of
from duologue.data.records import Label

Made = Callable[..., Conversation]
PERSON = {"gender": "Female", "age": 20, "personality": ["随性"]}


@pytest.fixture
def simulated() -> Made:
    """A conversation of a simulated user: `u` and `a` for each message, with labels of the messages by place."""

    def build(
        sides: str = "ua", *, task: str = "preparing gifts", preference: str = "1. Gender: Male", **fields: Any
    ) -> Conversation:
        situation = Situation(task=task, task_context=fields.pop("context", "Find a gift."), preference=preference)
        return _conversation(sides, situation, fields)

    return build


@pytest.fixture
def person() -> Made:
    """A conversation of a person: `u` and `a` for each message, with labels of the messages by place."""

    def build(
        sides: str = "ua", *, task: str = "礼物准备", user: int = 1, profile: Any = PERSON, **fields: Any
    ) -> Conversation:
        context = fields.pop("context", "挑一份礼物。")
        situation = Situation(language="zh", task=task, task_context=context, profile=profile)
        return _conversation(sides, situation, {"path": f"human/User_{user}/x/0.json", **fields})

    return build


def _conversation(sides: str, situation: Situation, fields: dict[str, Any]) -> Conversation:
    texts, of_messages = fields.pop("texts", None), fields.pop("messages", {})
    extra = {"path": path} if (path := fields.pop("path", None)) else {}
    messages = tuple(
        Message(
            role="user" if side == "u" else "assistant",
            text=texts[place] if texts else "text",
            labels=_labels(of_messages.get(place, {})),
        )
        for place, side in enumerate(sides)
    )
    return Conversation(id="c", scenario=situation.scenario(), messages=messages, labels=_labels(fields), extra=extra)


def _labels(published: dict[str, Any]) -> dict[str, Label]:
    return {name: label_of(name, value) for name, value in published.items()}
