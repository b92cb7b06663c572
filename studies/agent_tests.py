"""How often an agent succeeds with simulated users, as a function for notebooks and scripts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self
from typing import cast as typed

from pydantic import Field

from ..analysis.outcomes import Crashes
from ..analysis.testing.plan import PlannedConversation
from ..analysis.testing.result import Successes
from ..analysis.testing.result_text import resuming, share_line, summary_line
from ..analysis.testing.success import successes
from ..analysis.testing.verdict import with_verdict
from ..data.formats.record_lines import attempted
from ..data.identity import begun_with
from ..data.people.splits import UserPart
from ..data.records import Conversation
from ..errors import SettingError
from ..graphs import Cast, agent_test, casts
from ..graphs.scenarios.sources import ScenarioFile, Scenarios, numbered, repeated
from ..nodes.limits import Limits
from ..nodes.people import PeopleSpeaker
from ..nodes.scorers.post_questions import closing
from ..nodes.scorers.scenario_success import KEY
from ..nodes.state import State
from ..runs.engine import conversing
from ..runs.engine.conduct import Conduct
from ..runs.engine.conversing import Concurrency
from ..runs.engine.event_loop import waiting
from ..runs.folder.manifests import compares_function, is_compared
from ..runs.simulation import asimulate
from .advice import advice_on
from .sources import Notify, logged


class AgentSuccess(Successes):
    """How often an agent reached its users' goals, with the conversations; a notebook shows it as HTML."""

    folder: Path | None = None
    """The run folder; None without `out`."""
    records: tuple[Conversation, ...] = Field(default=(), exclude=True)
    """The conversations, in the order of the scenarios; they are not part of its JSON."""

    def to_pandas(self) -> Any:
        """The table of scenarios as a data frame, unrounded; needs the extra `stats`."""
        return self.table().frame()

    def _repr_html_(self) -> str:
        from ..views.success import notebook_result  # HTML is drawn only where it is shown

        return notebook_result(self)

    def __repr__(self) -> str:
        return f"<{'; '.join(filter(None, (summary_line(self), share_line(self), str(self.folder or ''))))}>"

    __str__ = __repr__


@dataclass(frozen=True)
class AgentTest:
    """A test to be made: a cast, its scenarios, and the count of its successes."""

    cast: Cast
    scenarios: Scenarios
    name: str
    """Of the cast."""
    settings: frozenset[str] = frozenset()
    """Names of the settings that the cast takes, and that are not set."""

    @classmethod
    def of(
        cls,
        agent: Any,
        scenarios: "str | Path | Iterable[Mapping[str, Any]]",
        *,
        user: Any = None,
        repeats: int = 1,
        cast: Cast | str | None = None,
        judge: str | None = None,
        limit: int | None = None,
        part: UserPart = "all",
        seed: int = 0,
        settings: Mapping[str, Any],
        notify: Notify = logged,
    ) -> Self:
        """The test with the parameters of `test`; `part`: of the scenarios of a path. `notify` gets each note."""
        factory = casts.find(agent_test.NAME if cast is None else cast) if not isinstance(cast, Cast) else None
        if factory is None and settings:
            raise SettingError(
                f"test: {next(iter(settings))!r} is a setting, and the cast is made already: set it there"
            )
        sides = {name: side for name, side in (("user", user), ("assistant", agent)) if side is not None}
        source_type = ScenarioFile if factory is None else factory.source
        checked = None if factory is None else factory.checked({**settings, **sides})
        if isinstance(scenarios, str | Path):
            options: dict[str, Any] = {"judge": judge, "limit": limit, "repeats": repeats, "part": part}
            planned = source_type(scenarios=Path(scenarios), **options).read(checked, seed)
        else:
            source = (
                ScenarioFile(judge=judge) if not issubclass(source_type, ScenarioFile) else source_type(judge=judge)
            )
            states = [_state(source, scenario) for scenario in scenarios][:limit]
            planned = Scenarios(repeated(numbered(states), repeats), {}, source.settings_for(states))
        for note in planned.notes:
            notify(note)
        if factory is not None:
            tested = factory(**{**planned.settings, **settings, **sides})
        else:
            assert isinstance(cast, Cast)
            places = {"user": "user_simulator", "assistant": "assistant"}
            tested = cast.replace(**{places[name]: side for name, side in sides.items()}) if sides else cast
        open_settings = frozenset() if factory is None else frozenset(factory.settings.model_fields) - settings.keys()
        return cls(tested, planned, tested.name if factory is None else factory.name, open_settings)

    def check(self, notify: Notify = logged) -> None:
        """SettingError, before a call is paid for, if nothing would give a conversation a score."""
        states = self.scenarios.states
        lacking = sum(KEY not in state["scenario"] for state in states)
        if lacking and self.cast.name == agent_test.NAME and isinstance(self.cast.user_simulator, PeopleSpeaker):
            why = "a retrieval-based user leaves where its source conversation ends, which is not evidence about the agent"
            if lacking == len(states):
                raise SettingError(f"no conversation would have a score: {why}: give each scenario a 'success'")
            notify(
                f"{lacking} of {len(states)} scenarios have no 'success', so their conversations will have no score: {why}"
            )
        if self.cast.closing is closing and not any(KEY in state["scenario"] for state in states):
            raise SettingError(
                "no conversation has a score named 'success' with this cast and these scenarios: give each scenario a "
                "'success', or the cast a scorer (closing=nodes.scoring(success=...))"
            )

    @cached_property
    def plan(self) -> tuple[PlannedConversation, ...]:
        """Each planned conversation, in order."""
        return tuple(
            PlannedConversation.of(
                Conversation(id=conversing.name_of(state), scenario=state["scenario"]),
                begun_with(state.get("messages", [])),
            )
            for state in conversing.planned(self.cast, self.scenarios.states)
        )

    def is_refused_once_mended(self, result: Successes) -> bool:
        """Whether a function whose source the run's manifest compares raised an error, or did not answer."""
        nodes = {place: node.flat() for place, node in self.cast.describe().items()}
        wordless = result.without_message or (result.silent and compares_function(nodes["assistant"]))
        return bool(wordless) or any(is_compared(row.frames, nodes) for row in result.errors)

    def result(
        self,
        records: Iterable[Conversation],
        *,
        exclude_user_faults: bool = False,
        crashes: Crashes = "failure",
        threshold: float | None = None,
        at_least: float | None = None,
        blocked: str = "",
        ending: str = "",
    ) -> Successes:
        """How often the agent succeeded in these conversations, with the verdict and advice.

        `blocked`: where one's own code blocked the process and what ended it, in words. `ending`: why the run ended, for
        what it cut short.
        """
        options: dict[str, Any] = {"exclude_user_faults": exclude_user_faults, "crashes": crashes, "ending": ending}
        counted = successes(records, plan=self.plan, **options)
        broken = self.scenarios.broken
        result = with_verdict(counted, threshold=threshold, at_least=at_least, broken=broken, blocked=blocked)
        advice = tuple(advice_on(result, self.cast, self.settings))
        return result.model_copy(update={"advice": advice, "source_notes": tuple(self.scenarios.notes)})


