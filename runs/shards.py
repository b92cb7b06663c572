"""A part of a run's plan: it is simulated by the same code in this process, in another one, or on another machine.

A shard that stands for itself has files of its own in the run folder, which the run merges when all are done. Whoever
simulates it again finds there what is finished, and which replies have come.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from ..data.domain import Domain
from ..data.formats.detection import CONVERSATIONS
from ..data.formats.journals import JournalReader, writer_path
from ..data.formats.record_lines import RECORDS
from ..data.records import Conversation, Role
from ..graphs import Cast
from ..graphs.cast import Spec
from ..nodes.calls.gates import Pace
from ..nodes.limits import Limits
from ..nodes.state import State
from .calls import CallFile
from .conduct import synced
from .control import Control
from .engine import Concurrency, Watch, converse_all, name_of

BETWEEN = 0.25
"""Seconds between two reports of a worker."""
ALONE = 2
"""Deaths one after another from which on a shard's conversations are simulated one at a time."""


class Keeps(Protocol):
    """Where the conversations of a shard are written: a run folder, or a worker's own files in it."""

    def keep(self, conversation: Conversation) -> None:
        """Write a conversation down, whole and at once."""
        ...

    def check(self) -> None:
        """RunError if somebody removed, replaced or cut what was written."""
        ...


async def run_shard(
    cast: Cast,
    states: Collection[State],
    limits: Limits,
    folder: Keeps,
    file: CallFile | None,
    control: Control,
    *,
    failed: dict[str, str],
    concurrency: Concurrency = "auto",
    watch: Watch | None = None,
    keep: Callable[[Conversation], None] | None = None,
    answered: Collection[str] = (),
) -> None:
    """Simulate the states and write each conversation down as soon as it is over; why one failed comes to `failed`.

    `file`: the call journal. `answered`: endpoints that have answered in this run, which are waited for.
    EndpointError if no call can succeed any more; RunError if nothing can be written.
    """
    calls = control.made(file)
    for endpoint in answered:
        calls.gate(endpoint).answered_before()

    def write(conversation: Conversation) -> None:
        folder.keep(conversation)
        if file is not None:
            file.forget(conversation.id)
        if not conversation.finished:
            failed[conversation.id] = conversation.failure.error if conversation.failure else str(conversation.stop)
        if keep is not None:
            keep(conversation)

    async with synced(file, calls, folder.check):
        await converse_all(
            cast, states, limits, write, concurrency=concurrency, watch=watch, calls=calls, control=control
        )


@dataclass(frozen=True, kw_only=True)
class Shard:
    """A part of the plan with all that another process needs to simulate it."""

    name: str
    """Names the files of the shard in the run folder."""
    folder: Path
    here: Path
    """The working folder, from which relative paths and own modules are found."""
    spec: Spec
    states: list[State]
    limits: Limits
    pace: Pace
    """The shard's share of the run's pace."""
    concurrency: Concurrency
    priced: bool
    """Whether prices are looked up."""
    silent: tuple[tuple[str, Role], ...] = ()
    """Conversations and sides whose last replies said nothing: these are not used again."""
    answered: frozenset[str] = frozenset()
    """Endpoints that have answered in this run."""
    traced: bool = False
    """Whether the run is traced, where the environment asks for it."""
    domains: tuple[Domain, ...] = ()
    """Domains that were registered for this run."""
    cast: str = ""
    """Digest of the cast that the run began with (`manifests.digest_of`); empty: it is not compared."""
    deaths: int = 0
    """Workers that died one after another since a conversation was finished."""
    between: float = BETWEEN
    """Seconds between two reports."""

    def knowing(self, answered: frozenset[str]) -> "Shard":
        """The shard as it is begun when these endpoints have answered."""
        return replace(self, answered=self.answered | answered)

    def after(self, deaths: int) -> "Shard":
        """The shard as it is begun when so many workers died one after another."""
        return replace(self, deaths=deaths)

    def missing(self, done: Collection[str]) -> list[State]:
        """What is left, in order; after several deaths one conversation after another, each time with another one first:
        a conversation that kills its worker keeps no other from its end."""
        left = [state for state in self.states if name_of(state) not in done]
        first = max(0, self.deaths - ALONE) % (len(left) or 1)
        return [*left[first:], *left[:first]]

    def deadly(self, deaths: int, why: str) -> str:
        """What is said when the shard is given up."""
        finished = writer_path(self.folder / CONVERSATIONS, self.name)
        done = JournalReader(finished, RECORDS, salvage=True).keys() if finished.is_file() else ()
        left = [name_of(state) for state in self.missing(done)]
        named = ", ".join(left[:3]) + (f" and {len(left) - 3} more" if len(left) > 3 else "")
        return (
            f"{self.folder}: {deaths} workers died one after another{why}, at last with one conversation at a time, and none "
            f"was finished: {named}: give them more memory, or look at what these do, then resume"
        )
