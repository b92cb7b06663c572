"""Where a test's cast, scenarios, limits and seeds come from: its options, or the failed conversations of a run."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from ...analysis.outcomes import outcome
from ...analysis.testing.success import Successes
from ...data.formats.record_lines import attempted
from ...data.people import STORED
from ...data.records import Conversation, as_object
from ...errors import DataError, SettingError, at
from ...graphs import Cast, casts
from ...graphs.scenarios.sources import Scenarios, ScenarioSource
from ...nodes.state import Planned
from ...runs.store import RunError, stored_manifest

OPTION = "--rerun-failed"
UNCHOSEN: Mapping[str, object] = {"part": "all", "repeats": 1, "behaviour": ()}
"""Values of options that choose nothing; those of others are None."""


@dataclass(frozen=True)
class TestOrigin:
    """What a test begins with; the command's own options override it."""

    cast: str | None
    """Name or import path of the cast; None: that of agent tests."""
    scenarios: Path | Scenarios | None
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Settings of the cast."""
    parts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Parts of the cast to replace, as plain data."""
    limits: Mapping[str, Any] = field(default_factory=dict[str, Any])
    run: Path | None = None
    """The run whose failed conversations are simulated again."""
    ids: tuple[str, ...] = ()
    """Ids of these conversations, in the order of the run."""

    @classmethod
    def of(
        cls,
        failed_of: Path | None,
        *,
        cast: str | None,
        scenarios: Path | None,
        choice: Mapping[str, object],
        has_agent: bool,
        out: Path | None,
    ) -> Self:
        """The cast and scenarios that the command names, or the failed conversations of a run folder.

        `choice`: its options that choose among scenarios. `has_agent`: whether it names an agent. DataError without a
        run or a failure, SettingError for such an option beside a run, and if the run's cast cannot be built again.
        """
        if failed_of is None:
            return cls(cast, scenarios)
        choices = {
            "scenarios": scenarios,
            **{key: None if UNCHOSEN.get(key) == one else one for key, one in choice.items()},
        }
        if option := next((name for name, value in choices.items() if value is not None), None):
            raise SettingError(f"{OPTION}: takes the scenarios of its run: leave --{option} out")
        if out is not None and out.resolve() == failed_of.resolve():
            raise SettingError(
                f"--out: {out} is the run whose failed conversations are simulated again: name another folder"
            )
        return cls._of_failed(failed_of, cast, has_agent=has_agent)

    @classmethod
    def _of_failed(cls, run: Path, cast: str | None, *, has_agent: bool) -> Self:
        try:
            manifest = stored_manifest(run)
        except RunError as error:
            raise DataError(f"{OPTION}: {error}") from None
        places = {name: place for place, name in enumerate(manifest["planned"])}
        failed = [one for one in attempted(run) if outcome(one).success is False]
        failed.sort(key=lambda one: places.get(one.id, len(places)))
        if not failed:
            raise DataError(f"{at(run)}: no conversation of this run failed: there is nothing to simulate again")
        plain = as_object(manifest.get("cast"))
        if "cast" not in plain and cast is None and not has_agent:
            live = "; ".join(map(str, plain.get("live") or ["its manifest does not hold it"]))
            raise SettingError(f"{at(run)}: its cast cannot be built again ({live}): name it by --assistant or --cast")
        name = cast or str(plain.get("cast") or manifest["settings"]["cast"])
        source = casts.find(name).source()
        states = [_state(source, one) for one in failed]
        about = {"source": f"failed conversations of {run.absolute().name}"}
        origin = cls(
            name,
            Scenarios(states, about, source.settings_for(states)),
            limits=as_object(manifest["settings"].get("limits")),
            run=run,
            ids=tuple(one.id for one in failed),
        )
        if cast is not None:
            return origin
        replaced = {key: part for key, part in as_object(plain.get("replace")).items() if key != "limits"}
        return replace(origin, settings=as_object(plain.get("settings")), parts=replaced)

    def limits_with(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The values of these options for limits: those given, else those of the run; the seed is 0 without one."""
        recorded = {key: self.limits[key] for key in options if key in self.limits}
        return {"seed": 0, **recorded, **{key: value for key, value in options.items() if value is not None}}

    def with_parts(self, cast: Cast) -> Cast:
        """The cast with the parts that the run had replaced."""
        return cast.replace(**self.parts) if self.parts else cast

    def notes(self, planned: Iterable[str]) -> Iterator[str]:
        """A line if the planned conversations have other ids than in the run, and so other seeds."""
        others = len(set(planned) - set(self.ids))
        if self.run is not None and others:
            yield f"{others} of {len(self.ids)} conversations have other seeds than in {self.run}: the cast is another"

    def lines(self, result: Successes) -> Iterator[str]:
        """How many of the failed conversations succeed now."""
        if self.run is not None:
            what = "conversation" if len(self.ids) == 1 else "conversations"
            only = "the share is of these only, and is not the agent's"
            yield f"{result.successes} of {len(self.ids)} failed {what} of {self.run} succeed now: {only}"

    @property
    def as_json(self) -> dict[str, Any]:
        """The run and the number of its failed conversations, for the result as JSON; empty without a run."""
        return {} if self.run is None else {"rerun": {"run": str(self.run), "failed": len(self.ids)}}


def _state(source: ScenarioSource, conversation: Conversation) -> Planned:
    """The initial state of a stored conversation."""
    state = source.state(dict(conversation.scenario))
    state["ordinal"], state["repeat"] = conversation.ordinal, conversation.repeat
    if STORED in conversation.extra:
        state["extra"] = {STORED: conversation.extra[STORED]}
    return state
