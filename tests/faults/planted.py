"""Failures with planted causes: three domains in prose, rule-based users and agents, tools in a world.

A case is a scenario with a plan, a user, an agent and a world, of which one or two have a fault; it counts if it fails with
the fault and succeeds without.
"""

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, ToolRuntime


class Domain(NamedTuple):
    goal: str
    verb: str
    """A word of the goal without which the agent does not know what to do."""
    done: str
    thing: str
    field: str
    codes: tuple[str, str, str]
    values: tuple[str, str, str]


DOMAINS = (
    Domain("move my flight to another day", "flight", "moved", "booking", "new date", ("QX4821", "QX4812", "LM7702"), ("2026-05-03", "2026-05-08", "2026-06-01")),
    Domain("raise the limit of my card", "limit", "changed", "card", "new limit", ("KC1001", "KC1010", "KC2002"), ("500", "5000", "900")),
    Domain("change the address of my order", "address", "updated", "order", "new street", ("OR3131", "OR3113", "OR4242"), ("Mill Lane 12", "Mill Lane 21", "High Street 7")),
)  # fmt: skip


@dataclass
class Desk:
    """Records by code; `fault`: what its tools do wrong."""

    records: dict[str, str]
    fault: str = ""

    def write(self, code: str, value: str) -> str:
        if code not in self.records:
            raise ValueError("there is no such record")
        if self.fault == "error":
            raise RuntimeError("the system is down")
        self.records[code] = {"no effect": self.records[code], "other value": f"{value} old"}.get(self.fault, value)
        if self.fault == "other record":
            self.records[next(one for one in self.records if one != code)] = value
        return "ok"

    def state(self) -> dict[str, Any]:
        return {"records": dict(self.records)}

    def snapshot(self) -> dict[str, str]:
        return copy.copy(self.records)

    def restore(self, snapshot: dict[str, str]) -> None:
        self.records = dict(snapshot)


@tool
def write(code: str, value: str, runtime: ToolRuntime[Any, Any]) -> str:
    """Write a new value."""
    return str(runtime.context.world.write(code, value))


USER_FAULTS = ("code", "value", "no goal", "withholds", "leaves")
AGENT_FAULTS = ("refuses", "value", "lies", "asks again", "other record", "stalls", "crash")
TOOL_FAULTS = ("error", "no effect", "other value", "other record")


