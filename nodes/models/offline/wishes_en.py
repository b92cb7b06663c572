"""What an English sentence of a task context asks for."""

import re
from collections.abc import Iterator

from .voices import begin_small, mine, phrases, short
from .wish import ASSISTANT, Wish
from .words import words

_TOGETHER = re.compile(
    r"^(?:please )?(?:(?:work|find|sort) out|settle|decide|agree(?: on)?|clarify|discuss|plan|choose)\b"
    r"(?:,? (?:together )?with (?:the|an|your) (?:\w+ )?(?:assistant|LLM),?)?(?: on| about)? "
    r"|^.{0,80}(?:assistant|LLM)(?:: | help you (?:to )?)",
    re.IGNORECASE,
)
"""How an imperative begins that names at once what is to be settled."""
_CUE = re.compile(
    r"\b(?:needs? to(?: be)?|should(?: also)?|have to|has to|must(?: also)?|want(?:s)? to|would (?:also )?like to|['’]d like to"
    r"|hopes? to|remember to|wish(?:es)? to|includ(?:es|e|ing)|make sure(?: that)?|ensure(?: that)?|plan to|is to)\b",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"\byou\b|\bthis\b|\bit\b|\bgoal\b|\baim\b|^\W*$|^(?:please|also|then|and|finally|remember|make)\b", re.I
)
_CUT = re.compile(
    r",? so that |,? ensuring |,? because |,? since |,? when the time |, with |,? based on |,? in order to |,? but "
    r"|,? as specified |,? if |,? until |: "
)
_AND = re.compile(
    r"\s*[,;]\s*(?:and |or |then |as well as )?|\s+as well as\s+"
    r"|\s+and (?=(?:a|an|the|your|my|how|what|which|where|when|who|any|each|every|\w+ing)\s)"
)
_LIGHT = re.compile(
    r"(?:to|also|then|(?:be )?sure (?:of|that)|mak(?:e|ing)(?: detailed)? arrangements for|arrangements for|factors such as|such as"
    r"|including|tak(?:e|ing) (?:into )?(?:account|consideration)(?: of)?|complet(?:e|ing)|consider(?:ing)?|learn(?:ing)?(?= the )"
    r"|know(?:ing)?|find(?:ing)? out|determin(?:e|ing)|decid(?:e|ing)(?: on)?|discuss(?:ing)?|think(?:ing)? about|keep(?:ing)? in mind"
    r"|includ(?:e|es)|cover(?:ing)?|settl(?:e|ing)(?: on)?|clarify(?:ing)?|get(?:ting)? (?:advice|suggestions?|ideas) (?:on|for|about)"
    r"|.{0,40}(?:help|advice|suggestions|them|it)\b (?:in|on|with|to|about)|use\s+to(?: help)?) ",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"(?:etc|with|which|who|so|but|for example|because|since|when|if|as|at|in|on|just|ensuring|during|seek|ask|help|and|or|possible)\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"(?:(?:in|from|for|with|by|at|on|to) )?(?:what|which|how|where|when|who|whether|why)\b", re.IGNORECASE
)
_CLAUSE = re.compile(r"\b(?:is|are|should|must|can|does|do|fits?|stays?|will|has|have)\b", re.IGNORECASE)


def english_wishes(sentence: str) -> Iterator[Wish]:
    """What the sentence asks for, in order."""
    if re.search(phrases("en")["final"], sentence, re.IGNORECASE):
        yield Wish("whole", "the whole plan")
        return
    if together := _TOGETHER.match(sentence):
        tail = _CUT.split(sentence[together.end() :].strip(" .!:"))[0]
        for part in _AND.split(tail):
            yield from _item(part, led=False, sure=False)
        return
    cue = _CUE.search(sentence)
    if cue is None:
        return
    if re.match(r"(?:it|this|that)\W+(?:has|must|should|needs)", sentence, re.I) or (
        not _SUBJECT.search(sentence[: cue.start()]) and not re.match(r"includ|ensure|make sure", cue.group(), re.I)
    ):
        yield Wish("sure", begin_small(short(mine(sentence, "en"), 25).rstrip(".!")))
        return
    sure = re.match(r"ensure|make sure", cue.group(), re.IGNORECASE) is not None
    tail = _CUT.split(sentence[cue.end() :].strip(" .!:"))[0]
    for number, part in enumerate(_AND.split(tail)):
        yield from _item(part, led=number == 0, sure=sure and number == 0)


def _item(part: str | None, *, led: bool, sure: bool) -> Iterator[Wish]:
    """A part of a list of requirements; `led`: it stands directly behind "need to" or the like."""
    item = ASSISTANT.sub("", part or "").strip(" .,;")
    if match := re.match(r"(?:ensure|make sure|be sure)(?: that)? ", item, re.IGNORECASE):
        item, sure = item[match.end() :], True
    light = 0
    while (match := _LIGHT.match(item + " ")) and light < 6:
        item, light = item[match.end() :].strip(), light + 1
    if not words(item) or item.startswith("be ") or (_NOTHING.match(item) and not _QUESTION.match(item)):
        return
    known = phrases("en")
    text = begin_small(short(mine(item, "en"), 16))
    first = item.split(" ", 1)[0].casefold()
    if _QUESTION.match(item):
        yield Wish("matter", text)
    elif sure or (_CLAUSE.search(item) and re.match(r"(?:the|your|my|a|an|it|there|everything|all)\b", item, re.I)):
        yield Wish("sure", text)
    elif first.endswith("ing") and " " in item and len(first) > 5:
        yield Wish("doing", text)
    elif first in known["base_verbs"].split() or (led and not light and " " in item):
        yield Wish("act", text)
    else:
        yield Wish("thing", text)
