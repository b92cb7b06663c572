"""What labels say, in every shape in which they are stored."""

import pytest
from pydantic import JsonValue

from duologue.data.labels.reading import label_keys, labels_in, read, value_of
from duologue.data.records import Conversation, Message


def parts(key, stored):
    return [(label.name, label.value, label.votes, label.beside) for label in read(key, stored)]


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ("good", [("mood", "good", (), False)]),
        (["good", "calm"], [("mood", ["good", "calm"], (), False)]),
        ({"a": 1, "b": 2}, [("mood.a", 1, (), False), ("mood.b", 2, (), False)]),
        ({"mood": "good", "memo": "x"}, [("mood", "good", (), False), ("mood.memo", "x", (), True)]),
        ({"final": None, "1": "good", "2": "bad"}, [("mood", None, ("good", "bad"), False)]),
        (
            {"final": {"a": 1}, "10": {"a": 3}, "2": {"a": 1}, "3": None, "by": "us"},
            [("mood.a", 1, (1, 3), False), ("mood.by", "us", (), True)],
        ),
        ({}, []),
    ],
)
def test_each_part_of_a_label_has_its_value_and_its_votes_in_order(stored, expected):
    assert parts("mood", stored) == expected


def test_a_score_is_a_part_of_the_scores_and_what_no_scorer_gave_is_told_apart():
    scores = {"success": {"value": True, "reason": "r"}, "clear": {"error": "x"}, "other": 3}
    labels = [(label.part, label.value, label.by) for label in read("scores", scores)]
    assert labels == [("success", True, "scorer"), ("clear", None, "scorer"), ("other", 3, "")]


def test_keys_that_a_reader_leaves_aside_are_labels_where_people_wrote_them():
    aside: dict[str, JsonValue] = {"values": {"mood": "a", "mood_human": "b", "tone": "c", "id": 4}}
    talk = Conversation(
        id="1", scenario={"kind": "x"}, messages=(Message(role="user", text="Hi."),),
        labels={"tie": 1}, extra={"file": aside},
    )  # fmt: skip
    assert set(label_keys(talk)) == {"mood", "mood_human", "tie"}
    assert {label.key: label.by for label in labels_in(talk)} == {"mood": "", "mood_human": "people", "tie": ""}


def test_the_value_of_a_label_without_parts_is_what_its_votes_come_to():
    assert [value_of("n", stored) for stored in (3, {"final": 4, "1": 4}, {"n": 5, "memo": ""}, {"a": 6})] == [
        3,
        4,
        5,
        None,
    ]
