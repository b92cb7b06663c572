"""Tuning a simulator, as a function for notebooks and scripts."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ..data.people.splits import UserPart
    from ..data.tuning import TuningResult
    from ..graphs import Cast
    from ..runs.planning.plans import CallPlan
    from ..runs.tuning.page_search import PageSearch
    from ..runs.tuning.search_space import Space
    from ..runs.tuning.simulators import Simulator


@dataclass(frozen=True)
class TuningStudy:
    """A search to be made: the fields are the parameters of `tune`."""

    cast: str
    people: Path
    search: "Mapping[str, Any] | str | Path | None" = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Of the cast: `user`, `assistant` and others."""
    out: str | Path = "out/tune"
    trials: int = 30
    reflect: "str | Callable[[str], str] | None" = None
    pages: Sequence[str] = ()
    page_trials: int = 20
    objective: Any = None
    scenarios: str | Path | None = None
    limit: int | None = None
    limits: Mapping[str, Any] = field(default_factory=dict)
    judge: bool = True
    noise_runs: int = 4
    seed: int = 0
    resume: bool = False

    @cached_property
    def simulator(self) -> "Simulator":
        """The simulator to tune."""
        from ..runs.tuning.simulators import Simulator

        return Simulator(
            self.cast, self.people, self.settings, scenarios=self.scenarios, limit=self.limit, limits=self.limits
        )

    @cached_property
    def space(self) -> "Space":
        """The names and values to search over."""
        from ..runs.tuning.search_space import default_space, space_of

        if self.search is not None:
            return space_of(self.search)
        return default_space(self.settings.get("user", "offline")) if self.trials else {}

    @cached_property
    def page_search(self) -> "PageSearch | None":
        """The search for prompt templates, if any."""
        from ..runs.tuning.page_search import PageSearch

        return None if self.reflect is None else PageSearch(self.reflect, tuple(self.pages), self.page_trials)

    @cached_property
    def start(self) -> "Cast":
        """The cast with the settings as they are; the errors are those of `runs.tuning.search.ready`."""
        from ..data import load
        from ..runs.tuning.search import ready

        people = load(self.people).conversations
        ready(self.simulator, people, self.space, trials=self.trials, pages=self.page_search, judge=self.judge)
        return self.simulator.build({}, "select", self.seed)[0]

    def plan(self) -> "CallPlan":
        """The plan of the whole search, the test split included; what an earlier call has done is not taken off."""
        from ..runs.planning.conversations import conversations_planned
        from ..runs.planning.plans import joined
        from ..runs.tuning.page_search import rewrites_planned

        start = self.start  # what is wrong with the search is said first

        def trial(part: "UserPart") -> "CallPlan":
            cast, scenarios, limits = self.simulator.build({}, part, self.seed)
            return conversations_planned(cast, scenarios.states, None, limits)

        runs = {"trials": (trial("select"), 1 + self.noise_runs + self.trials * bool(self.space))}
        if self.page_search is not None:
            largest = max((trial("learn"), trial("select")), key=lambda plan: plan.most)
            runs["templates"] = largest, self.page_search.trials
        if self.judge:
            runs["test split"] = trial("test"), 2
        plans = {name: plan.times(factor) for name, (plan, factor) in runs.items()}
        if self.page_search is not None:
            plans["rewriting"] = rewrites_planned(self.page_search, start)
        length = f"in up to {sum(factor for _, factor in runs.values())} runs with the settings as they are"
        return joined(plans, "conversations", length, "parts")

    def atuned(self, **conduct: Any) -> "Coroutine[Any, Any, TuningResult]":
        """As `tuned`, to be awaited."""
        from ..runs.tuning import search as tuning

        return tuning.atune(**self._arguments, **conduct)

    def tuned(self, **conduct: Any) -> "TuningResult":
        """The result; `conduct`, `concurrency` and `watch`: as for `runs.tuning.search.tune`."""
        from ..runs.tuning import search as tuning

        return tuning.tune(**self._arguments, **conduct)

    @property
    def _arguments(self) -> dict[str, Any]:
        from ..analysis.realism.objective import Against
        from ..data import load

        return {
            "simulator": self.simulator,
            "objective": self.objective or Against(list(load(self.people))),
            "space": self.space,
            "out": self.out,
            "trials": self.trials,
            "pages": self.page_search,
            "judge": self.judge,
            "noise_runs": self.noise_runs,
            "seed": self.seed,
            "resume": self.resume,
        }


def tune(
    cast: str,
    people: str | Path,
    search: "Mapping[str, Any] | str | Path | None" = None,
    *,
    user: Any = "offline",
    assistant: Any = "offline",
    out: str | Path,
    trials: int = 30,
    reflect: "str | Callable[[str], str] | None" = None,
    pages: Sequence[str] = (),
    page_trials: int = 20,
    objective: Any = None,
    scenarios: str | Path | None = None,
    limit: int | None = None,
    limits: "Mapping[str, Any] | None" = None,
    judge: bool = True,
    noise_runs: int = 4,
    seed: int = 0,
    resume: bool = False,
    conduct: Any = None,
    watch: Any = None,
    **settings: Any,
) -> "TuningResult":
    """Search for a simulator's settings nearest to people, and compare them once on other people.

    Needs the extra `tune`.

    Args:
        cast: A registered name, or the import path of a function that returns a cast.
        people: A path of people's conversations that `load` reads.
        search: The names and values to search over, as a mapping or a file (`runs.tuning.search_space.space_of`). None:
            the default search of `offline` and `people:SRC`, or with `trials=0` no values.
        user: The user of the cast.
        assistant: The assistant of the cast.
        out: A folder for the trials, their runs and the result.
        trials: Number of settings to try, after the given ones.
        reflect: A model or a function that rewrites prompt templates; None: templates are not searched for.
        pages: Names of the templates to search for.
        page_trials: Maximum number of runs of the search for templates.
        objective: Distance of conversations from people; default: `analysis.realism.objective.Against(people)`.
        scenarios: Another source of scenarios, or `own`: those that the cast makes; default: those of the people.
        limit: Maximum number of conversations of a trial; None: all.
        limits: Limits that differ from the cast's, by the names of `Limits`.
        judge: Whether to compare start and best on the test split; `out` counts each access.
        noise_runs: Number of runs of the given settings with other seeds, for the noise of one simulator.
        seed: Seed of all runs and of the search.
        resume: Continue what `out` holds; there may be more trials.
        conduct: Pace and bounds of the calls, as for `simulate`; the bounds hold over all trials of this call.
        watch: Called with each trial.
        settings: Other settings of the cast.

    Returns:
        The result, whose `settings` are the best ones.

    Raises:
        RunError: The folder holds another search.
        SettingError: A name cannot be searched.
        DataError: A split of the people is too small.
        MissingExtraError: The extra `tune` is not installed.

    Example::

        >>> tuned = duologue.tune("recllmsim", "human_exp_V2", out="out/tune", trials=20)  # doctest: +SKIP
        >>> tuned.settings["user"]  # doctest: +SKIP
    """
    sides = {name: value for name, value in (("user", user), ("assistant", assistant)) if value != "offline"}
    study = TuningStudy(
        cast,
        Path(people),
        search,
        sides | settings,
        out,
        trials,
        reflect,
        pages,
        page_trials,
        objective,
        scenarios,
        limit,
        limits or {},
        judge,
        noise_runs,
        seed,
        resume,
    )
    return study.tuned(conduct=conduct, watch=watch)
