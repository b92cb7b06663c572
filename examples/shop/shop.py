"""A shop's agent under test: a supervisor with two sub-agents, a context, an approval, and a database in SQLite.

    duologue test --assistant shop:graph --world shop:world --context shop:context --approve all --scenarios scenarios.jsonl

The models follow rules, so it runs without a key; give `build` a chat model of yours instead. `worse` is a version with a
fault: it pays back what was not returned.
"""

import json
import re
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolRuntime


class Shop:
    """The world of a conversation: a database in memory, which can be put back after a rejected draft."""

    def __init__(self, orders: dict[str, dict[str, Any]]) -> None:
        self.connection = sqlite3.connect(":memory:", check_same_thread=False)
        self.connection.execute(
            "CREATE TABLE orders (code TEXT PRIMARY KEY, status TEXT, price INTEGER, refunded INTEGER)"
        )
        rows = [(code, one["status"], one["price"], one.get("refunded", 0)) for code, one in orders.items()]
        self.connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", rows)
        self.connection.commit()

    def order(self, code: str) -> dict[str, Any] | None:
        """The order of a code."""
        row = self.connection.execute("SELECT status, price, refunded FROM orders WHERE code = ?", (code,)).fetchone()
        return None if row is None else dict(zip(("status", "price", "refunded"), row, strict=True))

    def refund(self, code: str, amount: int) -> None:
        """Pay an amount back."""
        self.connection.execute("UPDATE orders SET refunded = refunded + ? WHERE code = ?", (amount, code))
        self.connection.commit()

    def state(self) -> dict[str, Any]:
        """What a scenario's `final_state` is compared with."""
        codes = [code for (code,) in self.connection.execute("SELECT code FROM orders ORDER BY code")]
        return {"orders": {code: self.order(code) for code in codes}}

    def snapshot(self) -> bytes:
        """The database as bytes."""
        return self.connection.serialize()

    def restore(self, snapshot: bytes) -> None:
        """Put the database back."""
        self.connection.deserialize(snapshot)

    def close(self) -> None:
        """At the end of the conversation."""
        self.connection.close()


def world(scenario: dict[str, Any]) -> Shop:
    """Each conversation has a database of its own, as the scenario says."""
    return Shop(scenario["orders"])


@dataclass
class Customer:
    """The context of the agent: who is asking, and the shop."""

    name: str
    shop: Shop


def context(scenario: dict[str, Any], world: Shop) -> Customer:
    """The context of a conversation, made from its scenario and its world."""
    return Customer(scenario.get("name", "customer"), world)


@tool
def find_order(code: str, runtime: ToolRuntime[Customer]) -> dict[str, Any]:
    """Look up an order."""
    return runtime.context.shop.order(code) or {"error": "there is no such order"}


@tool
def refund(code: str, amount: int, runtime: ToolRuntime[Customer]) -> str:
    """Pay an amount back; a person has to approve it."""
    runtime.context.shop.refund(code, amount)
    return f"{amount} EUR are refunded"


find_order.metadata = {"read_only": True}


class Rules(BaseChatModel):
    """A chat model that answers by a rule."""

    rule: Callable[[list[BaseMessage]], AIMessage]

    @property
    def _llm_type(self) -> str:
        return "rules"

    def bind_tools(self, tools: Any, **settings: Any) -> "Rules":
        """The rule knows its tools."""
        return self

    def _generate(self, messages: list[BaseMessage], *arguments: Any, **settings: Any) -> ChatResult:
        reply = self.rule(messages)
        size = sum(len(str(message.text)) for message in messages) // 4
        reply.usage_metadata = {"input_tokens": size, "output_tokens": 9, "total_tokens": size + 9}
        return ChatResult(generations=[ChatGeneration(message=reply)])


def _code(messages: list[BaseMessage]) -> str | None:
    said = " ".join(str(message.text) for message in messages if message.type == "human")
    found = re.findall(r"(?<![A-Z0-9])[A-Z]{2}\d{4}(?!\d)", said)
    return found[-1] if found else None


