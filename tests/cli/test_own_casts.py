"""`duologue simulate` with casts, speakers and scenarios of one's own, named by import path."""

import json
import sys
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from duologue.data import load

OWN = '''
from typing import Annotated, Literal

from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import BaseModel, Field

from duologue import nodes
from duologue.graphs import simquac


def student(messages):
    return "Who lived there?"


def reply(state):
    return {"messages": [AIMessage("Three keepers")]}


def scholar(messages):
    return "Who lived there?"


class Sure:
    def __init__(self, share):
        self.share = share

    def __call__(self, messages):
        return "Three keepers"


builder = StateGraph(MessagesState)
builder.add_node("reply", reply)
builder.add_edge(START, "reply")
agent = builder.compile(name="keeper agent")
same = builder.compile(name="keeper agent")


def cast(words: int = 25, loud: bool = False, colours: list[str] | None = None, seen: dict | None = None):
    """A student of few words."""
    return simquac.cast(user="own_cast:student", assistant="own_cast:agent", question_words=words)


def unseen(share: float = 0.5):
    """A setting that no node tells."""
    return cast().replace(assistant=Sure(share))


def failing(kind: str = "value"):
    """Fails."""
    if kind == "exit":
        raise SystemExit("sk-1234567890")
    raise ValueError("no database at https://me:secret@host")


class Shape(BaseModel):
    width: int = 3


def shaped(settings: Shape = Shape()):
    """A parameter that no option can set."""


def bounded(
    most_words: Annotated[int, Field(ge=1, le=50, description="Set the most words.")] = 9,
    share: Annotated[float, Field(gt=0, lt=1, description="Set the share.")] = 0.5,
    colour: Literal["red", "blue"] = "red",
    bare=3,
):
    """A cast with bounds."""
    assert type(bare) is int
    return cast()


def limited():
    """A cast with limits of its own."""
    limits = nodes.Limits(max_turns=2, question_attempts=2, answer_attempts=1, max_tokens=50_000)
    return cast().replace(limits=limits)
'''

SCENARIO = {
    "kind": "simquac",
    "title": "The pier",
    "background": "",
    "header": "Keepers",
    "section": "Three keepers lived there.",
}


@pytest.fixture(autouse=True)
def own(tmp_path: Path) -> None:
    (tmp_path / "own_cast.py").write_text(OWN)
    (tmp_path / "scenarios.jsonl").write_text("".join(json.dumps(SCENARIO | {"title": t}) + "\n" for t in "ab"))
    sys.modules.pop("own_cast", None)


def test_a_function_and_a_graph_of_ones_own_speak(duologue) -> None:
    code, out, err = duologue(
        "simulate", "simquac", "--user", "own_cast:student", "--assistant", "own_cast:agent", "--limit", "1",
        "--max-turns", "1", "--out", "run", "--json"
    )  # fmt: skip
    assert code == 0, err
    (conversation,) = load("run")
    assert conversation.messages[0].text == "Who lived there?"
    assert "keeper agent" in json.dumps(json.loads(Path("run/manifest.json").read_text())["settings"]["nodes"])
    assert (
        json.loads(Path("run/manifest.json").read_text())["cast"]
        == {
            "cast": "simquac",
            "settings": {"user": "own_cast:student", "assistant": "own_cast:agent"},
            "replace": {},
        }
        or json.loads(out)["finished"] == 1
    )


def test_a_cast_of_ones_own_is_a_command_with_its_parameters_as_options(duologue) -> None:
    code, out, _ = duologue("simulate", "own_cast:cast", "--help")
    assert code == 0
    for option in ("--words", "--loud", "--colours", "--scenarios", "--repeats", "--max-turns", "--resume"):
        assert option in out
    assert "--seen" not in out  # no command line can give a dictionary
    code, out, err = duologue(
        "simulate", "own_cast:cast", "--scenarios", "scenarios.jsonl", "--words", "9", "--repeats", "2",
        "--max-turns", "1", "--out", "run", "--json"
    )  # fmt: skip
    assert (code, json.loads(out)["finished"]) == (0, 4), err
    assert json.loads(Path("run/manifest.json").read_text())["cast"] == {
        "cast": "own_cast:cast",
        "settings": {"words": 9},
        "replace": {},
    }
    assert [c.scenario["title"] for c in load("run")] == ["a", "a", "b", "b"]


