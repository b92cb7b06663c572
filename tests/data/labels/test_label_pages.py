"""The shipped label definitions: each open value belongs to one, and is stored in the published shape and order."""

import json
from functools import cache
from pathlib import Path

import pytest

from duologue.data.recllmsim.published_labels import label_of, published
from duologue.data.records import Label, Message
from duologue.prompts.label_pages import shipped_labels

SEED = Path(__file__).parents[4] / "shared" / "seed-data"
open_data = pytest.mark.skipif(not SEED.is_dir(), reason="the open published data is not in ../shared/seed-data")
SIDES = {"simulated": "LLM_agent_user", "people": "real_human_user", "people_v2": "human_exp_V2"}


@cache
def files(study, side):
    paths = sorted((SEED / study / SIDES[side]).glob("**/*.json"))
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def check(label, holder):
    """Whether the object holds the label: then its value is valid and is published again as it stands there."""
    there = {key: holder[key] for key in label.keys if key in holder}
    labels = {key: label_of(key, stored) for key, stored in there.items()}
    value = label.value_in(Message(role="user", text="", labels={} if label.translates else labels, extra=there))
    if value is None:
        return False
    assert label.problems(value) == [], value
    again = {key: published(key, one) for key, one in label.as_labels(Label(value=value)).items()}
    assert json.dumps(again) == json.dumps(there)
    return True


@open_data
@pytest.mark.parametrize(
    ("name", "study", "side", "count"),
    [
        ("intent", "recllmsim", "simulated", 870),
        ("intent_people", "recllmsim", "people", 155),
        ("hallucination", "recllmsim", "simulated", 871),
        ("hallucination_people", "recllmsim", "people", 155),
        ("hallucination_people", "recllmsim", "people_v2", 953),
        ("satisfaction", "recllmsim", "people_v2", 953),
        ("translation", "recllmsim", "simulated", 1741),
    ],
)
def test_every_open_label_of_a_message_is_a_value_of_its_page_and_is_stored_as_published(name, study, side, count):
    label = shipped_labels()[name]
    turns = [turn for holder in files(study, side) for turn in holder["history"] if label.role in (None, turn["role"])]
    assert sum(check(label, turn) for turn in turns) == len(turns) == count


@open_data
@pytest.mark.parametrize(
    ("name", "study", "side", "count"),
    [
        ("conflict", "recllmsim", "simulated", 233),
        ("preference_summary", "recllmsim", "simulated", 233),
        ("questionnaire", "recllmsim", "people", 35),
        ("questionnaire", "recllmsim", "people_v2", 219),
        ("questionnaire", "recllmsim_human_vs_agent", "people_v2", 219),
        ("rating", "recllmsim", "simulated", 233),
        ("rating", "recllmsim_human_vs_agent", "simulated", 233),
        ("satisfaction_conversation", "recllmsim_human_vs_agent", "simulated", 233),
        ("profile_mapped", "recllmsim", "simulated", 233),
        ("profile_mapped", "recllmsim_human_vs_agent", "simulated", 233),
        ("translation_context", "recllmsim", "simulated", 233),
        ("translation_preference", "recllmsim", "simulated", 233),
    ],
)
def test_every_open_label_of_a_conversation_is_a_value_of_its_page_and_is_stored_as_published(name, study, side, count):
    label = shipped_labels()[name]
    assert sum(check(label, holder) for holder in files(study, side)) == count


@open_data
def test_the_closed_list_is_the_published_one_in_both_languages():
    words = json.loads((SEED / "recllmsim" / "desc_translated.json").read_text(encoding="utf-8"))
    people, simulated = shipped_labels()["profile_mapped_people"], shipped_labels()["profile_mapped"]
    in_english = [part for name, part in simulated.parts.items() if name not in ("Gender", "Age")]
    assert len(in_english) == len(words)
    for (attribute, translated), part in zip(words.items(), in_english, strict=True):
        assert people.parts[attribute].values == tuple(translated)
        assert part.values == tuple(translated.values())
        for chinese, english in translated.items():
            both = {"Personality": {"en": english, "zh": chinese}}
            assert published("profile_mapped", Label(value={"Personality": english})) == both


@pytest.mark.parametrize("name", sorted(shipped_labels()))
def test_a_page_defines_each_of_its_values_by_name(name):
    label = shipped_labels()[name]
    for part_name, part in label.parts.items():
        closed_list = name.startswith("profile_")
        for value in () if closed_list else part.values:
            word = str(value).lower() if isinstance(value, bool) else str(value)
            assert word in label.definition, (part_name, word)
        if part.scale is not None and not closed_list:
            assert f"{part.scale[0]}" in label.definition
    assert "xample" in label.definition or '"' in label.definition or "「" in label.definition
