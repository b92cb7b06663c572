"""Ids and seeds: the same everywhere, and different where something differs."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.data.identity import ID_LENGTH, call_seed, conversation_id, digest, ordinals

texts = st.text(st.characters(), max_size=5)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
scenarios = st.dictionaries(texts, values, max_size=3)


def sha(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def test_a_digest_is_the_sha_256_of_canonical_json_in_every_process() -> None:
    assert digest("a", {"b": [1, 2.5, True, None], "a": "长\ud800"}) == sha(
        '["a",{"a":"\\u957f\\ud800","b":[1,2.5,true,null]}]'
    )


def test_an_id_is_made_of_cast_scenario_ordinal_and_repeat() -> None:
    name = conversation_id("simquac", {"kind": "simquac", "a": 1}, 2, 3)
    assert name == sha('["conversation","simquac",{"a":1,"kind":"simquac"},2,3]')[:ID_LENGTH]


@given(scenarios)
def test_a_scenario_that_went_through_json_keeps_its_id(scenario: dict[str, object]) -> None:
    assert conversation_id("a", json.loads(json.dumps(scenario))) == conversation_id("a", scenario)


def test_a_seed_is_made_of_run_conversation_role_turn_attempt_and_vote() -> None:
    expected = int(sha('["call",7,"abc","user",2,1,0]')[:8], 16) % 2**31
    assert call_seed(7, "abc", "user", 2, 1) == expected


@pytest.mark.parametrize(
    "other",
    [
        call_seed(8, "abc", "user", 2, 1),
        call_seed(7, "abd", "user", 2, 1),
        call_seed(7, "abc", "assistant", 2, 1),
        call_seed(7, "abc", "user", 3, 1),
        call_seed(7, "abc", "user", 2, 2),
        call_seed(7, "abc", "user", 2, 1, 1),
        call_seed(7, "abc", "user", 1, 2),
    ],
)
def test_a_second_attempt_or_another_place_is_not_the_first_again(other: int) -> None:
    assert call_seed(7, "abc", "user", 2, 1) != other


def test_equal_scenarios_are_numbered_in_their_order() -> None:
    numbers = ordinals([{"a": 1, "b": 2}, {"a": 2}, {"b": 2, "a": 1}, {"a": 1, "b": 2}])
    assert numbers == [0, 0, 1, 2]
