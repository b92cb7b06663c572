"""Goodbyes: which messages of a user end a conversation or give up.

As in RecLLMSim's published generator, a message with every word of the phrase ends the conversation; case is ignored.
The goodbye is recorded, but is not part of the published history. A test of an agent goes by any goodbye instead, and
there the goodbye is a message like any other.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..data.rules import plain_words
from ..data.text.languages import Language
from .farewell_phrases import farewell

ENDING: Mapping[Language, str] = {"en": "Thank you, goodbye.", "zh": "谢谢，再见。"}
"""The phrase with which a user ends the conversation when it has what it needs."""

GIVING_UP: Mapping[Language, str] = {"en": "I give up, goodbye.", "zh": "我放弃了，再见。"}
"""The phrase with which a user may give up."""

_ENDS = (("thank you", "goodbye"), ("谢谢", "再见"))
_CLOSING = re.compile(r"(?:\bthank you\W+goodbye|谢谢\W*再见)\W*$", re.IGNORECASE)


@dataclass(frozen=True)
class Ending:
    """Which messages of the user end the conversation."""

    strict: bool = False
    """Require the phrase at the end of the message; otherwise its words may be anywhere in it."""
    may_give_up: bool = False
    """Whether the phrase `GIVING_UP` ends the conversation too."""
    any_goodbye: bool = False
    """A message that takes leave in any words and asks nothing more ends the conversation (`nodes.farewell_phrases`), not only
    one with the phrase's words."""
    stored: bool = False
    """Whether the goodbye is a message like any other. Otherwise it is recorded, but left out of what is published."""

    def reason(self, text: str) -> Literal["user_ended", "user_gave_up"] | None:
        """Why the conversation ends with this message; None if it does not."""
        if self.any_goodbye:
            return farewell(text)
        if self.may_give_up and any(plain_words(phrase) in plain_words(text) for phrase in GIVING_UP.values()):
            return "user_gave_up"
        normalised = " ".join(text.split()).casefold()  # a model may break the line, or write a no-break space
        if self.strict:
            return "user_ended" if _CLOSING.search(normalised) else None
        return "user_ended" if any(all(word in normalised for word in words) for words in _ENDS) else None

    def provenance(self) -> dict[str, Any]:
        """The settings, for the record; those that not every ending has only where they are set."""
        own = {name: True for name in ("any_goodbye", "stored") if getattr(self, name)}
        return {"strict": self.strict, "may_give_up": self.may_give_up, **own}
