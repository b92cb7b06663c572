"""What a task context asks for: its first sentence as an opening, its requirements as requests, the rest to tell."""

import re
from dataclasses import dataclass

from ....data.text.languages import Language
from .voices import READ, capital, mine, phrases, sentences, short
from .wish import ASSISTANT, Wish
from .wishes_en import english_wishes
from .wishes_zh import chinese_wishes
from .words import content_words, words

MOST = 8
"""Requirements that a user asks for: a longer list would fill any talk."""

_WANTS = re.compile(
    r"\b(?:you(?:['’]re|['’]d| are| want| would| plan| need| have| hope| intend| wish)|your (?:goal|task|aim))\b"
    r"|[你您][^的，。]{0,8}(?:想|要|找|希望)|想要|打算|计划|准备|决定|計劃",
    re.IGNORECASE,
)
_META = re.compile(r"\bthe request\b|\byou decide yourself\b|没有说明|由[你您]自己决定", re.IGNORECASE)
"""Sentences about the situation's own wording: nothing to tell and nothing to ask."""


@dataclass(frozen=True)
class Situation:
    """A task context as the one who is in it sees it."""

    kind: str
    """The kind of task: travel, restaurant, recipe, gifts, skills, other."""
    opening: str
    """What is wanted, a sentence in the first person."""
    details: tuple[str, ...]
    """What else the context tells, sentences in the first person."""
    wishes: tuple[Wish, ...]


def kind_of(text: str, language: Language) -> str:
    """The kind of task whose signs are in the text most often; `other` without any."""
    kinds = phrases(language)["kinds"]
    counts = {name: len(re.findall(kind["signs"], text, re.IGNORECASE)) for name, kind in kinds.items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else "other"


def situation_of(task: str, language: Language) -> Situation:
    """The parts of a task context; one that asks for nothing gets the wishes of its kind."""
    kind = kind_of(task[:READ], language)
    parts = sentences(task)
    opening, rest = _opening(parts, language)
    wishes: list[Wish] = []
    details: list[str] = []
    for part in rest:
        if _META.search(part):
            continue
        found = list(chinese_wishes(part) if language == "zh" else english_wishes(part))
        if not found:
            if not ASSISTANT.search(part):
                details.append(capital(short(mine(part, language), 24).rstrip(".。!！")))
            continue
        wishes += found
    kept: list[Wish] = []
    seen: set[str] = set()
    for wish in wishes:
        key = set(content_words(wish.text) or words(wish.text))
        if wish.text and key - seen and len(kept) < MOST and not (wish.kind == "whole" and _has_whole(kept)):
            kept.append(wish)
            seen |= key
    if not [wish for wish in kept if wish.kind != "whole"]:
        kept = [Wish("matter", text) for text in phrases(language)["kinds"][kind]["wishes"]] + kept
    kept.sort(key=lambda wish: wish.kind == "whole")
    return Situation(kind, opening, tuple(details), tuple(kept))


def _has_whole(wishes: list[Wish]) -> bool:
    return any(wish.kind == "whole" for wish in wishes)


def _opening(parts: list[str], language: Language) -> tuple[str, list[str]]:
    """The first sentence that says what is wanted, and the others."""
    if not parts:
        return ("我有件事想请你帮忙。" if language == "zh" else "I have something to plan."), []
    wanting = [place for place, part in enumerate(parts[:4]) if _WANTS.search(part)]
    place = wanting[0] if wanting else 0
    first, rest = parts[place], parts[:place] + parts[place + 1 :]
    if language == "en":
        clauses = [clause for clause in re.split(r",\s+(?=you\b|and you\b)", first) if clause]
        while len(clauses) > 1 and not _WANTS.search(clauses[0]):
            clauses[:2] = [", ".join(clauses[:2])]
        said = mine(ASSISTANT.sub("you", clauses[0]) if ASSISTANT.search(clauses[0]) else clauses[0], language)
        said = said.replace("use you to help", "have you help me").replace("use you to", "ask you to")
        return capital(short(said, 30).rstrip(" .!?…")) + ".", [*rest, *(capital(c) for c in clauses[1:])]
    clauses = [clause for clause in re.split("[，,]", first.rstrip("。！？.")) if clause]
    told: list[str] = []
    for number, clause in enumerate(clauses):
        if ASSISTANT.search(clause) or (told and len("，".join([*told, clause])) > 60):
            continue
        told.append(clause)
        if _WANTS.search(clause):
            later = [c for c in clauses[number + 1 :] if not ASSISTANT.search(c)]
            return mine("，".join(told), "zh") + "。", [*rest, *later]
    return mine("，".join(told or clauses[:1]), "zh") + "。", rest
