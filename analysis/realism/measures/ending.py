"""How users end."""

from ..speech import Speech
from ..words import says
from .measure import Measure, each


def _closes(speech: Speech) -> float:
    return says(speech.user[-1], "closing", speech.language)


def _thanks_last(speech: Speech) -> float:
    return says(speech.user[-1], "thanks", speech.language)


MEASURES = (
    Measure(
        name="closing phrase",
        family="ending",
        unit="share of conversations",
        definition="Whether the user's last message says goodbye or that nothing is open.",
        source="closings after Schegloff and Sacks 1973; lexicon ours",
        direction="conversations are closed in words",
        of=each(_closes),
        shows="last",
    ),
    Measure(
        name="thanks at the end",
        family="ending",
        unit="share of conversations",
        definition="Whether the user's last message thanks.",
        source="closings after Schegloff and Sacks 1973; lexicon ours",
        direction="users end with thanks",
        of=each(_thanks_last),
        shows="last",
    ),
)
