"""Scenarios as a harness gives them, checked before the first call as those of a file are."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ..data.scenarios import PLAIN_KEYS
from ..errors import SettingError, placed
from ..graphs import agent_test, casts
from ..graphs.scenarios.sources import ScenarioSource
from ..nodes.scorers.success import KEY as SUCCESS
from ..nodes.scorers.success import named, success_of
from ..nodes.state import Planned


def scenarios_of(scenarios: str | Path | Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The scenarios of a file as of `duologue test --scenarios`, or those that are given as objects.

    DataError or SettingError with the place of one that cannot be used.
    """
    states: Sequence[Planned]
    if isinstance(scenarios, str | Path):
        states = casts.scenarios_of(scenarios, agent_test.NAME).states
    else:
        states = agent_test.scenarios(scenarios)
    return [dict(state["scenario"]) for state in states]


def state_of(scenario: Any, source: ScenarioSource | None = None, where: str = "") -> Planned:
    """The initial state of a scenario whose success is not scored here; an error begins with `where`.

    A judge is not made, since its model may be the harness's.
    """
    with placed(where):
        if not isinstance(scenario, Mapping):
            raise SettingError(f"expected a scenario as an object with a 'goal', not {scenario!r}")
        own = dict(scenario)
        success = {SUCCESS: own.pop(SUCCESS)} if SUCCESS in own else {}
        state = (source or agent_test.Goals()).state(own)
        # A scenario of another kind may have an outcome there.
        own_words = success and ("kind" not in own or isinstance(success[SUCCESS], dict))
        if own_words and not any(name == "judged" for _, name, _ in named(success[SUCCESS])):
            success_of(success[SUCCESS])
        return {**state, "scenario": {**state["scenario"], **success}}


def check_names(settings: Iterable[str], arguments: Iterable[str], of_cast: Iterable[str]) -> None:
    """Raise SettingError for a scenario's key among a user's settings, and for a misspelt argument."""
    names = [*arguments, *PLAIN_KEYS, *of_cast]
    for name in settings:
        if name in PLAIN_KEYS:
            raise SettingError(f"user: {name!r} is a key of a scenario: give scenario={{'goal': ..., {name!r}: ...}}")
        if name not in names and (meant := get_close_matches(name, names, n=1, cutoff=0.75)):
            raise SettingError(f"user: there is no setting {name!r}: did you mean {meant[0]!r}?")


def check_metadata(metadata: Mapping[str, Any], keys: Sequence[str]) -> None:
    """Raise SettingError for a misspelt key of metadata, which may have keys for other purposes too."""
    for key in metadata:
        near = get_close_matches(key, keys, n=1, cutoff=0.85)
        if near and near[0] not in metadata:
            raise SettingError(f"metadata has {key!r}: did you mean {near[0]!r}?")
