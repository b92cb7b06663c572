"""Replies that end too soon: inside a sentence or a code block."""

import re

from ..text.languages import HAN

LONG_TEXT = 200
"""Characters from which on a text that ends in the middle of a sentence seems cut off."""
LEAST = 40
"""Least characters of a text that seems cut off because of its last word."""

OWN_LINE = 8
"""Most words of a last line that may be a signature or a value."""

_WHOLE = re.compile(
    r"(?:https?://|www\.)\S+\Z|\S@\S+\.\S+\Z|#\w+\Z|[=\\^{}<≤≥≈→∑√]|\$[^$]+\$|\b\d[\d.,]*\s?%?\Z|^(?: {4}|\t)|[\w)\]]\(\)?;?\Z"
)
"""What a sentence is not: an address, hashtags, a formula, a number at the end, code."""
_CODE = re.compile(r"[=(\[{].*;\Z")
_UNFINISHED = re.compile(
    r"(?:[,，、;；:：(（\-–—]|\b(?:and|or|but|the|a|an|of|to|in|for|with|is|are|that|which|because|if|such as))\s*\Z",
    re.I,
)
_TAIL = 1_000
"""Last characters of a text in which its end is looked at."""

_ENDS = re.compile(r"[.!?。！？…:;)\]}\"”’』」》*_`~|>\U0001f300-\U0001faff\u2600-\u27bf]\W*\Z")
_NEVER_LAST = re.compile(
    r"\s(?:the|a|an|and|or|your|my|our|such as|because|whose|(?:is|are|was|were|means?|says?|shows?|ensure|note|fact|so) that(?: the)?)\Z"
)
"""Words that end no sentence, in small letters: a plan A and a vitamin C end one."""
_SELDOM_LAST = re.compile(r"\s(?P<word>of|to|for|with|from|by|at|as|into)\Z")
_PLACED = re.compile(
    r"\b(?:click(?:ing)?|tap|tapping|based|depend(?:s|ing)?|rel(?:y|ies|ying)|focus\w*|located|situated|held|written|published|born"
    r"|result(?:s|ed)?|available|found) (?:on|in)\Z",
    re.IGNORECASE,
)
_STRANDED = re.compile(
    r"\b(?:that|which|who|whom|what|where|how|when|whose)\b"  # the page that you log in to
    r"|\bto (?:\w+ ){1,3}(?:of|to|for|with|from|by|at)\Z"  # nobody to talk to
    r"|\b(?:want|need|have|has|had|used?|like|love|going|able|supposed|allowed|ought|got|try|wish|hope|mean|not|asked|told) to\Z"
    r"|\b(?:care|heard|thought|think|dispos\w+|sp[eo]ken?|kind|sort|made|dreamt|proud) of\Z"
    r"|\b(?:goes|go|went|pass\w*|drop|stop|close|stand\w*) by\Z|\b(?:dealt|familiar|happy|fine) with\Z"
    r"|\b(?:looked|laughed|stared|good|bad) at\Z|\b(?:looked|cared|asked|paid|hoped|wished|known) for\Z",
    re.IGNORECASE,
)
"""What makes a sentence that may end with such a word."""
_OPEN_ZH = re.compile(r"(?:和|与|以及|并且|而且|因为|由于|如果|但是|或者|把|被|从|向|对于|关于|包括|例如|比如)\Z")
_OPEN_ZH_LONG = re.compile(r"[的在是将为则就]\Z")
_STOPS_ZH = re.compile(r"[，。；、！？]")
LEAST_HAN = (10, 25)
"""Least Chinese characters of a text that ends with a word that ends no sentence, and with one that seldom does."""


def seems_cut_off(text: str) -> str | None:
    """The reason why the text seems to end too soon; None if it does not.

    It is an open code block, or the middle of a sentence.
    """
    end = text.rstrip()
    if len(re.findall(r"^[^\S\n]*(?:```|~~~)", end, re.MULTILINE)) % 2:
        return "a code block is not closed"
    last = end[-_TAIL:].rsplit("\n", 1)[-1]
    if re.match(r"\s*(?:[-*•|#>]|\d{1,2}[.)]|https?:)", last) and not _UNFINISHED.search(last):
        return None
    if _CODE.search(last):
        return None
    if _UNFINISHED.search(end[-_TAIL:]) and len(end) >= LONG_TEXT // 2 and not end.endswith((":", "：")):
        return f"ends with {end[-30:]!r}"
    if _stops_at_a_word(end, last):
        return f"ends with {end[-30:]!r}"
    if _is_own_line(end, last):
        return None
    sentences = len(re.findall(r"[.!?。！？](?:\s|$|[\u4e00-\u9fff])", end))
    return (
        f"ends with {end[-30:]!r}"
        if len(end) >= LONG_TEXT and sentences > 1 and not _ENDS.search(end[-_TAIL:])
        else None
    )


def _is_own_line(end: str, last: str) -> bool:
    """Whether the last line is whole as it is: a signature, a value, an address, a formula, hashtags, code."""
    if _WHOLE.search(last):
        return True
    return "\n" in end and len(last.split()) <= OWN_LINE and not last[:1].islower()


def _stops_at_a_word(end: str, last: str) -> bool:
    """Whether a text, whose last line is `last`, ends with a word after which a sentence goes on."""
    if re.match(r"\s*(?:[|#>]|https?:)| {4}|\t", last):
        return False
    if HAN.search(last[-1:]):
        count, stops = len(HAN.findall(end)), len(_STOPS_ZH.findall(end))
        return (count >= LEAST_HAN[0] and _OPEN_ZH.search(last) is not None) or (
            count >= LEAST_HAN[1] and stops > 1 and _OPEN_ZH_LONG.search(last) is not None
        )
    if len(end) < LEAST:
        return False
    if _NEVER_LAST.search(last) or _PLACED.search(last):
        return True
    clause = re.split(r"[.,;:!?]\s", last)[-1]
    return _SELDOM_LAST.search(last) is not None and _STRANDED.search(clause) is None
