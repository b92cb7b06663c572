"""What is counted of a run besides its conversations: endpoints, replies that were paid before, what was spent."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import NamedTuple

from ...nodes.calls.service import Calls
from ...nodes.calls.spending import ModelSpending, Spending
from ..journals.calls import CallFile


class EndpointNow(NamedTuple):
    """The state of an endpoint."""

    endpoint: str
    requests: int
    """Calls as they were sent so far, each try counted."""
    faults: Mapping[str, int]
    """By name, each try counted."""
    waiting: str | None
    """What holds calls back just now, in words; None if nothing does."""


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


def notes_on(calls: Calls, file: CallFile) -> list[str]:
    """Notes about the calls of a run whose replies the file keeps."""
    notes = []
    for gate in calls.gates.values():
        if gate.faults:
            fault_counts = ", ".join(f"{count} {name}" for name, count in gate.faults.most_common())
            notes.append(f"{gate.endpoint}: {gate.requests} requests, of which failed: {fault_counts}")
    if file.writes and calls.replies.replayed:
        notes.append(f"{calls.replies.replayed} replies were taken from {file.path.name}: they were paid before")
    if file.unused:
        key, why = next(iter(file.unused.items()))
        first = f"{key.role} in turn {key.turn + 1} of {key.conversation}: {why}"
        notes.append(
            f"{len(file.unused)} kept replies were not used, because something else is sent now; the first, {first}"
        )
    if file.torn:
        notes.append(f"{file.path.name}: {file.torn} bytes could not be read: their calls are made again")
    return notes


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
