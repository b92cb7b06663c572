"""Types of users, and the mixture of which each conversation draws one."""

from collections import Counter

import pytest

from duologue.errors import DataError, SettingError
from duologue.nodes.people import PeopleOptions, PeopleSpeaker
from duologue.nodes.people.turns import SourceConversation, SourceTurn
from duologue.nodes.people.user_types import UserMixture, mix_weights

pytest.importorskip("sklearn")


def donor(user: str, *texts: str) -> SourceConversation:
    messages = tuple(SourceTurn(number, "user", text) for number, text in enumerate(texts))
    return SourceConversation(f"of {user}", user, None, "tea", "tea", "", messages)


DONORS = [donor(f"brief {n}", "Tea?", "Mild?") for n in range(6)] + [
    donor(f"long {n}", "I would like to know all about the many kinds of tea that you have on offer today.")
    for n in range(3)
]


def test_the_types_are_ordered_by_message_length_and_weigh_as_many_people_as_they_have() -> None:
    mixture = UserMixture.of("2", DONORS, "talks")
    assert mixture.types == (0,) * 6 + (1,) * 3
    assert mixture.weights == (6 / 9, 3 / 9)


def test_conversations_draw_types_by_the_weights() -> None:
    mixture = UserMixture.of("1,3", DONORS, "talks")
    assert mixture.weights == (0.25, 0.75)
    drawn = Counter(mixture.drawn(number * 2**31 // 1000) for number in range(1000))
    assert abs(drawn[1] - 750) <= 1
    assert mixture.drawn(2**31 - 1) == 1


@pytest.mark.parametrize("mix", ["1", "0", "2.5", "many", "1,-1", "0,0", "1,nan", "21", ","])
def test_a_mix_that_is_no_number_of_types_and_no_weights_is_an_error(mix: str) -> None:
    with pytest.raises(SettingError, match="mix must be a number of types from 2 to 20, or a weight for each"):
        mix_weights(mix)
    with pytest.raises(SettingError, match="mix must be"):
        PeopleOptions(mix=mix)


def test_more_types_than_people_are_an_error() -> None:
    with pytest.raises(DataError, match="talks: has 9 users, and mix asks for 10 types"):
        UserMixture.of("10", DONORS, "talks")


def test_a_type_with_all_the_weight_comes_first(tmp_path) -> None:
    import json

    import duologue
    from duologue.graphs import agent_test

    lines = [
        {"user": one.user, "goal": "tea", "messages": [{"role": "user", "content": one.messages[0].text}]}
        for one in DONORS
    ]
    path = tmp_path / "talks.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    for mix, beginning in (("1,0", "Tea?"), ("0,1", "I would like")):
        user = PeopleSpeaker.of_spec(f"people:{path}?mix={mix}", "user")
        made = duologue.simulate(
            agent_test.cast(user=user, assistant=lambda _: "Yes."),
            [{"scenario": {"kind": "agent_test", "goal": "tea"}}],
        )
        assert made[0].messages[0].text.startswith(beginning)
