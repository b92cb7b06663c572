"""`duologue scenarios`: scenarios from tools, a policy and dimensions, which `test` takes; bad input is refused by name."""

import json
from pathlib import Path

import pytest

BANK = '''
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, ToolRuntime

POLICY = """# Desk
- Gold cards must not be blocked.
- Always be polite.
"""


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


world.examples = examples


@tool
def block(card: str, runtime: ToolRuntime) -> str:
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
EMPTY = "We are glad to help."
'''
TOOLS = [{"type": "function", "function": {"name": "block", "description": "Block a card.", "parameters": {
    "properties": {"card": {"type": "string"}}, "required": ["card"]}}}]  # fmt: skip


@pytest.fixture(autouse=True)
def bank(own_surroundings):
    Path("till_bank.py").write_text(BANK)
    Path("tools.json").write_text(json.dumps(TOOLS))


def lines(path="scenarios.jsonl"):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


@pytest.mark.heavy
def test_scenarios_of_an_agent_with_a_policy_and_a_world_are_covered_and_proven(duologue):
    about = ("scenarios", "till_bank:agent", "--policy", "till_bank:POLICY", "--world", "till_bank:world")
    code, out, err = duologue(*about, "--json")
    assert code == 0, err
    result = json.loads(out)
    assert result["scenarios"] == lines()
    assert result["coverage"]["pairs"] == result["coverage"]["of"] > 200
    assert sum(result["verdicts"].values()) == len(lines())
    undecided = {line["proof"]["because"] for line in lines() if line["proof"]["verdict"] == "not decided"}
    assert undecided == {"balance takes a value that is out of its range: 5533"}
    assert {
        "first": "tool balance",
        "second": "argument forbidden",
        "because": "no rule forbids a call of balance",
    } in (result["infeasible"])
    factors = {"tool", "argument", "rule", "writing", "course", "demand", "reading"}
    assert all(line["covers"].keys() - {"of", "values"} == factors for line in lines())
    for line in lines():
        assert line["difficulty"]["facts"] == len(line["facts"])


def test_the_same_seed_designs_the_same_scenarios_and_another_one_others(duologue):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert duologue("scenarios", "till_bank:several", "--seed", seed, "--out", name)[0] == 0
    assert lines("a") == lines("b") != lines("c")


@pytest.mark.heavy
def test_the_printed_report_has_coverage_infeasible_pairs_and_each_verdict(duologue):
    about = ("scenarios", "till_bank:agent", "--policy", "till_bank:POLICY", "--world", "till_bank:world")
    code, out, err = duologue(*about, "--size", 40)
    assert code == 0, err
    shown = " ".join(out.split())
    assert "pairs of levels: " in shown
    assert "cannot be: tool balance with argument forbidden: no rule forbids a call of balance" in shown
    assert "scenarios: possible in 1 call" in shown
    assert "scenarios: impossible: must be refused (rule 1: Gold cards must not be blocked.)" in shown
    assert out.endswith("written: scenarios.jsonl: 40 scenarios\n")
    assert len(lines()) == 40


@pytest.mark.heavy
def test_a_test_takes_them_with_the_world_that_proved_them(duologue):
    about = ("till_bank:agent", "--policy", "till_bank:POLICY", "--world", "till_bank:world")
    assert duologue("scenarios", *about, "--behaviours", "none")[0] == 0
    code, out, err = duologue(
        "test", "--assistant", "till_bank:agent", "--world", "till_bank:world", "--scenarios", "scenarios.jsonl", "--out",
        "run", "--json",
    )  # fmt: skip
    assert code == 0, err
    assert json.loads(out)["scored"] == len(lines())


