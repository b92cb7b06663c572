"""Words with which an assistant declines to help: one list, for the rule `refusal`, plain conversations and the scorer `refused`."""

import re

from .quotations import own_words

OPENING = 400
"""Characters of a text in which a refusal may open it."""
SHORT = 600
"""Most characters of a text in which any sentence may refuse: a longer one gives something, such as an article or a letter."""

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
_NOT = (
    r"(?:can(?:not| not|['’]?t)|could(?: not|n['’]t)|(?:am|are|is|was|were|['’]m|['’]re)(?: unable| not (?:able|allowed|permitted)) to|will not|won['’]t"
    r"|(?:isn|aren)['’]t (?:able|allowed|permitted) to)"
)
_DONE = (
    r"(?:done|moved|changed|cancell?ed|refunded|re-?booked|booked|exchanged|altered|modified|processed|made|given|offered"
    r"|provided|fulfilled|granted|arranged|transferred|waived|extended|accepted|shared|disclosed)"
)
_SORRY = r"(?:sorry|unfortunately|regret|apologi[sz]e|afraid)"
_REFUSING = re.compile(
    rf"\b(?:i|we) ?{_NOT} (?:\w+ly )?(?:be able to )?(?:help|assist|do (?:that|this|it|so)\b|change|cancel|refund|re-?book|waive"
    r"|offer (?:you|that|this|a|any)\b|provide|give you|process|fulfil|grant|move (?:it|that|this|your|the)\b|book (?:it|that|this|a|the)\b"
    r"|make (?:(?:an|any|that|this|the|such) )?(?:changes?|exceptions?|bookings?|reservations?))"
    r"|\b(?:i|we) (?:must |have to )?(?:decline|refuse)\b|\bagainst (?:our|the|my|company) (?:policy|policies|rules)\b"
    rf"|\b{_SORRY}\b.*?(?:\b{_NOT} be {_DONE}\b|\bnot possible\b|\bimpossible\b)"
    rf"|(?:\b{_NOT} be {_DONE}\b|\bnot possible\b|\bimpossible\b).*?\b{_SORRY}\b"
    r"|(?:抱歉|对不起|不好意思|遗憾|恕).*?(?:无法|不能|没法|没办法|办不了|帮不了|不可以|不允许|难以)"
    r"|(?:无法|不能|没法|没办法|不可以|不允许).*?(?:抱歉|对不起|不好意思)"
    r"|(?:我们?|您|你|这里|这边)(?:都|也|还是)?(?:无法|不能|没法|没办法|不可以)(?:为您|给您|帮您|为你|给你|帮你)?(?:退|改|换|取消|办理|提供|变更|预订|处理|帮|做到)"
    r"|办不了|帮不了(?:您|你)|恕难|(?:我们?|只能)拒绝",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]?")


def refused(text: str) -> str | None:
    """The words with which a text declines to help; None if there are none.

    They open the text; in a short text they may be any of its sentences but a question ("Can't you find it?"). What the
    text quotes is not its own.
    """
    if match := _OPENING.search(text[:OPENING]):
        return match.group().strip()
    if len(text) > SHORT:
        return None
    for sentence in _SENTENCE.findall(own_words(text)):
        if not sentence.rstrip().endswith(("?", "？")) and _REFUSING.search(sentence):
            return " ".join(str(sentence).split())
    return None
