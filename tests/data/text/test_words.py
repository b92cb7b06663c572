"""Chinese words are those of jieba; tokens are counted by characters."""

import re

import pytest

from duologue.data.text.words import tokens_about, words_of


@pytest.mark.parametrize("text", ["我想去北京旅游，带 kids 去。\n\n谢谢！", "é日本 3.5%+#&_-— \t𠮷x", "", "。。"])
def test_words_are_those_of_jieba(text):
    jieba = pytest.importorskip("jieba")
    assert words_of(text, "zh") == [word for word in jieba.cut(text) if re.search(r"\w", word)]


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("word" * 10, 10), ("灯塔 is here", 4)])
def test_four_characters_or_one_chinese_one_are_a_token(text, tokens):
    assert tokens_about(text) == tokens
