"""Chinese words are those of jieba, which cuts each piece of a text once."""

import re

import pytest

from duologue.data.text.word_segmentation import segmentation

jieba = pytest.importorskip("jieba")

TEXTS = (
    "我想去北京旅游，预算5000元左右。",
    "我想去北京旅游，带 kids 去。\n\n谢谢！",
    "é日本 3.5%+#&_-— \t𠮷x",
    "",
    "。。",
)


def test_words_are_those_of_jieba_and_a_piece_of_several_texts_is_cut_once(monkeypatch):
    expected = [tuple(word for word in jieba.cut(text) if re.search(r"\w", word)) for text in TEXTS]
    pieces = []
    cut = jieba.cut

    def counted(piece):
        pieces.append(piece)
        return cut(piece)

    monkeypatch.setattr(jieba, "cut", counted)
    segmentation.cache_clear()
    try:
        assert [segmentation()(text) for text in TEXTS] == expected
    finally:
        segmentation.cache_clear()
    assert pieces.count("我想去北京旅游") == 1
    assert len(pieces) == len(set(pieces))
