"""How the embedded baseline turns what a profile or task says into what a person says."""

import pytest

from duologue.nodes.models.offline.facts import telling
from duologue.nodes.models.offline.voices import mine, yours


@pytest.mark.parametrize(
    ("attribute", "value", "told"),
    [
        ("travel_habits", "Prefers local travel", "I prefer local travel"),
        ("travel_habits", "Frequently travels for work", "I frequently travel for work"),
        ("dining_preferences", "Strictly vegan", "I am strictly vegan"),
        ("dining_preferences", "fast food lover", "I am a fast food lover"),
        ("daily_interests", "Video games", "I like video games"),
        ("occupation", "University Professor", "I work as a university professor"),
        ("occupation", "CEO of a startup", "I work as a CEO of a startup"),
        ("spending_habits", "High spender", "I am a high spender"),
        ("other_aspects", "studies at night and watches his money", "I study at night and watch my money"),
    ],
)
def test_a_value_is_told_in_the_first_person(attribute, value, told):
    assert telling(attribute, value, "en") == told


@pytest.mark.parametrize(
    ("you", "i"),
    [
        ("You plan to invite your friends to join you.", "I plan to invite my friends to join me."),
        ("You aren't very skilled", "I am not very skilled"),
        ("the activities you wish to engage in", "the activities I wish to engage in"),
        ("Your budget is yours to set.", "My budget is mine to set."),
    ],
)
def test_you_becomes_i(you, i):
    assert mine(you, "en") == i


def test_i_becomes_you():
    assert yours("I am fond of my dog, and it likes me.", "en") == "you are fond of your dog, and it likes you."
    assert yours("我养了一只老狗", "zh") == "您养了一只老狗"
