"""User-attribute prediction: a user's profile from a conversation, and user leakage in the published numbers."""

from ....errors import of_extra

# Before what imports it, so that who lacks it reads which extra brings it.
of_extra("numpy", "stats")

from .intents import IntentReport, intent_turns, measure_intents  # noqa: E402
from .lexicon import by_words  # noqa: E402
from .mixture import PAIRS, Mixture, places_tested  # noqa: E402
from .ranking import guesses_left_out, read_guesses  # noqa: E402
from .report import IdentificationReport, Ranker, identify  # noqa: E402
from .talks import ProfileTalk, left_out, profile_talks, with_assistants  # noqa: E402
from .text_models.classifiers import Model, models  # noqa: E402
from .vocabulary import ASPECTS, VOCABULARY  # noqa: E402

__all__ = [
    "ASPECTS",
    "PAIRS",
    "VOCABULARY",
    "IdentificationReport",
    "IntentReport",
    "Mixture",
    "Model",
    "ProfileTalk",
    "Ranker",
    "by_words",
    "guesses_left_out",
    "identify",
    "intent_turns",
    "left_out",
    "measure_intents",
    "models",
    "places_tested",
    "profile_talks",
    "read_guesses",
    "with_assistants",
]
