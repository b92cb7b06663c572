"""Examples of a world give values of arguments; what no tool has is refused, and values out of range are made."""

import pytest

from duologue.data.documents import Document, of_markdown
from duologue.data.test_design.examples import (
    WorldExample,
    completed,
    examples_of,
    of_schema,
    out_of_range,
    read_examples,
)
from duologue.data.test_design.policy_rules import rules_of
from duologue.data.test_design.tool_schemas import ToolArgument, schemas_of
from duologue.errors import DataError

TOOLS = schemas_of(
    [
        {
            "name": "change",
            "description": "Move a booking.",
            "parameters": {
                "properties": {"booking": {"type": "string"}, "date": {"type": "string"}},
                "required": ["booking", "date"],
            },
        }
    ],
    "here",
)
DESK = {"bookings": {"QX4821": {"fare": "flex"}, "QX4822": {"fare": "basic"}}, "seats": {"2026-05-03": 1}}


def argument(name="booking", **schema):
    return ToolArgument(name, schema, required=True)


@pytest.mark.parametrize(
    ("described", "words"),
    [
        (
            [{"values": {"boking": "QX4821"}}],
            r"here: example 1: no tool has the argument 'boking': did you mean 'booking'\?",
        ),
        ([{"value": {}}], r"no example has the key 'value': did you mean 'values'\?"),
        ([{"values": {"booking": []}}], "the argument 'booking' has no value"),
        ([{"values": {}, "plan": [{"name": "fly"}]}], "plan: expected calls, each with the 'name' of a tool"),
        ([], "here: expected a list of examples"),
        ([3], "here: example 1: expected an object with 'values'"),
    ],
)
def test_what_no_tool_and_no_example_has_is_refused_with_its_place(described, words):
    with pytest.raises(DataError, match=words):
        examples_of(described, TOOLS, "here")


def test_a_file_gives_values_by_argument_or_whole_examples(tmp_path):
    (tmp_path / "v.toml").write_text('booking = ["QX4821", "QX4822"]\ndate = "2026-05-03"\n')
    (tmp_path / "v.yaml").write_text(
        "examples:\n- values: {booking: QX4821}\n  scenario: {desk: 1}\n  forbidden_by: basic\n"
    )
    (one,) = read_examples(tmp_path / "v.toml", TOOLS)
    assert (one.value("booking"), one.alternative("booking"), one.value("date")) == ("QX4821", "QX4822", "2026-05-03")
    (other,) = read_examples(tmp_path / "v.yaml", TOOLS)
    assert (other.scenario, other.forbidden_by) == ({"desk": 1}, "basic")


def test_another_value_is_a_neighbour_in_the_world_of_the_same_form():
    example = WorldExample({"booking": ("QX4821",), "date": ("2026-05-03",)}, {"database": DESK})
    assert example.alternative("booking") == "QX4822"
    assert example.alternative("date") is None
    rows = WorldExample({"booking": ("A1",)}, {"rows": [{"id": "A1"}, {"id": "B2"}, {"id": "long name"}]})
    assert rows.alternative("booking") == "B2"


def test_a_rule_is_about_the_record_that_the_values_point_at_and_not_about_its_neighbours():
    (rule,) = rules_of([Document("p", tuple(of_markdown("- A basic booking cannot be moved.")[0]))])
    flex = WorldExample({"booking": ("QX4821",)}, {"database": DESK})
    basic = WorldExample({"booking": ("QX4822",)}, {"database": DESK})
    assert [one.is_under(rule, {"basic"}) for one in (flex, basic)] == [False, True]
    declared = WorldExample({"booking": ("QX4821",)}, {}, forbidden_by="cannot be moved")
    assert declared.is_under(rule, ())


def test_a_rule_with_only_is_about_the_records_that_it_does_not_name():
    (rule,) = rules_of([Document("p", tuple(of_markdown("- Only flex bookings can be moved.")[0]))])
    flex = WorldExample({"booking": ("QX4821",)}, {"database": DESK})
    basic = WorldExample({"booking": ("QX4822",)}, {"database": DESK})
    assert [one.is_under(rule, {"flex"}) for one in (flex, basic)] == [False, True]


@pytest.mark.parametrize(
    ("schema", "value", "other"),
    [
        ({"enum": ["flex", "basic"]}, "flex", "purple"),
        ({"type": "integer", "maximum": 9}, 3, 10),
        ({"type": "integer", "minimum": 1}, 3, 0),
        ({"type": "integer"}, 3, -4),
        ({}, "QX4821", "QX5932"),
        ({}, "2026-05-03", "2027-05-03"),
        ({}, "window", None),
        ({"type": "boolean"}, True, None),
    ],
)
def test_a_value_out_of_range_is_beyond_the_schema_or_in_no_example(schema, value, other):
    example = WorldExample({"booking": (value,)}, {})
    assert out_of_range(argument(**schema), example, [example]) == other


def test_a_value_that_is_in_the_world_is_not_out_of_range():
    example = WorldExample({"booking": ("QX4821",)}, {"bookings": {"QX5932": {}, "x": ["QX6043"]}})
    assert out_of_range(argument(), example, [example]) == "QX7154"


def test_an_invented_value_fits_the_words_of_its_argument_and_has_none_out_of_range_beside_it():
    assert [of_schema(argument(name)) for name in ("newDate", "arrival_time", "code")] == [
        "2026-05-03",
        "10:00",
        "AB1234",
    ]
    (example,) = completed([], TOOLS)
    assert out_of_range(argument(), example, [example]) is None
    assert out_of_range(argument(maximum=3), example, [example]) == 4


def test_values_that_were_not_given_are_those_of_the_schema_and_marked_if_they_are_invented():
    assert [of_schema(argument(**one)) for one in ({"default": 3}, {"enum": ["a"]}, {"type": "integer"}, {"format": "date"})] == [
        3, "a", 1, "2026-05-03"
    ]  # fmt: skip
    (one,) = completed([WorldExample({"booking": ("QX4821",)})], TOOLS)
    assert (one.value("booking"), one.invented) == ("QX4821", {"date"})
    assert completed([], TOOLS)[0].invented == {"booking", "date"}
