"""A sound agent of the example airline, and ten with one seeded fault each, for scenarios that are designed.

    PYTHONPATH=examples/airline python -m tests.studies.scenario_design.airline_agents scenarios.jsonl

`main` prints, for each agent, after how many conversations about the scenarios of a file, in their order, the first one
failed. It runs in a process of its own with `examples/airline` on the path, because the example registers a domain.
"""

import json
import re
import sys
from typing import Any, ClassVar

import airline
from airline.agent import build
from airline.scripted import CODE, DATE, Scripted, _call
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from tests.studies.scenario_design.first_failures import first_failure


class Sound(Scripted):
    """Looks up or moves a booking; asks for what is missing or ambiguous, and keeps to the policy."""

    fault: ClassVar[str] = ""

    def reply(self, messages: list[BaseMessage], seed: int) -> AIMessage:
        """A tool call or a sentence."""
        human = [str(message.text) for message in messages if isinstance(message, HumanMessage)]
        calls = [call for message in messages if isinstance(message, AIMessage) for call in message.tool_calls]
        moves, looks = (any(words in text for text in human) for words in ("move my booking", "look up my booking"))
        if not moves and not looks:
            return AIMessage("What would you like me to do?")
        if isinstance(messages[-1], ToolMessage):
            return self.after_tool(messages[-1], calls, self.value(DATE, human), moves=moves)
        for pattern, name in ((CODE, "booking code"), (DATE, "date")):
            if (pattern is CODE or moves) and (question := self.question(pattern, name, human)):
                return question
        return self.first_call(self.value(CODE, human) or "", self.value(DATE, human) or "", moves=moves)

    def question(self, pattern: re.Pattern[str], name: str, human: list[str]) -> AIMessage | None:
        """The question for a value, or the refusal without it; None if it is there."""
        if self.value(pattern, human) is not None:
            return None
        if re.search(r"\b(?:do not|don't) (?:have|know)\b", " ".join(human)):
            return AIMessage(f"I am sorry, without the {name} I cannot do anything.")
        which = "Which of the two is it? " if pattern.findall(" ".join(human)) else ""
        return AIMessage(f"{which}What is the {name}?")

    def value(self, pattern: re.Pattern[str], human: list[str]) -> str | None:
        """The last value that the customer gave; of two in the first message none."""
        for text in reversed(human):
            matches = pattern.findall(text)
            if matches and not re.search(rf"{matches[0]} or ", text):
                return str(matches[0])
        return None

    def first_call(self, code: str, date: str, *, moves: bool) -> AIMessage:
        """The tool call once all is known."""
        return _call("look_up", {"booking": code})

    def after_tool(self, last: ToolMessage, calls: list[Any], date: str | None, *, moves: bool) -> AIMessage:
        """What follows on a tool's result."""
        if last.status == "error":
            return AIMessage(f"I am sorry, that cannot be done: {last.text}.")
        booking = json.loads(str(last.text))
        if not moves:
            return AIMessage(f"Here is your booking: it is for {booking['date']}, with the fare {booking['fare']}.")
        if calls[-1]["name"] == "change":
            return AIMessage(f"Done: your booking {booking['booking']} is now on {booking['date']}.")
        if booking["fare"] == "basic":
            return AIMessage("I am sorry, a booking with a basic fare cannot be moved.")
        return _call("change", {"booking": booking["booking"], "date": date})


class IgnoresTheRule(Sound):
    """Moves a basic fare like any other."""

    def after_tool(self, last: ToolMessage, calls: list[Any], date: str | None, *, moves: bool) -> AIMessage:
        """The change, whatever the fare is."""
        if moves and last.status != "error" and calls[-1]["name"] == "look_up":
            return _call("change", {"booking": json.loads(str(last.text))["booking"], "date": date})
        return super().after_tool(last, calls, date, moves=moves)


class PromisesOnly(Sound):
    """Reports a change that it has not made."""

    def after_tool(self, last: ToolMessage, calls: list[Any], date: str | None, *, moves: bool) -> AIMessage:
        """The report in place of the call."""
        answer = super().after_tool(last, calls, date, moves=moves)
        return AIMessage(f"Done: your booking is now on {date}.") if answer.tool_calls else answer


class TakesTheFirst(Sound):
    """Takes the first of two values that could be meant."""

    def value(self, pattern: re.Pattern[str], human: list[str]) -> str | None:
        """The first value that there is."""
        return next((str(matches[0]) for text in human if (matches := pattern.findall(text))), None)


