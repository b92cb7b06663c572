"""Signs in an assistant's text that it went wrong: instructions shown, another language, identifiers from nowhere.

They are read in conversations that failed, to find the place where one went wrong. None of them by itself is evidence of a fault.
"""

import re
from collections.abc import Iterator

from .prompts_shown import SHARED, repeated_instruction, template_mark
from .questions import plain_words
from .refusals import outcomes

WORDS = 4
"""Least words of a text in which its language is detected; of a script that only one language uses, letters."""

_SCRIPTS = {
    "Han": re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]"),
    "Kana": re.compile(r"[\u3040-\u30ff]"),
    "Hangul": re.compile(r"[\uac00-\ud7af]"),
    "Cyrillic": re.compile(r"[\u0400-\u04ff]"),
    "Arabic": re.compile(r"[\u0600-\u06ff]"),
    "Greek": re.compile(r"[\u0370-\u03ff]"),
    "Hebrew": re.compile(r"[\u0590-\u05ff]"),
    "Devanagari": re.compile(r"[\u0900-\u097f]"),
    "Thai": re.compile(r"[\u0e00-\u0e7f]"),
    "Latin": re.compile(r"[A-Za-zÀ-ɏ]"),
}
_FUNCTION_WORDS = {
    "English": "the,of,and,to,is,are,was,i,you,your,my,it,that,this,for,with,on,have,has,be,will,can,could,would,please,what,which,not,do,at,from",
    "German": "der,die,das,und,ist,sind,war,ich,sie,ihr,ihre,ihren,mein,meine,es,den,dem,ein,eine,einen,für,mit,auf,haben,hat,wird,werden,bitte,welche,nicht,im,am,zu,auch",
    "French": "le,la,les,des,et,est,sont,je,vous,votre,vos,mon,ma,il,elle,que,ce,cette,pour,avec,sur,avez,pas,une,dans,du,au,quelle,quel,est-ce",
    "Spanish": "el,la,los,las,y,es,son,yo,usted,su,mi,que,este,esta,para,con,por,una,en,del,al,cuál,qué,no,ha,está,lo,se",
    "Italian": "il,lo,la,gli,le,e,è,sono,io,lei,suo,sua,mio,che,questo,questa,per,con,su,una,nel,del,al,quale,non,ha,di,si",
    "Portuguese": "o,os,as,e,é,são,eu,você,seu,sua,meu,minha,que,este,esta,para,com,por,uma,em,do,da,no,na,qual,não,foi",
    "Dutch": "de,het,een,en,is,zijn,ik,u,uw,mijn,dat,dit,voor,met,op,hebben,heeft,wordt,kan,niet,van,welke,aan,te,bij",
    "Swedish": "och,att,det,är,jag,ni,er,din,ditt,för,med,på,har,kan,inte,vilken,till,av,som,ett,den",
    "Danish": "og,det,er,jeg,du,din,dit,dig,med,på,har,kan,ikke,hvilken,til,af,som,et,nu",
    "Polish": "w,na,z,się,nie,jest,są,że,pan,pani,pana,proszę,już,ma,dla,czy,jak,po,za,co,ten,ta,tego,jeszcze,mogę,został",
    "Czech": "je,jsou,se,že,ve,pro,vás,vám,váš,prosím,není,jsem,jste,už,který,bude,byl,jak,ještě",
    "Romanian": "și,nu,este,sunt,în,pe,cu,pentru,vă,dumneavoastră,mai,că,care,din,ce,ați,fost",
    "Turkish": "ve,bir,bu,için,ile,mi,mı,siz,sizin,ben,değil,var,yok,olarak,lütfen,çok,daha,hangi",
    "Indonesian": "dan,yang,ke,untuk,dengan,ini,itu,anda,saya,tidak,sudah,akan,ada,dari,pada,bisa,apa,silakan",
    "Vietnamese": "và,của,là,không,có,được,cho,tôi,bạn,quý,vui,lòng,đã,này,với,trong,ngày",
}
_VOCABULARY = {language: frozenset(words.split(",")) for language, words in _FUNCTION_WORDS.items()}
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")

