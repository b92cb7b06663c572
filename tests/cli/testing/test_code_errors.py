"""An error of one's own code has file, line and the last frames wherever a test of an agent is shown."""

import json
from asyncio import CancelledError
from importlib import import_module
from pathlib import Path
from urllib.error import URLError
from xml.etree.ElementTree import parse

import pytest

from duologue import data, graphs, nodes, simulate
from duologue.analysis.testing.success import successes
from duologue.data.packages import frames_of
from duologue.testing import assert_solved

SHOP = """
SECRET = "sk-" + "abcdefghij"


def book(code):
    price = {"AB": 40}
    return price[code]
"""
AGENT = """
from own_shop.till import book


def agent(messages):
    return str(book("QX" + messages[-1]["content"][:0]))


def validate(draft, state):
    return book("ZZ")


def score(state):
    return book("SC")


def world(scenario):
    return book("WO")
"""
TILL = "own_shop/till.py:7 in book"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "own_shop").mkdir()
    (tmp_path / "own_shop/__init__.py").touch()
    (tmp_path / "own_shop/till.py").write_text(SHOP)
    (tmp_path / "own_agents.py").write_text(AGENT)
    (tmp_path / "goals.jsonl").write_text(json.dumps({"goal": "book a seat"}) + "\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("own_agents", "own_shop", "own_shop.till"):
        monkeypatch.delitem(__import__("sys").modules, name, raising=False)
    return tmp_path


def test_an_agent_that_raises_is_shown_with_its_frames_everywhere(duologue, shop: Path) -> None:
    code, _, err = duologue(
        "test", "--assistant", "own_agents:agent", "--scenarios", "goals.jsonl", "--out", "run", "--junit", "j.xml"
    )
    assert code == 1
    frames = ["own_agents.py:6 in agent", TILL]
    (failed,) = [json.loads(line) for line in Path("run/failures.jsonl").read_text().splitlines()]
    assert failed["failure"]["frames"] == frames
    assert "own_agents.py, line 6" in failed["failure"]["error"]
    lines = err.splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("error in your code: "))
    assert "KeyError: 'QX'" in lines[place]
    assert lines[place + 1 : place + 3] == [f"        at {frame}" for frame in frames]
    element = parse("j.xml").find(".//failure")
    assert element is not None
    assert f"at {TILL}" in str(element.text)
    page = data.load("run")
    assert page.path.name == "run"
    (conversation,) = data.record_lines.read(Path("run/failures.jsonl"))
    import duologue as package

    assert f"<li>at <code>{TILL}</code></li>" in package.show(conversation)._repr_html_()
    assert successes([conversation]).errors[0].frames == tuple(frames)
    with pytest.raises(AssertionError, match=r"at own_shop/till\.py:7 in book"):
        assert_solved(conversation)
    stored = "".join(path.read_text() for path in Path("run").glob("*.jsonl"))
    assert "abcdefghij" not in stored
    assert str(shop) not in stored


def test_an_endpoint_that_refuses_the_connection_is_no_error_of_ones_own_code(shop: Path) -> None:
    def agent(messages: list[dict[str, str]]) -> str:
        raise URLError(ConnectionRefusedError(111, "Connection refused"))

    (conversation,) = simulate(graphs.agent_test.cast("offline", agent), goals())
    result = successes([conversation])
    assert (result.errors, result.faults["infrastructure"]) == ((), 1)
    assert conversation.failure is not None
    assert "(test_code_errors.py, line " in conversation.failure.error


@pytest.mark.parametrize("error", [TimeoutError("the till is slow"), CancelledError()])
@pytest.mark.parametrize("is_async", [True, False])
def test_an_error_that_asyncio_treats_as_its_own_has_file_and_line(shop: Path, error, is_async: bool) -> None:
    def agent(messages: list[dict[str, str]]) -> str:
        raise error

    async def async_agent(messages: list[dict[str, str]]) -> str:
        return agent(messages)

    (conversation,) = simulate(graphs.agent_test.cast("offline", async_agent if is_async else agent), goals())
    failure = conversation.failure
    assert failure is not None
    assert failure.fault == ("assistant" if isinstance(error, CancelledError) else "infrastructure")
    assert "(test_code_errors.py, line " in failure.error
    assert failure.frames[-1].endswith(" in agent")


