"""Guards of a simulated user's messages, for the validators of the casts, and for checks of data sets.

They look at structure, in English and Chinese: marks of a chat template, the label of a role, tags and headings of a
prompt, marks at which a program stops, the instruction that was really sent. A few words are among them that only a
model says of itself. In a simulation a false alarm costs a draft; people hardly ever write what is rejected.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import takewhile
from typing import Literal, TypeAlias

from ..text.languages import HAN, says_something

UserReason: TypeAlias = Literal["empty", "role_leak", "prompt_leak"]
"""`role_leak`: speaks for another role. `prompt_leak`: reveals its instructions, its reasoning, that it is a model, or a
mark at which a program stops."""

SHARED = 80
"""Least length in characters of a stretch of an instruction that a message repeats; Chinese counts threefold."""

_SIDE = (
    r"(?:system|assistant|user|human|chatbot|chatgpt|bot|ai(?: assistant| model)?|系统|助手|助理|用户|机器人|人工智能)"
)
_BRACKETED = re.compile(
    rf"(?:^|(?<=[.!?。！？\"”] ))[*_#>\s]{{0,6}}[\[【<]\s?/?{_SIDE}\s?[\]】>]", re.IGNORECASE | re.MULTILINE
)
_LABEL = re.compile(rf"(?:^|(?<=[.!?。！？] ))[*_#>\s]{{0,6}}{_SIDE}[*_]{{0,3}}\s?[:：]", re.IGNORECASE | re.MULTILINE)
_TEMPLATE = re.compile(r"<\|[a-z_]{2,20}\|>|\[/?INST\]|<</?SYS>>")
_TAG = re.compile(
    r"^\s*</?(?:think|thinking|reasoning|analysis|instructions?|prompt|profile|task|note)>|\{\{\w+\}\}",
    re.IGNORECASE | re.MULTILINE,
)
_HEADING = re.compile(
    r"^#{2,4} ?(?:response|instructions?|system(?: prompt)?|assistant|user(?: profile)?|persona|task context|指令|人设|用户画像)(?:\W*$|[:：])"
    r"|^(?:my )?(?:persona|task context|instructions)[:：]",
    re.IGNORECASE | re.MULTILINE,
)
_STOP = re.compile(
    r"#{2,4} ?(?:STOP|END|TERMINATE|EOS|DONE|TRANSFER|OUT[-_ ]OF[-_ ]SCOPE|结束|停止)(?: ?对话)? ?#{2,4}"
    r"|[\[【<] ?/?(?:STOP|END|TERMINATE|EOS|END[-_ ]OF[-_ ]CONVERSATION|结束对话|对话结束) ?[\]】>]"
    r"|\bTERMINATE\W{0,3}\Z|</s>\W*\Z|[\[<] ?(?i:stop|end|eos) ?[\]>]\W*\Z"
)
_OF_A_MODEL = re.compile(
    r"\b(?:as|i am|i['’]m) an? (?:ai|(?:large )?language model|ai (?:assistant|language model)|virtual assistant)\b"
    r"(?! \w*(?:engineer|researcher|developer|student))"
    r"|\A\W*(?:(?:ok(?:ay)?|so),? )*the user (?:wants|is asking|asked|needs)\b|\bas the user, i\b|\bmy role as the user\b"
    r"|\bhere(?:['’]s| is) (?:my next|the user['’]s|my) message\b|\bi (?:was|am|have been) (?:told|instructed) to (?:act|play|pretend|simulate)\b"
    r"|\bsimulating (?:a|the) user\b|\bmy (?:instructions|persona) (?:say|state|tell|is to|are to)\w*"
    r"|\b(?:according to|based on|given|in) my (?:user profile|profile,?|instructions|persona)(?! (?:page|picture|on|at))\b"
    r"|(?:作为|我是)(?:一个|一名)?(?:(?:AI|人工智能)(?:语言模型|助手|模型)?|大?语言模型|模型)(?![\u4e00-\u9fff])|模拟用户|用户模拟|我的(?:人设|用户画像|指令)|根据我的(?:资料|画像|设定)|(?<!被)扮演(?:的)?(?:用户|角色)|\A\W*(?:好的[，,])?(?:该|这个|这位)?用户(?:想|需要|希望)",
    re.IGNORECASE,
)
_OFFERS = re.compile(
    r"\bhow (?:can|may) i (?:help|assist)\b|\bi(?:['’]m| am) here to (?:help|assist)\b|\bhappy to (?:help|assist) you\b"
    r"|\b(?:anything|something) else (?:i can (?:help|assist|do)|you(?:['’]d| would) like me to)\b"
    r"|(?:可以|能|能够)(?:帮|为)(?:您|你)(?:做|提供|服务|什么)|很高兴为(?:您|你)服务|有什么可以帮|还有(?:什么|其他).{0,6}(?:帮|为)(?:您|你)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|^>.*$|\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”", re.DOTALL | re.MULTILINE)
_OTHERS_LABEL = re.compile(r"\b(?:assistant|teacher)\W{0,4}$|(?:助手|助理|老师)\W{0,4}$", re.IGNORECASE | re.MULTILINE)


def user_reasons(text: str, instructions: Iterable[str] = ()) -> tuple[UserReason, ...]:
    """All reasons to reject a user's message, the worst first; empty without any.

    `instructions`: what was really sent to it, without what it is meant to say, such as its goal.
    """
    if not says_something(text):
        return ("empty",)
    reasons: list[UserReason] = []
    if leaked_role(text) or offered_help(text):
        reasons.append("role_leak")
    if leaked_prompt(text) or repeated_instruction(text, instructions):
        reasons.append("prompt_leak")
    return tuple(reasons)


def leaked_role(text: str) -> str | None:
    """The words with which the text imitates another role, such as `[System]`; None if it does not.

    What the text quotes, in quotation marks, code or lines that begin with `>`, is not its own.
    """
    own = own_words(text)
    return _first(own, _BRACKETED, _LABEL, _TEMPLATE)


def leaked_prompt(text: str) -> str | None:
    """The words that reveal an instruction, reasoning, a model, or where a program stops; None without any."""
    return _first(own_words(text), _TAG, _HEADING, _OF_A_MODEL) or _first(text, _STOP)


def offered_help(text: str) -> str | None:
    """The words with which the text offers help as an assistant does; None without any."""
    return _first(own_words(text), _OFFERS)


def label_at_start(text: str) -> str | None:
    """The label of a role, or a mark of a chat template, with which the text begins; None without one."""
    found = (match.group().strip() for one in (_BRACKETED, _LABEL, _TEMPLATE) if (match := one.match(text.lstrip())))
    return next(found, None)


def template_mark(text: str) -> str | None:
    """A mark of a chat template outside of code; None without one."""
    return _first(own_words(text), _TEMPLATE)


def own_words(text: str) -> str:
    """The text without what it quotes: code, quotation marks, quoted lines."""
    return _QUOTED.sub(" ", text)


def _first(text: str, *patterns: re.Pattern[str]) -> str | None:
    found = (match.group().strip() for pattern in patterns if (match := pattern.search(text)))
    return next(found, None)


def repeated_instruction(text: str, instructions: Iterable[str], least: int = SHARED) -> str | None:
    """A stretch of an instruction of at least `least` characters that the text repeats; None without one."""
    said = " ".join(text.split())
    folded = said.casefold()
    for instruction in instructions:
        told = " ".join(instruction.split()).casefold()
        piece = max(1, least // (6 if HAN.search(told) else 2))  # a stretch of this weight holds such a piece whole
        for at in range(0, len(told) - piece + 1, piece):
            if (start := folded.find(told[at : at + piece])) >= 0:
                before = _as_long(folded[:start][::-1], told[:at][::-1])
                shared = said[start - before : start + _as_long(folded[start:], told[at:])]
                if len(shared) + 2 * len(HAN.findall(shared)) >= least:
                    return shared
    return None


def _as_long(one: str, other: str) -> int:
    """How many characters the begins of both have in common."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def others_label(removed: str) -> bool:
    """Whether the text that was removed before a user's message is the other side's label, such as `Assistant:`."""
    return _OTHERS_LABEL.search(removed.rsplit(">", 1)[-1]) is not None


def is_repeat(text: str, earlier: Iterable[str]) -> bool:
    """Whether an earlier message is the same, apart from white space, punctuation and case."""
    key = plain_words(text).replace(" ", "")
    return bool(key) and any(plain_words(other).replace(" ", "") == key for other in earlier)


_NOT_WORD = re.compile(r"[\W_]+")


@lru_cache(maxsize=4096)  # each message is compared with all that follow it
def plain_words(text: str) -> str:
    """The text's letters and digits in lower case, other characters as single spaces."""
    return _NOT_WORD.sub(" ", text).strip().casefold()