_ROLE = re.compile(
    r"\byou(?:['’]re| are) (?:the|an?|now|acting as)\b[^.!?\n]{0,60}\b(?:assistant|agent|bot|chat ?bot|model|representative|concierge|clerk|expert)\b"
    r"|\bmy (?:system |initial |original |secret |internal )?(?:instructions?|prompt|guidelines) (?:are|is|says?|read)\b"
    r"|\b(?:system|initial|original) prompt\b|\bi (?:was|am|have been) (?:told|instructed|programmed|prompted) to\b"
    r"|(?:你|您)是(?:一个|一名|一位)?[^。！？\n]{0,20}(?:助手|客服|机器人|模型)|系统提示|我的(?:指令|提示词)"
    r"|\bdu bist (?:der|die|das|ein|eine)\b[^.!?\n]{0,60}\b(?:assistent\w*|agent\w*|bot)\b",
    re.IGNORECASE,
)
"""What an instruction says of its reader, or a reply of its instruction."""

_IDENTIFIER = re.compile(
    r"(?<![\w/.@-])(?=[A-Za-z0-9-]*\d)(?:[A-Z]{1,6}-?\d{3,}[A-Z0-9]*|(?=[A-Z0-9]*[A-Z])[A-Z0-9]{5,}|\d{5,})(?![\w@-])"
    r"|(?<![\w/.@+-])\d{2,4}-\d{5,}(?![\w@-])"
)
_NAMED = re.compile(
    r"\b(?i:codes?|locator|references?|pnr|confirmation|ticket)(?i: (?:number|code|no\.?|is))*\W{1,3}(?P<code>[A-Z]{5,8})(?![\w-])"
    r"|\b(?i:flight|train|bus|seat|gate|room|platform|voyage)(?i: (?:number|no\.?|is))*\W{1,2}(?P<place>[A-Z]{1,3} ?\d{1,4}[A-Z]?|\d{1,3}[A-Z]|\d{3,4})(?![\w-])"
)
"""What a word before it makes a code: a locator of letters, a flight, a seat."""
_EXAMPLE = re.compile(
    r"(?:\b(?:such as|like|e\.g\.|for example|for instance|format|zum Beispiel|z\. ?B\.)|例如|比如)\W*\Z", re.IGNORECASE
)

_REQUEST = re.compile(
    r"[?？]|\b(?:please|kindly) (?:tell|give|send|provide|share|write|name|enter|confirm|state|let me (?:have|know)(?! if))\b|\b(?:tell|give|send) me\b"
    r"|\bi(?:['’]ll| will| still)? (?:need|require) (?:an?|your|the|to know)\b|\bi(?:['’]m| am) (?:still )?missing\b|\b(?:may|let) (?:i|me) (?:have|know)\b(?! if)"
    r"|\bnennen sie\b|\bbrauche ich\b|\bich (?:brauche|benötige)\b|请(?:告诉|提供|给|输入|说)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_FILLERS = frozenset(
    (
        "the,a,an,is,are,was,it,to,of,for,in,on,at,and,or,i,you,your,my,me,we,which,what,who,"
        "when,where,how,please,tell,give,send,provide,share,write,name,enter,confirm,state,could,can,may,would,shall,will,again,sorry,need,have,"
        "know,do,does,did,be,this,that,so,still,one,moment,let,us,as,with,by,from,first,also,just,then,now,welche,wie,"
        "wann,bitte,ihr,ihre,sie,der,die,das,ist"
    ).split(",")
)
_ALIKE = 0.5
"""Least share of the content words of two requests that both have, if they ask for the same."""

