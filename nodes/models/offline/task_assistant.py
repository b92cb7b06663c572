"""The offline assistant of the task-oriented talk: options from the dialogue alone, and a question back."""

import re
from collections.abc import Sequence

from ....data.text.languages import Language
from .hearing import Talk
from .voices import READ, begin_small, capital, phrases, sentences, short, spoken, turned, yours
from .wishes import kind_of
from .words import content_words, words

LAST = 12
"""Messages of the user that are read, the latest ones."""

_FRAME = re.compile(
    r"(?:(?:can|could|would|will) you (?:please )?"
    r"(?:help|tell|show|explain|suggest|recommend|give|be more specific|be specific)?(?: me)?(?: with| about| for)?"
    r"|what (?:would|do|can) you (?:suggest|recommend)(?: for)?|(?:what|how) about|how do i(?: best| go about)?"
    r"|i would (?:still|also) like to (?:know|settle)|please (?:sum up|tell me))\s+",
    re.IGNORECASE,
)
_LEAD = re.compile(r"(?:(?:and|so|but|also|then|please|hi|hello|hey|good day)\b[,!. ]*)+", re.IGNORECASE)
_FRAME_ZH = re.compile(
    r"^(?:(?:那么?|还有|另外|请|请问|你好|您好|关于|我还?想(?:知道|把)|能不能|能告诉我|能帮我|能|我该怎么)[，,！ ]*)+"
)
_FRAME_ZH_END = re.compile(
    r"(?:方面)?(?:[，,]?(?:你|您)(?:有什么(?:具体)?建议|怎么看)|，?能说得具体一点|定下来，有哪些选择|比较好)?[吗呢？?。！]*$"
)
_TELLS = re.compile(
    r"\bI(?:['’](?:m|d|ve))? (?:(?:also|always|often|never|mostly|\w+ly) )?(?:am|attend|avoid|collect|cook|do not|don['’]t|eat|enjoy"
    r"|go|have|invest|like|live|love|need|own|plan|play|practi[sc]e|prefer|save|spend|studied|travel|visit|want|work as|would like)\b.*"
    r"|\b[Mm]y (?:budget|work|job|diet|family)\b.*|\bwhen I travel\b.*|\bthere (?:is|are|will be) .*"
    r"|(?:我(?!选|就有|觉得|说一下|暂时|还想)|预算|一共|人均|出门旅行我|吃的方面我|花钱方面我).*"
)
_TOLD_NOTHING = re.compile(
    r"^(?:number|option)\b|第\s*\d|^(?:请|能|这样|还有|不错)|\bof these\b|\bto me\b|这几个|\bto (?:know|settle)\b|定下来|适合",
    re.I,
)
_WHOLE = re.compile(
    r"\b(?:put (?:it|this|everything) all together|sum up|summari[sz]e|whole plan|final plan)\b|合在一起|总结|整理成",
    re.I,
)
_REFUSES = re.compile(
    r"\bnothing for me\b|\bdo(?:es)? not (?:think|fit|suit)\b|\bleave out\b|\binstead\b|不太适合|不合适|不要", re.I
)
_ITEM = re.compile(r"^\d+[.、] \*\*(.+?)\*\*", re.MULTILINE)


def answer(talk: Talk, draw: int) -> str:
    """A reply to the last message: what it keeps to, options for what was asked, one question."""
    heard = [text[:READ] for text in talk.others[-LAST:]]
    language = spoken(" ".join(heard) or talk.note)
    known = phrases(language)
    if talk.note.endswith(("?", "？")) and talk.own:
        return _afterwards(talk, heard, language)
    last = heard[-1] if heard else ""
    if not content_words(last):
        return str(known["replies"]["empty"])
    kind = kind_of("\n".join(heard), language)
    earlier = "\n".join(talk.own).casefold()
    replies = known["replies"]
    parts = []
    if _REFUSES.search(last):
        parts.append(replies["instead"][draw % len(replies["instead"])])
    kept = _kept(heard, earlier, language)
    if kept:
        parts.append(replies["keep"][(draw >> 2) % len(replies["keep"])].replace("{c}", kept))
    focus = _focus(last, language)
    titles = list(dict.fromkeys(_ITEM.findall("\n".join(talk.own))))
    if _WHOLE.search(last) and titles:
        parts.append(replies["whole"][draw % len(replies["whole"])])
        options = [(title, replies["whole_tails"][min(n, 4)]) for n, title in enumerate(_taken(titles, last)[-5:])]
    else:
        start = replies["start"] if focus else replies["start_plain"]
        parts.append(start[draw % len(start)].replace("{x}", focus))
        tails = turned(replies["tails"], draw)
        tails = [replies["fits"], *tails] if kept else tails
        options = list(zip(_ideas(focus, kind, heard, earlier, language, draw), tails, strict=False))
    between, joint, dot = ("", "：", "。") if language == "zh" else (" ", ": ", ".")
    lines = [f"{n}. **{title}**{joint}{tail}{dot}" for n, (title, tail) in enumerate(options, start=1)]
    return "\n".join([between.join(parts), *lines, _question(kind, earlier, language, draw)])


