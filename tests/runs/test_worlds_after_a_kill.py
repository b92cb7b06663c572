"""A run that is killed while an agent acts: resumed, every conversation has acted once."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, ToolRuntime

from duologue.data import load
from duologue.data.identity import digest
from duologue.nodes.speakers.repeated_calls import RepeatedCalls
from duologue.nodes.world_journal import RepeatError, WorldInJournal
from duologue.nodes.worlds import WorldError

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
    return None if state.get("attempts") else "rude"


def one_booking(state):
    said = [message["text"] for message in state["messages"] if message["role"] == "assistant"]
    return said == ["There are 1 bookings."]


def cast() -> graphs.Cast:
    """A guest, and a clerk whose every first draft is rejected."""
    return graphs.Cast(
        name="guests",
        user_simulator=nodes.FunctionSpeaker("user", lambda messages: "A room, please.", nodes.plain_messages("user")),
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
@pytest.mark.parametrize(("options", "calls"), [((), 5 + 4), (("--no-snapshots",), 5 + 8)])
def test_a_resumed_conversation_goes_on_from_the_world_in_the_journal(
    forks: Any, tmp_path: Path, options: tuple[str, ...], calls: int
) -> None:
    (tmp_path / "mine.py").write_text(COUNTED)
    (tmp_path / "guests.jsonl").write_text('{"kind": "guests", "guest": "guest3"}\n')
    (tmp_path / "kill").touch()
    killed = forks.run(*COMMAND, "--max-turns", "2", *options, cwd=tmp_path)
    assert killed.returncode == -signal.SIGKILL
    assert ("begins anew" in killed.stderr) == bool(options)
    (tmp_path / "kill").unlink()
    resumed = forks.run(*COMMAND, "--max-turns", "2", *options, "--resume", cwd=tmp_path)
    assert (tmp_path / "turns").read_text() == calls * "x", resumed.stderr
    assert (tmp_path / "ledgers" / "guest3").read_text() == "12 12 "
    (conversation,) = load(tmp_path / "run")
    assert [message.text for message in conversation.messages[1::2]] == [
        "There are 1 bookings.",
        "There are 2 bookings.",
    ]
    assert '"json"' not in "".join(path.read_text() for path in (tmp_path / "run").rglob("*.json*"))


UNRESTORABLE = COUNTED.replace("def snapshot", "def copy")
NEVER_THE_SAME = UNRESTORABLE.replace('path.write_text("")', 'path.write_text("9 " * Path("again").exists())')


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("code", "calls", "rooms"), [(UNRESTORABLE, 3 + 2, "12 12 "), (NEVER_THE_SAME, 3 + 4, "9 12 12 ")]
)
def test_tool_calls_are_made_again_where_a_world_has_a_state_and_no_snapshot(
    forks: Any, tmp_path: Path, code: str, calls: int, rooms: str
) -> None:
    (tmp_path / "mine.py").write_text(code)
    (tmp_path / "guests.jsonl").write_text('{"kind": "guests", "guest": "guest3"}\n')
    (tmp_path / "kill").touch()
    killed = forks.run(*COMMAND, "--max-turns", "2", cwd=tmp_path)
    assert killed.returncode == -signal.SIGKILL
    assert "begins anew" not in killed.stderr
    (tmp_path / "kill").rename(tmp_path / "again")
    resumed = forks.run(*COMMAND, "--max-turns", "2", "--resume", cwd=tmp_path)
    assert (tmp_path / "turns").read_text() == calls * "x", resumed.stderr
    assert ("begins anew" in resumed.stderr) == (code is NEVER_THE_SAME)
    assert (tmp_path / "ledgers" / "guest3").read_text() == rooms


class Boxed:
    """A world with this snapshot."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def snapshot(self) -> Any:
        return self.value

    def restore(self, value: Any) -> None:
        self.value = value


@pytest.mark.parametrize("value", [{"rooms": [1, None, "Zürich"]}, b"\x00\xff", "", 0, None])
async def test_json_and_bytes_are_kept_and_put_as_they_were(value: Any) -> None:
    world = Boxed(value)
    plain = json.loads(json.dumps(await WorldInJournal(world).after({}, 1000)))
    world.value = "another"
    await WorldInJournal(world).put(plain, {})
    assert world.value == value


