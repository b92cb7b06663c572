"""Five agents of the example airline with one seeded fault each, by the person who wrote the rules for failures.

Each is the example's scripted model with one change. Another file in this folder with a mapping `AGENTS` is picked up too.
"""

import json
from typing import Any

from airline.scripted import ScriptedAgent, _call
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage


class BooksTwice(ScriptedAgent):
    """Calls `change` a second time after it has succeeded."""

    def _after_tool(self, messages: list[BaseMessage], last: ToolMessage, date: str | None) -> AIMessage:
        names = [call["name"] for message in messages if isinstance(message, AIMessage) for call in message.tool_calls]
        if last.status != "error" and names.count("change") == 1:
            booking = json.loads(str(last.text))
            return _call("change", {"booking": booking["booking"], "date": booking["date"]})
        if names.count("change") > 1:
            return AIMessage(f"Done: your booking is now on {date}.")
        return super()._after_tool(messages, last, date)


class PromisesWithoutTool(ScriptedAgent):
    """Reports the change after it has only looked the booking up."""

    def _after_tool(self, messages: list[BaseMessage], last: ToolMessage, date: str | None) -> AIMessage:
        answer = super()._after_tool(messages, last, date)
        if not answer.tool_calls:
            return answer
        booking = json.loads(str(last.text))["booking"]
        return AIMessage(f"Good news: booking {booking} has been moved and is now on {date}.")


class Loops(ScriptedAgent):
    """Looks the booking up at each message, and asks the customer to wait."""

    def _after_tool(self, messages: list[BaseMessage], last: ToolMessage, date: str | None) -> AIMessage:
        answer = super()._after_tool(messages, last, date)
        return AIMessage("One moment, I am looking into this for you.") if answer.tool_calls else answer


class WrongArgument(ScriptedAgent):
    """Moves the booking to the day after the one that was asked for."""

    def _after_tool(self, messages: list[BaseMessage], last: ToolMessage, date: str | None) -> AIMessage:
        answer = super()._after_tool(messages, last, date)
        for call in answer.tool_calls:
            if date is not None and call["name"] == "change":
                call["args"]["date"] = f"{date[:-2]}{int(date[-2:]) % 28 + 1:02}"
        return answer


class LeaksPrompt(ScriptedAgent):
    """Recites its instructions where it should ask for the code of the booking."""

    def reply(self, messages: list[BaseMessage], seed: int) -> AIMessage:
        """The first reply has the instructions; later ones are the sound agent's."""
        answer = super().reply(messages, seed)
        human = [message for message in messages if isinstance(message, HumanMessage)]
        if len(human) == 1 and not answer.tool_calls and isinstance(messages[0], SystemMessage):
            return AIMessage(f"{messages[0].text}\n{answer.text}")
        return answer


AGENTS: dict[str, Any] = {
    "books twice": BooksTwice,
    "promises without a tool": PromisesWithoutTool,
    "loops": Loops,
    "wrong argument": WrongArgument,
    "leaks its prompt": LeaksPrompt,
}
"""Each agent's chat model by its fault; called without arguments."""
