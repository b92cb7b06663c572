"""The oracle plays plans in fresh worlds: a scenario is possible, must be refused, or is undecided, and says why."""

import itertools
from typing import Any, Literal

import pytest
from langchain_core.tools import tool
from langgraph.prebuilt import ToolRuntime
from langgraph.types import interrupt

from duologue.data.test_design import Rule, cases_of, examples_of, line_of
from duologue.nodes.oracle import Oracle, ScenarioProof, tools_in

CARDS = {
    "4411": {"name": "Ann", "kind": "plain", "state": "open", "tries": 3},  # a digit that any reply may have
    "4422": {"name": "Bea", "kind": "gold", "state": "open"},
}
ANN, BEA = (
    {"values": {"card": card, "name": one["name"]}, "scenario": {"cards": CARDS}} for card, one in CARDS.items()
)
POSSIBLE, REFUSED, UNDECIDED = "possible", "must be refused", "undecided"
GOLD = Rule(forbids=("block",), when={"kind": "gold"}, because="Gold cards stay open.")


class Bank:
    """Cards by number, and who has them."""

    made = itertools.count()

    def __init__(self, scenario: dict[str, Any]) -> None:
        self.cards = scenario["cards"]

    def state(self) -> dict[str, Any]:
        return {"cards": self.cards}


class Restless(Bank):
    def state(self) -> dict[str, Any]:
        return {"made": next(self.made)}


class Broken(Bank):
    def __init__(self, scenario: dict[str, Any]) -> None:
        raise ValueError("no database")


@tool
def find_card(name: str, runtime: ToolRuntime[Any, Any]) -> dict[str, Any]:
    """Find the card of a person by name."""
    cards = runtime.context.world.cards.items()
    return next({"card": number, **card} for number, card in cards if card["name"] == name)


def blocking(change: Any) -> Any:
    """A tool that blocks a card by its number."""

    @tool("block", description="Block a card by its number.")
    def block(card: str, runtime: ToolRuntime[Any, Any], name: str = "") -> str:
        change(runtime.context.world.cards, card)
        return "ok"

    return block


def approved(question: Any) -> Any:
    def change(cards: Any, card: str) -> None:
        if interrupt(question):
            cards[card].update(state="blocked")

    return blocking(change)


BLOCK = blocking(lambda cards, card: cards[card].update(state="blocked"))
ANY = blocking(lambda cards, card: cards.update({card: {}}))
DRAWN = blocking(lambda cards, card: cards[card].update(ticket=next(Bank.made)))
DESCRIBED = {"name": "block", "parameters": {"properties": {"card": {}, "name": {}}, "required": ["card"]}}


async def proof(
    kind: str,
    name: str = "block",
    *,
    world: Any = Bank,
    tools: Any = (find_card, BLOCK),
    examples: Any = (ANN, BEA),
    rules: Any = (),
) -> ScenarioProof:
    agent = tools_in(list(tools), "here")
    cases, _ = cases_of(agent.schemas, rules, examples_of(list(examples), agent.schemas, "here"))
    case = next(case for case in cases if (case.tool.name, case.kind) == (name, kind))
    return await Oracle(agent, world, rules).proof(case, line_of(case, "en", 1))


async def test_a_change_is_possible_and_its_success_is_the_state_that_the_plan_leads_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = await proof("valid", examples=(ANN,))
    asked = {"name": "block", "arguments": {"card": "4411", "name": "Ann"}}
    assert (found.verdict, list(found.plan)) == (POSSIBLE, [asked])
    assert found.success["final_state_exactly"]["cards"]["4411"]["state"] == "blocked"
    assert found.success["not"] == {"tool_called": {**asked, "times": 2}}
    assert CARDS["4411"]["state"] == "open"
    monkeypatch.setattr("duologue.nodes.oracle.MOST_STATE", 10)
    found = await proof("valid", examples=(ANN,))
    assert (found.verdict, found.success["tool_called"]) == (POSSIBLE, asked)
    assert "final_state_exactly" not in found.success  # a large state is not written into the scenario


