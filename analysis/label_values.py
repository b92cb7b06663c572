"""What a label says under its key, whatever its shape: of each part the value, and the votes that came to it."""

from dataclasses import dataclass
from typing import Any

from .annotations import plain_values

HUMAN = "_human"
"""What the name of people's label has that the model's has not."""
FINAL = "final"
"""Key of what the votes come to; the votes stand beside it under their numbers."""


@dataclass(frozen=True)
class Said:
    """A value as it is stored, and the votes on it, in their order."""

    value: Any
    """None in a tie."""
    votes: tuple[Any, ...] = ()

    @property
    def differ(self) -> bool:
        """Whether there are votes that say different things."""
        return len({tuple(values_of(vote)) for vote in self.votes}) > 1

    @property
    def tied(self) -> bool:
        """Whether there are votes that came to nothing."""
        return bool(self.votes) and not values_of(self.value)


def parts_of(value: Any) -> dict[str, Said]:
    """What is said of each part, by its name; of a label without parts under an empty one."""
    votes: list[Any] = []
    if is_voted(value):
        votes = [vote for key, vote in sorted(value.items(), key=lambda item: (len(item[0]), item[0])) if _is_vote(key)]
        value = value.get(FINAL)
    with_parts = [one for one in (value, *votes) if isinstance(one, dict)]
    if not with_parts:
        return {"": Said(value, tuple(votes))}
    return {
        part: Said(
            value.get(part) if isinstance(value, dict) else None,
            tuple(vote.get(part) for vote in votes if isinstance(vote, dict)),
        )
        for part in dict.fromkeys(part for one in with_parts for part in one)
    }


def label_name(key: str, part: str = "") -> str:
    """The name of a label or of a part of it, as `duologue agreement --between` takes it: `mood`, `rating.Detail Level`.
    A part that is called like its label is the label."""
    return key if part in ("", key, key.replace(HUMAN, "", 1)) else f"{key}.{part}"


def is_voted(value: Any) -> bool:
    """Whether a label has votes, or what votes came to, under its key."""
    return isinstance(value, dict) and (FINAL in value or (bool(value) and all(map(_is_vote, value))))


def values_of(value: Any) -> list[str]:
    """The values of what is said as texts in lower case, those that mean the same alike; none where nobody judged."""
    return [text.lower() for text in plain_values(value)]


def spellings_of(value: Any) -> dict[str, str]:
    """The values of what is said, each with the text that the data has for it."""
    given = value if isinstance(value, list) else [value]
    return {name: each if isinstance(each, str) else name for each in given for name in values_of(each)}


def _is_vote(key: str) -> bool:
    return key.isascii() and key.isdigit()
