"""A test of an agent: its cast and scenarios, and the result of its conversations."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypedDict, Unpack
from typing import cast as typed

from pydantic import Field

from ..analysis.faults import Whose
from ..analysis.testing.failures import ButFor
from ..analysis.testing.pairs import PairedTest
from ..analysis.testing.report import number_line, scenario_success_table, summary_line
from ..analysis.testing.success import PlannedConversation, Successes, successes, with_verdict
from ..data.behaviours import chosen_users
from ..data.identity import begun_with
from ..data.people import UserPart
from ..data.records import Conversation
from ..errors import SettingError
from ..graphs import Cast, agent_test, casts
from ..graphs.scenarios.sources import Scenarios, ScenarioSource, behaving, numbered, repeated
from ..nodes.contract import closing
from ..nodes.limits import Limits
from ..nodes.people import PeopleSpeaker
from ..nodes.scorers.success import KEY
from ..nodes.state import Planned
from ..runs.engine import planned
from ..runs.store import manifest_of, name_of
from .sources import Notify, logged
from .testing.advice import advice_on


class AgentSuccess(Successes):
    """How often an agent reached its users' goals, with the conversations; a notebook shows it as HTML."""

    folder: Path | None = None
    """The run folder; None without `out`."""
    records: tuple[Conversation, ...] = Field(default=(), exclude=True)
    """The conversations, in the order of the scenarios; they are not part of its JSON."""
    why: tuple[ButFor, ...] = ()
    """Whose fault each failure is by repairs; empty unless `why` was asked."""
    manifest: dict[str, Any] = Field(default_factory=dict, exclude=True)
    """The manifest of its run, by which another result is compared with it; it is not part of its JSON."""

    def to_pandas(self) -> Any:
        """The table of scenarios as a data frame, unrounded; needs the extra `stats`."""
        return scenario_success_table(self).frame()

    def _repr_html_(self) -> str:
        from ..views.run import notebook_result  # HTML is drawn only where it is shown

        return notebook_result(self)

    def __repr__(self) -> str:
        return f"<{'; '.join(filter(None, (summary_line(self), number_line(self.success), str(self.folder or ''))))}>"

    __str__ = __repr__


class SourceChoice(TypedDict, total=False):
    """Options of a source of scenarios, each with its default if it is left out."""

    judge: str | None
    limit: int | None
    repeats: int
    part: UserPart
    behaviour: tuple[str, ...]
    skip_broken: bool


class ScenarioChoice(SourceChoice, total=False):
    """The same with the seed by which they are drawn."""

    seed: int


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
        cast: Cast | str | None = None,
        settings: Mapping[str, Any],
        notify: Notify = logged,
        **choice: Unpack[ScenarioChoice],
    ) -> Self:
        """The test with the parameters of `test`; `part`: of the scenarios of a path. `notify` gets each note."""
        factory = casts.find(agent_test.NAME if cast is None else cast) if not isinstance(cast, Cast) else None
        if factory is None and settings:
            raise SettingError(
                f"test: {next(iter(settings))!r} is a setting, and the cast is made already: set it there"
            )
        sides = {name: side for name, side in (("user", user), ("assistant", agent)) if side is not None}
        source_type = ScenarioSource if factory is None else factory.source
        checked = None if factory is None else factory.checked({**settings, **sides})
        given = given_scenarios(source_type, checked, scenarios, notify, **choice)
        if factory is not None:
            tested = factory(**{**given.settings, **settings, **sides})
        else:
            assert isinstance(cast, Cast)
            places = {"user": "user_simulator", "assistant": "assistant"}
            tested = cast.replace(**{places[name]: side for name, side in sides.items()}) if sides else cast
        open_settings = frozenset() if factory is None else frozenset(factory.settings.model_fields) - settings.keys()
        return cls(tested, given, tested.name if factory is None else factory.name, open_settings)

    def check(self, notify: Notify = logged) -> None:
        """SettingError, before a call is paid for, if nothing would give a conversation a score."""
        states = self.scenarios.states
        lacking = sum(KEY not in state["scenario"] for state in states)
        if (
            lacking
            and self.cast.name == agent_test.NAME
            and isinstance(self.cast.nodes["user_simulator"], PeopleSpeaker)
        ):
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
                Conversation(id=name_of(state), scenario=state["scenario"], extra=dict(state.get("extra") or {})),
                begun_with(state.get("messages", [])),
            )
            for state in planned(self.cast, self.scenarios.states)
        )

    def manifest(self, limits: Limits) -> dict[str, Any]:
        """The manifest of the test's run with these limits."""
        states = planned(self.cast, self.scenarios.states)
        return manifest_of({"": self.cast}, states, limits.or_else(self.cast.limits), self.scenarios.source)

    def result(
        self,
        records: Iterable[Conversation],
        *,
        threshold: float | None = None,
        at_least: float | None = None,
        ending: str = "",
        against: PairedTest | None = None,
        cost: float | None = None,
        named: Mapping[str, tuple[Whose, str]] | None = None,
    ) -> Successes:
        """How often the agent succeeded in these conversations, with the verdict and advice.

        `ending`: why the run ended, for what it cut short. `against`: the comparison with another version. `cost`: in
        US dollars. `named`: faults of failures that were asked for, by their ids.
        """
        counted = successes(records, plan=self.plan, ending=ending, named=named)
        result = with_verdict(
            counted, threshold=threshold, at_least=at_least, against=against, broken=self.scenarios.broken
        )
        advice = tuple(advice_on(result, self.cast, self.settings))
        return result.model_copy(
            update={"advice": advice, "notes": (*self.scenarios.notes, *counted.notes), "cost": cost}
        )


def given_scenarios(
    source_type: type[ScenarioSource],
    settings: Any,
    scenarios: "Scenarios | str | Path | Iterable[Mapping[str, Any]] | None",
    notify: Notify,
    **choice: Unpack[ScenarioChoice],
) -> Scenarios:
    """The scenarios of a path, or of objects as in a scenario file or initial states; None: the cast's own.

    `settings`: of the cast, as an instance of their model. `notify` gets each note. `Scenarios` are taken as they are.
    """
    given = scenarios if isinstance(scenarios, Scenarios) else _read(source_type, settings, scenarios, **choice)
    for note in given.notes:
        notify(note)
    return given


def _read(
    source_type: type[ScenarioSource],
    settings: Any,
    scenarios: "str | Path | Iterable[Mapping[str, Any]] | None",
    *,
    seed: int = 0,
    **choice: Unpack[SourceChoice],
) -> Scenarios:
    if scenarios is None or isinstance(scenarios, str | Path):
        path = None if scenarios is None else Path(scenarios)
        return source_type(scenarios=path, **choice).read(settings, seed)
    judge = choice.get("judge")
    makes_none = (
        source_type.own is ScenarioSource.own
    )  # a cast that makes its scenarios itself takes others as they are
    source = (source_type if makes_none else ScenarioSource)(judge=judge)
    states = [_state(source, scenario) for scenario in scenarios][: choice.get("limit")]
    plan: Sequence[Planned] = repeated(numbered(states), choice.get("repeats", 1))
    if users := chosen_users(choice.get("behaviour", ()), "behaviour"):
        plan = behaving(plan, users)
    return Scenarios(plan, {}, source.settings_for(states))


def _state(source: ScenarioSource, scenario: Mapping[str, Any]) -> Planned:
    """The initial state of a scenario, which may be one already."""
    if isinstance(scenario, Mapping) and isinstance(scenario.get("scenario"), dict):
        return typed(Planned, dict(scenario))
    return source.state(dict(scenario) if isinstance(scenario, Mapping) else scenario)
