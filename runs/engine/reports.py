"""Reports of the processes that simulate a part of a run, and orders for them, without conversations."""

from collections import Counter
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

from ...errors import DuologueError
from ...nodes.calls.gate import EndpointError
from ...nodes.calls.service import Calls
from ...nodes.calls.spending import BudgetPart, ModelSpending, Spending
from ..journals.calls import CallFile
from ..journals.journal import BrokenOffError, RunError


class EndpointNow(NamedTuple):
    """The state of an endpoint."""

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
        for counter in fields(self):
            setattr(self, counter.name, getattr(self, counter.name) + getattr(other, counter.name))


@dataclass(frozen=True)
class WorkerOrders:
    """How a part of a run is to go on."""

    ending: str | None = None
    """Why it begins no further conversation."""
    cutting: str | None = None
    """Why what is under way ends before its next turn."""
    closed: bool = False
    """Whether no call of a model begins any more."""
    dropped: bool = False
    """Whether conversations that wait for an agent are cancelled."""
    cancelled: bool = False
    """Whether it ends now."""
    answered: frozenset[str] = frozenset()
    """Endpoints that have answered in this run: when they are gone they are waited for."""
    parts: Mapping[str, BudgetPart] = field(default_factory=dict[str, BudgetPart])
    """The shards' parts of the budget."""


@dataclass
class WorkerReport:
    """A worker's report on its part so far.

    Each report replaces the worker's earlier one.
    """

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
    short: int = 0
    """Tokens of a call that waits for more of the budget while no other is in progress; 0 without one."""

    def count_calls(self, calls: Calls, file: CallFile | None) -> None:
        """Take in the state of the calls."""
        self.short = calls.reservations.short
        self.replayed = calls.replies.replayed if file is not None and file.writes else 0
        for gate in list(calls.gates.values()):
            now = gate.requests, dict(gate.faults), gate.held_back_by, gate.answered
            self.endpoints[gate.endpoint] = EndpointNow(gate.endpoint, *now)
        if file is not None:
            self.torn = file.torn
            if file.unused:
                key, why = next(iter(file.unused.items()))
                self.unused = len(file.unused)
                self.difference = f"{key.role} in turn {key.turn + 1} of {key.conversation}: {why}"

    def add(self, other: "WorkerReport") -> None:
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

    def settled(self) -> "WorkerReport":
        """The report after the end of its worker: nothing is under way or waits any more."""
        final = deepcopy(self)
        final.tally.under_way = 0
        final.endpoints = {name: endpoint._replace(waiting=None) for name, endpoint in final.endpoints.items()}
        return final

    def notes(self, calls: str) -> list[str]:
        """Notes about the calls of a run; `calls`: the name of their file."""
        notes = []
        for endpoint in self.endpoints.values():
            if endpoint.faults:
                fault_counts = ", ".join(f"{count} {name}" for name, count in Counter(endpoint.faults).most_common())
                notes.append(f"{endpoint.endpoint}: {endpoint.requests} requests, of which failed: {fault_counts}")
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
    return one._replace(
        requests=one.requests + other.requests,
        faults=Counter(one.faults) + Counter(other.faults),
        waiting=one.waiting or other.waiting,
        answered=one.answered or other.answered,
    )


def add_spending(into: Spending, more: Spending) -> None:
    """Add what others have spent; the bounds stay."""
    _add_spent(into.total, more.total)
    for here, there in ((into.by_model, more.by_model), (into.by_role, more.by_role)):
        for name, spent in there.items():
            _add_spent(here.setdefault(name, ModelSpending()), spent)
    into.notes += [line for line in more.notes if line not in into.notes]
    into.unknown = into.unknown or more.unknown


def _add_spent(into: ModelSpending, more: ModelSpending) -> None:
    for amount in fields(ModelSpending):
        here, there = getattr(into, amount.name), getattr(more, amount.name)
        setattr(into, amount.name, None if here is None or there is None else here + there)


def without_spending(spending: Spending) -> Spending:
    """The same bounds with nothing spent."""
    return replace(spending, total=ModelSpending(), by_model={}, by_role={}, notes=[], unknown=None)


_KINDS: dict[str, type[DuologueError]] = {"endpoint": EndpointError, "broken": BrokenOffError}


def kind_of(error: DuologueError) -> str:
    """The kind of an error, for a report."""
    return next((kind for kind, error_class in _KINDS.items() if isinstance(error, error_class)), "run")


def error_of(kind_and_line: tuple[str, str]) -> DuologueError:
    """The error that a worker reported, in this process."""
    kind, line = kind_and_line
    error_class: Any = _KINDS.get(kind, RunError)
    return error_class(line)  # type: ignore[no-any-return]
