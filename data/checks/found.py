"""What a rule gives for each thing that it found."""

from collections.abc import Iterator
from typing import TypeAlias

Found: TypeAlias = Iterator[tuple[int, str]]
"""Number of the message and the reason, for each finding."""


def shown(text: str) -> str:
    """The text in quotes, on one line, cut at 60 characters."""
    text = " ".join(text.split())
    return f'"{text if len(text) <= 60 else text[:57] + "..."}"'