_PROMISE = re.compile(
    r"\b(?:i|we)(?:['’]ll| will|['’]m going to| am going to| shall)\s+(?:now |then |just |go ahead and |right away |immediately |gladly )*"
    r"(?:re-?book|book|reserve|move|change|cancel|refund|reschedule|update|arrange|order|issue|process|transfer|submit|take care of|see to)\b"
    r"|我(?:会|这就|马上|立刻|现在就?)(?:为|帮|给|替)?(?:您|你)?[^，。！？]{0,6}(?:订|改|取消|退|办|安排|处理)"
    r"|\bich werde\b[^.!?]{0,60}\b(?:buchen|umbuchen|verschieben|ändern|stornieren|erledigen|veranlassen)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\b(?:if|once|when|after|as soon as|unless|wenn|sobald)\b|如果|等", re.IGNORECASE)

_LEAVES = re.compile(
    r"\b(?:good ?bye|bye|farewell|take care|so long|enjoy your|until next time|cheers|all the best|see you|(?:happy|safe) travels)\b"
    r"|\b(?:have|wish you) an? (?:\w+ )?(?:nice|good|great|lovely|pleasant|wonderful|safe|fantastic)\b|\b(?:glad|happy|pleased) i could (?:help|assist)\b"
    r"|\bpleasure (?:\w+ing|to (?:help|assist))\b|\bthat(?:['’]s| is| was|['’]ll be| will be) (?:all|everything)\b(?! (?:i need|you))"
    r"|\bthank(?:s| you)(?: \w+)? for (?:choosing|flying|travell?ing|shopping|staying|banking|chatting|contacting|reaching out)\b[^.!?\n]*[.!]*\s*\Z"
    r"|再见|拜拜|祝您|\bauf wiedersehen\b|\btschüs+\b|\bschönen tag\b|\bau revoir\b|\bbonne journée\b|\badiós\b",
    re.IGNORECASE,
)
_CLOSES = re.compile(
    r"\b(?:clos(?:e|ed|ing)|end(?:ed|ing)?) (?:the|this|our) (?:chat|conversation|session|case|ticket)\b"
    r"|\b(?:chat|conversation|session|case|ticket) (?:is|has been|will be) (?:now )?(?:closed|ended)\b",
    re.IGNORECASE,
)
_OTHERS = (
    r"\b(?:human|colleagues?|co-?workers?|agents?|representatives?|specialists?|advis[eo]rs?|experts?|operators?|supervisors?|managers?|staff|person|somebody|someone"
    r"|team|desk|department|cent(?:re|er)|support|counter|(?:hot|help)line|service|office|branch)\b"
)
_PLACES = r"\b(?:line|website|site|app|page|portal|number|airport|store|shop)\b"
_HANDS_OVER = re.compile(
    rf"\b(?:transfer|connect|pass|forward|escalat|redirect|refer|hand|rout)(?:e|ing|ring|ting)? (?:you|this|it|your|the (?:case|matter|request|issue))\b[^.!?\n]{{0,40}}{_OTHERS}"
    rf"|\b(?:been|be|are|being) (?:transferred|connected|passed|forwarded|escalated|redirected|referred|handed|routed)\b[^.!?\n]{{0,30}}{_OTHERS}|\bput you through\b"
    rf"|{_OTHERS}[^.!?\n]{{0,15}} (?:will|(?:is|are) going to|can) (?:\w+ly |soon )?(?:get|contact|call|e-?mail|phone|reach out|take|follow up|assist|help|handle|sort|look|be|reply|respond|join)\b"
    rf"|(?:\A|[.!?,;] |\b(?:please|kindly|just|simply|you (?:can|may|could|should|must|will|(?:need|have) to) (?:also )?))(?: ?)(?:call|phone|ring|contact|e-?mail|write to|visit|go to|see|speak (?:to|with)|talk to|reach out to|get in touch with|ask|use)"
    rf" (?:our|the|an?|one of|my) [^.!?\n]{{0,30}}?(?:{_OTHERS}|{_PLACES})"
    r"|\byou (?:can|may|could|should|must|(?:need|have) to) do (?:that|this|it) (?:yourself|online)\b|\b(?:opened|created|raised|filed|logged) an? (?:\w+ )?(?:ticket|case)\b|\bstay on the line\b"
    r"|\bverbinde (?:ich )?sie\b|\bwenden sie sich\b|\brufen sie\b|\b(?:kolleg|mitarbeiter)\w*\b[^.!?\n]{0,30}\b(?:meldet|übernimmt|kümmert)\b"
    r"|转接|转人工|人工客服|(?:请|您可以)(?:致电|拨打|联系|前往)",
    re.IGNORECASE,
)
"""That others, or the user, are to do it."""
_MORE_HELP = re.compile(
    r"\b(?:anything|something|nothing) (?:else|more|further)\b|\bwhat else\b|\bsonst noch\b|其他|别的", re.IGNORECASE
)


