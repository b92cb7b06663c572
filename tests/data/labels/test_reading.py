"""What labels say, part by part, and the one form that they are read into."""

import pytest

from duologue.data.labels.reading import label_name, labels_in, parts_of, whole_value
from duologue.data.recllmsim.published_labels import label_of
from duologue.data.records import Conversation, Label, bare, labels_from


def parts(key, label):
    return [(label_name(key, part), said.value, said.votes) for part, said in parts_of(key, label).items()]


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        (Label(value="good"), [("mood", "good", ())]),
        (Label(value=["good", "calm"]), [("mood", ["good", "calm"], ())]),
        (Label(value={"a": 1, "b": 2}), [("mood.a", 1, ()), ("mood.b", 2, ())]),
        (Label(value={"mood": "good", "memo": "x"}), [("mood", "good", ()), ("mood.memo", "x", ())]),
        (Label(votes=("good", "bad")), [("mood", None, ("good", "bad"))]),
        (Label(value={"a": 1}, votes=({"a": 3}, {"a": 1}, None)), [("mood.a", 1, (3, 1))]),
        (Label(value={}), []),
    ],
)
def test_each_part_of_a_label_has_its_value_and_its_votes_in_order(label, expected):
    assert parts("mood", label) == expected


@pytest.mark.parametrize(
    ("name", "published", "label"),
    [
        ("mood", {"final": None, "10": "c", "2": "b", "1": "a"}, Label(votes=("a", "b", "c"))),
        ("mood_human", {"final": {"a": 1}}, Label(value={"a": 1}, by=("people",))),
        ("mood", {"final": 1, "by": "us"}, Label(value={"final": 1, "by": "us"})),
        ("satisfaction", "4", Label(value=4)),
        ("questionnaire", [{"query": "?", "summary": "Detail", "option": "详细"}], Label(value={"Detail": "详细"})),
        ("profile_mapped", {"Age": {"en": "30", "zh": "30"}, "Personality": [{"en": "Calm", "zh": "冷静"}]},
         Label(value={"Age": 30, "Personality": ["Calm"]})),
    ],
)  # fmt: skip
def test_a_published_label_has_one_form_whatever_its_shape(name, published, label):
    assert label_of(name, published) == label


def test_plain_values_are_labels_and_people_and_scorers_are_known_by_the_name():
    full = {"value": "a", "votes": ["a", "b"], "by": []}
    plain = {"mood": "good", "mood_human": "bad", "tone": full, "scores": {"success": {"value": True}}}
    labels = labels_from(plain)
    talk = Conversation(id="1", scenario={"kind": "x"}, labels=labels)
    assert {label_name(name, part): (label.value, label.by) for name, part, label in labels_in(talk)} == {
        "mood": ("good", ()), "mood_human": ("bad", ("people",)), "tone": ("a", ()),
        "scores.success": (True, ("scorer",)),
    }  # fmt: skip
    assert bare(labels) == plain
    assert labels_from(talk.model_dump(mode="json")["labels"]) == labels
    assert talk.scores["success"]["value"] is True


def test_the_value_of_a_label_without_parts_is_that_of_the_part_called_like_it():
    labels = labels_from({"n": 3, "m": {"m": 5, "memo": ""}, "o": {"a": 6}})
    talk = Conversation(id="1", scenario={}, labels=labels)
    assert [whole_value(talk, name) for name in "nmop"] == [3, 5, None, None]
