"""`duologue scenarios`: scenarios from tools, rules and examples, which `test` takes; bad input is refused by name."""

import json
from pathlib import Path

import pytest

BANK = '''
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, ToolRuntime

POLICY = """# Desk
- Gold cards must not be blocked.
- Always be polite.
"""
RULES = [{"forbids": "block", "when": {"kind": "gold"}, "because": "Gold cards must not be blocked."}]


class Bank:
    def __init__(self, scenario):
        self.cards = scenario["cards"]

    def state(self):
        return {"cards": self.cards}



def world(scenario):
    return Bank(scenario)


def examples():
    cards = {"4411": {"kind": "plain"}, "4433": {"kind": "plain"}, "4422": {"kind": "gold"}}
    return [{"values": {"card": card}, "scenario": {"cards": cards}} for card in ("4411", "4422")]


world.examples, world.rules = examples, RULES


@tool
def block(card: str, runtime: ToolRuntime[Any, Any]) -> str:
    """Block a card by its number."""
    runtime.context.world.cards[card]["state"] = "blocked"
    return "ok"


def balance(card: str) -> str:
    """Tell the balance of a card."""
    return "12 Euro"


def _graph(*tools):
    graph = StateGraph(MessagesState)
    graph.add_node("answer", lambda state: {"messages": [AIMessage("Which card?")]})
    if tools:
        graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "answer")
    return graph.compile()


agent, bare, several, doubled = _graph(block, balance), _graph(), [block, balance], [block, block]
'''
TOOLS = [{"type": "function", "function": {"name": "block", "description": "Block a card.", "parameters": {
    "properties": {"card": {"type": "string"}}, "required": ["card"]}}}]  # fmt: skip


@pytest.fixture(autouse=True)
def bank(own_surroundings):
    Path("till_bank.py").write_text(BANK)
    Path("tools.json").write_text(json.dumps(TOOLS))


def lines(path="scenarios.jsonl"):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def test_scenarios_of_an_agent_are_proven_and_a_test_takes_them_with_their_world(duologue):
    code, out, err = duologue("scenarios", "till_bank:agent", "--world", "till_bank:world", "--json")
    assert code == 0, err
    result = json.loads(out)
    assert result["scenarios"] == lines()
    assert {(line["case"]["tool"], line["case"]["kind"], line["proof"]["verdict"]) for line in lines()} == {
        ("block", "valid", "possible"),
        ("block", "forbidden", "must be refused"),
        ("block", "missing", "must be refused"),
        ("block", "ambiguous", "possible"),
        ("block", "out of bounds", "must be refused"),
        ("balance", "valid", "possible"),
        ("balance", "missing", "must be refused"),
        ("balance", "ambiguous", "possible"),
        ("balance", "out of bounds", "undecided"),
    }
    code, out, err = duologue(
        "test", "--assistant", "till_bank:agent", "--world", "till_bank:world", "--scenarios", "scenarios.jsonl", "--out",
        "run", "--json",
    )  # fmt: skip
    assert json.loads(out)["scored"] == len(lines()), err


def test_tools_in_openais_form_and_values_of_a_file_give_scenarios_that_are_undecided(duologue):
    Path("v.toml").write_text('card = ["4411", "4433"]\n')
    code, _, err = duologue("scenarios", "tools.json", "--examples", "v.toml", "--limit", 3, "--json")
    assert code == 0, err
    assert {line["proof"]["verdict"] for line in lines()} == {"undecided"}
    ambiguous = lines()[-1]
    assert ambiguous["goal"] == "I want to block my card. The card is 4433 or 4411."
    assert ambiguous["success"] == {"tool_called": {"name": "block", "arguments": {"card": "4411"}}}


def test_rules_in_prose_and_invented_values_are_named(duologue):
    code, _, err = duologue("scenarios", "tools.json", "--rules", "till_bank:POLICY")
    assert code == 0
    said = " ".join(err.split())
    assert "not used, since it is prose: Gold cards must not be blocked." in said
    assert "no value was given for card" in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("till_bank:bare",), "till_bank:bare: has no tools"),
        (("till_bank:doubled",), "till_bank:doubled: has two tools of the name 'block'"),
        (("till_bank:POLICY",), "till_bank:POLICY: has no tools"),
        (("till_bank:agent", "--rules", "r.yaml"), "looks at the field 'fair'"),
        (("till_bank:agent", "--examples", "till_bank:nobody"), "nobody"),
        (("tools.json", "--model", "offline"), "the offline model cannot word scenarios"),
        (("tools.json", "--journal", "j.jsonl"), "--journal"),
        (("tools.json", "--out", "tools.json", "--force"), "is the source itself"),
    ],
)
def test_bad_input_is_refused_in_one_line_and_nothing_is_written(duologue, arguments, words):
    Path("r.yaml").write_text("- {forbids: block, when: {fair: gold}, because: Not so.}\n")
    code, _, err = duologue("scenarios", *arguments)
    assert code == 2
    assert words in " ".join(err.split())
    assert not Path("scenarios.jsonl").exists()
