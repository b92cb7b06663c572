"""Runs at the same time under one control: they begin conversations in turn, and share their number and the endpoints."""

import asyncio
from dataclasses import dataclass, field


@dataclass
class LoopTurns:
    """Loops of work, each of which begins a piece when no other has begun fewer."""

    loops: int = 1
    under_way: int = 0
    """Pieces of all loops that have begun and are not over."""
    _begun: dict[int, int] = field(default_factory=dict[int, int])
    """Pieces that each loop with work has begun, by its number."""
    _joined: int = 0
    _changed: list[asyncio.Event] = field(default_factory=list[asyncio.Event])

    def __post_init__(self) -> None:
        self._begun = dict.fromkeys(range(self.loops), 0)

    def join(self) -> int:
        """The number of a loop that begins."""
        number, self._joined = self._joined, self._joined + 1
        self._begun.setdefault(number, 0)
        self.wake()
        return number

    def leave(self, number: int) -> None:
        """A loop has no more work to begin."""
        self._begun.pop(number, None)
        self.wake()

    def may_begin(self, number: int, room: int) -> bool:
        """Whether a loop may begin a piece: all have joined, and fewer than `room` pieces are under way."""
        if self._joined < self.loops:
            return False
        return self.under_way < room and number == min(self._begun, key=lambda loop: (self._begun[loop], loop))

    def begin(self, number: int) -> None:
        """A loop begins a piece."""
        self.under_way += 1
        self._begun[number] += 1
        if len(self._begun) > 1:
            self.wake()

    def end(self) -> None:
        """A piece is over."""
        self.under_way -= 1
        self.wake()

    def wake(self) -> None:
        """Let every loop look again."""
        waiting, self._changed = self._changed, []
        for event in waiting:
            event.set()

    async def change(self) -> None:
        """Wait until something has changed."""
        event = asyncio.Event()
        self._changed.append(event)
        await event.wait()
