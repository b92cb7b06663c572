"""The published tables: small conversations, counted by hand, the open data, and input of which there is little to count."""

import json
import math
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

pytest.importorskip("pandas")

from duologue.analysis.recllmsim import Talks, recllmsim_tables
from duologue.analysis.recllmsim.tables import TABLES, lengths
from duologue.analysis.tables import TablesReport
from duologue.data import Conversation, load, recllmsim
from duologue.data.records import NodeInfo, Provenance

Made = Callable[..., Conversation]


def rows_of(name: str, conversations: Iterable[Conversation], *keys: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The rows of a table by some of their cells."""
    report = TablesReport(by_name={name: TABLES[name](Talks.of(conversations))})
    return {tuple(row[key] for key in keys): row for row in report.to_json()[name]}


def notes_of(name: str, conversations: Iterable[Conversation]) -> str:
    return " ".join(TABLES[name](Talks.of(conversations)).notes)


def values(row: dict[str, Any], *keys: str) -> tuple[Any, ...]:
    return tuple(row[key] for key in keys)


def voted(value: str) -> dict[str, Any]:
    return {"final": {"problem_solving": value}, "1": {"problem_solving": "Other"}}


def asked(**options: str) -> list[dict[str, str]]:
    return [{"query": "?", "summary": name, "option": option} for name, option in options.items()]


def test_conversations_users_and_messages_are_counted_by_task_and_side(simulated: Made, person: Made) -> None:
    conversations = [
        simulated("uaua"),
        simulated("aua", context="Another.", preference="1. Gender: Female"),
        simulated("ua", task="new travel planning"),
        person("uua", user=1),
        person("ua", user=1, task="旅行规划"),
        person("ua", user=2, task="旅行规划"),
    ]
    rows = rows_of("counts", conversations, "task", "side")
    assert [*rows] == [
        (task, side) for task in ("all", "preparing gifts", "travel planning") for side in ("simulated", "people")
    ]
    assert [*rows["all", "simulated"].values()][2:] == [3, 2, 2, 9, pytest.approx(4 / 3)]
    assert [*rows["preparing gifts", "people"].values()][2:] == [1, 1, 1, 3, 1]
    assert (rows["travel planning", "people"]["users"], rows["all", "people"]["users"]) == (2, 2)
    assert "Travel planning holds 1 conversations about new travel planning" in notes_of("counts", conversations)


def test_lengths_are_what_a_function_gives_of_the_texts_or_of_their_translations(simulated: Made) -> None:
    one = simulated("uaua", texts=["ab", "c d e", "abcd", "x"])
    conversations = [one, simulated("ua", texts=["abc", "f g"])]
    rows = rows_of("lengths", conversations, "task", "role")
    assert values(rows["all", "user"], "messages", "per_message", "per_conversation") == (3, 3, 4.5)
    words = lengths(Talks.of(conversations), str.split)
    assert [row[-2:] for row in words.rows[:2]] == [(1, 1.5), (2, 3)]
    messages = [one.messages[0].model_copy(update={"extra": {"content_zh": "长文"}}), *one.messages[1:]]
    chinese = lengths(Talks.of([one.model_copy(update={"messages": tuple(messages)})]), language="zh")
    assert [row[-2:] for row in chinese.rows[:2]] == [(2, None), (None, None)]
    assert "3 messages are not to be had in this language" in " ".join(chinese.notes)


def test_quality_is_by_turns_by_questionnaire_and_by_rating(simulated: Made, person: Made) -> None:
    def rated(alignment: int, completeness: int) -> dict[str, int]:
        return {"Preference Alignment": alignment, "Role-Playing Completeness": completeness}

    conversations = [
        simulated("uaua", rating=rated(2, 1)),
        simulated("uauau", rating=rated(1, 2)),  # five messages are two turns
        simulated("ua", rating={"Preference Alignment": 0, "Role-Playing Completeness": 7}),
        simulated("uaua"),
    ]
    turns = [[*row.values()] for row in rows_of("quality_by_turns", conversations, "turns").values()]
    assert turns == [[1, 1, 1, 0, None], [2, 2, 3, 1.5, 1.5]]
    assert "1 of 4 conversations (simulated) have no such rating." in notes_of("quality_by_turns", conversations)

    people = [
        person(chat_model="m", questionnaire=asked(Memorization="否", Detail="详细", Availability="不可用")),
        person(chat_model="m", questionnaire=asked(Memorization="是", Detail="一般")),
        person(questionnaire=asked(Detail="简略", Diversity="maybe")),
        person(chat_model="m"),
    ]
    items = rows_of("quality_by_questionnaire", people, "assistant", "item")
    shares = ("n", "of", "mean", "share_0", "share_1", "share_2")
    assert values(items["m", "Memorization"], *shares) == (2, 3, 0.5, 0.5, 0.5, 0)
    assert values(items["m", "Availability"], *shares) == (1, 3, 0, 1, 0, 0)
    assert values(items["all", "Detail"], "n", "of", "mean") == (3, 4, 1)
    assert ("not told", "Diversity") not in items
    assert "1 answers are none of the published options" in notes_of("quality_by_questionnaire", people)

    ran = Provenance(cast="recllmsim", nodes={"assistant": NodeInfo.of("assistant", {"model": {"spec": "openai:gpt"}})})
    one = simulated(rating={"Preference Alignment": 2, "Diversity": 1}, satisfaction={"detail": 2})
    ratings = rows_of("quality_by_rating", [one.model_copy(update={"provenance": ran})], "assistant", "about", "item")
    assert {key: row["mean"] for key, row in ratings.items()} == {
        ("openai:gpt", "user", "Preference Alignment"): 2,
        ("openai:gpt", "assistant", "Diversity"): 1,
        ("openai:gpt", "assistant", "satisfaction detail"): 2,
    }


def test_a_reply_is_made_up_in_both_published_shapes_and_one_left_open_is_not(simulated: Made, person: Made) -> None:
    def said(made_up: bool) -> dict[str, Any]:
        return {"hallucination": {"hallucination": made_up, "memo": ""}}

    conversations = [
        simulated("uaua", messages={1: said(True), 3: said(False)}),
        simulated("ua", messages={1: {"hallucination": "not judged"}}),
        person("uaua", messages={1: {"hallucination": "无法判断"}, 3: {"hallucination": "是"}}),
        person("uaua", messages={1: {"hallucination": "无法判断"}, 3: {"hallucination": "否"}}),
        person("ua", task="旅行规划"),
    ]
    rows = rows_of("hallucination", conversations, "task", "side", "per")
    counts = ("n", "of", "made_up", "cannot_tell", "share")
    assert values(rows["all", "simulated", "turn"], *counts) == (2, 3, 1, 0, 0.5)
    assert values(rows["all", "simulated", "conversation"], *counts) == (1, 2, 1, 0, 1)
    assert values(rows["all", "people", "turn"], *counts) == (4, 5, 1, 2, 0.25)
    assert values(rows["preparing gifts", "people", "conversation"], *counts) == (2, 2, 1, 1, 0.5)
    assert values(rows["travel planning", "people", "turn"], *counts) == (0, 1, 0, 0, None)
    assert rows_of("hallucination", [simulated()], "task") == {}


def test_satisfaction_is_by_the_place_of_the_reply_and_by_assistant_and_never_pooled(
    simulated: Made, person: Made
) -> None:
    def points(*given: str | None) -> dict[int, dict[str, str]]:
        return {2 * place + 1: {"satisfaction": one} for place, one in enumerate(given) if one}

    conversations = [
        person("uaua", chat_model="a", messages=points("1", "5")),
        person("uaua", chat_model="b", messages=points("4", None)),
        person("ua", chat_model="b", messages=points("six")),
        simulated("ua", messages=points("2")),
    ]
    turns = rows_of("satisfaction_by_turn", conversations, "side", "turn")
    assert values(turns["people", 1], "n", "of", "mean", "share_1", "share_4") == (2, 3, 2.5, 0.5, 0.5)
    assert values(turns["people", 2], "n", "of", "mean") == (1, 2, 5)
    assert turns["simulated", 1]["mean"] == 2
    assistants = rows_of("satisfaction_by_assistant", conversations, "side", "assistant")
    counts = ("conversations", "of_conversations", "n", "of", "mean")
    assert values(assistants["people", "all"], *counts) == (2, 3, 3, 5, pytest.approx(10 / 3))
    assert values(assistants["people", "b"], *counts) == (1, 2, 1, 3, 4)


@pytest.fixture
def labelled(simulated: Made, person: Made) -> list[Conversation]:
    intent = {0: {"intent": "Planning"}, 2: {"intent": "Search"}}
    return [
        simulated("uaua", messages=intent, solving=voted("AllInOne"), rating={"Diversity": 2}),
        simulated("ua", messages={0: {"intent": "Planning"}}, solving=voted("AllInOne"), rating={"Diversity": 1}),
        simulated("ua", preference="1. Gender: Female", solving=voted("StepByStep"), rating={"Diversity": 0}),
        person("ua", messages={0: {"intent": ["规划", "其它"]}, 1: {"satisfaction": "3"}}),
    ]


def test_behaviour_is_the_result_of_votes_and_peoples_intents_stand_apart(labelled: list[Conversation]) -> None:
    rows = rows_of("labels", labelled, "label", "value", "task", "side")
    counts = ("n", "conversations", "of", "share")
    assert values(rows["intent", "planning", "all", "simulated"], *counts) == (2, 2, 3, pytest.approx(2 / 3))
    assert values(rows["intent people", "规划", "preparing gifts", "people"], *counts) == (1, 1, 1, 0.5)
    solving = ("solving problem solving", "all in one", "all", "simulated")
    assert values(rows[solving], *counts) == (2, 3, 3, pytest.approx(2 / 3))
    assert not [key for key in rows if key[1] == "other" or (key[0] == "intent" and key[3] == "people")]


def test_each_profile_counts_once_and_others_is_no_label(simulated: Made, person: Made) -> None:
    def mapped(*labels: tuple[str, str]) -> dict[str, Any]:
        return {"Age": "30", "Personality": [{"en": english, "zh": chinese} for english, chinese in labels]}

    calm, kind, others = ("Calm", "冷静"), ("Kind", "善良"), ("Others", "其他")
    conversations = [
        simulated(preference="a", profile_mapped=mapped(calm, others)),
        simulated(preference="a", profile_mapped=mapped(calm, others)),
        simulated(preference="b", profile_mapped=mapped(calm, kind)),
        simulated(preference="c", profile_mapped=mapped(calm)),
        person(user=1, profile={"personality": ["冷静", "善良"], "spending_habits": []}),
        person(user=1, profile={"personality": ["随性"], "spending_habits": []}),
    ]
    rows = rows_of("profiles", conversations, "attribute", "side")
    row = rows["Personality", "simulated"]
    assert values(row, "profiles", "of", "distinct", "others") == (3, 3, 2, 1)
    assert row["simpson"] == pytest.approx(1 - (9 / 16 + 1 / 16))
    assert row["shannon"] == pytest.approx(-(0.75 * math.log(0.75) + 0.25 * math.log(0.25)))
    assert values(rows["Spending Habits", "people"], "profiles", "labels_per_profile", "simpson") == (1, 0, None)
    assert "People: users whose profile changed: 1" in notes_of("profiles", conversations)
    tops = rows_of("profile_values", conversations, "attribute", "side", "value")
    assert values(tops["Personality", "simulated", "calm"], "n", "of", "share") == (3, 3, 1)
    assert tops["Age", "simulated", "25-34"]["n"] == 3
    texts = [simulated(preference="1. Gender: Male\n2. Age: 30\n4. Personality: calm, kind")]
    assert ("Personality", "simulated", "kind") in rows_of("profile_values", texts, "attribute", "side", "value")


PUBLISHED = {
    1: (1, 1.0, 1.0),
    2: (316, 1.2089, 1.2911),
    3: (575, 1.3496, 1.6417),
    4: (452, 1.6018, 1.6416),
    5: (279, 1.7097, 1.6093),
    6: (138, 1.8043, 1.7246),
    7: (69, 1.7536, 1.7101),
    8: (15, 1.8667, 1.7333),
    9: (6, 1.6667, 1.3333),
    10: (5, 1.6, 1.2),
}
"""The published README table, of all 1,856 simulated conversations: n and the two means by turns."""


def test_the_open_eighth_agrees_with_the_published_table_as_a_sample_of_it_does(open_data: Any) -> None:
    """Points lie between 0 and 2, so the sum over the conversations that are not open has bounds."""
    rows = rows_of("quality_by_turns", recllmsim.read_folder(open_data / "recllmsim").conversations, "turns")
    assert sum(row["n"] for row in rows.values()) == 233
    for (turns,), row in rows.items():
        n, *means = PUBLISHED[turns]
        assert row["n"] <= n
        for mean, own in zip(means, values(row, "preference_alignment", "role_playing_completeness"), strict=True):
            left = mean * n - own * row["n"]
            assert -0.01 * n <= left <= 2 * (n - row["n"]) + 0.01 * n


@pytest.mark.heavy
@pytest.mark.parametrize("folder", ["recllmsim", "recllmsim_human_vs_agent"])
def test_every_table_of_the_open_data_has_rows_and_shares_that_add_up(open_data: Any, folder: str) -> None:
    report = recllmsim_tables(load(open_data / folder))
    value = json.loads(json.dumps(report.to_json(), allow_nan=False))
    assert [*value] == [*TABLES, "notes"]
    assert all(value[name] for name in TABLES)
    assert [row["conversations"] for row in value["counts"][:2]] == [233, 254]
    sums: dict[tuple[str, str, str], float] = {}
    for row in value["labels"]:
        key = row["label"], row["task"], row["side"]
        sums[key] = sums.get(key, 0) + row["share"]
    assert len(sums) > 50
    assert list(sums.values()) == pytest.approx([1] * len(sums))


NAMES = st.sampled_from(
    ["rating", "satisfaction", "questionnaire", "strategy", "solving", "profile_mapped", "chat_model", "intent", "hallucination", "final", "Personality", "Age", "age", "personality", "summary", "option", "zh", "en", ""]
)  # fmt: skip
ODD = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 9) | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.heavy
@settings(max_examples=20)
@drawn(st.dictionaries(NAMES, ODD, max_size=5), st.dictionaries(NAMES, ODD, max_size=3), st.dictionaries(NAMES, ODD))
def test_annotations_of_any_shape_are_counted_or_left_out_and_break_nothing(
    simulated: Made, person: Made, labels: Any, of_message: Any, profile: Any
) -> None:
    messages = {0: of_message, 1: of_message}
    conversations = [
        simulated("uaua", messages=messages, **labels),
        person("ua", messages=messages, profile=profile, **labels),
    ]
    json.dumps(recllmsim_tables(conversations).to_json(), allow_nan=False)
