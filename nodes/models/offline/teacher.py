"""The offline teacher: finds the sentence that a question is about and copies the piece that answers it."""

import re
from collections.abc import Sequence
from functools import lru_cache

from ....data.grounding import NO_ANSWER
from ....data.text.sentences import sentences
from .words import Ranking, content_words, words

_MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"
_TIME = re.compile(rf"\b(?:1[0-9]|20)\d\d\b|\b(?:{_MONTH})\b|\b\d+(?:st|nd|rd|th) century\b|年")
_DATE = re.compile(
    rf"(?:\b(?:in|on|by|from|since|until|around|during) )?(?:(?:early|late|mid)[- ])?(?:the )?"
    rf"(?:\d{{1,2}} )?(?:(?:{_MONTH})(?: \d{{1,2}})?,? )?\b(?:1[0-9]|20)\d\ds?\b",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\b(?:in|at|to|from|near) (?:the )?[A-Z][\w'’.-]+(?: (?:of |de )?[A-Z][\w'’.-]+)*")
_NUMBER = re.compile(
    r"\$?\b\d[\d,.]*\b|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|hundred|thousand|million)\b"
)
_PERSON = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][\w'’.-]+(?: [A-Z][\w'’.-]+)*")
_CAUSE = re.compile(r"\b(?:because|due to|since|so that|in order to|as a result|led to|after)\b", re.IGNORECASE)
_EVIDENCE = {
    "when": _TIME, "what year": _TIME, "where": _PLACE, "who": _PERSON, "how many": _NUMBER, "how much": _NUMBER,
    "why": _CAUSE, "什么时候": _TIME, "哪一年": _TIME, "多少": _NUMBER,
}  # fmt: skip
_CLAUSE = re.compile(r"(?<=[,;:])\s+|\s+(?=(?:and|but|which|who|while|where|although)\s)|(?<=[，；])")
_OPEN = re.compile(
    r"\b(?:else|other|interesting|more about|next|then|about this|general|main|overview|tell me)\b|还有|有趣|其他|介绍",
    re.IGNORECASE,
)
_MORE = re.compile(r"\b(?:else|other|more)\b|还有|其他")


@lru_cache(maxsize=64)
def _read(section: str) -> tuple[tuple[str, ...], Ranking]:
    texts = tuple(text for text in sentences(section) if words(text))
    return texts, Ranking(texts)


def answer(question: str, section: str, title: str, earlier: Sequence[str], draw: int) -> str:
    """The piece of the section that answers the question, or the declared words for none.

    `earlier`: what this teacher answered before; it is not told again while there is something new.
    """
    texts, ranking = _read(section)
    if not texts:
        return NO_ANSWER
    names = set(content_words(title))
    query = [word for word in content_words(question) if word not in names]
    said = "\n".join(earlier)
    told = [text in said or any(piece and piece in text for piece in earlier) for text in texts]
    kind = next((kind for kind in _EVIDENCE if kind in question.casefold()), "")
    evidence = _EVIDENCE.get(kind)
    known = [word for word in query if ranking.frequency[word]]
    asked = sum(ranking.weight(word) for word in query)
    if known:
        best = max(range(len(texts)), key=lambda n: (_rank(n, texts, ranking, known, evidence, told), -n))
        matched = sum(ranking.weight(word) for word in known if ranking.counts[best][word])
        proven = evidence is None or evidence.search(texts[best]) is not None
        if matched >= 0.3 * asked and (proven or matched >= 0.7 * asked):
            return NO_ANSWER if told[best] and _MORE.search(question) else _piece(texts[best], query, kind)
        if not _OPEN.search(question):
            return NO_ANSWER
    if _OPEN.search(question) or (not query and evidence is None):
        fresh = [number for number, heard in enumerate(told) if not heard]
        return texts[_open_choice(question, fresh, draw)] if fresh else NO_ANSWER
    if evidence is not None and not query:
        for number, text in enumerate(texts):
            if not told[number] and evidence.search(text):
                return _piece(text, query, kind)
    return NO_ANSWER


def _rank(
    number: int,
    texts: Sequence[str],
    ranking: Ranking,
    query: Sequence[str],
    evidence: re.Pattern[str] | None,
    told: Sequence[bool],
) -> float:
    score = ranking.score(number, query)
    if evidence is not None and evidence.search(texts[number]):
        score *= 1.3
    return score * (0.4 if told[number] else 1.0)


def _open_choice(question: str, fresh: Sequence[int], draw: int) -> int:
    """The first thing not told yet; what is interesting may stand anywhere."""
    return fresh[draw % len(fresh)] if "interesting" in question or "有趣" in question else fresh[0]


def _piece(sentence: str, query: Sequence[str], kind: str) -> str:
    """The shortest clause, or row of clauses, that holds all of the question's words that the sentence has."""
    if kind in ("when", "what year") and (date := _DATE.search(sentence)):
        return date.group().strip()
    clauses = [match for match in _spans(sentence) if sentence[match[0] : match[1]].strip()]
    wanted = {word for word in query if word in content_words(sentence)}
    evidence = _EVIDENCE.get(kind)
    best = (0, len(sentence))
    for first in range(len(clauses)):
        for last in range(first, len(clauses)):
            start, end = clauses[first][0], clauses[last][1]
            piece = sentence[start:end]
            holds = wanted <= set(content_words(piece)) and (evidence is None or evidence.search(piece))
            if holds and len(words(piece)) >= 4 and end - start < best[1] - best[0]:
                best = (start, end)
    return sentence[best[0] : best[1]].strip().rstrip(",;:，；")


def _spans(sentence: str) -> list[tuple[int, int]]:
    """First and last offset of each clause; at most a dozen, longer sentences end in one long clause."""
    cuts = [0, *(match.end() for match in _CLAUSE.finditer(sentence))][:12]
    return list(zip(cuts, [*cuts[1:], len(sentence)], strict=True))
