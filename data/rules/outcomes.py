"""What a text says: a refusal, something done, consent, thanks, or a statement.

Phrases are a list in `data/text/lexicons.json` and no more than a list, at most fifteen each for English and Chinese. The
notice `refusal`, the scorer `refused`, approvals by the user and the rule-based user share them. What they do not hold
is undecided; a judge decides it.
"""

import re
from collections.abc import Iterable
from typing import Literal

from ..text.languages import HAN
from ..text.lexicons import first_of

LONGEST = 600
"""Most characters of a text that may decline: a longer one gives something, such as an article or a letter."""
COURTESY_WORDS = 45
"""Most words of a message of thanks; each Chinese character counts as one."""

_SENTENCE = re.compile(r"[^.!?。！？\n]+(?:\.(?=\w)[^.!?。！？\n]+)*[.!?。！？]*")
_ASKS = re.compile(r"[?？]\W*\Z|[吗呢么]\W*\Z")
_CLAUSE = re.compile(r"[,，;；]")
_CONDITION = re.compile(
    r"\b(?:if|once|when|until|unless|before|as soon as|not|nothing|yet|to be|be)\b|n['’]t\b|如果|一旦|之前|尚未|没有",
    re.I,
)
_COURTESY = re.compile(
    r"\b(?:thanks?|thank you|you(?:['’]re| are) (?:very |most )?welcome|my pleasure|no problem|good ?bye|bye|see you|take care"
    r"|have a (?:great|good|nice|lovely|wonderful|safe)|good luck|you too)\b|谢谢|感谢|不客气|不用谢|再见|拜拜|祝您|祝你",
    re.IGNORECASE,
)
_CONTENT = re.compile(r"[?？]|```|\d{2,}|^\s*(?:[-*•]|\d{1,2}[.)])\s", re.MULTILINE)


def outcome_of(text: str) -> Literal["refused", "done"] | None:
    """The last outcome of a request in a text, done or refused; None without one of the phrases."""
    found: Literal["refused", "done"] | None = None
    for sentence in _told(text):
        if _phrase(sentence, "refused"):
            found = "refused"
        elif _phrase(sentence, "done") and not _CONDITION.search(sentence):
            found = "done"
    return found


def refused(text: str) -> str | None:
    """The phrase with which a text declines to help; None without any, or in a long text."""
    if len(text) > LONGEST:
        return None
    return next((phrase for sentence in _told(text) if (phrase := _phrase(sentence, "refused"))), None)


def consent(text: str) -> Literal["yes", "no"] | None:
    """The answer of a text to a question for yes or no; None if it is unclear, conditional or both.

    >>> consent("Yes, please."), consent("No problem, cancel it."), consent("Please don't."), consent("What is it?")
    ('yes', 'yes', 'no', None)
    """
    answers = set[Literal["yes", "no"]]()
    for sentence in _SENTENCE.findall(text):
        if _ASKS.search(sentence):  # "Yes, and could you ...?": what it says before it asks
            sentence = _CLAUSE.split(sentence, maxsplit=1)[0] if _CLAUSE.search(sentence) else ""
        if agreed := _phrase(sentence, "agreed"):  # consent with a word of a refusal in it
            answers.add("yes")
            sentence = _plain(sentence).replace(agreed, " ")
        if _phrase(sentence, "open"):
            return None
        if _phrase(sentence, "no"):
            answers.add("no")
        elif _phrase(sentence, "yes"):
            answers.add("yes")
    return answers.pop() if len(answers) == 1 else None


def is_courtesy(text: str) -> bool:
    """Whether a text is thanks, a goodbye or an answer to one, and nothing else of weight."""
    words = len(HAN.sub(" x ", text).split())
    return 0 < words <= COURTESY_WORDS and _COURTESY.search(text) is not None and _CONTENT.search(text) is None


def _told(text: str) -> list[str]:
    return [sentence for sentence in _SENTENCE.findall(text) if not _ASKS.search(sentence)]


def _plain(sentence: str) -> str:
    return sentence.casefold().replace("’", "'")


def _phrase(sentence: str, entry: str) -> str | None:
    plain = _plain(sentence)
    return first_of(plain, entry, "zh" if HAN.search(plain) else "en")


_WHOLE_SENTENCE = re.compile(r"[^.!?。！？\n]*(?:[.!?](?=\w)[^.!?。！？\n]*)*(?:[.!?。！？]+[)\"”’」』]*|\n|$)")
"""A sentence with its marks; a mark inside a word, number or address, as in 19.30, ends none."""
_PART = re.compile(r"[,;:](?=\s|$)|[，；：、]")
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
_ASKS_AT_END = re.compile(r"[?？][)\"”’」』]*\s*$|[吗呢么]\s*$")


def statements(texts: Iterable[str]) -> list[str]:
    """The statements of a user's messages about itself and its wishes, a text for each message, in its own words.

    Thanks, goodbyes and a mere yes or no are left out, and so are questions, unless they request something or hold a
    number. Equal texts count once.
    """
    return list(dict.fromkeys(filter(None, map(_stated, texts))))


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, questions too, that say more than thanks, a goodbye or a mere yes or no."""
    return [one for one in _WHOLE_SENTENCE.findall(text) if any(map(_says_something, _PART.split(one)))]


def _stated(text: str) -> str:
    """The sentences of a message that state something; the whole message where all do."""
    sentences = [sentence for sentence in _WHOLE_SENTENCE.findall(text) if sentence.strip()]
    content = [sentence for sentence in sentences if _has_content(sentence)]
    return text.strip() if len(content) == len(sentences) else "".join(content).strip()


def _has_content(sentence: str) -> bool:
    if not any(map(_says_something, _PART.split(sentence))):
        return False
    return not _ASKS_AT_END.search(sentence) or any(map(str.isdigit, sentence)) or bool(_REQUEST.search(sentence))


def _says_something(clause: str) -> bool:
    words = (_EMPTY_ZH.sub("", word) for word in _WORD.findall(clause))
    return not is_courtesy(clause) and any(
        word and word.casefold().replace("’", "'") not in _EMPTY_EN for word in words
    )
