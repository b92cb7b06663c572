"""Lexical diversity, by definitions that do not depend on the length of the text."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from math import lgamma

from .measure import Measure

MTLD_THRESHOLD = 0.72
MTLD_WORDS = 50
"""Fewest words for an MTLD: its authors advise against shorter texts."""
HDD_SAMPLE = 42
DISTINCT_WORDS = 40
"""Words from the beginning over which distinct n-grams are counted, so that length does not matter."""


def mtld(words: Sequence[str]) -> float | None:
    """Measure of textual lexical diversity: mean of both directions; None under 50 words.

    Mean number of words in a row that keep a type-token ratio above 0.72 (McCarthy and Jarvis 2010).
    """
    if len(words) < MTLD_WORDS:
        return None
    return (_factor_length(words) + _factor_length(list(reversed(words)))) / 2


def _factor_length(words: Sequence[str]) -> float:
    factors, seen, count = 0.0, set[str](), 0
    for word in words:
        count += 1
        if word not in seen:
            seen.add(word)  # a new word never lowers the ratio
        elif len(seen) / count <= MTLD_THRESHOLD:
            factors, seen, count = factors + 1, set(), 0
    if count:
        factors += (1 - len(seen) / count) / (1 - MTLD_THRESHOLD)
    return len(words) / factors if factors else float(len(words))


def hdd(words: Sequence[str]) -> float | None:
    """HD-D: expected type-token ratio of 42 words drawn without replacement; None under 42 words.

    The sum over types of the hypergeometric chance to be drawn at least once, over 42 (McCarthy and Jarvis 2007).
    """
    total = len(words)
    if total < HDD_SAMPLE:
        return None
    whole = _log_choose(total, HDD_SAMPLE)
    counts = Counter(words).values()
    chances: dict[int, float] = {
        count: 2.718281828459045 ** (_log_choose(total - count, HDD_SAMPLE) - whole)
        for count in set(counts)
        if total - count >= HDD_SAMPLE
    }
    missed = sum(chances.get(count, 0.0) for count in counts)
    return (len(counts) - missed) / HDD_SAMPLE


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def distinct(words: Sequence[str], n: int) -> float | None:
    """Share of different n-grams among those of the first 40 words; None under 40 words (Li et al. 2016)."""
    if len(words) < DISTINCT_WORDS:
        return None
    start = words[:DISTINCT_WORDS]
    grams = list(start) if n == 1 else list(pairwise(start))
    return len(set(grams)) / len(grams)


_KEYBOARD = (
    "Hardly: case and punctuation do not count, nor does length. Typing errors make new words, and autocorrect makes "
    "common ones."
)


_diversity = partial(Measure, family="lexical diversity", keyboard=_KEYBOARD, survives_translation=False)

MEASURES = (
    _diversity(
        name="lexical diversity (MTLD)",
        unit="words",
        definition="Words in a row whose type-token ratio stays above 0.72, over the user's words; from 50 words on.",
        source="McCarthy and Jarvis 2010",
        direction="more different words",
        of_conversation=lambda transcript: mtld(transcript.all_words),
    ),
    _diversity(
        name="lexical diversity (HD-D)",
        unit="type-token ratio",
        definition="Expected type-token ratio of 42 of the user's words; from 42 words on.",
        source="McCarthy and Jarvis 2007",
        direction="more different words",
        of_conversation=lambda transcript: hdd(transcript.all_words),
    ),
    _diversity(
        name="distinct word pairs",
        unit="share",
        definition="Share of different pairs of neighbours among the user's first 40 words (distinct-2).",
        source="Li et al. 2016, over a fixed length",
        direction="more different pairs",
        of_conversation=lambda transcript: distinct(transcript.all_words, 2),
    ),
)
