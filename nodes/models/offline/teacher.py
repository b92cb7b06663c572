"""The offline teacher: finds the sentence that fits a question, and copies the part that answers it."""

import re
from collections.abc import Sequence
from functools import lru_cache

from ....data.grounding import NO_ANSWER
from ....data.text.sentence_splitting import sentences
from .prompt_parser import ParsedPrompt
from .word_weights import WordRanking, content_words, vocabulary, words

_EVIDENCE = {kind: re.compile(text) for kind, text in vocabulary("simquac")["evidence"].items()}
"""By kind of question, the pattern that a sentence must contain to answer it."""
_PATTERNS = {name: re.compile(text) for name, text in vocabulary("simquac")["teacher_patterns"].items()}


def reply(prompt: ParsedPrompt, draw: int, misbehaviour: str = "") -> str:
    """An answer from the section.

    Misbehaviours: `paraphrase` changes the words, `background` uses the background.
    """
    if misbehaviour == "paraphrase":
        return "In other words, " + " ".join(reversed(_answer(prompt, draw).split()[:12])) + "."
    background = prompt.marked("background") if misbehaviour == "background" else ""
    return background.split(". ")[0] or _answer(prompt, draw)


@lru_cache(maxsize=64)
def _read(section: str) -> WordRanking:
    return WordRanking([text for text in sentences(section) if words(text)])


def _answer(prompt: ParsedPrompt, draw: int) -> str:
    """The piece of the section that answers the question, preferably one not used before; `NO_ANSWER` if none does."""
    ranking, question = _read(prompt.marked("section")), "".join(prompt.others[-1:])
    texts = ranking.texts
    names = set(content_words(prompt.marked("title")))
    query = [word for word in content_words(question) if word not in names]
    is_used = [any(text in piece or piece in text for piece in prompt.answered) for text in texts]
    kind = next((kind for kind in _EVIDENCE if kind in question.casefold()), "")
    evidence = _EVIDENCE.get(kind)
    open_question = _PATTERNS["open"].search(question)

    def rank(number: int) -> tuple[float, int]:
        proven = evidence is not None and evidence.search(texts[number])
        return ranking.score(number, known_words) * (1.3 if proven else 1.0) * (
            0.4 if is_used[number] else 1.0
        ), -number

    if known_words := [word for word in query if ranking.frequency[word]]:
        best = max(range(len(texts)), key=rank)
        query_weight = sum(ranking.weight(word) for word in query)
        matched = sum(ranking.weight(word) for word in known_words if ranking.counts[best][word])
        proven = evidence is None or evidence.search(texts[best]) is not None
        if matched >= 0.3 * query_weight and (proven or matched >= 0.7 * query_weight):
            again = is_used[best] and _PATTERNS["more"].search(question)
            return NO_ANSWER if again else _piece(texts[best], query, kind)
        if not open_question:
            return NO_ANSWER
    fresh = [text for text, used in zip(texts, is_used, strict=True) if not used]
    if open_question or (not query and evidence is None):
        anywhere = "interesting" in question or "有趣" in question  # otherwise the first unused sentence
        return fresh[draw % len(fresh) if anywhere else 0] if fresh else NO_ANSWER
    with_evidence = (text for text in fresh if not query and evidence is not None and evidence.search(text))
    return next((_piece(text, query, kind) for text in with_evidence), NO_ANSWER)


def _piece(sentence: str, query: Sequence[str], kind: str) -> str:
    """The shortest sequence of clauses that contains all words of the question that the sentence has."""
    if kind in ("when", "what year") and (date := _PATTERNS["date"].search(sentence)):
        return date.group().strip()
    # At most twelve clauses: the last one holds the rest of a longer sentence.
    cuts = [0, *(match.end() for match in _PATTERNS["clause"].finditer(sentence))][:12]
    spans = zip(cuts, [*cuts[1:], len(sentence)], strict=True)
    clauses = [(start, end) for start, end in spans if sentence[start:end].strip()]
    query_words = {word for word in query if word in content_words(sentence)}
    evidence = _EVIDENCE.get(kind)
    best = sentence
    for piece in [sentence[start:end] for first, (start, _) in enumerate(clauses) for _, end in clauses[first:]]:
        holds = query_words <= set(content_words(piece)) and (evidence is None or evidence.search(piece))
        if holds and len(words(piece)) >= 4 and len(piece) < len(best):
            best = piece
    return best.strip().rstrip(",;:，；")
