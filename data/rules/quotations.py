"""What in a message is not the writer's own: quotations, code, quoted mails, addresses."""

import re
from functools import lru_cache

from ..text.languages import says_something

BLANK = "\ue000"
"""Stands for each character that is left out: no letter, no white space, and in no text."""

_PASTED = re.compile(
    r"```[\s\S]*?(?:```|\Z)"
    r"|`[^`\n]{1,300}`"
    r"|^[^\S\n]*[>＞].*$"
    r"|^[^\S\n]*-{2,}[^\S\n]?(?:original|forwarded) message[^\S\n]?-{2,}[\s\S]*"
    r"|^on [^\n]{5,120} wrote:[^\S\n]*$[\s\S]*"
    r"|^from:[^\n]{3,200}\n(?:(?:to|cc|date|sent):[^\n]{0,200}\n){0,4}subject:[\s\S]*"
    r"|https?://[^\s\"”’」』)）]+",
    re.IGNORECASE | re.MULTILINE,
)
_DATA_LINE = re.compile(
    r"[^\S\n]*(?:[-*][^\S\n]+)?(?P<key>[\w.$@/\"'-]+)[^\S\n]*[:=](?:[^\S\n]*|[^\S\n]+(?P<value>\S[^\n]*))"  # key: value
    r"|[^\S\n]*\[[\w .:-]+\]"  # [section]
    r"|[^\S\n]*(?:</?[\w:-]+[^<>\n]*>[^\n]*>?|[{}\[\]][\]}),;]*|\"[^\"\n]+\":[^\n]*|\{\"[^\n]*\}?,?)"
    r"|\W{0,2}\d{4}-\d\d-\d\d[ T][^\n]*|Traceback [^\n]*|[^\S\n]+File \"[^\n]*|\$ [^\n]*|(?: {4}|\t)[^\n]*"
)
_SIDE = re.compile(
    r"(?:system|assistant|user|human|chatbot|bot|ai|model|gpt|系统|助手|助理|用户|机器人|模型)", re.IGNORECASE
)
_SENTENCE = re.compile(r"[.!?。！？，]\s*$|,\s|\b(?:I|you|we|your|my)\b|[\u4e00-\u9fff]{4}")
_QUOTED = re.compile(
    r"\"[^\"\n]{1,600}\"|“[^“”]{1,600}”|‘(?:[^‘’\n]|(?<=\w)’(?=\w)){1,300}’(?!\w)|「[^「」]{1,300}」|『[^『』]{1,300}』|《[^《》\n]{1,60}》"
    # Straight single ones: apostrophes stand within a word, or before one that lacks its begin.
    r"|(?<!\w)'(?=\S)(?!(?:cause|til|till|em|tis|twas|bout|round|n|\d\ds?)\b(?!'))(?:[^'\n]|(?<=\w)'(?=\w)){1,300}(?<=\S)'(?!\w)"
)


@lru_cache(maxsize=64)  # the rules ask for the same message one after the other
def without_pasted(text: str) -> str:
    """The text with a blank for each character of code, of quoted lines and mails, and of addresses.

    Places stay the same. A text that has nothing else is left as it is: it is the writer's own, only wrapped.
    """
    return _unless_empty(_without_blocks(_PASTED.sub(lambda match: BLANK * len(match.group()), text)), text)


def _without_blocks(text: str) -> str:
    """The text with a blank for each character of settings, markup and logs.

    These are two or more lines of data in a row. A line with a side as its key is data only if its value is not a
    sentence, and if others with other keys are beside it.
    """
    if text.count("\n") < 2:
        return text
    lines = text.split("\n")
    data = [_is_data(line) for line in lines]
    first = 0
    while first < len(lines):
        last = first
        while last < len(lines) and (data[last] or (last > first and not lines[last].strip())):
            last += 1
        block = [line for line in lines[first:last] if line.strip()]
        if len(block) > 1 and any(not _is_of_side(line) for line in block):
            lines[first:last] = [BLANK * len(line) for line in lines[first:last]]
        first = max(last, first + 1)
    return "\n".join(lines)


def _is_data(line: str) -> bool:
    match = _DATA_LINE.fullmatch(line)
    if match is None:
        return False
    value = match["value"] or ""
    return not _is_of_side(line) or (len(value.split()) <= 4 and not _SENTENCE.search(value))


def _is_of_side(line: str) -> bool:
    match = _DATA_LINE.fullmatch(line)
    key = match["key"] if match and match["key"] else ""
    return _SIDE.fullmatch(key) is not None


@lru_cache(maxsize=64)
def own_words(text: str) -> str:
    """The text without what is pasted (`without_pasted`), and without what stands between quotation marks."""
    pasted = without_pasted(text)
    return _unless_empty(_QUOTED.sub(_between_marks_blanked, pasted), pasted)


def _between_marks_blanked(match: re.Match[str]) -> str:
    quotation = match.group()
    return quotation[0] + BLANK * (len(quotation) - 2) + quotation[-1]


def _unless_empty(left: str, text: str) -> str:
    return left if says_something(left) else text
