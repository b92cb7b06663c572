"""What a message is like: how long it is, and whether it thanks, exclaims, greets, asks or lists.

The rules are those by which `duologue compare` measures the same things (`data.text.word_lists`, `data.rules.asking`).
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, TypeAlias, get_args

from ....data.rules import is_enumeration
from ....data.rules.asking import questions_in
from ....data.text.languages import Language
from ....data.text.word_lists import begins_with, says

MessagePlace: TypeAlias = Literal["first", "later"]
"""Whether a message is the user's first one in its conversation."""
PLACES: tuple[MessagePlace, ...] = get_args(MessagePlace)

Trait: TypeAlias = Literal["thanks", "exclamation", "greeting", "question", "list"]
TRAITS: tuple[Trait, ...] = get_args(Trait)
"""What a message has or has not, in the order in which a cell holds it."""

LENGTH: Literal["length"] = "length"

TraitCell: TypeAlias = tuple[int, ...]
"""A message as it is counted: the class of its length, then 1 or 0 for each of `TRAITS`."""

QUANTILES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
"""Shares of people's messages that are at most as long as the upper end of each class of length; a last one is open."""


@dataclass(frozen=True)
class Traits:
    """The length and traits of one message."""

    characters: int
    """Its length, as it is stored."""
    has: frozenset[Trait]

    def cell(self, cuts: Sequence[int]) -> TraitCell:
        """The message as it is counted, with these upper ends of the classes of length."""
        return (bisect_left(cuts, self.characters), *(int(trait in self.has) for trait in TRAITS))


def traits_of(text: str, language: Language) -> Traits:
    """The length and traits of a message, by the rules of a language."""
    present: dict[Trait, bool] = {
        "thanks": says(text, "thanks", language),
        "exclamation": "!" in text or "！" in text,
        "greeting": begins_with(text, "greeting", language),
        "question": questions_in(text, language) > 0,
        "list": is_enumeration(text),
    }
    return Traits(len(text), frozenset(trait for trait, there in present.items() if there))


def cuts_of(lengths: Sequence[int]) -> tuple[int, ...]:
    """The upper ends of the classes of length, from people's lengths: ascending, each once."""
    ordered = sorted(lengths)
    places = (min(len(ordered) - 1, int(quantile * len(ordered))) for quantile in QUANTILES)
    return tuple(sorted({ordered[place] for place in places}))


def cells(classes: int) -> Iterator[TraitCell]:
    """All possible cells with so many classes of length."""
    return product(range(classes), *([(0, 1)] * len(TRAITS)))
