"""Success that a user claims though nothing shows it, and users that leave while the agent is still at it."""

import re

from ...text.content_words import content, sentences
from ..findings import Reasons, quoted
from .facts import asked_kinds
from .turns import UserReading, gives, says_unknown, waits

_DEEDS = (
    r"(?:re-?booked|booked|reserved|moved|changed|cancell?ed|refunded|rescheduled|updated|confirmed|completed|processed|arranged|scheduled|sent|paid|transferred"
    r"|added|removed|upgraded|ordered|bought|issued|registered|blocked|unblocked|locked|closed|opened|fixed|repaired|resolved|submitted|sorted(?: out)?|taken care of|done(?! (?:an?|such|so|well|great|good)\b)|finished|made|delivered|shipped|returned|gone (?:out|through)|settled|finali[sz]ed|activated|placed|purchased|raised|increased|lowered|corrected|adjusted|switched|assigned|improved|renewed|waived)"
)
_DOING = (
    r"(?:re-?booking|booking|reserving|moving|changing|cancell?ing|refunding|rescheduling|updating|confirming|completing|processing|arranging|sending|paying|transferring"
    r"|adding|removing|upgrading|ordering|buying|issuing|blocking|locking|closing|fixing|resolving|submitting|sorting|doing|finishing|making|delivering|placing|purchasing|raising|increasing|lowering|correcting|adjusting|switching|assigning|renewing|waiving|having \w+)"
)
_RESULT = r"(?:confirmation|refund|receipt|tickets?|invoice|voucher|money)"
_PRODUCT = r"(?:plan|itinerary|menu|list|recipes?|schedule|programme|program|proposal|suggestions?|answer|price|计划|菜单|清单|方案|行程|答案)"
_DONE_CLAIM = re.compile(
    rf"\b(?:thanks|thank you|thx)\b(?: \w+){{0,3}} for (?:\w+ly |already |now )?{_DOING}\b"
    r"|\b(?:thanks|thank you)\b(?: \w+){0,3} for (?!(?:check|ask|help|wait|look|try|explain|understand|lett|tell|answer|offer|reach|gett|listen|be|tak|shar|provid|suggest|respond|clarify|reply|writ|plann|assist)\w*ing\b|checking)\w+ing (?:it|this|that|my|me|him|her|us)\b"
    rf"|\b(?:thanks|thank you)\b(?: \w+){{0,2}} for (?:the|my|your) (?:\w+ )?(?:{_RESULT})\b"
    rf"|\b(?:it|that|this|everything|all|card|flight|booking|order|rent|money|hotel|present|gift|suitcase|bag|account|payment|refund|table|ticket|tickets|transfer|reservation|trip|plane|room|appointment|euros|dollars)"
    rf"(?:['’]s| is| are| has| have|['’]ve)(?: now| already| all| just| finally| been| safely)* {_DEEDS}\b"
    rf"|\b(?:the|my|our) (?:\w+ ){{1,3}}?(?:is|are|has been|have been)(?: now| already| all| just| finally| been)* {_DEEDS}\b"
    rf"|\byou(?:['’]ve| have)(?: now| already| all| just| even| finally)* {_DEEDS}\b"
    rf"|\byou (?:already|just|even|finally) {_DEEDS}\b|\bit (?:has )?(?:really |actually )?worked(?: out)?\b|\b(?:has|have) already (?:been|come|gone|shown|left|picked|dropped)\b"
    rf"|\b(?:good|glad|great|nice|happy|lovely) to (?:see|hear|know|read) (?:that )?[^.!?]*\b(?:now|already|{_DEEDS})\b|\b(?:is|are) (?:already|now) (?:in|on) my \w+\b"
    rf"|\bso (?:you|that)(?:['’]ve|['’]s| have| is) {_DEEDS}\b"
    rf"|\bi(?:['’]ve| have)? (?:can )?(?:just |already |now )*(?:see|got|received)(?: that)?(?: (?:the|your|my|a|it))?(?: \w+){{0,2}} (?:{_RESULT}|confirmation mail|{_DEEDS})\b"
    rf"|\b(?:is|are) (?:already |now )?(?:on (?:its|their|the) way|there|in my (?:account|booking))\b|\bi['’]m (?:now |already )?on the (?:plane|flight|list)\b"
    rf"|\b(?:it|money|refund|parcel) (?:has |have )?(?:already |just )?arrived\b|\bin my (?:booking|account) (?:now|already)\b"
    rf"|\b(?:app|website|system|screen|account|statement|page|bank) (?:now |already )?(?:shows|says|tells me)\b[^.!?]*\b(?:{_DEEDS}|new|higher|lower|active|there)\b"
    rf"|\bi (?:can |could )?(?:just |already |now )*(?:got|received|see|saw|read|have) (?:your |the |a |an )?(?:new )?(?:mail|e-?mail|message|text|sms|notification|letter|note|push)\b[^.!?]*\b{_DEEDS}\b"
    r"|\bi (?:can |could )?(?:already |now )*(?:see|saw|found) (?:the|my|a|it|that)\b[^.!?]*\b(?:in|on) (?:my|the) (?:app|account|inbox|statement|screen|phone|online banking|booking|profile)\b"
    r"|\b(?:arrived|landed|showed up|shows up|is|are) (?:already |now |just )?(?:in|on) my (?:app|account|inbox|statement|screen|phone|booking|card)\b",
    re.IGNORECASE,
)
_DONE_CLAIM_ZH = re.compile(
    r"(?:谢谢|感谢|多谢)[^，。！]{0,4}(?:你|您)?[^，。！]{0,3}(?:帮|给|替|为|把|已经|这么快)[^，。！]{0,14}(?:了|好|掉|上|成功|完)"
    r"|(?:看到|显示|发现)[^，。！]{0,14}(?:已经?|成功|了)[^，。！]{0,8}|收到[^，。！]{0,8}(?:确认|短信|通知|退款|钱|邮件|票|款|回执|收据)[^，。！]{0,6}"
    r"|(?:已经|都)[^，。！？]{0,8}(?:改|取消|退(?!休)|订|预订|转|付|交|冻结|停|下单|买|寄|加|办|收到|完成|处理|做|挂失|锁|发|安排|注销|登记|开|换|调|约|提高|升|更新|修)[^，。！？]{0,6}(?:了|好|成功|掉|上|出去)"
    r"|(?:你|您)(?:们)?把?[^，。！？]{0,6}(?:都)?(?:改|取消|退(?!休)|订|转|付|冻结|下单|买|寄|加|办|处理|安排|登记|开通|换|调|约|提高|升|更新|修)[^，。！？]{0,3}(?:好|完|掉|上)?了"
    r"|(?:已经|都)[^，。！？]{0,8}(?:成功|来过|生效|搞定|弄好|办妥|到位|上门)|^(?:太好了|太棒了|好极了|真棒)?[^，。！？我]{0,6}(?:成功|搞定|弄好|办妥)了"
    r"|(?:到账|钱到|收到钱|退款[^，。]{0,4}到)了?",
)
_DONE_BARE_ZH = re.compile(
    r"^[^我，。！]{0,8}(?:取消|冻结|改|订|退(?!休)|转|付|交|买|寄|办|加|约|登记|换|调)(?:好|掉|完|成功)?了"
)
_PRODUCT_CLAIM = re.compile(
    rf"\b(?:thanks|thank you)\b(?: \w+){{0,2}} for (?:the|your|this|that) (?:\w+ ){{0,2}}{_PRODUCT}\b"
    rf"|\b(?:the|this|your) (?:finished|complete|whole|full|final|entire|ready) {_PRODUCT}\b"
    r"|(?:谢谢|感谢|多谢)[^，。！]{0,4}(?:做好|准备|整理|写|给|提供)?[^，。！]{0,8}(?:计划|菜单|清单|方案|行程|答案)"
    r"|(?:完整|全部|整个|这份)的?[^，。！]{0,4}(?:计划|菜单|清单|方案|行程)[^，。！]{0,4}(?:不错|很好|好|棒|完美|详细|有了|齐了|收到)",
    re.IGNORECASE,
)
_NOT_CLAIMING = re.compile(
    r"[?？]|\b(?:not|n['’]t|never|nothing|if|when|once|until|unless|should|would|could|want\w*|need\w*|like|hope|wish|before|please|still|as soon as|after|let me know|make sure|in case|yet|will)\b|\b\w{1,9}n['’]t\b"
    r"|没|不(?!错)|如果|要是|希望|想|请|等|之后|以后|前|能否|[吗呢]|还要|需要",
    re.IGNORECASE,
)
_GLAD = re.compile(
    r"\b(?:thanks|thank you|thx|great|perfect|good|lovely|wonderful|super|ok(?:ay)?|nice|excellent|phew|cool|so|then|now|already|see|just|glad|done|kind)\b|谢|太好|好的?[，,]|棒|感谢|看到|收到|放心|已经|了",
    re.IGNORECASE,
)
_FAREWELL = re.compile(
    r"\b(?:thanks?|thank|you|anyway|bye|good ?bye|great|perfect|ok(?:ay)?|all|right|fine|okay|alright|today|super|awesome|cool|lovely|brilliant|sad|weekend|you['’]re|that|is|was|it|i|needed|need|everything|have|a|nice|good|day|evening|from|my|side|for|now|never ?mind|cheers|so|much|then|the|this|wanted|help|your|very|take care|well|done|set|no|more|nothing|else|questions?|give|up|see|later)\b|['’](?:s|ll|m)\b"
    r"|谢谢|感谢|多谢|再见|拜拜|好的?|好|行|就这些|没有?|别的事?|了|算|不用|祝|你|您|愉快|非常|我|放弃|的|其他|问题|事|太|麻烦|辛苦|够|这样|就|回头见|下次见|先|今天|吧",
    re.IGNORECASE,
)
_FACT = 0.75
"""Least share of the content words of a sentence that a fact has, if it states the fact."""
LEFT = 2
"""Most words of a goodbye beside courtesy: more may be a reason to leave."""


