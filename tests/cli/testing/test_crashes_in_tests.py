"""`duologue test` of agents that crash, answer nothing, or whose endpoint is away."""

import json
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

AGENTS = '''
from typing import Annotated, TypedDict

from langchain_core.messages import AIMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

DONE = "Done: QX4821 has been moved."


def half(bad):
    """An agent that answers to the one goal, and not to the other."""
    return lambda messages: bad() if "a bad seat" in str(messages) else DONE


def crashes():
    return {}["seat"]


class Away(Exception):
    status_code = 503


def away():
    raise Away("Service Unavailable")


def refused():
    raise ConnectionRefusedError("111")


crash, silence, endpoint, connection = half(crashes), half(lambda: ""), half(away), half(refused)


class Talk(TypedDict):
    messages: Annotated[list, add_messages]


def books(state):
    return {"messages": [AIMessage("", tool_calls=[{"name": "book", "args": {}, "id": "1"}])]}


def breaks(state):
    return {"messages": [AIMessage(crash(state["messages"]))]}


def presses(messages):
    raise KeyboardInterrupt


def stops(messages):
    return next(iter(()))


def number(messages):
    return 42


def plain(messages):
    return {}["seat"]


graph = StateGraph(Talk)
graph.add_node("books", books)
graph.add_node("breaks", breaks)
graph.add_edge(START, "books")
graph.add_edge("books", "breaks")
graph.add_edge("breaks", END)
graph = graph.compile()


def wordless_user(messages):
    return ""


def user(messages):
    raise KeyError("the user's own code")
'''


