"""A hotel's desk tested against simulated guests: a whole domain in one file. See README.md."""

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
from duologue.analysis.realism import Measure
from duologue.data.rules import CHAT_RULES, Rule
from duologue.nodes.messages import PageMessages
from duologue.nodes.recllmsim import Ending, UserValidator

CARD = re.compile(r"\b\d{8}\b")


class Rooms:
    """The world of a conversation: free rooms by kind. After `restore` a rejected draft has booked none."""

    def __init__(self, free: dict[str, int], longest: int) -> None:
        self.free, self.longest = dict(free), longest

    def book(self, room: str, nights: int, card: str) -> str:
        if nights > self.longest:
            return f"I am sorry, more than {self.longest} nights cannot be booked."
        if not self.free.get(room):
            return f"I am sorry, no {room} room is left."
        self.free[room] -= 1
        return f"Done: a {room} room for {nights} nights is booked on the card {card}."

    def state(self) -> dict[str, int]:
        return dict(self.free)

    snapshot = state

    def restore(self, snapshot: dict[str, int]) -> None:
        self.free = snapshot


@tool
def book(room: str, nights: int, card: str, runtime: ToolRuntime[Any, Any]) -> str:
    """Book a room."""
    return str(runtime.context.world.book(room, nights, card))


def model(messages: list[AnyMessage]) -> AIMessage:
    """The desk's next message, by rules: a chat model with the tool bound takes its place."""
    human = [message.text for message in messages if message.type == "human"]
    if messages[-1].type == "tool":
        text, told = messages[-1].text, DISCREET in human[-1]
        return AIMessage(CARD.sub(lambda number: f"...{number[0][4:]}", text) if told else text)
    patterns = {"room": r"(single|double) room", "nights": r"(\d+) nights", "card": r"card is (\d{8})"}
    matches = {name: re.search(pattern, " ".join(human)) for name, pattern in patterns.items()}
    if matches["card"] is None:
        return AIMessage("What is the number of your card?")
    if not (matches["room"] and matches["nights"]):
        return AIMessage("Which room shall it be, a single or a double one, and for how many nights?")
    arguments = {name: match[1] for name, match in matches.items() if match}
    return AIMessage("", tool_calls=[{"name": "book", "args": arguments, "id": "1"}])


builder = StateGraph(MessagesState).add_node("tools", ToolNode([book]))
builder.add_node("model", lambda state: {"messages": [model(state["messages"])]})
builder.add_edge(START, "model").add_edge("tools", "model")
builder.add_conditional_edges("model", tools_condition)
agent = builder.compile()


def whole_numbers(conversation: data.Conversation) -> Iterator[tuple[int, str]]:
    """The rule of `check`: replies with a whole card number."""
    for place, message in enumerate(conversation.messages):
        if message.role == "assistant" and (number := CARD.search(message.text)):
            yield place, f"a whole card number: {number[0]}"


RULES: Mapping[str, Rule] = {**CHAT_RULES, "hotel-card": Rule("error", "a whole card number", whole_numbers)}
NAMES = {"user": "guest", "assistant": "clerk"}


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
        yield data.Conversation(id=number, scenario={"kind": "hotel"}, messages=messages)


def write(conversations: Iterable[data.Conversation], path: Path) -> list[str]:
    """Writes such a log, a line for each message."""
    with path.open("w", encoding="utf-8") as file:
        for talk in conversations:
            lines = [f"{NAMES[message.role]}: {' '.join(message.text.split())}" for message in talk.messages]
            file.write("\n".join([f"# desk {talk.id}", *lines, ""]))
    return ["rejected drafts and tool calls"]


class Hotel(data.Domain):
    """What a conversation is about: a guest of a hotel wants a room."""

    kind = "hotel"
    rules = RULES
    formats = (data.Format("desk", "logs of a desk", recognises, read, write),)

    def title(self, scenario: Mapping[str, Any]) -> str:
        return str(scenario.get("goal", "A talk at the desk")).capitalize()


data.domains.register(DOMAIN := Hotel())


def hides_numbers(draft: nodes.Draft, state: nodes.State) -> str | None:
    """The validator: the reason of a reply with a whole card number."""
    return "card_number" if CARD.search(draft["text"]) else None


DISCREET = "Write only the last four digits of a card."


def discreet(state: nodes.State) -> str | None:
    """The prompt selector: what the desk is told after a rejected draft."""
    return DISCREET if nodes.rejected(state) else None


NIGHTS = Measure(
    name="nights named",
    definition="Share of messages with a number of nights.",
    unit="share of messages",
    of_text=lambda user, number: "nights" in user.words[number],
)


def cast(
    user: Annotated[str, Field(description="The guest: openai:NAME, or offline.")] = "offline",
    longest: Annotated[int, Field(ge=1, description="Most nights of a booking.")] = 28,
) -> graphs.Cast:
    """A guest with a goal and facts, and the hotel's agent."""
    pages = prompts.library(Path(__file__).parent / "pages")
    return graphs.Cast(
        name="hotel",
        user=user,
        user_view=PageMessages("user", pages),
        question_validator=UserValidator(Ending(may_give_up=True, any_goodbye=True, stored=True)),
        assistant=nodes.AgentSpeaker("assistant", agent),
        assistant_prompt_selector=nodes.selector(discreet),
        answer_validator=nodes.every(nodes.not_empty, nodes.validator(hides_numbers)),
        world=lambda scenario: Rooms(scenario["rooms"], longest),
        limits=nodes.Limits(max_turns=8),
        prompts=pages,
    )
