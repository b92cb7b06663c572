"""Farewells in a user's own words, English and Chinese: which messages take leave and ask for nothing more.

A message ends a conversation if it contains a goodbye, or the statement that nothing else is wanted. It does not if it
asks or wishes something too. Nor does it if the goodbye is quoted, negated, conditional, or only the message's topic.
"""

import re
from typing import Literal

_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»|「[^」\n]*」|『[^』\n]*』|(?<!\w)'[^'\n]*'(?!\w)")
_BYE = r"(?:good[\s-]*bye|bye(?:[\s-]*bye)?|farewell|cheerio)"
_FROM = r"(?<![\w'-])"
_TO = r"(?=\s*(?:$|[^\w\s'-]|\s-\s|\band\b))"
_ANOTHER = r"(?:letter|party|gift|card|speech|song|message|dinner|note|email|present|cake|lunch|drinks)"
_GREETED = rf"(?:\s+(?:for now|for today|then|now|again|all|everyone|until\s[^.!?]*|(?!{_ANOTHER}\b)\w+))?"
_WHAT = r"(?:\s+(?:that\s+)?(?:i|we)(?:'ve|'d|\s+have|\s+had)?\s+(?:really\s+)?(?:need|want|ask|was looking|were looking|came)(?:ed)?(?:\s+for|\s+to know)?)"
_NOW = r"(?:\s+(?:for\s+)?(?:now|today|the moment|me|from me))*"
_KIND = r"(?:nice|good|great|lovely|wonderful|pleasant|fantastic|fine|amazing|beautiful)"
_START = r"(?:(?<![^\n.!,;:(—–-])|(?<=[\n.!,;:(—–-] )|(?<=\band )|(?<=\bso )|(?<=\byou )|(?<=\bthanks ))"

