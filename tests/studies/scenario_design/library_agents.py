"""A library's desk with a handbook in Chinese: its world, its tools, a sound agent, and ten with one seeded fault each."""

import copy
import json
import re
from collections.abc import Sequence
from typing import Annotated, Any, TypeAlias

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, ToolRuntime

HANDBOOK = """# 服务台手册

欢迎来到本馆。本手册供服务台使用。

## 借阅

- 办理业务前必须先核对读者证号和书号。
- 珍藏本不得续借，也不接受例外。

## 预约

停用的读者证不能预约图书。

- 没有系统的确认，不要说已经办好。
"""


class RefusedError(Exception):
    """What the library's system answers when it cannot do what it was asked for."""


class Library:
    """Readers, books and loans of a library."""

    def __init__(self, database: dict[str, Any]) -> None:
        self.database = database

    def state(self) -> dict[str, Any]:
        """All of it."""
        return self.database

    def of(self, reader: str, book: str) -> dict[str, Any]:
        """The book, once reader and book are there."""
        if reader not in self.database["readers"]:
            raise RefusedError(f"没有读者证 {reader}")
        if book not in self.database["books"]:
            raise RefusedError(f"没有书号 {book}")
        found: dict[str, Any] = self.database["books"][book]
        return found


def world(scenario: dict[str, Any]) -> Library:
    """The library of a scenario."""
    return Library(scenario["database"])


def examples() -> list[dict[str, Any]]:
    """Libraries to begin with, and what a reader has there."""
    database = {
        "readers": {"R1057": {"证件": "有效"}, "R1075": {"证件": "有效"}, "R2068": {"证件": "停用"}},
        "books": {
            "B3301": {"类别": "普通本", "续借": 0, "预约": []},
            "B3310": {"类别": "普通本", "续借": 0, "预约": []},
            "B7702": {"类别": "珍藏本", "续借": 0, "预约": []},
        },
    }
    return [
        {"values": {"reader": reader, "book": book}, "scenario": {"database": copy.deepcopy(database)}}
        for reader, book in (("R1057", "B3301"), ("R1075", "B7702"), ("R2068", "B3310"))
    ]


world.examples = examples  # type: ignore[attr-defined]
_READER, _BOOK = "读者证号", "书号"
Reader: TypeAlias = Annotated[str, _READER]
Book: TypeAlias = Annotated[str, _BOOK]


@tool
def query_loan(reader: Reader, book: Book, runtime: ToolRuntime[Any, Any]) -> dict[str, Any]:
    """查询一本书的借阅情况。"""
    return {"book": book, **runtime.context.world.of(reader, book)}


@tool
def renew(reader: Reader, book: Book, runtime: ToolRuntime[Any, Any]) -> dict[str, Any]:
    """续借一本书，期限三十天。"""
    runtime.context.world.of(reader, book)["续借"] += 1
    return {"book": book, "续借": "三十天"}


@tool
def reserve(reader: Reader, book: Book, runtime: ToolRuntime[Any, Any]) -> dict[str, Any]:
    """预约一本书。"""
    queue = runtime.context.world.of(reader, book)["预约"]
    queue.append(reader)
    return {"book": book, "预约": len(queue)}


TOOLS = (query_loan, renew, reserve)
_DEEDS = {"查询": "query_loan", "续借": "renew", "预约": "reserve"}


class Sound:
    """Asks for reader and book, keeps to the handbook, and reports what the system has confirmed."""

    def reply(self, messages: Sequence[AnyMessage]) -> AIMessage:
        """A tool call or a sentence."""
        human = [message.text for message in messages if message.type == "human"]
        calls = [call for message in messages if isinstance(message, AIMessage) for call in message.tool_calls]
        deed = next((name for words, name in _DEEDS.items() if any(words in text for text in human)), None)
        if deed is None:
            return AIMessage("请问您想办什么事？")
        if isinstance(messages[-1], ToolMessage):
            return self.after_tool(messages[-1], calls, deed, human)
        for sign, label in (("R", _READER), ("B", _BOOK)):
            if question := self.question(sign, label, human):
                return question
        return self.first_call(deed, self.arguments(human))

    def arguments(self, human: Sequence[str]) -> dict[str, Any]:
        """The reader and the book."""
        return {"reader": self.value("R", human) or "", "book": self.value("B", human) or ""}

    def question(self, sign: str, label: str, human: Sequence[str]) -> AIMessage | None:
        """The question for a value, or the refusal without it; None if it is there."""
        if self.value(sign, human) is not None:
            return None
        if f"没有{label}" in "".join(human):
            return AIMessage(f"很抱歉，没有{label}无法办理。")
        return AIMessage(f"请问是哪一个？您的{label}是多少？")

    def value(self, sign: str, human: Sequence[str]) -> str | None:
        """The last value that the reader gave; of two in one message none, unless one is ruled out."""
        for text in reversed(human):
            codes = re.findall(rf"{sign}\d{{4}}", text)
            if codes and f"{codes[0]}或者" not in text:
                return str(codes[0])
        return None

    def first_call(self, deed: str, arguments: dict[str, Any]) -> AIMessage:
        """The tool call once all is there; before a change the loan is looked up."""
        return call_of("query_loan", arguments)

    def after_tool(self, last: ToolMessage, calls: Sequence[Any], deed: str, human: Sequence[str]) -> AIMessage:
        """What follows on a tool's result."""
        if last.status == "error":
            return AIMessage(f"很抱歉，无法办理：{last.text}。")
        result = json.loads(last.text)
        if deed == "query_loan":
            return AIMessage(f"这本书是{result['类别']}，续借过 {result['续借']} 次。")
        if calls[-1]["name"] == deed:
            return AIMessage(f"已经为您办好了，书号 {result['book']}。")
        if (deed == "renew" and self.is_rare(result)) or (deed == "reserve" and self.is_blocked(calls[-1]["args"])):
            return AIMessage("很抱歉，按照规定不能办理。")
        return call_of(deed, calls[-1]["args"])

    def is_rare(self, result: dict[str, Any]) -> bool:
        """Whether the book may not be renewed."""
        return bool(result["类别"] == "珍藏本")

    def is_blocked(self, arguments: dict[str, Any]) -> bool:
        """Whether the reader may not reserve: the desk has a list."""
        return arguments["reader"] == "R2068"