@dataclass(frozen=True)
class Case:
    domain: Domain
    user: str = ""
    agent: str = ""
    tools: str = ""
    scenario: str = ""
    late: int = 0
    """Chatter before the agent asks for what it needs."""
    harmless: str = ""
    """Of `user` or `agent`: a fault that changes nothing."""
    provoked: bool = False
    """The agent goes wrong only because the user corrects itself."""

    @property
    def causes(self) -> set[str]:
        sides = (("user", self.user), ("assistant", self.agent), ("tools", self.tools), ("scenario", self.scenario))
        return {"user", "assistant"} if self.provoked else {side for side, fault in sides if fault}

    @property
    def described(self) -> dict[str, Any]:
        one, code, value = self.domain, self.domain.codes[0], self.domain.values[0]
        facts = [f"The code of the {one.thing} is {code}.", f"The {one.field} is {value}."]
        old = dict.fromkeys((*one.codes[:2], one.codes[2]), "as before")
        return {
            "goal": one.goal,
            "facts": facts[1:] if self.scenario else facts,
            "records": old,
            "plan": [{"name": "write", "arguments": {"code": code, "value": value}}],
            "success": {"final_state": {"records": old | {code: value}}},
        }

    def world(self, scenario: dict[str, Any]) -> Desk:
        return Desk(dict(scenario["records"]), self.tools)

    @property
    def user_function(self) -> Any:
        one, fault = self.domain, self.user

        def user(messages: list[dict[str, Any]]) -> str:
            heard = [str(message["content"]) for message in messages if message["role"] == "user"]
            said = [str(message["content"]) for message in messages if message["role"] == "assistant"]
            last = re.sub(r"<note>.*", "", heard[-1], flags=re.DOTALL) if said else ""
            if not said:
                opening = (
                    "Hello there!"
                    if fault in ("no goal", "says no goal when asked")
                    else f"Hello, I want to {one.goal}."
                )
                return opening + " It is all rather urgent for me, SORRY!" * (self.harmless == "user")
            if "help you" in last:
                return "I have a code here." if fault == "no goal" else f"I want to {one.goal}."
            if "code" in last:
                if self.provoked:
                    return f"The code is {one.codes[1]}. Sorry, no: it is {one.codes[0]}."
                if self.scenario:
                    return "I do not know that."
                return f"It is {one.codes[1 if fault == 'code' else 0]}."
            if one.field in last:
                if fault == "withholds":
                    return "I would rather not say."
                if fault == "leaves":
                    return "Thank you, goodbye."
                return f"The {one.field} is {one.values[1 if fault == 'value' else 0]}."
            return "Thank you, goodbye." if one.done in last or "not" in last.split() else "And now?"

        return user

    @property
    def graph(self) -> Any:
        one, fault = self.domain, self.agent

        def answer(state: MessagesState) -> dict[str, Any]:
            return {"messages": [self._answer(one, fault, state["messages"])]}

        graph = StateGraph(MessagesState).add_node("agent", answer).add_node("tools", ToolNode([write]))
        graph.add_edge(START, "agent").add_edge("tools", "agent")
        graph.add_conditional_edges(
            "agent", lambda state: "tools" if state["messages"][-1].tool_calls else END, ["tools", END]
        )
        return graph.compile()

    def _answer(self, one: Domain, fault: str, messages: list[Any]) -> AIMessage:
        said = " ".join(str(message.text) for message in messages if message.type == "human")
        own = [message for message in messages if message.type == "ai" and str(message.text)]
        if messages[-1].type == "tool":
            failed = messages[-1].status == "error"
            return AIMessage("I could not do that, it is not possible." if failed else f"Done: it has been {one.done}.")
        if one.verb not in said:
            return AIMessage("How can I help you?")
        if len(own) < self.late:
            return AIMessage("Is there anything that I should know about it? What is the code?")
        codes, values = (re.findall("|".join(map(re.escape, kind)), said) for kind in (one.codes, one.values))
        again = self.harmless == "agent" and not any("once more" in str(message.text) for message in own)
        if not codes or fault == "asks again" or (again and codes):
            return AIMessage("What is the code?" + " Please say it once more." * bool(again and codes))
        if not values:
            return AIMessage(f"What is the {one.field}?")
        code, value = codes[0] if self.provoked else codes[-1], values[-1]
        match fault:
            case "refuses":
                return AIMessage("I cannot do that, it is not possible.")
            case "lies":
                return AIMessage(f"Done: it has been {one.done}.")
            case "stalls":
                return AIMessage("One moment, I will look into it.")
            case "crash":
                raise KeyError(code)
            case "value":
                value = one.values[2]
            case "other record":
                code = one.codes[2]
        return AIMessage("", tool_calls=[{"name": "write", "args": {"code": code, "value": value}, "id": "w"}])


def _singles(domain: Domain, **more: Any) -> Iterator[Case]:
    for side, names in (("user", USER_FAULTS), ("agent", AGENT_FAULTS), ("tools", TOOL_FAULTS)):
        for name in names:
            yield Case(domain, **{side: name, **more})


def cases() -> Iterator[tuple[str, Case]]:
    """Every case with its kind."""
    for domain in DOMAINS:
        for kind, late in (("single", 0), ("late", 1)):
            yield from (
                (kind, one) for one in (*_singles(domain, late=late), Case(domain, scenario="no code", late=late))
            )
        for side in ("user", "agent"):
            yield from (("harmless", one) for one in _singles(domain, harmless=side))
        for user in USER_FAULTS:
            yield from (("two", Case(domain, user=user, agent=agent)) for agent in AGENT_FAULTS)
            yield from (("two", Case(domain, user=user, tools=tools)) for tools in TOOL_FAULTS)
        yield "provoked", Case(domain, provoked=True)
