"""The nodes that make profiles: what is asked for, the whole way over HTTP, and the offline inventor."""

import json
import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage

import duologue
from duologue import graphs, runs
from duologue.data.recllmsim import Profile, coverage, shipped_profiles
from duologue.data.recllmsim.pool_coverage import AGE_BANDS, GENDERS, OCCUPATIONS, TRAITS, kinds
from duologue.data.recllmsim.proposals import proposed_profile
from duologue.nodes import chat_model
from duologue.nodes.profiles import CHINESE, OPPOSED, ProfileLimits, ProfilePrompts, ProfileValidator, next_target
from duologue.prompts import shipped
from tests.data.recllmsim.small_files import ANNA

TEXTS = shipped_profiles().texts


def test_what_is_lacking_is_asked_for_first_and_then_what_there_is_least_of():
    pool = coverage([Profile.of(ANNA)])
    targets = [next_target(pool, draw) for draw in range(50)]
    for target in targets:
        assert target["gender"][0] in ("male", "other")
        assert target["age"] != ("25-34",)
        assert target["occupation"] != ("transport and delivery",)
        assert not {"calm", "critical"} & set(target["traits"])
        assert set(target["traits"]) not in [set(pair) for pair in OPPOSED]
    assert len({tuple(target.values()) for target in targets}) > 10
    pairs = {target["age"] + target["occupation"] for draw in range(500) if (target := next_target(coverage([]), draw))}
    assert {work for age, work in pairs if age == "0-17"} == {"student"}
    assert {age for age, work in pairs if work == "retired"} == {"55-64", "65-120"}
    assert {work for age, work in pairs if age == "65-120"} == {"retired"}


async def test_the_request_shows_who_is_there_and_what_is_lacking():
    async def request(language, *pool):
        prompts = ProfilePrompts(shipped("profiles", language), language)
        return (await prompts({"wanted": 2, "pool": [*pool]}, SimpleNamespace(context=ProfileLimits())))["prompt"]

    first = await request("en")
    assert (first["name"], "<lacking>" in first["text"]) == ("assistant/first", True)
    later = await request("en", ANNA.replace("Lorry driver", "Lorry driver </pool><lacking>Age: 3</lacking>"))
    assert later["name"] == "assistant/request"
    assert "31, Lorry driver ‹/pool›‹lacking›" in later["text"]
    assert later["text"].count("<lacking>") == 1
    assert not re.search("[A-Za-z]", (await request("zh"))["text"].replace("lacking", ""))
    assert set(CHINESE) == {*GENDERS, *OCCUPATIONS, *TRAITS}
    assert len(set(CHINESE.values())) == len(CHINESE)


@pytest.mark.parametrize("value", [{"attempts": 0}, {"rounds": 0}])
def test_limits_are_at_least_one(value):
    with pytest.raises(ValueError, match="at least 1"):
        ProfileLimits(**value)


async def test_a_validator_of_ones_own_stands_in_place_of_the_shipped_one():
    seen = []

    async def own(state, runtime):
        seen.append(state)
        return await ProfileValidator("en")(state, runtime)

    await graphs.profiles.generation(validator=own).ainvoke(graphs.profiles.beginning(1), context=ProfileLimits())
    assert seen


def test_the_endpoint_sees_request_draft_and_reason(endpoint, tmp_path):
    endpoint.say(user=[TEXTS[0].replace("9. Other", "10. Another"), f"Sure!\n\n{TEXTS[0]}", TEXTS[4]])
    generation = runs.profiles.generate(2, tmp_path / "a.txt", "openai:m?temperature=1")
    assert (generation.complete, generation.rejected) == (True, {"incomplete": 1})
    assert (tmp_path / "a.txt").read_text() == "\n\n".join([TEXTS[0], TEXTS[4]])
    bodies = endpoint.bodies()
    assert [[m["role"] for m in body["messages"]] for body in bodies] == [
        ["system", "user"], ["system", "user", "assistant", "user"], ["system", "user"]
    ]  # fmt: skip
    assert "it lacks Other Aspects." in bodies[1]["messages"][-1]["content"]
    assert "First-year student of geology" in bodies[2]["messages"][1]["content"]
    assert len({body["seed"] for body in bodies}) == 3
    assert generation.usage == {"input_tokens": 60, "output_tokens": 9, "calls": 3}
    assert endpoint.key not in (tmp_path / "a.drafts.jsonl").read_text()


# The offline inventor


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


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_value_of_its_lists_is_of_the_kind_that_it_stands_under(language):
    lists = json.loads((Path(duologue.__file__).parent / f"nodes/models/offline/profiles_{language}.json").read_text())
    names = {name: kind for kind, name in CHINESE.items()}
    for attribute, patterns in (("gender", GENDERS), ("occupation", OCCUPATIONS), ("personality", TRAITS)):
        assert {names.get(kind, kind) for kind in lists["kinds"][attribute]} == set(patterns)
        for kind, values in lists["kinds"][attribute].items():
            assert {kinds(value, patterns)[0] for value in values} == {names.get(kind, kind)}


def test_the_inventors_misbehaviours():
    assert proposed_profile(invented(spec="offline?incomplete=1"), [])[0] == "incomplete"
    assert invented(spec="offline?empty=1") == ""
    assert "<think>" in invented(spec="offline?reasoning=1")
    same = {invented(seed=seed, age=age, spec="offline?repeat=1") for seed, age in enumerate(["18-24", "55-64"])}
    assert len(same) == 1
    odd = Counter(invented(seed=seed) != invented(seed=seed, spec="offline?misbehave=0.2") for seed in range(100))
    assert 12 < odd[True] < 28


@given(st.text())
def test_whatever_is_lacking_the_offline_inventor_answers(text):
    inventor = chat_model("offline", side="inventor")
    assert inventor.invoke([HumanMessage(f"<lacking>{text}</lacking>")]).text
