"""Words with which an assistant declines, or reports something as done: one detector for every use.

The rule `refusal`, plain conversations, the scorer `refused` and the offline user with a goal share it. It reads
English, Chinese and German clause by clause, hears negation ("nothing is booked yet" is neither) and passes over
questions and conditions. Its error rates stand in docs/testing.md.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from .quotations import own_words

OPENING = 400
"""Characters of a text in which a refusal may open it."""
SHORT = 600
"""Most characters of a text in which any sentence may refuse: a longer one gives something, such as an article or a letter."""

RequestOutcome: TypeAlias = Literal["refused", "done"]
"""What a clause says of a request."""


class OutcomeWords(NamedTuple):
    """A clause with the outcome of a request."""

    outcome: RequestOutcome
    words: str


_OPENING = re.compile(
    r"\A\W{0,3}(?:(?:i['’]?m|i am) (?:so |very |really )?sorry|sorry|apologies|i apologi[sz]e|unfortunately|as an ai(?: language model| assistant)?|oh)?"
    r"[,.;:—-]{0,2}\s{0,2}(?:but )?(?:however, )?"
    r"i(?: |['’])?\s?(?:can(?:no|['’]?)t|can not|(?:am|['’]m|m) (?:unable|not able|not allowed|not permitted)(?: to)?|won['’]?t(?: be able to)?"
    r"|will not|must (?:decline|refuse)|have to (?:decline|refuse)|do(?:n['’]?t| not) (?:feel comfortable|have the ability))"
    r"\s+(?:(?:to )?(?:help|assist|provide|comply|do that|fulfil+|answer|discuss|create|generate|write|share|give|support|engage|continue|process|offer"
    r"|recommend|access|browse|complete|disclose|reveal|with)\b)"
    r"|\A[^\n]{0,120}\b(?:i (?:can(?:no|['’])t|can not)|i(?:['’]m| am) (?:unable|not able) to) (?:help|assist)(?: you)? with (?:that|this)(?: request)?\b"
    r"|\A\W{0,3}(?:很?抱歉|对不起|非常抱歉|不好意思)?[，,。]?\s?(?:但是?|作为[^，,]{0,12}[，,])?我(?:无法|不能|没办法|不会|拒绝)"
    r"(?:为您|帮您|向您|给您|为你|帮你)?(?:提供|回答|协助|帮助|满足|完成|讨论|生成|继续|透露)",
    re.IGNORECASE,
)
_UNABLE = (
    r"(?:can(?:not| not|['’]?t)|could(?: not|n['’]t)|will not|won['’]t|would(?: not|n['’]t)|(?:may|must) not"
    r"|(?:am|are|is|was|were|be|['’]m|['’]re)(?: unable| not (?:able|allowed|permitted)) to|(?:isn|aren|wasn|weren)['’]t (?:able|allowed|permitted) to)"
)
# What an assistant cannot do without anything being declined: it asks for more.
_ASKS_FOR_MORE = r"(?:be able to )?(?:find|see|locate|tell|hear|understand|recogni[sz]e|read|wait|help but|be sure|stress|identify|open the)\b"
_PLACE = r"(?:slots?|tables?|rooms?|seats?|flights?|tickets?|appointments?|dates?|times? ?slots?|hotels?|places?|doctors?|spots?|openings?|vacanc(?:y|ies)|availability)"
_REQUEST = r"(?:request|payment|card|change|application|claim|booking|order|cancell?ation|refund|transaction|update|transfer|exchange|reservation)"
_RULE = r"(?:polic(?:y|ies)|rules?|regulations?|terms)"
_SORRY = r"(?:sorry|unfortunately|sadly|regret|regrettably|apologi[sz]e|afraid)"
_DEED = (
    r"(?:re-?booked|booked|reserved|moved|changed|cancell?ed|refunded|rescheduled|updated|confirmed|completed?|processed|arranged|scheduled|exchanged|sent"
    r"|added|removed|waived|upgraded|transferred|redirected|placed|ordered|issued|registered|applied|adjusted|extended|switched|fixed|resolved|submitted"
    r"|set up|sorted|taken care of|done|made|merged|swapped|corrected|renewed|(?:de)?activated|credited|reset|amended|modified|altered|granted|finali[sz]ed|in place)"
)
_REFUSED = re.compile(
    # What somebody cannot, will not or may not do.
    rf"\b(?:i|we|system|nope,?|that|this) ?{_UNABLE} (?:\w+ly )?(?!{_ASKS_FOR_MORE})\w+"
    rf"|\b(?:no,? )?(?:it|they|these|those|(?:this|that|your) (?:\w+ ){{1,3}}) ?{_UNABLE} (?:\w+ly )?(?:be {_DEED}|work|go through)\b"
    rf"|\b(?:you|\w+s|of them) ?{_UNABLE} (?:\w+ly )?(?:get a|have (?:a|that|this|it)|change|cancel|return|rebook|be {_DEED}(?! (?:in|into|like|by)\b))\b"
    r"|\b(?:i|we) (?:must |have to |need to )?(?:decline|refuse)\b|\bhave to (?:decline|refuse)\b"
    r"|\b(?:i|we|this|that|it|(?:your|our|the) \w+) (?:do|does)(?: not|n['’]t) (?:\w+ly )?(?:offer|deliver|ship|sell|accept|allow|permit|support|include|cover|provide|let|qualify|exist|work)\b"
    r"|\bno longer (?:sell|offer|available|valid|eligible)|\bcan no longer be\b"
    rf"|\b{_SORRY}\b.*?\b{_UNABLE} be {_DEED}\b|\b{_UNABLE} be {_DEED}\b.*?\b{_SORRY}\b"
    # What is not possible, allowed, or in time.
    r"|(?:\bnot|n['’]t) (?:\w+ )?(?:possible(?! to (?!change|cancel|refund|move|book|re-?book|do|process|make|give|offer|exchange|extend))|allowed|permitted|eligible|available|entitled|refundable|transferable|something (?:i|we))\b"
    r"|\b(?:impossible|prohibited|forbidden|forbids?|ineligible|non-refundable|unavailable)\b"
    rf"|\b(?:against|outside|violates?|contrary to|under) (?:\w+ ){{0,3}}{_RULE}\b(?!.*\b(?:you|we) (?:can|may)\b)|\b{_RULE} (?:do(?:es)?(?: not|n['’]t)|prevents?|prohibits?|excludes?)\b"
    r"|\bhands are tied\b|\b(?:say|said) no\b|\bout of (?:the question|stock)\b|\boff the table\b|\brules? (?:\w+ )?out\b|\bnothing (?:more |else )?(?:i|we|that) can\b"
    r"|\b(?:no|not have|n['’]t have|lack(?:ing)?) (?:the |any )?(?:permissions?|rights?|authority|access|stock|rooms? left)\b|\bunfortunately not\b|\b(?:is|are) final\b|\bnon-transferable\b"
    r"|\bbreach(?:es)?\b|\bdiscontinued\b|\bonly (?:the|an?) (?:\w+ ){1,3}(?:may|can)\b|\brolled back\b|\b(?:isn|aren|wasn)['’]t (?:going to|accepted|covered|included|refundable)\b|\bnot accepted\b"
    r"|\btoo late (?:to|for)\b|\b(?:beyond|outside|exceeds?) (?:of )?(?:my|our|what (?:i|we))\b|\bno way (?:to|for)\b|\bno access\b"
    # Where nothing is left.
    rf"|\bno(?:thing|ne)?\b (?:of (?:our|the|my) )?(?:(?:more|other|free|open|available|further|longer) )*(?:{_PLACE}\b(?!.* (?:problem|issue))|available|free|left|open)"
    r"|\bno \w+ (?:can|may|could) be\b|\bno \w+ (?:is|are|were) (?:left|possible|allowed|given|available)\b"
    r"|\b(?:is|are|was|were|['’]s|been) (?:\w+ )?(?:sold out|out of stock|unavailable|taken(?! care)|gone(?! through)|full\b(?!-)|occupied|expired|booked (?:up|out|solid))\b"
    rf"|\b(?:fully|completely|entirely) (?:booked|reserved|occupied)\b|\b{_PLACE}\b.{{0,30}}\b(?:is|are|was) already (?:booked|reserved|taken)\b|\b(?:has|have) expired\b"
    # Somebody else's refusal, and failures.
    rf"|\b{_REQUEST}\b.{{0,60}}\b(?:denied|declined|refused|rejected)\b|\b(?:refused|denied|rejected) (?:the|your|my|our|this|that) {_REQUEST}\b|\b{_REQUEST}\b.{{0,30}}\bfailed\b"
    r"|\bno refunds?\b"
    # Chinese.
    r"|(?:抱歉|对不起|不好意思|遗憾|恕|恐怕).*?(?:无法|不能|没法|没办法|办不了|帮不了|不可以|不允许|难以|不行|没有|满|已被|已经被)"
    r"|(?:无法|不能|没法|没办法|不可以|不允许).*?(?:抱歉|对不起|不好意思)"
    r"|(?:我们?|您|你|这里|这边|政策|规定|按照|系统|[票号字位房]|订单|日期|时间)[^，,。！？]{0,12}?(?:无法|不能|没法|没办法|不可以|不允许|不支持|不退|不得)"
    r"|办不了|来不及|做不到|(?:未|没有?)(?:能)?通过|作废|(?:提示|操作|支付|预约|系统)失败|不允许|挂完|约满|没办法(?:再)?(?:安排|办|改|约)|无法(?:修改|办理|取消|退|提供|为|给|安排)|不得办|改不了|退不了|帮不了(?:您|你)|恕难|(?:我们?|只能)拒绝|被拒绝?|不符合(?!预期|期望|要求的)|不支持|没有权限|(?:没有|无)(?:可|空|多余|剩)|满员|(?:订|约|住|坐)满|客满|售(?:完|罄)|卖完|已经?被(?:预|占|订)"
    r"|(?:过期|截止|期限)了?.{0,6}(?:不|无|$)|超过.{0,6}期限|已经?过期|禁止|不予"
    # German.
    r"|\b(?:kann|können|konnte|konnten|darf|dürfen|werde|werden|lässt|lassen|geht|ging)\b(?!.*\b(?:finden|sehen|erkennen|verstehen)\b)[^,;]*\b(?:nicht|keine?n?)\b(?! nur)"
    r"|\b(?:nicht|nirgends) (?:mehr )?(?:möglich|erlaubt|gestattet|zulässig|verfügbar|vorgesehen)\b|\bunmöglich\b|\bleider nicht\b|\b(?:nimmt|nehmen|akzeptiert)\b[^,;]*\bkeine?n?\b|\b(?:fehlt|fehlen) (?:mir|uns)\b|\bablehnen\b|\bfehlgeschlagen\b|\b(?:gilt|gelten|gibt es) (?:leider )?(?:nicht|keine?n?)\b(?: mehr)?"
    r"|\b(?:ausgebucht|ausverkauft|ausgeschlossen|vergriffen|untersagt|verboten|abgelaufen|abgelehnt|verweigert)\b|\b(?:schon|bereits|leider)\b.*\b(?:vergeben|belegt|besetzt|weg)\b"
    r"|\bkeine?n?\b.{0,20}\b(?:frei\w*|mehr|verfügbar\w*)\b|\b(?:liefern|verkaufen|erstatten|bieten|akzeptieren|unterstützen)\b[^,;]*\bnicht\b|\bzu spät\b",
    re.IGNORECASE,
)
_NO_DEED = (
    r"(?:checked|looked|noticed|received|noted|tried|asked|searched|viewed|reviewed|considered|attempted|wanted|needed|used|heard|learned|helped|talked|offered"
    r"|required|limited|closed|denied|declined|rejected|refused|designed|based|supposed|allowed|expected|delayed|called|named|located|confused|interested|pleased|delighted"
    r"|discontinued|expired|failed|cut|missed|charged|located|marked|listed|opened|reported|noticed|mentioned|explained|described|discussed|always|never)"
)
_ALREADY = r"(?:now |all |already |just |also |successfully |hereby |duly |therefore |been )*"
_DONE = re.compile(
    rf"\b(?:i|we)(?:['’]ve| have) {_ALREADY}(?!{_NO_DEED}\b)(?:\w+ed|put|set|sent|made|given|taken)\b"
    rf"|\b(?:was|were|(?:has|have) {_ALREADY}been|(?:is|are) now|(?:has|have) now been) {_ALREADY}(?!{_NO_DEED}\b)\w+ed\b"
    r"|\b(?:is|are) (?:now )?(?:active|ready|live|back|in place|on its way|fitted|placed|attached)\b|\bconsider it\b|\battached\b|\b(?:voucher|code|discount|credit) applied\b"
    rf"|\b(?:i|we)(?:['’]ve| have)? {_ALREADY}(?:went ahead and |gone ahead and )?{_DEED}\b"
    rf"|\b(?:i|we)(?:['’]ve| have)? {_ALREADY}(?:(?:went|gone) ahead|managed to|succeeded)\b"
    rf"|(?<!to )\b(?:is|are|was|were|has been|have been|['’]s|['’]ve been|['’]re|got) {_ALREADY}{_DEED}\b(?! (?:by (?:the )?(?:tomorrow|end)|for (?:changes|questions)))"
    r"|\A\W*(?:all )?(?:done|set|sorted)\b|\ball set\b|\ball done\b|\btaken care of\b|\bthere you (?:go|are)\b|\bhere(?:['’]s| is| are) (?:the|your|a)\b"
    r"|\beverything is\b|\b(?:is|are) now\b(?! too)|\b(?:went|gone) through\b|\bit worked\b|\bsuccessfully\b|\bcongratulations\b"
    rf"|\A\W*(?:(?!be\b|to\b)\w+ ){{0,3}}(?:(?:re-?)?booked|reserved|moved|changed|cancell?ed|refunded|rescheduled|updated|confirmed|completed?|processed|arranged|exchanged)\b(?=\W|\s+(?:for|to|under|on)\b)"
    # Chinese.
    r"|已(?!经?(?:满|过|被|售|停|截|来不及|发货|超|下架|有|是|知))|(?:取消|续借|预约|预订|挂失|重置|修改|绑定|报名|办理|下单|退订)(?:成功|完成|好了?|上了?|了)"
    r"|(?:给|帮|替|为|把|将)[^，,。！]{1,12}?(?:好|掉|上|完|成功|抵扣|挂失)了?(?:[，,。！]|\Z)|(?:给|帮|替|为|把|将)[^，,。！]{1,12}?了(?:[，,。！]|\Z)|这是(?:您|你)"
    r"|(?:改|办|订|约|安排|处理|换|退|弄|设置)好了?|搞定|(?:预订|预约|修改|取消|更新|退款|办理|提交|支付|改签|更改)(?:成功|完成)|(?:给|帮|替|为)(?:您|你)[^，,。]{0,4}?(?:订|改|换|退|取消|安排)[^，,。]{0,4}?了|取消了|退款了|如下"
    # German.
    r"|\b(?:ist|sind|wurde|wurden|habe|haben|hat|war|worden)\b.*\b(?:gebucht|reserviert|storniert|verschoben|geändert|bestätigt|umgebucht|erstattet|veranlasst|erledigt|geklappt"
    r"|angepasst|gesperrt|gekündigt|freigeschaltet|gutgeschrieben|gelöscht|gesendet|verschickt|eingetragen|verlegt|aktualisiert|abgeschlossen|hinzugefügt|entfernt|getauscht|verlängert|gutgeschrieben)\b"
    r"|\b(?:ist|sind|wurde|wurden|habe|haben)\b(?!.*\b(?:erhalten|verstanden|gefunden|gesehen|gelesen|bekommen|versucht|geprüft|fehlgeschlagen|gefragt)\b)[^,;?]*\b(?:(?:\w{2,5})?ge\w{3,}(?:t|en)|\w{3,}iert)\b"
    r"|\bhier (?:ist|sind|haben)\b|\bsteht jetzt\b|\bsteht\b:?(?=\s*:)|\A\W*(?:alles )?(?:erledigt|fertig|gebucht|storniert|reserviert|geschafft)\b",
    re.IGNORECASE,
)
_UNDONE = re.compile(
    r"\b(?:not(?! only)|no(?! problem| trouble| worr|,)|never|nothing|none|cannot|unable|failed|pending|about to|yet to)\b|n['’]t\b"
    r"|(?:没有?(?!问题)|未|不(?!客气|用)|无法)|\b(?:nicht(?! nur)|nichts|keine?[nmrs]?(?! problem)|noch zu)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"(?:\A|[,;:] ?|\b(?:and|but|or) )\W*(?:if|once|when(?:ever)?|unless|before|until|as soon as|after|in case|should|provided|assuming|to (?:have|get|be)|please)\b"
    r"|\b(?:if|once|as soon as|until|unless|when) (?:you|the|your|it|we|this|that|payment)\b|\b(?:would|will|can|could|may|must|to) be\b|\bwant(?:s|ed)? (?:it|to)\b"
    r"|如果|若|要是|之后才|以后才|之前|一旦|请(?!放心)|\b(?:wenn|sobald|falls|bevor|soll|sollen|möchten|würde|bitte)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?。！？\n]+(?:\.(?=\w)[^.!?。！？\n]+)*[.!?。！？]*")
_CLAUSE = re.compile(
    r"[;；]|,? ?\b(?:but|however|though|although|yet I|aber|jedoch)\b|，?(?:但是?|不过|可是)", re.IGNORECASE
)
_ASKS = re.compile(r"[?？]\W*\Z|[吗呢么]\W*\Z")


def outcomes(text: str) -> Iterator[OutcomeWords]:
    """The outcomes of a request in the clauses of a text, in their order; quotations are left out."""
    for sentence in _SENTENCE.findall(own_words(text)):
        if _ASKS.search(sentence):
            continue
        before = ""
        for clause in _CLAUSE.split(sentence):
            if _REFUSED.search(clause):
                yield OutcomeWords("refused", " ".join(sentence.split()))
            elif (part := _deed(clause)) and not _CONDITION.search(before + part):
                yield OutcomeWords("done", " ".join(sentence.split()))
            before += clause


def _deed(clause: str) -> str:
    """The clause up to where the remark behind a deed begins; empty without a deed, or if it is denied."""
    match = _DONE.search(clause)
    if match is None:
        return ""
    part = clause[: match.end()] + re.split(r"[,，:]|\b(?:and|und)\b", clause[match.end() :], maxsplit=1)[0]
    return "" if _UNDONE.search(part) else part


def refused(text: str) -> str | None:
    """The words with which a text declines to help; None without any.

    They open the text; in a short text they may be any of its sentences but a question ("Can't you find it?").
    """
    if match := _OPENING.search(text[:OPENING]):
        return match.group().strip()
    if len(text) > SHORT:
        return None
    return next((words for outcome, words in outcomes(text) if outcome == "refused"), None)


def outcome_of(text: str) -> RequestOutcome | None:
    """The last outcome of a request in a text, done or refused; None without one."""
    if clauses := list(outcomes(text)):
        return clauses[-1].outcome
    return "refused" if _OPENING.search(text[:OPENING]) else None
