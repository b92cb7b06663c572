"""Labels in a published file: whatever was taken out of an open file stands there again."""

import json
from pathlib import Path

import pytest

from duologue.data.recllmsim.dataset import annotated
from duologue.data.recllmsim.published_labels import renamed
from duologue.prompts.label_pages import shipped_labels

SEED = Path(__file__).parents[4] / "shared" / "seed-data"
open_data = pytest.mark.skipif(not SEED.is_dir(), reason="the open published data is not in ../shared/seed-data")


def stripped(content, labels):
    """The file's object without these labels, and what the labels hold: of the conversation and of each message."""
    of_talk, of_turns = {}, {}
    bare = {**content, "history": [dict(turn) for turn in content["history"]]}
    for name, key in renamed(content).items():
        if (label := shipped_labels().get(name)) is not None:
            named = {name: bare.pop(key)}
            votes = [label.value_in(named, number) for number in "123"]
            of_talk[key] = label.voted(label.value_in(named), votes)[name]
    for label in labels:
        for number, turn in enumerate(bare["history"]) if label.of_messages else ():
            if label.role in (None, turn["role"]) and (value := label.value_in(turn)) is not None:
                of_turns.setdefault(number, {}).update(label.stored(value))
                bare["history"][number] = {key: field for key, field in turn.items() if key not in label.keys}
        if not label.of_messages and (value := label.value_in(bare)) is not None:
            of_talk |= label.stored(value)
            bare = {key: field for key, field in bare.items() if key not in label.keys}
    return bare, {key: field for key, field in of_talk.items() if key in content}, of_turns


@open_data
@pytest.mark.parametrize(
    ("study", "side", "names", "count"),
    [
        ("recllmsim", "LLM_agent_user", "intent hallucination conflict preference_summary rating profile_mapped translation translation_context translation_preference", 233),
        ("recllmsim", "real_human_user", "intent_people hallucination_people questionnaire", 35),
        ("recllmsim", "human_exp_V2", "hallucination_people satisfaction questionnaire", 219),
        ("recllmsim_human_vs_agent", "LLM_agent_user", "intent hallucination rating satisfaction_conversation profile_mapped", 233),
        ("recllmsim_human_vs_agent", "real_human_user", "intent_people hallucination_people questionnaire", 35),
        ("recllmsim_human_vs_agent", "human_exp_V2", "hallucination_people satisfaction questionnaire", 219),
    ],
)  # fmt: skip
def test_labels_that_are_taken_out_of_an_open_file_and_put_in_again_make_the_same_object(study, side, names, count):
    labels = [shipped_labels()[name] for name in names.split()]
    paths = sorted((SEED / study / side).glob("**/*.json"))
    assert len(paths) == count
    for path in paths:
        text = path.read_text(encoding="utf-8")
        bare, of_talk, of_turns = stripped(json.loads(text), labels)
        assert bare != json.loads(text)
        assert annotated(bare, of_talk, of_turns) == json.loads(text), path


def test_a_label_that_is_there_is_replaced_where_it_stands_and_none_removes_it():
    value = {"history": [{"role": "assistant", "content": "a", "satisfaction": "2", "reason": "x", "own": 1}], "own": 2}
    again = annotated(value, {"conflict": None}, {0: {"satisfaction": "5", "reason": None}})
    assert list(again["history"][0].items()) == [
        ("role", "assistant"), ("content", "a"), ("satisfaction", "5"), ("own", 1)
    ]  # fmt: skip
    assert value["history"][0]["reason"] == "x"
    assert list(again) == ["history", "own"]
