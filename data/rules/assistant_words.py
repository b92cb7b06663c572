"""Words of an assistant that offers help or answers at length, and templates with unfilled variables."""

import re
from itertools import islice

from .mentions import is_technical
from .plans import is_plan
from .quotations import own_words

LONG = 120
"""Words from which on a structured answer counts as long."""

_BEGIN = r"(?:^|[.!?。！？\n][\"”’)]?\s{0,3}|[,，;]\s)"
_OFFER = re.compile(
    _BEGIN
    + r"(?:(?:hello|hi|hey|sure|of course|certainly|great|thanks?|thank you)\b[^.!?\n]{0,40}[,.!]\s{1,2})?(?P<said>"
    r"(?:so )?(?:how|what) (?:else )?(?:can|may|could) i (?:help|assist|do for) (?:you|with)\b"
    r"|(?:is|was) there (?:anything|something) (?:else|more|specific|in particular)[^.!?\n]{0,20} (?:i can|you(?:'d| would) like(?: me)? to) (?:help|assist|do for you)\b"
    r"|i(?:['’]m| am) (?:always )?here (?:if you need|to (?:help|assist))\b"
    r"|(?:i(?:['’]d| would) be|i['’]?m|i am) (?:more than )?(?:happy|glad|delighted) to (?:help|assist) (?:you|with (?:that|this|your|any|it))\b"
    r"|(?:please )?(?:feel free to|don['’]t hesitate to) (?:ask(?: if| any| questions|[.!]|\s*$)|reach out|let me know)"
    r"|let me know if you (?:have|need) (?:any |more |further |other |additional )*(?:questions?|help|assistance)\b"
    r"|i hope (?:this|that|these|it) (?:helps?|was helpful|answers? your)\b"
    r"|(?:as|being) your (?:virtual |personal |ai |travel |shopping )*assistant\b)",
    re.IGNORECASE,
)
AT_AN_END = 25
"""Most words before or behind an offer in a long text."""
_POLITE = re.compile(
    r"let me know|(?:please )?(?:feel free to|don['’]t hesitate to) (?:ask(?! if you need)|let me know)|i hope",
    re.IGNORECASE,
)
"""Offers that people write too, to whomever they ask for work."""
_REQUEST = re.compile(
    r"\b(?:can|could|would|will) you\b|\bplease\b|\bi (?:want|need|would like)\b|\bi['’]d like\b|\bhelp me\b"
    r"|(?:^|[.!?:\n]\s{0,3})(?:\W{0,3}(?:now|then|also|next|and|ok(?:ay)?),? )?(?:write|rewrite|make|give|create|generate|tell|use|act|add|update|change"
    r"|explain|summari[sz]e|translate|list|provide|draft|respond|reply|improve|edit|continue|find|show|analy[sz]e|design|build|answer|convert|fix)\b",
    re.IGNORECASE | re.MULTILINE,
)
"""Words with which people ask for work."""
_OPENING = re.compile(
    r"\A\W{0,3}(?:certainly|of course|absolutely|sure(?: thing)?|great question)\s?[!.,]\s{0,2}"
    r"(?:here(?:['’]s| is| are)|below (?:is|are)|let['’]?s (?:break|start)|i(?:['’]d| would) (?:recommend|suggest)|to \w+ )",
    re.IGNORECASE,
)
_ASKS_TO_SEND = re.compile(
    r"\b(?:share|provide|send|paste|post|upload|tell me|give me|describe|specify|clarify)\b[^.!?\n]{0,120}\?"
    r"|\bplease (?:share|provide|send|paste|post|upload|tell me|describe|specify|clarify)\b"
    r"|\b(?:what|which|where|when|how (?:much|many|long|old|often))\b[^.!?\n]{0,80}\byour?\b[^.!?\n]{0,80}\?"
    r"|(?:请(?:您|你)?|能不?能|能否|可否|可以)[^。！？\n]{0,12}(?:提供|告诉我|告知|分享|描述|说明|发给我|上传)"
    r"|(?:您|你)[^。！？\n]{0,20}(?:是什么|在哪|多少|多久|几|哪)[^。！？\n]{0,12}[？?]",
    re.IGNORECASE,
)
_END_OF_REPLY = 600
"""Last characters of a reply in which it asks the user for something."""
_HOPES = re.compile(r"i hope", re.IGNORECASE)
_HANDED_OVER = re.compile(
    r"\s+(?:(?:the|my|our|what) (?:\w+ ){0,2}?(?:stack ?trace|traceback|logs?|outputs?|errors?|messages?|config\w*|file|screenshot|link"
    r"|dump|details|number|address|dates?)\b|my\b)",
    re.IGNORECASE,
)
"""What a user hands over that was asked for."""
_OFFER_ZH = re.compile(
    r"(?:请问)?(?:有什么|有啥)(?:我)?(?:可以|能)(?:帮|为|协助)(?:助)?(?:到)?(?:您|你)"
    r"|(?:我(?:可以|能|很乐意)(?:帮助|协助|为)(?:您|你)(?:解答|做些|提供|服务))"
    r"|希望(?:这些?|以上|我的)[^。！？\n]{0,12}对(?:您|你)有(?:所)?帮助"
    r"|如(?:果)?(?:您|你)?(?:还)?有(?:任何|其他|更多)(?:问题|需要|疑问)[^。！？\n]{0,6}(?:随时|请)"
    r"|(?P<opening>\A)\W{0,3}(?:当然(?:可以)?|好的|没问题)[！!，,。]?\s?(?:以下|下面|这里)(?:是|为)"
)
_SHOWN_TALK = re.compile(
    r"^[^\S\n]*(?:user|human|assistant|agent|bot|system)[^\S\n]?:.*$", re.IGNORECASE | re.MULTILINE
)
"""A line of a talk that a technical text shows."""
_STRUCTURE = re.compile(r"^\s*(?:#{1,4} \S|\*\*[^*\n]+\*\*|[-*•]\s+\*\*|\d{1,2}[.)、]\s+\*{0,2}\S)", re.MULTILINE)
MOST_GAPS = 50
"""Most variables of a text that are looked at."""
_AROUND = 1_000
"""Most characters around a variable that are looked at."""
_GAP = re.compile(
    r"\{\{\s?[a-z_][\w. ]{0,40}\s?\}\}|(?<![$\\\w{])\{[a-z_][a-z0-9_]{1,30}\}(?!\})|\$\{[a-z_]\w{1,30}\}"
    r"|\[(?=[A-Z_ ]{4,30}\])(?:INSERT |YOUR )?[A-Z]{3,}(?:[_ ][A-Z]+){0,3}\](?!\()|<(?=[A-Z_ ]{4,30}>)[A-Z]{3,}(?:[_ ][A-Z]+){0,3}>",
)
_SHOWN = re.compile(
    r"\b(?:shows?|showed|showing|shown|says?|said|saying|reads?|reading|display\w*|print(?:s|ed|ing)?|sees?|seen|saw|gets?|got|call(?:s|ed)|named?"
    r"|label\w*|mark(?:s|ed)|word|message|error|button|key|text|press(?:ed|ing)?|type|typed|enter|answers?|answered|sends?|sent|returns?|returned"
    r"|(?:write|put|enter|fill)(?: in| for| into| at| behind)?)\s*\Z",
    re.IGNORECASE,
)
"""Words before a thing that a screen, a paper or a label shows."""
_GLUED = re.compile(r"[\w/.=(\[{\\$-]\Z|[=:|]\s?\Z")
_OF_ITSELF = re.compile(r"\b(?:i|i['’]\w+|me|my|mine|we|our|us)\b|我", re.IGNORECASE)
_GREETING = re.compile(r"\W*(?:hello|hi|hey|dear|good (?:morning|evening|day))\s*\Z|(?:您好|你好)\W*\Z", re.IGNORECASE)
_FORM = re.compile(
    r"\b(?:templates?|placeholders?|variables?|e-?mails?|letters?|mail ?merge|blanks?|forms?|draft|fill|gaps?|prompts?|format)\b|模板|占位|变量|邮件",
    re.IGNORECASE,
)


