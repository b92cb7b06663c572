"""The behaviours of users as factors of a design, in groups.

A user has at most one behaviour of each group, so that a few scenarios cover all of them.
"""

from collections.abc import Mapping, Sequence

from ..behaviours.kinds import PLAIN

GROUPS: Mapping[str, tuple[str, ...]] = {
    "writing": ("terse", "wordy", "vague", "mixes_languages"),
    "course": ("impatient", "incomplete", "wanders", "changes_mind"),
    "demand": ("asks_unavailable", "false_claim", "pushes", "injects"),
    "reading": ("doubts", "confused"),
}
"""How a user writes, how it goes on, what it demands, and how it takes answers."""
NAMES = tuple(name for names in GROUPS.values() for name in names)


def factors(chosen: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The groups with at least one of the chosen behaviours as factors of a design, each with the level `plain`."""
    taken = {group: tuple(name for name in names if name in chosen) for group, names in GROUPS.items()}
    return {group: (PLAIN, *names) for group, names in taken.items() if names}