async def atest(
    agent: Any,
    scenarios: "str | Path | Iterable[Mapping[str, Any]]",
    *,
    user: Any = None,
    repeats: int = 1,
    cast: Cast | str | None = None,
    judge: str | None = None,
    limit: int | None = None,
    max_turns: int | None = None,
    seed: int = 0,
    limits: Limits | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    concurrency: Concurrency = "auto",
    conduct: Conduct | None = None,
    exclude_user_faults: bool = False,
    crashes: Crashes = "failure",
    threshold: float | None = None,
    at_least: float | None = None,
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
    trial = AgentTest.of(
        agent,
        scenarios,
        user=user,
        repeats=repeats,
        cast=cast,
        judge=judge,
        limit=limit,
        seed=seed,
        settings=settings,
    )
    trial.check()
    tested = trial.cast
    if limits is None:
        limits = replace(tested.limits, seed=seed, max_turns=max_turns or tested.limits.max_turns)
    conduct = conduct or Conduct()
    control = conduct.controlled()
    conduct = replace(conduct, control=control)
    records = await asimulate(
        tested, trial.scenarios, limits=limits, concurrency=concurrency, out=out, resume=resume, conduct=conduct
    )
    # The folder also holds what an earlier call of the run could not end and this one did not begin again.
    counted = records if out is None else attempted(out)
    result = trial.result(
        counted,
        exclude_user_faults=exclude_user_faults,
        crashes=crashes,
        threshold=threshold,
        at_least=at_least,
        ending=control.ending or "",
    )
    mend = "mend it, then make the same call with another out" if trial.is_refused_once_mended(result) else ""
    again = f"the same call with out={str(out)!r} and resume=True"
    again = resuming(result, again, mend=mend) if out is not None else ""
    fields = {**dict(result), "resume": again}
    return AgentSuccess(**fields, folder=None if out is None else Path(out), records=tuple(records))


@waiting(atest)
def test() -> None:
    """Simulate users of an agent, and measure its success rate; `duologue test` as a function.

    Args:
        agent: A function of messages, a compiled LangGraph graph, a chat model, or an identifier such as MODULE:NAME.
        scenarios: Objects as in a scenario file, or a path of one or of stored conversations. Equal ones are repeats.
        user: The user simulator; default: the rule-based user `offline`.
        repeats: Number of conversations about each scenario.
        cast: Another cast than that of agent tests, by name or as an object; the agent is its assistant.
        judge: Model that judges success where a scenario asks for a judgement and names none.
        limit: Number of scenarios, the first ones; None: all.
        max_turns: Maximum number of turns of a conversation; default: the cast's.
        seed: Seed of the run.
        limits: Limits in place of `max_turns` and `seed`.
        out: Run folder, as for `simulate`.
        resume: Continue the run in that folder.
        concurrency: Number of conversations at the same time, or `auto`.
        conduct: Pace and bounds of the calls, as for `simulate`.
        exclude_user_faults: Leave out of the share the conversations in which the user simulator is at fault.
        crashes: How a crash of the agent counts: `failure` or `unscored`.
        threshold: The lowest share of successes, 0 to 1, with which the agent passes; None: no such bound.
        at_least: The lowest lower end of the share's 95 % interval with which it passes; None: no such bound.
        settings: Settings of the cast, such as `world`, `approve` or `language`.

    Returns:
        The result with its verdict (`passed`, `not_passed_because`), `records` and `folder`; a notebook shows it.

    Raises:
        SettingError: Nothing scores the conversations. Other errors are those of `simulate`.

    Example::

        >>> import duologue
        >>> goal = {"goal": "book a table for two", "success": {"text_contains": "booked for two"}}
        >>> result = duologue.test(lambda messages: "It is booked for two.", [goal], repeats=4, threshold=0.9)
        >>> result.passed, result.successes, result.planned
        (True, 4, 4)
    """


for _function in (test, atest):
    setattr(_function, "__test__", False)  # noqa: B010 - pytest would collect what a test imports by this name


def _state(source: ScenarioFile, scenario: Mapping[str, Any]) -> State:
    """The initial state of a scenario, which may be one already."""
    if isinstance(scenario, Mapping) and isinstance(scenario.get("scenario"), dict):
        return typed(State, dict(scenario))
    return source.state(dict(scenario) if isinstance(scenario, Mapping) else scenario)
