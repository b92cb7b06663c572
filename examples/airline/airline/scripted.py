"""Two scripted chat models, so that the example runs without a key: rules, and no language models.

They stand in for `openai:NAME`. The agent's really calls the tools; both misbehave in a share of their calls.
"""

import hashlib
import json
import re
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from duologue.data.behaviours import BEHAVIOURS, UserMoment, behaved

CODE = re.compile(r"\b[A-Z]{2}\d{4}\b")
DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
BEHAVIOUR = re.compile(r"^- (\w+):", re.MULTILINE)
WORD = re.compile(r"\bkestrel-[0-9a-f]{4}\b")
GOODBYES = ("Thank you, goodbye.", "I give up, goodbye.")


def share(*parts: object) -> float:
    """A number from 0 to 1 that the parts decide."""
    return int(hashlib.sha256(repr(parts).encode()).hexdigest()[:8], 16) / 0xFFFFFFFF


class Scripted(BaseChatModel):
    """A chat model whose answer is a function of the messages."""

    @property
    def _llm_type(self) -> str:
        return "airline-scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """It knows the tools already."""
        return self

    def reply(self, messages: list[BaseMessage], seed: int) -> AIMessage:
        """The answer to the messages."""
        raise NotImplementedError

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.reply(messages, kwargs.get("seed") or 0))])


class ScriptedAgent(Scripted):
    """Asks for the code, looks it up, keeps to the policy that it is given, changes the date."""

    careless: float = 0.0
    """Share of its calls, 0 to 1, in which it promises a change that it has not made."""

    def reply(self, messages: list[BaseMessage], seed: int) -> AIMessage:
        """A tool call or a sentence, by what was said and what the tools answered in this turn."""
        human = [str(message.text) for message in messages if isinstance(message, HumanMessage)]
        code = next((matches[-1] for text in reversed(human) if (matches := CODE.findall(text))), None)
        date = next((matches[-1] for text in reversed(human) if (matches := DATE.findall(text))), None)
        last = messages[-1]
        if isinstance(last, ToolMessage):
            return self._after_tool(messages, last, date)
        if code is None:
            return AIMessage("Which booking is it? Please tell me the booking code.")
        if date is None:
            return AIMessage("To which date shall I move it? Please write it as YYYY-MM-DD.")
        warned = "<note>" in human[-1]
        if not warned and share(*(message.text for message in messages)) < self.careless:
            return AIMessage(f"Done: your booking {code} is now on {date}.")
        return _call("look_up", {"booking": code})

    def _after_tool(self, messages: list[BaseMessage], last: ToolMessage, date: str | None) -> AIMessage:
        if last.status == "error":
            return AIMessage(f"I am sorry, that cannot be done: {last.text}.")
        booking = json.loads(str(last.text))
        calls = [call["name"] for message in messages if isinstance(message, AIMessage) for call in message.tool_calls]
        if calls[-1] == "change":
            return AIMessage(f"Done: your booking {booking['booking']} is now on {booking['date']}.")
        policy = str(messages[0].text) if isinstance(messages[0], SystemMessage) else ""
        if booking["fare"] == "basic" and "cannot be moved" in policy:
            return AIMessage("I am sorry, a booking with a basic fare cannot be moved.")
        return _call("change", {"booking": booking["booking"], "date": date})


class ScriptedUser(Scripted):
    """States its wish, gives code and date on request, and leaves at the end."""

    impatient: float = 0.0
    """Share of the questions, 0 to 1, at which it gives up."""
    seed: int | None = None
    """Drawn from in every call; Duologue gives each call its own."""

    def reply(self, messages: list[BaseMessage], seed: int) -> AIMessage:
        """The customer's next message, with the behaviours that the system prompt lists."""
        plain = self._plain(messages, seed)
        system = "\n".join(str(message.text) for message in messages if isinstance(message, SystemMessage))
        names = [name for name in BEHAVIOUR.findall(system) if name in BEHAVIOURS]
        if not names:
            return AIMessage(plain)
        about = next((str(message.text) for message in messages if isinstance(message, HumanMessage)), "")
        turns = [
            (
                "user" if isinstance(message, AIMessage) else "assistant",
                str(message.text).rpartition("</facts>")[2].strip(),
            )
            for message in messages
            if not isinstance(message, SystemMessage)
        ]
        word = WORD.search(system)
        moment = UserMoment(
            [turn for turn in turns if turn[1]],
            _between(about, "goal").strip(),
            "en",
            seed,
            word.group() if word else "",
            ends=plain in GOODBYES,
        )
        return AIMessage(behaved(plain, names, moment))

    def _plain(self, messages: list[BaseMessage], seed: int) -> str:
        about = "\n".join(str(message.text) for message in messages if isinstance(message, HumanMessage))
        goal, facts = _between(about, "goal"), _between(about, "facts")
        own = [message for message in messages if isinstance(message, AIMessage)]
        heard = str(messages[-1].text).rpartition("</facts>")[2].strip()
        if not own:
            opening = ("Hello, ", "Hi! ", "Good morning. ")[seed % 3]
            return f"{opening}I would like to {goal}."
        if "is now on" in heard or "cannot be" in heard:
            return GOODBYES[0]
        if share(seed, heard) < self.impatient:
            return GOODBYES[1]
        if "date" in heard:
            return f"To {' '.join(DATE.findall(goal + facts)[:1]) or 'the next day'}, please."
        return f"My booking code is {' '.join(CODE.findall(facts)[:1]) or 'not at hand'}."


def _call(name: str, arguments: dict[str, Any]) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"{name}-1"}])


def _between(text: str, mark: str) -> str:
    return text.partition(f"<{mark}>")[2].partition(f"</{mark}>")[0]