def _kept(heard: Sequence[str], earlier: str, language: Language) -> str:
    """The newest thing that the user told of itself and that was not taken up yet, as told to the user."""
    for text in reversed(heard):
        told = [said for said in sentences(text) if not said.endswith(("?", "？"))]
        for said in told:
            found = _TELLS.search(said.rstrip(".!。！"))
            if found is None or _TOLD_NOTHING.search(said) or re.search(r"\byour?\b|[你您]", found.group()):
                continue
            clause = yours(short(begin_small(found.group()), 18), language)
            titles = _ITEM.findall(earlier)
            if clause.casefold() not in earlier and not any(title in clause.casefold() for title in titles):
                return clause
    return ""


def _focus(last: str, language: Language) -> str:
    """What the first question of a message is about, in its own words; nothing if it asks nothing."""
    for question in [said for said in sentences(last) if said.endswith(("?", "？")) and not _REFUSES.search(said)]:
        if language == "zh":
            text = _FRAME_ZH_END.sub("", _FRAME_ZH.sub("", question)).strip("，。？ ")
            text = short(text, 8)
        else:
            text = _without_frame(question.rstrip("?？").strip()).split(":")[0].strip()
            text = begin_small(short(text, 12))
        if words(text) and not _NO_FOCUS.match(text):
            return yours(text.replace("你", "我") if language == "zh" else text, language)
    return ""


_NO_FOCUS = re.compile(
    r"(?:which|does|is|are|do|where would|that|how much|how would|what (?:could|should|would|do)|put|one more)\b|帮|这样|出出主意|你|换作|再给我|这大概|这样大概|可能会|有没有|我(?:应该|是不是)",
    re.IGNORECASE,
)


def _without_frame(question: str) -> str:
    """An English question without the words that only say that it is one."""
    for frame in (_LEAD, _FRAME, _LEAD):
        if match := frame.match(question + " "):
            question = question[match.end() :]
    return question


def _ideas(focus: str, kind: str, heard: Sequence[str], earlier: str, language: Language, draw: int) -> list[str]:
    """Three options that were not suggested yet and go against nothing that the user told."""
    known = phrases(language)
    text = "\n".join(heard)
    against = "|".join(rule["reply"] for rule in known["conflicts"] if re.search(rule["fact"], text, re.IGNORECASE))
    about = [aspect["ideas"] for aspect in known["aspects"] if focus and re.search(aspect["signs"], focus, re.I)]
    found = [idea for ideas in [*about[:1], known["kinds"][kind]["ideas"]] for idea in turned(ideas, draw)]
    fresh = [idea for idea in found if idea.casefold() not in earlier]
    fresh += turned([idea for idea in known["kinds"]["other"]["ideas"] if idea.casefold() not in earlier], draw)
    fitting = [idea for idea in fresh if not (against and re.search(against, idea, re.IGNORECASE))]
    again = [idea for idea in found if not (against and re.search(against, idea, re.IGNORECASE))]
    return list(dict.fromkeys([*fitting, *again, *found]))[:3]


def _taken(titles: Sequence[str], last: str) -> list[str]:
    """The options suggested so far without those that the user has just refused."""
    said = last.casefold()
    return [title for title in titles if title.casefold() not in said or not _REFUSES.search(last)]


def _question(kind: str, earlier: str, language: Language, draw: int) -> str:
    known = phrases(language)
    own = [text for text in turned(known["kinds"][kind]["questions"], draw >> 3) if text.casefold() not in earlier]
    closing = known["replies"]["closing_questions"]
    return str(own[0] if own else closing[(draw >> 3) % len(closing)])


def _afterwards(talk: Talk, heard: Sequence[str], language: Language) -> str:
    """The answer to a question about the talk, in a sentence or two."""
    asked = [said for text in heard for said in sentences(text) if said.endswith(("?", "？"))] or list(heard[-1:])
    about = capital(short(asked[-1], 20)).rstrip("?？.。") if asked else "..."
    posts = phrases(language)["replies"]["post"]
    template: str = next(text for signs, text in posts if re.search(signs, talk.note, re.IGNORECASE))
    first = next(iter(told for text in heard[:1] for told in sentences(text) if _TELLS.search(told)), about)
    return template.replace("{q}", about).replace("{o}", first.rstrip(".。"))
