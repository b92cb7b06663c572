"""Plans in a user's message: unrequested work of the assistant."""

import re

PLAN_ITEMS = 3
"""Least number of items with which a list is a plan."""

_ITEM = re.compile(
    r"^[^\S\n]*(?:[*_]{0,2}\(?\d{1,2}[.):、．](?!\d)|[-*•–·]\s|[①-⑳]|[(（]?[一二三四五六七八九十]{1,2}[、.)）])\s*(.+)$",
    re.MULTILINE,
)
_DAY = (
    r"(?:day|week|month)\s?(?:\d{1,2}|one|two|three|four|five|six|seven)\b"
    r"|第[一二三四五六七八九十\d]{1,3}[天日周个]"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|(?:周|星期)[一二三四五六日天]"
    r"|(?:morning|noon|afternoon|evening|night|breakfast|lunch|dinner)\s*[:：]|(?:早上|上午|中午|下午|傍晚|晚上)\s*[:：]"
    r"|\d{1,2}[:：]\d{2}"
)
_SCHEDULED = re.compile(
    rf"^[^\S\n]*(?:[-*•–·#>]\s?|\(?\d{{1,2}}[.)、]\s?){{0,2}}[*_]{{0,2}}(?:{_DAY}).*$", re.IGNORECASE | re.MULTILINE
)
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_ASKS = re.compile(
    r"[?？]|\b(?:let me know|tell me|could you|can you|please (?:provide|share|specify|tell))\b|请(?:告诉|提供|说明|问|补充)|告诉我",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[a-z]{4,}|[\u4e00-\u9fff]+", re.IGNORECASE)
_EMPTY_WORDS = frozenset(
    "would like have your with that this what which please about know could more some they there".split()
)


def is_plan(text: str, last_assistant: str | None = None) -> bool:
    """Whether the text lists three or more items, none of which answers a question of the assistant.

    In the first message only items of a schedule count, because other lists are requirements. Items that are questions
    do not count.
    """
    lines = [match.group() for match in _SCHEDULED.finditer(text)]
    if last_assistant:
        lines += [match.group() for match in _ITEM.finditer(text)]
    items = {line.strip() for line in lines if not _ASKS.search(line)}
    if len(items) < PLAN_ITEMS:
        return False
    asked_words = _content(_request(last_assistant or ""))
    return not any(_content(item) & asked_words for item in items)


def _request(text: str) -> str:
    """The sentences that ask, and all text after such a sentence that ends with a colon."""
    sentences = []
    for sentence in _SENTENCE.finditer(text):
        if _ASKS.search(sentence.group()):
            sentences.append(sentence.group())
            if sentence.group().rstrip().endswith((":", "：")):
                sentences.append(text[sentence.end() :])
                break
    return " ".join(sentences)


def _content(text: str) -> set[str]:
    """Words of four or more letters, and pairs of Chinese characters."""
    words: set[str] = set()
    for run in _WORDS.findall(text.casefold()):
        words |= {run} if run.isascii() else {run[start : start + 2] for start in range(len(run) - 1)}
    return words - _EMPTY_WORDS
