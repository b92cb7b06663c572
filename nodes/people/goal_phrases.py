"""Phrases that stand in each other's place in two goals of one task, and turns that take them.

Goals of one task often have the same clauses except for a few phrases: "a birthday gift" and "a wedding gift". A turn of a
source conversation fits another goal once it has the phrases of that goal.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from ...data.text.content_words import content
from ...data.text.languages import HAN
from ...data.text.word_segmentation import segmentation
from .names import is_noun

_BREAK = re.compile(r"[，。；！？：\n（）()]+|[,.;!?:](?=\s|\Z)\s*")
_PIECE = re.compile(r"[\u3400-\u9fff]+|[^\W\u3400-\u9fff]+(?:['’.,-][^\W\u3400-\u9fff]+)*|[/、]")
_OR = frozenset(("/", "、", "or", "或", "或者"))
_FIRST_PERSON = (
    (r"^假设", ""),
    ("你们", "我们"),
    ("你", "我"),
    (r"\byour\b", "my"),
    (r"\byou are\b", "I am"),
    (r"\byou\b", "I"),
)
PARALLEL, PARALLEL_WORDS = 0.5, 0.7
"""Shares of equal clauses, or of equal words in the same order, from which on two goals count as parallel."""
COPIED = 0.5
"""Share of a clause's words, of either one, from which on a turn's clause counts as one of the goal."""


@dataclass(frozen=True)
class GoalPhrases:
    """What a source's goal says that the goal here does not."""

    clauses: tuple[tuple[frozenset[str], str], ...] = ()
    """The words of each clause that only the source's goal has, with the clause in its place here in the first person."""
    words: tuple[tuple[str, str], ...] = ()
    """Words of the source's goal, each with the word in its place here."""
    foreign: frozenset[str] = frozenset()
    """Nouns of the source's goal that the goal here does not have, with or without a word in their place."""

    def fitted(self, text: str, talk: str) -> tuple[str, tuple[tuple[str, str], ...]] | None:
        """The text with the phrases of the goal here, and the changes; None if a foreign noun remains.

        A word that is in `talk`, the conversation so far, is not foreign any more.
        """
        changed: list[tuple[str, str]] = []
        for clause in _clauses(text) if self.clauses else ():
            here = self._in_place_of(clause)
            if here and clause != here and here not in text:
                text = text.replace(clause, here, 1)
                changed.append((clause, here))
        for word, here in self.words:
            if word not in talk and word not in here and _whole(word).search(text):
                text = here.join(_whole(word).split(text))
                changed.append((word, here))
        remaining = any(word not in talk and _whole(word).search(text) for word in self.foreign)
        return None if remaining else (text, tuple(changed))

    def _in_place_of(self, clause: str) -> str:
        """The clause of the goal here for a turn's clause that repeats the source's; else empty."""
        words = frozenset(_words_of(clause))
        shares = [(len(words & own) / max(len(words), len(own), 1), here) for own, here in self.clauses]
        share, here = max(shares, default=(0.0, ""))
        return here if share >= COPIED else ""


NO_PHRASES = GoalPhrases()


@lru_cache(maxsize=2_000)
def phrases_between(source: str, here: str) -> GoalPhrases:
    """The phrases in which a source's goal differs from the goal here; none if the two are not parallel.

    Equal clauses are matched first, then the words of the clauses between them (`difflib`). A clause has a counterpart
    where as many clauses stand in its place. A word has one where one word, or a list of alternatives such as "a/b",
    stands in the place of one.
    """
    if source == here:
        return NO_PHRASES
    clauses, others = _clauses(source), _clauses(here)
    matcher = SequenceMatcher(None, clauses, others, autojunk=False)
    of_words = SequenceMatcher(None, _words(clauses), _words(others), autojunk=False)
    if matcher.ratio() < PARALLEL and of_words.ratio() < PARALLEL_WORDS:
        return NO_PHRASES
    in_place: list[tuple[frozenset[str], str]] = []
    pairs: dict[str, str] = {}
    foreign: set[str] = set()
    for kind, low, high, other_low, other_high in matcher.get_opcodes():
        if kind in ("equal", "insert"):
            continue
        block, other_block = clauses[low:high], others[other_low:other_high]
        if len(block) == len(other_block):
            in_place += [
                (frozenset(_words_of(one)), _in_first_person(other))
                for one, other in zip(block, other_block, strict=True)
            ]
        words, other_words = _words(block), _words(other_block)
        inner = SequenceMatcher(None, words, other_words, autojunk=False)
        for same, start, end, other_start, other_end in inner.get_opcodes():
            if same in ("replace", "delete"):
                foreign.update(words[start:end])
                pairs.update(_counterparts(words[start:end], other_words[other_start:other_end]))
    named = {word for word in foreign if _is_name(word) and word not in here}
    chosen = ((word, pairs[word]) for word in sorted(named & pairs.keys(), key=lambda word: (-len(word), word)))
    return GoalPhrases(tuple(in_place), tuple(chosen), frozenset(named))


def _clauses(text: str) -> list[str]:
    return [clause.strip() for clause in _BREAK.split(text) if clause.strip()]


def _words(clauses: Sequence[str]) -> list[str]:
    return [word for clause in clauses for word in _words_of(clause)]


@lru_cache(maxsize=20_000)
def _words_of(clause: str) -> tuple[str, ...]:
    """The words of a clause, marks of alternatives among them."""
    return tuple(_cut(clause))


def _cut(clause: str) -> Iterator[str]:
    for piece in _PIECE.findall(clause):
        yield from segmentation()(piece) if HAN.match(piece) else (piece,)


def _in_first_person(clause: str) -> str:
    """A clause of a goal as its user says it: `I` in place of `you`, and the first of alternatives."""
    starts_a_sentence = clause[:1].isupper()
    for pattern, own in _FIRST_PERSON:
        clause = re.sub(pattern, own, clause, flags=re.IGNORECASE)
    if starts_a_sentence:
        clause = clause[:1].upper() + clause[1:]
    first, *others = clause.split("/")
    for place, other in enumerate(others, start=1):
        words = _words_of(other)
        if words and place == len(others):
            first += other.partition(words[0])[2]
    return first


def _counterparts(words: Sequence[str], others: Sequence[str]) -> dict[str, str]:
    """For each alternative of a source's goal the one in its place; none for longer phrases."""
    alternatives, other_alternatives = ([word for word in side if word not in _OR] for side in (words, others))
    for side, named in ((words, alternatives), (others, other_alternatives)):
        if not named or len(side) - len(named) < len(named) - 1:
            return {}
    return {
        word: other_alternatives[min(place, len(other_alternatives) - 1)] for place, word in enumerate(alternatives)
    }


def _is_name(word: str) -> bool:
    """Whether a word names something; a number does not, as a slot fills its value."""
    if any(sign.isdigit() for sign in word) or not content(word):
        return False
    return is_noun(word) if HAN.match(word) else len(word) > 2


@lru_cache(maxsize=5_000)
def _whole(word: str) -> re.Pattern[str]:
    return re.compile(re.escape(word) if HAN.match(word) else rf"\b{re.escape(word)}\b", re.IGNORECASE)
