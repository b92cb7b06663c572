"""Failures in the terminal, each with the places in one's own files that its error passed."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...data.formats.record_lines import cut_short

if TYPE_CHECKING:
    from ...runs.simulate import Run
    from ...runs.store import RunInfo

REASONS = 5
"""Most reasons of failures that are told."""


def places(frames: Iterable[str]) -> list[str]:
    """A line for each place that an error passed, the innermost last."""
    return [f"        at {frame}" for frame in frames]


def failures(run: "Run", info: "RunInfo") -> list[str]:
    """Lines on which conversations failed, and why, the most frequent reason first.

    Reasons that differ only in digits are one. What ended the run is printed at the end.
    """
    groups: dict[str, list[str]] = {}
    for name, why in info.failed.items():
        if why != "cancelled" and not (run.ending and run.ending in why):
            groups.setdefault(re.sub(r"\w*\d\w*", "_", why), []).append(name)
    shown = sorted(groups.values(), key=len, reverse=True)[:REASONS]
    if not shown or run.folder is None:
        return []
    frames = {one.id: one.failure.frames for one in cut_short(run.folder) if one.failure is not None}
    lines = []
    for names in shown:
        who = names[0] if len(names) == 1 else f"{len(names)} conversations, such as {names[0]}"
        lines += [f"failed: {who}: {info.failed[names[0]]}", *places(frames.get(names[0], ()))]
    more = sum(map(len, groups.values())) - sum(map(len, shown))
    return lines + [f"failed: {more} more, for other reasons"] * bool(more)
