"""A conversation as the rules for failures read it: the agent's replies, and its tool calls in order."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...data.formats.messages import NO_RESULT
from ...data.records import INTERRUPT, Conversation, ToolCall, as_object
from .success_conditions import ToolCondition, tool_conditions

_READS = frozenset(
    """get look lookup find search list check read show query fetch view retrieve see count calculate compute think describe
    is has validate verify""".split()
)
"""First words of the names of tools that change nothing."""
_NAME_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_WITH_DIGIT = re.compile(r"[\w:./-]*\d[\w:/-]*")
_ERROR_KEYS = ("error", "errors", "exception")


@dataclass(frozen=True)
class MadeCall:
    """A tool call of the agent in a message that was sent."""

    message: int
    """Number of the message, from 0."""
    tool_call: ToolCall
    acts: bool
    """Whether the tool changes something: the success names it, or its name is not that of a query."""

    @property
    def name(self) -> str:
        """Name of the tool."""
        return self.tool_call.name

    @property
    def key(self) -> tuple[str, str]:
        """Equal for calls of one tool with the same arguments."""
        return self.name, json.dumps(self.tool_call.arguments, sort_keys=True, default=str)

    @property
    def error(self) -> bool:
        """Whether the tool failed, or what it returned is an error in words."""
        result = self.tool_call.result
        if self.tool_call.error is not None:
            return True
        if isinstance(result, str):
            return result.lstrip().casefold().startswith(("error", "failed"))
        return any(as_object(result).get(key) for key in _ERROR_KEYS) or as_object(result).get("status") == "error"

    def differing(self, expected: Mapping[str, Any]) -> str | None:
        """The first argument that differs from an expected one; None if all are as expected."""
        return next(
            (name for name, value in expected.items() if not _fits(self.tool_call.arguments.get(name), value)), None
        )

    def argument_with(self, value: str) -> str | None:
        """The argument that has this value as JSON; None without one."""
        arguments = self.tool_call.arguments.items()
        return next((name for name, argument in arguments if json.dumps(argument, ensure_ascii=False) == value), None)


def _fits(actual: Any, expected: Any) -> bool:
    """Whether a value is as expected; an object may have more keys."""
    if isinstance(expected, Mapping):
        return isinstance(actual, Mapping) and all(_fits(actual.get(key), value) for key, value in expected.items())
    return bool(actual == expected)


@dataclass(frozen=True)
class FailureReading:
    """A conversation with its replies, calls and conditions."""

    conversation: Conversation

    @cached_property
    def conditions(self) -> list[ToolCondition]:
        """What its success asks of tool calls."""
        return tool_conditions(self.conversation)

    @property
    def required(self) -> list[ToolCondition]:
        """Conditions for calls that must be call."""
        return [condition for condition in self.conditions if condition.times != 0]

    @cached_property
    def calls(self) -> list[MadeCall]:
        """The agent's calls that had a result or an error, in order."""
        named = {condition.name for condition in self.conditions}
        return [
            MadeCall(number, call, call.name in named or not _reads(call.name))
            for number, message in enumerate(self.conversation.messages)
            if message.role == "assistant"
            for call in message.tool_calls
            if not call.waits and call.name != INTERRUPT and call.error != NO_RESULT and not is_hand_off(call.name)
        ]

    def replies(self) -> Iterator[tuple[int, str]]:
        """Number and text of each message of the agent with a text."""
        for number, message in enumerate(self.conversation.messages):
            if message.role == "assistant" and message.text.strip():
                yield number, message.text

    def user_texts(self, before: int, *, after: int = -1) -> list[str]:
        """The user's messages between two numbers of messages."""
        return [message.text for message in self.conversation.messages[after + 1 : before] if message.role == "user"]

    def argument_from_nowhere(self, call: MadeCall) -> str | None:
        """The argument of a call whose value no message had named.

        The user had named another value of its form, such as another date.
        """
        before = self.conversation.messages[: call.message]
        named = "\n".join(message.text for message in before if message.role == "user")
        forms = {_form(word) for word in _WITH_DIGIT.findall(named)}
        for name, value in call.tool_call.arguments.items():
            text = str(value)
            if any(map(str.isdigit, text)) and text.casefold() not in named.casefold() and _form(text) in forms:
                return name
        return None


def _form(value: str) -> str:
    """A value with each digit as 0 and each letter as a."""
    return re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "0", value))


def is_hand_off(name: str) -> bool:
    """Whether a tool hands the conversation to another agent, as those of langgraph-supervisor and langgraph-swarm."""
    return name.startswith(("transfer_to_", "transfer_back_to_"))


def _reads(name: str) -> bool:
    parts = [part.casefold() for part in _NAME_PART.findall(name)]
    return bool(parts) and (parts[0] in _READS or parts[-1] in ("lookup", "search"))
