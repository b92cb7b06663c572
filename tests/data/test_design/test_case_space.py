"""A case is a tool, a kind of argument and a rule with an example; its goal and facts are plain sentences."""

import pytest

from duologue.data.documents import Document, of_markdown
from duologue.data.test_design.case_space import KINDS, CaseSpace, design_of
from duologue.data.test_design.examples import examples_of
from duologue.data.test_design.lines import line_of, row_of
from duologue.data.test_design.policy_rules import rules_of
from duologue.data.test_design.sentences import facts_of, goal_of, goal_of_tool
from duologue.data.test_design.tool_schemas import schemas_of

POLICY = "- A booking with a basic fare cannot be moved.\n- Always greet the customer.\n"
TOOLS = schemas_of(
    [
        {
            "name": "look_up",
            "description": "Look up a booking by its code: date and fare.",
            "parameters": {"properties": {"booking": {"type": "string"}}, "required": ["booking"]},
        },
        {
            "name": "change",
            "description": "Move a booking to another date, written as YYYY-MM-DD.",
            "parameters": {
                "properties": {"booking": {"type": "string"}, "date": {"type": "string"}},
                "required": ["booking", "date"],
            },
        },
        {"name": "open_hours", "description": "Say when the desk is open."},
    ],
    "here",
)
EXAMPLES = examples_of(
    [
        {
            "values": {"booking": "QX4821", "date": "2026-05-03"},
            "scenario": {"bookings": {"QX4821": {"fare": "flex"}, "QX4822": {"fare": "flex"}}},
        },
        {
            "values": {"booking": "TR9310", "date": "2026-07-20"},
            "scenario": {"bookings": {"TR9310": {"fare": "basic"}}},
        },
    ],
    TOOLS,
    "here",
)


def space(policy=POLICY, examples=EXAMPLES, tools=TOOLS):
    rules = rules_of([Document("p", tuple(of_markdown(policy)[0]))]) if policy else ()
    return CaseSpace(tools, rules, examples)


def case(tool, kind, rule="rule 2"):
    return space().case({"tool": tool, "argument": kind, "rule": rule}, seed=0)


def test_a_call_is_forbidden_only_where_the_rule_is_about_the_record_and_nowhere_valid():
    forbidden = case("change", "forbidden", "rule 1")
    assert (forbidden.example.value("booking"), forbidden.is_forbidden) == ("TR9310", True)
    assert case("change", "valid").example.value("booking") == "QX4821"
    looked_up = case("look_up", "valid", "rule 1")
    assert (looked_up.example.value("booking"), looked_up.is_forbidden) == ("TR9310", False)


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (("change", "valid", "rule 1"), "rule 1: A booking with a basic fare cannot be moved. forbids it"),
        (("look_up", "forbidden", "rule 1"), "no rule forbids a call of look_up"),
        (("change", "forbidden", "rule 2"), "rule 2: Always greet the customer. forbids no call of change"),
        (
            ("change", "missing", "rule 1"),
            "rule 1: A booking with a basic fare cannot be moved. forbids it with any argument",
        ),
        (("open_hours", "missing", "rule 2"), "open_hours has no required argument"),
        (("look_up", "ambiguous", "rule 1"), "no example has two values of an argument of look_up"),
        (("change", "out of range", "rule 2"), ""),
    ],
)
def test_what_makes_no_case_is_excluded_with_the_rule_or_what_is_lacking(row, why):
    assert space().exclusion().reason(dict(zip(("tool", "argument", "rule"), row, strict=True))) == why


def test_a_pair_that_no_case_has_is_listed():
    pairs = {(one.first, one.second): one.because for one in design_of(space(), {}).infeasible}
    assert pairs == {
        ("tool look_up", "argument forbidden"): "no rule forbids a call of look_up",
        ("tool open_hours", "argument missing"): "open_hours has no required argument",
        ("tool open_hours", "argument ambiguous"): "open_hours has no required argument",
        ("tool open_hours", "argument out of range"): "open_hours has no required argument",
        ("tool open_hours", "argument forbidden"): "no rule forbids a call of open_hours",
        ("argument ambiguous", "rule rule 1"): (
            "rule 1: A booking with a basic fare cannot be moved. forbids it with any argument"
        ),
        ("argument forbidden", "rule rule 2"): "rule 2: Always greet the customer. forbids no call of change",
    }


