"""Runs that are killed again and again against an endpoint that counts: what is lost, and what is paid twice."""

import json
from pathlib import Path
from typing import Any

import pytest

from duologue.data.formats.record_lines import StoredRun, versions_in

WHENS = ("before", "amid", "after")
CLERK = '''
from contextlib import contextmanager
from pathlib import Path

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, ToolRuntime

from duologue import nodes
from duologue.graphs import agent_test


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
    path = Path("ledgers") / scenario["facts"][0]
    path.parent.mkdir(exist_ok=True)
    path.write_text("")  # set up anew, whatever an earlier process left
    yield Ledger(path)


@tool
def book(room: str, runtime: ToolRuntime) -> str:
    """Book a room."""
    ledger = runtime.context.world
    with ledger.path.open("a") as file:
        file.write(room + " ")
    return str(len(ledger.state()["bookings"]))


async def clerk(state):
    if isinstance(state["messages"][-1], HumanMessage):
        call = {"name": "book", "args": {"room": "12"}, "id": f"c{len(state['messages'])}"}
        return {"messages": [AIMessage("", tool_calls=[call])]}
    return {"messages": [AIMessage(f"There are {state['messages'][-1].text} bookings.")]}


graph = StateGraph(MessagesState).add_node("clerk", clerk).add_node("tools", ToolNode([book]))
graph.add_edge(START, "clerk").add_edge("tools", "clerk")
graph.add_conditional_edges("clerk", lambda s: "tools" if s["messages"][-1].tool_calls else "__end__")
agent = graph.compile()


def each_second(draft, state):
    drafts = [one for one in state["attempts"] if one["role"] == "assistant"]
    return "a second draft" if len(drafts) % 2 == 1 else None


def cast(user="offline", **settings):
    made = agent_test.cast(user, agent, **settings)
    return made.replace(world=world, answer_validator=nodes.validator(each_second))
'''
MORE = {
    "simulate": "simulate simquac --topics topics.jsonl --user openai:m --assistant openai:m --max-turns 3",
    "versions": "test --scenarios goals.jsonl --user openai:m --assistant openai:m --against openai:n --max-turns 3",
    "world": "test --cast clerk:cast --scenarios goals.jsonl --user openai:m --max-turns 4",
}


class Killed:
    """A run that is started, killed and begun again in a folder of its own."""

    def __init__(self, forks: Any, endpoint: Any, folder: Path, what: str, *, scenarios: int, concurrency: int) -> None:
        self.forks, self.endpoint, self.folder, self.kills = forks, endpoint, folder, 0
        folder.mkdir()
        topics, goals = [], []
        for number in range(scenarios):
            section = f"The tower of place {number} was built in {1700 + number} by Ada Quill. Ships pass it at night. "
            section += "Three keepers lived there until 1968. Maria Holt wrote a guide, which was printed twice."
            topic = {"title": f"Place {number}", "background": "A place by the sea.", "header": "The tower"}
            topics.append(json.dumps(topic | {"section": section}) + "\n")
            # Without a success of its own: null agents, which show what that is worth, would play in the same worlds.
            goal = {"goal": f"book room {number}", "facts": [f"guest{number}"]}
            goals.append(json.dumps(goal) + "\n")
        (folder / "topics.jsonl").write_text("".join(topics))
        (folder / "goals.jsonl").write_text("".join(goals))
        (folder / "clerk.py").write_text(CLERK)
        self.command = f"{MORE[what]} --concurrency {concurrency} --out run".split()

    def start(self) -> Any:
        """Start the run, or go on with it."""
        return self.forks(self.command, self.folder, self.endpoint.environment)

    def kill_at(self, answered: int, when: str) -> None:
        """Go on until so many replies were sent, where the endpoint kills the run."""
        fork = self.start()
        self.endpoint.change(kill={"pid": fork.pid, "at": answered, "when": when})
        code = fork.wait()
        self.kills += code == -9
        assert code in (0, 1, -9), fork.stderr

    def finish(self) -> Any:
        """Go on to the end, with no kill left."""
        self.endpoint.change(kill=None)
        fork = self.start()
        assert fork.wait() in (0, 1), fork.stderr  # 1 where the agent of a test fails
        return self.endpoint.counts()

    @property
    def records(self) -> dict[tuple[str, str], Any]:
        """The conversations by version and id, without times and without which version paid for a reply."""
        found = {}
        for version in versions_in(StoredRun(self.folder / "run").manifest):
            for one in StoredRun(self.folder / "run", version=version).finished():
                found[version, one.id] = json.loads(
                    json.dumps(one.without_timing().plain()).replace('"shared": true', '"shared": false')
                )
        return found


def texts(records: dict[tuple[str, str], Any]) -> dict[tuple[str, str], Any]:
    """What was said, and how it ended."""
    return {key: ([one["text"] for one in plain["messages"]], plain["stop"]) for key, plain in records.items()}


def ledgers(run: Killed) -> dict[str, str]:
    """What the agents of conversations have done, each in its own world: rejected drafts have left nothing."""
    return {path.name: path.read_text() for path in sorted((run.folder / "ledgers").glob("*"))}


def ends_as_an_undisturbed_one(
    forks: Any, faulty: Any, folder: Path, what: str, kills: int, step: int, **size: int
) -> None:
    whole = Killed(forks, faulty(), folder / "whole", what, **size)
    assert whole.finish()["repeats"] == 0
    run = Killed(forks, faulty(jitter=0.005), folder / "run", what, **size)
    for number in range(kills):
        run.kill_at(run.endpoint.counts()["answered"] + step + 3 * number, WHENS[number % 3])
    counts = run.finish()
    print(f"{what}: {run.kills} kills, {counts['requests']} requests, {counts['repeats']} repeats")
    assert 1 <= run.kills <= kills
    if what == "world":
        replies = {one["scenario"]["facts"][0]: one["messages"][1::2] for one in run.records.values()}
        assert {name: len(text.split()) for name, text in ledgers(run).items()} == {
            name: len(said) for name, said in replies.items()
        }
        assert any(len(one["attempts"]) > 1 for said in replies.values() for one in said)
    assert texts(run.records) == texts(whole.records)
    assert ledgers(run) == ledgers(whole)
    assert counts["repeats"] <= kills * size["concurrency"]


@pytest.mark.parametrize("what", MORE)
def test_a_killed_run_pays_at_most_the_calls_in_flight_again_and_ends_as_an_undisturbed_one(
    forks: Any, faulty: Any, tmp_path: Path, what: str
) -> None:
    ends_as_an_undisturbed_one(forks, faulty, tmp_path, what, 2, 6, scenarios=8, concurrency=4)


@pytest.mark.heavy
@pytest.mark.parametrize("what", MORE)
def test_the_same_with_64_conversations_at_a_time(forks: Any, faulty: Any, tmp_path: Path, what: str) -> None:
    ends_as_an_undisturbed_one(forks, faulty, tmp_path, what, 4, 60, scenarios=96, concurrency=64)
