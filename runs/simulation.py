"""Simulating: the one way in, for notebooks, for commands, inside and outside a running loop."""

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ..data import domains
from ..data.counts import Counts, count
from ..data.formats import record_lines
from ..data.formats.jsonfiles import write_json, write_text
from ..data.identity import VERSION, digest, equals, ordinals
from ..data.records import SCHEMA, Conversation
from ..graphs import Cast
from ..nodes.limits import Limits
from ..nodes.state import State
from .card import card
from .engine import CONCURRENCY, Watch, converse_all
from .folder import RunFolder
from .plan import name_of, planned

T = TypeVar("T")
PROMPTS = "prompts.json"
"""The prompt pages of a run by name: with the digests of the records they say what was sent."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Summary:
    """What became of a run."""

    path: Path
    dataset: Path
    planned: int
    equal: int
    """Scenarios that repeat an earlier one; each was simulated."""
    finished: int
    failed: dict[str, str]
    """Id and reason of each conversation of this call that did not end by itself."""
    ended: int
    """Conversations in the folder that ended by themselves: at a limit, as their user chose, or as a cast says."""
    counts: Counts
    left_out: list[str]
    notes: list[str]

    @property
    def complete(self) -> bool:
        """Whether every planned conversation ended by itself."""
        return self.finished == self.planned and self.ended == self.counts.conversations


async def asimulate(
    cast: Cast,
    scenarios: Iterable[State],
    *,
    limits: Limits | None = None,
    concurrency: int = CONCURRENCY,
    out: str | Path | None = None,
    resume: bool = False,
    watch: Watch | None = None,
) -> list[Conversation]:
    """Simulate every scenario; the conversations come in the order of the scenarios.

    With `out` they also go to a run folder, each as soon as it is over; with `resume` what is finished
    there is not simulated again. A conversation that fails is in the list, with the reason as its `stop`.
    `watch` is shown every state.
    """
    plan = planned(cast, scenarios)
    made: dict[str, Conversation] = {}

    def collect(conversation: Conversation) -> None:
        made[conversation.id] = conversation

    if out is None:
        limits = (limits or cast.limits).or_else(cast.limits)
        await converse_all(cast, plan, limits, collect, concurrency=concurrency, watch=watch)
    else:
        await arun(cast, plan, out, limits=limits, concurrency=concurrency, resume=resume, watch=watch, keep=collect)
        made |= {conversation.id: conversation for conversation in record_lines.read_run(out)}
    conversations = [made[name_of(state)] for state in plan]
    failed = [conversation for conversation in conversations if conversation.failure is not None]
    if failed and failed[0].failure is not None:
        where = f"{failed[0].failure.node}: {failed[0].failure.error}"
        log.warning("%d of %d conversations failed, the first in %s", len(failed), len(conversations), where)
    return conversations


async def arun(
    cast: Cast,
    scenarios: Iterable[State],
    out: str | Path,
    *,
    limits: Limits | None = None,
    concurrency: int = CONCURRENCY,
    resume: bool = False,
    watch: Watch | None = None,
    keep: Callable[[Conversation], None] | None = None,
    source: Mapping[str, Any] | None = None,
) -> Summary:
    """Simulate into a run folder; writes the data set and its card at the end.

    The plan is held in memory, and no conversation that is over: however many there are.

    `source`: what the manifest says of the scenarios' source: `source`, `licence`, `licence_id`.
    """
    plan = planned(cast, scenarios)
    limits = (limits or cast.limits).or_else(cast.limits)
    failed: dict[str, str] = {}
    with RunFolder.open(out, manifest(cast, plan, limits, source), resume=resume) as folder:
        write_json(folder.path / PROMPTS, {name: page.source for name, page in cast.prompts.pages.items()}, end="\n")

        def kept(conversation: Conversation) -> None:
            folder.keep(conversation)
            if not conversation.finished:
                failed[conversation.id] = conversation.failure.error if conversation.failure else str(conversation.stop)
            if keep is not None:
                keep(conversation)

        missing = [state for state in plan if name_of(state) not in folder.done]
        try:
            await converse_all(cast, missing, limits, kept, concurrency=concurrency, watch=watch)
        except BaseException:
            with suppress(ValueError, OSError):  # the data set holds what is finished; what ended the run is told
                _written(folder, plan, failed)
            raise
        return _written(folder, plan, failed)


def manifest(cast: Cast, plan: list[State], limits: Limits, source: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What a run folder says of its run. `settings` is what must not change when it is resumed."""
    about = [state["scenario"] for state in plan]
    return {
        "version": VERSION,
        "schema_version": SCHEMA,
        "cast": cast.plain(),
        "settings": {
            "cast": cast.name,
            "nodes": {place: node.flat() for place, node in cast.describe().items()} | cast.words,
            "limits": limits.plain(),
            "prompts": cast.prompts.digests,
            **({"stop_reasons": cast.own_reasons} if cast.stop_reasons else {}),
            **({"record_memory": True} if cast.record_memory else {}),
        },
        "data": [
            {"source": "scenarios"}
            | dict(source or {})
            | {
                "digest": digest(about),
                "scenarios": len({digest(scenario) for scenario in about}),
                "equal": equals(ordinals(s["scenario"] for s in plan if not s.get("repeat"))),
            }
        ],
        "planned": [name_of(state) for state in plan],
    }