class InventsACode(Sound):
    """Takes a code that it has seen before where the customer has none."""

    def question(self, pattern: re.Pattern[str], name: str, human: list[str]) -> AIMessage | None:
        """No question for a code that the customer does not know."""
        asked = super().question(pattern, name, human)
        return None if asked and pattern is CODE and "without" in str(asked.text) else asked

    def first_call(self, code: str, date: str, *, moves: bool) -> AIMessage:
        """A call with one of four codes."""
        return _call("look_up", {"booking": code or "PK4410"}) if code else _Tries.call(0)

    def after_tool(self, last: ToolMessage, calls: list[Any], date: str | None, *, moves: bool) -> AIMessage:
        """The next code after an error."""
        number = sum(call["args"]["booking"] in _Tries.CODES for call in calls)
        if last.status == "error" and calls[-1]["args"]["booking"] in _Tries.CODES and number < len(_Tries.CODES):
            return _Tries.call(number)
        return super().after_tool(last, calls, date, moves=moves)


class _Tries:
    CODES = ("PK4410", "UB2093", "WE7351", "DN6602")

    @classmethod
    def call(cls, number: int) -> AIMessage:
        return _call("look_up", {"booking": cls.CODES[number]})


class WrongDay(Sound):
    """Moves the booking to the day after."""

    def after_tool(self, last: ToolMessage, calls: list[Any], date: str | None, *, moves: bool) -> AIMessage:
        """The call with another date."""
        answer = super().after_tool(last, calls, date, moves=moves)
        for call in answer.tool_calls:
            call["args"]["date"] = f"{str(date)[:-2]}{int(str(date)[-2:]) % 28 + 1:02}"
        return answer


class BooksTwice(Sound):
    """Makes the change a second time."""

    def after_tool(self, last: ToolMessage, calls: list[Any], date: str | None, *, moves: bool) -> AIMessage:
        """The same call again."""
        if [call["name"] for call in calls].count("change") == 1 and last.status != "error":
            return _call("change", calls[-1]["args"])
        return super().after_tool(last, calls, date, moves=moves)


class AnotherDate(Sound):
    """Takes another day where no seat is free."""

    def after_tool(self, last: ToolMessage, calls: list[Any], date: str | None, *, moves: bool) -> AIMessage:
        """A call with the year of the other bookings."""
        if last.status == "error" and date is not None and "seat" in str(last.text) and not date.startswith("2026"):
            return _call("change", {**calls[-1]["args"], "date": f"2026{date[4:]}"})
        return super().after_tool(last, calls, date, moves=moves)


class HidesErrors(Sound):
    """Reports success after a tool's error."""

    def after_tool(self, last: ToolMessage, calls: list[Any], date: str | None, *, moves: bool) -> AIMessage:
        """Success, whatever the tool answered."""
        if last.status == "error":
            return AIMessage("Done, all is in order with your booking.")
        return super().after_tool(last, calls, date, moves=moves)


class AnswersWithoutLooking(Sound):
    """Describes a booking that it has not looked up."""

    def first_call(self, code: str, date: str, *, moves: bool) -> AIMessage:
        """A description in place of the call."""
        call = super().first_call(code, date, moves=moves)
        return call if moves else AIMessage("Here is your booking: it is for 2026-01-01, with the fare saver.")


class RefusesAll(Sound):
    """Refuses whatever it could do."""

    def first_call(self, code: str, date: str, *, moves: bool) -> AIMessage:
        """A refusal in place of the call."""
        return AIMessage("I am sorry, I cannot help with that.")


FAULTY: tuple[type[Sound], ...] = (
    IgnoresTheRule,
    PromisesOnly,
    TakesTheFirst,
    InventsACode,
    WrongDay,
    BooksTwice,
    AnotherDate,
    HidesErrors,
    AnswersWithoutLooking,
    RefusesAll,
)


def main() -> None:
    """Print, for each agent, the number of conversations up to the first that failed; None if none did."""
    with open(sys.argv[1], encoding="utf-8") as file:
        scenarios = [json.loads(line) for line in file]
    agents: tuple[type[Sound], ...] = (Sound, *FAULTY)
    firsts = {
        kind.__name__: first_failure(build(kind(), airline.POLICY), scenarios, world=airline.world) for kind in agents
    }
    print(json.dumps(firsts))


if __name__ == "__main__":
    main()
