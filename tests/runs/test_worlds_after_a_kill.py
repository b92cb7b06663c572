"""A run that is killed while an agent acts: resumed, every conversation has acted once."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from duologue.data import load

MINE = '''
import json
import os
import signal
from contextlib import contextmanager
from pathlib import Path

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, ToolRuntime

from duologue import graphs, nodes
from duologue.nodes.messages import plain_messages


class Ledger:
    """A file: what is written there survives the process."""

    def __init__(self, path):
        self.path = path

    def state(self):
        return {"bookings": self.path.read_text().split()}

    def snapshot(self):
        return self.path.read_text()

    def restore(self, text):
        self.path.write_text(text)


@contextmanager
def world(scenario):
    path = Path("ledgers") / scenario["guest"]
    path.parent.mkdir(exist_ok=True)
    path.write_text("")  # set up anew, whatever an earlier process left
    yield Ledger(path)


@tool
def book(room: str, runtime: ToolRuntime) -> str:
    """Book a room."""
    ledger = runtime.context.world
    with ledger.path.open("a") as file:
        file.write(room + " ")
    if Path("kill").exists() and ledger.path.name == "guest3":
        os.kill(os.getpid(), signal.SIGKILL)
    return str(len(ledger.state()["bookings"]))


async def clerk(state):
    if isinstance(state["messages"][-1], HumanMessage):
        call = {"name": "book", "args": {"room": "12"}, "id": f"c{len(state['messages'])}"}
        return {"messages": [AIMessage("", tool_calls=[call])]}
    return {"messages": [AIMessage(f"There are {state['messages'][-1].text} bookings.")]}


graph = StateGraph(MessagesState).add_node("clerk", clerk).add_node("tools", ToolNode([book]))
graph.add_edge(START, "clerk").add_edge("tools", "clerk")
graph.add_conditional_edges("clerk", lambda s: "tools" if s["messages"][-1].tool_calls else "__end__")


def first_is_rejected(draft, state):
    return None if nodes.rejected(state) else "rude"


def one_booking(state):
    said = [message.text for message in state["messages"] if message.type == "ai"]
    return said == ["There are 1 bookings."]


def cast() -> graphs.Cast:
    """A guest, and a clerk whose every first draft is rejected."""
    return graphs.Cast(
        name="guests",
        user_simulator=nodes.AgentSpeaker("user", lambda messages: "A room, please.", plain_messages("user")),
        assistant=nodes.AgentSpeaker("assistant", graph.compile()),
        answer_validator=nodes.validator(first_is_rejected),
        closing=nodes.scoring(success=one_booking),
        world=world,
        limits=nodes.Limits(max_turns=1),
    )
'''


COMMAND = "test --cast mine:cast --scenarios guests.jsonl --out run --concurrency 2 --json".split()


@pytest.mark.heavy
def test_a_killed_run_is_resumed_without_a_doubled_effect(forks: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    guests: list[dict[str, Any]] = [{"kind": "guests", "guest": f"guest{number}"} for number in range(6)]
    (tmp_path / "guests.jsonl").write_text("".join(json.dumps(guest) + "\n" for guest in guests))
    (tmp_path / "kill").touch()
    killed = forks.run(*COMMAND, cwd=tmp_path)
    assert killed.returncode == -signal.SIGKILL
    assert (tmp_path / "ledgers" / "guest3").read_text() == "12 "  # it had acted
    (tmp_path / "kill").unlink()
    resumed = forks.run(*COMMAND, "--resume", cwd=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    assert json.loads(resumed.stdout)["successes"] == 6
    assert {file.read_text() for file in (tmp_path / "ledgers").iterdir()} == {"12 "}
    conversations = list(load(tmp_path / "run"))
    assert [len(list(conversation.attempts("assistant"))) for conversation in conversations] == [2] * 6


COUNTED = MINE.replace(
    "async def clerk(state):\n",
    'async def clerk(state):\n    with Path("turns").open("a") as file:\n        file.write("x")\n',
).replace('"guest3":', '"guest3" and len(ledger.state()["bookings"]) == 2:')


@pytest.mark.heavy
def test_a_resumed_conversation_with_a_world_begins_anew(forks: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(COUNTED)
    (tmp_path / "guests.jsonl").write_text('{"kind": "guests", "guest": "guest3"}\n')
    (tmp_path / "kill").touch()
    killed = forks.run(*COMMAND, "--max-turns", "2", cwd=tmp_path)
    assert killed.returncode == -signal.SIGKILL
    (tmp_path / "kill").unlink()
    resumed = forks.run(*COMMAND, "--max-turns", "2", "--resume", cwd=tmp_path)
    assert (tmp_path / "turns").read_text() == (5 + 8) * "x", resumed.stderr
    assert (tmp_path / "ledgers" / "guest3").read_text() == "12 12 "
    (conversation,) = load(tmp_path / "run")
    assert [message.text for message in conversation.messages[1::2]] == [
        "There are 1 bookings.",
        "There are 2 bookings.",
    ]
