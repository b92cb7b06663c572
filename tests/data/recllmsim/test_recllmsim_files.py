"""RecLLMSim files: three variants, one conversation each, the same bytes again."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.data import Message, domains, recllmsim
from duologue.data.files.json import dumps
from duologue.data.recllmsim import Situation
from duologue.data.recllmsim.dataset import from_object
from duologue.data.records import Label, labels_from
from tests.data.recllmsim.small_files import HUMAN, SIMULATED, fresh, put


@pytest.mark.parametrize("part", ["recllmsim", "recllmsim_human_vs_agent"])
def test_every_open_file_is_the_same_bytes_again(open_data: Path, part: str) -> None:
    reading = recllmsim.read_folder(open_data / part)
    assert (len(reading.conversations), reading.broken) == (487, ())
    assert reading.notes[0] == "conversations: 35 human, 219 human v2, 233 simulated"
    for conversation in reading.conversations:
        bytes_there = (open_data / part / str(conversation.extra["path"])).read_bytes()
        assert dumps(recllmsim.to_object(conversation), indent=4).encode() == bytes_there, conversation.extra["path"]
        assert Situation.of(conversation).scenario() == conversation.scenario
    assert len({conversation.id for conversation in reading.conversations}) == 487


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
keys = st.sampled_from(["rating", "strategy", "strategy_V9", "chat_model", "preference_zh", "new", "satisfaction"])
turn_keys = st.sampled_from(
    ["content_zh", "intent", "intent_zh", "hallucination", "reason", "who", "turn", "satisfaction"]
)


@given(
    st.sampled_from([SIMULATED, HUMAN]),
    st.dictionaries(keys, json_values, max_size=4),
    st.lists(
        st.tuples(st.sampled_from(["user", "assistant"]), st.text(max_size=4), st.dictionaries(turn_keys, json_values)),
        max_size=4,
    ),
    st.randoms(use_true_random=False),
)
def test_labels_unknown_keys_and_any_order_of_keys_come_back(
    base: dict[str, Any], more: dict[str, Any], turns: Any, chance: Any
) -> None:
    def mixed(value: dict[str, Any]) -> dict[str, Any]:
        pairs = list(value.items())
        chance.shuffle(pairs)
        return dict(pairs)

    history = [mixed({"role": role, "content": text} | labels) for role, text, labels in turns]
    value = mixed(base | more | {"history": history})
    assert dumps(recllmsim.to_object(from_object(value, "file"))) == dumps(value)


def test_variants_are_told_by_keys_alone() -> None:
    put(SIMULATED, "User_1/a.json")
    put(HUMAN, "LLM_agent_user/b.json")
    put(HUMAN, "c.json", chat_model="gpt")
    put(HUMAN, "d.json", profile={"background": "law"})
    reading = recllmsim.read_folder(".")
    assert {str(c.extra["path"]): recllmsim.variant(c) for c in reading.conversations} == {
        "LLM_agent_user/b.json": "human",
        "User_1/a.json": "simulated",
        "c.json": "human_v2",
        "d.json": "human_v2",
    }
    bare = reading.conversations[0].model_copy(update={"extra": {}})
    assert recllmsim.variant(bare) == "human"


def test_a_simulated_conversation_is_about_its_context_and_preference() -> None:
    (read,) = recllmsim.read_folder(put(SIMULATED)).conversations
    situation = Situation.of(read)
    assert (situation.language, situation.task, situation.task_context_id, situation.preference_id) == (
        "en",
        "tea",
        1,
        3,
    )
    assert situation.profile_text == SIMULATED["preference"]
    assert situation.facts == [
        ("Gender", "Female"),
        ("Age", "40"),
        ("Personality", "Calm"),
        ("Personality", "kind"),
        ("Personality", "curious"),
    ]
    assert read.messages[0].labels == {"intent": Label(value="Others")}
    assert (read.stop, read.provenance) == (None, None)


def test_a_fresh_simulation_has_the_published_keys_in_their_order_and_nothing_empty() -> None:
    assert (
        recllmsim.write([fresh(labels=labels_from({"rating": {"a": 1}, "strategy_V2": {}, "conflict": None}))], "out")
        == []
    )
    text = Path("out/tea/3_1.json").read_bytes()
    assert not text.endswith(b"\n")
    assert list(json.loads(text)) == [
        "task", "preference_id", "task_context_id", "preference", "task_context", "history", "rating", "strategy_V2",
    ]  # fmt: skip
    assert json.loads(text)["history"] == [
        {"role": "user", "content": "Which?"},
        {"role": "assistant", "content": "Green."},
    ]
    (read,) = recllmsim.read_folder("out").conversations
    assert recllmsim.variant(read) == "simulated"
    assert read.scenario == fresh().scenario


def test_what_was_annotated_after_reading_is_written() -> None:
    (read,) = recllmsim.read_folder(put(SIMULATED, new=1, rating=None)).conversations
    first, second = read.messages
    labelled = read.model_copy(
        update={
            "labels": read.labels | labels_from({"rating": {"a": 2}, "strategy_V4": {"final": {}}}),
            "messages": (first.model_copy(update={"labels": {"satisfaction": Label(value=4)}}), second),
        }
    )
    value = recllmsim.to_object(labelled)
    assert (value["rating"], value["strategy_V4"], value["new"]) == ({"a": 2}, {"final": {}}, 1)
    assert value["history"][0] == {"role": "user", "content": "Which tea?", "satisfaction": "4"}


def test_repeats_and_equal_numbers_all_have_a_file() -> None:
    others = [
        fresh(),
        fresh(id="def", repeat=1),
        fresh(id="ghi"),
        fresh(id="jkl", scenario=fresh().scenario | {"task": "../a/b"}),
    ]
    bare = {key: value for key, value in fresh().scenario.items() if not key.endswith("_id")}
    recllmsim.write([*others, fresh(id="mno", scenario=bare)], "out")
    assert sorted(path.relative_to("out").as_posix() for path in Path("out").rglob("*.json")) == [
        "_a_b/3_1.json",
        "tea/3_1.json",
        "tea/3_1_2.json",
        "tea/3_1_ghi.json",
        "tea/mno.json",
    ]


def test_conversations_of_one_person_or_one_profile_are_one_cluster() -> None:
    put(HUMAN, "r/User_3/茶/0.json")
    put(HUMAN, "r/User_3/茶/1.json", profile={"gender": "Male", "age": 1})
    put(HUMAN, "r/User_4/茶/0.json")
    put(HUMAN, "v/User_3/茶/0.json", chat_model="gpt")
    put(SIMULATED, "s/0.json")
    put(SIMULATED, "s/1.json", preference_id=9)
    put(SIMULATED, "s/2.json", preference="1. Age: 2")
    clusters = [recllmsim.cluster(conversation) for conversation in recllmsim.read_folder(".").conversations]
    assert clusters[:4] == ["human/User_3", "human/User_3", "human/User_4", "simulated/" + clusters[4].split("/")[1]]
    assert clusters[3] == clusters[4] != clusters[5]
    assert clusters[6] == "human_v2/User_3"
    (alone,) = recllmsim.read_folder("r/User_4/茶/0.json").conversations
    assert recllmsim.cluster(alone).startswith("human/")


def test_a_message_is_given_in_the_language_that_is_there() -> None:
    both = Message(role="user", text="Tea", extra={"content_zh": "茶"})
    assert (domains.in_language(both, "en"), domains.in_language(both, "zh")) == ("Tea", "茶")
    chinese, short = Message(role="user", text="买茶"), Message(role="user", text="ok")
    assert (domains.in_language(chinese, "en"), domains.in_language(chinese, "zh")) == (None, "买茶")
    assert domains.in_language(short, "zh") is None
    assert domains.in_language(short, "zh", spoken="zh") == "ok"