@pytest.fixture(autouse=True)
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)  # before the folders of earlier tests
    Path("crashing.py").write_text(AGENTS)
    lines = [{"goal": f"a {kind} seat", "success": {"text_contains": "moved"}} for kind in ("good", "bad")]
    Path("scenarios.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    sys.modules.pop("crashing", None)


def arguments(agent: str, *more: object) -> tuple[object, ...]:
    given = ("--scenarios", "scenarios.jsonl", "--repeats", 2, "--out", "run", "--junit", "junit.xml")
    return ("test", "--assistant", f"crashing:{agent}", *given, *more)


def counts_of(result: dict[str, Any]) -> list[Any]:
    return [result[name] for name in ("scored", "successes", "crashed", "answered", "unanswered", "unscored")]


@pytest.mark.parametrize(
    ("agent", "reason"),
    [
        ("crash", "assistant: KeyError: 'seat' (crashing.py, line "),
        ("graph", "assistant: KeyError: 'seat'"),
        ("silence", "assistant: none of 4 replies had a text: 4 empty"),
    ],
)
def test_a_crash_and_silence_are_the_assistants_failures(duologue, agent, reason) -> None:
    code, out, err = duologue(*arguments(agent, "--threshold", 0.5, "--json"))
    result = json.loads(out)
    assert (code, result["passed"], counts_of(result)) == (0, True, [4, 2, 2, 2, 2, 0]), err
    assert result["rejected_drafts"] == 0  # there is no validator
    assert result["faults"] == {"user": 0, "assistant": 2, "infrastructure": 0}
    assert all(failure["reason"].startswith(reason) for failure in result["failures"])
    again = "continue, once it is mended: the same command with --out run --resume"
    if agent == "silence":  # whose source the manifest has
        again = "mend it, then run the same command with another --out"
    assert err.splitlines()[-1] == f"2 ended by an error; {again}"
    (suite,) = ElementTree.parse("junit.xml").getroot()
    assert [suite.get(name) for name in ("tests", "failures", "errors")] == ["4", "2", "0"]

    code, out, err = duologue(*arguments(agent, "--threshold", 0.51, "--resume"))
    how = "it answered nothing" if agent == "silence" else "it crashed"
    line = f"answered 50 %: in 2 of 4 conversations the agent did not answer to the end: {how} in 2"
    assert (result["silent"], result["crashed"]) == (2 * (agent == "silence"), 2)
    page = Path("run/page.html").read_text()
    assert (code, line in out, line in page) == (1, True, True), err
    assert (page.count('data-success="no"'), page.count('data-success="no score"')) == (2, 0)
    duologue(*arguments(agent, "--crash-is-unscored", "--resume"))
    page = Path("run/page.html").read_text()
    assert (page.count('data-success="no"'), page.count('data-success="no score"')) == (0, 2)


def test_after_a_crash_of_a_function_whose_source_is_compared_another_folder_is_advised(duologue) -> None:
    _, _, err = duologue(*arguments("plain", "--no-page"))
    line = "4 ended by an error; mend it, then run the same command with another --out"
    assert err.splitlines()[-1] == line
    _, _, err = duologue("simulate", "agent_test", *arguments("plain")[1:7], "--out", "simulated")
    line = (
        "the same command with --out simulated --resume tries them again with the same code; once it is mended, choose"
    )
    assert err.splitlines()[-1].endswith(f"{line} another --out")
    Path("crashing.py").write_text(AGENTS.replace('{}["seat"]\n\n\ngraph', '"seat"\n\n\ngraph'))
    sys.modules.pop("crashing")
    code, _, err = duologue(*arguments("plain", "--resume"))
    line = "the source of plain (nodes.assistant.function) has changed since its run began"
    assert (code, line in err) == (2, True), err


def test_without_a_bound_to_decide_by_a_crash_does_not_pass(duologue) -> None:
    code, out, err = duologue(*arguments("crash", "--json"))
    assert (code, json.loads(out)["passed"]) == (1, False)
    assert "the agent did not answer to the end in 2 conversations, and no threshold is set" in err


def test_a_crash_has_no_score_where_that_is_chosen(duologue) -> None:
    code, out, _ = duologue(*arguments("crash", "--crash-is-unscored", "--threshold", 0.5, "--json"))
    result = json.loads(out)
    assert (code, result["passed"], counts_of(result)) == (1, False, [2, 2, 2, 2, 2, 2])
    assert (result["success"]["value"], result["faults"]["assistant"]) == (1, 2)
    (suite,) = ElementTree.parse("junit.xml").getroot()
    assert [suite.get(name) for name in ("tests", "failures", "errors")] == ["4", "0", "2"]
    code, out, _ = duologue(*arguments("crash", "--crash-is-failure", "--threshold", 0.5, "--json", "--resume"))
    assert (code, json.loads(out)["success"]["value"]) == (0, 0.5)


@pytest.mark.parametrize("agent", ["endpoint", "connection"])
def test_an_endpoint_that_is_away_is_infrastructure_and_has_no_score(duologue, agent) -> None:
    code, out, _ = duologue(*arguments(agent, "--threshold", 0.5, "--json"))
    result = json.loads(out)
    assert (code, result["passed"], counts_of(result)) == (1, False, [2, 2, 0, 2, 0, 2])
    assert result["faults"] == {"user": 0, "assistant": 0, "infrastructure": 2}
    (suite,) = ElementTree.parse("junit.xml").getroot()
    assert suite.get("errors") == "2"
    assert "answered" not in duologue(*arguments(agent, "--resume"))[1]


@pytest.mark.parametrize("user", ["user", "wordless_user"])
def test_a_user_of_ones_own_that_crashes_or_says_nothing_is_at_fault_and_gives_no_score(duologue, user) -> None:
    code, out, _ = duologue(*arguments("crash", "--user", f"crashing:{user}", "--json"))
    result = json.loads(out)
    assert (code, counts_of(result), result["faults"]["user"]) == (1, [0, 0, 0, 0, 0, 4], 4)


def test_a_model_as_user_that_says_nothing_is_infrastructure(duologue, faulty, monkeypatch) -> None:
    for name, value in faulty(faults={"empty": 1.0}).environment.items():
        monkeypatch.setenv(name, value)
    _, out, _ = duologue(*arguments("crash", "--user", "openai:m", "--json"))
    assert json.loads(out)["faults"] == {"user": 0, "assistant": 0, "infrastructure": 4}


def test_an_agent_that_always_answers_has_no_line_about_it(duologue) -> None:
    line = {"goal": "a good seat", "success": {"text_contains": "moved"}}
    Path("scenarios.jsonl").write_text(json.dumps(line) + "\n")
    code, out, err = duologue(*arguments("crash"))
    assert (code, "answered" in out + err) == (0, False)


def test_an_agent_that_raises_stopiteration_crashes_and_does_not_hang(duologue) -> None:
    _, out, _ = duologue(*arguments("stops", "--json", "--no-page"))
    (error,) = json.loads(out)["errors"]
    assert error["error"].startswith(
        "assistant: ExitError: code that a run calls has ended with StopIteration (crashing.py, line "
    )


def test_a_keyboard_interrupt_of_the_agents_own_is_its_error(duologue) -> None:
    code, _, err = duologue(*arguments("presses"))
    assert code == 1
    assert "ended with KeyboardInterrupt (crashing.py, line " in err


def test_after_an_answer_that_is_no_message_another_folder_is_advised(duologue) -> None:
    _, out, err = duologue(*arguments("number", "--no-page"))
    assert "it answered with no message in 4" in out
    assert err.splitlines()[-1] == "4 ended by an error; mend it, then run the same command with another --out"


def test_conversations_of_a_log_that_are_left_out_stand_in_all_reports(duologue) -> None:
    log = [{"messages": [{"role": role, "content": "Hello, a good seat."}]} for role in ("user", "assistant")]
    Path("scenarios.jsonl").write_text("".join(json.dumps(line) + "\n" for line in log))
    _, out, err = duologue(*arguments("crash", "--summary", "summary.md", "--json"))
    note = "scenarios.jsonl: 1 of 2 conversations name no goal and have no words of a user: left out"
    assert (note in json.loads(out)["source_notes"], err.count(note)) == (True, 1)
    assert note in Path("summary.md").read_text().replace("\\", "")
    assert note in Path("run/page.html").read_text()
