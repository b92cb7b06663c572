"""What a label is: its parts, what is no value of it, and where a record holds it."""

import pytest

from duologue.data.labels.definition import LabelDefinition
from duologue.data.records import Conversation, Label, Message
from duologue.errors import DataError
from duologue.prompts.label_pages import label_of, shipped_labels

PAGE = """---
title: How it went
unit: conversation
values: [bad, fair, good]
ordered: true
---
bad: nothing was settled. fair: a part was. good: all was.
"""
SATISFACTION = {
    "unit": "assistant turn",
    "parts": {
        "satisfaction": {"scale": [1, 5]},
        "reason": {"values": ["too short", "wrong"], "only_if": {"satisfaction": [1, 2, 3]}},
    },
}


def definition(front, name="mark"):
    return LabelDefinition.of(name, front, "What it means.", "here.md")


def written(folder, text=PAGE, name="outcome.md"):
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


@pytest.mark.parametrize(
    "text",
    [
        "no front matter",
        "---\nunit: conversation\nvalues: [a, b]\n---\n \n",
        "---\nunit: [\n---\ntext",
        "---\n- a\n---\ntext",
        "---\nunit: conversation\n---\ntext",
        "---\nunit: word\nvalues: [a, b]\n---\ntext",
        "---\nunit: conversation\nvalues: [a, a]\n---\ntext",
        "---\nunit: conversation\nvalues: [a, '']\n---\ntext",
        "---\nunit: conversation\nvalues: a, b\n---\ntext",
        "---\nunit: conversation\nscale: [0, 1.5]\n---\ntext",
        "---\nunit: conversation\nscale: [0, 100000000]\n---\ntext",
        "---\nunit: conversation\nscale: [5, 1]\n---\ntext",
        "---\nunit: conversation\nvalues: [a, b]\nseveral: true\n---\ntext",
        "---\nunit: conversation\nparts: [a, b]\n---\ntext",
        "---\nUnit: conversation\nvalues: [a, b]\n---\ntext",
        "---\nunit: conversation\nparts: {a: {values: [x, y], only_if: {a: [x]}}}\n---\ntext",
        "---\nunit: conversation\nparts: {x: {values: [a, b], in: y}}\n---\ntext",
        "---\nunit: conversation\nvalues: [0, 1]\n---\ntext",
        "---\nunit: conversation\nvalues: [high, no]\n---\ntext",
    ],
)
def test_a_page_that_cannot_be_used_says_so_in_one_line_with_its_path(tmp_path, text):
    path = written(tmp_path, text)
    with pytest.raises(DataError) as raised:
        label_of(path)
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_value_is_refused_part_by_part():
    label = definition(SATISFACTION)
    assert label.problems({"satisfaction": 5, "reason": None}) == []
    assert label.problems({"satisfaction": 2, "reason": "wrong"}) == []
    for wrong in (
        {"satisfaction": 2},
        {"satisfaction": 5, "reason": "wrong"},
        {"satisfaction": 4.0},
        "good",
    ):
        assert len(label.problems(wrong)) == 1, wrong
    assert len(label.problems({"satisfaction": True, "reason": None, "x": 1})) == 2


def test_a_published_label_lies_in_a_record_under_a_name_for_each_part_or_under_its_own():
    said = Label(value={"satisfaction": 2, "reason": "wrong"}, votes=({"satisfaction": 2, "reason": "wrong"},))
    apart = definition(SATISFACTION, "satisfaction").as_labels(said)
    assert {name: (label.value, label.votes) for name, label in apart.items()} == {
        "satisfaction": (2, (2,)), "reason": ("wrong", ("wrong",)),
    }  # fmt: skip
    high = Label(value={"satisfaction": 5, "reason": None})
    assert definition(SATISFACTION, "satisfaction").as_labels(high) == {"satisfaction": Label(value=5)}
    assert definition(SATISFACTION).as_labels(high) == {"mark": Label(value={"satisfaction": 5})}
    alone = definition({"unit": "conversation", "values": ["a", "b"]})
    assert alone.as_labels(Label(value={"mark": "a"}, votes=({"mark": "a"}, None))) == {
        "mark": Label(value="a", votes=("a", None))
    }
    assert shipped_labels()["intent"].as_labels(Label(value={"intent": "Search"}))["intent_zh"].value == "检索"


@pytest.mark.parametrize("name", ["mark", "satisfaction"])
def test_its_value_is_found_in_a_record_again(name):
    label, value = definition(SATISFACTION, name), {"satisfaction": 2, "reason": "wrong"}
    message = Message(role="assistant", text="", labels=label.as_labels(Label(value=value)))
    assert label.value_in(message) == value
    assert label.value_in(Message(role="assistant", text="", labels={"intent": Label(value="x")})) is None


def test_a_tie_is_null_with_its_votes():
    label = definition({"unit": "conversation", "parts": {"order": {"values": ["D", "B"]}}})
    tie = Label(value={"order": None}, votes=({"order": "D"}, {"order": "B"}, None))
    assert label.as_labels(tie) == {"mark": tie}
    talk = Conversation(id="1", scenario={}, labels={"mark": tie})
    assert (label.value_in(talk), label.held_by(talk)) == (None, {"mark": {"order": None}})
