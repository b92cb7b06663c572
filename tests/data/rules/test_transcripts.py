"""A transcript that a reply writes on its own, beside dialogues that somebody asked for."""

import pytest

from duologue.data.records import Conversation, Message
from duologue.data.rules.chat import role_slip


def slips(*texts: str) -> list[int]:
    """The numbers of messages with a slip, in a conversation that the user begins."""
    messages = (Message(role="assistant" if at % 2 else "user", text=text) for at, text in enumerate(texts))
    return [number for number, _ in role_slip(Conversation(id="1", scenario={"kind": ""}, messages=tuple(messages)))]


@pytest.mark.parametrize(
    "reply",
    [
        "User: And on Sundays?\nAssistant: It is closed.",
        "At nine. User: And on Sundays? Assistant: It is closed.",
        "At nine\nUser: And on Sundays?\nAssistant: It is closed.",
        "Assistant: At nine.\nUser: And on Sundays?\nAssistant: It is closed.",
        "We open at nine.\nAssistant: At nine.\nHuman: And on Sundays?\nAI: It is closed.",
        "At nine\n\n**User:** And on Sundays?\n\n**Assistant:** It is closed.",
        "九点开门。用户：周日呢？助手：周日休息。",
    ],
)
def test_a_transcript_that_nobody_asked_for_is_a_slip(reply: str) -> None:
    assert slips("When do you open?", reply) == [1]


@pytest.mark.parametrize(
    ("request_text", "reply"),
    [
        ("Write a dialogue at a hotel", "User: Hello\nAssistant: Hello"),
        ("Make up a talk between two people about tea", "User: Hello\nAssistant: Hello"),
        ("Tell me a joke about robots", "Human: Do you dream?\nAI: Only of electric sheep."),
        ("How do I write a few-shot request?", "Give it pairs.\n\nUser: 2+2\nAssistant: 4"),
        ("Correct this:\nUser: helo\nAssistant: hii", "User: hello\nAssistant: hi"),
        ("Who can sign in?", "There are two.\nUser: a person that asks.\nAssistant: the one that answers."),
        ("When do you open?", "It is on the sign:\nUser: When?\nAssistant: At nine."),
        ("When do you open?", "```\nUser: When?\nAssistant: At nine.\n```\nSo at nine."),
        ("写一段聊天", "用户：你好\n助手：你好"),
        ("When do you open?", "User: 1000\nGroup: 1000"),
    ],
)
def test_a_dialogue_that_was_asked_for_or_is_introduced_is_no_slip(request_text: str, reply: str) -> None:
    assert slips(request_text, reply) == []


def test_a_dialogue_may_go_on_for_some_requests_but_not_for_ever() -> None:
    part = "User: Hello\nAssistant: Hello"
    assert slips("Write a play", part, "go on", part, "more", part, "again", part) == []
    later = ["What is rye?", "A grain.", "And oats?", "Another.", "And spelt?", "A wheat.", "When do you open?", part]
    assert slips("Write a play", part, *later) == [9]
