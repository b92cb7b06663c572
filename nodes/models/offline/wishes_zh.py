"""What a Chinese sentence of a task context asks for."""

import re
from collections.abc import Iterator

from .voices import mine, phrases
from .wish import ASSISTANT, Wish

_CUE = re.compile(
    r"^.{0,14}?(?<!不)(?:需要|应当|应该|必须|希望|想要|还要|考虑到?|包括|确定|得知|了解|完成|安排好?|制定|做好|注意|明确)"
)
_LIGHT = re.compile(
    r"^(?:在?对话中|为此|此外|另外|同时|并且?|以及|并|决定|请|我|还|也|对|需要|应当|应该|必须|希望|想要|想|要|得知?|能|商量|弄清楚?|商定|讨论|选择?|考虑到?|完成|包括|安排好?"
    r"|确定好?|了解|知道|制定|做好|注意|明确|规划好?|找到|给出|通过对话|出(?!发)|的)"
)
_ASSISTED = re.compile(r"^.*?(?:助手|助理|LLM|模型|机器人)(?:的?帮助|一起|帮忙|帮[你您]|来|，)*")
_VAGUE = re.compile(r"完善|优化|寻求|征求|提供|完成|改进|给|出|的|$")
_QUESTION = re.compile(r"哪|什么|如何|怎么|怎样|多少|几|是否")
_AND = re.compile(r"[、；;]|以及|及其?|(?<=.{2})和(?=.{2})|(?<=.{2})与(?=.{2})")
_END = re.compile(r"(?:等等?)?(?:的?(?:安排|整理|规划|方面|问题|内容))?等?(?:工作|事项)?$")


def chinese_wishes(sentence: str) -> Iterator[Wish]:
    """What the sentence asks for, in order."""
    whole = re.compile(phrases("zh")["final"])
    for clause in re.split("[，,：:；;]", sentence.rstrip("。！？.")):
        clause = clause.strip()
        if whole.search(clause):
            yield Wish("whole", "整个计划")
            continue
        if ASSISTANT.search(clause):
            clause = _ASSISTED.sub("", clause)
            if _VAGUE.match(clause):
                continue
            clause = "确定" + clause
        if len(clause) < 3 or re.match("例如|比如|直到", clause) or re.search("没有?想好|还没", clause):
            continue
        yield from _clause(clause)


def _clause(clause: str) -> Iterator[Wish]:
    """What one clause of a Chinese sentence asks for."""
    if certain := re.search("(?:确保|保证)(.{2,40})", clause):
        yield Wish("sure", mine(certain.group(1), "zh"))
        return
    cue, question = _CUE.match(clause), _QUESTION.search(clause)
    if cue is None and not question:
        if re.match(r"不|符合|.{0,8}不(?:应|要|能|可)", clause):
            yield Wish("sure", mine(clause, "zh")[:40])
        return
    item = _bare(mine(clause[cue.end() :] if cue else clause, "zh"))
    if re.match("符合|适合|是|不", item):
        yield Wish("sure", mine(clause, "zh")[:40])
        return
    for part in _AND.split(item if question else _END.sub("", item)):
        asks = _QUESTION.search(part) is not None
        text = _bare(part.strip())[:40] if asks else _END.sub("", part.strip())[:24]
        if len(text) >= 2:
            yield Wish("matter" if asks else "thing", text)


def _bare(clause: str) -> str:
    """A Chinese clause without the verbs and particles that only lead to what is asked for."""
    for _ in range(8):
        match = _LIGHT.match(clause)
        if not match:
            break
        clause = clause[match.end() :]
    return clause
