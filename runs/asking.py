"""Asking models about many things: each answer is kept as it comes, equal things are asked about once, and a model that
only fails is given up. At the pace and within the bounds of a run (`Conduct`).
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import ValidationError

from ..data.formats.journals import Codec, JournalReader
from ..data.records import Record
from ..errors import DataError
from ..nodes.calls.gates import EndpointError
from ..nodes.environment import error_line
from .conduct import Conduct, synced
from .engine import Concurrency, do_all
from .journal import Journal

GIVE_UP = 10
"""Failures in a row after which a model is not asked any more."""


class Answer(Record):
    """What a model says of one thing."""

    called: ClassVar[str] = "answer of a model"
    """What it is, for the error about a file that holds something else."""

    id: str
    """Digest of the model, the pages and all that it was shown."""
    usage: dict[str, int] | None = None
    """Tokens, by the names of `data.Usage`."""
    error: str = ""
    """Why it says nothing, in one line; empty if it does."""


A = TypeVar("A", bound=Answer)
T = TypeVar("T")


@dataclass(frozen=True)
class Asking(Generic[T, A]):
    """What one model is asked."""

    model: Any
    """A LangChain chat model."""
    kind: type[A]
    things: Sequence[tuple[str, T]]
    """Each thing with its name, the `id` of its answer; things of one name are one."""
    ask: Callable[[str, T], Awaitable[A]]
    texts: Callable[[T], Sequence[str]]
    """What is sent first about a thing."""

    def missing(self, kept: str | Path | None = None) -> dict[str, T]:
        """What is to be asked about: each thing once, without those that the file answers. DataError as for `answers`."""
        known = (
            {} if kept is None or not Path(kept).exists() else _answered(JournalReader(Path(kept), _codec(self.kind)))
        )
        return {name: thing for name, thing in self.things if name not in known}

    async def answers(
        self,
        *,
        kept: str | Path | None = None,
        concurrency: Concurrency = "auto",
        conduct: Conduct | None = None,
        watch: Callable[[A], None] | None = None,
    ) -> list[A]:
        """What the model says of each thing, in their order.

        `kept`: a file of JSON lines. Each answer is on the disk before another thing is asked about in its place, so that
        a kill loses only what is under way; what the file has is not asked again, failures are. `conduct`: pace, bounds,
        and the file of all calls, to record or to replay. `watch` is told of each answer that comes. Where nothing more is
        asked, after ten failures in a row, at a bound or for an endpoint that cannot answer, the error of an answer says
        why.

        DataError or RunError for a file that holds something else or cannot be written; an exception in `ask` ends it
        all, and is raised as it is.
        """
        conduct = conduct or Conduct()
        control = conduct.controlled()
        failures, stopped = 0, None
        with ExitStack() as opened:
            journal = None if kept is None else opened.enter_context(Journal.open(kept, _codec(self.kind)))
            done = {} if journal is None else _answered(journal)

            async def one(item: tuple[str, T]) -> None:
                nonlocal failures
                if failures >= GIVE_UP:
                    return
                said = await self.ask(*item)
                failures = failures + 1 if said.error else 0
                if journal is not None:
                    journal.append(said)
                done[said.id] = said
                if watch is not None:
                    watch(said)

            if missing := {name: thing for name, thing in self.things if name not in done}:
                file = opened.enter_context(conduct.calls())
                calls = control.made(file)
                try:
                    with control.within(conduct.max_seconds):
                        async with synced(file, calls):
                            await do_all(missing.items(), one, calls, control, concurrency)
                except EndpointError as error:
                    stopped = error_line(error)
        unasked = stopped or control.ending or f"{GIVE_UP} calls in a row failed"
        return [done.get(name) or self.kind(id=name, error=f"not asked: {unasked}") for name, _ in self.things]


def _answered(journal: JournalReader[A]) -> dict[str, A]:
    return {one.id: one for one in journal.iterate() if not one.error}


def _codec(kind: type[A]) -> Codec[A]:
    def from_plain(value: Any) -> A:
        try:
            return kind.model_validate(value)
        except ValidationError:
            raise DataError(f"is no {kind.called}: choose another file") from None

    return Codec(
        key=lambda one: one.id,
        to_plain=lambda one: one.model_dump(mode="json"),
        from_plain=from_plain,
        settled=lambda one: not one.error,
    )
