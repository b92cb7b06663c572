"""The oracle plays plans in fresh worlds: a scenario is possible, must be refused, or is not decided, and says why."""

import itertools
from typing import Any

import pytest
from langchain_core.tools import tool
from langgraph.prebuilt import ToolRuntime

from duologue.data.documents import Document
from duologue.data.documents.markdown import markdown_blocks
from duologue.data.test_design.case_space import CaseSpace
from duologue.data.test_design.examples import examples_of
from duologue.data.test_design.lines import line_of
from duologue.data.test_design.policy_rules import rules_of
from duologue.errors import DataError, SettingError
from duologue.nodes.oracle import AgentTools, Oracle, SearchBounds, tools_in

POLICY = "- Gold cards must not be blocked.\n- Always be polite.\n"


class Bank:
    """Cards by number, and who has them."""

    made = 0

    def __init__(self, scenario: dict[str, Any]) -> None:
        type(self).made += 1
        self.cards: dict[str, Any] = scenario["cards"]

    def state(self) -> dict[str, Any]:
        """All of it."""
        return {"cards": self.cards}


@tool
def find_card(name: str, runtime: ToolRuntime[Any, Any]) -> dict[str, Any]:
    """Find the card of a person by name."""
    return next(
        {"card": number, **card} for number, card in runtime.context.world.cards.items() if card["name"] == name
    )


@tool
def block(card: str, runtime: ToolRuntime[Any, Any]) -> str:
    """Block a card by its number."""
    runtime.context.world.cards[card]["state"] = "blocked"
    return "ok"


CARDS = {
    "4411": {"name": "Ann", "kind": "Plain", "state": "open"},
    "4422": {"name": "Bea", "kind": "Gold", "state": "open"},
}
EXAMPLES = (
    {"values": {"card": "4411", "name": "Ann"}, "scenario": {"cards": CARDS}},
    {"values": {"card": "4422", "name": "Bea"}, "scenario": {"cards": CARDS}},
)


def space(tools: AgentTools, *examples: Any) -> CaseSpace:
    rules = rules_of([Document("p", tuple(markdown_blocks(POLICY)))])
    return CaseSpace(tools.schemas, rules, examples_of(list(examples or EXAMPLES), tools.schemas, "here"))


async def proof(name: str, kind: str, rule: str = "rule 2", *, world: Any = Bank, tools: Any = (find_card, block), examples: Any = (), **bounds: Any) -> Any:  # fmt: skip
    agent = tools_in(list(tools), "here")
    case = space(agent, *examples).case({"tool": name, "argument": kind, "rule": rule}, 0)
    return await Oracle(agent, world, case, line_of(case, "en", {}, 1), bounds=SearchBounds(**bounds)).proof()


async def test_a_change_is_possible_and_its_success_is_the_state_that_the_plan_leads_to():
    found = await proof("block", "valid")
    assert (found.verdict, found.plan) == ("possible", ({"name": "block", "arguments": {"card": "4411"}},))
    assert found.success["final_state_exactly"]["cards"]["4411"]["state"] == "blocked"
    assert found.success["not"] == {"tool_called": {"name": "block", "arguments": {"card": "4411"}, "times": 2}}
    assert found.plain == {"verdict": "possible", "calls": 1, "plan": list(found.plan)}
    assert CARDS["4411"]["state"] == "open"


async def test_what_only_reads_succeeds_by_its_call_and_a_value_of_its_result():
    found = await proof("find_card", "valid")
    assert found.success["tool_called"] == {"name": "find_card", "arguments": {"name": "Ann"}}
    assert found.success["text_contains"] == {"any": ["4411", "Plain", "open"]}
    assert found.success["final_state_exactly"] == {"cards": CARDS}


async def test_a_value_that_another_tool_finds_is_not_missing():
    both = [{"values": {"card": "4411", "name": "Ann"}, "scenario": {"cards": CARDS}}]

    @tool
    def block_card(card: str, runtime: ToolRuntime[Any, Any], name: str = "") -> str:
        """Block a card by its number."""
        runtime.context.world.cards[card]["state"] = "blocked"
        return "ok"

    found = await proof("block_card", "missing", tools=(find_card, block_card), examples=both)
    assert found.verdict == "possible"
    assert [call["name"] for call in found.plan] == ["find_card", "block_card"]
    shallow = await proof("block_card", "missing", tools=(find_card, block_card), examples=both, depth=1)
    assert shallow.verdict == "must be refused"


