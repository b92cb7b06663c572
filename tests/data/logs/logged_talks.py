"""A conversation without a form of log, as it was logged and as it was read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from duologue.data import Conversation
from duologue.data.formats.messages import asides


@dataclass(frozen=True)
class LoggedStep:
    """What one side says; an assistant may call a tool first."""

    role: str
    text: str
    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    result: str = ""


@dataclass(frozen=True)
class LoggedTalk:
    """A conversation without a form."""

    steps: tuple[LoggedStep, ...]
    system: str = ""

    @property
    def messages(self) -> list[tuple[str, str]]:
        return [(step.role, step.text) for step in self.steps]

    @property
    def calls(self) -> list[tuple[str, dict[str, Any], Any]]:
        return [(step.tool, dict(step.arguments), step.result) for step in self.steps if step.tool]


def read_as(conversation: Conversation) -> LoggedTalk:
    """What was read, in the same words; a call belongs to the message that it was made for or by."""
    steps = []
    for message in conversation.messages:
        call = message.tool_calls[0] if message.tool_calls else None
        more = {"tool": call.name, "arguments": call.arguments, "result": call.result} if call else {}
        steps.append(LoggedStep(message.role, message.text, **more))
    system = "".join(str(aside.get("system", "")) for aside in asides(conversation))
    return LoggedTalk(tuple(steps), system)