def _call(name: str, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"{name}-{len(arguments)}"}])


def look_up(messages: list[BaseMessage]) -> AIMessage:
    """The rule of the agent for orders."""
    if messages[-1].name != "find_order":
        return _call("find_order", code=_code(messages))
    order = json.loads(str(messages[-1].text))
    return AIMessage(order.get("error") or f"It is {order['status']}, and its price is {order['price']} EUR.")


def pay_back(messages: list[BaseMessage], *, checks: bool = True) -> AIMessage:
    """The rule of the agent for refunds: it looks the order up, and asks for the refund of what was returned."""
    results = [message for message in messages if isinstance(message, ToolMessage)]
    if not results or results[-1].name not in ("find_order", "refund"):
        return _call("find_order", code=_code(messages))
    if results[-1].name == "refund":
        return AIMessage(str(results[-1].text))
    order = json.loads(str(results[-1].text))
    if "error" in order:
        return AIMessage(order["error"])
    if checks and (order["status"] != "returned" or order["refunded"]):
        why = "refunded already" if order["refunded"] else "not returned"
        return AIMessage(f"it is {why}, so a refund is not possible")
    return _call("refund", code=_code(messages), amount=order["price"])


CHINESE = {
    "Which order is it? Please give me its code.": "请问订单的编号是什么？",
    "Done: your money is refunded. Is there anything else?": "已为您退款。还有其他问题吗？",
}


def route(messages: list[BaseMessage]) -> AIMessage:
    """The rule of the supervisor: which agent is to work, or what to say."""
    heard = " ".join(str(message.text) for message in messages if message.type == "human")
    if messages[-1].type == "human":
        if _code(messages) is None:
            return AIMessage(_in_language_of(heard, "Which order is it? Please give me its code."))
        return _call(f"transfer_to_{'refunds' if re.search('refund|money back|退款', heard) else 'orders'}")
    last = next(str(message.text) for message in reversed(messages) if message.type != "human")
    if "are refunded" in last:
        return AIMessage(_in_language_of(heard, "Done: your money is refunded. Is there anything else?"))
    failed = any(words in last for words in ("no such", "not possible", "rejected"))
    return AIMessage(f"I could not do that: {last}" if failed else last)


def _in_language_of(heard: str, text: str) -> str:
    return CHINESE[text] if re.search("[一-鿿]", heard) else text


def build(
    models: dict[str, BaseChatModel] | None = None, *, checks: bool = True
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The supervisor's graph; `models`: those of `supervisor`, `orders` and `refunds`.

    `checks`: whether the rule for refunds looks at the order's status first.
    """
    models = models or {
        "supervisor": Rules(rule=route),
        "orders": Rules(rule=look_up),
        "refunds": Rules(rule=partial(pay_back, checks=checks)),
    }
    approval = HumanInTheLoopMiddleware(interrupt_on={"refund": True})
    agents = {
        "orders": create_agent(models["orders"], [find_order], name="orders", context_schema=Customer),
        "refunds": create_agent(
            models["refunds"], [find_order, refund], name="refunds", context_schema=Customer, middleware=[approval]
        ),
    }

    async def supervisor(state: MessagesState) -> dict[str, Any]:
        reply = await models["supervisor"].ainvoke(state["messages"])
        reply.name = "supervisor"
        handed = [
            ToolMessage("The agent works on it.", tool_call_id=call["id"], name=call["name"])
            for call in reply.tool_calls
        ]
        return {"messages": [reply, *handed]}

    def next_one(state: MessagesState) -> str:
        last = state["messages"][-1]
        name = str(last.name).removeprefix("transfer_to_") if isinstance(last, ToolMessage) else ""
        return name if name in agents else END

    graph = StateGraph(MessagesState, context_schema=Customer).add_node("supervisor", supervisor)
    for name, agent in agents.items():
        graph.add_node(name, agent).add_edge(name, "supervisor")
    return graph.add_edge(START, "supervisor").add_conditional_edges("supervisor", next_one, [*agents, END]).compile()


graph = build()
worse = build(checks=False)
