"""Words of an assistant that offers help or answers at length, and templates with unfilled variables."""

import re

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
    r"|(?:is|was) there (?:anything|something) (?:else|more|specific|in particular)[^.!?\n]{0,20} (?:i can|you(?:'d| would) like(?: me)? to) (?:help|assist|do)\b"
    r"|i(?:['’]m| am) (?:always )?here (?:if you need|to (?:help|assist))\b"
    r"|(?:i(?:['’]d| would) be|i['’]?m|i am) (?:more than )?(?:happy|glad|delighted) to (?:help|assist) (?:you|with)\b"
    r"|(?:please )?(?:feel free to|don['’]t hesitate to) (?:ask(?: if| any| questions|[.!]|\s*$)|reach out|let me know)"
    r"|let me know if you (?:have|need) (?:any |more |further |other |additional )*(?:questions?|help|assistance)\b"
    r"|i hope (?:this|that|these|it) (?:helps?|was helpful|answers? your)\b"
    r"|(?:as|being) your (?:virtual |personal |ai |travel |shopping )*assistant\b)",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"\A\W{0,3}(?:certainly|of course|absolutely|sure(?: thing)?|great question)\s?[!.,]\s{0,2}"
    r"(?:here(?:['’]s| is| are)|below (?:is|are)|let['’]?s (?:break|start)|i(?:['’]d| would) (?:recommend|suggest)|to \w+ )",
    re.IGNORECASE,
)
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
    r"|\A\W{0,3}(?:当然(?:可以)?|好的|没问题)[！!，,。]?\s?(?:以下|下面|这里)(?:是|为)"
)
_SHOWN_TALK = re.compile(
    r"^[^\S\n]*(?:user|human|assistant|agent|bot|system)[^\S\n]?:.*$", re.IGNORECASE | re.MULTILINE
)
"""A line of a talk that a technical text shows."""
_STRUCTURE = re.compile(r"^\s*(?:#{1,4} \S|\*\*[^*\n]+\*\*|[-*•]\s+\*\*|\d{1,2}[.)、]\s+\*{0,2}\S)", re.MULTILINE)
_GAP = re.compile(
    r"\{\{\s?[a-z_][\w. ]{0,40}\s?\}\}|(?<![$\\\w{])\{[a-z_][a-z0-9_]{1,30}\}(?!\})|\$\{[a-z_]\w{1,30}\}"
    r"|\[(?=[A-Z_ ]{4,30}\])(?:INSERT |YOUR )?[A-Z]{3,}(?:[_ ][A-Z]+){0,3}\]|<(?=[A-Z_ ]{4,30}>)[A-Z]{3,}(?:[_ ][A-Z]+){0,3}>",
)
_FORM = re.compile(
    r"\b(?:templates?|placeholders?|variables?|e-?mails?|letters?|mail ?merge|blanks?|forms?|draft|fill|gaps?|prompts?|format)\b|模板|占位|变量|邮件",
    re.IGNORECASE,
)


def offered(text: str) -> str | None:
    """The words with which a text offers help or announces an answer, as assistants do; None without any.

    What the text quotes is not its own.
    """
    own = _SHOWN_TALK.sub("", own_words(text)) if is_technical(text) else own_words(text)
    if match := _OFFER.search(own):
        return match["said"]
    match = _OPENING.search(own) or _OFFER_ZH.search(own)
    if match and _HANDED_OVER.match(own, match.end()):
        return None
    return match.group().strip() if match else None


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


def unfilled(text: str) -> str | None:
    """The unfilled variable of a template, such as `{{city}}`; None in a text about templates and technical things."""
    own = own_words(text)
    match = _GAP.search(own)
    if match is None or is_technical(own) or _FORM.search(own):
        return None
    return match.group()