def test_tools_in_openais_form_and_values_of_a_file_give_scenarios_that_are_not_decided(duologue):
    Path("v.toml").write_text('card = ["4411", "4433"]\n')
    code, out, err = duologue("scenarios", "tools.json", "--values", "v.toml", "--behaviours", "terse", "--json")
    assert code == 0, err
    assert json.loads(out)["verdicts"] == {"not decided": len(lines())}
    assert {line["proof"]["because"] for line in lines()} == {"there is no world to play in (--world)"}
    ambiguous = next(line for line in lines() if line["covers"]["argument"] == "ambiguous")
    assert ambiguous["goal"] == "block my card; the card is 4433 or 4411"
    assert ambiguous["success"] == {"tool_called": {"name": "block", "arguments": {"card": "4411"}}}


def test_values_that_were_invented_are_named(duologue):
    _, out, err = duologue("scenarios", "tools.json")
    assert "no value was given for card, so invented ones stand in" in " ".join(err.split())
    assert out.count("cannot be: argument forbidden") == 1
    assert "cannot be: argument forbidden: no rule forbids a call of block" in " ".join(out.split())
    assert {line["covers"]["argument"] for line in lines()} == {"valid", "missing"}


@pytest.mark.heavy
def test_a_table_of_dimensions_is_covered_alone_and_with_what_it_excludes(duologue):
    Path("d.yaml").write_text(
        "goals: [book a table, cancel a table]\n"
        "dimensions: {party: [2 people, 12 people], place: [bar, garden]}\n"
        "exclude: [{party: 12 people, place: bar, because: the bar has six seats}]\n"
        "success: {refused: false}\n"
    )
    code, out, err = duologue("scenarios", "--dimensions", "d.yaml", "--behaviours", "none", "--json")
    assert code == 0, err
    result = json.loads(out)
    assert result["infeasible"] == [
        {"first": "party 12 people", "second": "place bar", "because": "the bar has six seats"}
    ]
    assert result["coverage"]["pairs"] == result["coverage"]["of"] == 11
    assert {line["goal"] for line in lines()} == {"book a table", "cancel a table"}
    assert ["The party is 2 people.", "The place is bar."] in [line["facts"] for line in lines()]
    assert all(line["success"] == {"refused": False} for line in lines())
    assert duologue("test", "--scenarios", "scenarios.jsonl", "--assistant", "offline", "--out", "run")[0] == 0


def test_dimensions_join_the_tools(duologue):
    Path("d.toml").write_text('[dimensions]\nchannel = ["chat", "phone"]\n')
    assert duologue("scenarios", "tools.json", "--dimensions", "d.toml", "--behaviours", "none")[0] == 0
    assert {(line["covers"]["argument"], line["covers"]["channel"]) for line in lines()} >= {
        ("valid", "chat"), ("valid", "phone"), ("missing", "chat"), ("missing", "phone"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("till_bank:bare",), "scenarios: till_bank:bare: has no tools"),
        (("till_bank:doubled",), "till_bank:doubled: has two tools of the name 'block'"),
        (("till_bank:POLICY",), "till_bank:POLICY: has no tools"),
        (("till_bank:agent", "--policy", "till_bank:EMPTY"), "till_bank:EMPTY: has no rule"),
        (("till_bank:agent", "--policy", "empty.md"), "empty.md: has no rule"),
        (("till_bank:agent", "--policy", "till_bank:agent"), "--policy: till_bank:agent is"),
        (("till_bank:agent", "--values", "v.json"), "v.json: example 1: no tool has the argument 'crad': did you mean 'card'?"),
        (("--values", "v.json"), "--values: gives values to the arguments of tools"),
        ((), "nothing to design scenarios from"),
        (("tools.json", "--behaviours", "grumpy"), "--behaviours: there is no behaviour 'grumpy', only terse"),
        (("tools.json", "--dimensions", "v.json"), "v.json: has no 'dimensions'"),
        (("tools.json", "--out", "tools.json", "--force"), "tools.json: is the source itself"),
        (("nowhere:agent",), "No module named 'nowhere'"),
        (("tools.json", "--world", "till_bank:EMPTY"), "world"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_by_its_name_and_nothing_is_written(duologue, arguments, words):
    Path("empty.md").write_text("# Welcome\n\nWe are glad to help.\n")
    Path("v.json").write_text('{"crad": "4411"}')
    code, _, err = duologue("scenarios", *arguments)
    assert code == 2
    assert words in " ".join(err.split())
    assert not Path("scenarios.jsonl").exists()


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"dimension": {}}, "has no 'dimensions'"),
        ({"dimensions": {"a": ["x"]}, "goal": []}, "has the key 'goal': did you mean 'goals'?"),
        ({"dimensions": {"tool": ["x"]}}, "the dimension 'tool' has the name of a factor of its own"),
        ({"dimensions": {"a": ["x", "x"]}}, "the dimension 'a': expected a list of different texts"),
        ({"dimensions": {"a": ["x"], "b": ["z"]}, "exclude": [{"a": "y", "b": "z"}]}, "there is no a 'y', only levels x"),
        ({"dimensions": {"a": ["x"]}, "exclude": [{"a": "x"}]}, "expected at least two levels"),
    ],
)  # fmt: skip
def test_a_table_of_dimensions_that_cannot_be_meant_is_refused_with_its_place(duologue, table, words):
    Path("d.json").write_text(json.dumps(table))
    code, _, err = duologue("scenarios", "--dimensions", "d.json")
    assert code == 2
    assert f"d.json: {words}" in " ".join(err.split()).replace("exclude: ", "")


