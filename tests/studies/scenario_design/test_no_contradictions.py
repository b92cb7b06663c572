"""No two scenarios of a file contradict each other or a rule, over generated worlds and rules."""

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.tools import tool
from langgraph.prebuilt import ToolRuntime

from duologue.data.test_design import Rule, examples_of
from duologue.nodes.oracle import tools_in
from duologue.studies.scenario_design import DesignSources, designed

IDS = ("R1001", "R2002", "S3003")


class Desk:
    """Records by id, each with a grade, and open or not."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        self.records = scenario["records"]

    def state(self) -> dict[str, Any]:
        return {"records": self.records}


def deed(records: dict[str, Any], name: str, arguments: dict[str, Any]) -> Any:
    """What each tool does; KeyError or ValueError where it refuses."""
    if name == "find":
        return {"record": next(key for key, one in records.items() if one["grade"] == arguments["grade"])}
    record = records[arguments["record"]]
    if name == "close":
        if not record["open"]:
            raise ValueError("is closed")
        record["open"] = False
    if name == "grade":
        record["grade"] = arguments["grade"]
    return dict(record)


@tool
def find(grade: str, runtime: ToolRuntime[Any, Any]) -> Any:
    """Find a record by its grade."""
    return deed(runtime.context.world.records, "find", {"grade": grade})


@tool
def show(record: str, runtime: ToolRuntime[Any, Any]) -> Any:
    """Show a record."""
    return deed(runtime.context.world.records, "show", {"record": record})


@tool
def close(record: str, runtime: ToolRuntime[Any, Any]) -> Any:
    """Close a record."""
    return deed(runtime.context.world.records, "close", {"record": record})


@tool
def grade(record: str, grade: str, runtime: ToolRuntime[Any, Any]) -> Any:
    """Change the grade of a record."""
    return deed(runtime.context.world.records, "grade", {"record": record, "grade": grade})


TOOLS = tools_in([find, show, close, grade], "here")
GRADES = st.sampled_from(["low", "high"])
RECORDS = st.dictionaries(
    st.sampled_from(IDS), st.fixed_dictionaries({"grade": GRADES, "open": st.booleans()}), min_size=1
)
RULES = st.lists(
    st.fixed_dictionaries(
        {
            "forbids": st.lists(
                st.sampled_from(["find", "show", "close", "grade"]), min_size=1, max_size=2, unique=True
            ),
            "when": st.fixed_dictionaries(
                {}, optional={"grade": GRADES, "open": st.booleans(), "record": st.sampled_from(IDS)}
            ),
            "because": st.sampled_from(["First reason.", "Second reason."]),
        }
    ),
    max_size=3,
)


def is_forbidden(rules: list[dict[str, Any]], call: dict[str, Any], records: dict[str, Any]) -> bool:
    """The rules' meaning for this desk, written apart from the package's."""
    arguments = call["arguments"]
    known = [arguments, *([records[arguments["record"]]] if arguments.get("record") in records else [])]
    return any(
        call["name"] in rule["forbids"]
        and all(any(one.get(field) == value for one in known) for field, value in rule["when"].items())
        for rule in rules
    )


@settings(max_examples=10, deadline=None)
@given(st.lists(RECORDS, min_size=1, max_size=3), RULES, st.data())
def test_no_scenario_contradicts_a_rule_or_another_scenario(
    worlds: list[dict[str, Any]], rules: list[dict[str, Any]], data: st.DataObject
) -> None:
    given_examples = [
        {
            "values": {"record": data.draw(st.sampled_from(sorted(one))), "grade": data.draw(GRADES)},
            "scenario": {"records": one},
        }
        for one in worlds
    ]
    examples = examples_of(given_examples, TOOLS.schemas, "here")
    sources = DesignSources(TOOLS, Desk, tuple(Rule(**one) for one in rules), (), tuple(examples), ())
    lines = [line for line in designed(sources).lines if "success" in line]  # what is undecided promises nothing
    promises: dict[str, Any] = {}
    done, refused = [], []
    for line in lines:
        seen_by_user = repr([line[key] for key in ("goal", "facts", "records")] + [line.get("unknown")])
        assert promises.setdefault(seen_by_user, line["success"]) == line["success"]
        records = copy.deepcopy(line["records"])
        for call in line.get("plan", ()):
            assert not is_forbidden(rules, call, records)
            deed(records, call["name"], call["arguments"])
        assert line["success"]["final_state_exactly"] == {"records": records}  # of a refusal: as before
        if line["proof"]["verdict"] == "possible":
            done.append((line["records"], line["plan"][-1]))
        elif isinstance(call := line["success"]["tool_not_called"], dict):
            refused.append((line["records"], call))
    assert not [one for one in done if one in refused]


def test_scenarios_begin_in_an_example_in_which_the_call_is_possible_and_changes_something() -> None:
    records = {"R1001": {"grade": "low", "open": False}, "R2002": {"grade": "high", "open": True}}
    given_examples = [{"values": {"record": one, "grade": "low"}, "scenario": {"records": records}} for one in records]
    examples = examples_of(given_examples, TOOLS.schemas, "here")
    for seed in range(3):
        lines = designed(DesignSources(TOOLS, Desk, (), (), tuple(examples), ()), seed=seed).lines
        found = {(line["case"]["tool"], line["case"]["kind"]): line for line in lines}
        assert found["close", "valid"]["plan"][-1]["arguments"] == {"record": "R2002"}
        assert found["close", "ambiguous"]["facts"] == ["The record is R2002, not R1001."]
        change = found["grade", "valid"]["plan"][-1]["arguments"]
        assert records[change["record"]]["grade"] != change["grade"]  # what it has already changes nothing
        assert ("show", "out of bounds") not in found  # an agent may look for what is not there
        assert found["find", "missing"]["proof"]["verdict"] == "undecided"  # it only reads
        assert found["show", "missing"]["proof"]["verdict"] == "must be refused"  # an id is not guessed
