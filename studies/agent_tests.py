"""How often an agent succeeds with simulated users, as a function for notebooks and scripts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..analysis.outcomes import outcome
from ..analysis.testing.failures import ButFor
from ..analysis.testing.pairs import Margin
from ..analysis.testing.report import resuming
from ..errors import SettingError
from ..graphs import Cast
from ..nodes.limits import Limits
from ..nodes.settings.import_path import imported
from ..runs.loop import blocking
from ..runs.settings import RunSettings
from ..runs.simulate import arun
from .agent_trials import AgentSuccess, AgentTest, ScenarioChoice
from .but_for import faults_of
from .judge_check import judge_check, judged_faults, people_say
from .null_agents import floor_of
from .paired_tests import old_version
from .sources import logged


async def atest(
    agent: Any,
    scenarios: "str | Path | Iterable[Mapping[str, Any]]",
    *,
    user: Any = None,
    repeats: int = 1,
    seed: int = 0,
    out: str | Path | None = None,
    cast: Cast | str | None = None,
    judge: str | None = None,
    behaviour: str | Sequence[str] = (),
    limit: int | None = None,
    max_turns: int | None = None,
    limits: Limits | None = None,
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
    """As `test`, whose parameters, result and errors it has, to be awaited.

    Example::

        >>> import asyncio, duologue
        >>> goal = {"goal": "book a table", "success": {"text_contains": "booked"}}
        >>> result = asyncio.run(duologue.atest(lambda messages: "It is booked.", [goal]))  # in a notebook: await
        >>> result.successes
        1
    """
    of_run = {name: settings.pop(name) for name in [*settings] if name in RunSettings.model_fields}
    run_settings = RunSettings.of(out=out, **of_run)
    scenarios = scenarios if isinstance(scenarios, str | Path) else list(scenarios)
    choice: ScenarioChoice = {"repeats": repeats, "judge": judge, "limit": limit, "seed": seed}
    choice["behaviour"] = (behaviour,) if isinstance(behaviour, str) else tuple(behaviour)

    def test_of(version: Any) -> AgentTest:
        return AgentTest.of(version, scenarios, user=user, cast=cast, settings=settings, **choice)

    if against is None:
        for name, value in (("fail_if_worse", fail_if_worse), ("common", common or None)):
            if value is not None:
                raise SettingError(f"{name}: is that of a comparison: give against, the other version")
    people = None if labels is None else people_say(labels)
    trial = test_of(agent)
    trial.check()
    if limits is None:
        limits = replace(trial.cast.limits, seed=seed, max_turns=max_turns or trial.cast.limits.max_turns)
    old = None
    if against is not None:
        old = old_version(against, trial, limits, test_of, common=common, option="common=True")
        for note in old.notes(trial.cast.nodes["user_simulator"]):
            logged(note)
    casts = {"": trial.cast, **({} if old is None else old.casts)}
    beside = None if old is None else old.replies
    run = await arun(casts, trial.scenarios, run_settings, limits=limits, beside=beside)
    records = run.records()
    run.check(records)
    run.warn(records)
    counted = list(run.attempted())
    judged = None if people is None else judge_check(counted, people)
    named = {} if judge is None else await judged_faults(judge, counted, run_settings)
    faults: dict[str, ButFor] = {}
    if why:
        specified = imported(specified, "specified") if isinstance(specified, str) else specified
        failed = [one for one in counted if outcome(one).success is False]
        faults = await faults_of(trial, limits, failed, specified=specified, run=run.folder)
    result = trial.result(
        counted,
        threshold=threshold,
        at_least=at_least,
        ending=run.ending,
        against=None if old is None else old.compared(counted, run, margin=fail_if_worse),
        cost=run.calls.spending.counted_cost,
        named=named | {name: (one.fault, one.because) for name, one in faults.items()},
    )
    again = resuming(result, f"the same call with out={str(out)!r}") if out is not None else ""
    return AgentSuccess(
        **{**dict(result), "resume": again, "floor": await floor_of(trial, limits), "judge": judged},
        why=tuple(faults.values()),
        folder=run.folder,
        records=tuple(records),
        manifest=trial.manifest(limits),
    )


def test(
    agent: Any,
    scenarios: "str | Path | Iterable[Mapping[str, Any]]",
    *,
    user: Any = None,
    repeats: int = 1,
    seed: int = 0,
    out: str | Path | None = None,
    cast: Cast | str | None = None,
    judge: str | None = None,
    behaviour: str | Sequence[str] = (),
    limit: int | None = None,
    max_turns: int | None = None,
    limits: Limits | None = None,
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
        labels: People's labels of some conversations, a file or a folder of the labelling page: the judge's agreement with
            them (kappa) and the rectified share are told (`judge` of the result).
        specified: For `why`, a world whose tools do what they should; without one no fault of the tools is found.
        settings: How the run is made, as for `simulate` (`concurrency`, `max_cost`, `replies` and others), and settings of
            the cast, such as `world`, `approve` or `language`.

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