def test_an_existing_file_is_kept_without_force(duologue):
    Path("scenarios.jsonl").write_text("mine")
    assert duologue("scenarios", "tools.json")[0] == 2
    assert Path("scenarios.jsonl").read_text() == "mine"
    assert duologue("scenarios", "tools.json", "--force")[0] == 0


@pytest.mark.heavy
def test_missing_designs_only_what_a_file_leaves_out(duologue):
    about = ("scenarios", "till_bank:agent", "--policy", "till_bank:POLICY", "--world", "till_bank:world")
    assert duologue(*about, "--out", "all.jsonl")[0] == 0
    whole = lines("all.jsonl")
    Path("few.jsonl").write_text("".join(json.dumps(line) + "\n" for line in whole[:-6]))
    code, out, err = duologue(*about, "--missing", "few.jsonl", "--json")
    assert code == 0, err
    result = json.loads(out)
    assert 0 < len(result["scenarios"]) <= 6
    assert result["coverage"]["pairs"] == result["coverage"]["of"]
    code, out, _ = duologue(*about, "--missing", "all.jsonl", "--out", "none.jsonl")
    assert (code, out) == (0, "all.jsonl leaves out no pair of levels: nothing is written\n")
    assert not Path("none.jsonl").exists()


@pytest.mark.heavy
def test_missing_designs_what_no_conversation_of_a_run_touched(duologue):
    about = ("scenarios", "till_bank:agent", "--world", "till_bank:world", "--behaviours", "none")
    assert duologue(*about)[0] == 0
    tested = ("--assistant", "till_bank:agent", "--world", "till_bank:world", "--scenarios", "scenarios.jsonl")
    code, out, err = duologue("test", *tested, "--out", "run", "--json")
    assert code == 0, err
    coverage = json.loads(out)["coverage"]
    assert coverage["touched_pairs"] == 0  # the agent calls no tool
    assert {row["touched"] for row in coverage["levels"] if row["factor"] == "tool"} == {0}
    assert duologue(*about, "--missing", "run", "--out", "holes.jsonl")[0] == 0
    assert [line["covers"] for line in lines("holes.jsonl")] == [line["covers"] for line in lines()]
    Path("own.jsonl").write_text('{"goal": "block my card"}\n')
    code, _, err = duologue(*about, "--missing", "own.jsonl", "--out", "no.jsonl")
    assert code == 2
    assert "own.jsonl: has no designed scenario" in " ".join(err.split())


