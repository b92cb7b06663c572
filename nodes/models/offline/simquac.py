"""The rule-based student, which asks about what was said, and teacher, which copies the part that answers it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from ....data.grounding import NO_ANSWER
from ....data.rules.guards import plain_words
from ....data.text.languages import HAN
from ....data.text.sentence_splitting import sentences
from .reading import ParsedPrompt, WordRanking, content_words, rotated, vocabulary, words

_QUESTIONS: Mapping[str, Mapping[str, Sequence[str]]] = vocabulary("simquac")["questions"]
"""Templates by language and kind of question: {x} is a mentioned thing, {t} the title, {h} the header."""
_STARTS = frozenset(vocabulary("simquac")["sentence_starts"])
_SIGNS = {kind: re.compile(signs) for kind, signs in vocabulary("simquac")["kinds_by_note"].items()}
_STUDENT = {name: re.compile(text) for name, text in vocabulary("simquac")["student_patterns"].items()}


def student(prompt: ParsedPrompt, draw: int, misbehaviour: str = "") -> str:
    """A question that was not asked yet; the misbehaviour `two_questions` asks two numbered questions."""
    text = _question(prompt, prompt.own, prompt.note, draw)
    if misbehaviour == "two_questions":
        text = f"1. {text}\n2. {_question(prompt, [*prompt.own, text], '', draw + 1)}"
    return text


def _question(prompt: ParsedPrompt, previous: Sequence[str], note: str, draw: int) -> str:
    earlier = {plain_words(text) for text in previous}
    texts = _candidates(prompt, previous, note, draw)
    return next((text for text in texts if plain_words(text) not in earlier), "What else?")


def _candidates(prompt: ParsedPrompt, previous: Sequence[str], note: str, draw: int) -> Iterator[str]:
    title, header, answers = prompt.marked("title"), prompt.marked("header"), prompt.others
    chinese = HAN.search(title + header) is not None
    subject = _STUDENT["years_first"].sub("", header).strip(" .:") or title
    values = {"t": _short(title), "h": _short(subject), "x": "{x}"}
    questions = _QUESTIONS["zh" if chinese else "en"]
    filled = {kind: [template.format(**values) for template in texts] for kind, texts in questions.items()}
    templates = {kind: rotated(texts, draw) for kind, texts in filled.items()}
    kind_in_note = next((kind for kind, sign in _SIGNS.items() if sign.search(note)), "")
    for kind in rotated(["who", "when", "where"], draw) if kind_in_note == "wh" else filter(None, [kind_in_note]):
        yield from templates[kind]
    if not previous:
        yield _about(subject, templates["header"][0])
    mentioned = set(content_words(" ".join([title, *previous])))
    if not "".join(answers[-1:]).startswith(NO_ANSWER) and draw // 7 % 5 < 3:  # in three of five cases
        yield from (_about(thing, templates[kind][0]) for kind, thing in _things(answers[-1:], mentioned, title))
    if draw // 3 % 2:
        yield from templates["other"]
    for part in _STUDENT["joints"].split(subject):
        if words(part) and set(content_words(part)) - mentioned:
            yield _about(part, templates["header"][0])
    yield from (_about(thing, templates[kind][0]) for kind, thing in _things(answers[::-1], mentioned, title))
    for kind in ("other", "general", "who", "when", "where", "interesting"):
        yield from templates[kind]
    for kind, thing in _things(answers[::-1], set(), title):
        yield from (_about(thing, template) for template in questions[kind])
    for number in range(len(previous) + 1, len(previous) + 100):  # the templates are used up
        yield f"关于{subject}，第{number}点是什么？" if chinese else f"What is point {number} about {subject}?"


def _things(answers: Sequence[str], mentioned: set[str], title: str) -> Iterator[tuple[str, str]]:
    """Things in the answers that were not mentioned before: quotations, names, years, then long words."""
    for answer in answers:
        if answer.startswith(NO_ANSWER):
            continue
        for match in _STUDENT["quoted"].finditer(answer):
            thing = next(group for group in match.groups() if group)
            if set(content_words(thing)) - mentioned:
                yield "name", thing.strip(" ,.")
        for match in _STUDENT["name"].finditer(answer):
            thing = match.group()
            begins_sentence = answer[: match.start()].rstrip()[-1:] in ("", ".", "!", "?")
            if thing.split()[0] in _STARTS or (begins_sentence and " " not in thing):
                thing = " ".join(thing.split()[1:])  # the capital at the start of a sentence makes no name
            if len(thing) > 2 and set(content_words(thing)) - mentioned - set(content_words(title)):
                yield "name", " ".join(thing.split()[:6])
        for match in _STUDENT["year"].finditer(answer):
            if match.group() not in mentioned:
                yield "year", match.group()
        for pair in _STUDENT["noun"].findall(answer):
            noun = " ".join(word for word in pair if word and not _STUDENT["no_noun"].search(word))
            if set(content_words(noun)) - mentioned:
                yield "word", noun


def _about(thing: str, template: str) -> str:
    return template.replace("{x}", _short(thing).replace("{", "(").replace("}", ")"))


def _short(thing: str) -> str:
    return " ".join(thing.split()[:12])[:80]


_EVIDENCE = {kind: re.compile(text) for kind, text in vocabulary("simquac")["evidence"].items()}
"""By kind of question, the pattern that a sentence must contain to answer it."""
_TEACHER = {name: re.compile(text) for name, text in vocabulary("simquac")["teacher_patterns"].items()}


def teacher(prompt: ParsedPrompt, draw: int, misbehaviour: str = "") -> str:
    """An answer from the section; misbehaviours: `paraphrase` changes the words, `background` uses the background."""
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
    open_question = _TEACHER["open"].search(question)

    def rank(number: int) -> tuple[float, int]:
        factor = 1.3 if evidence is not None and evidence.search(texts[number]) else 1.0
        return ranking.score(number, known_words) * factor * (0.4 if is_used[number] else 1.0), -number

    if known_words := [word for word in query if ranking.frequency[word]]:
        best = max(range(len(texts)), key=rank)
        query_weight = sum(ranking.weight(word) for word in query)
        matched = sum(ranking.weight(word) for word in known_words if ranking.counts[best][word])
        proven = evidence is None or evidence.search(texts[best]) is not None
        if matched >= 0.3 * query_weight and (proven or matched >= 0.7 * query_weight):
            again = is_used[best] and _TEACHER["more"].search(question)
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
    if kind in ("when", "what year") and (date := _TEACHER["date"].search(sentence)):
        return date.group().strip()
    # At most twelve clauses: the last one holds the rest of a longer sentence.
    cuts = [0, *(match.end() for match in _TEACHER["clause"].finditer(sentence))][:12]
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
