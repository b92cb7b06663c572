"""A test of an agent: its cast and scenarios, its result, the floor beside it, and the version it is compared with."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from typing import cast as typed

from pydantic import Field

from ..analysis.outcomes import outcome
from ..analysis.testing.failures import ButFor
from ..analysis.testing.pairs import Margin, PairedTest, compare_pairs
from ..analysis.testing.replays import ReplayResult
from ..analysis.testing.report import number_line, scenario_success_table, summary_line
from ..analysis.testing.success import NO_SCORE, Floor, PlannedConversation, Successes
from ..data.behaviours import chosen_users
from ..data.formats.record_lines import attempted
from ..data.identity import begun_with, digest
from ..data.records import Conversation
from ..errors import DuologueError, ModelError, SettingError
from ..graphs import Cast, agent_test
from ..graphs.scenarios.sources import Scenarios, ScenarioSource, behaving, numbered, repeated
from ..nodes.calls.store import AGAINST
from ..nodes.contract import closing
from ..nodes.limits import Limits
from ..nodes.people import PeopleSpeaker
from ..nodes.state import Planned
from ..nodes.success import KEY, named
from ..nodes.validators import validator
from ..runs.engine import planned
from ..runs.plan import asks_model
from ..runs.settings import REPLIES, RunSettings
from ..runs.simulate import Run, arun
from ..runs.store import ComparableRuns, comparable, manifest_of, name_of, stored_manifest
from .sources import logged


class AgentSuccess(Successes):
    """How often an agent reached its users' goals, with the conversations; a notebook shows it as HTML."""

    folder: Path | None = None
    """The run folder; None without `out`."""
    records: tuple[Conversation, ...] = Field(default=(), exclude=True)
    """The conversations, in the order of the scenarios; they are not part of its JSON."""
    why: tuple[ButFor, ...] = ()
    """Whose fault each failure is by repairs; empty unless `why` was asked."""
    taken_up: ReplayResult | None = None
    """How far stored conversations that were replayed stay as they were; None without `replay_user`."""
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