@pytest.mark.parametrize(
    ("world", "why"),
    [
        (Boxed(object()), "neither JSON nor bytes"),
        (Boxed({1: (2, 3)}), "JSON changes"),
        (Boxed("x" * 2000), "more than 1,000 bytes"),
        (object(), "has no snapshot"),
    ],
)
async def test_what_cannot_be_kept_is_logged_once(
    world: Any, why: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duologue.nodes.world_journal._lost_worlds", set())
    for _ in range(2):
        assert await WorldInJournal(world).after({}, 1000) is None
    (line,) = caplog.messages
    assert why in line


@pytest.mark.parametrize(
    ("most", "world", "lines"),
    [
        (1000, Boxed([1]), []),
        (1000, Boxed((1,)), ["JSON changes"]),
        (1000, object(), ["has no snapshot"]),
        (0, Boxed([1]), ["has no snapshots"]),
        (None, object(), []),
        (1000, None, []),
    ],
)
async def test_a_run_logs_at_its_start_that_a_conversation_would_begin_anew(
    most: int | None,
    world: Any,
    lines: list[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("duologue.nodes.world_journal._lost_worlds", set())
    monkeypatch.setattr("duologue.nodes.world_journal._checked_worlds", set())
    for _ in range(2):
        await WorldInJournal(world).check(most)
    assert len(caplog.messages) == len(lines)
    assert all(line in message for line, message in zip(lines, caplog.messages, strict=True))


async def test_a_snapshot_that_fails_is_an_error_of_the_world() -> None:
    class Broken(Boxed):
        def snapshot(self) -> Any:
            raise ValueError("the database is away")

    with pytest.raises(WorldError, match="no snapshot of the world could be taken: ValueError: the database is away"):
        await WorldInJournal(Broken(1)).after({}, 1000)


@tool
def book(room: str, runtime: ToolRuntime[Any, Any]) -> str:
    """Book a room."""
    runtime.context.booked.append(room)
    return str(len(runtime.context.booked))


class Rooms:
    """A world that cannot be put back."""

    def __init__(self, *booked: str) -> None:
        self.booked = list(booked)

    def state(self) -> list[str]:
        return self.booked


BOOKED = [{"tool_calls": [{"name": "book", "arguments": {"room": "12"}, "result": "1"}]}]


def calls_in(world: Rooms) -> RepeatedCalls:
    clerk = StateGraph(MessagesState).add_node("tools", ToolNode([book])).add_edge(START, "tools").compile()
    return RepeatedCalls(clerk, world)


async def test_the_calls_of_a_turn_bring_a_world_back_to_its_state() -> None:
    stored = await WorldInJournal(Rooms("12"), calls_in(Rooms())).after({"drafts": BOOKED}, 1000)
    assert stored is not None
    world = Rooms()
    assert await WorldInJournal(world, calls_in(world)).put(stored, {"drafts": BOOKED})
    assert world.booked == ["12"]
    assert not await WorldInJournal(Rooms()).put(stored, {"drafts": BOOKED})


@pytest.mark.parametrize(
    ("world", "state", "why"),
    [
        (Rooms("9"), ["9", "12"], "book gives another result"),
        (Rooms(), ["7"], "the world's state is another one"),
        (None, ["12"], "book fails: AttributeError"),
    ],
)
async def test_calls_that_give_something_else_are_an_error(world: Any, state: list[str], why: str) -> None:
    stored = {"state": digest(state)}
    with pytest.raises(RepeatError, match=why):
        await WorldInJournal(world, calls_in(world)).put(stored, {"drafts": BOOKED})


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ({"name": "pay", "arguments": {}, "result": "1"}, "the tool pay is in no tool node"),
        ({"name": "book", "arguments": {}, "error": "no result came"}, "the call book has no result"),
        ({"name": "book", "error": "malformed call: {"}, "the call book has no result"),
        ({"name": "interrupt", "arguments": {}, "result": "yes"}, "the call interrupt has no result"),
    ],
)
async def test_a_turn_whose_calls_cannot_be_made_again_is_logged(
    call: dict[str, Any], why: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duologue.nodes.world_journal._lost_worlds", set())
    assert await WorldInJournal(Rooms(), calls_in(Rooms())).after({"drafts": [{"tool_calls": [call]}]}, 1000) is None
    (line,) = caplog.messages
    assert why in line


async def test_a_state_that_is_no_json_is_logged(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duologue.nodes.world_journal._lost_worlds", set())
    assert await WorldInJournal(object(), calls_in(Rooms())).after({}, 1000) is None
    assert "no state() that JSON can hold (SettingError: the world object has no state" in caplog.text
