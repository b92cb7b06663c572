"""Labels in a published file: whatever was taken out of an open file stands there again, byte for byte."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.data.files.json_edits import edited
from duologue.data.recllmsim.label_patches import annotated
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
def test_labels_that_are_taken_out_of_an_open_file_and_put_in_again_make_the_same_bytes(study, side, names, count):
    labels = [shipped_labels()[name] for name in names.split()]
    paths = sorted((SEED / study / side).glob("**/*.json"))
    assert len(paths) == count
    for path in paths:
        text = path.read_text(encoding="utf-8")
        bare, of_talk, of_turns = stripped(json.loads(text), labels)
        assert bare != json.loads(text)
        again = annotated(bare, of_talk, of_turns)
        assert edited(json.dumps(bare, ensure_ascii=False, indent=4), again) == text, path


@pytest.mark.parametrize(
    "text",
    ['{"history": []}\n', '{\n  "a": "\\u4f60",\n  "history": []\n}', '{\n\t"a": "你",\n\t"history": []\n}\r\n'],
)
def test_a_file_keeps_its_own_form(text):
    assert edited(text, json.loads(text)) == text


def test_a_label_that_is_there_is_replaced_where_it_stands_and_none_removes_it():
    value = {"history": [{"role": "assistant", "content": "a", "satisfaction": "2", "reason": "x", "own": 1}], "own": 2}
    again = annotated(value, {"conflict": None}, {0: {"satisfaction": "5", "reason": None}})
    assert list(again["history"][0].items()) == [
        ("role", "assistant"), ("content", "a"), ("satisfaction", "5"), ("own", 1)
    ]  # fmt: skip
    assert value["history"][0]["reason"] == "x"
    assert list(again) == ["history", "own"]


SPACES = st.sampled_from(["", "", " ", "  ", "\n", "\r\n", "\t", "\n    ", "\r\n  ", " \n"])
TEXTS = st.text(st.sampled_from('ab"\\/{}[]:,\n你好\u2028😀é '), max_size=8)
NUMBERS = st.sampled_from(["0", "-0", "-0.0", "1e5", "1E+5", "1.50", "12345678901234567890", "0.1e-7", "3.0", "7"])
KEYS = st.text(st.sampled_from('kz"\\你 '), min_size=1, max_size=4)


@st.composite
def spelt(draw: Any, value: Any) -> str:
    """A JSON text of a value, written as nobody would."""
    gap = lambda: draw(SPACES)  # noqa: E731
    if isinstance(value, dict):
        inner = (f"{gap()}{spell(draw, key)}{gap()}:{gap()}{draw(spelt(inner))}{gap()}" for key, inner in value.items())
        return "{" + (",".join(inner) or gap()) + "}"
    if isinstance(value, list):
        return "[" + (",".join(f"{gap()}{draw(spelt(inner))}{gap()}" for inner in value) or gap()) + "]"
    return spell(draw, value) if isinstance(value, str) else draw(NUMBERS) if value == 0 else json.dumps(value)


def spell(draw: Any, text: str) -> str:
    return json.dumps(text, ensure_ascii=draw(st.booleans())).replace("/", draw(st.sampled_from(["/", "\\/"])))


VALUES = st.recursive(
    st.none() | st.booleans() | st.just(0) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
TURNS = st.dictionaries(KEYS, VALUES, max_size=3).map(lambda turn: {"role": "user", "content": "?", **turn})
FILES = st.builds(
    lambda rest, turns, number: dict([*list(rest.items())[:number], ("history", turns), *list(rest.items())[number:]]),
    st.dictionaries(KEYS, VALUES, max_size=4),
    st.lists(TURNS, max_size=3),
    st.integers(0, 4),
)
LABELS = st.dictionaries(
    st.sampled_from(["strategy", "rating", "moods"]), VALUES.filter(lambda value: value is not None)
)


def within(text: str, longer: str) -> bool:
    """Whether a text is another one without some characters of it."""
    rest = iter(longer)
    return all(character in rest for character in text)


@pytest.mark.heavy
@settings(max_examples=100)
@given(st.data(), FILES, LABELS)
def test_a_file_of_any_form_keeps_every_character_and_has_the_labels_besides(data, value, labels):
    text = data.draw(st.sampled_from(["", "\ufeff"])) + data.draw(spelt(value)) + data.draw(SPACES)
    content = json.loads(text.removeprefix("\ufeff"))
    assert edited(text, content) == text
    again = annotated(
        content, labels, {n: {"moods": {"final": "good", "1": "bad"}} for n in range(len(content["history"]))}
    )
    new_text = edited(text, again)
    assert json.dumps(json.loads(new_text.removeprefix("\ufeff"))) == json.dumps(again)
    assert within(text, new_text)


@pytest.mark.parametrize("escaped", [False, True])
@pytest.mark.parametrize("indent", [4, 2, 1, None, "\t"])
def test_what_is_new_is_written_as_what_stands_beside_it(indent, escaped):
    value = {"history": [{"role": "user", "content": "你"}], "task_type": "travel"}
    again = annotated(value, {"moods": {"final": {"mood": ["好"]}, "1": None, "2": {}}}, {0: {"intent": "规划"}})
    for newline in ("\n", "\r\n"):
        text, new_text = (
            json.dumps(version, indent=indent, ensure_ascii=escaped).replace("\n", newline)
            for version in (value, again)
        )
        assert edited(text, again) == new_text
        assert edited(new_text, again) == new_text


def test_a_changed_member_is_written_anew_and_those_beside_it_stay():
    text = '{ "a" : 1e5,\r\n  "moods" : {"final": {"mood": "bad"},  "1": 2.50},\r\n  "b":[1,  {"c": "\\u4f60"}]}\r\n'
    value = json.loads(text)
    value["moods"]["final"]["mood"] = "good"
    value["b"][1]["c"] = "好"
    assert edited(text, value) == text.replace('"bad"', '"good"').replace('"\\u4f60"', '"\\u597d"')
    del value["moods"]
    assert edited(text, value) == '{ "a" : 1e5,\r\n  "b":[1,  {"c": "\\u597d"}]}\r\n'
    assert edited(text, {"a": True}) == '{ "a" : true}\r\n'
