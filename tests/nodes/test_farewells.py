"""Which messages of a user take leave in its own words, and which only look so."""

import pytest

from duologue.nodes.goodbyes import Ending

ENDINGS = (
    "Great, that is all I needed. Bye!",
    "Perfect, thanks. Have a nice day!",
    "That's everything, thank you so much.",
    "Goodbye and thanks for the help.",
    "I don’t need anything else, thank you.",
    "Thank you for your help goodbye",
    '"Thank you, goodbye."',
    "**Goodbye!** 👋",
    "My booking code was QX4821. All good now.\n\nBye-bye!",
    "I'll write again if I need anything. Goodbye!",
    "It took a while, but it is done. See you!",
    "我想说谢谢，再见。",
    "没有别的了，谢谢。",
    "太好了，谢谢您的帮助！祝您生活愉快！",
    "我先走了，谢谢。",
)
NO_ENDINGS = (
    "Thanks!",
    "Bye! Actually, one more thing: what does it cost?",
    "Don't say goodbye yet, I am still here.",
    'The agent said "goodbye" and hung up.',
    "My colleague said goodbye before it was booked.",
    "I need a goodbye present for a friend.",
    "The code is QX4821 and the date is 3 May. That's all.",
    "Before I go, what is the fee?",
    "Once you have moved it, I'll say goodbye.",
    "Thanks, bye! But the date is still wrong.",
    "Please take care of the rest.",
    "I'll see you at the desk if you tell me where it is.",
    "I need to move my flight. Bye",
    "还有别的航班吗？没有的话就再见。",
    "再见之前，请告诉我费用。",
    "他说“再见”就走了。",
    "订单号是AB1234，就这些。",
)
GIVEN_UP = (
    "I give up, goodbye.",
    "Forget it. Bye.",
    "That did not help at all. Goodbye.",
    "A pity that you could not help. Bye.",
    "我放弃了，再见。",
)


@pytest.mark.parametrize(("reason", "texts"), [("user_ended", ENDINGS), (None, NO_ENDINGS), ("user_gave_up", GIVEN_UP)])
def test_a_message_that_takes_leave_and_asks_nothing_more_ends_the_talk(reason, texts) -> None:
    ending = Ending(any_goodbye=True, may_give_up=True)
    assert {text: ending.reason(text) for text in texts} == dict.fromkeys(texts, reason)


def test_the_published_rule_is_as_it_was() -> None:
    published = Ending()
    assert published.reason("Thank you. I shall not say goodbye yet.") == "user_ended"
    assert published.reason("Goodbye.") is None
    assert (published.strict, published.may_give_up) == (False, False)
