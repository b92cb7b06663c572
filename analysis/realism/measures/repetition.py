"""How much users repeat other users of the same task, and themselves."""

from itertools import islice, pairwise

from .measure import Measure
from .transcripts import Keys, UserTranscript, keys

OPENING = 5
"""Words of the first message that make its opening."""


def _openings(transcript: UserTranscript) -> Keys:
    """The first word, the first two, ... the first five; a shorter message ends where it ends."""
    words = list(islice((word for words in transcript.words[:1] for word in words), OPENING))
    return keys((*words[:count], *[""] * (count - len(words))) for count in range(1, OPENING + 1 if words else 1))


def _said_before(transcript: UserTranscript, number: int) -> float | None:
    """The share of the message's different word pairs that an earlier one has; None for the first, and without pairs."""
    pairs = set(pairwise(transcript.words[number]))
    if not number or not pairs:
        return None
    earlier = transcript.first_pairs
    return sum(earlier[pair] < number for pair in pairs) / len(pairs)


MEASURES = (
    Measure(
        name="identical openings",
        family="sameness",
        unit="share",
        definition="How much of the first five words of a conversation those of another user about the same task "
        "begin with too: mean over the first one to five words, and over all others of the side.",
        direction="conversations begin alike",
        keyboard="Hardly: words are compared without case and punctuation. A keyboard's suggestions may lead to the"
        " same words.",
        parts=_openings,
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
        keyboard="Hardly: words are compared without case and punctuation; typing errors make people's texts a little "
        "less alike, and text pasted from the task more alike.",
        parts=lambda transcript: transcript.trigrams,
    ),
    Measure(
        name="self-repetition",
        family="self-repetition",
        unit="share",
        definition="Share of a message's different word pairs that an earlier message of the user has; mean over messages.",
        direction="users repeat themselves",
        keyboard="Partly: whoever types little repeats little, since there are fewer earlier pairs; case and"
        " punctuation do not count.",
        of_text=_said_before,
    ),
)
