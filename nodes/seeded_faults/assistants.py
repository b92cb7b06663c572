"""The four assistants with seeded faults: good, forgetful, wordy and wrong, each a function of the messages."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from ...data.text.languages import Language, language_of
from .requests import SLOT_NAMES, Request, understood

Messages: TypeAlias = Sequence[Mapping[str, Any]]

TIMES = 3
"""Minimum ratio of the characters of the wordy assistant's reply to those of the good one's."""

_ASK: Mapping[Language, str] = {"en": "What is {slots}, please?", "zh": "需要{slots}，是什么？"}
_WHAT: Mapping[Language, str] = {"en": "What would you like me to arrange?", "zh": "您想办什么事？"}
_DONE: Mapping[Language, str] = {"en": "Done: {done} with {values}.", "zh": "办好了：{done}：{values}。"}
_AND: Mapping[Language, tuple[str, str]] = {"en": (", ", " and "), "zh": ("、", "和")}

_PLAN: Mapping[Language, str] = {
    "en": "Here is the plan by all that you asked for: {wishes}.",
    "zh": "按您说的全部要求，安排如下：{wishes}。",
}
_ELSE: Mapping[Language, str] = {"en": "how to tidy a shed", "zh": "怎样整理一间储藏室"}
"""A plan that the user has not asked for."""

# No sentence asks, refuses or reports something as done: the good one's reply stands between them.
_BEFORE: Mapping[Language, str] = {
    "en": "It is always a pleasure to look after matters of this kind, and great care goes into every single step of them. "
    "Our whole team works hard so that everything runs as smoothly as anybody could hope for.",
    "zh": "能为每一位来到这里的朋友服务，我们一直感到十分荣幸，也会认真对待每一个细节。我们的团队日夜努力，只为让一切都顺顺利利、让人放心。",
}
_AFTER: Mapping[Language, str] = {
    "en": "As you may be aware, quality and attention to detail lie at the very heart of what we believe in. "
    "We wish you a bright and pleasant time, whatever the weather may bring, and we value the trust of everybody who writes to us.",
    "zh": "质量和细心始终是我们最看重的东西，这一点多年来从没有变过。无论天气如何，都祝愿您度过愉快的时光，我们珍惜每一位朋友的信任。",
}
_MORE: Mapping[Language, str] = {
    "en": "Much has been written about good service, and all of it comes down to patience, warmth and a friendly word.",
    "zh": "关于用心服务的说法有很多，归根结底都是耐心、热情和一句亲切的话。",
}

_NUMERALS = "一二三四五六七八九"


def good(messages: Messages) -> str:
    """Asks for missing values, then reports the task as done, with every value of the user."""
    return _reply(understood(user_texts(messages)))


def forgetful(messages: Messages) -> str:
    """Replies as the good one, but only to the user's last message."""
    return _reply(understood(user_texts(messages)[-1:]))


def wordy(messages: Messages) -> str:
    """The good one's reply between the same long sentences, at least three times as many characters."""
    request = understood(user_texts(messages))
    core, language = _reply(request), request.language
    gap = " " if language == "en" else ""
    parts = [_BEFORE[language], core, _AFTER[language]]
    while sum(map(len, parts)) < TIMES * len(core):
        parts.append(_MORE[language])
    return gap.join(parts)


def wrong(messages: Messages) -> str:
    """Replies as the good one, but reports the task as done with other values than the user's."""
    request = understood(user_texts(messages))
    return _reply(request, other)


PLANTED: Mapping[str, str] = {
    assistant.__name__: f"{__package__}:{assistant.__name__}" for assistant in (good, forgetful, wordy, wrong)
}
"""The spec of each by its name, the reference first."""


def other(value: str) -> str:
    """Another value of the same form, with another last digit or numeral; for words, another plan.

    >>> other("2026-05-31"), other("18:30"), other("4 people"), other("三天")
    ('2026-05-30', '18:32', '3 people', '二天')
    """
    digits = list(re.finditer(rf"\d|[{_NUMERALS}两十]", value))
    if not digits:
        return _ELSE[language_of(value) or "en"]
    last = digits[-1]
    before = value[: last.start()]
    return before + _changed(last.group(), end_of_month=before.endswith("-3")) + value[last.end() :]


def _changed(digit: str, *, end_of_month: bool) -> str:
    if digit.isascii():
        if end_of_month:
            return "1" if digit == "0" else "0"
        return str(int(digit) - 1) if int(digit) > 1 else "2"
    if digit in _NUMERALS[1:]:
        return _NUMERALS[_NUMERALS.index(digit) - 1]
    return {"两": "三", "一": "二"}.get(digit, "九")


def user_texts(messages: Messages) -> list[str]:
    """The texts of the user's messages, in order."""
    return [str(message["content"]) for message in messages if message["role"] == "user"]


def _reply(request: Request, alter: Callable[[str], str] = str) -> str:
    language = request.language
    if request.errand is None:
        wishes = _listed([alter(wish) for wish in map(_in_one, request.messages) if wish], language)
        return _PLAN[language].format(wishes=wishes) if wishes else _WHAT[language]
    if request.missing and request.news:
        return question_for(request, request.missing)
    return done(request, alter)


def question_for(request: Request, slots: Sequence[str]) -> str:
    """The question for the values of these slots."""
    language = request.language
    return _ASK[language].format(slots=_listed([SLOT_NAMES[language][slot] for slot in slots], language))


def done(request: Request, alter: Callable[[str], str] = str) -> str:
    """The report that the task of the request is done, with its values."""
    language = request.language
    assert request.errand is not None
    named = [request.values[slot] for slot in request.errand.needs if slot in request.values]
    values = _listed([alter(value) for value in named], language)
    return _DONE[language].format(done=request.errand.done[language], values=values or "-")


def _in_one(wish: str) -> str:
    """A message as a part of a sentence."""
    return re.sub(r"\s*[.!?。！？;；:：\n]+\s*(?=\S)", ", ", wish.strip()).rstrip(" .,!?。，、！？;；:：")


def _listed(items: Sequence[str], language: Language) -> str:
    comma, last = _AND[language]
    return last.join(filter(None, (comma.join(items[:-1]), *items[-1:])))
