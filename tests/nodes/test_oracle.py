"""The oracle plays plans in fresh worlds: a scenario is possible, must be refused, or is not decided, and says why."""

import itertools
from typing import Any

import pytest
from langchain_core.tools import tool
from langgraph.prebuilt import ToolRuntime

from duologue.data.documents import Document, of_markdown
from duologue.data.test_design.case_space import CaseSpace
from duologue.data.test_design.examples import examples_of
from duologue.data.test_design.lines import line_of
from duologue.data.test_design.policy_rules import rules_of
from duologue.errors import DataError, SettingError
from duologue.nodes.oracle import Oracle, tools_in

CARDS = {
    "4411": {"name": "Ann", "kind": "Plain", "state": "open"},
    "4422": {"name": "Bea", "kind": "Gold", "state": "open"},
}
ANN, BEA = (
    {"values": {"card": card, "name": one["name"]}, "scenario": {"cards": CARDS}} for card, one in CARDS.items()
)
POSSIBLE, REFUSED, UNDECIDED = "possible", "must be refused", "not decided"


class Bank:
    """Cards by number, and who has them."""

    made = itertools.count()

    def __init__(self, scenario):
        self.cards = scenario["cards"]

    def state(self):
        return {"cards": self.cards}


class Restless(Bank):
    def state(self):
        return {"made": next(self.made)}


class Broken(Bank):
    def __init__(self, scenario):
        raise ValueError("no database")


@tool
def find_card(name: str, runtime: ToolRuntime[Any, Any]) -> dict[str, Any]:
    """Find the card of a person by name."""
    cards = runtime.context.world.cards.items()
    return next({"card": number, **card} for number, card in cards if card["name"] == name)


def blocking(change):
    """A tool that blocks a card by its number."""

    @tool("block", description="Block a card by its number.")
    def block(card: str, runtime: ToolRuntime[Any, Any], name: str = "") -> str:
        change(runtime.context.world.cards, card)
        return "ok"

    return block


BLOCK = blocking(lambda cards, card: cards[card].update(state="blocked"))
ANY = blocking(lambda cards, card: cards.update({card: {}}))
DRAWN = blocking(lambda cards, card: cards[card].update(ticket=next(Bank.made)))
DESCRIBED = {"name": "block", "parameters": {"properties": {"card": {}, "name": {}}, "required": ["card"]}}


async def proof(name, kind, rule="rule 2", *, world=Bank, tools=(find_card, BLOCK), examples=(ANN, BEA)):
    agent = tools_in(list(tools), "here")
    rules = rules_of([Document("p", tuple(of_markdown("- Gold cards must not be blocked.\n- Always be polite.\n")[0]))])
    space = CaseSpace(agent.schemas, rules, examples_of(list(examples), agent.schemas, "here"))
    case = space.case({"tool": name, "argument": kind, "rule": rule}, 0)
    return await Oracle(agent, world, case, line_of(case, "en", {}, 1)).proof()


def call(name, /, **arguments):
    return {"name": name, "arguments": arguments}


async def test_a_change_is_possible_and_its_success_is_the_state_that_the_plan_leads_to(monkeypatch):
    found = await proof("block", "valid")
    asked = found.plan[0]
    assert found.plain == {"verdict": POSSIBLE, "calls": 1, "plan": [asked]}
    assert (asked["name"], asked["arguments"]["card"]) == ("block", "4411")
    assert found.success["final_state_exactly"]["cards"]["4411"]["state"] == "blocked"
    assert found.success["not"] == {"tool_called": {**asked, "times": 2}}
    assert CARDS["4411"]["state"] == "open"
    monkeypatch.setattr("duologue.nodes.oracle.MOST_STATE", 10)
    found = await proof("block", "valid")
    assert (found.verdict, found.success["tool_called"]) == (POSSIBLE, asked)
    assert "final_state_exactly" not in found.success  # a large state is not written into the scenario


async def test_what_only_reads_succeeds_by_its_call_and_a_value_of_its_result():
    assert (await proof("find_card", "valid")).success == {
        "final_state_exactly": {"cards": CARDS},
        "tool_called": call("find_card", name="Ann"),
        "text_contains": {"any": ["4411", "Plain", "open"]},
    }


async def test_a_value_that_another_tool_finds_is_not_missing(monkeypatch):
    found = await proof("block", "missing", examples=(ANN,))
    assert (found.verdict, [one["name"] for one in found.plan]) == (POSSIBLE, ["find_card", "block"])
    monkeypatch.setattr("duologue.nodes.oracle.MOST_CALLS", 1)
    assert (await proof("block", "missing", examples=(ANN,))).verdict == REFUSED
    monkeypatch.setattr("duologue.nodes.oracle.MOST_PLAYS", 0)
    assert (await proof("block", "out of range")).because == "no plan was found in 0 calls"


async def test_a_missing_value_or_one_out_of_range_must_be_refused_and_changes_nothing():
    missing = await proof("block", "missing", tools=(BLOCK,))
    assert (missing.verdict, missing.because) == (REFUSED, "no plan of up to 3 calls leads to it")
    asks = {"text_contains": {"any": ["?", "？", "please", "need", "请", "需要"]}}
    state = {"final_state_exactly": {"cards": CARDS}}
    assert missing.success == {"tool_not_called": "block", "any_of": [{"refused": True}, asks], **state}
    odd = await proof("block", "out of range")
    assert (odd.verdict, odd.success["refused"]) == (REFUSED, True)
    assert odd.success["tool_not_called"]["arguments"]["card"] not in CARDS


async def test_what_a_rule_forbids_must_be_refused_although_the_world_would_allow_it():
    found = await proof("block", "forbidden", "rule 1")
    assert (found.verdict, found.because) == (REFUSED, "rule 1: Gold cards must not be blocked.")
    assert found.success["tool_not_called"]["arguments"]["card"] == "4422"


@pytest.mark.parametrize(
    ("kind", "options", "because"),
    [
        ("valid", {"world": None}, "there is no world to play in (--world)"),
        ("valid", {"world": Restless}, "two fresh worlds of the scenario differ"),
        (
            "valid",
            {"world": lambda scenario: {1, 2}},
            "the world has no state that JSON can hold: give it a method state()",
        ),
        ("valid", {"world": Broken}, "the world could not be set up: ValueError: no database"),
        ("out of range", {"tools": (find_card, ANY)}, "block takes a value that is out of its range: 5522"),
        ("valid", {"tools": (find_card, DRAWN)}, "the same calls lead two fresh worlds to different states"),
        ("valid", {"tools": (DESCRIBED,)}, "the tool block has no code to call, only a schema"),
    ],
)
async def test_what_cannot_be_decided_is_marked_with_the_reason(kind, options, because):
    found = await proof("block", kind, **options)
    assert (found.verdict, found.because) == (UNDECIDED, because)
    assert ("tool_called" if kind == "valid" else "refused") in found.success


@pytest.mark.parametrize(
    ("value", "words"),
    [([BLOCK, BLOCK], "here: has two tools of the name 'block'"), (3, "has no tools"), ([3], "is not a tool")],
)
def test_what_has_no_tools_is_refused_by_its_name(value, words):
    with pytest.raises((DataError, SettingError), match=words):
        tools_in(value, "here")
