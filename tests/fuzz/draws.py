"""Chance as a function of a number: the same inputs on any machine, in any order."""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """A row of draws that depends on the seed alone."""

    def __init__(self, *seed: object) -> None:
        self._seed, self._count = repr(seed), 0

    def below(self, number: int) -> int:
        """0 to `number` - 1."""
        self._count += 1
        digest = hashlib.sha256(f"{self._seed}:{self._count}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % max(1, number)

    def chance(self, share: float) -> bool:
        return self.below(1_000_000) < share * 1_000_000

    def of(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def data(self, length: int) -> bytes:
        return bytes(self.below(256) for _ in range(length))