async def test_a_missing_value_or_one_out_of_range_must_be_refused_and_changes_nothing():
    missing = await proof("block", "missing")
    assert (missing.verdict, missing.because) == ("must be refused", "no plan of up to 3 calls leads to it")
    asks = {"text_contains": {"any": ["?", "？", "please", "need", "请", "需要"]}}
    assert missing.success == {
        "tool_not_called": "block",
        "any_of": [{"refused": True}, asks],
        "final_state_exactly": {"cards": CARDS},
    }
    odd = await proof("block", "out of range")
    assert odd.verdict == "must be refused"
    assert odd.success["refused"] is True
    assert odd.success["tool_not_called"]["arguments"]["card"] not in CARDS


async def test_what_a_rule_forbids_must_be_refused_although_the_world_would_allow_it():
    found = await proof("block", "forbidden", "rule 1")
    assert (found.verdict, found.because) == ("must be refused", "rule 1: Gold cards must not be blocked.")
    assert found.success["tool_not_called"] == {"name": "block", "arguments": {"card": "4422"}}


async def test_a_plan_of_ones_own_is_played_in_place_of_a_search():
    plan = [{"name": "find_card", "arguments": {"name": "Ann"}}, {"name": "block", "arguments": {"card": "4411"}}]
    found = await proof("block", "valid", examples=({**EXAMPLES[0], "plan": plan},))
    assert found.plan == tuple(plan)
    wrong = await proof("block", "valid", examples=({**EXAMPLES[0], "plan": plan[:1]},))
    assert [call["name"] for call in wrong.plan] == ["block"]


class Restless(Bank):
    """Each world differs from the one before."""

    def state(self) -> dict[str, Any]:
        return {**super().state(), "made": self.made}


class Stateless:
    """A world that nobody can look into."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        self.cards = scenario["cards"]


class Broken(Bank):
    """A world that cannot be made."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        raise ValueError("no database")


@tool
def block_any(card: str, runtime: ToolRuntime[Any, Any]) -> str:
    """Block a card by its number."""
    runtime.context.world.cards[card] = {"state": "blocked"}
    return "ok"


tickets = itertools.count()


@tool
def block_drawn(card: str, runtime: ToolRuntime[Any, Any]) -> str:
    """Block a card by its number."""
    runtime.context.world.cards[card]["ticket"] = next(tickets)
    return "ok"


@pytest.mark.parametrize(
    ("name", "kind", "options", "because"),
    [
        ("block", "valid", {"world": None}, "there is no world to play in (--world)"),
        ("block", "valid", {"world": Restless}, "two fresh worlds of the scenario differ"),
        ("block", "valid", {"world": Stateless}, "the world has no state that JSON can hold: give it a method state()"),
        ("block", "valid", {"world": Broken}, "the world could not be set up: ValueError: no database"),
        ("block_any", "out of range", {"tools": (find_card, block_any)}, "block_any takes a value that is out of its range: 5522"),
        (
            "block_drawn", "valid", {"tools": (find_card, block_drawn)},
            "the same calls lead two fresh worlds to different states",
        ),
        ("block", "out of range", {"plays": 0}, "no plan was found before the bound: 0 calls were tried"),
    ],
)  # fmt: skip
async def test_what_cannot_be_decided_is_marked_with_the_reason(name, kind, options, because):
    found = await proof(name, kind, **options)
    assert (found.verdict, found.because) == ("not decided", because)
    assert found.success


async def test_tools_of_which_only_the_schema_is_known_are_not_played():
    described = [{"name": "block", "parameters": {"properties": {"card": {}}, "required": ["card"]}}]
    found = await proof("block", "valid", tools=described, examples=({"values": {"card": "4411"}},))
    assert (found.verdict, found.because) == ("not decided", "the tool block has no code to call, only a schema")
    assert found.success == {"tool_called": {"name": "block", "arguments": {"card": "4411"}}}


async def test_a_large_state_is_not_written_into_the_scenario(monkeypatch):
    monkeypatch.setattr("duologue.nodes.oracle.MOST_STATE", 10)
    found = await proof("block", "valid")
    assert found.verdict == "possible"
    assert "final_state_exactly" not in found.success
    assert found.success["tool_called"]["arguments"] == {"card": "4411"}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([], "here: has no tools"),
        ([block, block], "here: has two tools of the name 'block'"),
        (3, "here: has no tools"),
        ([3], "here: .* is not a tool"),
    ],
)
def test_what_has_no_tools_is_refused_by_its_name(value, words):
    with pytest.raises((DataError, SettingError), match=words):
        tools_in(value, "here")
