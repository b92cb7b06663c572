"""Which messages of a user take leave in its own words, and which only look so."""

import pytest

from duologue.nodes.goodbyes import Ending

ENDINGS = (
    "Thanks a lot, goodbye!",
    "Great, that is all I needed. Bye!",
    "Goodbye.",
    "Thank you! Good bye.",
    "Thank you, goodbye.",
    "Perfect, thanks. Have a nice day!",
    "Bye",
    "ok bye",
    "Okay, bye for now!",
    "That's everything, thank you so much.",
    "No, nothing else. Thank you.",
    "I'm all set, thanks!",
    "Goodbye and thanks for the help.",
    "No more questions from me. Take care!",
    "I don’t need anything else, thank you.",
    "Wonderful. I have everything I need.",
    "Thank you for your help goodbye",
    '"Thank you, goodbye."',
    "**Goodbye!** 👋",
    "My booking code was QX4821. All good now.\n\nBye-bye!",
    "I'll write again if I need anything. Goodbye!",
    "Thanks, that's all.",
    "It took a while, but it is done. See you!",
    "Goodbye Sam!",
    "You changed it, great! Good night.",
    "No, thank you, goodbye!",
    "I do not need anything else, so goodbye.",
    "No thanks, bye!",
    "I'd like to say thank you and goodbye!",
    "I'll go and check it now. Goodbye!",
    "再见哦！",
    "我想说谢谢，再见。",
    "谢谢，再见。",
    "好的，再见！",
    "拜拜~",
    "没有别的了，谢谢。",
    "太好了，谢谢您的帮助！祝您生活愉快！",
    "没有其他问题了，多谢。",
    "不用了，谢谢，再见",
    "谢谢，就这些。",
    "麻烦你了，拜拜！",
    "我先走了，谢谢。",
)

NO_ENDINGS = (
    "Thanks!",
    "Goodbye. Oh wait, can you also book a hotel?",
    "Bye! Actually, one more thing: what does it cost?",
    "Please don't say goodbye yet.",
    "Don't say goodbye yet, I am still here.",
    'The agent said "goodbye" and hung up.',
    "My colleague said goodbye before it was booked.",
    "I need a goodbye present for a friend.",
    "Help me plan a farewell party.",
    "The song is called Goodbye Yellow Brick Road.",
    "That's all I know about it.",
    "The code is QX4821 and the date is 3 May. That's all.",
    "Yes, that's it.",
    "Before I go, what is the fee?",
    "Once you have moved it, I'll say goodbye.",
    "Thank you, goodbye. I also need a window seat.",
    "Thanks, bye! But the date is still wrong.",
    "Is that all? Then goodbye.",
    "Please take care of the rest.",
    "Yes, go ahead. Bye!",
    "I'm done filling in the form.",
    "We want to have a nice day at the beach.",
    "Cancel it and book another one, bye",
    "There is nothing else on the form.",
    "No, thank you.",
    "I'll see you at the desk if you tell me where it is.",
    "I want to say goodbye to my old plan.",
    "Buy me the ticket.",
    "I need to move my flight. Bye",
    "还有别的航班吗？没有的话就再见。",
    "",
    "先别说再见，我还有问题。",
    "再见之前，请告诉我费用。",
    "再见。对了，能帮我订酒店吗？",
    "我想给朋友买一份告别礼物。",
    "希望能再见到你们。",
    "谢谢！还有一个问题。",
    "他说“再见”就走了。",
    "订单号是AB1234，就这些。",
    "没有别的航班吗？",
    "等改好了再说再见。",
    "谢谢。",
)

GIVEN_UP = (
    "I give up, goodbye.",
    "Forget it. Bye.",
    "Never mind, goodbye!",
    "That did not help at all. Goodbye.",
    "I'll ask someone else. Bye!",
    "Unfortunately that is not what I wanted. Goodbye.",
    "A pity that you could not help. Bye.",
    "我放弃了，再见。",
    "算了，再见。",
)


@pytest.mark.parametrize("text", ENDINGS)
def test_a_message_that_takes_leave_and_asks_nothing_more_ends_the_talk(text: str) -> None:
    assert Ending(any_goodbye=True).reason(text) == "user_ended"


@pytest.mark.parametrize("text", NO_ENDINGS)
def test_a_question_a_wish_a_quotation_or_a_negation_does_not(text: str) -> None:
    assert Ending(any_goodbye=True, may_give_up=True).reason(text) is None


@pytest.mark.parametrize("text", GIVEN_UP)
def test_a_goodbye_of_one_who_was_not_helped_is_giving_up(text: str) -> None:
    assert Ending(any_goodbye=True).reason(text) == "user_gave_up"


def test_the_published_rule_is_as_it_was() -> None:
    published = Ending()
    assert published.reason("Thank you. I shall not say goodbye yet.") == "user_ended"
    assert published.reason("Goodbye.") is None
    assert published.provenance() == {"strict": False, "may_give_up": False}
