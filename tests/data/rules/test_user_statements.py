"""Statements of a user in a log: what they hold, in its own words, and what they leave out."""

import pytest

from duologue.data.rules.user_statements import statements


@pytest.mark.parametrize(
    "text",
    [
        "It's QX4821.",
        "Okafor",
        "2",
        "None.",
        "No allergies",
        "Mr. Lee at 19.30",
        "To 7 June please, and I'd like a window seat.",
        "Thanks, a window seat please.",
        "Could you make it 7 June?",
        "Can you book the Hilton instead?",
        "see http://a.example/c?x=1 for it",
        "First line\nsecond line",
        "订单号是 TR9310。",
        "改到六月七日，最好靠窗。",
        "能不能换成靠窗的？",
        "是的，靠窗",
        "没有过敏",
    ],
)
def test_a_message_with_content_is_a_statement_in_its_own_words(text):
    assert statements([text]) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Yes.",
        "Yes, that's right.",
        "OK, go ahead!",
        "Great, thank you! Goodbye.",
        "I give up, goodbye.",
        "Never mind, bye.",
        "What else do you need?",
        "Hello, are you there?",
        "谢谢，再见。",
        "好的，可以。",
        "有什么推荐吗？",
    ],
)
def test_thanks_goodbyes_a_mere_yes_and_questions_are_none(text):
    assert statements([text]) == []


def test_of_a_message_the_sentences_with_content_stay_and_equal_messages_count_once():
    texts = ["Great. My name is Ann Lee. What are your hours?", "My name is Ann Lee.", "好的。我姓李。几点开门？"]
    assert statements(texts) == ["My name is Ann Lee.", "我姓李。"]
