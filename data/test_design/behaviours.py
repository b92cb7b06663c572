"""Behaviours of users that a scenario may name, in three groups.

A user has at most one of each group.
"""

from collections.abc import Mapping, Sequence

GROUPS: Mapping[str, tuple[str, ...]] = {
    "writing": ("terse", "wordy", "vague", "mixes_languages"),
    "course": ("impatient", "incomplete", "wanders", "changes_mind"),
    "demand": ("asks_unavailable", "false_claim", "pushes", "injects"),
}
"""How it writes, how it goes on, what it demands. Behaviours of different groups compose."""
PLAIN = "plain"
"""The level of a group of which a user has no behaviour."""
NAMES = tuple(name for names in GROUPS.values() for name in names)


def factors(chosen: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The groups with at least one of the chosen behaviours as factors of a design, each with the level `plain`."""
    taken = {group: tuple(name for name in names if name in chosen) for group, names in GROUPS.items()}
    return {group: (PLAIN, *names) for group, names in taken.items() if names}