def test_an_agent_that_raises_in_a_graph_after_a_tool_has_frames_too(shop: Path) -> None:
    from langgraph.graph import START, MessagesState, StateGraph

    book = import_module("own_shop.till").book

    def first(state: MessagesState) -> dict[str, object]:
        return {"messages": [("ai", "One moment.")]}

    def second(state: MessagesState) -> dict[str, object]:
        return {"messages": [("ai", str(book("QX")))]}

    builder = StateGraph(MessagesState)
    builder.add_node("first", first)
    builder.add_node("second", second)
    builder.add_edge(START, "first")
    builder.add_edge("first", "second")
    (conversation,) = simulate(graphs.agent_test.cast("offline", builder.compile()), goals())
    assert conversation.failure is not None
    assert conversation.failure.node == "assistant"
    assert conversation.failure.frames[-1] == TILL
    assert conversation.failure.frames[0].endswith(" in second")


def test_validators_worlds_and_scorers_have_frames_too(shop: Path) -> None:
    own = import_module("own_agents")

    cast = graphs.agent_test.cast()
    (validated,) = simulate(cast.replace(answer_validator=nodes.validator(own.validate)), goals())
    (without_world,) = simulate(cast.replace(world=own.world), goals())
    (unscored,) = simulate(cast.replace(closing=nodes.scoring(success=own.score)), goals())
    for conversation in (validated, without_world):
        assert conversation.failure is not None
        assert conversation.failure.frames[-1] == TILL
    assert unscored.labels["scores"]["success"]["frames"][-1] == TILL
    assert "own_agents.py, line 14" in unscored.labels["scores"]["success"]["error"]
    (error,) = successes([unscored, validated]).errors
    assert (error.conversations, error.first) == (2, unscored.id)
    import duologue as package

    assert TILL in package.show(unscored)._repr_html_()


def test_validity_prints_the_frames_of_an_assistant_that_raises(duologue, shop: Path) -> None:
    pytest.importorskip("sklearn")
    code, _, err = duologue(
        "validity", "--assistant", "good", "--assistant", "mine=own_agents:agent", "--scenarios", "goals.jsonl",
        "--repeats", 1, "--out", "trial",
    )  # fmt: skip
    assert code == 1
    assert f"        at {TILL}" in err.splitlines()


def test_a_conversation_without_an_error_has_no_frames(shop: Path) -> None:
    (conversation,) = simulate(graphs.agent_test.cast(), goals())
    assert successes([conversation]).errors == ()


@pytest.mark.parametrize(
    ("here", "shown"),
    [("home/ann/shop", "own/till.py"), ("home/ann", "shop/own/till.py"), ("home", "own/till.py"), ("x", "own/till.py")],
)
def test_a_frame_names_no_home_folder(here: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "home/ann/shop/own/till.py"
    file.parent.mkdir(parents=True)
    (tmp_path / here).mkdir(exist_ok=True)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home/ann")
    monkeypatch.chdir(tmp_path / here)
    assert frames_at(file) == [f"{shown}:1 in <module>"]


def test_a_file_in_a_home_folder_has_its_name_alone_and_installed_code_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home/ann")
    assert frames_at(tmp_path / "home/ann/agent.py") == ["agent.py:1 in <module>"]
    assert frames_at(tmp_path / "home/bob/agent.py") == ["agent.py:1 in <module>"]
    assert frames_at(tmp_path / "lib/site-packages/other.py") == []
    assert frames_at(tmp_path / "ipykernel_77/1234.py") == ["notebook cell:1 in <module>"]


def frames_at(file: Path) -> list[str]:
    try:
        exec(compile("1 / 0", str(file), "exec"), {"__name__": "own"})
    except ZeroDivisionError as error:
        error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
        return frames_of(error)
    raise AssertionError


def goals() -> list[nodes.state.Planned]:
    return graphs.agent_test.scenarios([{"goal": "book a seat"}])
