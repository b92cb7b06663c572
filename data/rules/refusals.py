"""Words that decline, report something as done, or consent: one detector for every use.

The rule `refusal`, plain conversations, the scorer `refused`, approvals and the offline user with a goal share it. It
reads English, Chinese and German clause by clause, hears negation ("nothing is booked yet" is neither) and passes over
questions and conditions. Its error rates stand in docs/test/testing.md.
"""

import re
from collections.abc import Iterator, Sequence
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
_DEED = (
    r"(?:re-?booked|booked|reserved|moved|changed|cancell?ed|refunded|rescheduled|updated|confirmed|completed?|processed|arranged|scheduled|exchanged|sent"
    r"|added|removed|waived|upgraded|transferred|redirected|placed|ordered|issued|registered|applied|adjusted|extended|switched|fixed|resolved|submitted"
    r"|set up|sorted|taken care of|done|made|merged|swapped|corrected|renewed|(?:de)?activated|credited|reset|amended|modified|altered|granted|finali[sz]ed|in place)"
)
_PLACE = r"(?:slots?|tables?|rooms?|seats?|flights?|tickets?|appointments?|dates?|times? ?slots?|hotels?|places?|doctors?|spots?|openings?|vacanc(?:y|ies)|availability)"
_REQUEST = r"(?:request|payment|card|change|application|claim|booking|order|cancell?ation|refund|transaction|update|transfer|exchange|reservation)"
_RULE = r"(?:polic(?:y|ies)|rules?|regulations?|terms)"
_SORRY = r"(?:sorry|unfortunately|sadly|regret|regrettably|apolog(?:i[sz]e|ies)|afraid)"
# What a negation does not refuse: it asks for more, or calms.
_HARMLESS = (
    r"(?:be able to )?(?:(?:\w+ )?(?:find|see|locate|tell|hear|understand|recogni[sz]e|read|catch|know)|wait|help but|be sure|stress|identify|open the|need|worry|matter|mind|cost"
    r"|mean|think|want|seem|look|take (?:long|more)|be long|lose|hurt|hesitate|remember|forget|yet|only|just|require)\b"
)
_CANNOT = (
    r"(?:can(?:not| not|['’]?t)|could(?: not|n['’]t)|(?:will|would|may|must)(?: not|n['’]t)|won['’]t"
    r"|(?:am|are|is|was|were|be|['’]m|['’]re)(?: unable| not (?:able|allowed|permitted)) to|(?:isn|aren|wasn|weren)['’]t (?:able|allowed|permitted) to)"
)
_NOT = r"(?:not|\w+n['’]t|no longer)"
_REFUSED = re.compile(
    # Modal and negation: what somebody or something cannot, will not or does not do. "You" may go without many things.
    rf"(?<!you )(?<!yet )\b{_CANNOT} (?:\w+ly )?(?!{_HARMLESS}|be (?:charged|billed|\w+ (?:in|into|like))\b)\w"
    rf"|\byou {_CANNOT} (?:\w+ly )?(?:get|have|change|cancel|return|re-?book|be {_DEED}(?! (?:in|into|like|by)\b))\b"
    rf"|(?<!you )(?<!please )\b(?:do|does)(?: not|n['’]t) (?:\w+ly )?(?!{_HARMLESS}|have\b|include a fee)\w"
    r"|(?:\bno|\bnot have|n['’]t have|\black(?:ing)?) (?:\w+ )?(?:permissions?|rights?|authority|access|stock|rooms? left)\b"
    # Negation and what is possible, allowed or on offer; a negated deed is only not done yet.
    rf"|\b{_NOT} (?:\w+ )?(?:possible(?! to (?!change|cancel|refund|move|book|re-?book|do|process|make|give|offer|exchange|extend))|available|valid|something|accepting|taking|offering"
    r"|allowed|permitted|authori[sz]ed|accepted|covered|included|supported|entitled|eligible|going to|refundable|transferable|exchangeable|welcome)\b"
    rf"|\bno longer (?!charged|blocked|need|be (?:charged|billed))\w+|\b(?:stopped|ceased) \w+ing\b"
    r"|\b(?:impossible|prohibited|forbidden|forbids?|ineligible|non-(?:refundable|transferable)|unavailable|discontinued)\b|\bno refunds?\b"
    rf"|\b(?:against|outside|violates?|contrary to|under) (?:\w+ ){{0,3}}{_RULE}\b(?!.*\b(?:you|we) (?:can|may)\b)|\b{_RULE} (?:prevents?|prohibits?|excludes?)\b|\bbreach(?:es)?\b"
    r"|\bhands are tied\b|\b(?:say|said) no\b|\bout of (?:the question|stock)\b|\boff the table\b|\brules? (?:\w+ )?out\b|\bnothing (?:more |else )?(?:i|we|that) can\b"
    rf"|\b(?:is|are) final\b|\bonly (?:the|an?) (?:\w+ ){{1,3}}(?:may|can)\b|\brolled back\b|\btoo late (?:to|for)\b|\b(?:beyond|outside|exceeds?) (?:of )?(?:my|our|what (?:i|we))\b|\bno (?:way (?:to|for)|can do)\b"
    # Where nothing is left.
    rf"|\b(?:no(?:thing|ne)?|nobody|no one)\b (?:of (?:our|the|my) )?(?:(?:more|other|free|open|available|further|longer|here) )*(?:{_PLACE}\b(?!.* (?:problem|issue)| (?:fee|charge|surcharge|cost|limit|restriction|change)s?\b)|available|free|left|open|is (?:able|allowed|authori[sz]ed))"
    r"|\bno \w+ (?:can|may|could) be\b|\bno \w+ (?:is|are|were) (?:left|possible|allowed|given|available)\b|\bso no \w+"
    r"|\b(?:is|are|was|were|['’]s|been) (?:\w+ )?(?:sold out|unavailable|taken(?! care)|gone(?! through)|full\b(?!-)|occupied|expired|booked (?:up|out|solid))\b|\b(?:ran|has run|have run) out\b(?! of (?:time|space))"
    rf"|\b(?:fully|completely|entirely) (?:booked|reserved|occupied)\b|\b{_PLACE}\b.{{0,30}}\b(?:is|are|was) already (?:booked|reserved|taken)\b|\b(?:has|have) (?:expired|lapsed)\b|\b(?:someone|somebody|another \w+) (?:else )?(?:got|took|has)\b"
    # Apology and a state that ends the matter.
    r"|\b(?:unfortunately|sadly|regrettably|(?:i['’]m )?afraid (?!of\b)|leider|bedaure|bedauerlicherweise)\b(?!.*\b(?:need|miss(?:ing)?|delay\w*|brauche\w*|benötige\w*|fehlt noch)\b)|遗憾"
    rf"|\b{_SORRY}\b.*?\b(?:not|closed|full|gone|over|{_CANNOT} be {_DEED})\b|\b{_CANNOT} be {_DEED}\b.*?\b{_SORRY}\b"
    # Who declined: somebody else too, and failures.
    rf"|\b(?:i|we|must|have to|need to|going to(?: have to)?) (?:decline|refuse|turn (?:\w+ ){{1,3}}down)\b|\b(?:rejected|declined|denied|refused|overruled|turned (?:\w+ ){{0,3}}down)\b|\b{_REQUEST}\b.{{0,30}}\bfailed\b"
    # Chinese: a verb that cannot reach its end, and "not" before what one does for customers.
    r"|(?<![找看收查听少免忘])[\u4e00-\u9fff]不(?:了|成|上(?!传)|动)(?![解起])|(?<!能)(?<!要)不(?:再)?(?:外借|出诊|接|对外|提供|办|出售|卖|送|退|换(?!乘|车)|给(?!.{0,8}(?:添|造成|带来))|予|允许|可以|支持|符合(?!预期|期望|要求的))|没有?了|都[^，。]{0,6}(?:满|完|出去|光)了|(?:停产|停售|停办|停运)了?"
    r"|(?:抱歉|对不起|不好意思|遗憾|恕|恐怕).*?(?:无法|不能|没法|没办法|不可以|难以|不行|没有|满|结束|已被|已经被)"
    r"|(?:无法|不能|没法|没办法|不可以).*?(?:抱歉|对不起|不好意思)"
    r"|(?:我们?|您|你|这里|这边|政策|规定|按照|系统|[票号字位房]|订单|日期|时间)[^，,。！？]{0,12}?(?:无法|不能|没法|没办法|不可以|不退|不得)(?!不|错过|忘|少)"
    r"|来不及|做不到|(?:未|没有?)(?:能)?(?:通过|成功)|作废|(?:提示|操作|支付|预约|系统)失败|挂完|约满|没办法(?:再)?(?:安排|办|改|约)|无法(?:修改|办理|取消|退|提供|为|给|安排)|不得办|恕难|(?:我们?|只能)拒绝|被[^，。]{0,4}拒绝?了?|没有权限|(?<!有)(?:没有|无)(?:可|空|多余|剩)|满员|(?:订|约|住|坐)满|客满|售(?:完|罄)|卖完|已经?被(?:预|占|订)"
    r"|(?:过期|截止|期限)了?.{0,6}(?:不|无|$)|超过.{0,6}期限|已经?过期|禁止"
    # German: modal or verb of offering with negation, and what is not possible or left.
    r"|\b(?!(?:ist|sind|habe|haben|hat|hatte|hatten|wurde|wurden|müssen|muss|brauche|brauchen|kostet|kosten|finde|finden|sehe|sehen|weiß|wissen|bitte)\b)(?:\w{2,}(?:e|t|en|rn|ln)|kann|darf)\b(?![^,;]*\b(?:finden|sehen|erkennen|verstehen|noch|problem|sorgen?|erhalten|belastet|berechnet|wenn|falls|sobald|bevor)\b)[^,;]*\b(?:nicht|keine?n?)\b(?! nur)"
    r"|\b(?:nicht|nirgends) (?:mehr )?(?:möglich|erlaubt|gestattet|zulässig|verfügbar|vorgesehen)\b|\bunmöglich\b|\bleider nicht\b|\b(?:fehlt|fehlen) (?:mir|uns)\b|\bablehnen\b|\bfehlgeschlagen\b|\b(?:gilt|gelten|gibt es) (?:leider )?(?:nicht|keine?n?)\b(?: mehr)?"
    r"|\b(?:ausgebucht|ausverkauft|ausgeschlossen|vergriffen|untersagt|verboten|abgelaufen|abgelehnt|verweigert)\b|\b(?:schon|bereits|leider|leid|bedaure|alle)\b.*\b(?:vergeben|belegt|besetzt|voll|(?<!dem )weg)\b"
    r"|\bkeine?n?\b.{0,20}\b(?:frei\w*|mehr|verfügbar\w*)\b|\bzu spät\b",
    re.IGNORECASE,
)
# What is not needed is refused to nobody.
_NEEDLESS = re.compile(
    r"\b(?:need|require)(?:s|d|ed|ing)? no (?:\w+ )?\w+(?:,? (?:and|or|nor) no (?:\w+ )?\w+)*"
    r"|\bno (?:(?!is\b|are\b|was\b|were\b)\w+ ){1,4}(?:(?:is|are|was|were) )?(?:needed|required|necessary)\b"
    r"|\bbenötig(?:e|t|en) keine?n? \w+|\b(?:keine?n? (?:\w+ ){1,3}|nicht )(?:nötig|erforderlich|notwendig)\b",
    re.IGNORECASE,
)
_NO_DEED = (
    r"(?:checked|looked|noticed|received|noted|tried|asked|searched|viewed|reviewed|considered|attempted|wanted|needed|used|heard|learned|helped|talked|offered"
    r"|required|limited|closed|denied|declined|rejected|refused|designed|based|supposed|allowed|expected|delayed|called|named|located|confused|interested|pleased|delighted"
    r"|discontinued|expired|failed|cut|missed|charged|located|marked|listed|opened|reported|noticed|mentioned|explained|described|discussed|always|never)"
)
_STATE = r"(?:included|priced|rated|situated|owned|served|sold|delivered|shipped|paid|used|made|related|planned|billed|signed|linked|blocked|occupied|crowded|renovated|needed)"
_ALREADY = r"(?:now |all |already |just |also |successfully |hereby |duly |therefore |been )*"
_DONE = re.compile(
    rf"\b(?:i|we)(?:['’]ve| have) {_ALREADY}(?!{_NO_DEED}\b)(?:\w+ed|put|set|sent|made|given|taken|got|let|drawn|written|chosen|held|left|signed|kept|brought|done)\b"
    rf"|\b(?:was|were|(?:has|have) {_ALREADY}been|(?:is|are) now|(?:has|have) now been) {_ALREADY}(?!{_NO_DEED}\b)\w+ed\b"
    rf"|\b(?:your|the|both|all|they|it|name \w+) (?:\w+ ){{0,4}}(?:is|are) (?!{_NO_DEED}\b|{_STATE}\b)\w+ed\b"
    r"|\b(?:is|are) (?:now )?(?:active|ready|live|back|in place|on its way|fitted|placed|attached)\b|\bconsider it\b|\battached\b|\b(?:voucher|code|discount|credit) applied\b"
    rf"|\b(?:i|we)(?:['’]ve| have)? {_ALREADY}(?:went ahead and |gone ahead and )?{_DEED}\b"
    rf"|\b(?:i|we)(?:['’]ve| have)? {_ALREADY}(?:(?:went|gone) ahead|managed to|succeeded)\b"
    rf"|(?<!to )\b(?:is|are|was|were|has been|have been|['’]s|['’]ve been|['’]re|got) {_ALREADY}{_DEED}\b(?! (?:by (?:the )?(?:tomorrow|end)|for (?:changes|questions)))"
    r"|\A\W*(?:all )?(?:done|set|sorted)\b|\ball set\b|\ball done\b|\btaken care of\b|\bthere you (?:go|are)\b|\bhere(?:['’]s| is| are) (?:the|your|a)\b"
    r"|\beverything is\b|\b(?:is|are) now\b(?! too)|\b(?:went|gone) through\b|\bit worked\b|\bsuccessfully\b|\bcongratulations\b"
    rf"|\A\W*(?:(?!be\b|to\b)\w+ ){{0,3}}(?:(?:re-?)?booked|reserved|moved|changed|cancell?ed|refunded|rescheduled|updated|confirmed|completed?|processed|arranged|exchanged)\b(?=\W|\s+(?:for|to|under|on)\b)"
    # Chinese.
    r"|已(?!经?(?:满|过|被|售|停|截|来不及|发货|超|下架|有|是|知))|(?:取消|续借|预约|预订|挂失|重置|修改|绑定|报名|办理|下单|退订)(?:成功|完成|好了?|上了?|了)"
    r"|(?:给|帮|替|为|把|将)[^，,。！]{1,12}?(?:好|掉|上|完|成功|抵扣|挂失)了?(?=[，,。！]|\Z)|(?:给|帮|替|为|把|将)[^，,。！]{1,12}?了(?=[，,。！]|\Z)|这是(?:您|你)"
    r"|(?:改|办|订|约|安排|处理|换|退|弄|设置)好了?|(?:给|帮|替|为)(?:您|你)[^，,。！]{1,6}?[了好]|[\u4e00-\u9fff](?:出|到|回|开|掉|过来)了|已经[^，,。！]{1,14}[了里好成]|刚刚?[^，,。！]{1,14}了(?=[，,。！]|\Z)|[好上成完掉][名号]?了(?=[，,。！]|\Z)|搞定|(?:预订|预约|修改|取消|更新|退款|办理|提交|支付|改签|更改)(?:成功|完成)|(?:给|帮|替|为)(?:您|你)[^，,。]{0,4}?(?:订|改|换|退|取消|安排)[^，,。]{0,4}?了|取消了|退款了|如下"
    # German.
    r"|\b(?:ist|sind|wurde|wurden|habe|haben|hat|war|worden)\b.*\b(?:gebucht|reserviert|storniert|verschoben|geändert|bestätigt|umgebucht|erstattet|veranlasst|erledigt|geklappt"
    r"|angepasst|gesperrt|gekündigt|freigeschaltet|gutgeschrieben|gelöscht|gesendet|verschickt|eingetragen|verlegt|aktualisiert|abgeschlossen|hinzugefügt|entfernt|getauscht|verlängert|gutgeschrieben)\b"
    r"|\b(?:ist|sind|wurde|wurden|habe|haben)\b(?!.*\b(?:erhalten|verstanden|gefunden|gesehen|gelesen|bekommen|versucht|geprüft|fehlgeschlagen|gefragt)\b)[^,;?]*\b(?:(?:\w{2,5})?ge\w{3,}(?:t|en)|\w{3,}iert)\b"
    r"|\bhier (?:ist|sind|haben)\b|\b(?:ist|sind|liegt|liegen|steht|stehen|läuft|laufen|gilt|gelten) (?:ab sofort|jetzt|nun)\b|\bauf dem Weg\b|\bsteht\b:?(?=\s*:)|\A\W*(?:alles )?(?:erledigt|fertig|gebucht|storniert|reserviert|geschafft)\b",
    re.IGNORECASE,
)
_UNDONE = re.compile(
    r"\b(?:not(?! only)|no(?! problem| trouble| worr|,)|never|nothing|none|cannot|unable|failed|pending|about to|yet to)\b|n['’]t\b"
    r"|(?:没有?(?!问题)|未|不(?!客气|用)|无法)|\b(?:nicht(?! nur)|nichts|keine?[nmrs]?(?! problem)|noch zu)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"(?:\A|[,;:] ?|\b(?:and|but|or) )\W*(?:if|once|when(?:ever)?|unless|before|until|as soon as|after|in case|should|provided|assuming|to (?:have|get|be)|please)\b"
    r"|\b(?:if|once|as soon as|until|unless|when) (?!the \d)(?:you|the|your|it|we|this|that|payment)\b|\b(?:would|will|can|could|may|must|to) be\b|\bwant(?:s|ed)? (?:it|to)\b"
    r"|如果|若|要是|之后才|以后才|之前|一旦|(?<!申)请(?!放心)|\b(?:wenn|sobald|falls|bevor|soll|sollen|möchten|würde|bitte)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?。！？\n]+(?:\.(?=\w)[^.!?。！？\n]+)*[.!?。！？]*")