def false_claims(reading: UserReading) -> Reasons:
    """Messages that state a success which neither a tool nor the agent's words show."""
    for number, text in reading.own():
        if not reading.replies(number) or not _GLAD.search(text):
            continue
        deed = next((part for part in sentences(text) if _claims_deed(part) and not _is_fact(reading, part)), None)
        product = next((part for part in sentences(text) if _claims(_PRODUCT_CLAIM, part)), None)
        if deed and not reading.acted(number) and not reading.reported(number):
            yield number, f"states as done what no tool and no reply shows: {quoted(deed)}"
        elif product and not reading.gave(number):
            yield number, f"thanks for what no reply has given: {quoted(product)}"


def _is_fact(reading: UserReading, sentence: str) -> bool:
    """Whether a fact of the scenario holds the words of a sentence."""
    words = content(sentence)
    return any(words and len(words & content(fact)) >= _FACT * len(words) for fact in reading.brief.facts)


def _claims_deed(sentence: str) -> bool:
    return (
        _claims(_DONE_CLAIM, sentence)
        or _claims(_DONE_CLAIM_ZH, sentence)
        or any(_claims(_DONE_BARE_ZH, clause.strip()) for clause in re.split("[，,]", sentence))
    )


def _claims(pattern: re.Pattern[str], sentence: str) -> bool:
    return (
        pattern.search(sentence) is not None
        and _NOT_CLAIMING.search(pattern.sub(" ", sentence)) is None
        and (_NOT_CLAIMING.search(_last_match(pattern, sentence)) is None)
    )