def written_in(text: str) -> str | None:
    """The language of a text, or its script where only that is known; None if it is unclear."""
    counts = {script: len(pattern.findall(text)) for script, pattern in _SCRIPTS.items()}
    script = max(counts, key=lambda name: counts[name] * (1 if name == "Latin" else 3))
    if script != "Latin":
        return ("Kana" if counts["Kana"] else script) if counts[script] >= WORDS else None
    words = [word.casefold() for word in _WORD.findall(text)]
    hits = {language: sum(word in vocabulary for word in words) for language, vocabulary in _VOCABULARY.items()}
    first, second = sorted(hits.values(), reverse=True)[:2]
    if len(words) < WORDS or first < 2 or first == second:
        return None
    return max(hits, key=lambda language: hits[language])


def shown_instruction(text: str, instructions: list[str]) -> str | None:
    """The words of an assistant's instructions in its text; None without any.

    `instructions`: those that are known; without them the address of an instruction to its reader is a sign.
    """
    if mark := template_mark(text, technical=False):
        return mark
    if words := repeated_instruction(text, instructions, SHARED):
        return words
    return match.group() if (match := _ROLE.search(text)) else None


def identifiers(text: str) -> Iterator[str]:
    """Codes and long numbers in a text, such as QX4821; those that it gives as an example are left out."""
    for match in (*_IDENTIFIER.finditer(text), *_NAMED.finditer(text)):
        if not _EXAMPLE.search(text[max(0, match.start() - 30) : match.start()]):
            yield match[match.lastgroup] if match.lastgroup else match.group()


def requests(text: str) -> list[str]:
    """The sentences of a text that request information; an offer of further help requests none."""
    return [part for part in _SENTENCE.findall(text) if _REQUEST.search(part) and not _MORE_HELP.search(part)]


def requested(text: str) -> frozenset[str]:
    """The content words of the requests for information in a text; empty if it requests nothing."""
    return frozenset(word for part in requests(text) for word in plain_words(part).split() if word not in _FILLERS)


def asks_for_the_same(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two requests, by their content words, ask for the same."""
    return bool(one and other) and len(one & other) >= _ALIKE * len(one | other)


def claimed(text: str) -> bool:
    """Whether a text reports something as done, as its last word on the matter; a handover reports nothing."""
    clauses = outcomes(_without_handover(text))
    return bool(clauses) and clauses[-1].outcome == "done"


def promised(text: str) -> bool:
    """Whether a text promises an action without a condition. A handover is not one."""
    parts = _SENTENCE.findall(_without_handover(text))
    return any(_PROMISE.search(part) and not _CONDITION.search(part) for part in parts)


def takes_leave(text: str) -> bool:
    """Whether a text says goodbye and asks for nothing."""
    return bool(_LEAVES.search(text) or _CLOSES.search(text)) and not requests(text)


def hands_over(text: str) -> bool:
    """Whether a text leaves the matter to others or to the user, and asks for nothing."""
    return _HANDS_OVER.search(text) is not None and not requests(text)


def _without_handover(text: str) -> str:
    """The sentences of a text that neither hand over nor close the conversation."""
    parts = _SENTENCE.findall(text)
    return "".join(part for part in parts if not (_HANDS_OVER.search(part) or _CLOSES.search(part)))
