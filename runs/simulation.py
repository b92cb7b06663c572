"""Simulating: the functions that notebooks and commands call, inside and outside a running event loop."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Generic, TypeVar

from ..data.formats import record_lines
from ..data.records import Conversation, Failure
from ..data.tracing import requested
from ..errors import DuologueError, SettingError
from ..graphs import Cast
from ..graphs.casts.checks import check_scenarios
from ..graphs.graph import Compiled, cast_of
from ..graphs.opening import begun
from ..graphs.records import record
from ..graphs.scenarios.sources import Scenarios, repeated
from ..nodes.calls.gate import EndpointError
from ..nodes.limits import Limits
from ..nodes.state import Planned
from .engine.conduct import Conduct, calling
from .engine.conversing import Concurrency, Watch, converse_all, name_of, planned
from .engine.event_loop import waiting
from .engine.progress import counted, shown
from .parts import Shard
from .running import arun

log = logging.getLogger(__name__)

T = TypeVar("T")


async def asimulate(
    talk: Cast | Compiled,
    scenarios: Iterable[Planned],
    *,
    repeats: int = 1,
    limits: Limits | None = None,
    concurrency: Concurrency = "auto",
    out: str | Path | None = None,
    resume: bool = False,
    watch: Watch | None = None,
    conduct: Conduct | None = None,
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
    return await results(
        talk,
        scenarios,
        lambda conversation: conversation,
        repeats=repeats,
        limits=limits,
        concurrency=concurrency,
        out=out,
        resume=resume,
        watch=watch,
        conduct=conduct,
    )


def _say_what_is_traced() -> None:
    for tracing in requested():
        whole = "traces of this run go to %s, prompts, sections and replies whole"
        log.warning(f"%s is set: {whole}", tracing.variable, tracing.host)


async def results(
    talk: Cast | Compiled,
    scenarios: Iterable[Planned],
    result_of: Callable[[Conversation], T],
    *,
    repeats: int = 1,
    limits: Limits | None = None,
    concurrency: Concurrency = "auto",
    out: str | Path | None = None,
    resume: bool = False,
    watch: Watch | None = None,
    conduct: Conduct | None = None,
) -> list[T]:
    """As `asimulate`, with what `result_of` gives for each conversation, of which nothing else stays in memory."""
    cast = cast_of(talk)
    whole = planned(cast, scenarios if repeats == 1 else repeated(scenarios, repeats))
    check_scenarios(cast, whole)
    conduct = conduct or Conduct()
    plan = whole if conduct.shard is None else Shard.read(conduct.shard).part(whole)
    if out is None and conduct.ray is not None:
        raise SettingError("ray: a run on a cluster needs a folder that all its machines share: give out")
    control = conduct.controlled()
    _say_what_is_traced()
    ended = _Ended(result_of)

    stopped: DuologueError | None = None
    if out is None:
        limits = (limits or cast.limits).or_else(cast.limits)
        try:
            with conduct.calls() as file:
                async with calling(
                    control, file, max_seconds=conduct.max_seconds, replies_of=conduct.replies_of
                ) as calls:
                    with shown(len(plan), control, conduct.progress) as figures:
                        watched, keep = counted([figures], watch, ended.add)
                        await converse_all(
                            talk,
                            plan,
                            limits,
                            keep or ended.add,
                            concurrency=concurrency,
                            watch=watched,
                            calls=calls,
                            control=control,
                        )
        except EndpointError as error:
            stopped = error
        control.over()
    else:
        summary = await arun(
            talk,
            whole,
            out,
            limits=limits,
            concurrency=concurrency,
            resume=resume,
            watch=watch,
            source=scenarios.source if isinstance(scenarios, Scenarios) else None,
            conduct=replace(conduct, control=control),
        )
        stopped = summary.stopped_by
        for conversation in record_lines.cut_short(out):
            if conversation.id in summary.failed:
                ended.add(conversation)
        for conversation in record_lines.iterate_run(out):
            ended.add(conversation)
    if stopped is not None and not ended.finished:
        stopped.__notes__ = []  # of LangGraph, on which node's task it passed first
        raise stopped.with_traceback(None) from None
    missing = [state for state in plan if name_of(state) not in ended.results]
    for state in missing:  # not begun: each scenario has a conversation in the list
        ended.add(record(begun(state), cast.name).model_copy(update={"stop": "cancelled"}))
    if not control.lasting:  # else each caller gets the reason with its answer
        ended.warn(map(name_of, plan), control.cutting or "by a bound of the run")
    if missing and not control.lasting:
        log.warning("%d of %d conversations were not begun: %s", len(missing), len(plan), stopped or control.ending)
    return [ended.results[name_of(state)] for state in plan]


@dataclass
class _Ended(Generic[T]):
    """What `result_of` gives for each conversation that is over, by its id, and how these ended."""

    result_of: Callable[[Conversation], T]
    results: dict[str, T] = field(default_factory=dict[str, T])
    failures: dict[str, Failure] = field(default_factory=dict[str, Failure])
    cut: set[str] = field(default_factory=set[str])
    finished: bool = False
    """Whether one of them is finished."""

    def add(self, conversation: Conversation) -> None:
        """Add a conversation, in place of an earlier one of its id."""
        name, failure = conversation.id, conversation.ending_failure
        self.results[name] = self.result_of(conversation)
        self.failures.pop(name, None)
        if failure is not None:
            self.failures[name] = failure
        (self.cut.add if conversation.cut_by_run else self.cut.discard)(name)
        self.finished |= conversation.finished

    def warn(self, plan: Iterable[str], cutting: str) -> None:
        """Log how many failed, with the first by the plan, and how many were cut short; `cutting`: what did."""
        first = next((self.failures[name] for name in plan if name in self.failures), None)
        if first is not None:
            where = f"{first.node}: {first.error}"
            log.warning("%d of %d conversations failed, the first in %s", len(self.failures), len(self.results), where)
        if self.cut:
            log.warning("%d of %d conversations were cut short: %s", len(self.cut), len(self.results), cutting)


@waiting(asimulate)
def simulate() -> None:
    """Simulate every scenario and wait; the conversations come in the order of the scenarios.

    It is `asimulate` for code that is not async, and works inside a running loop too, as in a notebook. A warning of a
    logger below `duologue` gives the numbers of conversations that failed, were cut short or were not begun.

    Args:
        talk: Who takes part and by which rules, or the compiled graph (`graphs.conversation`), such as `graphs.simquac.cast(user="openai:NAME")`.
        scenarios: Initial states, made by a cast's own function, such as `graphs.simquac.scenarios(topics)`, or taken
            from stored conversations by `graphs.scenarios_of`. Equal ones are each simulated.
        repeats: Number of conversations about each scenario.
        limits: All limits in place of the cast's, with the run's seed; a `max_turns` of None is the cast's.
        concurrency: Number of conversations at the same time; `auto`: as many as the endpoints bear.
        out: A run folder. Each conversation is written as soon as it is over, and at the end the data set.
        resume: Continue the run in that folder; conversations that are finished there are not simulated again.
        watch: Called with every state of every conversation.
        conduct: Pace of calls, budgets, the file to which replies are recorded or from which they are replayed, and
            whether the progress is shown (`runs.Conduct`). A notebook's cell shows it once a run has taken a second, a
            script with `runs.Conduct(progress=True)`.

    Returns:
        A `Conversation` for each scenario, with its messages, every draft and its stop reason. One that failed has a
        `failure`. One that a bound of `conduct` cut short has the stop reason `budget` and `cut_by_run`, and one that
        was not begun `cancelled`.

    Raises:
        ContractError: The cast or a scenario is invalid.
        RunError: The folder holds another run or other files.
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
