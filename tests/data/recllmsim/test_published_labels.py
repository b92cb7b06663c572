"""The three editions of the published labels: every key of theirs is read by what it holds, and written again."""

import json

import pytest

from duologue import data, runs
from duologue.data.recllmsim.dataset import from_object, to_object, write
from duologue.data.recllmsim.published_labels import keys_for, object_of
from duologue.data.records import Label
from duologue.errors import DataError
from duologue.prompts.label_pages import shipped_labels
from tests.labels_by_function import first_values

FIRST = {"information_request": "Planning", "order": "Comprehensive", "context": "Low", "question": "Broad"}
ORDER = {"order": "BreadthDepth", "feedback": "Positive"}
BROAD = {"question_broadness": 4, "context_dependency": 3}
STYLE = {"explanation": "Rare", "promise": "NoPromise", "feedback": "Both", "politeness": "Polite", "formality": "Oral"}
SOLVING = {"problem_solving": "AllInOne", "order": "DepthBreadth"}
ADVICE = {"utility": "High", "operability": "Moderate"}


def voted(value):
    return {"final": value, **dict.fromkeys("123", value)}


SATISFACTION = {
    "strategy_1120": ("first_taxonomy_1120", voted(FIRST)),
    "strategy_V1": ("solving", voted(SOLVING)),
    "strategy_V1_deprecated": ("first_taxonomy", voted(FIRST)),
    "strategy_V2": ("order_and_feedback", voted(ORDER)),
    "strategy_V3": ("broadness_and_feedback", voted(BROAD | {"feedback": "Negative"})),
    "strategy_V4": ("style", voted({"context_dependency": 4, **STYLE})),
    "strategy_V4_deprecated": ("style_deprecated", voted({"context_dependency": 4, **STYLE})),
    "strategy_V5": ("advice", voted(ADVICE)),
    "strategy_human_V1": ("first_taxonomy_human", {"final": FIRST}),  # as in 34 files
    "strategy_human_V3": ("broadness_and_feedback_human", {"final": BROAD | {"feedback": "Both"}}),  # as in 40 files
    "strategy_human_V4": (
        "style_human",
        {
            "final": {name: STYLE[name] for name in ("explanation", "promise", "politeness", "formality")}
        },  # as in 25 files
    ),
    "strategy_human_V5": ("advice_human", {"final": ADVICE}),
}
"""A file of the branch on satisfaction: by key the name of its label, and what is stored."""


def file(labels):
    return {
        "history": [{"role": "user", "content": "Where to?"}, {"role": "assistant", "content": "To Rome."}],
        **{key: stored for key, (_, stored) in labels.items()},
        "task_context": "A journey.",
        "task_type": "travel",
        "profile": {"gender": "Female", "age": 30},
    }


def test_every_key_of_the_edition_on_satisfaction_is_known_by_its_parts_and_goes_out_as_it_came():
    value = file(SATISFACTION)
    conversation = from_object(value, "a.json")
    assert set(conversation.labels) == {name for name, _ in SATISFACTION.values()}
    assert conversation.labels["advice"] == Label(value=ADVICE, votes=(ADVICE,) * 3)
    assert conversation.labels["advice_human"] == Label(value=ADVICE, by=("people",))
    assert json.dumps(to_object(conversation)) == json.dumps(value)
    again = data.Conversation.model_validate(json.loads(json.dumps(conversation.model_dump(mode="json"))))
    assert json.dumps(to_object(again)) == json.dumps(value)


def test_peoples_label_without_feedback_is_the_broadness_and_an_object_with_other_parts_keeps_its_key():
    assert object_of("strategy_human_V3", {"final": BROAD}) == "broadness_human"
    assert object_of("strategy_human", {"final": {"question": "Broad", "context": "Low"}}) == "first_taxonomy_human"
    for odd in (
        {"final": {"order": "Depth"}},
        {"final": {**STYLE, "mood": "good"}},
        {"final": None},
        {},
        "Depth",
        None,
    ):
        assert object_of("strategy_V1", odd) is None
    assert object_of("mood", {"final": SOLVING}) is None
    value = file({"strategy_V1": ("", {"final": {"order": "Depth"}}), "strategy_V9": ("", voted(SOLVING))})
    assert set(from_object(value, "a.json").labels) == {"strategy_V1", "solving"}
    assert to_object(from_object(value, "a.json")) == value


def test_two_objects_of_one_label_both_stay():
    value = file({"strategy_V3": ("", voted(STYLE)), "strategy_V4": ("", voted(STYLE | {"formality": "Mixed"}))})
    conversation = from_object(value, "a.json")
    assert set(conversation.labels) == {"style", "strategy_V4"}
    assert to_object(conversation) == value


@pytest.mark.parametrize(
    ("there", "new", "keys"),
    [
        ({}, ["style", "advice"], ["strategy_V3", "strategy_V4"]),
        ({}, ["first_taxonomy"], ["strategy"]),
        ({}, ["style", "broadness_and_feedback"], ["strategy_V4", "strategy_V3"]),
        ({"broadness": "strategy_V2"}, ["style_human"], ["strategy_human_V3"]),
        ({"order_and_feedback": "strategy_V2"}, ["style"], ["strategy_V4"]),
        ({"first_taxonomy": "strategy", "broadness_and_feedback": "strategy_V3"}, ["advice"], ["strategy_V5"]),
        ({"style": "strategy_V4"}, ["style", "rating"], ["strategy_V4", "rating"]),
    ],
)
def test_a_new_label_has_the_key_of_the_first_edition_that_fits_what_is_there(there, new, keys):
    assert [keys_for(new, there)[name] for name in new] == keys


def test_a_label_is_written_under_the_key_of_the_file_s_edition(tmp_path):
    older = {key: SATISFACTION[key] for key in ("strategy_V2", "strategy_V3")}
    for name, labels in (("new", {}), ("old", older)):
        (tmp_path / "source" / name).mkdir(parents=True)
        (tmp_path / "source" / name / "1.json").write_text(json.dumps(file(labels), indent=4))
    done = runs.annotate(tmp_path / "source", [shipped_labels()["style"]], first_values, out=tmp_path / "out")
    assert {"style"} <= set(done.conversations[0].labels) & set(done.conversations[1].labels)
    write(data.load(tmp_path / "out"), tmp_path / "again")
    new, old = (json.loads((tmp_path / "again" / name / "1.json").read_text()) for name in ("new", "old"))
    assert set(new) - set(file({})) == {"strategy_V3"}
    assert set(old) - set(file(older)) == {"strategy_V4"}
    assert old["strategy_V3"] == older["strategy_V3"][1]
    broadness = runs.annotate(tmp_path / "source", [shipped_labels()["broadness"]], first_values)
    with pytest.raises(DataError, match="no edition of the published labels has broadness beside"):
        write(broadness.conversations, tmp_path / "other")
