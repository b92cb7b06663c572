"""How much users say again what they have said before in the same conversation."""

from ..speech import Speech
from .measure import Measure, mean_of_messages

NGRAM = 2


def _said_before(speech: Speech, number: int) -> float | None:
    now = _grams(speech.words[number])
    if not number or not now:
        return None
    earlier = {gram for words in speech.words[:number] for gram in _grams(words)}
    return len(now & earlier) / len(now)


def _grams(words: tuple[str, ...]) -> set[tuple[str, ...]]:
    return {words[i : i + NGRAM] for i in range(len(words) - NGRAM + 1)}


MEASURES = (
    Measure(
        name="self-repetition",
        family="self-repetition",
        unit="share",
        definition="Share of a message's different word pairs that an earlier message of the user has; mean over messages.",
        source="ours",
        direction="users repeat themselves",
        of=mean_of_messages(_said_before),
        of_text=_said_before,
    ),
)