_CLAUSE = re.compile(
    r"[;；]|,? ?\b(?:but|however|though|although|yet I)\b|, ?(?:aber|jedoch)\b|,(?= (?:(?:i|we)(?:['’]ve| have)|ich habe|wir haben)\b)|，?(?:但是?|不过|可是)|，(?=(?:现在)?已?经?[给帮替为](?:您|你))",
    re.IGNORECASE,
)
_CAVEAT = re.compile(
    rf"\bnon-|\bno refunds?\b|(?:\b(?:not|cannot|no longer)|n['’]t|\bno [\w ]*) (?:\w+ )?(?:be )?(?:{_DEED}|\w+[ai]ble|allowed|permitted)\b"
    r"|不[退改可]|(?:无法|不能)[退改]|\b(?:nicht|keine?) [\w ]*möglich\b|\bausgeschlossen\b",
    re.IGNORECASE,
)
_SPEAKER = re.compile(rf"\b(?:i|we|{_SORRY}|leider|ich|wir)\b|抱歉|遗憾|我", re.IGNORECASE)
_YES = re.compile(
    r"\b(?:yes|yeah|yep|yup|ok|okay|sure|of course|absolutely|certainly|definitely|approved?|confirm(?:ed)?|correct|(?:that['’]?s |that is |\A\W*(?:all )?)right|agreed?|go (?:ahead|for it)"
    r"|please do|do (?:it|that|so)|proceed|fine|(?:sounds|looks|all) good|by all means|works for me|be my guest|i do\Z|let['’]s|ja|jawohl|klar|gerne?|genau|natürlich|einverstanden|passt|in ordnung"
    r"|stimmt|mach(?:en sie)? (?:das|es)|nur zu)\b|好(?![像多几奇])|是的|可以|行(?![程李])|同意|确认|没错|对(?!不起)|嗯|当然|[办付订]吧",
    re.IGNORECASE,
)
_NO = re.compile(
    r"\b(?:no|nope|nah|not|never|nothing|neither|\w+n['’]?t|cannot|reject\w*|declin\w*|refus\w*|stop|wait|hold (?:on|off)|forget it|nein|nee|nicht|nichts|kein\w*|nie|abbrechen|warten?|moment)\b"
    r"|不|别(?!的)|没|拒绝|算了|等等|等一下",
    re.IGNORECASE,
)
# Negations that consent.
_NO_OBJECTION = re.compile(
    r"\b(?:no (?:problem|objections?|worries|issues?|need to (?:ask|wait|check))|(?:do(?:n['’]t| not)) (?:mind|have (?:a |any )?(?:problem|objections?))|not a problem|nothing against (?:it|that)"
    r"|kein problem|keine einwände|nichts dagegen)\b|\b(?:why not|warum nicht)\b\??|没问题|没意见|没有问题|没有意见|不介意|不反对|没错",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:not sure|unsure|maybe|perhaps|depends|(?:do(?:n['’]t| not)) know|no idea|think about|if|unless|provided|as long as|vielleicht|weiß nicht|nicht sicher|wenn|falls|sofern)\b|不确定|不知道|不清楚|考虑|也许|如果|只要|除非|要看",
    re.IGNORECASE,
)
_TAKES_BACK = re.compile(
    r"\A\W*(?:but\b|aber\b|please |bitte |(?:actually|no|not|stop|wait|hold|forget|never|do(?:n['’]?t| not)|nein|nicht|warte\w*)\b)|\A\W*(?:但|别|不[要行是]?|等)|nicht\Z",
    re.IGNORECASE,
)
_PIECE = re.compile(r"[,，;；:：—–]|\b(?:and|und)\b|(?=\b(?:but|aber|instead|though)\b|但)", re.IGNORECASE)
_ASKS = re.compile(r"[?？]\W*\Z|[吗呢么]\W*\Z")


def outcomes(text: str) -> Sequence[OutcomeWords]:
    """The outcomes of a request in the clauses of a text, in their order; quotations are left out.

    Beside a deed, a refusal of something later, without a subject, is a caveat and not an outcome ("Tickets are
    non-refundable.").
    """
    clauses: list[tuple[RequestOutcome, str, str]] = [
        (outcome, sentence, part)
        for sentence in _SENTENCE.findall(own_words(text))
        for outcome, part in _heard(sentence)
    ]
    done = any(outcome == "done" for outcome, _, _ in clauses)
    return [
        OutcomeWords(outcome, " ".join(sentence.split()))
        for outcome, sentence, clause in clauses
        if outcome == "done" or not (done and _CAVEAT.search(clause) and not _SPEAKER.search(sentence))
    ]


def _heard(sentence: str) -> Iterator[tuple[RequestOutcome, str]]:
    """The outcomes in a sentence, with their clauses; none in a question."""
    if _ASKS.search(sentence):
        return
    before = ""
    for clause in _CLAUSE.split(sentence):
        if _REFUSED.search(_NEEDLESS.sub("", clause)):
            yield "refused", clause
        elif (part := _deed(clause)) and not _CONDITION.search(before + part):
            yield "done", clause
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
    if clauses := outcomes(text):
        return clauses[-1].outcome
    return "refused" if _OPENING.search(text[:OPENING]) else None


def consent(text: str) -> Literal["yes", "no"] | None:
    """The answer of a text to a question for yes or no.

    None if it is unclear, conditional or both.

    >>> consent("Yes, please."), consent("No problem, cancel it."), consent("Please don't."), consent("What is it?")
    ('yes', 'yes', 'no', None)
    """
    answers: list[Literal["yes", "no"]] = []
    for sentence in _SENTENCE.findall(_NO_OBJECTION.sub(" ok ", own_words(text))):
        pieces = [piece.strip(" .!。！") for piece in _PIECE.split(sentence)]
        if _ASKS.search(sentence):
            pieces.pop()
        for piece in pieces:
            if _UNSURE.search(piece):
                return None
            if _NO.search(piece):
                # Behind a yes, what somebody does not have or need is a remark; an order or a "but" takes the yes back.
                if not answers or answers[-1] == "no" or _TAKES_BACK.search(piece):
                    answers.append("no")
            elif _YES.search(piece):
                answers.append("yes")
    return answers[0] if len(set(answers)) == 1 else None
