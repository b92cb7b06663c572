"""How much users repeat other users of the same task, and themselves."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import islice

from .measure import Measure, mean_of_messages
from .transcripts import UserTranscript

OPENING = 5
"""Words of the first message that make its opening."""
NGRAM = 3
"""Words of the n-grams that are looked for in other users' conversations."""
OWN_NGRAM = 2
"""Words of those that are looked for in the user's own earlier messages."""

_Parts = Callable[[UserTranscript], Iterable[Hashable]]


def _openings(transcript: UserTranscript) -> list[tuple[str, ...]]:
    """The first word, the first two, ... the first five; a shorter message ends where it ends."""
    words = list(islice((word for words in transcript.words[:1] for word in words), OPENING))
    return [(*words[:count], *[""] * (count - len(words))) for count in range(1, OPENING + 1)] if words else []


def _trigrams(transcript: UserTranscript) -> set[tuple[str, ...]]:
    """Different word trigrams of the user's messages, none across two messages."""
    return {ngram for words in transcript.words for ngram in _ngrams(words, NGRAM)}


def _shared_with_others(parts: _Parts) -> Callable[[Sequence[UserTranscript]], list[float | None]]:
    """For each conversation the mean share of its parts that another user's conversation of the task has.

    The mean goes over all conversations of other users about the same task, so that it does not grow with their
    number. None without parts, or without such others.
    """

    def of(transcripts: Sequence[UserTranscript]) -> list[float | None]:
        parts_of = [set(parts(transcript)) for transcript in transcripts]
        having: dict[str, Counter[Hashable]] = defaultdict(Counter)
        having_by_user: dict[tuple[str, str], Counter[Hashable]] = defaultdict(Counter)
        total: Counter[str] = Counter()
        total_by_user: Counter[tuple[str, str]] = Counter()
        for transcript, own_parts in zip(transcripts, parts_of, strict=True):
            user = (transcript.task, transcript.cluster)
            having[transcript.task].update(own_parts)
            having_by_user[user].update(own_parts)
            total[transcript.task] += 1
            total_by_user[user] += 1
        values: list[float | None] = []
        for transcript, own_parts in zip(transcripts, parts_of, strict=True):
            user = (transcript.task, transcript.cluster)
            others = total[transcript.task] - total_by_user[user]
            if not own_parts or not others:
                values.append(None)
                continue
            shared = sum(having[transcript.task][part] - having_by_user[user][part] for part in own_parts)
            values.append(shared / len(own_parts) / others)
        return values

    return of


def _said_before(transcript: UserTranscript, number: int) -> float | None:
    pairs = _ngrams(transcript.words[number], OWN_NGRAM)
    if not number or not pairs:
        return None
    earlier = {pair for words in transcript.words[:number] for pair in _ngrams(words, OWN_NGRAM)}
    return len(pairs & earlier) / len(pairs)


def _ngrams(words: tuple[str, ...], length: int) -> set[tuple[str, ...]]:
    return {words[start : start + length] for start in range(len(words) - length + 1)}


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
        keyboard="Hardly: words are compared without case and punctuation. A keyboard's suggestions may lead to the"
        " same words.",
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
        of=_shared_with_others(_trigrams),
        keyboard="Hardly: words are compared without case and punctuation; typing errors make people's texts a little "
        "less alike, and text pasted from the task more alike.",
        pairwise=True,
    ),
    Measure(
        name="self-repetition",
        family="self-repetition",
        unit="share",
        definition="Share of a message's different word pairs that an earlier message of the user has; mean over messages.",
        source="ours",
        direction="users repeat themselves",
        of=mean_of_messages(_said_before),
        keyboard="Partly: whoever types little repeats little, since there are fewer earlier pairs; case and"
        " punctuation do not count.",
        of_text=_said_before,
    ),
)
