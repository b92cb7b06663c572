"""What a domain hands over: pieces of background, notes among its labels, and how long its conversations are."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from .records import Role, is_object


@dataclass(frozen=True)
class Material:
    """A piece of background beside a conversation on a page: a text, or rows of name and text."""

    label: str
    text: str = ""
    rows: tuple[tuple[str, str], ...] = ()
    source: bool = False
    """Whether the messages' spans are slices of this text; they are then marked in it."""
    folded: bool = False
    """Whether the page shows it only on request."""


@dataclass(frozen=True)
class LabelNotes:
    """Keys among the labels that do not judge behaviour or quality."""

    facts: frozenset[str] = frozenset()
    """Facts of the source, such as the assistant's name, which have no reliability."""
    beside: Mapping[str, str] = field(default_factory=dict)
    """Remarks on another label, such as its reason: the key of that label, whose reliability they share."""
    others: frozenset[str] = frozenset()
    """Further notes, such as a profile or a questionnaire."""

    @classmethod
    def of(cls, parts: Iterable["LabelNotes"]) -> "LabelNotes":
        """Those of several domains together."""
        parts = list(parts)
        return cls(
            frozenset(key for part in parts for key in part.facts),
            {key: label for part in parts for key, label in part.beside.items()},
            frozenset(key for part in parts for key in part.others),
        )

    def __contains__(self, key: object) -> bool:
        return key in self.facts or key in self.beside or key in self.others


class TypicalConversation(NamedTuple):
    """How conversations about such scenarios go, by which a run's tokens are estimated before any call."""

    exchanges: int | None
    """Turns after which one usually ends; None: it continues to the limit."""
    lengths: Mapping[Role, tuple[int, int, int]]
    """Tokens of a message of each side: of a short one (95 of 100 are longer), the mean, a long one (5 are longer)."""
    known_by: str
    """Where these figures are from, in words."""


TYPICAL = TypicalConversation(
    5, {"user": (10, 60, 275), "assistant": (20, 250, 707)}, "a guess, as nothing is known of such scenarios"
)
"""The assumption without a measurement."""


def labelled(scenario: Mapping[str, Any], keys: Sequence[str]) -> tuple[Material, ...]:
    """The scenario's values at these keys as material, labelled with the key.

    An object gives a row for each key.
    """
    pieces: list[Material] = []
    for key in keys:
        value, label = scenario.get(key), key.replace("_", " ")
        if is_object(value):
            pairs = ((str(name).replace("_", " "), in_words(inner)) for name, inner in value.items())
            if rows := tuple(pair for pair in pairs if pair[1]):
                pieces.append(Material(label, rows=rows))
        elif text := in_words(value):
            pieces.append(Material(label, text))
    return tuple(pieces)


def in_words(value: Any) -> str:
    """A JSON value in words, its keys too; empty if it holds nothing.

    >>> in_words({"name": "book", "arguments": {"room": 12}, "paid": False, "why": None})
    'name: book, arguments: (room: 12), paid: no'
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if is_object(value):
        inner = ((str(name).replace("_", " "), in_words(one), is_object(one)) for name, one in value.items())
        return ", ".join(f"{name}: ({text})" if nested else f"{name}: {text}" for name, text, nested in inner if text)
    if isinstance(value, (list, tuple)):
        texts = [(in_words(one), is_object(one)) for one in cast("Sequence[Any]", value)]
        return ", ".join(f"({text})" if nested else text for text, nested in texts if text)
    return "" if value is None else str(value)
