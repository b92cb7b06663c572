"""Detection of the language of a text by its characters and its function words."""

import re
from typing import Literal, TypeAlias

Language: TypeAlias = Literal["en", "zh"]
WrittenLanguage: TypeAlias = Literal["en", "zh", "other"]

HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
"""A Chinese character."""

ENGLISH = frozenset(
    """a about after all also am an and any are as at be because been before but by can could did do does doing for
    from had has have having he her here him his how i if in into is it its just like likes me more most my need no
    not of on one or other our out over own prefers she should so some such than that the their them then there these
    they this those through to too under up use user using want was we were what when where which while who will with
    would you your""".split()
)
"""Frequent words of English that carry no content."""
_OF_TALKS = frozenset("hello hi thanks here is please has".split())
"""Further words of English conversations."""
_OTHERS = frozenset(
    """ich und der das nicht ist ein eine für mit bitte wie mein meine von zu auf möchte je le les est une pas pour vous et
    dans mon que el por para una mi como il che di non sono un la de het een ik niet voor mijn o os não um uma com
    meu jag och att det är inte w nie jest się proszę jeg ikke og af til du vil på som hvis har ja ei että minä și sau vă
    este să nu cu că és hogy nem egy az ve bir için bu mı mi yang dan itu saya untuk không là và của có được tôi že není
    jsem""".split()
)
"""Frequent words of other languages in Latin letters."""
_LATIN = re.compile("[A-Za-z\u00aa-\u024f\u1e00-\u1eff]")
_MANY_WORDS = 20
_WORD = re.compile(r"[^\W\d_]+")

_LATIN_WORD = re.compile(r"[A-Za-z]+(?:['’-][A-Za-z]+)*")


def language_of(text: str) -> Language | None:
    """`zh` or `en` by the majority of Chinese characters or Latin words; None without either.

    A tie is `zh`.
    """
    han, latin = len(HAN.findall(text)), len(_LATIN_WORD.findall(text))
    if not han and not latin:
        return None
    return "zh" if han >= latin else "en"


def written_language(text: str) -> WrittenLanguage | None:
    """The language that a text is written in: English, Chinese or another; None without a letter.

    It is another one if more than a tenth of its letters are neither Latin nor Chinese (Japanese has Chinese characters
    too), or if function words of other languages are more frequent than English ones. So is a text of 20 words or more of
    which less than an eighth are English function words. In open English conversations more than a third are; English
    questions with pasted code have a sixth or more.
    """
    letters = sum(map(str.isalpha, text))
    if not letters:
        return None
    if 10 * sum(map(str.isalpha, _LATIN.sub("", HAN.sub("", text)))) > letters:
        return "other"
    if language_of(text) != "en":
        return "zh" if HAN.search(text) else "other"
    words = _WORD.findall(text.casefold())
    english = sum(word in ENGLISH or word in _OF_TALKS for word in words)
    if sum(word in _OTHERS for word in words) > english or (len(words) >= _MANY_WORDS and 8 * english < len(words)):
        return "other"
    return "en"


def says_something(text: str) -> bool:
    """Whether the text has a letter or a digit."""
    return any(character.isalnum() for character in text)