async def test_what_only_reads_succeeds_by_its_call_and_a_value_of_its_result() -> None:
    assert (await proof("valid", "find_card", examples=(ANN,))).success == {
        "final_state_exactly": {"cards": CARDS},
        "tool_called": {"name": "find_card", "arguments": {"name": "Ann"}},
        "text_contains": {"any": ["4411", "plain", "open"]},
    }


async def test_a_value_that_another_tool_finds_is_not_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    found = await proof("missing", examples=(ANN,))
    assert (found.verdict, [one["name"] for one in found.plan]) == (POSSIBLE, ["find_card", "block"])
    monkeypatch.setattr("duologue.nodes.oracle.MOST_CALLS", 1)
    assert (await proof("missing", examples=(ANN,))).verdict == UNDECIDED  # a longer plan may do it
    monkeypatch.setattr("duologue.nodes.oracle.MOST_PLAYS", 0)
    assert (await proof("out of bounds")).because == "no plan was found in 0 calls"


async def test_a_missing_value_or_one_out_of_bounds_must_be_refused_and_changes_nothing() -> None:
    missing = await proof("missing", tools=(BLOCK,))
    assert (missing.verdict, missing.success) == (
        REFUSED,
        {"tool_not_called": "block", "final_state_exactly": {"cards": CARDS}},
    )
    odd = await proof("out of bounds")
    assert odd.verdict == REFUSED
    assert odd.success["tool_not_called"]["arguments"]["card"] not in CARDS


async def test_what_the_user_does_not_have_is_not_guessed_from_a_list() -> None:
    @tool("block")
    def choosing(card: Literal["4411", "4422"], name: str = "") -> str:
        """Block a card."""
        return "ok"

    found = await proof("missing", tools=(choosing,))
    assert (found.verdict, found.because) == (UNDECIDED, "the tool only reads, and takes any value")


async def test_a_value_under_another_name_and_an_error_as_a_result_are_seen() -> None:
    @tool
    def owner(name: str) -> dict[str, Any]:
        """Find what a person has."""
        return {"number": "4411"}

    found = await proof("missing", tools=(owner, BLOCK), examples=(ANN,))
    assert (found.verdict, found.because) == (
        UNDECIDED,
        "the value that the user does not have may be meant by 'number' of owner",
    )

    @tool("block")
    def refusing(card: str, name: str = "") -> dict[str, Any]:
        """Block a card."""
        return {"error": "no such card"}

    assert (await proof("out of bounds", tools=(refusing,))).verdict == REFUSED


async def test_what_a_rule_forbids_must_be_refused_although_the_world_would_allow_it() -> None:
    found = await proof("forbidden", rules=(GOLD,))
    assert (found.verdict, found.because) == (REFUSED, "Gold cards stay open.")
    assert found.success["tool_not_called"]["arguments"]["card"] == "4422"


async def test_no_plan_makes_a_call_that_a_rule_forbids() -> None:
    hidden = Rule(forbids=("find_card",), because="Names are not looked up.")
    assert (await proof("missing", examples=(ANN,), rules=(hidden,))).verdict == REFUSED


async def test_a_tool_that_stops_for_an_approval_gets_it() -> None:
    assert (await proof("valid", tools=(approved({"action": "block"}),))).verdict == POSSIBLE
    asks = await proof("valid", tools=(approved("Which colour has it?"),))
    assert asks.verdict == UNDECIDED  # never "must be refused" because it stops for a person


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
        ("out of bounds", {"tools": (find_card, ANY)}, "block takes a value that is out of its bounds: 5522"),
        ("valid", {"tools": (find_card, DRAWN)}, "the same calls lead two fresh worlds to different states"),
        ("valid", {"tools": (DESCRIBED,)}, "the tool block has no code to call, only a schema"),
    ],
)
async def test_what_cannot_be_decided_is_marked_with_the_reason(kind: str, options: Any, because: str) -> None:
    found = await proof(kind, **options)
    assert (found.verdict, found.because) == (UNDECIDED, because)
