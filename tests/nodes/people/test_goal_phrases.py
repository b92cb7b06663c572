"""Turns of a source conversation with the phrases of another goal, or refused."""

import pytest

from duologue.nodes.people.goal_phrases import NO_PHRASES, phrases_between

GIFT = "You want a birthday gift for your father/mother, with a budget of 50 dollars. Ask the assistant for ideas."
WEDDING = (
    "You want a wedding gift for your friend/colleague, with a budget of 200 dollars. Ask the assistant for ideas."
)
VISIT = "You need a visa for a long stay abroad, and have lost the letter of your bank."


def test_a_clause_of_the_goal_is_said_as_that_of_the_goal_here() -> None:
    phrases = phrases_between(GIFT, WEDDING)
    adapted = phrases.fitted("I want a birthday gift for my father, any ideas?", "")
    assert adapted == (
        "I want a wedding gift for my friend, any ideas?",
        (("I want a birthday gift for my father", "I want a wedding gift for my friend"),),
    )


def test_a_word_of_the_goal_is_replaced_by_the_word_in_its_place() -> None:
    phrases = phrases_between(GIFT, WEDDING)
    assert dict(phrases.words)["birthday"] == "wedding"
    adapted = phrases.fitted("Something for a birthday that he can wear every single day", "")
    assert adapted is not None
    assert adapted[0] == "Something for a wedding that he can wear every single day"


def test_a_turn_with_a_word_that_nothing_here_stands_for_is_refused_until_somebody_has_said_it() -> None:
    phrases = phrases_between(
        "You want a gift for your teacher at the end of school. It should be cheap.",
        "You want a gift. It should be cheap.",
    )
    assert "teacher" in phrases.foreign
    assert phrases.fitted("My teacher likes tea.", "") is None
    assert phrases.fitted("My teacher likes tea.", "Is it for a teacher?") == ("My teacher likes tea.", ())


@pytest.mark.parametrize("goal", [GIFT, VISIT, ""])
def test_goals_that_are_equal_or_have_little_in_common_change_nothing(goal: str) -> None:
    assert phrases_between(GIFT, goal) == NO_PHRASES
    assert NO_PHRASES.fitted("A gift for my father", "") == ("A gift for my father", ())


@pytest.mark.heavy
def test_chinese_goals() -> None:
    pytest.importorskip("jieba")
    own = "假设现在是春节期间，你打算在家中做4-5个菜和父母一起吃。为此你想要找大语言模型帮忙制定菜谱。"
    here = "假设现在是周末，你打算做1-2个菜自己一个人吃。为此你想要找大语言模型帮忙制定菜谱。"
    adapted = phrases_between(own, here).fitted("我打算做4-5个菜和父母一起吃，有什么推荐吗", "")
    assert adapted is not None
    assert adapted[0] == "我打算做1-2个菜自己一个人吃，有什么推荐吗"
    assert phrases_between(own, here).fitted("父母喜欢吃鱼", "") is None
