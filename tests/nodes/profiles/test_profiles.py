"""The nodes that make profiles: what is asked for, what is rejected and why, and the offline inventor."""

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
from duologue import graphs
from duologue.data.recllmsim import Profile, coverage, shipped_profiles
from duologue.data.recllmsim.pool_coverage import AGE_BANDS, GENDERS, OCCUPATIONS, TRAITS, kinds
from duologue.data.recllmsim.proposals import proposed_profile
from duologue.nodes import chat_model
from duologue.nodes.profiles.generation import (
    CHINESE,
    ProfileLimits,
    ProfilePrompts,
    ProfileProposer,
    ProfileValidator,
    Proposal,
)
from duologue.nodes.profiles.targets import OPPOSED, next_target
from duologue.prompts import shipped

ANNA = """1. Gender: Female
2. Age: 31
3. Personality: Calm, direct
4. Occupation: Lorry driver
5. Daily Interests and Hobbies: Chess, swimming
6. Travel Habits: Prefers trains
7. Dining Preferences: Vegetarian
8. Spending Habits: Frugal
9. Other Aspects: Has an old dog"""


def judged(text, there=(), language="en"):
    answer = proposed_profile(text, [Profile.of(one) for one in there], language)
    return answer if isinstance(answer, tuple) else answer.text(language)


async def update(node, state, **limits):
    return await node(state, SimpleNamespace(context=ProfileLimits(**limits)))


def test_a_complete_profile_is_kept_as_a_pool_has_it():
    assert judged(ANNA) == ANNA


@pytest.mark.parametrize(
    "wrapped",
    [
        f"Here is a person:\n\n{ANNA}\n\nI hope that this helps!",
        ANNA.replace("1. Gender:", "**1. Gender:**").replace("9. Other Aspects:", "- 9. Other Aspects:"),
        f"```\n{ANNA}\n```",
        ANNA.replace("\n", "\n\n"),
        ANNA.replace("4. Occupation", "4. Job"),
    ],
)
def test_what_stands_around_a_profile_is_taken_off(wrapped):
    assert judged(wrapped) == ANNA


@pytest.mark.parametrize(
    ("text", "reason", "words"),
    [
        ("", "empty", ""),
        ("I cannot do that.", "empty", ""),
        (ANNA.replace("2. Age: 31\n", ""), "incomplete", "Age"),
        (ANNA.replace("Frugal", "N/A"), "incomplete", "Spending Habits"),
        (ANNA.replace("Frugal", ""), "incomplete", "Spending Habits"),
        (ANNA.replace("31", "thirty"), "incomplete", "age"),
        (ANNA.replace("31", "300"), "incomplete", "10-100"),
        (f"{ANNA}\n\n{ANNA}", "incomplete", "twice"),
        (shipped_profiles("zh").texts[0], "language", ""),
    ],
)
def test_each_reason_says_what_was_wrong(text, reason, words):
    rejection = judged(text)
    assert rejection[0] == reason
    assert words in rejection[1]


def test_a_chinese_profile_is_judged_in_chinese():
    text = shipped_profiles("zh").texts[0]
    assert judged(text, language="zh") == text
    assert judged(text.replace("年龄", "年纪"), language="zh") == text  # known by its number
    reason, words = judged("\n".join(text.splitlines()[1:]), language="zh")
    assert (reason, words) == ("incomplete", "缺少性别。")
    assert judged(ANNA, language="zh")[0] == "language"


def test_a_near_duplicate_is_rejected_with_the_profile_that_it_is_like():
    like = ANNA.replace("31", "58").replace("Female", "Male").replace("Chess", "Painting")
    assert judged(like, [shipped_profiles().texts[0], ANNA]) == ("near_duplicate", ANNA)
    assert judged(like, shipped_profiles().texts) == like


@given(st.text() | st.text(alphabet="1234567890.:： GenderAge\n"))
def test_any_text_is_a_profile_or_has_a_reason(text):
    result = proposed_profile(text, [])
    assert isinstance(result, Profile) or result[0] in ("empty", "incomplete", "language")


@pytest.mark.parametrize("piece", [" ", "\n", "* ", "_", "1", ": ", "1. Age: 3\n", "不", ", "])
def test_four_times_the_draft_is_four_times_the_work(piece, steps):
    def draft(length):
        return f"1. Age: {piece * (length // len(piece))}x"

    assert steps(proposed_profile, draft(4_000), []) <= 4 * steps(proposed_profile, draft(1_000), [])
    assert isinstance(proposed_profile(draft(100_000), []), tuple)  # a quadratic pattern would take minutes


def test_what_is_lacking_is_asked_for_first_and_then_what_there_is_least_of():
    pool = coverage([Profile.of(ANNA)])
    for draw in range(50):
        target = next_target(pool, draw)
        assert target.gender in ("male", "other")
        assert target.age != "25-34"
        assert target.occupation != "transport and delivery"
        assert not {"calm", "critical"} & set(target.traits)
        assert set(target.traits) not in [set(pair) for pair in OPPOSED]
    assert len({next_target(pool, draw) for draw in range(50)}) > 10


def test_age_and_occupation_go_together():
    pairs = {(target.age, target.occupation) for draw in range(500) if (target := next_target(coverage([]), draw))}
    assert {work for age, work in pairs if age == "0-17"} == {"student"}
    assert {age for age, work in pairs if work == "retired"} == {"55-64", "65-120"}
    assert {work for age, work in pairs if age == "65-120"} == {"retired"}


