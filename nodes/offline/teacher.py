"""The offline teacher: finds the sentence that a question is about and copies the piece that answers it."""

import re
from collections.abc import Sequence
from functools import lru_cache

from ...data.grounding import NO_ANSWER
from ...data.sentences import sentences
from .prompt_parser import Prompt
from .words import Ranking, content_words, vocabulary, words

_EVIDENCE = {kind: re.compile(text) for kind, text in vocabulary("simquac")["evidence"].items()}
"""Per kind of question what a sentence must hold to answer it."""
_PATTERNS = {name: re.compile(text) for name, text in vocabulary("simquac")["teacher_patterns"].items()}


def reply(prompt: Prompt, draw: int, misbehaviour: str = "") -> str:
    """An answer from the section; `paraphrase` says it in other words, `background` answers from the background."""
    question = (prompt.others or ("",))[-1]
    text = _answer(question, prompt.marked("section"), prompt.marked("title"), prompt.answered, draw)
    if misbehaviour == "paraphrase":
        return "In other words, " + " ".join(reversed(text.split()[:12])) + "."
    if misbehaviour == "background" and (background := prompt.marked("background")):
        return background.split(". ")[0]
    return text


@lru_cache(maxsize=64)
def _read(section: str) -> tuple[tuple[str, ...], Ranking]:
    texts = tuple(text for text in sentences(section) if words(text))
    return texts, Ranking(texts)


def _answer(question: str, section: str, title: str, earlier: Sequence[str], draw: int) -> str:
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
    open_question = _PATTERNS["open"].search(question)

    def rank(number: int) -> tuple[float, int]:
        proven = evidence is not None and evidence.search(texts[number])
        return ranking.score(number, known) * (1.3 if proven else 1.0) * (0.4 if told[number] else 1.0), -number

    if known := [word for word in query if ranking.frequency[word]]:
        best = max(range(len(texts)), key=rank)
        asked = sum(ranking.weight(word) for word in query)
        matched = sum(ranking.weight(word) for word in known if ranking.counts[best][word])
        proven = evidence is None or evidence.search(texts[best]) is not None
        if matched >= 0.3 * asked and (proven or matched >= 0.7 * asked):
            again = told[best] and _PATTERNS["more"].search(question)
            return NO_ANSWER if again else _piece(texts[best], query, kind)
        if not open_question:
            return NO_ANSWER
    fresh = [text for text, heard in zip(texts, told, strict=True) if not heard]
    if open_question or (not query and evidence is None):
        anywhere = "interesting" in question or "有趣" in question  # otherwise the first thing not told yet
        return fresh[draw % len(fresh) if anywhere else 0] if fresh else NO_ANSWER
    if evidence is not None and not query:
        return next((_piece(text, query, kind) for text in fresh if evidence.search(text)), NO_ANSWER)
    return NO_ANSWER


def _piece(sentence: str, query: Sequence[str], kind: str) -> str:
    """The shortest clause, or row of clauses, that holds all of the question's words that the sentence has."""
    if kind in ("when", "what year") and (date := _PATTERNS["date"].search(sentence)):
        return date.group().strip()
    # At most a dozen clauses: longer sentences end in one long clause.
    cuts = [0, *(match.end() for match in _PATTERNS["clause"].finditer(sentence))][:12]
    spans = zip(cuts, [*cuts[1:], len(sentence)], strict=True)
    clauses = [(start, end) for start, end in spans if sentence[start:end].strip()]
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
