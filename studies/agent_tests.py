"""How often an agent succeeds with simulated users, as a function for notebooks and scripts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..analysis.outcomes import outcome
from ..analysis.testing.failures import ButFor
from ..analysis.testing.pairs import Margin
from ..analysis.testing.report import resuming
from ..analysis.testing.success import successes, with_verdict
from ..data.records import Conversation
from ..errors import SettingError
from ..graphs import Cast, agent_test, casts
from ..graphs.scenarios.sources import ScenarioSource
from ..nodes.limits import Limits
from ..nodes.settings.import_path import imported
from ..runs.engine import blocking
from ..runs.plan import CallPlan, conversations_planned
from ..runs.settings import RunSettings
from ..runs.simulate import arun
from .agent_trials import AgentSuccess, AgentTest, OldVersion, advice_on, floor_of, given_scenarios, old_version
from .but_for import faults_of
from .judge_check import judge_check, judged_faults, people_say
from .retaken import RetakenTest, taken_up
from .sources import logged


@dataclass(frozen=True, kw_only=True)
class PreparedTest:
    """A test before its first call: `test` prepares one and runs it."""

    trial: AgentTest
    settings: RunSettings
    arguments: Mapping[str, Any]
    """Of `test`, by name, its defaults included."""
    old: OldVersion | None = None
    """The version with which the agent is compared."""
    people: Mapping[str, bool] | None = None
    """What people said of conversations, with which the judge is compared."""

    @property
    def casts(self) -> dict[str, Cast]:
        """The casts that are simulated, by version."""
        return {"": self.trial.cast, **({} if self.old is None else self.old.casts)}

    def calls(self, settings: RunSettings) -> CallPlan:
        """What the test would ask of models."""
        return conversations_planned(self.casts, self.trial.scenarios, settings, self.trial.limits)

    async def run(self, settings: RunSettings, again: str = "", name: str = "the new version") -> AgentSuccess:
        """The result; `again`: how to go on with an incomplete run, in words; `name`: of the agent in a comparison."""
        trial, old, asked = self.trial, self.old, self.arguments
        beside = None if old is None else old.replies
        # First, so that a world that keeps a file leaves that of the agent itself.
        floor = None if isinstance(trial, RetakenTest) else await floor_of(trial)
        run = await arun(self.casts, trial.scenarios, settings, limits=trial.limits, beside=beside)
        for note in run.notes:
            logged(note)
        counted = list(run.attempted())
        records = run.records()
        run.check(records)
        if self.settings.out is None:
            run.warn(records)
        named = {} if asked["judge"] is None else await judged_faults(asked["judge"], counted, settings)
        faults: dict[str, ButFor] = {}
        if asked["why"]:
            failed = [one for one in counted if outcome(one).success is False]
            faults = await faults_of(trial, failed, specified=asked["specified"], run=run.folder)
        success = successes(
            counted,
            plan=trial.plan,
            ending=run.ending,
            named={name: (one.fault, one.because) for name, one in faults.items()}
            | {name: one for name, one in named.items() if name not in faults or faults[name].fault == "undecided"},
        )
        result = with_verdict(
            success,
            threshold=asked["threshold"],
            at_least=asked["at_least"],
            against=None if old is None else old.compared(counted, run, name=name, margin=asked["fail_if_worse"]),
            broken=trial.scenarios.broken,
        )
        lines, replays = trial.retaken(counted) if isinstance(trial, RetakenTest) else ([], None)
        further = {
            "advice": tuple(advice_on(result, trial.cast.nodes["assistant"])),
            "cost": run.calls.spending.counted_cost,
            "resume": resuming(result, again, run.ending) if again else "",
            "floor": floor,
            "judge": None if self.people is None else judge_check(counted, self.people),
            "notes": (*lines, *trial.scenarios.notes, *success.notes),
        }
        return AgentSuccess(
            **{**dict(result), **further},
            why=tuple(faults.values()),
            taken_up=replays,
            folder=run.folder,
            records=tuple(records),
            manifest=trial.manifest,
        )


def prepared(agent: Any, scenarios: Any, *, scored: bool = True, **arguments: Any) -> PreparedTest:
    """A test with the parameters and errors of `test`, checked before a call is paid for.

    `scored`: whether it is an error that nothing would give a conversation a score. `settings` may be a function that
    reads them by the models of the cast's settings and of its scenarios.
    """
    given = signature(test).bind(agent, scenarios, **arguments)
    given.apply_defaults()
    asked, more = given.arguments, given.arguments.pop("more")
    of_run = {name: more.pop(name) for name in [*more] if name in RunSettings.model_fields}
    run_settings = RunSettings.of(out=asked["out"], **of_run)
    own = asked["settings"]
    if isinstance(asked["specified"], str):
        asked["specified"] = imported(asked["specified"], "specified")

    def settings(*models: Any) -> dict[str, Any]:
        return {**more, **(own(*models) if callable(own) else own)}

    people = None if asked["labels"] is None else people_say(asked["labels"])
    if asked["from_"] is not None or asked["replay_user"]:
        retaken = taken_up(agent, scenarios, asked, settings, run_settings.out)
        old = OldVersion("the record", stored=retaken.stored) if retaken.replays else None
        trial: AgentTest = retaken
    else:
        trial, old = _tests(agent, scenarios, asked, settings)
        if scored:
            trial.check()
    for note in (*trial.notes, *(() if old is None else old.notes(trial.cast.nodes["user_simulator"]))):
        logged(note)
    return PreparedTest(trial=trial, settings=run_settings, arguments=asked, old=old, people=people)


def _tests(
    agent: Any, scenarios: Any, asked: Mapping[str, Any], settings: Callable[..., dict[str, Any]]
) -> tuple[AgentTest, OldVersion | None]:
    """The test of an agent, and the version with which it is compared."""
    cast, behaviour = asked["cast"], asked["behaviour"]
    if isinstance(cast, Cast):
        factory = casts.CastFactory(cast.name, lambda: cast)
        given = settings()
    else:
        factory = casts.find(cast or agent_test.NAME)
        given = settings(factory.settings, factory.source)
    of_cast, of_source, of_limits = factory.divided(given)
    choice = of_source | {name: asked[name] for name in ("repeats", "judge", "limit") if asked[name] is not None}
    choice |= {"behaviour": (behaviour,) if isinstance(behaviour, str) else tuple(behaviour)}
    choice |= {"seed": asked["seed"] or 0}
    of_limits |= {name: asked[name] for name in ("seed", "max_turns") if asked[name] is not None}
    if not isinstance(scenarios, str | Path):
        scenarios = list(scenarios)

    def test_of(version: Any) -> AgentTest:
        sides = {name: side for name, side in (("user", asked["user"]), ("assistant", version)) if side is not None}
        if isinstance(cast, Cast):
            read = given_scenarios(ScenarioSource, None, scenarios, **choice)
            tested = cast.replace(**{casts.rebuilding.PLACES[name]: side for name, side in sides.items()})
        else:
            read = given_scenarios(factory.source, factory.checked(of_cast | sides), scenarios, **choice)
            tested = factory(**{**read.settings, **of_cast, **sides})
        limits = asked["limits"] or replace(tested.limits, **{"seed": 0, **of_limits})
        return AgentTest(cast=tested, scenarios=read, limits=limits)

    if asked["against"] is None:
        if asked["fail_if_worse"] is not None:
            raise SettingError("fail_if_worse: is that of a comparison: give against, the other version")
        return test_of(agent), None
    trial = test_of(agent)
    return trial, old_version(asked["against"], trial, test_of)


async def atest(
    agent: Any, scenarios: "str | Path | Iterable[Mapping[str, Any] | Conversation]", **arguments: Any
) -> AgentSuccess:
    """As `test`, whose parameters, result and errors it has, to be awaited.

    Example::

        >>> import asyncio, duologue
        >>> goal = {"goal": "book a table", "success": {"text_contains": "booked"}}
        >>> result = asyncio.run(duologue.atest(lambda messages: "It is booked.", [goal]))  # in a notebook: await
        >>> result.successes
        1
    """
    one = prepared(agent, scenarios, **arguments)
    out = arguments.get("out")
    return await one.run(one.settings, "" if out is None else f"the same call with out={str(out)!r}")


def test(
    agent: Any,
    scenarios: "str | Path | Iterable[Mapping[str, Any] | Conversation]",
    *,
    user: Any = None,
    repeats: int = 1,
    cast: Cast | str | None = None,
    judge: str | None = None,
    behaviour: str | Sequence[str] = (),
    limit: int | None = None,
    max_turns: int | None = None,
    seed: int | None = None,
    limits: Limits | None = None,
    out: str | Path | None = None,
    threshold: float | None = None,
    at_least: float | None = None,
    against: Any = None,
    fail_if_worse: Margin | None = None,
    why: bool = False,
    specified: Any = None,
    labels: str | Path | None = None,
    from_: str | None = None,
    replay_user: bool = False,
    settings: Mapping[str, Any] | Callable[..., Mapping[str, Any]] = MappingProxyType({}),
    **more: Any,
) -> AgentSuccess:
    """Simulate users of an agent, and measure its success rate; `duologue test` as a function.

    Args:
        agent: A function of messages, a compiled LangGraph graph, a chat model, or an identifier such as MODULE:NAME.
        scenarios: Objects as in a scenario file, or a path of one or of stored conversations; equal ones are repeats.
        user: The user simulator; default: the rule-based user `offline`.
        repeats: Number of conversations about each scenario.
        cast: Another cast than that of agent tests, by name or as an object; the agent is its assistant.
        judge: Model that judges success where a scenario asks for a judgement and names none.
        behaviour: What the users do that makes it hard, such as `impatient,incomplete`; several such texts are several kinds
            of users, and `plain` is one without.
        limit: Number of scenarios, the first ones; None: all.
        max_turns: Maximum number of turns of a conversation; default: the cast's.
        seed: Seed of the run; default: 0, or that of the conversations which are taken up.
        limits: Limits in place of `max_turns` and `seed`.
        out: Run folder: the same call with the same folder goes on.
        threshold: The lowest share of successes, 0 to 1, with which the agent passes; by default every scored conversation
            has to succeed.
        at_least: The lowest lower end of the share's 95 % interval with which it passes; None: no such bound.
        against: Another version, compared in pairs of scenario and repeat: an agent, whose conversations are simulated in
            turns with these, the run folder of an earlier test, or its result. What only one of both planned is left out.
        fail_if_worse: `shown`: it does not pass where a loss on these scenarios is shown (exact sign test, p below .05).
            A number above 0 and below 1: unless a loss of at most this share is shown.
        why: Find whose fault each failure is by running it again with one part put right. It needs scenarios with a
            `plan` (`duologue scenarios`) and an agent that is a LangGraph graph; else the fault by structure stays, with the
            reason.
        specified: For `why`, a world whose tools do what they should; without one no fault of the tools is found.
        labels: People's labels of some conversations, a file or a folder of the labelling page: the judge's agreement with
            them (kappa) and the rectified share are told (`judge` of the result).
        from_: `ID:MESSAGE`: take up the conversation of `scenarios` whose id begins so after that message, with whatever
            is given here in place of its own agent, user, cast, settings or limits. What it kept is not paid for again.
        replay_user: Replay each conversation of `scenarios`, a run folder or conversations. The user says what it said as
            long as the agent answers what it answered, and is simulated from the first other answer on. The stored
            conversations are the version against which it is compared; `taken_up` says where each leaves its record.
        settings: Settings of the cast by name, such as `world`, `approve` or `language`; options of its scenarios, such as
            `part`; limits, such as `turn_timeout`: what `--set` gives.
        more: How the run is made, as for `simulate` (`concurrency`, `max_cost`, `replies` and others); and `settings` whose
            names are none of these parameters.

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
    arguments = {name: value for name, value in locals().items() if name not in ("agent", "scenarios", "more")}
    return blocking(atest(agent, scenarios, **arguments, **more), out)


for _function in (test, atest):
    setattr(_function, "__test__", False)  # noqa: B010 - pytest would collect what a test imports by this name
