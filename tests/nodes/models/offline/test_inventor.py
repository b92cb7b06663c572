"""The offline inventor of profiles."""

import re
from collections import Counter

import pytest
from langchain_core.messages import HumanMessage

from duologue.data.recllmsim import Profile
from duologue.data.recllmsim.profiles import AGE_BANDS, GENDERS, OCCUPATIONS, TRAITS, kinds, proposed_profile
from duologue.nodes import chat_model
from duologue.nodes.profiles import CHINESE
from duologue.prompts import shipped


def invented(language="en", seed=0, spec="offline", **kinds):
    values = {"gender": "female", "age": "25-34", "occupation": "technology", "traits": "calm, creative"} | kinds
    if language == "zh":
        values = {
            key: re.sub("[a-z][a-z ]*", lambda m: CHINESE.get(m[0], m[0]), value) for key, value in values.items()
        }
    text = shipped("profiles", language)["assistant/first"].fill(**values)
    return chat_model(spec, side="inventor").invoke([HumanMessage(text)], seed=seed).text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_offline_inventor_writes_complete_profiles_of_the_kinds_asked_for(language):
    for number, (first, last) in enumerate(AGE_BANDS):
        occupation = list(OCCUPATIONS)[number * 2]
        text = invented(language, number, age=f"{first}-{last}", occupation=occupation, gender="other")
        profile = proposed_profile(text, [], language)
        assert isinstance(profile, Profile), profile
        assert first <= profile.age <= last
        assert kinds(profile.gender, GENDERS)[0] == "other"
        assert kinds(profile.occupation, OCCUPATIONS)[0] == occupation
        assert {"calm", "creative"} <= set(kinds(profile.personality, TRAITS))
    profiles = []  # and no near-duplicates
    for seed in range(30):
        profile = proposed_profile(invented(language, seed, occupation="", traits=""), profiles, language)
        assert isinstance(profile, Profile), profile
        profiles.append(profile)


def test_the_inventors_misbehaviours():
    assert proposed_profile(invented(spec="offline?incomplete=1"), [])[0] == "incomplete"
    assert invented(spec="offline?empty=1") == ""
    assert "<think>" in invented(spec="offline?reasoning=1")
    same = {invented(seed=seed, age=age, spec="offline?repeat=1") for seed, age in enumerate(["18-24", "55-64"])}
    assert len(same) == 1
    odd = Counter(invented(seed=seed) != invented(seed=seed, spec="offline?misbehave=0.2") for seed in range(100))
    assert 12 < odd[True] < 28
