"""What a label is: its parts, what is no value of it, and the published form of a value."""

import pytest

from duologue.data.labels.definition import LabelDefinition
from duologue.errors import DataError
from duologue.prompts.label_pages import label_of

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


def test_a_value_is_stored_as_published_and_read_again():
    label = definition(SATISFACTION, "satisfaction")
    assert label.stored({"satisfaction": 2, "reason": "wrong"}) == {"satisfaction": "2", "reason": "wrong"}
    assert label.stored({"satisfaction": 5, "reason": None}) == {"satisfaction": "5"}
    assert label.value_in({"satisfaction": "2", "reason": "wrong"}) == {"satisfaction": 2, "reason": "wrong"}
    assert label.value_in({"intent": "x"}) is None


def test_the_parts_of_a_label_of_ones_own_stand_by_themselves_and_with_votes_in_an_object():
    front = {"unit": "conversation", "parts": {"tone": {"values": ["warm", "cold"]}, "points": {"scale": [1, 5]}}}
    value = {"tone": "warm", "points": 2}
    assert definition(front).stored(value) == value
    assert definition({**front, "votes": True}).stored(value) == {"mark": value}


def test_a_tie_is_stored_as_null_and_a_refused_vote_too():
    label = definition({"unit": "conversation", "votes": True, "parts": {"order": {"values": ["D", "B"]}}})
    voted = label.voted({"order": None}, [{"order": "D"}, {"order": "B"}, None])
    assert voted == {"mark": {"final": {"order": None}, "1": {"order": "D"}, "2": {"order": "B"}, "3": None}}
    assert label.value_in(voted) is None
    assert label.value_in(voted, "2") == {"order": "B"}
    assert label.value_in(voted, "3") is None
