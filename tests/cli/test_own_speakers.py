"""`--user MODULE:OBJECT` and `--assistant MODULE:OBJECT`: every kind of object that can speak, on the command line."""

import json
import sys
from pathlib import Path

import pytest

from duologue.data import load

SPEAKERS = """
import functools

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langgraph.graph import START, MessagesState, StateGraph
from typing_extensions import TypedDict

from duologue.nodes.replies import draft

LINE = "Which place do you mean by that?"


def answer(state):
    return {"messages": [AIMessage(LINE)]}


uncompiled = StateGraph(MessagesState)
uncompiled.add_node("answer", answer)
uncompiled.add_edge(START, "answer")
compiled = uncompiled.compile(name="own agent")
runnable = RunnableLambda(answer)


class Lines:
    def __iter__(self):
        return self

    def __next__(self):
        return AIMessage(LINE)


model = GenericFakeChatModel(messages=Lines())


def function(messages):
    return LINE


async def coroutine(messages):
    return LINE


async def node(state, runtime):
    return {"drafts": [draft(LINE)]}


class Speaker:
    def __call__(self, messages):
        return LINE


instance = Speaker()
spec = "offline"


def making(what):
    return functools.partial(lambda value: value, what)


make_compiled, make_uncompiled, make_model = making(compiled), making(uncompiled), making(model)
make_function, make_coroutine, make_node = making(function), making(coroutine), making(node)


def make_agent(temperature=0.5):
    return compiled


async def make_later():
    return compiled


def make_and_fail():
    raise RuntimeError("no database at sk-1234567890")


class Topic(TypedDict):
    topic: str


unfinished = StateGraph(MessagesState)
speechless = StateGraph(Topic)
speechless.add_node("think", lambda state: {"topic": "x"})
speechless.add_edge(START, "think")
number = 3
nothing = None


def two(messages, memory):
    return LINE
"""

KINDS = ("compiled", "uncompiled", "runnable", "model", "function", "coroutine", "node", "instance")
MADE = (
    "make_compiled", "make_uncompiled", "make_model", "make_function", "make_coroutine", "make_node", "make_agent"
)  # fmt: skip


@pytest.fixture(autouse=True)
def own(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "own_speakers.py").write_text(SPEAKERS)
    (tmp_path / "own_broken.py").write_text("import own_speakers\nraise ValueError('no sk-1234567890 here')\n")
    yield
    for name in ("own_speakers", "own_broken"):
        sys.modules.pop(name, None)


def simulate(duologue, **sides):
    options = [word for side, name in sides.items() for word in (f"--{side}", f"own_speakers:{name}")]
    return duologue("simulate", "simquac", "--limit", "1", "--max-turns", "2", "--out", "run", "--json", *options)


@pytest.mark.parametrize("name", [*KINDS, *MADE])
@pytest.mark.parametrize("side", ["user", "assistant"])
def test_each_kind_of_object_speaks_on_each_side(duologue, side, name):
    code, _, err = simulate(duologue, **{side: name})
    assert code == 0, err
    (conversation,) = load("run")
    drafts = [attempt.text for attempt in conversation.attempts(side)]
    assert drafts[:1] == ["Which place do you mean by that?"]
    manifest = json.loads(Path("run/manifest.json").read_text())
    assert manifest["cast"]["settings"][side] == f"own_speakers:{name}"


def test_a_text_is_a_models_spec(duologue):
    code, _, err = simulate(duologue, user="spec")
    assert code == 0, err


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Speaker", "own_speakers:Speaker: is no speaker but the class Speaker: give an instance"),
        ("number", "own_speakers:number: is no speaker but int: give a LangGraph agent"),
        ("nothing", "own_speakers:nothing: is no speaker but NoneType: give a LangGraph agent"),
        ("two", "own_speakers:two: is no speaker but function two: give"),
        ("make_later", "own_speakers:make_later: is no speaker but function make_later: give"),
        ("make_and_fail", "own_speakers:make_and_fail: failed: "),
        ("unfinished", "own_speakers:unfinished: failed: ValueError: Graph must have an"),
        ("speechless", "the agent's state has no 'messages', only topic"),
        ("absent", "has no attribute 'absent'"),
        ("LINE", "own_speakers:LINE: is a text and names no model"),
    ],
)
def test_an_object_that_cannot_speak_is_one_line(duologue, name, message):
    code, out, err = simulate(duologue, user=name)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert message in err
    assert "sk-1234567890" not in err
    assert not Path("run").exists()


def test_a_module_that_is_missing_or_fails_is_one_line(duologue):
    code, _, err = duologue("simulate", "simquac", "--user", "own_nowhere:agent", "--out", "run")
    assert (code, err.count("\n")) == (2, 1)
    assert "No module named 'own_nowhere'" in err
    code, _, err = duologue("simulate", "simquac", "--user", "own_broken:agent", "--out", "run")
    assert (code, err.count("\n")) == (2, 1)
    assert "ValueError: no [key] here (own_broken.py, line 2)" in err
