"""Statements in a user's later messages, without thanks, goodbyes and questions."""

import re
from collections.abc import Iterable

from .linter import is_courtesy

_SENTENCE = re.compile(r"[^.!?。！？\n]*(?:[.!?](?=\w)[^.!?。！？\n]*)*(?:[.!?。！？]+[)\"”’」』]*|\n|$)")
"""A sentence with its marks; a mark inside a word, number or address, as in 19.30, ends none."""
_CLAUSE = re.compile(r"[,;:](?=\s|$)|[，；：、]")
_WORD = re.compile(r"[\u4e00-\u9fff]+|[^\W_]+(?:['’][^\W_]+)*")
_EMPTY_EN = frozenset(
    """a again ahead all alright am an and anyway as awesome be but care continue cool correct dear definitely do everything
    exactly excellent fantastic fine for give go good got great have hello help helped helpful helping helps hey hi hm hmm i
    i'll i'm indeed is it it's just lot lovely many me mind much my never nice no nope not now of oh ok okay perfect please
    problem question really right same see so solved solves sounds sure that that's the then there thing this to too
    understand understood up very wait was well will wonderful worked works yeah yep yes you you're your yup""".split()
)
"""Words that by themselves state nothing."""
_EMPTY_ZH = re.compile(
    r"谢谢|多谢|感谢|麻烦|辛苦|再见|拜拜|你好|您好|好的|好吧|可以|没错|对的|对|是的|是|不是|嗯+|哦|噢|啊|呀|吧|呢|了|的|行|好|不用|没有|没|有"
    r"|不|继续|明白|知道|清楚|你|您|我|很|非常|太|就|这样|这个|那个|那|这|请|帮忙|帮助|解决|问题|客气|满意|放弃"
)
_REQUEST = re.compile(
    r"\b(?:can|could|would|will) (?:you|we|i)\b|\bplease\b|\bhow about\b|\bwhat about\b|帮我|能不能|能否|可不可以|可以.{1,30}[吗么]|麻烦",
    re.IGNORECASE,
)
_ASKS = re.compile(r"[?？][)\"”’」』]*\s*$|[吗呢么]\s*$")


def statements(texts: Iterable[str]) -> list[str]:
    """The statements of a user's messages about itself and its wishes, a text for each message, in its own words.

    Thanks, goodbyes and a mere yes or no are left out, and so are questions, unless they request something or hold a
    number. Equal texts count once.
    """
    return list(dict.fromkeys(filter(None, map(_stated, texts))))


def _stated(text: str) -> str:
    """The sentences of a message that state something; the whole message where all do."""
    sentences = [sentence for sentence in _SENTENCE.findall(text) if sentence.strip()]
    content = [sentence for sentence in sentences if _has_content(sentence)]
    return text.strip() if len(content) == len(sentences) else "".join(content).strip()


def _has_content(sentence: str) -> bool:
    if not any(map(_says_something, _CLAUSE.split(sentence))):
        return False
    return not _ASKS.search(sentence) or any(map(str.isdigit, sentence)) or bool(_REQUEST.search(sentence))


def _says_something(clause: str) -> bool:
    words = (_EMPTY_ZH.sub("", word) for word in _WORD.findall(clause))
    return not is_courtesy(clause) and any(
        word and word.casefold().replace("’", "'") not in _EMPTY_EN for word in words
    )
