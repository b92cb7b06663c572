"""Briefings: a simulated user's instructions about itself and its task in its own message."""

import re

_LABEL = re.compile(
    r"(?:^|[.!?。！？;；]\s{0,2})[*_#\s-]{0,4}(?P<whose>(?:my|your|the) )?(?P<name>persona|profile|role|goal|task|scenario|instructions?)[*_]{0,3}\s?[:：]"
    r"|(?:^|[。！？；;])\s{0,2}(?P<whose_zh>我的)?(?P<name_zh>人设|角色|画像|任务|目标|场景|指令|要求)\s?[:：]",
    re.IGNORECASE | re.MULTILINE,
)
_FORBIDDEN = re.compile(
    r"\b(?:do not|don['’]t|never|must not|not to) (?:reveal|disclose|mention|share|say|tell|break|admit|give away)\b"
    r"|\bstay in (?:character|role)\b|(?:不要|不得|不能|禁止|不可)(?:透露|泄露|提及|说出|告诉)",
    re.IGNORECASE,
)
_OF_A_PROGRAM = re.compile(
    r"\b(?:prompts?|chat ?bots?|bots?|agents?|templates?|llms?|models?|gpt)\b|提示词|机器人|模型|模板", re.IGNORECASE
)


def briefing(text: str) -> re.Match[str] | None:
    """The first label of a briefing; None without one.

    A briefing is `My persona: ... Task: ... Instructions: do not reveal ...`. It has two labels or more, and what must
    not be said; or `my persona` with a task. An author of prompts writes briefings too.
    """
    labels = list(_LABEL.finditer(text))
    names = {(match["name"] or match["name_zh"]).casefold() for match in labels}
    if len(names) < 2 or _OF_A_PROGRAM.search(text):
        return None
    own = any((match["name"] or match["name_zh"]).casefold() in ("persona", "人设") for match in labels)
    return labels[0] if own or _FORBIDDEN.search(text) else None
