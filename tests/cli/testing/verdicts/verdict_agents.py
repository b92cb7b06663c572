"""Agents whose tests pass, fail or are disturbed, the commands that test them, and their reports."""

from xml.etree import ElementTree

AGENTS = """
import asyncio
import io
import os
import shutil
import sys
from pathlib import Path

from langgraph.checkpoint.memory import MemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

from duologue import graphs, nodes
from duologue.testing import scripted_model
from duologue.nodes.validators import Observing

model = scripted_model("Done: it is booked.", tokens=(30, 10))


def agent(messages):
    with Path(__file__).with_name("calls").open("a") as calls:
        calls.write("x")
    return "Done: it is booked."


def wanders(messages):
    os.chdir("/")
    return agent(messages)


def redirects(messages):
    sys.stdout, sys.stderr = io.StringIO(), io.StringIO()
    return "Done: it is booked."


def spoils(messages):
    shutil.rmtree("reports", ignore_errors=True)
    Path("reports").touch()
    return "Done: it is booked."


async def slow(messages):
    await asyncio.sleep(60)


async def blocks(messages):
    if "other" in str(messages):
        Path("called").touch()
        while True:
            pass
    return "Done: it is booked."


def asks(state):
    interrupt({"book": "a seat"})


asking = StateGraph(MessagesState).add_node("asks", asks).add_edge(START, "asks")
graph, bare = asking.compile(checkpointer=MemorySaver()), asking.compile()


def asking_function(messages):
    return bare.invoke({"messages": messages})


def score(state):
    if not Path("mended").exists():
        raise KeyError("seat")
    return True


def scored():
    return graphs.agent_test.cast(assistant="verdict_agent:agent").replace(closing=nodes.scoring(success=score))


def unscored():
    return scored().replace(closing=nodes.scoring(success=lambda state: None))


def own(agent: str = "verdict_agent:graph"):
    return graphs.agent_test.cast(assistant=agent)


def secret(draft, state):
    return {"accepted": False, "reason": "secret", "repair": "No."}


def guarded(observe: bool = False):
    guard = nodes.validator(secret)
    return own("verdict_agent:agent").replace(answer_validator=Observing(guard) if observe else guard)
"""
SUCCESS = {"text_contains": "booked"}
SCENARIOS = [{"goal": goal, "facts": "For two.", "success": SUCCESS} for goal in ("book a table", "book the other")]
NEVER = {"not": {"text_contains": "never"}}


def arguments(agent: str, *more: object, scenarios: str = "scenarios.jsonl") -> tuple[object, ...]:
    return ("test", "--assistant", f"verdict_agent:{agent}", "--scenarios", scenarios, "--out", "run", *more)


def suite_of(file: str) -> ElementTree.Element:
    (suite,) = ElementTree.parse(file).getroot()
    return suite


def property_of(suite: ElementTree.Element, name: str) -> str | None:
    return next((one.get("value") for one in suite.iter("property") if one.get("name") == name), None)
