"""What in a message is not the writer's own: quotations, code, quoted mails, addresses."""

import re
from functools import lru_cache

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
_QUOTED = re.compile(
    r"\"[^\"\n]{1,300}\"|“[^“”]{1,300}”|‘(?:[^‘’\n]|(?<=\w)’(?=\w)){1,300}’(?!\w)|「[^「」]{1,300}」|『[^『』]{1,300}』|《[^《》\n]{1,60}》"
    # Straight single ones: apostrophes stand within a word, or before one that lacks its begin.
    r"|(?<!\w)'(?=\S)(?!(?:cause|til|till|em|tis|twas|bout|round|n|\d\ds?)\b(?!'))(?:[^'\n]|(?<=\w)'(?=\w)){1,300}(?<=\S)'(?!\w)"
)


def without_pasted(text: str) -> str:
    """The text with a blank for each character of code, of quoted lines and mails, and of addresses.

    Places stay the same. A text that has nothing else is left as it is: it is the writer's own, only wrapped.
    """
    return _unless_empty(_PASTED.sub(lambda match: BLANK * len(match.group()), text), text)


@lru_cache(maxsize=64)  # the rules ask for the same message one after the other
def own_words(text: str) -> str:
    """The text without what is pasted (`without_pasted`), and without what stands between quotation marks."""
    pasted = without_pasted(text)
    return _unless_empty(_QUOTED.sub(_between_marks_blanked, pasted), pasted)


def _between_marks_blanked(match: re.Match[str]) -> str:
    quotation = match.group()
    return quotation[0] + BLANK * (len(quotation) - 2) + quotation[-1]


def _unless_empty(left: str, text: str) -> str:
    return left if any(character.isalnum() for character in left) else text
