"""Assistants with seeded faults: a good one and three with one fault each, to measure whether users detect them.

They are functions of messages, by rule, without a model: the spec of the good one is
`duologue.nodes.seeded_faults:good`. They serve six kinds of errands, in English and Chinese; in a conversation about
anything else they plan by restating the user's wishes.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..data.rules.user_notices import words_in
from ..data.text.languages import Language, language_of
from ..data.text.text_values import written_values
from .scorers.scores import Score
from .scorers.success import KEY
from .state import State, history

Messages: TypeAlias = Sequence[Mapping[str, Any]]

TIMES = 3
"""Minimum ratio of the characters of the wordy assistant's reply to those of the good one's."""
SHARE = 0.5
"""Minimum share of a wish's words that the last reply has to contain."""

_NUMERALS = "一二三四五六七八九"
_ZH = rf"(?:\d+|[{_NUMERALS}两十]+)"
_SLOTS: Mapping[str, tuple[Mapping[Language, str], re.Pattern[str]]] = {
    slot: ({"en": english, "zh": chinese}, re.compile(pattern, re.IGNORECASE))
    for slot, english, chinese, pattern in (
        ("code", "the code", "编号", r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{4}(?!\d)"),
        ("date", "the date", "日期", r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)"),
        ("time", "the time", "时间", r"(?<!\d)\d{1,2}:\d{2}(?!\d)"),
        ("people", "the number of people", "人数", rf"(?<!\w)\d+ (?:people|persons|guests)\b|(?<![第每\d]){_ZH}\s?(?:个人|位|人)"),
        ("days", "the number of days", "天数", rf"(?<!\w)\d+ days?\b|(?<![第每\d]){_ZH}\s?天"),
        ("budget", "the budget", "预算", rf"(?<!\w)\d+ (?:euros?|dollars?|pounds?)\b|{_ZH}\s?(?:元|块)"),
        ("age", "the age", "年龄", rf"(?<!\w)\d+ years? old\b|{_ZH}\s?岁"),
    )
}  # fmt: skip
"""By slot its name in a question, and the pattern of its values in a message."""


@dataclass(frozen=True)
class FaultyTask:
    """An errand that the assistants can do."""

    words: Mapping[Language, str]
    """A pattern of the words that identify it."""
    needs: Sequence[str]
    """Names of slots, in the order of the reply."""
    done: Mapping[Language, str]
    """The report once it is done, before the values."""


_ERRANDS = [
    FaultyTask({"en": english, "zh": chinese}, slots.split(), {"en": done, "zh": done_zh})
    for slots, english, chinese, done, done_zh in (
        ("age budget date", r"\b(?:gift|present)s?\b", "礼物|送给", "the gift has been ordered", "礼物已经订好"),
        ("days people budget", r"\b(?:trip|travel|holiday)\b", "旅游|旅行|行程|游玩|出游", "the trip has been planned", "行程已经安排好"),
        ("date time people", r"\b(?:table|restaurant|dinner)\b", "餐厅|餐馆|饭店|订位|吃饭", "the table has been booked", "座位已经订好"),
        ("code date time", r"\b(?:parcel|package|delivery)\b", "包裹|快递", "the parcel has been rescheduled", "包裹已经改期"),
        ("date time people", r"\b(?:meeting|room)\b", "会议", "the room has been booked", "会议室已经订好"),
        ("code date time", r"\b(?:booking|flight|ticket|train)\b", "航班|机票|车票|预订", "the booking has been changed", "预订已经改好"),
    )
]  # fmt: skip


@dataclass(frozen=True)
class _Sentences:
    """What the assistants say in a language."""

    ask: str
    what: str
    done: str
    gap: str
    comma: str
    last: str
    plan: str
    other: str
    """A plan that the user has not asked for."""
    before: str
    after: str
    more: str
    """The wordy one's: none asks, refuses or reports something as done, since the good one's reply stands between."""


_SAID: Mapping[Language, _Sentences] = {
    "en": _Sentences(
        ask="What is {slots}, please?",
        what="What would you like me to arrange?",
        done="Done: {done} with {values}.",
        gap=" ",
        comma=", ",
        last=" and ",
        plan="Here is the plan by all that you asked for: {wishes}.",
        other="how to tidy a shed",
        before="It is always a pleasure to look after matters of this kind, and great care goes into every single step of them. "
        "Our whole team works hard so that everything runs as smoothly as anybody could hope for.",
        after="As you may be aware, quality and attention to detail lie at the very heart of what we believe in. "
        "We wish you a bright and pleasant time, whatever the weather may bring, and we value the trust of everybody who writes to us.",
        more="Much has been written about good service, and all of it comes down to patience, warmth and a friendly word.",
    ),
    "zh": _Sentences(
        ask="需要{slots}，是什么？",
        what="您想办什么事？",
        done="办好了：{done}：{values}。",
        gap="",
        comma="、",
        last="和",
        plan="按您说的全部要求，安排如下：{wishes}。",
        other="怎样整理一间储藏室",
        before="能为每一位来到这里的朋友服务，我们一直感到十分荣幸，也会认真对待每一个细节。我们的团队日夜努力，只为让一切都顺顺利利、让人放心。",
        after="质量和细心始终是我们最看重的东西，这一点多年来从没有变过。无论天气如何，都祝愿您度过愉快的时光，我们珍惜每一位朋友的信任。",
        more="关于用心服务的说法有很多，归根结底都是耐心、热情和一句亲切的话。",
    ),
}


def good(messages: Messages) -> str:
    """Asks for missing values, then reports the task as done, with every value of the user."""
    return _reply(_user_texts(messages))


def forgetful(messages: Messages) -> str:
    """Replies as the good one, but only to the user's last message."""
    return _reply(_user_texts(messages)[-1:])


def wordy(messages: Messages) -> str:
    """The good one's reply between the same long sentences, at least three times as many characters."""
    texts = _user_texts(messages)
    core, said = _reply(texts), _SAID[language_of("\n".join(texts)) or "en"]
    parts = [said.before, core, said.after]
    while sum(map(len, parts)) < TIMES * len(core):
        parts.append(said.more)
    return said.gap.join(parts)


def wrong(messages: Messages) -> str:
    """Replies as the good one, but reports the task as done with other values than the user's."""
    return _reply(_user_texts(messages), other)


PLANTED: Mapping[str, str] = {one.__name__: f"{__name__}:{one.__name__}" for one in (good, forgetful, wordy, wrong)}
"""The spec of each by its name, the reference first."""


def heeded(state: State) -> Score | None:
    """Whether the last reply keeps each of the user's turns before it: all its values, and half of its words.

    None for a scenario with a `success` of its own. It is written for these assistants, which plan by restating: an
    assistant that answers in other words would fail it.
    """
    if KEY in state["scenario"]:
        return None
    messages = history(state)
    last = max((number for number, message in enumerate(messages) if message["role"] == "assistant"), default=None)
    if last is None:
        return Score(False, "the assistant wrote nothing")
    held_words, held_values = words_in(messages[last]["text"]), written_values(messages[last]["text"])
    for text in (message["text"] for message in messages[:last] if message["role"] == "user"):
        if lacking := sorted(written_values(text) - held_values):
            return Score(False, f"the last reply lacks {lacking[0]!r}")
        words = words_in(text)
        if len(words & held_words) < SHARE * len(words):
            return Score(False, f"the last reply is not about {' '.join(text.split())[:60]!r}")
    return Score(True, "the last reply keeps every wish")


def other(value: str) -> str:
    """Another value of the same form, with another last digit or numeral; for words, another plan.

    >>> other("2026-05-31"), other("18:30"), other("4 people"), other("三天")
    ('2026-05-30', '18:32', '3 people', '二天')
    """
    digits = list(re.finditer(rf"\d|[{_NUMERALS}两十]", value))
    if not digits:
        return _SAID[language_of(value) or "en"].other
    last = digits[-1]
    before, digit = value[: last.start()], last.group()
    if not digit.isascii():
        changed = {"两": "三", "一": "二", "十": "九"}.get(digit) or _NUMERALS[_NUMERALS.find(digit) - 1]
    elif before.endswith("-3"):  # the end of a month
        changed = "1" if digit == "0" else "0"
    else:
        changed = str(int(digit) - 1) if int(digit) > 1 else "2"
    return before + changed + value[last.end() :]


def _user_texts(messages: Messages) -> list[str]:
    return [str(message["content"]) for message in messages if message["role"] == "user"]


def _reply(texts: Sequence[str], alter: Callable[[str], str] = str) -> str:
    whole = "\n".join(texts)
    language: Language = language_of(whole) or "en"
    said = _SAID[language]
    errand = next((one for one in _ERRANDS if re.search(one.words[language], whole, re.IGNORECASE)), None)
    values, is_news = _values(texts)
    # If a later message has no value, it is not an errand: then each message is a wish.
    if errand is None or any(not _values([text])[0] for text in texts[1:]):
        wishes = _listed([alter(wish) for wish in map(_in_one, texts) if wish], said)
        return said.plan.format(wishes=wishes) if wishes else said.what
    missing = [slot for slot in errand.needs if slot not in values]
    if missing and is_news:
        return said.ask.format(slots=_listed([_SLOTS[slot][0][language] for slot in missing], said))
    named = _listed([alter(values[slot]) for slot in errand.needs if slot in values], said)
    return said.done.format(done=errand.done[language], values=named or "-")


def _values(texts: Sequence[str]) -> tuple[dict[str, str], bool]:
    """The last value of each slot in messages; and whether the last message has a new one, or is the first."""
    values: dict[str, str] = {}
    is_news = len(texts) < 2
    for number, text in enumerate(texts):
        for slot, (_, pattern) in _SLOTS.items():
            for value in pattern.findall(text):
                is_news |= number == len(texts) - 1 and values.get(slot) != value
                values[slot] = value
    return values, is_news


def _in_one(wish: str) -> str:
    """A message as a part of a sentence."""
    return re.sub(r"\s*[.!?。！？;；:：\n]+\s*(?=\S)", ", ", wish.strip()).rstrip(" .,!?。，、！？;；:：")


def _listed(items: Sequence[str], said: _Sentences) -> str:
    return said.last.join(filter(None, (said.comma.join(items[:-1]), *items[-1:])))
