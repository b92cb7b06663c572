"""What a task context asks for: its first sentence as an opening, its requirements as requests, the rest to tell."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .voices import READ, Language, begin_small, capital, mine, phrases, sentences, short
from .words import content_words, words

MOST = 8
"""Requirements that a user asks for: a longer list would fill any talk."""

_ASSISTANT = re.compile(
    r"\b(?:an? |the |some )?(?:AI |virtual |chat |language )?(?:LLM|assistant|chatbot|language model|AI)s?\b(?:['’]s)?"
    r"|(?:智能|AI|人工智能)?(?:LLM|大语言模型|大模型|语言模型|聊天机器人|助手|助理)"
)
_WANTS = re.compile(
    r"\b(?:you(?:['’]re|['’]d| are| want| would| plan| need| have| hope| intend| wish)|your (?:goal|task|aim))\b"
    r"|[你您].{0,12}(?:想|要|打算|计划|准备|希望)|打算|计划|准备|計劃",
    re.IGNORECASE,
)
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
    r"|,? as specified |,? if |: "
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
_QUESTION = re.compile(r"(?:what|which|how|where|when|who|whether|why)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"\b(?:is|are|should|must|can|does|do|fits?|stays?|will|has|have)\b", re.IGNORECASE)
_ZH_CUE = re.compile(
    r"^.{0,14}?(?<!不)(?:需要|应当|应该|必须|希望|想要|还要|考虑到?|包括|确定|得知|了解|完成|安排好?|制定|做好|注意|明确)"
)
_ZH_LIGHT = re.compile(
    r"^(?:在?对话中|为此|此外|另外|同时|并且?|以及|并|决定|请|我|还|也|对|需要|应当|应该|必须|希望|想要|想|要|得知?|能|考虑到?|完成|包括|安排好?"
    r"|确定好?|了解|知道|制定|做好|注意|明确|规划好?|找到|给出|通过对话|出|的)"
)
_ZH_QUESTION = re.compile(r"哪|什么|如何|怎么|怎样|多少|几|是否")
_ZH_AND = re.compile(r"[、；;]|以及|及其?|(?<=.{2})和(?=.{2})|(?<=.{2})与(?=.{2})")
_ZH_END = re.compile(r"(?:等等?)?(?:的?(?:安排|整理|规划|方面|问题|内容))?等?(?:工作|事项)?$")


@dataclass(frozen=True)
class Wish:
    """One requirement: `thing`, `act`, `doing`, `matter`, `sure` or `whole` says how it is asked for."""

    kind: str
    text: str
    """In the first person."""


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
        found = list(_chinese(part) if language == "zh" else _english(part))
        if not found:
            if not _ASSISTANT.search(part):
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
        clauses = [clause for clause in re.split(r",\s+(?=you\b|with\b|and you\b)", first) if clause]
        while len(clauses) > 1 and not _WANTS.search(clauses[0]):
            clauses[:2] = [", ".join(clauses[:2])]
        said = mine(_ASSISTANT.sub("you", clauses[0]) if _ASSISTANT.search(clauses[0]) else clauses[0], language)
        said = said.replace("use you to help", "have you help me").replace("use you to", "ask you to")
        return capital(short(said, 30).rstrip(" .!?…")) + ".", [*rest, *(capital(c) for c in clauses[1:])]
    clauses = [clause for clause in re.split("[，,]", first.rstrip("。！？.")) if clause]
    told: list[str] = []
    for number, clause in enumerate(clauses):
        if _ASSISTANT.search(clause) or (told and len("，".join([*told, clause])) > 60):
            continue
        told.append(clause)
        if _WANTS.search(clause):
            later = [c for c in clauses[number + 1 :] if not _ASSISTANT.search(c)]
            return mine("，".join(told), "zh") + "。", [*rest, *later]
    return mine("，".join(told or clauses[:1]), "zh") + "。", rest


def _english(sentence: str) -> Iterator[Wish]:
    if re.search(phrases("en")["final"], sentence, re.IGNORECASE):
        yield Wish("whole", "the whole plan")
        return
    cue = _CUE.search(sentence)
    if cue is None:
        return
    if not _SUBJECT.search(sentence[: cue.start()]) and not re.match(r"includ|ensure|make sure", cue.group(), re.I):
        yield Wish("sure", begin_small(short(mine(sentence, "en"), 25).rstrip(".!")))
        return
    sure = re.match(r"ensure|make sure", cue.group(), re.IGNORECASE) is not None
    tail = _CUT.split(sentence[cue.end() :].strip(" .!:"))[0]
    for number, part in enumerate(_AND.split(tail)):
        yield from _item(part, led=number == 0, sure=sure and number == 0)


def _item(part: str | None, *, led: bool, sure: bool) -> Iterator[Wish]:
    """A part of a list of requirements; `led`: it stands directly behind "need to" or the like."""
    item = _ASSISTANT.sub("", part or "").strip(" .,;")
    if match := re.match(r"(?:ensure|make sure|be sure)(?: that)? ", item, re.IGNORECASE):
        item, sure = item[match.end() :], True
    light = 0
    while (match := _LIGHT.match(item + " ")) and light < 6:
        item, light = item[match.end() :].strip(), light + 1
    if not item or _NOTHING.match(item) or not words(item):
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


def _chinese(sentence: str) -> Iterator[Wish]:
    whole = re.compile(phrases("zh")["final"])
    for clause in re.split("[，,：:]", sentence.rstrip("。！？.")):
        clause = clause.strip()
        if whole.search(clause):
            yield Wish("whole", "整个计划")
            continue
        cue = _ZH_CUE.match(clause)
        question = _ZH_QUESTION.search(clause)
        if _ASSISTANT.search(clause) or len(clause) < 3:
            continue
        if certain := re.search("(?:确保|保证)(.{2,40})", clause):
            yield Wish("sure", mine(certain.group(1), "zh"))
            continue
        if cue is None:
            if question or re.match(r"不|符合|.{0,8}不(?:应|要|能|可)", clause):
                yield Wish("matter" if question else "sure", _bare(mine(clause, "zh"))[:40])
            continue
        item = _bare(mine(clause[cue.end() :], "zh"))
        if question:
            yield Wish("matter", item[:40])
            continue
        for part in _ZH_AND.split(_ZH_END.sub("", item)):
            text = _ZH_END.sub("", part.strip())[:24]
            if len(text) >= 2:
                yield Wish("thing", text)


def _bare(clause: str) -> str:
    """A Chinese clause without the verbs and particles that only lead to what is asked for."""
    for _ in range(8):
        match = _ZH_LIGHT.match(clause)
        if not match:
            break
        clause = clause[match.end() :]
    return clause