def _last_match(pattern: re.Pattern[str], sentence: str) -> str:
    match = pattern.search(sentence)
    return match.group() if match is not None else ""


def leaves_early(reading: UserReading) -> Reasons:
    """A goodbye while the agent asks or works, before it has given, refused or reported anything."""
    number = reading.last
    if (
        reading.stop not in ("user_ended", "user_gave_up")
        or number < reading.first
        or reading.turns[number].role != "user"
    ):
        return
    text, replies = reading.turns[number].text, [reply for reply in reading.replies(number) if reply.strip()]
    if not replies or reading.acted(number) or reading.reported(number) or any(map(gives, replies)):
        return
    if says_unknown(text) or any(map(says_unknown, reading.earlier(number)[1:])) or _reasoned(text):
        return
    question = reading.question(number)
    if reading.asked_again(number):
        return
    if reading.stop == "user_gave_up" and not (_can_answer(reading, question) if question else waits(replies[-1])):
        return
    yield number, f"leaves in answer to {quoted(question or replies[-1])}"


def _reasoned(text: str) -> bool:
    """Whether a goodbye says more than goodbye."""
    rest = re.findall(r"[A-Za-z]{2,}|[\u4e00-\u9fff]", _FAREWELL.sub(" ", text))
    return len(rest) > LEFT


def _can_answer(reading: UserReading, question: str) -> bool:
    """Whether the user has a fact that the question may be about."""
    facts = reading.brief.facts
    return any(content(fact) & content(question) for fact in facts) or bool(facts and asked_kinds(question))
