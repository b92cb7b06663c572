"""A part of a run's plan, simulated by the same code in this process, in another, or on another machine.

A shard that stands for itself has files of its own in the run folder, which the run merges when all are done. A process
that simulates it again finds there the finished conversations, and the replies that have come.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path

from ...data.domains import Domain
from ...data.files.journals import JournalReader, writer_path
from ...data.formats.detection import CONVERSATIONS, Format
from ...data.formats.record_lines import RECORDS
from ...data.records import Conversation, Role
from ...graphs import Cast
from ...graphs.casts import CastSpec
from ...graphs.graph import Compiled
from ...nodes.calls.gate import Pace
from ...nodes.calls.spending import BudgetPart
from ...nodes.limits import Limits
from ...nodes.state import Planned
from ..engine.conduct import calling
from ..engine.control import Control
from ..engine.conversing import Concurrency, Watch, converse_all, name_of
from ..folder.run_folder import RunJournals
from ..journals.calls import CallFile

BETWEEN = 0.25
"""Seconds between two reports of a worker."""
ALONE = 2
"""Deaths one after another from which on a shard's conversations are simulated one at a time."""


async def run_shard(
    talk: Cast | Compiled,
    states: Collection[Planned],
    limits: Limits,
    folder: RunJournals,
    file: CallFile | None,
    control: Control,
    *,
    failed: dict[str, str],
    concurrency: Concurrency = "auto",
    watch: Watch | None = None,
    keep: Callable[[Conversation], None] | None = None,
    answered: Collection[str] = (),
    replies_of: Path | None = None,
) -> None:
    """Simulate the states and write each conversation down as soon as it is over; why one failed comes to `failed`.

    `file`: the call journal. `replies_of`: that of an earlier run, with which users share replies. `answered`: endpoints that have answered in this run, which are waited for.
    EndpointError if no call can succeed any more; RunError if nothing can be written.
    """

    def write(conversation: Conversation) -> None:
        folder.keep(conversation)
        if file is not None:
            file.forget(conversation.id)
        if not conversation.finished:
            failed[conversation.id] = conversation.failure.error if conversation.failure else str(conversation.stop)
        if keep is not None:
            keep(conversation)

    async with calling(control, file, check=folder.check, replies_of=replies_of) as calls:
        for endpoint in answered:
            calls.gate(endpoint).answered = True
        await converse_all(
            talk, states, limits, write, concurrency=concurrency, watch=watch, calls=calls, control=control
        )


@dataclass(frozen=True, kw_only=True)
class Shard:
    """A part of the plan with all that another process needs to simulate it."""

    name: str = ""
    """Names the files of the shard in the run folder; empty: it has all of the run, and is not simulated itself."""
    folder: Path
    here: Path
    """The working folder, from which relative paths and own modules are found."""
    spec: CastSpec
    states: list[Planned]
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
    formats: tuple[Format, ...] = ()
    """Formats that were registered for this run: a cast may read a file in one."""
    skip_broken: bool = False
    """Whether the broken lines of the sources of a cast are left out."""
    cast: str = ""
    """Digest of the cast that the run began with (`manifests.digest_of`); empty: it is not compared."""
    deaths: int = 0
    """Workers that died one after another since a conversation was finished."""
    part: BudgetPart | None = None
    """What its worker may spend at first; None: nothing is bounded."""
    replies_of: Path | None = None
    """The call journal of an earlier run, with which users share replies."""
    between: float = BETWEEN
    """Seconds between two reports."""

    def knowing(self, answered: frozenset[str], part: BudgetPart | None) -> "Shard":
        """The shard as it is begun when these endpoints have answered, and it may spend so much."""
        return replace(self, answered=self.answered | answered, part=part)

    def after(self, deaths: int) -> "Shard":
        """The shard as it is begun when so many workers died one after another."""
        return replace(self, deaths=deaths)

    def missing(self, done: Collection[str]) -> list[Planned]:
        """The states without a finished conversation, in order.

        After several deaths they are simulated one after another, each time with another one first: a conversation that
        kills its worker then blocks no other.
        """
        left = [state for state in self.states if name_of(state) not in done]
        first = max(0, self.deaths - ALONE) % (len(left) or 1)
        return [*left[first:], *left[:first]]

    def deadly(self, deaths: int, why: str) -> str:
        """The message of a shard that is given up."""
        finished = writer_path(self.folder / CONVERSATIONS, self.name)
        done = JournalReader(finished, RECORDS, salvage=True).keys() if finished.is_file() else ()
        left = [name_of(state) for state in self.missing(done)]
        named = ", ".join(left[:3]) + (f" and {len(left) - 3} more" if len(left) > 3 else "")
        return (
            f"{self.folder}: {deaths} workers died one after another{why}, at last with one conversation at a time, and none "
            f"was finished: {named}: give them more memory, or look at what these do, then resume"
        )
