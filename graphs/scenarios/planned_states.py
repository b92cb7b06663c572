"""The initial states of a run: equal scenarios numbered, repeats, and the kinds of users that each scenario meets."""

from collections.abc import Iterable, Sequence

from ...data.behaviours import KEY
from ...data.behaviours.choice import UserKind
from ...data.identity import digest, ordinals
from ...errors import SettingError
from ...nodes.state import Planned

MOST_SCENARIOS = 500_000
"""Most conversations of a run: their initial states are held in memory, about a kilobyte each."""


def numbered(states: Sequence[Planned]) -> list[Planned]:
    """The states in order; equal scenarios get different numbers."""
    numbers = ordinals(state["scenario"] for state in states)
    return [{**state, "ordinal": number} for state, number in zip(states, numbers, strict=True)]


def repeated(scenarios: Iterable[Planned], repeats: int) -> list[Planned]:
    """Each scenario `repeats` times, its repeats numbered; SettingError for fewer than one."""
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1:
        raise SettingError(f"repeats: expected a number of at least 1, not {repeats!r}")
    return [{**scenario, "repeat": repeat} for scenario in scenarios for repeat in range(repeats)]


def behaving(states: Sequence[Planned], users: Sequence[UserKind], seed: int) -> list[Planned]:
    """Each state with each kind of user, whose behaviours stand in its `extra`; SettingError for too many.

    A share is drawn by seed, scenario and repeat.
    """
    if len(states) * len(users) > MOST_SCENARIOS:
        raise SettingError(
            f"--behaviour: {len(states) * len(users):,} conversations are planned, the bound is {MOST_SCENARIOS:,}: "
            "choose by --limit"
        )
    return [_with_user(state, users, number, seed) for state in states for number in range(len(users))]


def _with_user(state: Planned, users: Sequence[UserKind], number: int, seed: int) -> Planned:
    ordinal = state.get("ordinal", 0) * len(users) + number
    drawn = users[number].drawn(seed, state["scenario"], ordinal, state.get("repeat", 0))
    return {**state, "ordinal": ordinal, "extra": {**state.get("extra", {}), KEY: drawn}}


def chosen(
    scenarios: Sequence[Planned], *, limit: int | None = None, sample: int | None = None, seed: int = 0
) -> list[Planned]:
    """The first `limit` scenarios, or a random `sample` of them in their order, or all.

    Whether a scenario is drawn depends on a digest of seed and scenario: on its rank, not its position.
    """
    if limit is not None and sample is not None:
        raise SettingError("limit and sample exclude each other: take the first N, or N at random")
    if sample is None:
        return list(scenarios[:limit])
    if sample > len(scenarios):
        raise SettingError(f"a sample of {sample} cannot be drawn from {len(scenarios)} scenarios: ask for fewer")

    def draw(number: int) -> str:
        return digest("sample", seed, scenarios[number]["scenario"], scenarios[number].get("ordinal", 0))

    return [scenarios[number] for number in sorted(sorted(range(len(scenarios)), key=draw)[:sample])]
