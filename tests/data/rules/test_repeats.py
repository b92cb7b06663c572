"""Questions that are said again: those with a subject, and reactions to what was said last."""

import pytest

from duologue.data.records import Conversation, Message
from duologue.data.rules.chat import CHAT_RULES


def rules_of(question: str, *between: str) -> list[str]:
    """The rules that find a question which the user asks twice, with further questions in between."""
    asked = (question, *between, question)
    texts = [text for one in asked for text in (one, "The rye bread is gone.")]
    messages = tuple(Message(role="assistant" if at % 2 else "user", text=text) for at, text in enumerate(texts))
    conversation = Conversation(id="1", scenario={"kind": ""}, messages=messages)
    return [name for name in ("repeated", "request-repeated") if list(CHAT_RULES[name].find(conversation))]


@pytest.mark.parametrize(
    "question",
    [
        "What do you mean?",
        "Are you sure?",
        "Why is that?",
        "What did you say?",
        "What makes you say so?",
        "真的吗？你确定吗？",
    ],
)
def test_a_reaction_that_comes_again_is_only_a_notice(question: str) -> None:
    assert rules_of(question) == ["request-repeated"]


@pytest.mark.parametrize("question", ["Is there rye bread?", "When do you open?", "What is the price?", "几点开门？"])
def test_a_question_about_something_that_comes_again_is_a_warning(question: str) -> None:
    assert rules_of(question) == ["repeated"]


@pytest.mark.parametrize(
    "question", ["How many loaves are on this list?", "Did you bake it yourself?", "What else do I need?"]
)
def test_a_question_about_what_was_said_in_between_is_a_notice_unless_it_comes_twice_in_a_row(question: str) -> None:
    assert rules_of(question) == ["repeated"]
    assert rules_of(question, "And the white one?") == ["request-repeated"]