def test_a_rule_without_a_condition_forbids_its_tool_in_every_case():
    of = space("- Never move a booking.\n")
    reason = of.exclusion().reason({"tool": "change", "argument": "valid", "rule": "none"})
    assert reason == "rule 1: Never move a booking. forbids change in every example"
    assert of.exclusion().reason({"tool": "change", "argument": "forbidden", "rule": "rule 1"}) == ""


def test_without_a_policy_there_is_no_rule_and_no_forbidden_call():
    of = space("")
    assert of.factors() == {"tool": ("look_up", "change", "open_hours"), "argument": KINDS}
    assert of.exclusion().reason({"tool": "change", "argument": "forbidden"}) == "no rule forbids a call of change"


def test_examples_and_arguments_take_turns():
    of = space()
    row = {"tool": "change", "argument": "missing", "rule": "rule 2"}
    assert {of.case(row, seed=0).argument.name for _ in range(2)} == {"booking", "date"}


def test_a_goal_is_the_deed_in_plain_words_without_forms_of_values_and_names_of_tools():
    assert [goal_of_tool(tool, "en") for tool in TOOLS] == [
        "look up my booking by its code", "move my booking to another date", "say when the desk is open",
    ]  # fmt: skip
    (named,) = schemas_of([{"name": "move_it", "description": "Move it with `move_it` or move_it. Ask first."}], "here")
    assert goal_of_tool(named, "en") == "move it with or"
    (bare,) = schemas_of([{"name": "move_it"}], "here")
    assert goal_of_tool(bare, "en") == "move it"
    (zh,) = schemas_of([{"name": "renew", "description": "续借用户的一本书，格式为书号。"}], "here")
    assert goal_of_tool(zh, "zh") == "续借我的一本书"


def test_facts_have_each_value_and_name_what_the_user_lacks():
    assert facts_of(case("change", "valid"), "en") == ["The booking is QX4821.", "The date is 2026-05-03."]
    missing = case("look_up", "missing")
    assert facts_of(missing, "en") == ["I do not have the booking."]
    assert facts_of(missing, "zh") == ["我没有booking。"]
    odd = case("look_up", "out of range")
    assert facts_of(odd, "en") == [f"The booking is {odd.value}."]
    assert odd.value not in str(odd.example.scenario)


def test_an_ambiguous_goal_names_both_values_and_the_facts_resolve_it():
    of = case("look_up", "ambiguous")
    assert goal_of(of, "en") == "look up my booking by its code; the booking is QX4822 or QX4821"
    assert facts_of(of, "en") == ["The booking is QX4821, not QX4822."]
    assert goal_of(of, "zh").endswith("，booking是QX4822或者QX4821")


def test_a_line_has_the_keys_of_the_world_its_behaviours_and_what_it_covers():
    row = {"tool": "look_up", "argument": "missing", "rule": "rule 2", "writing": "terse", "course": "plain"}
    line = line_of(space().case(row, 0), "en", {}, 7)
    assert line["title"] == "7. look up my booking by its code (booking: missing)"
    assert line["bookings"]
    assert line["behaviours"] == ["terse"]
    assert line["rule"] == "Always greet the customer."
    assert row_of(line) == row
    assert row_of({"goal": "x"}) == {}
    assert not any("look_up" in text for text in (line["goal"], *line["facts"]))


def test_a_rule_whose_condition_no_example_meets_forbids_nothing_there_and_says_so():
    of = space("- Group bookings must not be moved.\n")
    assert of.exclusion().reason({"tool": "change", "argument": "valid", "rule": "rule 1"}) == ""
    reason = of.exclusion().reason({"tool": "change", "argument": "forbidden", "rule": "rule 1"})
    assert reason == "no example is under rule 1: Group bookings must not be moved. (forbidden_by marks one)"
