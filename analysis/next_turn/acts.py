"""The acts of a user's turn: it asks, thanks, rejects the reply, or wants something new.

`question` and `thanks` are the rules of `duologue compare` (`data.text.lexicons`, `data.text.lexicons`), and `new
wish` counts content words as they do (`words.content_words`). No rule there tells a rejection: the expressions are our
own, for English and Chinese.
"""

import re
from collections.abc import Collection, Mapping
from typing import Literal, TypeAlias, get_args

from ...data.text.languages import Language
from ...data.text.lexicons import questions_in, says
from ..realism.measures.words import content_of

Act: TypeAlias = Literal["question", "thanks", "rejection", "new wish"]
ACTS: tuple[Act, ...] = get_args(Act)

NEW = 0.5
"""Minimum share of a turn's content words that do not occur before, for a new wish."""
FEWEST = 2
"""Least number of such words."""

_REJECTS: Mapping[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"\A\W*no\b(?! problem| worries)|\bnot (?:what|that|really|quite|useful|helpful|good|enough|interested|suitable|sure that)\b"
        r"|\b(?:don|doesn|didn|isn|aren|wasn)['’]?t (?:really )?(?:like|want|need|work|fit|suit|help|answer|mention|say|what|enough)\b"
        r"|\btoo (?:expensive|long|short|general|vague|far|many|much|complicated|simple|brief|tiring|difficult)\b"
        r"|\b(?:instead|rather than)\b|\bsomething (?:else|different)\b|\b(?:other|different|more specific) (?:options?|suggestions?|ideas?|ones?)\b"
        r"|\b(?:that|this|it|you)(?:['’]s| is| are|['’]re) (?:wrong|incorrect)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"不(?:行|对|想|需要|符合|适合|合适|满意|是这|是我)|(?<![他她])不喜欢|(?<!够)不够|不太(?:喜欢|适合|合适|想|满意|行|符合|现实|好吧)"
        r"|太(?:贵|多|少|长|短|远|笼统|简单|简略|复杂|累|赶|难)了|换(?:一|个|成|其他|其它|别|掉)|错(?:了|误)|去掉|删[掉去]|算了"
        r"|(?<!有)没(?:有)?(?:回答|提到|考虑|给出|说(?!明))"
    ),
}
"""What says that the reply before is not what was wanted."""


def acts_in(text: str, language: Language, before: Collection[str] | None) -> dict[Act, bool]:
    """Which acts a turn performs.

    `before`: the content words of all that was said before it; `None` for a first turn. That can reject nothing and
    wants only new things: it has neither of these two acts.
    """
    acts: dict[Act, bool] = {
        "question": questions_in(text, language) > 0,
        "thanks": says(text, "thanks", language),
    }
    if before is None:
        return acts
    words = content_of(text, language)
    new = sum(word not in before for word in words)
    acts["rejection"] = _REJECTS[language].search(text) is not None
    acts["new wish"] = new >= FEWEST and new >= NEW * len(words)
    return acts


def agreement(of_one: Mapping[Act, bool], of_other: Mapping[Act, bool]) -> dict[Act, bool]:
    """For each act whether two turns of the same place both perform it, or neither does."""
    return {act: of_one[act] == of_other[act] for act in of_one}
