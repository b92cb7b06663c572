"""How often an agent succeeds with simulated users, as a function for notebooks and scripts."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from typing import cast as typed

from pydantic import Field

from ..analysis.outcomes import Crashes
from ..analysis.testing.result_text import headline
from ..analysis.testing.success import Successes, successes
from ..data.records import Conversation
from ..errors import SettingError
from ..graphs import Cast, agent_test, casts
from ..graphs.scenarios.sources import ScenarioFile, Scenarios, numbered, repeated
from ..nodes.limits import Limits
from ..nodes.state import State
from ..runs.engine.conduct import Conduct
from ..runs.engine.conversing import Concurrency
from ..runs.engine.event_loop import waiting
from ..runs.simulation import asimulate

log = logging.getLogger(__name__)


class AgentSuccess(Successes):
    """How often an agent reached its users' goals, with the conversations; a notebook shows it as HTML."""

    folder: Path | None = None
    """The run folder; None without `out`."""
    records: tuple[Conversation, ...] = Field(default=(), exclude=True)
    """The conversations, in the order of the scenarios; they are not part of its JSON."""

    def to_pandas(self) -> Any:
        """The table of scenarios as a data frame, unrounded.

        Needs the extra `stats`.
        """
        return self.table().frame()

    def _repr_html_(self) -> str:
        from ..views.success import notebook_result  # HTML is drawn only where it is shown

        return notebook_result(self)

    def __repr__(self) -> str:
        return f"<{headline(self)[0]}{f'; {self.folder}' if self.folder else ''}>"

    __str__ = __repr__


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
    factory = casts.find(agent_test.NAME if cast is None else cast) if not isinstance(cast, Cast) else None
    if factory is None and settings:
        raise SettingError(f"test: {next(iter(settings))!r} is a setting, and the cast is made already: set it there")
    source_type = ScenarioFile if factory is None else factory.source
    options: dict[str, Any] = {"judge": judge, "limit": limit, "repeats": repeats}
    checked = None if factory is None else factory.checked(settings)
    if isinstance(scenarios, str | Path):
        planned = source_type(scenarios=Path(scenarios), **options).read(checked, seed)
    else:
        source = ScenarioFile(judge=judge) if not issubclass(source_type, ScenarioFile) else source_type(judge=judge)
        states = [_state(source, scenario) for scenario in scenarios][:limit]
        planned = Scenarios(repeated(numbered(states), repeats), {}, source.settings_for(states))
    for note in planned.notes:
        log.warning("%s", note)
    sides = {name: side for name, side in (("user", user), ("assistant", agent)) if side is not None}
    if factory is not None:
        tested = factory(**{**planned.settings, **settings, **sides})
    else:
        assert isinstance(cast, Cast)
        places = {"user": "user_simulator", "assistant": "assistant"}
        tested = cast.replace(**{places[name]: side for name, side in sides.items()}) if sides else cast
    if limits is None:
        limits = replace(tested.limits, seed=seed, max_turns=max_turns or tested.limits.max_turns)
    records = await asimulate(
        tested, planned, limits=limits, concurrency=concurrency, out=out, resume=resume, conduct=conduct
    )
    result = successes(records, exclude_user_faults=exclude_user_faults, planned=len(planned.states), crashes=crashes)
    return AgentSuccess(**dict(result), folder=None if out is None else Path(out), records=tuple(records))


@waiting(atest)
def test() -> None:
    """Simulate users of an agent, and measure its success rate; `duologue test` as a function.

    `agent`: a function of messages, a compiled LangGraph graph, a chat model, or a spec: MODULE:NAME, openai:NAME and others.
    `scenarios`: objects, each as in a line of a scenario file, or the path of such a file or of stored conversations. An
    equal one that is given twice is a repeat.
    `user`: who plays the user, the rules `offline` by default. `repeats`: how many conversations about each scenario.
    `cast`: another cast than that of agent tests, by name or made; the agent is its assistant. `settings`: those of the cast,
    such as `world`, `approve` or `language`.
    `judge`, `limit`, `exclude_user_faults`: as the options of the command. `crashes`: a crash of the agent is a `failure`, or
    `unscored`. `max_turns`, `seed`, or `limits` in their place.
    `out`, `resume`, `concurrency`, `conduct`: as for `simulate`.

    Gives the result with its `records` and its `folder`; a notebook shows it, and `to_pandas()` has a row for each scenario.
    The errors are those of `simulate`; DataError if nothing scores the conversations.

    Example::

        >>> import duologue
        >>> goal = {"goal": "book a table for two", "success": {"text_contains": "booked for two"}}
        >>> duologue.test(lambda messages: "It is booked for two.", [goal], repeats=4)
        <4 of 4 conversations succeeded: 1.00 (95 % interval 0.51 to 1.00)>
    """


for _function in (test, atest):
    setattr(_function, "__test__", False)  # noqa: B010 - pytest would collect what a test imports by this name


def _state(source: ScenarioFile, scenario: Mapping[str, Any]) -> State:
    """The initial state of a scenario, which may be one already."""
    if isinstance(scenario, Mapping) and isinstance(scenario.get("scenario"), dict):
        return typed(State, dict(scenario))
    return source.state(dict(scenario) if isinstance(scenario, Mapping) else scenario)
