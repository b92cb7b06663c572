"""Goodbyes: which messages of a user end a conversation or give up.

As in RecLLMSim's published generator, a message with every word of the phrase ends the conversation, in any case; the
goodbye is recorded, but not published. A test of an agent goes by any goodbye (`farewell`), a message like any other.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..data.rules import plain_words
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

    def provenance(self) -> dict[str, Any]:
        own = {name: True for name in ("any_goodbye", "stored") if getattr(self, name)}
        return {"strict": self.strict, "may_give_up": self.may_give_up, **own}


_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»|「[^」\n]*」|『[^』\n]*』|(?<!\w)'[^'\n]*'(?!\w)")
_BYE = r"(?:good[\s-]*bye|bye(?:[\s-]*bye)?|farewell|cheerio)"
_START = r"(?:(?<![^\n.!,;:(—–-])|(?<=[\n.!,;:(—–-] )|(?<=\band )|(?<=\bso )|(?<=\byou )|(?<=\bthanks ))"
_END = r"(?=\s*(?:$|[^\w\s'-]|\s-\s|\band\b))"
_TO_WHOM = r"(?:\s+(?:for now|for today|until\s[^.!?]*|(?!(?:letter|party|gift|card|speech|song|message|dinner|note|email|present|cake|lunch|drinks)\b)\w+))?"
_THAT_IS = r"\b(?:that's|that is|that was|this is|this was|that'll be|that will be)\s+"
_WANTED = r"\s+(?:that\s+)?(?:i|we)(?:'ve|'d|\s+have|\s+had)?\s+(?:really\s+)?(?:need|want|ask|was looking|were looking|came)(?:ed)?(?:\s+for|\s+to know)?"
_NOW = r"(?:\s+(?:for\s+)?(?:now|today|the moment|me|from me))*"

_LEAVES = re.compile(
    rf"(?:{_START}(?:(?:ok|okay|well|then|alright)\s+)?|\b(?:thanks|thank you|help|enough|much|time|day|all|now|then|great|perfect)\s+"
    rf"|\b(?:i'll|i will|let me|time to|i have to|i must|i'd like to)\s+say\s+){_BYE}{_TO_WHOM}{_END}"
    rf"|{_THAT_IS}(?:everything(?:{_WANTED})?{_NOW}|(?:all|it)(?:{_WANTED}{_NOW}|\s+(?:for\s+(?:now|today|me)|from me))){_END}"
    rf"|(?:{_START}(?:no[, ]\s*)?nothing|\bi (?:do not|don't) (?:need|want|have) anything)\s+(?:else|more|further)(?:{_WANTED})?{_NOW}{_END}"
    rf"|\bi(?:\s+now)?(?:\s+have|'ve)(?:\s+got)?\s+(?:everything|all|what){_WANTED}{_NOW}{_END}"
    rf"|\b(?:no|(?:do not|don't) (?:need|want|have) any) (?:more|other|further) (?:questions?|requests?|help(?: needed)?|wishes){_NOW}{_END}"
    rf"|\b(?:i'm|i am|we're|we are)\s+(?:all\s+set|all\s+done|done\s+here|done){_NOW}{_END}"
    rf"|{_START}have\s+an?\s+(?:very\s+|really\s+)?(?:nice|good|great|lovely|wonderful|pleasant|fantastic|fine|amazing|beautiful)\s+\w+{_END}"
    rf"|{_START}(?:enjoy\s+(?:your|the\s+rest\s+of\s+your)\s+(?:day|evening|weekend|night)|see\s+(?:you|ya)(?:\s+(?:later|soon|then|tomorrow|around"
    rf"|next\s+\w+))?|talk\s+(?:to\s+you\s+)?(?:later|soon)|take\s+care|good\s+night|so\s+long|(?:until|till)\s+next\s+time|signing\s+off){_END}"
    r"|(?<![说道讲不没别能想会])(?:再见|再會)(?![到面过时之前他她它你您的])|(?<![说道讲])拜拜|告辞|回头见|下次见|晚安|先走了|我要走了"
    r"|没有?(?:什么)?(?:别的|其他|其它|更多)(?:的)?(?:事情?|问题|需要|需求|疑问)?(?:了|(?=\W|$))|没有?(?:什么)?问题了|没(?:什么)?事了"
    r"|不(?:再)?(?:需要|用)(?:别的|其他|其它|更多)?(?:的)?(?:帮助|帮忙)?了|(?:需要|想要|要|想知道)的(?:就|都)(?:是)?(?:这些|齐|有)了?"
    r"|祝[你您](?:今天|一天|工作|生活|周末)?(?:过得|一切)?(?:愉快|顺利|开心|好运)"
)
_ALL = re.compile(rf"{_THAT_IS}all{_END}|就这些|就这样")
_THANKS_OR_NO = re.compile(r"\bthank(?:s| you)\b|\bthx\b|\bcheers\b|谢谢|多谢|感谢|^\W*(?:no|nope)\b|^\W*(?:没有|不用)")

_NOT_YET = re.compile(  # negated, conditional, or to come
    rf"\b(?:don't|do not|not|never|won't|cannot|can't|before|until|without|instead of|rather than)\s+(?:\w+\s+){{0,3}}?(?:say|saying|said|mean|an?|the|for|our)\s+{_BYE}|\b(?:no|not)\s+{_BYE}"
    rf"|\b(?:before|until)\s+(?:i|we)\s+(?:go|leave|hang|say)|\b{_BYE}\s*(?:,\s*)?(?:yet|before)\b"
    rf"|(?:^|[.!\n])\W*(?:once|when|if|unless|after|as soon as|until)\b[^.!?\n]*\b(?:{_BYE}|that's all|that is all|all set|done)"
    r"|(?:别|不要|不想|不能|没|先不)[^，。！？,.!?]*(?:再见|拜拜)|(?:等|如果|要是|一旦)[^。！？.!?]*(?:再见|拜拜)|(?:再见|拜拜)之前"
)
_NO_WISH = re.compile(
    r"\b(?:if|when|whenever|should|all|everything|what|whatever|anything|nothing|more|else|that|information|help)\s+(?:i|we)(?:'ll|\s+\w+)?\s+(?:ever\s+)?(?:need|want)\w*"
)
_WISHES = re.compile(
    r"[?？]|\bplease\b|\b(?:can|could|would|will|may) (?:you|i|we)\b|\b(?:i|we)(?:'d| would| also| still| just| really)* (?:need|want|like to)\b(?! (?:to )?(?:say|thank))"
    r"|\bi wish\b|\b(?:one (?:more|last|other)|another) \w+|\b(?:what|how) about\b|(?:^|[.!;,\n]|\boh|\bbut)\s*wait\b|\bhold on\b|\bgo ahead\b"
    r"|\bi (?:also )?(?:forgot|have (?:a|another|one) )|\b(?:tell|show|give|send|book|email|remind) (?:me|it|him|her|them|us)\b"
    r"|(?:^|[.!;,\n]|\b(?:also|then|but))\s*(?:(?:also|then|now|just)\s+)*(?:move|change|cancel|book|check|make sure|explain|confirm|add|remove|refund|find|reserve"
    r"|do (?:it|that|this)|set|update|order|buy|help me)\b(?!\s+(?:was|is|went|has)\b)"
    r"|请(?!放心|多保重)|帮我|麻烦(?![你您]了|了)|(?:能|可)不(?:能|可以)|能否|可否|[吗呢](?=\W|$)|还有(?:一|个|件|就)|另外|对了|等一下|等等|稍等|顺便|怎么|为什么|多少|几点"
    r"|我(?:还|也)?(?:想|要|需要)(?!的|走了|说)|还(?:想|要|需要)|什么时候|是不是"
)
_TURNS = re.compile(
    r"\b(?:but|however|actually|although|oh|except|unless|still)\b(?!\s+thank)|但是?|可是|不过(?!还是)|其实|然而"
)
_GAVE_UP = re.compile(
    r"\b(?:i|i'll|i will|i'm going to|we)\s+(?:just\s+)?(?:give|giving|gave) up\b|\b(?:forget (?:about )?it|never ?mind)(?=\s*(?:$|[^\w\s'-]))|\bwaste of (?:my )?time\b|\bdisappoint(?:ed|ing)\b|\buseless\b"
    r"|\b(?:did not|didn't|does not|doesn't|not|no|never|little|any|hardly) (?:really |very |been |any |at all |of )*(?:help|helpful|use|useful)\b"
    r"|\bnot what (?:i|we) (?:want|need|ask)\w*|\b(?:could|can)(?:n't|not| not) (?:really )?help\b|\b(?:ask(?:ing)?|try) (?:someone|somebody|somewhere) else\b"
    r"|放弃|算了|没(?:有)?(?:什么)?(?:帮助|用)(?:\W|$)|浪费(?:我的)?时间"
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
    if _NOT_YET.search(words):
        return None
    leave = _LEAVES.search(words) or (_THANKS_OR_NO.search(words) and _ALL.search(words))  # "that's all" ends lists too
    if leave is None:
        return None
    rest = _NO_WISH.sub(" ", _LEAVES.sub(" ", words))
    if _WISHES.search(rest) or _TURNS.search(words[leave.end() :]):
        return None
    return "user_gave_up" if _GAVE_UP.search(words) else "user_ended"