def test_the_help_shows_type_bounds_and_description_of_a_setting(duologue) -> None:
    words = " ".join(duologue("simulate", "own_cast:bounded", "--help")[1].replace("│", " ").split())
    for part in ("Set the most words.", "1<=x<=50", "Set the share. (x>0, x<1)", "red|blue"):
        assert part in words
    assert " N " in words.partition("--bare")[2].split("[default: 3]")[0]  # a number, as everywhere
    scenarios = ("--scenarios", "scenarios.jsonl", "--max-turns", "1", "--out", "run", "--bare", "5")
    assert duologue("simulate", "own_cast:bounded", *scenarios)[0] == 0


@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        ("--most-words", "0", "Input should be greater than or equal to 1"),
        ("--most-words", "51", "Input should be less than or equal to 50"),
        ("--share", "0", "Input should be greater than 0"),
        ("--share", "1.5", "Input should be less than 1"),
        ("--bare", "many", "Input should be a valid integer"),
    ],
)
def test_a_value_beyond_any_bound_is_refused_with_the_name_of_its_option(duologue, option, value, reason) -> None:
    code, _, err = duologue("simulate", "own_cast:bounded", option, value, "--scenarios", "scenarios.jsonl")
    assert (code, err.count("\n")) == (2, 1)
    assert f"Invalid value for '{option}': {reason}" in err


def test_an_unknown_option_is_answered_with_the_casts_own(duologue) -> None:
    err = duologue("simulate", "own_cast:bounded", "--short", "80")[2]
    for option in ("--most-words", "--share", "--colour", "--bare"):
        assert option in err
    assert "--question-words" not in duologue("simulate", "simquac", "--short", "80")[2]


def test_what_says_only_how_to_run_may_change_on_resume_and_a_setting_may_not(duologue) -> None:
    begun = ("simulate", "own_cast:cast", "--scenarios", "scenarios.jsonl", "--max-turns", "1", "--out", "run")
    assert duologue(*begun, "--max-tokens", "5000")[0] == 0
    assert duologue(*begun, "--max-tokens", "9000", "--concurrency", "3", "--resume")[0] == 0
    code, _, err = duologue(*begun, "--words", "9", "--resume")
    assert code == 2
    assert "= 25, now it is 9 (setting 'words' of the cast): resume with the same settings" in err


def test_limits_without_an_option_are_those_of_the_cast(duologue) -> None:
    begun = ("simulate", "own_cast:limited", "--scenarios", "scenarios.jsonl")
    of_cast = {"max_turns": 2, "question_attempts": 2, "answer_attempts": 1, "max_tokens": 50_000, "seed": 0}
    for folder, options, changed in (
        ("a", (), {}),
        ("b", ("--answer-attempts", "3", "--seed", "9"), {"answer_attempts": 3, "seed": 9}),
    ):
        code, _, err = duologue(*begun, *options, "--out", folder)
        assert code == 0, err
        assert json.loads(Path(folder, "manifest.json").read_text())["settings"]["limits"] == of_cast | changed


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ((), ("--share", "0.9"), "its run had share = its default, now it is 0.9: resume with the same settings"),
        (("--share", "0.4"), ("--share", "0.9"), "its run had share = 0.4, now it is 0.9"),
    ],
)
def test_a_setting_that_no_node_tells_may_not_change_on_resume(duologue, before, after, line) -> None:
    begun = ("simulate", "own_cast:unseen", "--scenarios", "scenarios.jsonl", "--max-turns", "1", "--out", "run")
    assert duologue(*begun, *before)[0] == 0
    assert duologue(*begun, *before, "--resume")[0] == 0
    code, _, err = duologue(*begun, *after, "--resume")
    assert code == 2
    assert line in err


