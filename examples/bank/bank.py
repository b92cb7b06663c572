"""A bank's desk tested against simulated customers: a whole domain in one file. See README.md."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, ToolRuntime, tools_condition
from pydantic import Field

from duologue import data, graphs, nodes, prompts
from duologue.data.rules import CHAT_RULES, Rule
from duologue.nodes.messages import PageMessages
from duologue.nodes.recllmsim import Ending, UserValidator

ACCOUNT = re.compile(r"\b\d{8}\b")


class Accounts:
    """The world of a conversation: balances by account. After `restore` a rejected draft has moved no money."""

    def __init__(self, balances: dict[str, int], limit: int) -> None:
        self.balances, self.limit = dict(balances), limit

    def transfer(self, source: str, target: str, amount: int) -> str:
        if amount > self.limit:
            return f"I am sorry, more than {self.limit} euros cannot be sent."
        if amount > self.balances.get(source, 0):
            return f"I am sorry, that cannot be sent: {source} holds less."
        self.balances[source] -= amount
        self.balances[target] = self.balances.get(target, 0) + amount
        return f"Done: {amount} euros have been sent from {source} to {target}."

    def state(self) -> dict[str, int]:
        return dict(self.balances)

    snapshot = state

    def restore(self, snapshot: dict[str, int]) -> None:
        self.balances = snapshot


@tool
def transfer(source: str, target: str, amount: int, runtime: ToolRuntime[Any, Any]) -> str:
    """Send euros from one account to another."""
    return str(runtime.context.world.transfer(source, target, amount))


def model(messages: list[AnyMessage]) -> AIMessage:
    """The agent's next message, by rules: a chat model with the tool bound takes its place."""
    human = [message.text for message in messages if message.type == "human"]
    if messages[-1].type == "tool":
        text, warned = messages[-1].text, "<note>" in human[-1]
        return AIMessage(ACCOUNT.sub(lambda number: f"...{number[0][4:]}", text) if warned else text)
    patterns = {"source": r"account is (\d{8})", "target": r"to (\d{8})", "amount": r"(\d+) euros"}
    matches = {name: re.search(pattern, " ".join(human)) for name, pattern in patterns.items()}
    if matches["source"] is None:
        return AIMessage("What is the number of your account?")
    if not (matches["target"] and matches["amount"]):
        return AIMessage("How many euros shall be sent, and to which account number?")
    arguments = {name: match[1] for name, match in matches.items() if match}
    return AIMessage("", tool_calls=[{"name": "transfer", "args": arguments, "id": "1"}])


builder = StateGraph(MessagesState).add_node("tools", ToolNode([transfer]))
builder.add_node("model", lambda state: {"messages": [model(state["messages"])]})
builder.add_edge(START, "model").add_edge("tools", "model")
builder.add_conditional_edges("model", tools_condition)
agent = builder.compile()


def whole_numbers(conversation: data.Conversation) -> Iterator[tuple[int, str]]:
    """The rule of `check`: replies with a whole account number."""
    for place, message in enumerate(conversation.messages):
        if message.role == "assistant" and (number := ACCOUNT.search(message.text)):
            yield place, f"a whole account number: {number[0]}"


RULES: Mapping[str, Rule] = {**CHAT_RULES, "bank-account": Rule("error", "a whole account number", whole_numbers)}
NAMES = {"user": "customer", "assistant": "clerk"}


def recognises(source: Any) -> bool:
    """Whether a file is a log of the desk."""
    return bool(source.text.startswith("# desk "))


def read(path: Path) -> Iterator[data.Conversation]:
    """The conversations of a log of the desk."""
    roles: Mapping[str, Any] = {name: role for role, name in NAMES.items()}
    for block in f"\n{data.read_text(path)}".split("\n# desk ")[1:]:
        number, *lines = block.strip().splitlines()
        parts = [line.split(": ", 1) for line in lines]
        messages = tuple(data.Message(role=roles[name], text=text) for name, text in parts)
        yield data.Conversation(id=number, scenario={"kind": "bank"}, messages=messages)


def write(conversations: Iterable[data.Conversation], path: Path) -> list[str]:
    """Writes such a log, a line for each message."""
    with path.open("w", encoding="utf-8") as file:
        for talk in conversations:
            lines = [f"{NAMES[message.role]}: {' '.join(message.text.split())}" for message in talk.messages]
            file.write("\n".join([f"# desk {talk.id}", *lines, ""]))
    return ["rejected drafts and tool calls"]


class Bank(data.Domain):
    """What a conversation is about: a customer of a bank wants money sent."""

    kind = "bank"
    rules = RULES
    formats = (
        data.Format("desk", "logs of a desk", recognises, read, write, "a first line that begins with `# desk `"),
    )

    def title(self, scenario: Mapping[str, Any]) -> str:
        return str(scenario.get("goal", "A talk at the desk")).capitalize()

    def facts(self, scenario: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        return tuple(("account", number) for number in scenario.get("accounts", {}))


data.domains.register(DOMAIN := Bank())


def hides_numbers(draft: nodes.Draft, state: nodes.State) -> str | None:
    """The validator: the reason of a reply with a whole account number."""
    return "account_number" if ACCOUNT.search(draft["text"]) else None


def cast(
    user: Annotated[str, Field(description="The customer: openai:NAME, or offline.")] = "offline",
    most: Annotated[int, Field(ge=1, description="Largest transfer in euros.")] = 1000,
) -> graphs.Cast:
    """A customer with a goal and facts, and the bank's agent."""
    pages = prompts.library(Path(__file__).parent / "pages")
    return graphs.Cast(
        name="bank",
        user=user,
        user_view=PageMessages("user", pages),
        question_validator=UserValidator(Ending(may_give_up=True, any_goodbye=True, stored=True)),
        assistant=nodes.AgentSpeaker("assistant", agent),
        answer_validator=nodes.every(nodes.not_empty, nodes.validator(hides_numbers)),
        world=lambda scenario: Accounts(scenario["accounts"], most),
        limits=nodes.Limits(max_turns=8),
        prompts=pages,
    )
