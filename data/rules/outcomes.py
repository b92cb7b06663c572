"""Phrases that decline, report something as done, or consent: a list, and no more than a list.

At most fifteen phrases a language, for English and Chinese: the notice `refusal`, the scorer `refused`, approvals by the
user and the rule-based user share them. What they do not hold is undecided; a judge decides it.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from ..text.languages import HAN

RequestOutcome: TypeAlias = Literal["refused", "done"]
"""What a text says of a request."""

LONGEST = 600
"""Most characters of a text that may decline: a longer one gives something, such as an article or a letter."""

REFUSED: Mapping[str, Sequence[str]] = {
    "en": (
        "can't",
        "cannot",
        "unable to",
        "not able to",
        "not possible",
        "no longer",
        "not allowed",
        "not available",
        "unfortunately",
        "we don't",
        "decline",
        "sold out",
        "fully booked",
        "our policy",
        "nothing i can do",
    ),
    "zh": (
        "无法",
        "不能",
        "没办法",
        "不可以",
        "抱歉",
        "遗憾",
        "恕",
        "不允许",
        "不支持",
        "拒绝",
        "做不到",
        "不了",
        "已满",
        "约满",
        "不提供",
    ),
}
DONE: Mapping[str, Sequence[str]] = {
    "en": (
        "booked",
        "reserved",
        "cancelled",
        "canceled",
        "refunded",
        "moved",
        "changed",
        "updated",
        "confirmed",
        "rescheduled",
        "exchanged",
        "processed",
        "arranged",
        "done",
        "all set",
    ),
    "zh": (
        "已办",
        "已为",
        "已帮",
        "已取消",
        "已预订",
        "已改",
        "已更",
        "好了",
        "成功",
        "完成",
        "办妥",
        "给您改",
        "帮您订",
        "搞定",
        "退了",
    ),
}
YES: Mapping[str, Sequence[str]] = {
    "en": (
        "yes",
        "yeah",
        "yep",
        "ok",
        "okay",
        "sure",
        "of course",
        "go ahead",
        "please do",
        "i confirm",
        "approved",
        "correct",
        "that's right",
        "sounds good",
        "fine",
    ),
    "zh": (
        "好",
        "好的",
        "是的",
        "可以",
        "行",
        "同意",
        "确认",
        "没错",
        "没问题",
        "对",
        "嗯",
        "当然",
        "批准",
        "请继续",
        "就这样",
    ),
}
NO: Mapping[str, Sequence[str]] = {
    "en": (
        "no",
        "nope",
        "don't",
        "do not",
        "not",
        "never",
        "stop",
        "wait",
        "hold on",
        "cancel that",
        "i refuse",
        "reject",
        "rejected",
        "decline",
        "forget it",
    ),
    "zh": (
        "不",
        "别",
        "没",
        "拒绝",
        "算了",
        "等等",
        "等一下",
        "先不",
        "不要",
        "不行",
        "不用",
        "不可以",
        "取消吧",
        "否",
        "停",
    ),
}
AGREED: Mapping[str, Sequence[str]] = {
    "en": ("no problem", "no objection", "don't mind", "do not mind", "why not", "not a problem", "no worries"),
    "zh": ("没问题", "没意见", "没错", "不介意", "不反对", "没有问题"),
}
"""Consent with a word of `NO` in it."""
OPEN: Mapping[str, Sequence[str]] = {
    "en": ("not sure", "maybe", "perhaps", "depends", "don't know", "if", "unless", "as long as"),
    "zh": ("不确定", "不知道", "也许", "可能", "如果", "除非"),
}
"""Neither consent nor its opposite."""
_SENTENCE = re.compile(r"[^.!?。！？\n]+(?:\.(?=\w)[^.!?。！？\n]+)*[.!?。！？]*")
_ASKS = re.compile(r"[?？]\W*\Z|[吗呢么]\W*\Z")
_CLAUSE = re.compile(r"[,，;；]")
_CONDITION = re.compile(
    r"\b(?:if|once|when|until|unless|before|as soon as|not|nothing|yet|to be|be)\b|n['’]t\b|如果|一旦|之前|尚未|没有",
    re.I,
)


def outcome_of(text: str) -> RequestOutcome | None:
    """The last outcome of a request in a text, done or refused; None without one of the phrases."""
    found: RequestOutcome | None = None
    for sentence in _statements(text):
        if _phrase(sentence, REFUSED):
            found = "refused"
        elif _phrase(sentence, DONE) and not _CONDITION.search(sentence):
            found = "done"
    return found


def refused(text: str) -> str | None:
    """The phrase with which a text declines to help; None without any, or in a long text."""
    if len(text) > LONGEST:
        return None
    return next((phrase for sentence in _statements(text) if (phrase := _phrase(sentence, REFUSED))), None)


def consent(text: str) -> Literal["yes", "no"] | None:
    """The answer of a text to a question for yes or no; None if it is unclear, conditional or both.

    >>> consent("Yes, please."), consent("No problem, cancel it."), consent("Please don't."), consent("What is it?")
    ('yes', 'yes', 'no', None)
    """
    answers = set[Literal["yes", "no"]]()
    for sentence in _SENTENCE.findall(text):
        if _ASKS.search(sentence):  # "Yes, and could you ...?": what it says before it asks
            sentence = _CLAUSE.split(sentence, maxsplit=1)[0] if _CLAUSE.search(sentence) else ""
        if agreed := _phrase(sentence, AGREED):
            answers.add("yes")
            sentence = sentence.casefold().replace("’", "'").replace(agreed, " ")
        if _phrase(sentence, OPEN):
            return None
        if _phrase(sentence, NO):
            answers.add("no")
        elif _phrase(sentence, YES):
            answers.add("yes")
    return answers.pop() if len(answers) == 1 else None


def _statements(text: str) -> list[str]:
    """The sentences of a text that ask nothing."""
    return [sentence for sentence in _SENTENCE.findall(text) if not _ASKS.search(sentence)]


def _phrase(sentence: str, phrases: Mapping[str, Sequence[str]]) -> str | None:
    """The first of the phrases in a sentence: English ones as whole words."""
    folded = sentence.casefold().replace("’", "'")
    if HAN.search(folded):
        return next((phrase for phrase in phrases["zh"] if phrase in folded), None)
    return next((phrase for phrase in phrases["en"] if re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", folded)), None)
