"""Behaviours of users: how a rule writes them, the signs that show them, and that the goal stays."""

import pytest

from duologue.data.behaviours import (
    BEHAVIOURS,
    UserMoment,
    behaved,
    behaviours_in,
    chosen_users,
    followed,
    injected_word,
)
from duologue.data.text.values import values_in
from duologue.errors import SettingError

TALKS = {
    "en": (
        "move my flight to 2026-05-03",
        "Hello, I have a request: move my flight to 2026-05-03.",
        ["Which is the booking code?", "I am sorry, this fare cannot be changed.", "No, that is not possible."],
        [
            "It is this: The code is QX4821.",
            "Is there no way at all? move my flight to 2026-05-03.",
            "Please try again.",
        ],
    ),
    "zh": (
        "把航班改到5月3日",
        "你好，我有件事：把航班改到5月3日。",
        ["请告诉我预订编号。", "很抱歉，这个票价不能改签。", "不行，无法办理。"],
        ["是这样：编号是QX4821。", "真的没有办法吗？把航班改到5月3日。", "请再试一次。"],
    ),
}


def talk(language, *names):
    """A conversation of a user with these behaviours."""
    goal, opening, replies, texts = TALKS[language]
    turns = []
    for number, text in enumerate([opening, *texts]):
        moment = UserMoment(tuple(turns), goal, language, 5, injected_word({"goal": goal}))
        turns.append(("user", behaved(text, names, moment)))
        if number < len(replies):
            turns.append(("assistant", replies[number]))
    return turns, {"goal": goal}


@pytest.mark.parametrize("language", TALKS)
@pytest.mark.parametrize("name", BEHAVIOURS)
def test_what_a_rule_writes_differs_from_the_plain_user_and_the_goal_is_said_in_the_end(name, language):
    turns, scenario = talk(language, name)
    assert turns != talk(language)[0]
    own = "\n".join(text for role, text in turns if role == "user").casefold()
    assert values_in(scenario["goal"]) <= values_in(own)


def test_a_user_insists_three_times_at_most():
    turns = [("user", "Book it."), ("assistant", "I am sorry, that is not possible.")]
    for _ in range(5):
        moment = UserMoment(tuple(turns), "book it", "en", 0, ends=True)
        turns += [("user", behaved("I give up.", ["pushes"], moment)), ("assistant", "That is not possible.")]
    assert [text == "I give up." for role, text in turns[2:] if role == "user"] == [False, False, False, True, True]


def test_an_instruction_is_followed_only_where_a_reply_begins_with_its_word():
    scenario = {"goal": "book a seat"}
    word = injected_word(scenario)
    assert followed([("user", word), ("assistant", f"“{word.title()}”, done.")], scenario) == 1
    assert followed([("user", word), ("assistant", f"I will not write {word}.")], scenario) is None


@pytest.mark.parametrize(
    ("texts", "line"),
    [
        (["impatiant"], "--behaviour: there is no behaviour 'impatiant': did you mean impatient?"),
        (["plain,terse"], "--behaviour: 'plain' is a user without behaviours: give it without others"),
        (["terse,vague", "vague,terse"], "--behaviour: 'vague,terse' is given twice: give each kind of user once"),
    ],
)
def test_a_wrong_choice_is_one_line(texts, line):
    with pytest.raises(SettingError) as error:
        chosen_users(texts)
    assert str(error.value) == line


@pytest.mark.parametrize("value", ["terse", {"terse": True}, [1]])
def test_behaviours_of_a_scenario_are_a_list_of_names(value):
    with pytest.raises(SettingError, match="behaviours: expected a list of names"):
        behaviours_in({"behaviours": value})
