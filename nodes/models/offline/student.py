"""The offline student: asks about the header first, then about things that the answers mention."""

import re
from collections.abc import Iterator, Mapping, Sequence

from ....data.grounding import NO_ANSWER
from ....data.rules import plain_words
from ....data.text.languages import HAN
from .prompt_parser import ParsedPrompt
from .word_weights import content_words, rotated, vocabulary, words

_QUESTIONS: Mapping[str, Mapping[str, Sequence[str]]] = vocabulary("simquac")["questions"]
"""Templates by language and kind of question: {x} is a mentioned thing, {t} the title, {h} the header."""
_STARTS = frozenset(vocabulary("simquac")["sentence_starts"])
_SIGNS = {kind: re.compile(signs) for kind, signs in vocabulary("simquac")["kinds_by_note"].items()}
_PATTERNS = {name: re.compile(text) for name, text in vocabulary("simquac")["student_patterns"].items()}


def reply(prompt: ParsedPrompt, draw: int, misbehaviour: str = "") -> str:
    """A question that was not asked yet; the misbehaviour `two_questions` asks two numbered questions."""
    text = _question(prompt, prompt.own, prompt.note, draw)
    if misbehaviour == "two_questions":
        text = f"1. {text}\n2. {_question(prompt, [*prompt.own, text], '', draw + 1)}"
    return text


def _question(prompt: ParsedPrompt, previous: Sequence[str], note: str, draw: int) -> str:
    """A question that was not asked yet, of the kind that our note requests."""
    earlier = {plain_words(text) for text in previous}
    texts = _candidates(prompt, previous, note, draw)
    return next((text for text in texts if plain_words(text) not in earlier), "What else?")


def _candidates(prompt: ParsedPrompt, previous: Sequence[str], note: str, draw: int) -> Iterator[str]:
    title, header, answers = prompt.marked("title"), prompt.marked("header"), prompt.others
    chinese = HAN.search(title + header) is not None
    subject = _PATTERNS["years_first"].sub("", header).strip(" .:") or title
    values = {"t": _short(title), "h": _short(subject), "x": "{x}"}
    questions = _QUESTIONS["zh" if chinese else "en"]
    filled = {kind: [template.format(**values) for template in texts] for kind, texts in questions.items()}
    templates = {kind: rotated(texts, draw) for kind, texts in filled.items()}
    kind_in_note = next((kind for kind, sign in _SIGNS.items() if sign.search(note)), "")
    for kind in (
        rotated(["who", "when", "where"], draw) if kind_in_note == "wh" else [kind_in_note] if kind_in_note else []
    ):
        yield from templates[kind]
    if not previous:
        yield _about(subject, templates["header"][0])
    mentioned = set(content_words(" ".join([title, *previous])))
    if not "".join(answers[-1:]).startswith(NO_ANSWER) and draw // 7 % 5 < 3:  # in three of five cases
        yield from (_about(thing, templates[kind][0]) for kind, thing in _things(answers[-1:], mentioned, title))
    if draw // 3 % 2:
        yield from templates["other"]
    for part in _PATTERNS["joints"].split(subject):
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
        for match in _PATTERNS["quoted"].finditer(answer):
            thing = next(group for group in match.groups() if group)
            if set(content_words(thing)) - mentioned:
                yield "name", thing.strip(" ,.")
        for match in _PATTERNS["name"].finditer(answer):
            thing = match.group()
            begins_sentence = answer[: match.start()].rstrip()[-1:] in ("", ".", "!", "?")
            if thing.split()[0] in _STARTS or (begins_sentence and " " not in thing):
                thing = " ".join(thing.split()[1:])  # the capital at the start of a sentence makes no name
            if len(thing) > 2 and set(content_words(thing)) - mentioned - set(content_words(title)):
                yield "name", " ".join(thing.split()[:6])
        for match in _PATTERNS["year"].finditer(answer):
            if match.group() not in mentioned:
                yield "year", match.group()
        for pair in _PATTERNS["noun"].findall(answer):
            noun = " ".join(word for word in pair if word and not _PATTERNS["no_noun"].search(word))
            if set(content_words(noun)) - mentioned:
                yield "word", noun


def _about(thing: str, template: str) -> str:
    """The template with a thing in its gap; braces in the thing are replaced."""
    return template.replace("{x}", _short(thing).replace("{", "(").replace("}", ")"))


def _short(thing: str) -> str:
    return " ".join(thing.split()[:12])[:80]
