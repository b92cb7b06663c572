"""How often an agent succeeds with simulated users, as a function for notebooks and scripts."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..analysis.outcomes import outcome
from ..analysis.testing.failures import ButFor
from ..analysis.testing.pairs import Margin
from ..analysis.testing.report import resuming
from ..errors import SettingError
from ..graphs import Cast, agent_test, casts
from ..graphs.scenarios.sources import ScenarioSource
from ..nodes.limits import Limits
from ..nodes.settings.import_path import imported
from ..runs.loop import blocking
from ..runs.plan import CallPlan, conversations_planned
from ..runs.settings import RunSettings
from ..runs.simulate import arun
from .agent_trials import AgentSuccess, AgentTest
from .but_for import faults_of
from .judge_check import judge_check, judged_faults, people_say
from .null_agents import floor_of
from .paired_tests import OldVersion, old_version
from .sources import logged


@dataclass(frozen=True, kw_only=True)
class PreparedTest:
    """A test before its first call: `test` prepares one and runs it."""

    trial: AgentTest
    limits: Limits
    settings: RunSettings
    bounds: Mapping[str, float | None]
    """`threshold` and `at_least`."""
    old: OldVersion | None = None
    """The version with which the agent is compared."""
    margin: Margin | None = None
    """What fails the agent against it."""
    judge: str | None = None
    people: Mapping[str, bool] | None = None
    """What people said of conversations, with which the judge is compared."""
    why: bool = False
    specified: Any = None
    """Find whose fault each failure is, by a world whose tools do what they should."""

    @property
    def casts(self) -> dict[str, Cast]:
        """The casts that are simulated, by version."""
        return {"": self.trial.cast, **({} if self.old is None else self.old.casts)}

    def calls(self, settings: RunSettings) -> CallPlan:
        """What the test would ask of models."""
        return conversations_planned(self.casts, self.trial.scenarios, settings, self.limits)

    async def run(self, settings: RunSettings, again: str = "", name: str = "the new version") -> AgentSuccess:
        """The result; `again`: how to go on with an incomplete run, in words; `name`: of the agent in a comparison."""
        old = self.old
        beside = None if old is None else old.replies
        run = await arun(self.casts, self.trial.scenarios, settings, limits=self.limits, beside=beside)
        for note in run.notes:
            logged(note)
        counted = list(run.attempted())
        records = run.records()
        run.check(records)
        if self.settings.out is None:
            run.warn(records)
        named = {} if self.judge is None else await judged_faults(self.judge, counted, settings)
        faults: dict[str, ButFor] = {}
        if self.why:
            failed = [one for one in counted if outcome(one).success is False]
            faults = await faults_of(self.trial, self.limits, failed, specified=self.specified, run=run.folder)
        result = self.trial.result(
            counted,
            **self.bounds,
            ending=run.ending,
            against=None if old is None else old.compared(counted, run, name=name, margin=self.margin),
            cost=run.calls.spending.counted_cost,
            named=named | {name: (one.fault, one.because) for name, one in faults.items()},
        )
        further = {
            "resume": resuming(result, again, run.ending) if again else "",
            "floor": await floor_of(self.trial, self.limits),
            "judge": None if self.people is None else judge_check(counted, self.people),
        }
        return AgentSuccess(
            **{**dict(result), **further},
            why=tuple(faults.values()),
            folder=run.folder,
            records=tuple(records),
            manifest=self.trial.manifest(self.limits),
        )


def prepared(
    agent: Any,
    scenarios: "str | Path | Iterable[Mapping[str, Any]]",
    *,
    user: Any = None,
    repeats: int = 1,
    cast: Cast | str | None = None,
    judge: str | None = None,
    behaviour: str | Sequence[str] = (),
    limit: int | None = None,
    max_turns: int | None = None,
    seed: int = 0,
    limits: Limits | None = None,
    out: str | Path | None = None,
    threshold: float | None = None,
    at_least: float | None = None,
    against: Any = None,
    common: bool = False,
    fail_if_worse: Margin | None = None,
    why: bool = False,
    specified: Any = None,
    labels: str | Path | None = None,
    scored: bool = True,
    **settings: Any,
) -> PreparedTest:
    """A test with the parameters and errors of `test`, checked before a call is paid for.

    `scored`: whether it is an error that nothing would give a conversation a score.
    """

    def taken(names: Collection[str]) -> dict[str, Any]:
        return {name: settings.pop(name) for name in [*settings] if name in names}

    run_settings = RunSettings.of(out=out, **taken(RunSettings.model_fields))
    source_type = ScenarioSource if isinstance(cast, Cast) else casts.find(cast or agent_test.NAME).source
    own_limits = taken(("question_attempts", "answer_attempts", "turn_timeout"))
    choice: dict[str, Any] = {"repeats": repeats, "judge": judge, "limit": limit, "seed": seed}
    choice |= taken(source_type.model_fields)
    choice["behaviour"] = (behaviour,) if isinstance(behaviour, str) else tuple(behaviour)
    if not isinstance(scenarios, str | Path):
        scenarios = list(scenarios)

    def test_of(version: Any) -> AgentTest:
        return AgentTest.of(version, scenarios, user=user, cast=cast, settings=settings, **choice)

    if against is None:
        for name, value in (("fail_if_worse", fail_if_worse), ("common", common or None)):
            if value is not None:
                raise SettingError(f"{name}: is that of a comparison: give against, the other version")
    people = None if labels is None else people_say(labels)
    trial = test_of(agent)
    if scored:
        trial.check()
    if limits is None:
        limits = replace(trial.cast.limits, seed=seed, max_turns=max_turns or trial.cast.limits.max_turns, **own_limits)
    old = None
    if against is not None:
        old = old_version(against, trial, limits, test_of, common=common)
        for note in old.notes(trial.cast.nodes["user_simulator"]):
            logged(note)
    bounds = {"threshold": threshold, "at_least": at_least}
    return PreparedTest(
        trial=trial,
        limits=limits,
        settings=run_settings,
        bounds=bounds,
        old=old,
        margin=fail_if_worse,
        judge=judge,
        people=people,
        why=why,
        specified=imported(specified, "specified") if isinstance(specified, str) else specified,
    )


async def atest(agent: Any, scenarios: "str | Path | Iterable[Mapping[str, Any]]", **settings: Any) -> AgentSuccess:
    """As `test`, whose parameters, result and errors it has, to be awaited.

    Example::

        >>> import asyncio, duologue
        >>> goal = {"goal": "book a table", "success": {"text_contains": "booked"}}
        >>> result = asyncio.run(duologue.atest(lambda messages: "It is booked.", [goal]))  # in a notebook: await
        >>> result.successes
        1
    """
    one = prepared(agent, scenarios, **settings)
    out = settings.get("out")
    return await one.run(one.settings, "" if out is None else f"the same call with out={str(out)!r}")


def test(
    agent: Any,
    scenarios: "str | Path | Iterable[Mapping[str, Any]]",
    *,
    user: Any = None,
    repeats: int = 1,
    cast: Cast | str | None = None,
    judge: str | None = None,
    behaviour: str | Sequence[str] = (),
    limit: int | None = None,
    max_turns: int | None = None,
    seed: int = 0,
    limits: Limits | None = None,
    out: str | Path | None = None,
    threshold: float | None = None,
    at_least: float | None = None,
    against: Any = None,
    common: bool = False,
    fail_if_worse: Margin | None = None,
    why: bool = False,
    specified: Any = None,
    labels: str | Path | None = None,
    **settings: Any,
) -> AgentSuccess:
    """Simulate users of an agent, and measure its success rate; `duologue test` as a function.

    Args:
        agent: A function of messages, a compiled LangGraph graph, a chat model, or an identifier such as MODULE:NAME.
        scenarios: Objects as in a scenario file, or a path of one or of stored conversations. Equal ones are repeats.
        user: The user simulator; default: the rule-based user `offline`.
        repeats: Number of conversations about each scenario.
        cast: Another cast than that of agent tests, by name or as an object; the agent is its assistant.
        judge: Model that judges success where a scenario asks for a judgement and names none.
        behaviour: What the users do that makes it hard, such as `impatient,incomplete`; several such texts are several kinds
            of users, and `plain` is one without.
        limit: Number of scenarios, the first ones; None: all.
        max_turns: Maximum number of turns of a conversation; default: the cast's.
        seed: Seed of the run.
        limits: Limits in place of `max_turns` and `seed`.
        out: Run folder: the same call with the same folder goes on.
        threshold: The lowest share of successes, 0 to 1, with which the agent passes; by default every scored conversation
            has to succeed.
        at_least: The lowest lower end of the share's 95 % interval with which it passes; None: no such bound.
        against: Another version, compared in pairs of scenario and repeat: an agent, whose conversations are simulated in
            turns with these, the run folder of an earlier test, or its result.
        common: Compare what both runs have in common, where scenarios or repeats differ.
        fail_if_worse: `shown`: it does not pass where a loss on these scenarios is shown (exact sign test, p below .05).
            A number above 0 and below 1: unless a loss of at most this share is shown.
        why: Find whose fault each failure is by running it again with one part put right. It needs scenarios with a
            `plan` (`duologue scenarios`) and an agent that is a LangGraph graph; others are undecided, with the reason.
        specified: For `why`, a world whose tools do what they should; without one no fault of the tools is found.
        labels: People's labels of some conversations, a file or a folder of the labelling page: the judge's agreement with
            them (kappa) and the rectified share are told (`judge` of the result).
        settings: How the run is made, as for `simulate` (`concurrency`, `max_cost`, `replies` and others), and settings of
            the cast, such as `world`, `approve` or `language`; options of its scenarios, such as
            `part`; limits, such as `turn_timeout`.

    Returns:
        The result with its verdict (`passed`, `not_passed_because`), `records`, `folder` and the comparison `against`; a
        notebook shows it.

    Raises:
        SettingError: Nothing scores the conversations, or the versions cannot be compared. Other errors are those of `simulate`.

    Example::

        >>> import duologue
        >>> goal = {"goal": "book a table for two", "success": {"text_contains": "booked for two"}}
        >>> result = duologue.test(lambda messages: "It is booked for two.", [goal], repeats=4, threshold=0.9)
        >>> result.passed, result.successes, result.planned
        (True, 4, 4)
    """
    arguments = {name: value for name, value in locals().items() if name not in ("agent", "scenarios", "settings")}
    return blocking(atest(agent, scenarios, **arguments, **settings), out)


for _function in (test, atest):
    setattr(_function, "__test__", False)  # noqa: B010 - pytest would collect what a test imports by this name
