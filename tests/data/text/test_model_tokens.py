"""Tokens, counted by characters."""

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.messages.utils import count_tokens_approximately

from duologue.data.text.model_tokens import OF_MESSAGE, tokens_about


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("word" * 10, 10), ("灯塔在哪里", 5), ("灯塔 is here", 4), ("é" * 8, 2)]
)
def test_four_characters_or_one_chinese_one_are_a_token(text, tokens):
    assert tokens_about(text) == tokens


def test_a_message_counts_as_langchain_counts_it():
    text = "Where does the lighthouse stand, and who kept it?"
    role = 1  # langchain counts the word `user`, too
    assert count_tokens_approximately([HumanMessage(text)]) == tokens_about(text) + OF_MESSAGE + role
