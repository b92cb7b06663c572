"""A baseline by rules that reads the user's next message."""

import re
from collections.abc import Sequence

from .turns import HIGHEST, LOWEST, JudgedTurn

START = 4.0
"""Points of a reply to which no rule applies: people's usual points."""

COMPLAINTS = {
    "en": re.compile(
        r"\b(?:no[,.!]|not what|wrong|incorrect|that's not|isn't|doesn't|didn't|too (?:general|vague|long|short|expensive)"
        r"|more (?:detail|details|detailed|specific)|already (?:said|told)|again|useless|unhelpful|instead)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"不对|不是|不行|不够|不要|不想|不喜欢|不合适|不符合|不太|没有|错|重新|换一?[个种些]|太[贵少长短多远难简笼泛]"
        r"|更(?:详细|具体|多)|详细(?:一点|一些|点|些)|具体(?:一点|一些|点|些)|我(?:说|问)的是|刚才说|已经说"
    ),
}
"""A user who complains, corrects, or asks for the same in more detail."""
THANKS = {
    "en": re.compile(r"\b(?:thanks|thank you|great|perfect|good|helpful|sounds good|awesome|nice)\b", re.IGNORECASE),
    "zh": re.compile(r"谢谢|感谢|很好|不错|太好了|好的|可以的|满意|有用|有帮助|喜欢这"),
}
CANNOT = {
    "en": re.compile(r"\b(?:i(?:'m| am) sorry|apolog|i can(?:no|')t|i am unable|as an ai)\b", re.IGNORECASE),
    "zh": re.compile(
        r"抱歉|对不起|无法(?:提供|访问|获取|查询)|不能(?:提供|访问)|作为(?:一个|一款)?(?:AI|人工智能|语言模型)"
    ),
}
"""A reply that apologises or refuses."""
SHORT = {"en": 200, "zh": 100}
"""Characters below which a reply is short."""


def by_rules(turns: Sequence[JudgedTurn]) -> list[float]:
    """Points of each turn: 4, less for complaints, apologies, refusals and short replies, more for thanks.

    A complaint, an apology or refusal, and a short reply each cost one point; thanks add one. It reads the reply and
    the user's next message, so it judges with hindsight; it is not trained.
    """
    return [_points(turn) for turn in turns]


def _points(turn: JudgedTurn) -> float:
    language = turn.language
    points = START
    points -= bool(COMPLAINTS[language].search(turn.following))
    points += bool(THANKS[language].search(turn.following))
    points -= bool(CANNOT[language].search(turn.reply))
    points -= len(turn.reply) < SHORT[language]
    return max(float(LOWEST), min(float(HIGHEST), points))
