"""A module with casts and speakers of one's own, and scenarios for them, in each test's folder."""

import json
import sys
from pathlib import Path

import pytest

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
