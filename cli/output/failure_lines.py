"""Failures in the terminal, each with the places in one's own files that its error passed."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...data.formats.record_lines import cut_short

if TYPE_CHECKING:
    from ...runs.folder.summary import Summary

REASONS = 5
"""Most reasons of failures that are told."""


def places(frames: Iterable[str]) -> list[str]:
    """A line for each place that an error passed, the innermost last."""
    return [f"        at {frame}" for frame in frames]


def failures(summary: "Summary") -> list[str]:
    """Lines on which conversations failed, and why, the most frequent reason first.

    What ended the run is printed at the end.
    """
    from ...runs.folder.failure_reasons import grouped

    if not summary.failed:
        return []
    failed = {name: why for name, why in summary.failed.items() if not was_stopped(why, summary.stopped)}
    reasons = grouped(failed)
    firsts = {reason.ids[0] for reason in reasons[:REASONS]}
    frames = {one.id: one.failure.frames for one in cut_short(summary.path) if one.failure and one.id in firsts}
    lines = []
    for reason in reasons[:REASONS]:
        count, first = len(reason.ids), reason.ids[0]
        who = (
            first
            if count == 1
            else f"{count} conversations"
            if reason.same
            else f"{count} conversations, such as {first}"
        )
        lines += [f"failed: {who}: {reason.text}", *places(frames.get(first, ()))]
    if left := sum(len(reason.ids) for reason in reasons[REASONS:]):
        lines.append(f"failed: {left} more, for other reasons")
    return lines + [f"what failed is kept in {summary.path / 'failures.jsonl'}"] * (len(failed) > 1)


def was_stopped(reason: str, why: str | None) -> bool:
    """Whether a conversation failed only because the whole run was ended."""
    return why is not None and (why in reason or reason == "cancelled")
