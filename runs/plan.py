"""The plan of a run: its scenarios with the ids of their conversations."""

from collections.abc import Iterable

from ..errors import SettingError
from ..graphs import Cast
from ..graphs.recording import state_id
from ..nodes.contract import ContractError
from ..nodes.state import State


def planned(cast: Cast, scenarios: Iterable[State]) -> list[State]:
    """The scenarios with their ids, in order.

    Equal scenarios without an ordinal of their own get one, so that each has its own id and is simulated.
    """
    seen: set[str] = set()
    plan: list[State] = []
    for number, scenario in enumerate(scenarios):
        if not isinstance(scenario, dict) or not isinstance(scenario.get("scenario"), dict):
            raise ContractError(
                f"scenarios[{number}]: expected an initial state, got {type(scenario).__name__}: "
                "make a list of them with a cast's scenarios(...), such as graphs.simquac.scenarios(topics)"
            )
        ordinal, repeat = scenario.get("ordinal", 0), scenario.get("repeat", 0)
        while (name := state_id({**scenario, "ordinal": ordinal, "repeat": repeat}, cast.name)) in seen:
            if scenario.get("id"):
                raise SettingError(f"two scenarios have the id {name}: leave ids out, or make them differ")
            ordinal += 1
        seen.add(name)
        plan.append({**scenario, "id": name, "ordinal": ordinal, "repeat": repeat})
    return plan


def name_of(state: State) -> str:
    """The id of a planned conversation."""
    return str(state.get("id", ""))
