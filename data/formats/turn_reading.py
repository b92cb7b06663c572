"""Reading of turns as messages with their tool calls, the same for each dialogue format.

A format says how it writes (`DialogueForm`), and gives each turn beside its form of OpenAI, from which it is read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..attachments import part_of, parts_of
from ..records import Message, Part, Unsaid
from .dialogues import DialogueForm
from .tool_messages import ToolTurns, calls_tools, has_results, verbatim
from .turns import SPEAKERS, SYSTEM, TOOLS, role_of


@dataclass
class TurnReading:
    """The messages of one conversation, turn by turn."""

    form: DialogueForm
    messages: list[Message] = field(default_factory=list[Message])
    unsaid: list[Unsaid] = field(default_factory=list[Unsaid])
    asides: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    tools: ToolTurns = field(default_factory=ToolTurns)

    def read(
        self, position: int, turn: Mapping[str, Any], plain: Mapping[str, Any], marked: tuple[Part, ...] = ()
    ) -> bool:
        """Read a turn; False if it is neither a message nor an instruction nor a turn of tools.

        `turn`: as its source has it. `plain`: the same in OpenAI's form. `marked`: its images and the like that its line
        lists (`media_marks`).
        """
        role, content = role_of(plain.get("role")), plain.get("content")
        text = text_of(content)
        parts = (parts_of(content) or marked) if text is not None else ()
        silent = not text and not parts
        of_tools = (role == "assistant" and calls_tools(plain)) or (role == "user" and has_results(plain))
        if role in TOOLS or (silent and of_tools):
            if role == "assistant" and self.tools.by_message:
                self._close()
                self.tools = ToolTurns()
            self.tools.read(position, turn, plain)
        elif role in SYSTEM and text is not None:
            self.asides.append(self.form.aside(position, turn, text))
        elif role in ("user", "assistant") and text is not None:
            self._message(Message(role=SPEAKERS[role], text=text, parts=parts), turn, plain)
        else:
            return False
        return True

    def end(self) -> None:
        """Keep what no message follows."""
        self._close()
        self.asides.sort(key=lambda aside: int(aside["at"]))

    def _message(self, message: Message, turn: Mapping[str, Any], plain: Mapping[str, Any]) -> None:
        if message.role == "user":
            self.tools.answered(plain)
        if message.role == "user" or self.tools.by_message or not self.tools.calls:
            self._close()
            self.messages.append(self.form.message(message, turn))
        else:
            earlier = sum(len(message.tool_calls) for message in self.messages if message.role == "assistant")
            message = self.tools.given_to(message)
            own = verbatim(self.tools.turns)
            generated = None if self.form.tools is None else self.form.tools(message, earlier + 1)
            self.messages.append(self.form.message(message, turn, None if own == generated else own))
        self.tools = ToolTurns(by_message=message.role == "assistant" and calls_tools(plain))
        if self.tools.by_message:
            self.tools.called(plain)

    def _close(self) -> None:
        """Keep the turns of tools that no message follows apart; their calls are those of the message that made them.

        Without such a message they are a turn of the assistant without one.
        """
        self.asides += [self.form.aside(position, turn) for position, turn in self.tools.turns]
        if self.tools.calls and self.messages and self.messages[-1].role == "assistant":
            self.messages[-1] = self.form.with_turns_before(self.tools.given_to(self.messages[-1]))
        elif self.tools.calls:
            draft = self.tools.draft()
            self.unsaid.append(Unsaid(role="assistant", after=len(self.messages), attempts=(draft,)))


def text_of(content: Any) -> str | None:
    """The text of a content, which may have several parts (texts, images, files); None if it is invalid.

    The text of a file or a recording is its part's.
    """
    if not isinstance(content, list):
        return content if isinstance(content, str) else None
    texts = [
        part if isinstance(part, str) else "" if _is_media(part) else part.get("text", "")
        for part in content
        if isinstance(part, str | dict)
    ]
    worded = [part for part in content if not isinstance(part, dict) or str(part.get("type", "")).endswith("text")]
    whole = len(texts) == len(content) and all(isinstance(text, str) for text in texts)
    return "".join(texts) if whole and all(isinstance(part, str) or "text" in part for part in worded) else None


def _is_media(block: Any) -> bool:
    part = part_of(block)
    return part is not None and part.type != "other"
