"""Tools in OpenAI's form are read by name, description and arguments; a list that cannot be meant is refused."""

import json

import pytest

from duologue.data.test_design.tool_schemas import read_tools, schemas_of
from duologue.errors import DataError

MOVE = {
    "name": "move",
    "description": "Move a booking.",
    "parameters": {
        "type": "object",
        "properties": {
            "booking_code": {"type": "string"},
            "newDate": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
            "fare": {"$ref": "#/$defs/Fare", "description": "The fare."},
        },
        "required": ["booking_code"],
        "$defs": {"Fare": {"enum": ["basic", "flex"]}},
    },
}


def test_a_tool_is_the_same_with_and_without_the_outer_object():
    (tool,) = schemas_of([MOVE], "here")
    assert schemas_of([{"type": "function", "function": MOVE}], "here") == (tool,)
    assert (tool.name, tool.description) == ("move", "Move a booking.")
    assert [one.name for one in tool.required] == ["booking_code"]


def test_an_argument_is_labelled_by_its_short_description_or_by_its_name_in_words():
    (tool,) = schemas_of([MOVE], "here")
    assert [one.label for one in tool.arguments] == ["booking code", "new date", "the fare"]


def test_a_reference_and_an_optional_type_are_resolved():
    _, date, fare = schemas_of([MOVE], "here")[0].arguments
    assert date.schema["format"] == "date"
    assert fare.schema["enum"] == ["basic", "flex"]


def test_a_file_holds_a_list_or_a_request_with_tools(tmp_path):
    path = tmp_path / "tools.json"
    for value in ([MOVE], {"model": "m", "tools": [MOVE]}):
        path.write_text(json.dumps(value))
        assert read_tools(path) == schemas_of([MOVE], "here")


@pytest.mark.parametrize(
    ("described", "words"),
    [
        ([], "here: has no tools: give an agent"),
        ([MOVE, MOVE], "here: has two tools of the name 'move': rename one of them"),
        ([{"description": "x"}], "here: tool 1: has no 'name': give tools in OpenAI's form"),
        (["move"], "here: tool 1: has no 'name'"),
    ],
)
def test_no_tools_doubled_ones_and_ones_without_a_name_are_refused(described, words):
    with pytest.raises(DataError, match=words):
        schemas_of(described, "here")


def test_a_file_of_something_else_is_refused_by_its_name(tmp_path):
    path = tmp_path / "tools.json"
    path.write_text('{"name": "move"}')
    with pytest.raises(DataError, match=r"tools.json: is not a list of tools in OpenAI's form"):
        read_tools(path)
