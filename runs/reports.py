"""What a process that simulates a part of a run tells of it, and what it is told: counters and orders, no conversation."""

from collections import Counter
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

from ..errors import DuologueError
from ..nodes.calls.gates import EndpointError
from ..nodes.calls.service import Calls
from ..nodes.calls.spending import Spending, Spent
from .calls import CallFile
from .journal import BrokenOffError, RunError


class EndpointNow(NamedTuple):
    """How it goes with an endpoint."""

    endpoint: str
    requests: int
    """Calls as they were sent so far, each try counted."""
    faults: Mapping[str, int]
    """By name, each try counted."""
    waiting: str | None
    """What holds calls back just now, in words; None if nothing does."""
    answered: bool = False
    """Whether it has answered in this run."""


@dataclass
class Tally:
    """Conversations and turns, counted."""

    finished: int = 0
    turns: int = 0
    under_way: int = 0
    unfinished: Counter[str] = field(default_factory=Counter)
    """Conversations that are over and do not count as finished, by what became of them."""
    rejected: Counter[str] = field(default_factory=Counter)
    """Drafts by the reason of their rejection."""

    def add(self, other: "Tally") -> None:
        """Count what another has counted too."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


@dataclass(frozen=True)
class Orders:
    """How a part of a run is to go on."""

    ending: str | None = None
    """Why it begins no further conversation."""
    cutting: str | None = None
    """Why what is under way ends before its next turn."""
    hurried: str | None = None
    """Why endpoints that are gone are not waited for."""
    cancelled: bool = False
    """Whether it ends now."""
    answered: frozenset[str] = frozenset()
    """Endpoints that have answered in this run: when they are gone they are waited for."""


@dataclass
class Report:
    """What a worker tells of its part so far. Each report replaces the worker's one before."""

    worker: str = ""
    """Names the process and, if it does several parts, which of them this is."""
    tally: Tally = field(default_factory=Tally)
    spending: Spending = field(default_factory=Spending)
    endpoints: dict[str, EndpointNow] = field(default_factory=dict[str, EndpointNow])
    replayed: int = 0
    """Replies that were taken from the call journal."""
    unused: int = 0
    """Kept replies that were not used."""
    difference: str = ""
    """The first of them, and why."""
    torn: int = 0
    """Bytes of the call journal that cannot be read."""
    said: tuple[str, ...] = ()
    """What was said of endpoints, a line each."""
    failed: dict[str, str] = field(default_factory=dict[str, str])
    """Id and reason of each conversation that failed."""
    error: tuple[str, str] | None = None
    """What ended the part before its end: the kind of error, and its line."""
    over: bool = False

    def count_calls(self, calls: Calls, file: CallFile | None) -> None:
        """Take in how it stands with the calls."""
        self.replayed = calls.replayed if file is not None and file.writes else 0
        for gate in list(calls.gates.values()):
            answered = gate.counts.succeeded > 0
            counts = gate.counts.requests, dict(gate.counts.faults)
            self.endpoints[gate.endpoint] = EndpointNow(gate.endpoint, *counts, gate.held_back_by, answered)
        if file is not None:
            self.torn = file.torn
            if file.unused:
                key, why = next(iter(file.unused.items()))
                self.unused = len(file.unused)
                self.difference = f"{key.role} in turn {key.turn + 1} of {key.conversation}: {why}"

    def add(self, other: "Report") -> None:
        """Sum up: take in what another worker has reported."""
        self.tally.add(other.tally)
        add_spending(self.spending, other.spending)
        for name, there in other.endpoints.items():
            here = self.endpoints.get(name)
            self.endpoints[name] = there if here is None else _both(here, there)
        self.replayed += other.replayed
        self.unused += other.unused
        self.difference = self.difference or other.difference
        self.torn += other.torn
        self.failed |= other.failed

    def settled(self) -> "Report":
        """What stays of it when its worker has ended: nothing is under way or waits any more."""
        made = deepcopy(self)
        made.tally.under_way = 0
        made.endpoints = {name: each._replace(waiting=None) for name, each in made.endpoints.items()}
        return made

    def notes(self, calls: str) -> list[str]:
        """What there is to say about the calls of a run; `calls`: the name of their file."""
        notes = []
        for each in self.endpoints.values():
            if each.faults:
                told = ", ".join(f"{count} {name}" for name, count in Counter(each.faults).most_common())
                notes.append(f"{each.endpoint}: {each.requests} requests, of which failed: {told}")
        if self.replayed:
            notes.append(f"{self.replayed} replies were taken from {calls}: they were paid before")
        if self.unused:
            notes.append(
                f"{self.unused} kept replies were not used, because something else is sent now; the first, {self.difference}"
            )
        if self.torn:
            notes.append(f"{calls}: {self.torn} bytes could not be read: their calls are made again")
        return notes


def _both(one: EndpointNow, other: EndpointNow) -> EndpointNow:
    faults = Counter(one.faults) + Counter(other.faults)
    return EndpointNow(
        one.endpoint,
        one.requests + other.requests,
        faults,
        one.waiting or other.waiting,
        one.answered or other.answered,
    )


def add_spending(into: Spending, more: Spending) -> None:
    """Add what others have spent; the bounds stay."""
    _add_spent(into.total, more.total)
    for here, there in ((into.by_model, more.by_model), (into.by_role, more.by_role)):
        for name, spent in there.items():
            _add_spent(here.setdefault(name, Spent()), spent)
    into.notes += [line for line in more.notes if line not in into.notes]
    into.unknown = into.unknown or more.unknown


def _add_spent(into: Spent, more: Spent) -> None:
    for each in fields(Spent):
        here, there = getattr(into, each.name), getattr(more, each.name)
        setattr(into, each.name, None if here is None or there is None else here + there)


def without_spending(spending: Spending) -> Spending:
    """The same bounds with nothing spent."""
    return replace(spending, total=Spent(), by_model={}, by_role={}, notes=[], unknown=None)


_KINDS: dict[str, type[DuologueError]] = {"endpoint": EndpointError, "broken": BrokenOffError}


def kind_of(error: DuologueError) -> str:
    """The kind of an error, for a report."""
    return next((kind for kind, known in _KINDS.items() if isinstance(error, known)), "run")


def error_of(told: tuple[str, str]) -> DuologueError:
    """The error that a worker reported, in this process."""
    kind, line = told
    made: Any = _KINDS.get(kind, RunError)
    return made(line)  # type: ignore[no-any-return]
