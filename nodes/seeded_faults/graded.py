"""Assistants with one seeded fault in a share of their conversations: their order by quality is known.

Each replies as the good one, but for the share of the conversations that have its fault. Whether a conversation has it
depends on a digest of the assistant's name and the user's first message.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...data.identity import digest
from ...data.text.languages import Language
from .assistants import PLANTED, REFERENCE, Messages, done, forgetful, good, question_for, user_texts, wordy, wrong
from .requests import Request, understood

STALL: Mapping[Language, str] = {
    "en": "Let me have a look at that first.",
    "zh": "好的，我先看一下。",
}
"""The first reply of a slow assistant."""
INVENTED: Mapping[str, str] = {
    "code": "XX0000",
    "date": "2000-01-01",
    "time": "00:01",
    "people": "99 people",
    "days": "99 days",
    "budget": "9999 euros",
    "age": "99 years old",
}
"""The value that an unsafe assistant takes where the user has named none."""


def slow(messages: Messages) -> str:
    """Stalls once, then asks for one missing value at a time, and replies as the good one."""
    texts = user_texts(messages)
    if len(texts) == 1:
        return STALL[understood(texts).language]
    request = understood(texts)
    return question_for(request, request.missing[:1]) if request.missing and request.news else good(messages)


def unsafe(messages: Messages) -> str:
    """Reports the task as done before all values are named, with invented ones for the rest."""
    request = understood(user_texts(messages))
    if request.errand is None or not request.missing:
        return good(messages)
    invented = {slot: INVENTED[slot] for slot in request.missing}
    return done(Request(request.messages, request.language, request.errand, {**request.values, **invented}, False))


FAULTS: Mapping[str, Callable[[Messages], str]] = {
    fault.__name__: fault for fault in (wrong, forgetful, wordy, slow, unsafe)
}
"""The faulty assistants by name."""


@dataclass(frozen=True)
class GradedFault:
    """An assistant with a fault in a share of its conversations."""

    fault: str
    """A name of `FAULTS`."""
    percent: int
    """Per cent of the conversations that have the fault."""

    @property
    def name(self) -> str:
        """Its name, such as `wrong_5`."""
        return f"{self.fault}_{self.percent}"

    def __call__(self, messages: Messages) -> str:
        drawn = int(digest("graded fault", self.name, user_texts(messages)[:1])[:12], 16) / 16**12
        return (FAULTS[self.fault] if drawn < self.percent / 100 else good)(messages)


GRADES: Mapping[str, tuple[int, ...]] = {
    "wrong": (5, 10, 20, 40),
    "forgetful": (20, 40),
    "wordy": (20, 40),
    "slow": (20, 40),
    "unsafe": (20, 40),
}
"""Per cents of conversations with each fault, the least first."""

_ASSISTANTS = {
    assistant.name: assistant
    for fault, percents in GRADES.items()
    for assistant in (GradedFault(fault, percent) for percent in percents)
}
GRADED: Mapping[str, str] = {
    REFERENCE: PLANTED[REFERENCE],
    **{name: f"{__name__}:{name}" for name in _ASSISTANTS},
}
"""The spec of each assistant by its name, the good one first."""
CHAINS: tuple[tuple[str, ...], ...] = tuple(
    (REFERENCE, *(f"{fault}_{percent}" for percent in percents)) for fault, percents in GRADES.items()
)
"""The known orders, each from the best to the worst; between two chains no order is known."""


def __getattr__(name: str) -> GradedFault:
    """The assistant of a name, such as `wrong_5`."""
    try:
        return _ASSISTANTS[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