def test_logs_give_goals_whose_answers_keep_a_number_or_are_not_decided(duologue):
    texts = ("Plan 3 days in Rome.", "What is a good gift?", "How do I learn the guitar in 6 weeks?")
    Path("logs.jsonl").write_text(
        "".join(json.dumps({"messages": [{"role": "user", "content": text}]}) + "\n" for text in (*texts, texts[0]))
    )
    code, out, err = duologue("scenarios", "--logs", "logs.jsonl", "--behaviours", "terse,pushes", "--json")
    assert code == 0, err
    assert "logs.jsonl: 3 goals of 4 conversations; near-equal and left out: 1" in " ".join(err.split())
    assert {line["goal"] for line in lines()} <= {texts[0], texts[2]}
    assert json.loads(out)["verdicts"] == {"possible": len(lines())}
    assert lines()[0]["success"]["not"] == {"refused": True}
    Path("few.jsonl").write_text(json.dumps({"messages": [{"role": "user", "content": texts[1]}]}) + "\n")
    assert duologue("scenarios", "--logs", "few.jsonl", "--out", "few")[0] == 0
    assert {line["proof"]["because"] for line in lines("few")} == {"the goal names no number that an answer could keep"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("till_bank:agent", "--logs", "logs.jsonl"), "--logs: has goals of its own: leave the agent out"),
        (("--logs", "own.jsonl"), "own.jsonl: holds no conversations: give logs or a data set"),
        (("--logs", "empty.jsonl"), "empty.jsonl: holds no words of a user"),
    ],
)
def test_logs_that_cannot_be_used_are_refused_by_name(duologue, arguments, words):
    Path("logs.jsonl").write_text('{"messages": [{"role": "user", "content": "Hello?"}]}\n')
    Path("empty.jsonl").write_text('{"messages": [{"role": "assistant", "content": "Hello?"}]}\n')
    Path("own.jsonl").write_text('{"goal": "block my card"}\n')
    code, _, err = duologue("scenarios", *arguments)
    assert code == 2
    assert words in " ".join(err.split())


WORDS = '{"goal": "Somebody took my purse, please stop my card.", "facts": ["It ends in 4411."]}'


def test_a_model_words_the_scenarios_and_its_replies_stay_in_the_journal(duologue, monkeypatch, httpserver):
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setenv("OPENAI_BASE_URL", httpserver.url_for("/v1"))
    message = {"role": "assistant", "content": WORDS}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    reply = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    httpserver.expect_request("/v1/chat/completions").respond_with_json(reply)
    Path("v.toml").write_text('card = ["4411", "4433"]\n')
    about = (
        "scenarios",
        "tools.json",
        "--values",
        "v.toml",
        "--behaviours",
        "none",
        "--size",
        4,
        "--model",
        "openai:m",
    )
    code, out, err = duologue(*about, "--journal", "words.jsonl", "--concurrency", 1)
    assert code == 1, err  # the same words fit one scenario only
    assert "1 of 4 scenarios are in the model's words; rejected replies: " in " ".join(out.split())
    words = [line for line in lines() if line["goal"].startswith("Somebody")]
    assert [line["wording"]["model"] for line in words] == ["openai:m"]
    assert all(line["success"] and line["covers"] for line in lines())
    assert len(lines("words.jsonl")) == 4
    code, out, _ = duologue(*about, "--plan", "--json", "--force")
    assert (code, json.loads(out)["scenarios"]) == (0, 4)


def test_words_of_a_model_need_one(duologue):
    for arguments, words in (
        (("--personas",), "--personas: a model writes them: give --model"),
        (("--journal", "j.jsonl"), "--journal keeps replies of chat models: give one with --model"),
        (("--model", "offline"), "--model: the offline model cannot word scenarios"),
    ):
        code, _, err = duologue("scenarios", "tools.json", *arguments)
        assert code == 2
        assert words in " ".join(err.split())
        assert not Path("scenarios.jsonl").exists()
