"""The cases that tools, rules as data and examples make, and the sentences of a customer that say them."""

from typing import Any

import pytest

from duologue.data.test_design import (
    Example,
    Rule,
    cases_of,
    completed,
    deed_of,
    examples_of,
    line_of,
    rules_of,
    schemas_of,
)
from duologue.data.text.values import in_words
from duologue.errors import DataError

CARDS = {"4411": {"kind": "plain"}, "4422": {"kind": "gold"}, "4433": {"kind": "plain"}}
PARAMETERS = {
    "properties": {
        "card": {"type": "string"},
        "days": {"type": "integer", "maximum": 30},
        "by": {"anyOf": [{"type": "null"}, {"type": "string", "enum": ["post", "phone"]}]},
    },
    "required": ["card", "days"],
}
BLOCK = {"type": "function", "function": {"name": "block", "description": "Block a card by its number.", "parameters": PARAMETERS}}  # fmt: skip
TOOLS = schemas_of([BLOCK], "here")
GOLD = Rule(forbids=("block",), when={"kind": "gold"}, because="Gold cards stay open.")


def examples(*values: dict[str, Any]) -> list[Example]:
    return examples_of([{"values": one, "scenario": {"cards": CARDS}} for one in values], TOOLS, "here")


def test_a_tool_has_a_case_for_each_kind_of_each_argument_and_for_each_rule() -> None:
    found, lacking = cases_of(TOOLS, [GOLD], examples({"card": "4411", "days": 3}, {"card": "4422", "days": 3}))
    assert [(case.kind, case.argument.name if case.argument else None, case.value) for case in found] == [
        ("valid", None, None),
        ("forbidden", None, None),
        ("missing", "card", None),
        ("ambiguous", "card", "4422"),
        ("out of bounds", "card", "5522"),
        ("missing", "days", None),
        ("out of bounds", "days", 31),
        ("out of bounds", "by", "purple"),
    ]
    assert [case.arguments["card"] for case in found[:2]] == ["4411", "4422"]
    assert lacking == ["block: days: no example has two values"]


def test_what_has_no_case_is_listed_with_the_reason() -> None:
    never = Rule(forbids=("block",), because="Never.")
    found, lacking = cases_of(TOOLS, [GOLD, never], examples({"card": "4411", "days": 3}))
    assert [case.kind for case in found] == ["forbidden"]
    assert lacking == [
        "block: the rules forbid it in every example",
        "block: no example is under the rule 'Gold cards stay open.'",
    ]


@pytest.mark.parametrize(
    ("when", "card", "state", "holds"),
    [
        ({"kind": "gold"}, "4422", {"cards": CARDS}, True),
        ({"kind": ["silver", "plain"]}, "4411", {"cards": CARDS}, True),
        ({"kind": "gold"}, "4411", {"cards": CARDS}, False),
        ({"card": "4411"}, "4411", None, True),
        ({}, "4411", None, True),
        ({"kind": "gold"}, "4422", {"cards": [{"card": "4422", "kind": "gold"}]}, True),
        ({"kind": "gold"}, "4422", {"cards": [{"card": "1", "kind": "gold", "spare": "4422"}]}, False),
    ],
)
def test_a_rule_looks_at_the_arguments_and_at_the_records_that_they_name(
    when: dict[str, Any], card: str, state: Any, holds: bool
) -> None:
    rule = Rule(forbids=("block",), when=when, because="b")
    assert rule.forbids_call("block", {"card": card}, state) is holds
    assert not rule.forbids_call("other", {"card": card}, state)


def test_a_rule_in_prose_forbids_nothing_and_is_listed() -> None:
    rules, prose = rules_of([{"forbids": "block", "because": "b"}, "Be polite."], TOOLS, "here")
    assert ([rule.forbids for rule in rules], prose) == ([("block",)], ["Be polite."])


@pytest.mark.parametrize(
    ("read", "value", "words"),
    [
        (rules_of, [{"forbids": "blok", "because": "b"}], "here: no tool has the name 'blok'"),
        (rules_of, [{"forbids": "block"}], "here: rule 1: because"),
        (rules_of, 3, "here: expected a list of rules"),
        (examples_of, [{"values": {"cart": 1}}], "here: no tool has the argument 'cart'"),
        (examples_of, [{"value": {}}], "here: example 1: values"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(read: Any, value: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        read(value, TOOLS, "here")


@pytest.mark.parametrize(
    ("name", "description", "deed"),
    [
        ("move_booking", "Move a booking to another date, written as YYYY-MM-DD.", "move my booking to another date"),
        ("block", "Block a card by its number.", "block my card"),
        ("cancelOrder", "Returns a dict with the state of the order.", "cancel the order"),
        ("rent_booking", "Rent a booking to a customer for a number of days.", "rent a booking"),
        ("pay", "Pay back the fee of a card.", "get back the fee of my card"),
        ("list", "List the free cards of a kind.", "see the free cards of a kind"),
        ("get_balance", "Tell the balance of an account.", "see the balance of my account"),
        ("getBalance", "The balance.", "see the balance"),
        ("block", "", "block the card"),
        ("renew", "续借用户的图书，期限三十天。", "续借我的图书"),
    ],
)
def test_a_deed_reads_as_a_customers_and_not_as_a_docstring(name: str, description: str, deed: str) -> None:
    properties = {name: {"type": "string"} for name in ("card", "booking", "account", "kind")}
    (tool,) = schemas_of(
        [{"name": name, "description": description, "parameters": {"properties": properties, "required": ["card"]}}],
        "here",
    )
    values = {"card": "4411", "booking": "PK4711", "account": "A-10", "kind": "gold"}
    assert deed_of(tool, "zh" if "续借" in description else "en", values) == deed


def test_a_line_says_what_the_user_has_has_not_and_means() -> None:
    found, _ = cases_of(TOOLS, (), examples({"card": "4411", "days": 3}))
    lines = {(case.kind, case.argument.name if case.argument else ""): line_of(case, "en", 1) for case in found}
    valid, missing, ambiguous = lines["valid", ""], lines["missing", "card"], lines["ambiguous", "card"]
    assert (valid["goal"], valid["facts"]) == ("I want to block my card.", ["The card is 4411.", "The days are 3."])
    assert (missing["facts"], missing["unknown"]) == (["The days are 3."], ["the card"])
    assert ambiguous["goal"] == "I want to block my card. The card is 4422 or 4411."
    assert ambiguous["facts"][0] == "The card is 4411, not 4422."
    assert (valid["cards"], valid["case"]) == (CARDS, {"tool": "block", "kind": "valid"})
    assert in_words([True, {"a": 1}], "en") == "yes, (a: 1)"


def test_values_that_no_example_gives_are_those_of_the_world_and_no_id_is_invented_beside_it() -> None:
    state = {"cards": CARDS, "orders": [{"code": 7, "days": 3, "card": "9999"}]}  # of a card that is there no more
    (bare,) = examples_of([], TOOLS, "here")
    whole, invented = completed([bare.model_copy(update={"state": state})], TOOLS)
    assert [one.values for one in whole] == [{"card": name, "days": 3} for name in CARDS]
    assert invented == []
    assert cases_of(TOOLS, [GOLD], whole)[0][1].arguments == {"card": "4422", "days": 3}  # the rule has its case
    other, invented = completed([bare.model_copy(update={"state": {"orders": []}})], TOOLS)
    assert (other[0].values, invented) == ({"days": 1}, ["days"])
    assert cases_of(TOOLS, (), other) == ([], ["block: no example and no world has a value of card"])
    assert completed([bare], TOOLS)[1] == ["card", "days"]  # without a world any text does
