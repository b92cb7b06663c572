"""What brings a world back after a kill: its snapshot in the run's journal, or its tool calls made again."""

import copy
import json
import logging
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol
from weakref import WeakSet

from ..data.identity import digest
from ..errors import DuologueError
from .settings.redaction import error_line
from .state import Draft
from .worlds import Restorable, WorldError, restored, snapshot_of, state_of

log = logging.getLogger(__name__)

STATE = "state"
"""Key of the digest of a world's state, which stands in the place of a snapshot."""


class RepeatError(DuologueError, RuntimeError):
    """Tool calls that were made again gave something else: their conversation has to begin anew."""


class CallsAgain(Protocol):
    """Makes the tool calls of an agent's drafts again in the live world."""

    def hindrance(self, drafts: Sequence[Draft]) -> str | None:
        """Why the calls of the drafts cannot be made again; None if they can."""
        ...

    async def make(self, drafts: Sequence[Draft]) -> None:
        """Make each call as before, in order; RepeatError for another result."""
        ...


@dataclass(frozen=True)
class WorldInJournal:
    """The world of a conversation in the run's journal, with each turn of the agent."""

    world: Any
    calls: CallsAgain | None = None
    """Makes the tool calls of a turn again. None: they may not be, so without a snapshot the agent has to act again."""

    async def check(self, most: int | None) -> None:
        """Log at a run's start if its conversations would begin anew; `most` as for `after`, None without a journal."""
        if most is None or self.world is None or type(self.world) in _checked_worlds:
            return
        _checked_worlds.add(type(self.world))
        if not most:
            self._lost("has no snapshots in this run's journal")
            return
        with suppress(WorldError):  # which ends the first draft
            await self.after({}, most)

    async def after(self, update: Mapping[str, Any], most: int) -> dict[str, Any] | None:
        """What the journal holds of the world after an agent's update; WorldError if its own `snapshot` fails.

        A snapshot of at most so many bytes; else the digest of its state, with which the tool calls of the update are
        made again. None, and one line in the log, if there is neither.
        """
        plain, why = await self._snapshot(most)
        if plain is None and self.calls is not None:
            return await self._state(self.calls, update.get("drafts", ()), why)
        return self._lost(why) if plain is None else plain

    async def put(self, stored: Mapping[str, Any], update: Mapping[str, Any]) -> bool:
        """Make the world as it was after a stored update; False if its tool calls may not be made again.

        WorldError if that fails, RepeatError if the calls lead to another world.
        """
        if STATE not in stored:
            await restored(
                self.world, b64decode(stored["base64"]) if "base64" in stored else copy.deepcopy(stored["json"])
            )
            return True
        if self.calls is None:
            return False
        await self.calls.make(update.get("drafts", ()))
        if await state_digest(self.world) != stored[STATE]:
            raise RepeatError("the world's state is another one after them")
        return True

    async def _snapshot(self, most: int) -> tuple[dict[str, Any] | None, str]:
        """The world's snapshot as plain JSON, or why there is none."""
        if not isinstance(self.world, Restorable):
            return None, "has no snapshot() and restore()"
        snapshot = await snapshot_of(self.world)
        plain = {"base64": b64encode(snapshot).decode()} if isinstance(snapshot, bytes) else {"json": snapshot}
        try:
            text = json.dumps(plain, allow_nan=False)
        except (TypeError, ValueError):
            return None, "gives snapshots that are neither JSON nor bytes"
        if json.loads(text) != plain:
            return None, "gives snapshots that JSON changes, such as tuples"
        return (None, f"gives snapshots of more than {most:,} bytes") if len(text) > most else (json.loads(text), "")

    async def _state(self, calls: CallsAgain, drafts: Sequence[Draft], why: str) -> dict[str, Any] | None:
        """The digest of the world's state, if the tool calls of the drafts can be made again."""
        if hindrance := calls.hindrance(drafts):
            return self._lost(f"{why}, and {hindrance}")
        try:
            return {STATE: await state_digest(self.world)}
        except Exception as error:
            return self._lost(f"{why}, and no state() that JSON can hold ({error_line(error)})")

    def _lost(self, why: str) -> dict[str, Any] | None:
        if (kind := type(self.world)) not in _lost_worlds:
            _lost_worlds.add(kind)
            log.warning(
                "a world (%s) %s: a conversation that is cut short begins anew when the run is resumed",
                kind.__name__,
                why,
            )
        return None


async def state_digest(world: Any) -> str:
    """The digest of a world's state; an error if it has none that JSON can hold."""
    return digest(json.loads(json.dumps(await state_of(world), allow_nan=False)))


_checked_worlds: WeakSet[type] = WeakSet()
"""Kinds of worlds that were looked at."""
_lost_worlds: WeakSet[type] = WeakSet()
"""Kinds of worlds of which it was logged that a kill loses them."""