def _written(folder: RunFolder, plan: list[State], failed: dict[str, str]) -> Summary:
    """The data set and its card, from what is finished on disk: two readings of it, one conversation at a time."""
    about = [state["scenario"] for state in plan if name_of(state) in folder.done] or [plan[0]["scenario"]] * bool(plan)
    known = domains.present(about)
    form = known[0].dataset if len(known) == 1 else domains.PLAIN.dataset
    dataset = folder.path / "dataset" / form.name
    left_out = form.write(folder.conversations(), dataset)
    ended = 0

    def finished() -> Iterator[Conversation]:
        nonlocal ended
        for conversation in folder.conversations():
            ended += conversation.ended_by_itself
            yield conversation

    counts = count(finished())
    files = {form.name or form.files or "*": form.description}
    attributions = [domain.attribution for domain in known if domain.attribution]
    write_text(folder.path / "dataset" / "README.md", card(folder.manifest, counts, files, left_out, attributions))
    wanted = {name_of(state) for state in plan}
    return Summary(
        path=folder.path,
        dataset=dataset,
        planned=len(plan),
        equal=folder.manifest["data"][-1]["equal"],
        finished=len(wanted & folder.done),
        failed={name: reason for name, reason in failed.items() if name not in folder.done},
        ended=ended,
        counts=counts,
        left_out=left_out,
        notes=folder.notes,
    )


def simulate(
    cast: Cast,
    scenarios: Iterable[State],
    *,
    limits: Limits | None = None,
    concurrency: int = CONCURRENCY,
    out: str | Path | None = None,
    resume: bool = False,
    watch: Watch | None = None,
) -> list[Conversation]:
    """As `asimulate`, from code that is not async; works inside a running loop too, as in a notebook."""
    return blocking(
        asimulate(cast, scenarios, limits=limits, concurrency=concurrency, out=out, resume=resume, watch=watch)
    )


def blocking(work: Coroutine[Any, Any, T]) -> T:
    """Wait for the work, done in one loop that this process keeps.

    One loop, because a model's connections belong to the loop that opened them; a thread of its own,
    because the caller's loop, if there is one, is busy with the caller.
    """
    loop = _loop()
    if threading.current_thread().name == THREAD:
        work.close()
        raise RuntimeError("simulate was called from within a simulation: await asimulate there")
    future = asyncio.run_coroutine_threadsafe(work, loop)
    try:
        return future.result()
    except BaseException:
        if not future.done():  # the caller was interrupted: let what runs be written down first
            future.cancel()
            _settle()
        raise


def _settle() -> None:
    """Wait until the loop has nothing of a cancelled call left."""

    async def others() -> None:
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run_coroutine_threadsafe(others(), _loop()).result(timeout=30)


THREAD = "duologue simulations"
_lock = threading.Lock()
_running: asyncio.AbstractEventLoop | None = None


def _loop() -> asyncio.AbstractEventLoop:
    global _running
    with _lock:
        if _running is None or _running.is_closed():
            _running = asyncio.new_event_loop()
            threading.Thread(target=_running.run_forever, name=THREAD, daemon=True).start()
        return _running


def _forget_loop() -> None:
    """A forked process has the loop and not its thread: it must make its own."""
    global _lock, _running
    _lock, _running = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_loop)