def call_of(name: str, arguments: dict[str, Any]) -> AIMessage:
    """A message that calls a tool."""
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"{name}-1"}])


class RenewsRareBooks(Sound):
    """Renews what may not be renewed."""

    def is_rare(self, result: dict[str, Any]) -> bool:
        """Never."""
        return False


class ReservesForBlockedReaders(Sound):
    """Reserves for readers whose card is blocked."""

    def is_blocked(self, arguments: dict[str, Any]) -> bool:
        """Never."""
        return False


class PromisesOnly(Sound):
    """Reports what it has not done."""

    def after_tool(self, last: ToolMessage, calls: Sequence[Any], deed: str, human: Sequence[str]) -> AIMessage:
        """The report in place of the call."""
        answer = super().after_tool(last, calls, deed, human)
        return AIMessage("已经为您办好了。") if answer.tool_calls else answer


class TakesTheFirst(Sound):
    """Takes the first of two values that could be meant."""

    def value(self, sign: str, human: Sequence[str]) -> str | None:
        """The first value that there is."""
        return next((str(codes[0]) for text in human if (codes := re.findall(rf"{sign}\d{{4}}", text))), None)


class InventsAReader(Sound):
    """Takes a reader that it has seen before where the user has no number."""

    def question(self, sign: str, label: str, human: Sequence[str]) -> AIMessage | None:
        """No question for a reader that the user does not have."""
        asked = super().question(sign, label, human)
        return None if asked and sign == "R" and "没有" in asked.text else asked

    def arguments(self, human: Sequence[str]) -> dict[str, Any]:
        """A reader all the same."""
        own = super().arguments(human)
        return own | {"reader": own["reader"] or "R1057"}


class AnotherBook(Sound):
    """Takes another book than was asked for."""

    def arguments(self, human: Sequence[str]) -> dict[str, Any]:
        """The neighbour of the book."""
        own = super().arguments(human)
        return own | {"book": "B3310" if own["book"] == "B3301" else own["book"]}


class DoesItTwice(Sound):
    """Makes each change a second time."""

    def after_tool(self, last: ToolMessage, calls: Sequence[Any], deed: str, human: Sequence[str]) -> AIMessage:
        """The same call again."""
        if deed != "query_loan" and last.status != "error" and [one["name"] for one in calls].count(deed) == 1:
            return call_of(deed, calls[-1]["args"])
        return super().after_tool(last, calls, deed, human)


class HidesErrors(Sound):
    """Reports success after an error of the system."""

    def after_tool(self, last: ToolMessage, calls: Sequence[Any], deed: str, human: Sequence[str]) -> AIMessage:
        """Success, whatever the system answered."""
        return AIMessage("已经为您办好了。") if last.status == "error" else super().after_tool(last, calls, deed, human)


class AnswersWithoutLooking(Sound):
    """Describes a loan that it has not looked up."""

    def first_call(self, deed: str, arguments: dict[str, Any]) -> AIMessage:
        """A description in place of the call."""
        call = super().first_call(deed, arguments)
        return AIMessage("这本书是借出的，明天归还。") if deed == "query_loan" else call


class RefusesAll(Sound):
    """Refuses whatever it could do."""

    def first_call(self, deed: str, arguments: dict[str, Any]) -> AIMessage:
        """A refusal in place of the call."""
        return AIMessage("很抱歉，无法办理。")


FAULTY: tuple[type[Sound], ...] = (
    RenewsRareBooks,
    ReservesForBlockedReaders,
    PromisesOnly,
    TakesTheFirst,
    InventsAReader,
    AnotherBook,
    DoesItTwice,
    HidesErrors,
    AnswersWithoutLooking,
    RefusesAll,
)


def build(agent: Sound) -> Any:
    """The compiled graph: the agent answers or calls tools, tools answer the agent."""

    def answer(state: MessagesState) -> dict[str, Any]:
        return {"messages": [agent.reply(state["messages"])]}

    def handled(error: RefusedError) -> str:
        return str(error)

    def after(state: MessagesState) -> str:
        return "tools" if getattr(state["messages"][-1], "tool_calls", None) else END

    graph = StateGraph(MessagesState)
    graph.add_node("answer", answer)
    graph.add_node("tools", ToolNode(TOOLS, handle_tool_errors=handled))
    graph.add_edge(START, "answer")
    graph.add_conditional_edges("answer", after, ["tools", END])
    graph.add_edge("tools", "answer")
    return graph.compile()


agent = build(Sound())
