"""Simulating: a plan of versions, scenarios and repeats; what is missing of it is done, and the records come in its order."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, chdir
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..data.formats.record_lines import StoredRun
from ..data.records import Conversation
from ..data.tracing import requested
from ..errors import SettingError
from ..graphs import Cast
from ..graphs.casts.cast import check_scenarios
from ..graphs.graph import Compiled, cast_of
from ..graphs.records import begun, record
from ..graphs.scenarios.sources import Scenarios, repeated
from ..nodes.calls.gate import EndpointError
from ..nodes.calls.service import Calls, replies_outside
from ..nodes.limits import Limits
from ..nodes.state import Planned
from .engine import Keep, blocking, conversations_of, do_all, planned, under_way
from .progress import Figures, shown
from .settings import RunSettings, Shard
from .store import RunFolder, is_owed, manifest_of, name_of

log = logging.getLogger(__name__)


@dataclass
class Run:
    """A run that is over, as far as it came."""

    plan: list[Planned]
    cast: Cast
    calls: Calls
    """Spending, endpoints, and why it ended early."""
    folder: Path | None
    notes: list[str] = field(default_factory=list[str])
    """What the user should know of its folder and its calls, a line each."""
    stopped: EndpointError | None = None
    """Why no call could succeed any more."""
    _records: dict[tuple[str, str], Conversation] = field(default_factory=dict[tuple[str, str], Conversation])

    def remember(self, conversation: Conversation) -> None:
        """Keep a conversation that no folder keeps."""
        self._records[conversation.version, conversation.id] = conversation

    @property
    def ending(self) -> str:
        """Why it ended before its plan was done, in words; empty if it did not."""
        return str(self.stopped or self.calls.ending or "")

    def attempted(self, version: str = "") -> Iterator[Conversation]:
        """The conversations of a version that have begun, in the order of the plan, one at a time."""
        if self.folder is None:
            names = ((version, name_of(state)) for state in self.plan)
            yield from (self._records[name] for name in names if name in self._records)
        else:
            stored = StoredRun(self.folder, version=version)
            there = {*stored.names(), *stored.names(finished=False)}
            yield from stored.values(name for state in self.plan if (name := name_of(state)) in there)

    def records(self, version: str = "") -> list[Conversation]:
        """A conversation for each planned one of a version; one that was not begun has the stop reason `cancelled`."""
        there = {one.id: one for one in self.attempted(version)}
        not_begun = (record(begun(state), self.cast.name) for state in self.plan if name_of(state) not in there)
        there |= {one.id: one.model_copy(update={"stop": "cancelled"}) for one in not_begun}
        return [there[name_of(state)] for state in self.plan]

    def check(self, records: list[Conversation]) -> None:
        """EndpointError if an endpoint could not be used, and no conversation was finished."""
        if self.stopped is not None and not any(one.finished for one in records):
            self.stopped.__notes__ = []  # of LangGraph, on which node's task it passed first
            raise self.stopped.with_traceback(None) from None

    def warn(self, records: list[Conversation]) -> None:
        """Log how many of the records failed, were cut short or were not begun."""
        failures = [one.ending_failure for one in records if one.ending_failure is not None]
        if failures:
            where = f"{failures[0].node}: {failures[0].error}"
            log.warning("%d of %d conversations failed, the first in %s", len(failures), len(records), where)
        if cut := sum(one.cut_by_run for one in records):
            log.warning("%d of %d conversations were cut short: %s", cut, len(records), self.ending)
        if missing := sum(one.stop == "cancelled" for one in records):
            log.warning("%d of %d conversations were not begun or cancelled: %s", missing, len(records), self.ending)


async def arun(
    graphs: Mapping[str, Cast | Compiled],
    scenarios: Iterable[Planned],
    settings: RunSettings,
    *,
    limits: Limits | None = None,
    keep: Callable[[Conversation], None] | None = None,
    beside: Path | None = None,
) -> Run:
    """Simulate versions of a cast about the same scenarios, of each conversation all versions in turn.

    Args:
        graphs: Casts or compiled graphs by the version's name, which is empty for the one that the run is about.
        scenarios: Initial states.
        settings: How the run is made.
        limits: Limits in place of the cast's.
        keep: Called with each conversation as it ends, also where a folder keeps it.
        beside: The folder of an earlier run: where its user was sent the same, its reply is taken.
    """
    casts = {version: cast_of(graph) for version, graph in graphs.items()}
    cast = casts[""]
    whole = planned(cast, scenarios if settings.repeats == 1 else repeated(scenarios, settings.repeats))
    for of_version in casts.values():
        check_scenarios(of_version, whole)
    plan = settings.part(whole)
    limits = (limits or cast.limits).or_else(cast.limits)
    if settings.seed is not None:
        limits = replace(limits, seed=settings.seed)
    calls = settings.calls()
    calls.begin()
    _say_what_is_traced()
    run = Run(plan, cast, calls, settings.out)
    with ExitStack() as opened:
        folder = None
        if settings.out is not None:
            source = scenarios.source if isinstance(scenarios, Scenarios) else None
            manifest = manifest_of(casts, plan, limits, source)
            manifest |= {} if settings.shard is None else {"shard": list(Shard.read(settings.shard))}
            folder = opened.enter_context(RunFolder.open(settings.out, manifest))
            run.notes += folder.notes
        calls.replies = settings.kept_replies(beside, versions=len(graphs))
        if calls.replies is not None and calls.replies is not replies_outside():
            opened.callback(calls.replies.close)
        done = set[tuple[str, str]]()
        if folder is not None:
            _take_up(folder, calls, casts)
            done = folder.done
        work = [(version, state) for state in plan for version in graphs if (version, name_of(state)) not in done]
        progress = Figures(len(work), calls)
        opened.enter_context(shown(progress, settings.progress))
        opened.enter_context(chdir(Path.cwd()))  # an agent may change the working folder
        store: Keep = run.remember if folder is None else folder.keep

        def ended(conversation: Conversation) -> None:
            store(conversation)
            progress.add(conversation)
            if keep is not None:
                keep(conversation)

        if settings.ray is not None:
            from .on_ray import on_ray  # which few runs need

            if settings.out is None or any(talk is not casts[of] for of, talk in graphs.items()):
                raise SettingError("ray: give out, a folder that all its machines share, and a cast")
            await on_ray(casts, plan, work, settings, limits, calls, ended)
        else:
            async with under_way(calls, settings.max_time):
                one = conversations_of(graphs, limits, ended, calls)
                try:
                    await do_all(work, one, calls, settings.concurrency)
                except EndpointError as error:  # no call can succeed: the run ends here, and its folder is in order
                    run.stopped = error
        run.notes += _notes(calls, settings)
    return run


def _say_what_is_traced() -> None:
    if asked := requested():
        log.warning("traces of this run are sent as %s asks for, prompts, sections and replies whole", ", ".join(asked))


def _take_up(folder: RunFolder, calls: Calls, casts: Mapping[str, Cast]) -> None:
    """Go on with the kept replies, and with what they and agents with a world have spent."""
    replies = calls.replies
    if replies is not None and not replies.frozen:
        for (version, name), failed in folder.again.items():
            turn = failed.unsaid[-1] if failed.failure is not None and failed.unsaid else None
            # Replies without a text are the endpoint's fault, but were kept, since a validator rejects one among others.
            if turn is not None and all(attempt.flaw and not attempt.text for attempt in turn.attempts):
                replies.forget_turn(name, turn.role, version)
    if not calls.spending.bounded:
        return
    if replies is not None and replies is not replies_outside():
        calls.spending.add_kept(replies)
    for version in (name for name, cast in casts.items() if cast.world is not None):
        for conversation in StoredRun(folder.path, version=version).finished():
            for attempt in conversation.attempts("assistant", new_only=True):
                if attempt.usage is not None and not is_owed(conversation):
                    calls.spending.add(attempt.model, attempt.usage.model_dump(), query=None)


def _notes(calls: Calls, settings: RunSettings) -> Iterator[str]:
    for gate in calls.gates.values():
        if gate.faults:
            counts = ", ".join(f"{count} {name}" for name, count in gate.faults.most_common())
            yield f"{gate.endpoint}: {gate.requests} requests, of which failed: {counts}"
    if calls.replies is not None and calls.replies.replayed and not settings.frozen:
        yield f"{calls.replies.replayed} replies were kept: they were paid before"
    if settings.frozen and calls.made_anew:
        yield f"{calls.made_anew} turns of the agent were made anew, as its tools act on a world: what it calls is its own matter"


async def asimulate(
    talk: Cast | Compiled,
    scenarios: Iterable[Planned],
    *,
    limits: Limits | None = None,
    **settings: Any,
) -> list[Conversation]:
    """As `simulate`, whose parameters, result and errors it has, to be awaited.

    Example::

        >>> import asyncio, duologue
        >>> simquac = duologue.graphs.simquac
        >>> scenarios = simquac.scenarios(duologue.data.simquac.samples()[:2])
        >>> work = duologue.asimulate(simquac.cast(), scenarios, limits=duologue.Limits(max_turns=1))
        >>> len(asyncio.run(work))  # in a notebook: await work
        2
    """
    run = await arun({"": talk}, scenarios, RunSettings.of(**settings), limits=limits)
    records = run.records()
    run.check(records)
    run.warn(records)
    return records


def simulate(
    talk: Cast | Compiled,
    scenarios: Iterable[Planned],
    *,
    limits: Limits | None = None,
    **settings: Any,
) -> list[Conversation]:
    """Simulate every scenario and wait; the conversations come in the order of the scenarios.

    It works inside a running loop too, as in a notebook. The same call with the same `out` goes on: what is finished
    there is not simulated again, and no reply is paid for twice. A warning of a logger below `duologue` gives the numbers
    of conversations that failed, were cut short or were not begun.

    Args:
        talk: Who takes part and by which rules, or the compiled graph (`graphs.conversation`), such as
            `graphs.simquac.cast(user="openai:NAME")`.
        scenarios: Initial states, made by a cast's own function, such as `graphs.simquac.scenarios(topics)`, or taken
            from stored conversations by `graphs.scenarios_of`. Equal ones are each simulated.
        limits: All limits in place of the cast's, with the run's seed; a `max_turns` of None is the cast's.
        settings: How the run is made, the fields of `runs.RunSettings`: `out`, `repeats`, `seed`, `concurrency`, budgets
            (`max_cost`, `max_tokens`, `max_time`), kept `replies`, `progress` and others.

    Returns:
        A `Conversation` for each scenario, with its messages, every draft and its stop reason. One that failed has a
        `failure`. One that a bound of the run cut short has the stop reason `budget` and `cut_by_run`, and one that
        was not begun `cancelled`.

    Raises:
        ContractError: The cast or a scenario is invalid.
        RunError: The folder holds another run, whose first difference is named, or other files.
        ModelError: A model cannot be made.
        EndpointError: An endpoint cannot be used and no conversation was finished.
        RuntimeError: It is called from within a simulation.

    Example::

        >>> import duologue
        >>> simquac = duologue.graphs.simquac
        >>> scenarios = simquac.scenarios(duologue.data.simquac.samples()[:1])
        >>> (one,) = duologue.simulate(simquac.cast(), scenarios, limits=duologue.Limits(max_turns=2))
        >>> [message.role for message in one.messages]
        ['user', 'assistant', 'user', 'assistant']
    """
    work: Any = asimulate(talk, scenarios, limits=limits, **settings)
    conversations: list[Conversation] = blocking(work, settings.get("out"))
    return conversations