def offered(text: str, last_assistant: str = "") -> str | None:
    """The words with which a text offers help or announces an answer, as assistants do; None without any.

    What the text quotes is not its own, and what `last_assistant` asked to be sent is handed over.
    """
    own = _SHOWN_TALK.sub("", own_words(text)) if is_technical(text) else own_words(text)
    handed_over = _ASKS_TO_SEND.search(last_assistant[-_END_OF_REPLY:])
    for offer in _OFFER.finditer(own):
        begin = offer.start("said")
        polite = _POLITE.match(own, begin) and _REQUEST.search(own, 0, begin)
        if _is_at_an_end(offer, own) and not polite and not (handed_over and _HOPES.match(own, begin)):
            return offer["said"]
    match = (None if handed_over else _OPENING.search(own)) or _OFFER_ZH.search(own)
    if match and (
        _HANDED_OVER.match(own, match.end()) or (handed_over and match.groupdict().get("opening") is not None)
    ):
        return None
    return match.group().strip() if match else None


def _is_at_an_end(match: re.Match[str], text: str) -> bool:
    """Whether an offer stands among the first or last words: what is between is pasted."""
    before, after = text[: match.start()].split(), text[match.end() :].split()
    return min(len(before), len(after)) <= AT_AN_END


def is_long_answer(text: str, last_assistant: str | None) -> bool:
    """Whether a reply is a long, structured text without a question and without a request for it.

    Headings, bold and numbered points are structure.
    """
    own = own_words(text)
    return (
        last_assistant is not None
        and len(own.split()) >= LONG
        and len(_STRUCTURE.findall(own)) >= 3
        and "?" not in own
        and "？" not in own
        and is_plan(text, last_assistant)
    )


def unfilled(text: str, earlier: str = "") -> str | None:
    """The unfilled variable of a template, such as `{{city}}`; None in a text about templates and technical things.

    It stands in the place of a word in what the writer says of itself. What the text defines or shows, or what stands in
    the messages before (`earlier`), is a name.
    """
    own = own_words(text)
    if is_technical(own) or _FORM.search(own):
        return None
    gaps = islice(_GAP.finditer(own), MOST_GAPS)
    return next((match.group() for match in gaps if _is_unfilled(match, own, earlier)), None)


def _is_unfilled(match: re.Match[str], text: str, earlier: str) -> bool:
    gap = match.group()
    if gap in earlier or re.search(re.escape(gap) + r"\s*[:=：]", text):
        return False
    line = text[max(text.rfind("\n", 0, match.start()) + 1, match.start() - _AROUND) : match.start()]
    if _SHOWN.search(line) or _GLUED.search(line) or (not line.strip() and text.count(gap) > 1):  # labels of lines
        return False
    begin = max(text.rfind(mark, 0, match.start()) for mark in ".!?\n。！？")
    begin = max(begin, match.start() - _AROUND)
    sentence = re.split(r"[.!?\n。！？]", text[begin + 1 : match.end() + _AROUND], maxsplit=1)[0]
    return _OF_ITSELF.search(sentence) is not None or _GREETING.match(line) is not None
