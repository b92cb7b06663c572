"""Whether a run is divided among processes, into how many shards, and each shard's share of what is bounded."""

import os
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from ...data import domains
from ...data.domains import Domain
from ...data.formats.detection import Format
from ...data.packages import failure, is_importable
from ...data.text.words import texts_in
from ...errors import DuologueError, SettingError
from ...graphs import Cast
from ...graphs.casts import CastSpec
from ...nodes.calls.gate import Pace
from ...nodes.calls.service import store_outside
from ...nodes.limits import Limits
from ...nodes.settings.import_path import is_import_path
from ...nodes.state import Planned
from ..engine.conduct import Conduct
from ..engine.conversing import Concurrency, name_of
from .shards import Shard

Engine: TypeAlias = Literal["processes", "ray"]

CALL = 0.004
"""Seconds of a processor that a call of a model takes at most, about, with the conversation around it: 1.3 and 3.3 ms were
measured on two machines. One process too many costs seconds, one too few slows down all of a run."""
WORTH = 10.0
"""Seconds of work from which a process of its own pays: it takes some three seconds to start."""
SHARD = 64
"""Conversations of a shard where shards are many."""
A_SECOND = 1.0
"""Seconds between two reports where hundreds of tasks report to one actor."""
SPEAKERS = ("user_simulator", "assistant")


@dataclass(frozen=True)
class Division:
    """How a run is divided."""

    engine: Engine
    processes: int | None
    """None: as many as the cluster has processors."""
    spec: CastSpec
    domains: tuple[Domain, ...]
    formats: tuple[Format, ...] = ()


def division(
    cast: Cast,
    missing: Sequence[Planned],
    limits: Limits,
    conduct: Conduct,
    concurrency: Concurrency,
    *,
    watched: bool,
) -> Division | None:
    """The division of a run among processes; None if it runs only in this process.

    A run is divided if `conduct` asks for it, or if `conduct` leaves it open and dividing pays. DuologueError if
    `conduct` asks for it and it is not possible.
    """
    is_requested = conduct.engine == "ray" or (conduct.processes or 0) > 1
    if not missing:
        return None
    if not is_requested and (conduct.processes == 1 or processes_worth(len(missing), limits, conduct, concurrency) < 2):
        return None
    try:
        _check(conduct, watched=watched)
        spec, own, formats = cast.travelling(), _own_domains(), _own_formats()
    except DuologueError:
        if is_requested:
            raise
        return None
    if not is_requested and _has_own_code(cast, spec):
        return None
    if conduct.engine == "ray" and cast.plain() != spec.model_dump():
        raise SettingError(
            "the cast holds a credential, which Ray would keep and send about: set it in the environment of the machines"
        )
    number = conduct.processes
    if number is None and conduct.engine != "ray":
        number = processes_worth(len(missing), limits, conduct, concurrency)
    return Division("ray" if conduct.engine == "ray" else "processes", number, spec, own, formats)


def processes_worth(conversations: int, limits: Limits, conduct: Conduct, concurrency: Concurrency) -> int:
    """The number of processes that pays for itself.

    It is at most one for each processor. Each process has at least `WORTH` seconds of work, if a turn of each role is a
    call of `CALL` seconds. It is not more than the conversations at the same time.
    """
    work = conversations * 2 * (limits.max_turns or 1) * CALL
    most = [processors(), int(work / WORTH)]
    if concurrency != "auto":
        most.append(concurrency)
    return max(1, min(most))


def processors() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # pragma: no cover - not on Linux


def shards_of(whole: Shard, engine: Engine, number: int) -> list[Shard]:
    """The parts of a shard that has all of a run.

    They are one for each of `number` processes, or tasks of 64 conversations each. `shared` gives each its share of the pace when it begins.
    """
    states = whole.states
    if engine == "ray":
        parts = [states[first : first + SHARD] for first in range(0, len(states), SHARD)]
    else:
        parts = [states[first::number] for first in range(number)]
    shards = []
    for position, part in enumerate(filter(None, parts)):
        names = {name_of(state) for state in part}
        silent = tuple(silent_side for silent_side in whole.silent if silent_side[0] in names)
        shards.append(replace(whole, name=f"{position:05d}", states=part, silent=silent))
    return shards


def shared(shard: Shard, number: int, position: int) -> Shard:
    """The shard with one of `number` equal parts of the run's pace and concurrency.

    `position`, from 0: no other shard that is simulated at the same time may have the same one.
    """
    concurrency = shard.concurrency
    return replace(
        shard,
        pace=share(shard.pace, number, position),
        concurrency=concurrency if concurrency == "auto" else _part(concurrency, number, position),
    )


def share(pace: Pace, number: int, position: int) -> Pace:
    """One of so many equal parts of a pace."""
    return replace(
        pace,
        parts=number,
        concurrency=pace.concurrency and _part(pace.concurrency, number, position),
    )


def _part(whole: int, number: int, position: int) -> int:
    return max(1, whole // number + (position < whole % number))


def at_once(number: int, conversations: int, concurrency: Concurrency) -> int:
    """How many shards are simulated at the same time where so many are asked for."""
    most = number if concurrency == "auto" else min(number, concurrency)
    return max(1, min(most, conversations))


def _check(conduct: Conduct, *, watched: bool) -> None:
    """SettingError for what only one process can do."""
    if watched:
        raise SettingError(
            "watch and keep are called in the process that simulates: leave them out, or simulate in one process"
        )
    if conduct.record is not None or conduct.replay_calls is not None:
        raise SettingError(
            "calls are recorded and replayed in one process: leave out --processes and --engine, or --record and --replay-calls"
        )
    if store_outside() is not None:
        raise SettingError("calls are recorded and replayed in one process: leave processes and engine out")


def _own_domains() -> tuple[Domain, ...]:
    """The domains that another process has to be given.

    SettingError for one that cannot be sent there.
    """
    own = domains.registered_here()
    for domain in own:
        if not is_importable(type(domain)):
            raise SettingError(
                f"the domain {domain.kind!r} cannot be imported by another process: define its class in a module"
            )
        try:
            pickle.dumps(domain)
        except Exception as error:
            raise SettingError(
                f"the domain {domain.kind!r} cannot be sent to another process: {failure(error)}"
            ) from None
    return own


def _own_formats() -> tuple[Format, ...]:
    """The formats that another process does not know by itself; SettingError for one that cannot be sent there."""
    own = domains.formats_registered_here()
    for form in own:
        if not all(map(is_importable, filter(None, (form.recognises, form.read, form.write)))):
            raise SettingError(
                f"the format {form.name!r} cannot be imported by another process: define its functions by name in a module"
            )
    return own


def _has_own_code(cast: Cast, spec: CastSpec) -> bool:
    """Whether somebody's own program speaks, or makes worlds: what it holds would be there once for each process."""
    nodes: Mapping[str, Any] = cast.describe()
    own = any(not nodes[place].stored and "model" not in nodes[place].settings for place in SPEAKERS)
    plain: Mapping[str, Any] = spec.model_dump()
    parts = {"cast": plain.get("cast"), **plain.get("settings", {}), **plain.get("replace", {})}
    named = texts_in([value for name, value in parts.items() if name not in ("user", *SPEAKERS)])
    return own or cast.world is not None or any(map(is_import_path, named))