@dataclass(frozen=True, kw_only=True)
class AgentTest:
    """A test to be made: a cast, its scenarios and limits, and the count of its successes."""

    cast: Cast
    scenarios: Scenarios
    limits: Limits
    notes: tuple[str, ...] = ()
    """What the user should know before it begins, a line each."""

    def check(self) -> None:
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
            logged(
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

    @property
    def manifest(self) -> dict[str, Any]:
        """The manifest of the test's run."""
        states = planned(self.cast, self.scenarios.states)
        return manifest_of({"": self.cast}, states, self.limits.or_else(self.cast.limits), self.scenarios.source)


def advice_on(result: Successes, assistant: Any) -> Iterator[str]:
    """A line for each thing to do about a result."""
    counts = Counter(result.counts)
    if result.unscored > counts["error"]:
        yield f"no score: {NO_SCORE}"
    if counts["interrupted"] and getattr(assistant, "approve", None) is None:
        how = "--approve all|none|ask-user|MODULE:NAME (in Python approve=...)"
        yield f"{how} answers an agent that stops for an approval; it has to be a LangGraph graph with a checkpointer"
    if counts["timed out"]:
        yield "--set turn_timeout=SECONDS (in Python turn_timeout=...) sets how long a turn of the agent may take"


def given_scenarios(
    source_type: type[ScenarioSource],
    settings: Any,
    scenarios: "str | Path | Iterable[Mapping[str, Any]] | None",
    *,
    seed: int = 0,
    **choice: Any,
) -> Scenarios:
    """The scenarios of a path, or of objects as in a scenario file or initial states; None: the cast's own.

    `settings`: of the cast, as an instance of their model; `choice`: options of `source_type`, by default those of its
    fields; `seed`: by which they are drawn. Their notes are logged.
    """
    if scenarios is None or isinstance(scenarios, str | Path):
        path = None if scenarios is None else Path(scenarios)
        given = source_type(scenarios=path, **choice).read(settings, seed)
        for note in given.notes:
            logged(note)
        return given
    # A cast that makes its scenarios itself takes others as they are.
    source = (source_type if source_type.own is ScenarioSource.own else ScenarioSource)(judge=choice.get("judge"))
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


CANNOT = {"en": "I cannot help with that.", "zh": "这个我帮不了您。"}


async def floor_of(trial: AgentTest) -> Floor | None:
    """How many of its scenarios two null agents reach, a conversation a scenario; None where that cannot be measured.

    In tau2-bench's airline domain doing nothing succeeds in 19 of 50 tasks. One agent only says that it cannot help, one
    says nothing; the user is the rule-based one, so no model is asked.

    Only scenarios count whose `success` needs no judge, and only in the cast that tests agents: another one's nodes may
    ask a model. What their world or scorers raise leaves no floor, since it is reported of the agent itself.
    """
    states: dict[str, Planned] = {}
    for state in trial.scenarios.states:
        success = state["scenario"].get(KEY)
        if success and not any(name == "judged" for _, name, _ in named(success)):
            states.setdefault(digest(state["scenario"]), {**state, "repeat": 0})
    if trial.cast.name != agent_test.NAME or not states:
        return None
    settings = getattr(trial.cast.spec, "settings", {})
    says = CANNOT["zh" if settings.get("language") == "zh" else "en"]
    found: dict[str, int] = {}
    for name, text in (("refusing", says), ("silent", "...")):  # an empty reply would end the conversation as an error
        try:
            found[name] = await _successes(trial, [*states.values()], text)
        except DuologueError:
            return None
    return Floor(scenarios=len(states), **found)


async def _successes(trial: AgentTest, states: list[Planned], text: str) -> int:
    def null_agent(messages: list[dict[str, Any]]) -> str:
        return text

    cast = trial.cast.replace(
        user_simulator="offline",
        assistant=null_agent,
        answer_validator=validator(lambda draft, state: None),
        context=None,
        approve=None,
    )
    run = await arun(
        {"": cast}, Scenarios(states, {}), RunSettings(progress=False), limits=replace(trial.limits, max_turns=3)
    )
    return sum(outcome(one).success is True for one in run.attempted())


@dataclass(frozen=True)
class OldVersion:
    """The version with which an agent is compared."""

    name: str
    folder: Path | None = None
    """Its run folder, which is only read; None where its conversations are in memory or are simulated now."""
    trial: AgentTest | None = None
    """Its test, which is made together with that of the new version; None if it was made before."""
    stored: tuple[Conversation, ...] = ()
    """Its conversations, where they are in memory."""
    common: ComparableRuns | None = None
    """What it has in common with the new version."""

    @property
    def casts(self) -> dict[str, Cast]:
        """Its cast by the name of the version, where it is simulated now."""
        return {} if self.trial is None else {AGAINST: self.trial.cast}

    def records(self, run: Run | None = None) -> Iterable[Conversation]:
        """Its conversations, also those without an end; `run`: in which it was simulated."""
        if self.trial is not None:
            return () if run is None else run.attempted(AGAINST)
        return self.stored if self.stored or self.folder is None else attempted(self.folder)

    @property
    def replies(self) -> Path | None:
        """The run folder that keeps its user's replies; None if none does, or both versions are simulated now."""
        return self.folder if self.folder is not None and (self.folder / REPLIES).is_file() else None

    def notes(self, user: object) -> Iterator[str]:
        """A note if the model of the user is asked anew, as no reply to the same is kept."""
        if self.trial is None and self.common is not None and self.replies is None and asks_model(user):
            yield f"{self.name}: keeps no replies of its user's model, which is asked anew and may reply something else"

    def compared(
        self,
        records: Iterable[Conversation],
        run: Run | None = None,
        *,
        name: str = "the new version",
        margin: Margin | None = None,
    ) -> PairedTest:
        """The new version's conversations, under this name, in pairs with these; `run`: as for `records`."""
        return compare_pairs(
            self.records(run),
            records,
            names=(self.name, name),
            planned=self.common.planned if self.common is not None else None,
            margin=margin,
            not_compared=self.common.notes if self.common is not None else (),
        )


def old_version(against: Any, trial: AgentTest, test_of: Callable[[Any], AgentTest]) -> OldVersion:
    """The version with which an agent is compared; SettingError if the runs cannot be compared in pairs.

    `against`: the folder of an earlier test, its result, or another agent: an object, import path or model. `test_of`
    gives the test of another agent with the same scenarios.
    """
    new = trial.manifest
    if isinstance(against, AgentSuccess):
        name = str(against.folder or "the earlier result")
        return OldVersion(name, against.folder, stored=against.records, common=comparable(against.manifest, new, name))
    if isinstance(against, Path) or (isinstance(against, str) and Path(against).is_dir()):
        folder = Path(against)
        runs = comparable(stored_manifest(folder), new, str(folder))
        return OldVersion(str(folder), folder, common=runs)
    name = against if isinstance(against, str) else "the old version"
    try:
        old = test_of(against)
        manifest = old.manifest
    except (ModelError, SettingError) as error:
        if not isinstance(against, str):
            raise
        raise type(error)(f"{against}: is not a run folder, and cannot be tested: {error}") from None
    runs = comparable(manifest, new, name)
    return OldVersion(name, trial=old, common=runs)
