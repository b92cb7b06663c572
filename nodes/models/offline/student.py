"""The offline student: asks about the header first, then about what the answers bring up."""

import re
from collections.abc import Iterator, Mapping, Sequence

from ....data.checks import plain_words
from ....data.grounding import NO_ANSWER
from .words import PHRASES, content_words, words

_NAME = re.compile(r"[A-Z][\w'’.-]*[\w](?: (?:of |the |de |and the )?[A-Z0-9][\w'’.-]*\w)*")
_QUOTED = re.compile(r'"([^"]{3,50})"|“([^”]{3,50})”|《([^》]{2,30})》')
_YEAR = re.compile(r"\b(?:1[0-9]|20)\d\d\b")
_NOUN = re.compile(r"\b(?:the|an?|his|her|their|its|first|new|this|of)\s+([a-z][a-z-]{3,})(?:\s+([a-z-]{4,}))?\b")
_NO_NOUN = re.compile(
    r"(?:ed|ing|ly|ous|ful|able)$|^(?:that|with|from|which|when|where|while|were|have|into|also|than|then|more|most|other|same|first|most)$"
)
_YEARS_FIRST = re.compile(r"^[\d\s\-–—/,s]+(?:present)?\s*[:：-]\s*", re.IGNORECASE)
_JOINTS = re.compile(r"\s*(?:,|;|:|/|\band\b|&|、|，|：|和|与)\s*")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_SENTENCE_STARTS = frozenset(PHRASES["sentence_starts"])
_QUESTIONS: Mapping[str, Mapping[str, Sequence[str]]] = PHRASES["questions"]
"""Per language and kind of question its templates: {x} what came up, {t} the title, {h} the header."""


def question(
    title: str, header: str, background: str, asked: Sequence[str], answers: Sequence[str], notes: str, draw: int
) -> str:
    """A question that was not asked yet, of the kind that the organiser's note asks for."""
    before = {plain_words(text) for text in asked}
    chinese = _HAN.search(title + header) is not None
    subject = _YEARS_FIRST.sub("", header).strip(" .:") or title
    fitting = {"t": _short(title), "h": _short(subject)}
    for candidate in _candidates(subject, title, asked, answers, notes, draw, chinese):
        text = candidate.format(**fitting) if "{" in candidate else candidate
        if plain_words(text) not in before:
            return text
    for number in range(len(asked) + 1, len(asked) + 100):  # a talk longer than the repertoire
        text = f"关于{subject}，第{number}点是什么？" if chinese else f"What is point {number} about {subject}?"
        if plain_words(text) not in before:
            return text
    return "What else?"


def _candidates(
    subject: str, title: str, asked: Sequence[str], answers: Sequence[str], notes: str, draw: int, chinese: bool
) -> Iterator[str]:
    templates = _QUESTIONS["zh" if chinese else "en"]
    wanted = next((kind for kind, sign in _SIGNS.items() if sign.search(notes)), "")
    if wanted == "wh":
        kinds = ["who", "when", "where"]
        for kind in kinds[draw % 3 :] + kinds[: draw % 3]:
            yield from _turned(templates[kind], draw)
    elif wanted:
        yield from _turned(templates[wanted], draw)
    if not asked:
        yield _safe(templates["header"][draw % len(templates["header"])], subject)
    refused = bool(answers) and answers[-1].startswith(NO_ANSWER)
    mentioned = set(content_words(" ".join([title, *asked])))
    if not refused and draw // 7 % 5 < 3:  # three times in five: what the last answer brought up
        yield from _about(_things(answers[-1:], mentioned, title), templates, draw)
    if draw // 3 % 2:
        yield from _turned(templates["other"], draw)
    for part in _JOINTS.split(subject):
        if words(part) and set(content_words(part)) - mentioned:
            yield _safe(templates["header"][draw % len(templates["header"])], part)
    yield from _about(_things(list(reversed(answers)), mentioned, title), templates, draw)
    yield from _turned(templates["other"], draw)
    for kind in ("general", "who", "when", "where", "interesting"):
        yield from _turned(templates[kind], draw)
    for kind, thing in _things(list(reversed(answers)), set(), title):
        for one in templates[kind]:
            yield _safe(one, thing)


def _about(things: Iterator[tuple[str, str]], templates: Mapping[str, Sequence[str]], draw: int) -> Iterator[str]:
    for kind, thing in things:
        yield _safe(templates[kind][draw % len(templates[kind])], thing)


_SIGNS = {
    "wh": re.compile(r"who,? when|when or where", re.IGNORECASE),
    "interesting": re.compile(r"interesting|有趣", re.IGNORECASE),
    "general": re.compile(r"\bgeneral\b|\bbroad\b", re.IGNORECASE),
    "other": re.compile(r"another aspect|different aspect", re.IGNORECASE),
}
"""Which kind of question a note asks for."""


def _things(answers: Sequence[str], mentioned: set[str], title: str) -> Iterator[tuple[str, str]]:
    """What the answers bring up that was not talked about: quotations, names, years, then long words."""
    for answer in answers:
        if answer.startswith(NO_ANSWER):
            continue
        for match in _QUOTED.finditer(answer):
            thing = next(group for group in match.groups() if group)
            if set(content_words(thing)) - mentioned:
                yield "name", thing.strip(" ,.")
        for match in _NAME.finditer(answer):
            thing = match.group()
            begins = answer[: match.start()].rstrip()[-1:] in ("", ".", "!", "?")
            if thing.split()[0] in _SENTENCE_STARTS or (begins and " " not in thing):
                thing = " ".join(thing.split()[1:])  # a capital that only begins a sentence is no name
            if len(thing) > 2 and set(content_words(thing)) - mentioned - set(content_words(title)):
                yield "name", " ".join(thing.split()[:6])
        for match in _YEAR.finditer(answer):
            if match.group() not in mentioned:
                yield "year", match.group()
        for first, second in _NOUN.findall(answer):
            noun = " ".join(word for word in (first, second) if word and not _NO_NOUN.search(word))
            if set(content_words(noun)) - mentioned:
                yield "word", noun


def _safe(template: str, thing: str) -> str:
    """The template about a thing, whose own braces are text."""
    return template.replace("{x}", _short(thing).replace("{", "(").replace("}", ")"))


def _short(thing: str) -> str:
    return " ".join(thing.split()[:12])[:80]


def _turned(templates: Sequence[str], draw: int) -> list[str]:
    """The templates from another beginning, so that not every talk is the same."""
    start = draw % len(templates)
    return [*templates[start:], *templates[:start]]
