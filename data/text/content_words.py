"""Sentences, content words and numbers of a text, in English and Chinese, in forms that can be compared."""

import re
from functools import lru_cache
from itertools import pairwise

from .languages import ENGLISH, HAN

SENTENCE = re.compile(r"[^.!?。！？;；\n]*(?:[.](?=\w)[^.!?。！？;；\n]*)*(?:[.!?。！？;；]+|\n|$)")
"""A sentence with its marks; a mark inside a word, number or address ends none."""
ASKS = re.compile(r"[?？]\W*$|[吗呢么]\W*$|(?:哪|几|多少|什么|怎么)[^，。]{0,8}$|([有能是要可好会行对])[不没]\1")
"""A sentence that is a question by its end."""

_TOKEN = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+(?:['’-][^\W_\u3400-\u9fff]+)*")
_EMPTY = ENGLISH | frozenset(
    """i i'm i'd i've i'll it's that's we're we've we'd you're me us let let's please thanks thank hello hi hey ok okay yes no
    not don't can't now then just only also too here there still really sure sorry want wants need needs give get got go going
    make take put tell know say said told see one ones thing things something anything nothing else well good great fine
    may might shall must isn't doesn't didn't never ever back new keep bit lot way much many very
    help able such yet maybe perhaps any every each both all own same other another first last next time day days today""".split()
)
EMPTY_HAN = frozenset(
    "的了是在我你您他她它们这那个和与及也都就还要想请把被给吗呢吧啊么不没有很好可以能会将到从对为以之一上下里去来做先"
)
_UNITS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen""".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth
sixteenth seventeenth eighteenth nineteenth twentieth""".split()
_VALUE = {word: number for number, word in enumerate(_UNITS)} | {
    word: 10 * number for number, word in enumerate(_TENS, start=2)
}
_ORDER = {word: number for number, word in enumerate(_ORDINALS, start=1)}
_NUMBER_EN = re.compile(
    rf"\b(?:(?:{'|'.join(_VALUE)}|hundred|thousand|a (?=hundred|thousand|dozen)|dozen)(?:[ -](?:and )?|\b))+",
    re.IGNORECASE,
)
_ORDINAL_EN = re.compile(
    rf"(?<!\ba )(?<!\bone )\b(?:(?P<tens>twenty|thirty)[ -])?(?P<unit>{'|'.join(_ORDINALS)})\b(?=,? (?:of )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"|\W*$|,)",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\b(?=one\b)((?<=\bthe )one|(?<=\bthis )one|(?<=\bthat )one|(?<=\bwhich )one|(?<=\bany )one|(?<=\bno )one|one(?=['’]s|[.,!?]|\s*$| (?:at|in|on|that|which|with|for|from|who|where|is|please|thanks|another|by|day)\b))",
    re.IGNORECASE,
)
"""The word `one` where it counts nothing."""
_NUMBER_ZH = re.compile(r"[零〇一二两三四五六七八九十百千万]+")
_NOT_A_NUMBER_ZH = re.compile(
    r"一(?=[下些起定样直般共旦切边会致路面遍])|(?<![上下中]午)(?<!早上)(?<!晚上)一(?=点(?![整半钟\d]))|(?<=[第万统唯周期拜])[一二三四五六]"
)
_DIGITS_ZH = {sign: number for number, sign in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_SCALES_ZH = {"十": 10, "百": 100, "千": 1000, "万": 10_000}
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "：": ":", "，": "，"})


def sentences(text: str) -> list[str]:
    """The sentences of a text, without those that are empty."""
    return [part.strip() for part in SENTENCE.findall(text) if part.strip()]


@lru_cache(maxsize=20_000)
def in_digits(text: str) -> str:
    """The text with its number words in digits, English and Chinese, and with one kind of apostrophe.

    >>> in_digits("Three of us, forty-five euros"), in_digits("五月二十三号，两个人")
    ('3 of us, 45 euros', '5月23号，2个人')
    """
    text = text.translate(_APOSTROPHES)
    text = _ORDINAL_EN.sub(lambda match: str(_ordinal(match)), text)
    text = _NUMBER_EN.sub(lambda match: _english(match.group()), _PRONOUN.sub("o\u00b7ne", text)).replace(
        "o\u00b7ne", "one"
    )
    pronouns = {match.start() for match in _NOT_A_NUMBER_ZH.finditer(text)}
    return _NUMBER_ZH.sub(
        lambda match: match.group() if match.start() in pronouns else str(_chinese(match.group())), text
    )


def _ordinal(match: re.Match[str]) -> int:
    return _VALUE.get((match["tens"] or "").casefold(), 0) + _ORDER[match["unit"].casefold()]


def _english(words: str) -> str:
    total = part = 0
    parts = re.findall(r"[a-z]+", words.casefold())
    if sum(word in _UNITS for word in parts) > 1 and not {"hundred", "thousand"} & set(parts):
        spelt = [str(_VALUE[word]) for word in parts if word in _VALUE]  # one after the other, as in "nine zero three"
        return " ".join(spelt) + " " * words.endswith(" ")
    for word in parts:
        if word in _VALUE:
            part += _VALUE[word]
        elif word == "dozen":
            part = max(part, 1) * 12
        elif word == "hundred":
            part = max(part, 1) * 100
        elif word == "thousand":
            total, part = total + max(part, 1) * 1000, 0
    return str(total + part) + " " * words.endswith((" ", "-"))


def _chinese(signs: str) -> str:
    if not set(signs) & set(_SCALES_ZH):
        return "".join(str(_DIGITS_ZH[sign]) for sign in signs)
    if len(signs) == 1 and signs != "十":
        return signs
    total = part = 0
    for sign in signs:
        if sign == "万":
            total, part = (total + part) * 10_000, 0
        elif sign in _SCALES_ZH:
            total, part = total + max(part, 1) * _SCALES_ZH[sign], 0
        else:
            part = _DIGITS_ZH[sign]
    return str(total + part)


@lru_cache(maxsize=20_000)
def tokens(text: str) -> tuple[str, ...]:
    """Words in lower case with numbers in digits; a Chinese character is a word."""
    return tuple(token.casefold() for token in _TOKEN.findall(in_digits(text)))


@lru_cache(maxsize=20_000)
def content(text: str) -> frozenset[str]:
    """The stems of a text's content words; of Chinese each pair of neighbouring characters that carry content."""
    words = tokens(text)
    stems = {stem(word) for word in words if not HAN.match(word) and word not in _EMPTY and not word[0].isdigit()}
    pairs = {
        one + other
        for one, other in pairwise(words)
        if HAN.match(one) and HAN.match(other) and not ({one, other} & EMPTY_HAN)
    }
    return frozenset({word for word in stems if len(word) > 1} | pairs)


def stem(word: str) -> str:
    """A word without its commonest endings: `booked`, `booking` and `bookings` are one."""
    word = re.sub(r"['’]s$", "", word)
    for ending in ("ings", "ing", "ied", "ies", "ed", "es", "s", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsoe":
        word = word[:-1]
    return _IRREGULAR.get(word, word[:-1] if word.endswith("e") and len(word) > 3 else word)


_IRREGULAR = {
    word: root
    for root, forms in {
        "fly": "fli flew flown flight plane aeroplane airplan",
        "pay": "paid payment",
        "buy": "bought purchas purchase",
        "send": "sent",
        "lose": "lost los",
        "eat": "eaten ate food edible",
        "sick": "ill illn",
        "vegetarian": "veggie vegetarians",
    }.items()
    for word in forms.split()
}
