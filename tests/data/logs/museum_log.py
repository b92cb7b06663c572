"""A conversation at a museum, and files that hold it."""

import json
from pathlib import Path
from typing import Any

from duologue.data import Conversation, load

ASKED = {"role": "user", "content": "When does it open?"}


TOLD = {"role": "assistant", "content": "At nine."}


MORE = {"role": "user", "content": "And on Sundays?"}


LAST = {"role": "assistant", "content": "It is closed."}


SYSTEM = {"role": "system", "content": "You answer for a museum."}


TALK = ["user: When does it open?", "assistant: At nine.", "user: And on Sundays?", "assistant: It is closed."]


def file(*values: Any, name: str = "log.jsonl", **how: Any) -> Path:
    path = Path(name)
    path.write_text("\n".join(json.dumps(value, **how) for value in values) + "\n", encoding="utf-8")
    return path


def only(path: Path) -> Conversation:
    (conversation,) = load(path).conversations
    return conversation


def spoken_lines(conversation: Conversation) -> list[str]:
    return [f"{message.role}: {message.text}" for message in conversation.messages]


def answer(message: dict[str, Any], reason: str = "stop", **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": message, "finish_reason": reason}], "model": "m-1"} | more


WHOLE = [SYSTEM, ASKED, TOLD, MORE, LAST]
