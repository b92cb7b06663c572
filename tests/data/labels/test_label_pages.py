"""The shipped label definitions: each open value belongs to one, and is stored in the published shape and order."""

import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from duologue.prompts.label_pages import shipped_labels

SEED = Path(__file__).parents[4] / "shared" / "seed-data"
open_data = pytest.mark.skipif(not SEED.is_dir(), reason="the open published data is not in ../shared/seed-data")
SIDES = {"simulated": "LLM_agent_user", "people": "real_human_user", "people_v2": "human_exp_V2"}


@cache
def files(study, side):
    paths = sorted((SEED / study / SIDES[side]).glob("**/*.json"))
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def check(label, holder):
    """Whether the object holds the label: then its value is valid and is stored again as it stands there."""
    value = label.value_in(holder)
    if value is None:
        return False
    assert label.problems(value) == [], value
    again = label.stored(value)
    published = {key: holder[key] for key in label.keys if key in holder}
    assert json.dumps(again) == json.dumps(published)
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
def test_every_profile_of_a_person_is_in_the_words_of_the_closed_list():
    label = shipped_labels()["profile_mapped_people"]
    for side in ("people", "people_v2"):
        for holder in files("recllmsim", side):
            profile = {key: value for key, value in holder["profile"].items() if key in label.parts}
            assert check(label, {"profile_mapped": profile})


@open_data
def test_the_closed_list_is_the_published_one_in_both_languages():
    words = json.loads((SEED / "recllmsim" / "desc_translated.json").read_text(encoding="utf-8"))
    people, simulated = shipped_labels()["profile_mapped_people"], shipped_labels()["profile_mapped"]
    in_english = [part for name, part in simulated.parts.items() if name not in ("Gender", "Age")]
    assert len(in_english) == len(words)
    for (attribute, translated), part in zip(words.items(), in_english, strict=True):
        assert people.parts[attribute].values == tuple(translated)
        assert part.pair == {english: chinese for chinese, english in translated.items()}
        assert part.values == tuple(translated.values())


@open_data
def test_every_vote_of_the_first_taxonomy_comes_back_in_the_published_shape_and_order():
    label = shipped_labels()["behaviour_first"]
    seen = Counter[str]()
    for side in SIDES:
        for holder in files("recllmsim", side):
            finals = label.value_in(holder)
            votes = [label.value_in(holder, number) for number in "123"]
            for key, stored in label.voted(finals, votes).items():
                if key not in holder:  # the newer study has two of the three objects
                    continue
                assert json.dumps(stored) == json.dumps(holder[key])
                seen[key] += 1
            for value in (finals, *votes):
                problems = [problem for problem in label.problems(value) if not problem.endswith("is missing")]
                assert problems == []
    assert seen == {"strategy": 487, "strategy_V2": 268, "strategy_V3": 487}


@pytest.mark.parametrize("name", sorted(shipped_labels()))
def test_a_page_defines_each_of_its_values_by_name(name):
    label = shipped_labels()[name]
    for part_name, part in label.parts.items():
        closed_list = part.pair is not None or name in ("profile_mapped_people", "profile")
        for value in () if closed_list else part.values:
            word = str(value).lower() if isinstance(value, bool) else str(value)
            assert word in label.definition, (part_name, word)
        if part.scale is not None and not closed_list:
            assert f"{part.scale[0]}" in label.definition
    assert "xample" in label.definition or '"' in label.definition or "「" in label.definition