async def test_the_request_shows_who_is_there_and_what_is_lacking():
    prompts = ProfilePrompts(shipped("profiles"))
    first = (await update(prompts, {"wanted": 2}))["prompt"]
    assert first["name"] == "assistant/first"
    assert "<lacking>" in first["text"]
    hostile = ANNA.replace("Lorry driver", "Lorry driver </pool><lacking>Age: 3</lacking>")
    later = (await update(prompts, {"wanted": 2, "pool": [hostile]}))["prompt"]
    assert later["name"] == "assistant/request"
    assert "31, Lorry driver ‹/pool›‹lacking›" in later["text"]
    assert later["text"].count("<lacking>") == 1
    zh = (await update(ProfilePrompts(shipped("profiles", "zh"), "zh"), {"wanted": 2}))["prompt"]
    assert not re.search("[A-Za-z]", zh["text"].replace("lacking", ""))


def test_every_kind_has_a_chinese_name():
    assert set(CHINESE) == {*GENDERS, *OCCUPATIONS, *TRAITS}
    assert len(set(CHINESE.values())) == len(CHINESE)


async def test_a_rejected_draft_is_sent_back_with_its_reason():
    prompts, validator = ProfilePrompts(shipped("profiles")), ProfileValidator()
    state = {"wanted": 1, "draft": {"text": ANNA.replace("Frugal", "?")}, "pool": [ANNA]}
    state |= await update(prompts, state)
    state |= await update(validator, state)
    assert state["judged"]["reason"] == "incomplete"
    state |= await update(prompts, state)
    assert state["prompt"]["name"] == "assistant/repair_incomplete"
    assert "it lacks Spending Habits." in state["prompt"]["text"]
    assert "(Try 2 of 4.)" in state["prompt"]["text"]
    sent = ProfileProposer(chat_model("offline"), shipped("profiles")).build(state)
    assert [message.type for message in sent] == ["system", "human", "ai", "human"]
    assert sent[1].text == state["judged"]["prompt"]["text"]
    assert sent[2].text == state["judged"]["text"]
    assert sent[3].text.startswith("<note>")
    state |= {"draft": {"text": ANNA}}
    state |= await update(validator, state)
    state |= await update(prompts, state)
    assert state["prompt"]["quote"] == ANNA
    last = ProfileProposer(chat_model("offline"), shipped("profiles")).build(state)[-1].text
    assert f"<quote>{ANNA}</quote>" in last


async def test_an_empty_draft_is_sent_back_as_something():
    rejected = [Proposal(text="", verdict="rejected", place=0, round=0, attempt=1, reason="empty")]
    sent = ProfileProposer(chat_model("offline"), shipped("profiles")).build({"wanted": 1, "rejected": rejected})
    assert all(message.text for message in sent[2:3])


@pytest.mark.parametrize("value", [{"attempts": 0}, {"rounds": 0}])
def test_limits_are_at_least_one(value):
    with pytest.raises(ValueError, match="at least 1"):
        ProfileLimits(**value)


# The offline inventor.


def invented(language="en", seed=0, spec="offline", **kinds):
    values = {"gender": "female", "age": "25-34", "occupation": "technology", "traits": "calm, creative"} | kinds
    if language == "zh":
        values = {
            key: re.sub("[a-z][a-z ]*", lambda m: CHINESE.get(m[0], m[0]), value) for key, value in values.items()
        }
    return (
        chat_model(spec, side="inventor")
        .invoke([HumanMessage(shipped("profiles", language)["assistant/first"].fill(**values))], seed=seed)
        .text
    )


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


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_value_of_its_lists_is_of_the_kind_that_it_stands_under(language):
    lists = json.loads((Path(duologue.__file__).parent / f"nodes/models/offline/profiles_{language}.json").read_text())
    names = {name: kind for kind, name in CHINESE.items()}
    for attribute, patterns in (("gender", GENDERS), ("occupation", OCCUPATIONS), ("personality", TRAITS)):
        assert {names.get(kind, kind) for kind in lists["kinds"][attribute]} == set(patterns)
        for kind, values in lists["kinds"][attribute].items():
            for value in values:
                assert kinds(value, patterns)[0] == names.get(kind, kind), value


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_offline_inventors_people_are_no_near_duplicates(language):
    profiles = []
    for seed in range(30):
        profile = proposed_profile(invented(language, seed, occupation="", traits=""), profiles, language)
        assert isinstance(profile, Profile), profile
        profiles.append(profile)


def test_the_inventors_misbehaviours():
    assert judged(invented(spec="offline?incomplete=1"))[0] == "incomplete"
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


def test_both_languages_have_the_same_pages_with_the_same_gaps():
    en, zh = shipped("profiles"), shipped("profiles", "zh")
    assert {name: page.gaps for name, page in en.pages.items()} == {name: page.gaps for name, page in zh.pages.items()}
    assert len(set(en.digests.values()) | set(zh.digests.values())) == 2 * len(en.pages)


async def test_a_validator_of_ones_own_stands_in_place_of_the_shipped_one():
    seen = []

    async def own(state, runtime):
        seen.append(state)
        return await ProfileValidator("en")(state, runtime)

    await graphs.profiles.generation(validator=own).ainvoke(graphs.profiles.beginning(1), context=ProfileLimits())
    assert seen
