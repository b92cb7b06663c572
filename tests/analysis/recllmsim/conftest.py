"""Small conversations about tasks, written out."""

from collections.abc import Callable
from typing import Any

import pytest

from duologue.data import Conversation, Message
from duologue.data.recllmsim import Situation

Made = Callable[..., Conversation]
PERSON = {"gender": "Female", "age": 20, "personality": ["随性"]}


@pytest.fixture
def simulated() -> Made:
    """A conversation of a simulated user: `u` and `a` for each message, with labels of the messages by place."""

    def made(
        sides: str = "ua", *, task: str = "preparing gifts", preference: str = "1. Gender: Male", **given: Any
    ) -> Conversation:
        situation = Situation(task=task, task_context=given.pop("context", "Find a gift."), preference=preference)
        return _conversation(sides, situation, given)

    return made


@pytest.fixture
def person() -> Made:
    """A conversation of a person: `u` and `a` for each message, with labels of the messages by place."""

    def made(
        sides: str = "ua", *, task: str = "礼物准备", user: int = 1, profile: Any = PERSON, **given: Any
    ) -> Conversation:
        context = given.pop("context", "挑一份礼物。")
        situation = Situation(language="zh", task=task, task_context=context, profile=profile)
        return _conversation(sides, situation, {"path": f"human/User_{user}/x/0.json", **given})

    return made


def _conversation(sides: str, situation: Situation, given: dict[str, Any]) -> Conversation:
    texts, of_messages = given.pop("texts", None), given.pop("messages", {})
    extra = {"path": path} if (path := given.pop("path", None)) else {}
    messages = tuple(
        Message(
            role="user" if side == "u" else "assistant",
            text=texts[place] if texts else "text",
            labels=of_messages.get(place, {}),
        )
        for place, side in enumerate(sides)
    )
    return Conversation(id="c", scenario=situation.scenario(), messages=messages, labels=given, extra=extra)