def test_another_object_or_address_of_a_speaker_is_another_run_and_older_runs_go_on(duologue) -> None:
    begun = ("simulate", "simquac", "--topics", "scenarios.jsonl", "--max-turns", "1", "--out", "run", "--user")
    assert duologue(*begun, "own_cast:student", "--assistant", "own_cast:agent")[0] == 0
    manifest = json.loads(Path("run/manifest.json").read_text())
    nodes = manifest["settings"]["nodes"]
    assert (nodes["user_simulator"]["object"], nodes["assistant"]["object"]) == ("own_cast:student", "own_cast:agent")
    (first, _) = load("run")
    assert first.provenance.nodes["assistant"].settings["object"] == "own_cast:agent"
    code, _, err = duologue(*begun, "own_cast:student", "--assistant", "own_cast:same", "--resume")
    assert code == 2
    assert 'nodes.assistant.object = "own_cast:agent", now it is "own_cast:same"' in err

    del manifest["cast"], nodes["user_simulator"]["object"], nodes["assistant"]["object"]
    Path("run/manifest.json").write_text(json.dumps(manifest))
    assert duologue(*begun, "own_cast:student", "--assistant", "own_cast:agent", "--resume")[0] == 0


def test_replayed_data_may_move_before_a_resume(duologue) -> None:
    assert duologue("simulate", "simquac", "--limit", "2", "--max-turns", "1", "--out", "first")[0] == 0
    begun = ("simulate", "simquac", "--limit", "2", "--max-turns", "1", "--out", "run")
    assert duologue(*begun, "--user", "replay:first")[0] == 0
    code, _, err = duologue(*begun, "--user", f"replay:{Path('first').resolve()}", "--resume")
    assert code == 0, err
    assert duologue(*begun, "--resume")[0] == 2


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("value", "own_cast:failing: ValueError: no database at https://[key]@host in own_cast.py, line "),
        ("exit", "own_cast:failing: SystemExit: [key] in own_cast.py, line "),
    ],
)
def test_a_cast_function_that_fails_is_the_users_to_mend(duologue, kind, line) -> None:
    code, _, err = duologue(
        "test", "--cast", "own_cast:failing", "--set", f"kind={kind}", "--scenarios", "scenarios.jsonl"
    )
    assert code == 2
    assert line in err
    assert "report" not in err


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("own_cast:nothing",), "the module 'own_cast' has no 'nothing'"),
        (("nowhere:cast",), "there is no module 'nowhere' on the path or in this folder"),
        (("own_cast:shaped",), "'settings' is not a plain value: give each setting a parameter"),
        (("own_cast:cast",), "--scenarios: give a file of JSON lines, one scenario each"),
        (("own_cast:cast", "--scenarios", "nowhere.jsonl"), "nowhere.jsonl: "),
        (
            ("own_cast:cast", "--scenarios", "kindless.jsonl"),
            "kindless.jsonl: line 1: has no text 'kind', 'goal' or 'first_message'",
        ),
        (("own_cast:cast", "--scenarios", "none.jsonl"), "none.jsonl: holds no scenario"),
        (("own_cast:cast", "--scenarios", "scenarios.jsonl", "--max-topic-bytes", "9"), "more than 9: shorten it"),
        (("simquac", "--user", "own_cast:nothing"), "user: the module 'own_cast' has no 'nothing'"),
        (("simquac", "--assistant", "agent:ftp://host"), "is not an address of a LangGraph server"),
        (("simquac", "--assistant", "agent:http://me:secret@host"), "give the address without credentials"),
        (("simquac", "--assistant", "agent:http://host?send=some"), "send is all or new"),
        (("recllmsim", "--max-topic-bytes", "9"), "more than 9: shorten it, or raise --max-topic-bytes"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(duologue, arguments, line) -> None:
    Path("kindless.jsonl").write_text('{"title": "a"}\n')
    Path("none.jsonl").write_text("")
    code, out, err = duologue("simulate", *arguments, "--out", "run")
    assert (code, out) == (2, "")
    assert line in err
    assert "secret" not in err
    assert not Path("run").exists()


def test_both_casts_bound_the_words_of_a_users_message(duologue) -> None:
    code, out, _ = duologue(
        "simulate", "recllmsim", "--question-words", "3", "--limit", "1", "--out", "run", "--json", "--question-attempts", "2"
    )  # fmt: skip
    user = json.loads(out)["sides"][0]
    assert code == 0
    assert user["reasons"]["too_long"] > 0
    assert json.loads(out)["stops"] == {"user_rejected": 1}


def test_a_graph_of_a_server_is_called_by_its_address(duologue, httpserver: HTTPServer) -> None:
    requests = []

    def answer(request):
        from werkzeug import Response

        requests.append(request.get_json())
        state = {
            "messages": [*requests[-1]["input"]["messages"], {"type": "ai", "content": "Three keepers", "id": "1"}]
        }
        return Response(f"event: values\ndata: {json.dumps(state)}\n\n", content_type="text/event-stream")

    httpserver.expect_request("/runs/stream", method="POST").respond_with_handler(answer)
    address = f"agent:{httpserver.url_for('').rstrip('/')}?graph=keeper"
    code, out, err = duologue(
        "simulate", "simquac", "--assistant", address, "--topics", "scenarios.jsonl", "--limit", "1", "--max-turns", "1",
        "--out", "run", "--json"
    )  # fmt: skip
    assert code == 0, (out, err)
    assert requests[0]["assistant_id"] == "keeper"
    (conversation,) = load("run")
    assert conversation.messages[1].text == "Three keepers"
    assert conversation.provenance.nodes["assistant"].settings["url"] == address.removeprefix("agent:")


@pytest.mark.parametrize("form", [["--cast", "own_cast:cast"], ["--cast=own_cast:cast"]])
def test_a_cast_may_be_given_as_an_option(duologue, form) -> None:
    run = ["--scenarios", "scenarios.jsonl", "--words", "9", "--max-turns", "1", "--out", "run", "--json"]
    code, out, err = duologue("simulate", *run[:2], *form, *run[2:])
    assert (code, json.loads(out)["finished"]) == (0, 2), err
    assert json.loads(Path("run/manifest.json").read_text())["cast"]["cast"] == "own_cast:cast"
    assert duologue("simulate", *form, "--help")[1] == duologue("simulate", "own_cast:cast", "--help")[1]
    assert duologue("draw", *form)[1] == duologue("draw", "own_cast:cast")[1] != ""


def test_a_registered_cast_may_be_given_as_an_option_and_the_help_says_so(duologue) -> None:
    code, out, err = duologue("simulate", "--cast", "simquac", "--limit", "1", "--max-turns", "1", "--json")
    assert (code, json.loads(out)["finished"]) == (0, 1), err
    assert "--cast" in duologue("simulate", "--help")[1]
    assert "--cast" in duologue("draw", "--help")[1]
    assert duologue("draw", "--cast", "simquac")[1] == duologue("draw", "simquac")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simulate", "--cast", "nobody"], "nobody"),
        (["simulate", "--cast", "own_cast:nobody"], "has no 'nobody'"),
        (["simulate", "--cast"], "requires an argument"),
        (["simulate", "simquac", "--cast", "recllmsim"], "No such option: --cast"),
        (["draw"], "give one graph: duologue draw CAST"),
        (["draw", "simquac", "--cast", "recllmsim"], "give one graph"),
        (["draw", "--cast", "profiles"], "there is no cast 'profiles'"),
    ],
)
def test_a_cast_that_is_missing_or_given_twice_is_one_line(duologue, arguments, message) -> None:
    code, _, err = duologue(*arguments)
    assert (code, err.count("\n")) == (2, 1), err
    assert message in err
