"""Goodbyes: which messages of a user end a conversation or give up.

As in RecLLMSim's published generator, a message with every word of the phrase ends the conversation, in any case; the
goodbye is recorded, but not published. A test of an agent goes by any goodbye (`farewell`), a message like any other.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ..data.rules.guards import plain_words
from ..data.text.languages import Language

ENDING: Mapping[Language, str] = {"en": "Thank you, goodbye.", "zh": "谢谢，再见。"}
GIVING_UP: Mapping[Language, str] = {"en": "I give up, goodbye.", "zh": "我放弃了，再见。"}
"""The phrases with which a user ends the conversation when it has what it needs, and gives up."""
_ENDS = (("thank you", "goodbye"), ("谢谢", "再见"))
_CLOSING = re.compile(r"(?:\bthank you\W+goodbye|谢谢\W*再见)\W*$", re.IGNORECASE)


@dataclass(frozen=True)
class Ending:
    """Which messages of the user end the conversation."""

    strict: bool = False
    """Require the phrase at the end of the message; otherwise its words may be anywhere in it."""
    may_give_up: bool = False
    """Whether the phrase `GIVING_UP` ends the conversation too."""
    any_goodbye: bool = False
    """End at any words that take leave and ask nothing more (`farewell`), not only at the phrase."""
    stored: bool = False
    """Whether the goodbye is a message like any other. Otherwise it is recorded, but left out of what is published."""

    def reason(self, text: str) -> Literal["user_ended", "user_gave_up"] | None:
        """Why the conversation ends with this message; None if it does not."""
        if self.any_goodbye:
            return farewell(text)
        if self.may_give_up and any(plain_words(phrase) in plain_words(text) for phrase in GIVING_UP.values()):
            return "user_gave_up"
        normalised = " ".join(text.split()).casefold()  # a model may break the line, or write a no-break space
        if self.strict:
            return "user_ended" if _CLOSING.search(normalised) else None
        return "user_ended" if any(all(word in normalised for word in words) for words in _ENDS) else None


_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|「[^」\n]*」|『[^』\n]*』|(?<!\w)'[^'\n]*'(?!\w)")
_NO_WISH = re.compile(
    r"\b(?:if|when|should|all|everything|what|anything|nothing)(?: else| more)?(?: that)? (?:i|we)(?:'ll)? (?:\w+ )?(?:need|want)(?:ed)?\b"
    r"|\bno,? (?:thanks|thank you)\b|\bnever ?mind\b|\bi (?:do not|don't) have (?:one|any|it)\b|\bno, that\b"
    r"|\bi (?:do not|don't) (?:need|want) anything\b|\bi(?:'d like to| want to) (?:say|thank)\b|我想说|不(?:再)?(?:需要|用)|需要的"
)
"""Words about wishes that wish nothing."""
_WISHES = re.compile(
    r"[?？]|\b(?:please|can you|could you|would you|will you|wait|one more|another|what about)\b"
    r"|\b(?:i|we)(?:'d| would| also| still)* (?:need|want|like|forgot|have an?)\b|\b(?:not|don't|never|no|before|until|once|unless) (?:[\w',]+ ){0,7}(?:good ?bye|bye|go|leave)\b"
    r"|请|帮我|麻烦(?![你您]?了)|[吗呢]|还[有想要]|另外|等一下|怎么|什么时候|多少|(?:想|要|需要)(?!的)|(?:别|不|等|如果)[^，。！]*(?:再见|拜拜)|(?:再见|拜拜)之前"
)
"""Words of one who wants more, or takes no leave yet."""
_TURNS = re.compile(r"\b(?:but|however|actually|although|yet)\b|但|不过|可是")
_LEAVES = re.compile(
    r"(?:^|[.!,;:(\n—–-] *|\b(?:and|so|then|thanks?|thx|ok|okay|you|help|much|say) )(?:good[ -]?bye|bye(?:[ -]?bye)?|farewell|see you(?: (?:later|soon|then))?"
    r"|have an? (?:\w+ )?(?:day|evening|weekend|night|time|trip|one))(?= *(?:$|[^\w '-]|and\b|then\b|for now))"
    r"|\b(?:that's|that is|that was) (?:all|everything|it)(?= (?:i|we|for)\b|(?<=everything) *[.,!]|(?<=everything)$)|\b(?:nothing|anything) (?:else|more|further)\b|\bno (?:more|other|further) (?:questions?|requests?)\b"
    r"|\bthat(?:'ll be| was| will be| would be) all\b|\bauf wiedersehen\b|\btschüs+\b|\badi[oó]s\b|\bau revoir\b|\barrivederci\b"
    r"|مع السلامة|до свидания|さようなら|\b(?:i'm|we're) (?:all )?(?:set|done)\b|\b(?:gotta|got to|have to|must) (?:go|run)(?= *(?:$|[^\w '-]|now\b))|\bthat's all,? (?:thx|thanks)\b|\bno,? that's it\b|没有别的事|再见|拜拜|告辞|先走了|没有?(?:什么)?(?:别的|其他|问题|事)(?:问题|需要)?了|祝[你您]"
)
_GAVE_UP = re.compile(
    r"\bgiv(?:e|ing) up\b|\bforget it\b|\bnever ?mind\b|\bwaste of\b|\buseless\b|\b(?:not|didn't|doesn't|no|never|could not|couldn't|can't) (?:\w+ )?help(?:ful)?\b|放弃|算了|没(?:有)?(?:什么)?(?:帮助|用)"
)


def farewell(text: str) -> Literal["user_ended", "user_gave_up"] | None:
    """Why a message in anybody's own words, English or Chinese, ends the conversation; None if it does not.

    It takes leave, or says that nothing else is wanted, and asks or wishes nothing too; a goodbye that is quoted, negated
    or conditional is none. `user_gave_up`: the user also says that it gives up, or was not helped.
    """
    lines = re.sub(r"[*_`]", "", text.replace("’", "'")).casefold().splitlines()
    words = "\n".join(" ".join(line.split()) for line in lines).strip()
    if len(words) > 1 and (words[0], words[-1]) in {('"', '"'), ("“", "”"), ("「", "」")}:
        words = words[1:-1]  # a model may quote all that it says
    words = _QUOTED.sub(" x ", words)
    leave = _LEAVES.search(words)
    if leave is None or _TURNS.search(words[leave.end() :]) or _WISHES.search(_NO_WISH.sub(" ", words)):
        return None
    return "user_gave_up" if _GAVE_UP.search(words) else "user_ended"