_LEAVES_EN = re.compile(
    "|".join(
        (
            # At a clause's beginning, perhaps with whom it greets.
            rf"{_START}(?:ok(?:ay)?\s+|well\s+|then\s+|alright\s+)?{_BYE}{_GREETED}{_TO}",
            # At a clause's end, but not as a thing that somebody says, gives or has.
            rf"{_FROM}(?!(?:say|says|saying|said|tell|told|wave|waved|kiss|kissed|bid|an?|the|no|not|never|my|your|our|his"
            rf"|her|its|their|this|that|of|to|me|us|him|them|without|before|with|like|word|for|as|until|final|last"
            rf"|you)\s)[\w']+\s+{_BYE}{_TO}",
            rf"\bthank you\s+{_BYE}{_TO}",
            rf"{_FROM}(?:i'll|i will|let me|time to|i have to|i must|i'd like to)\s+say\s+{_BYE}(?:\s+(?:now|then|here))?{_TO}",
            rf"{_FROM}(?:that's|that is|that was|this is|that'll be|that will be|this was)\s+(?:all|everything|it){_WHAT}{_NOW}{_TO}",
            rf"{_FROM}(?:that's|that is|that was|that'll be|that will be)\s+everything{_NOW}{_TO}",
            rf"{_FROM}(?:that's|that is|that'll be|that will be)\s+(?:all|it)\s+(?:for\s+(?:now|today|me)|from me){_TO}",
            rf"{_START}(?:no[, ]\s*)?nothing\s+(?:else|more|further){_WHAT}?{_NOW}{_TO}",
            rf"{_FROM}i\s+(?:now\s+)?have\s+(?:everything|all|what){_WHAT}{_NOW}{_TO}",
            rf"{_FROM}i(?:'ve|\s+have)\s+(?:got\s+)?(?:everything|all|what){_WHAT}{_NOW}{_TO}",
            rf"{_FROM}i\s+(?:do not|don't)\s+(?:need|want|have)\s+(?:anything\s+(?:else|more|further)|any\s+(?:more|other|further)\s+\w+){_NOW}{_TO}",
            rf"{_FROM}(?:i have\s+)?no\s+(?:more|other|further)\s+(?:questions?|requests?|help(?:\s+needed)?|wishes){_NOW}{_TO}",
            rf"{_FROM}(?:i'm|i am|we're|we are)\s+(?:all\s+set|all\s+done|done\s+here|done){_NOW}{_TO}",
            rf"{_START}have\s+an?\s+(?:very\s+|really\s+)?{_KIND}\s+(?:\w+){_TO}",
            rf"{_START}enjoy\s+(?:your|the\s+rest\s+of\s+your)\s+(?:day|evening|weekend|night){_TO}",
            rf"{_START}(?:see\s+(?:you|ya)|talk\s+(?:to\s+you\s+)?)(?:\s+(?:later|soon|then|tomorrow|around|next\s+\w+))?{_TO}",
            rf"{_START}(?:take\s+care|good\s+night|so\s+long|until\s+next\s+time|till\s+next\s+time|signing\s+off){_TO}",
        )
    )
)
_LEAVES_ZH = re.compile(
    r"(?<![说道讲不没别能想会])(?:再见|再會)(?![到面过时之前他她它你您的])|(?<![说道讲])拜拜|告辞|回头见|下次见|晚安|我?先走了|我要走了"
    r"|没有?(?:什么)?(?:别的|其他|其它|更多)(?:的)?(?:事情?|问题|需要|需求|疑问)?(?:了|(?=\W|$))|没有?(?:什么)?问题了|没(?:什么)?事了"
    r"|不(?:再)?(?:需要|用)(?:别的|其他|其它|更多)?(?:的)?(?:帮助|帮忙)?了|我?(?:需要|想要|要|想知道)的(?:就|都)(?:是)?(?:这些|齐|有)了?"
    r"|祝[你您](?:今天|一天|工作|生活|周末)?(?:过得|一切)?(?:愉快|顺利|开心|好运)"
)
_ALL_EN = re.compile(rf"{_FROM}(?:that's|that is|that'll be|that will be)\s+all{_TO}")
_ALL_ZH = re.compile(r"就这些|就这样")
_THANKS = re.compile(r"\bthank(?:s| you)\b|\bthx\b|\bcheers\b|谢谢|多谢|感谢")
_NO = re.compile(r"^\W*(?:no|nope)\b|^\W*(?:没有|不用)")

