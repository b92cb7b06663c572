"""Profiles: pools as text, records, draws, and what a pool covers."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from duologue.data.recllmsim import (
    Profile,
    Situation,
    coverage,
    near_duplicate,
    read_folder,
    read_pool,
    shipped_profiles,
)
from duologue.data.recllmsim.profiles import FIELDS, similarity

ONE = Profile(
    gender="Female",
    age=40,
    personality="Calm, kind, and curious",
    occupation="Tea seller",
    daily_interests="Reading novels",
    travel_habits="Walks",
    dining_preferences="Vegan",
    spending_habits="Saves",
    other_aspects="Has a cat",
)


def pool(text: str) -> Path:
    Path("pool.txt").write_text(text, encoding="utf-8", newline="")
    return Path("pool.txt")


def test_the_published_pool_has_100_profiles_of_which_85_differ(open_data: Path) -> None:
    path = open_data / "recllmsim/preference_pool_en.txt"
    published = read_pool(path)
    assert (len(published), len(set(published.texts))) == (100, 85)
    assert list(published.texts) == path.read_text().split("\n\n")
    assert [profile.text("en") for profile in published.profiles] == path.read_text().split("\n\n")
    situations = [
        Situation.of(conversation)
        for conversation in read_folder(open_data / "recllmsim" / "LLM_agent_user").conversations
    ]
    assert len(situations) == 233
    assert all(published.texts[int(s.preference_id or 0)] == s.preference for s in situations)


values = st.text(st.characters(categories=("L", "N")), min_size=1, max_size=6)


@given(st.lists(values, min_size=8, max_size=8), st.integers(0, 120), st.sampled_from(["en", "zh"]))
def test_a_record_comes_back_from_its_text(texts: list[str], age: int, language: str) -> None:
    names = [key for key in FIELDS if key != "age"]
    profile = Profile(age=age, **dict(zip(names, texts, strict=True)))
    assert Profile.of(profile.text(language)) == profile


def test_the_shipped_pools_hold_the_same_people() -> None:
    english, chinese = shipped_profiles("en"), shipped_profiles("zh")
    assert (english.language, chinese.language) == ("en", "zh")
    assert len(english) == len(chinese) == 14
    assert [profile.age for profile in english.profiles] == [profile.age for profile in chinese.profiles]
    for one, other in zip(english.texts, chinese.texts, strict=True):
        facts = [
            Situation(language=language, task="t", task_context="c", preference=text).facts
            for language, text in (("en", one), ("zh", other))
        ]
        assert all(len({attribute for attribute, _ in facts_of_person}) == 9 for facts_of_person in facts)
    for pool in (english, chinese):
        assert len(set(pool.texts)) == len(pool)
        assert [near_duplicate(p, pool.profiles[:n]) for n, p in enumerate(pool.profiles)] == [None] * 14


def test_coverage_tells_what_a_pool_has_and_lacks() -> None:
    of_pool = coverage(
        [ONE, ONE.model_copy(update={"gender": "男", "age": 70, "occupation": "退休教师", "personality": "内向"})]
    )
    assert of_pool.ages == {"0-17": 0, "18-24": 0, "25-34": 0, "35-44": 1, "45-54": 0, "55-64": 0, "65-120": 1}
    assert of_pool.genders == {"female": 1, "male": 1, "other": 0}
    assert {kind: count for kind, count in of_pool.occupations.items() if count} == {"retired": 1, "other": 1}
    assert {kind: count for kind, count in of_pool.traits.items() if count} == {
        "reserved": 1,
        "calm": 1,
        "warm": 1,
        "creative": 1,
    }
    assert "45-54" in of_pool.lacking["ages"]
    assert "genders" not in of_pool.lacking
    assert coverage([]).profiles == 0


def test_the_shipped_and_the_published_pool_in_numbers(open_data: Path) -> None:
    published = coverage(read_pool(open_data / "recllmsim/preference_pool_en.txt").profiles)
    assert published.genders == {"female": 50, "male": 50, "other": 0}
    assert (published.ages["65-120"], published.ages["0-17"]) == (2, 0)
    shipped = [coverage(shipped_profiles(language).profiles) for language in ("en", "zh")]
    assert shipped[0].occupations == shipped[1].occupations
    assert shipped[0].lacking["ages"] == ("0-17",)


def test_a_profile_with_other_age_and_gender_is_a_near_duplicate() -> None:
    twin = ONE.model_copy(update={"age": 20, "gender": "Male", "other_aspects": "Has a dog"})
    other = shipped_profiles().profiles[0]
    assert near_duplicate(twin, [other, ONE]) == 1
    assert near_duplicate(other, [ONE]) is None
    assert near_duplicate(ONE, []) is None
    assert similarity(ONE, ONE) == 1.0
    chinese = shipped_profiles("zh").profiles
    assert similarity(chinese[0], chinese[0].model_copy(update={"occupation": "学生"})) > 0.8
