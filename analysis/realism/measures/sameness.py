"""How much a conversation is like those of other users about the same task."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import islice

from ..speech import Speech
from .measure import Measure

OPENING = 5
"""Words of the first message that make its opening."""
NGRAM = 3

_Parts = Callable[[Speech], Iterable[Hashable]]


def _openings(speech: Speech) -> list[tuple[str, ...]]:
    """The first word, the first two, ... the first five; a shorter message ends where it ends."""
    words = list(islice((word for words in speech.words[:1] for word in words), OPENING))
    return [(*words[:count], *[""] * (count - len(words))) for count in range(1, OPENING + 1)] if words else []


def _grams(speech: Speech) -> set[tuple[str, ...]]:
    """Different word trigrams of the user's messages, none across two messages."""
    return {words[i : i + NGRAM] for words in speech.words for i in range(len(words) - NGRAM + 1)}


def _shared_with_others(parts: _Parts) -> Callable[[Sequence[Speech]], list[float | None]]:
    """For each conversation the mean share of its parts that another user's conversation of the task has.

    The mean goes over all conversations of other users about the same task, so that it does not grow with their
    number. None without parts, or without such others.
    """

    def of(speeches: Sequence[Speech]) -> list[float | None]:
        own = [set(parts(speech)) for speech in speeches]
        having: dict[str, Counter[Hashable]] = defaultdict(Counter)
        by_user: dict[tuple[str, str], Counter[Hashable]] = defaultdict(Counter)
        total: Counter[str] = Counter()
        total_by_user: Counter[tuple[str, str]] = Counter()
        for speech, has in zip(speeches, own, strict=True):
            user = (speech.task, speech.cluster)
            having[speech.task].update(has)
            by_user[user].update(has)
            total[speech.task] += 1
            total_by_user[user] += 1
        values: list[float | None] = []
        for speech, has in zip(speeches, own, strict=True):
            user = (speech.task, speech.cluster)
            others = total[speech.task] - total_by_user[user]
            if not has or not others:
                values.append(None)
                continue
            shared = sum(having[speech.task][part] - by_user[user][part] for part in has)
            values.append(shared / len(has) / others)
        return values

    return of


MEASURES = (
    Measure(
        name="identical openings",
        family="sameness",
        unit="share",
        definition="How much of the first five words of a conversation those of another user about the same task "
        "begin with too: mean over the first one to five words, and over all others of the side.",
        source="ours",
        direction="conversations begin alike",
        of=_shared_with_others(_openings),
        pairwise=True,
        shows="first",
    ),
    Measure(
        name="n-gram overlap",
        family="sameness",
        unit="share",
        definition="Share of a conversation's different word trigrams that one of another user about the same task "
        "has too: mean over all others of the side.",
        source="ours, after self-BLEU (Zhu et al. 2018), without its growth with the number of texts",
        direction="users say the same",
        of=_shared_with_others(_grams),
        pairwise=True,
    ),
)