_NOT_YET = re.compile(
    r"\b(?:don't|do not|not|never|won't|cannot|can't|before|until|without|instead of|rather than)\s+(?:\w+\s+){0,3}?"
    rf"(?:say|saying|said|mean|an?|the|for|our)\s+{_BYE}|\b(?:no|not)\s+{_BYE}"
    rf"|\b(?:before|until)\s+(?:i|we)\s+(?:go|leave|hang|say)|\b{_BYE}\s*(?:,\s*)?(?:yet|before)\b"
    r"|(?:别|不要|不想|不能|没|先不)[^，。！？,.!?]*(?:再见|拜拜)|(?:再见|拜拜)之前"
)
_WAITS = re.compile(
    rf"(?:^|[.!\n])\W*(?:once|when|if|unless|after|as soon as|until)\b[^.!?\n]*\b(?:{_BYE}|that's all|that is all|all set|done)"
    r"|(?:等|如果|要是|一旦)[^。！？.!?]*(?:再见|拜拜)"
)
_HAD = re.compile(
    r"\b(?:if|when|whenever|should|all|everything|what|whatever|anything|nothing|more|else|that|information|help)\s+(?:i|we)"
    r"(?:\s+(?:ever|will|may|might))?(?:'ll)?\s+(?:ever\s+)?(?:need|want)\w*"
)
_WISHES = re.compile(
    r"[?？]"
    r"|\bplease\b|\b(?:can|could|would|will|may) (?:you|i|we)\b|\b(?:i|we)(?:'d| would| also| still| just| really)* (?:need|want|like to)\b(?! (?:to )?(?:say|thank))"
    r"|\bi wish\b|\bone (?:more|last|other) \w+|\banother (?:thing|question|wish|request)\b|\bwhat about\b|\bhow about\b|(?:^|[.!;,\n]|\boh|\bbut)\s*wait\b|\bhold on\b"
    r"|\bgo ahead\b|\bi (?:also )?(?:forgot|have (?:a|another|one) )|\b(?:tell|show|give|send|book|email|remind) (?:me|it|him|her|them|us)\b"
    r"|(?:^|[.!;,\n]|\b(?:also|then|but))\s*(?:also\s+|then\s+|now\s+|just\s+)*(?:move|change|cancel|book|check|make sure|explain|confirm|add|remove|refund|find|reserve"
    r"|do (?:it|that|this)|set|update|order|buy|help me)\b(?!\s+(?:was|is|went|has)\b)"
    r"|请(?!放心|多保重)|帮我|麻烦(?![你您]了|了)|(?:能|可)不(?:能|可以)|能否|可否|[吗呢](?=\W|$)|还有(?:一|个|件|就)|另外|对了|等一下|等等|稍等|顺便|怎么|为什么|多少|几点"
    r"|我(?:还|也)?(?:想|要|需要)(?!的|走了|说)|还(?:想|要|需要)|什么时候|是不是"
)
_TURNS = re.compile(
    r"\b(?:but|however|actually|although|oh|except|unless|still)\b(?!\s+thank)|但是?|可是|不过(?!还是)|其实|然而"
)
_GAVE_UP = re.compile(
    r"\b(?:i|i'll|i will|i'm going to|we)\s+(?:just\s+)?(?:give|giving|gave) up\b|\b(?:forget (?:about )?it|never ?mind)(?=\s*(?:$|[^\w\s'-]))"
    r"|\b(?:did not|didn't|does not|doesn't|not|no|never|little|any|hardly) (?:really |very |been |any |at all |of )*(?:help|helpful|use|useful)\b|\bwaste of (?:my )?time\b"
    r"|\bnot what (?:i|we) (?:want|need|ask)\w*|\b(?:could|can)(?:n't|not| not) (?:really )?help\b|\bdisappoint(?:ed|ing)\b"
    r"|\b(?:useless|ask(?:ing)? (?:someone|somebody) else|try (?:someone|somewhere) else)\b"
    r"|放弃|算了|没(?:有)?(?:什么)?(?:帮助|用)(?:\W|$)|浪费(?:我的)?时间"
)


def farewell(text: str) -> Literal["user_ended", "user_gave_up"] | None:
    """Why a message ends the conversation; None if it does not.

    `user_gave_up`: it takes leave and says that the user gives up, or was not helped.
    """
    words = _without_quotes(text)
    if _NOT_YET.search(words) or _WAITS.search(words):
        return None
    leave = _LEAVES_EN.search(words) or _LEAVES_ZH.search(words)
    if leave is None and (_THANKS.search(words) or _NO.search(words)):
        # "That is all." alone may also be the end of a list of facts.
        leave = _ALL_EN.search(words) or _ALL_ZH.search(words)
    if leave is None:
        return None
    rest = words
    for pattern in (_LEAVES_EN, _LEAVES_ZH, _HAD):
        rest = pattern.sub(" ", rest)
    if _WISHES.search(rest) or _TURNS.search(words[leave.end() :]):
        return None
    return "user_gave_up" if _GAVE_UP.search(words) else "user_ended"


def _without_quotes(text: str) -> str:
    """The text in lower case with one kind of apostrophe, without marks of emphasis and what is quoted in it."""
    plain = "\n".join(" ".join(line.split()) for line in text.replace("’", "'").casefold().splitlines()).strip()
    plain = re.sub(r"[*_`]", "", plain)
    if len(plain) > 1 and (plain[0], plain[-1]) in {('"', '"'), ("“", "”"), ("「", "」")}:
        plain = plain[1:-1]  # a model may quote all that it says
    return _QUOTED.sub(" x ", plain)
