"""The tables of task-oriented conversations that are easier to look at."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from ..figures import bars, lines
from ..labels.reliability import NOT_CALIBRATED, TRUST_IN, together
from .statistics import RecllmsimStatistics
from .talks import SIDES

ENOUGH = 5
"""Conversations, or replies, below which a mean is not drawn: long conversations are few."""


def recllmsim_figures(statistics: RecllmsimStatistics) -> dict[str, Any]:
    """A figure by name: quality by turns, by questionnaire, hallucination, satisfaction by turn.

    Below each stands the reliability of its labels. Needs the extra `stats`.
    """
    satisfied = statistics.satisfaction_by_turn.rows
    turns = [row for row in statistics.quality_by_turns.rows if row.n >= ENOUGH]
    hallucinated = {
        (row.task, row.side): row.share for row in statistics.hallucination.rows if row.per == "conversation"
    }
    tasks = list(dict.fromkeys(task for task, _ in hallucinated))
    sides = [side for side in SIDES if any((task, side) in hallucinated for task in tasks)]
    item_means: defaultdict[str, dict[str, float | None]] = defaultdict(dict)
    for row in statistics.quality_by_questionnaire.rows:
        item_means[row.assistant][row.item] = row.mean
    items = list(dict.fromkeys(item for means in item_means.values() for item in means))
    return {
        "quality_by_turns": lines(
            {
                item.replace("_", " "): [(row.turns, mean) for row in turns if (mean := getattr(row, item)) is not None]
                for item in ("preference_alignment", "role_playing_completeness")
            },
            title=f"Quality by turns (lengths of {ENOUGH} conversations or more)",
            across="turns",
            label="mean rating, 0 to 2",
            whole=True,
            caption=_noted(statistics.quality_by_turns.notes),
        ),
        "quality_by_questionnaire": bars(
            items,
            {assistant: [means.get(item) for item in items] for assistant, means in item_means.items()},
            title="Assistant quality by questionnaire",
            label="mean points",
            caption=_marked((row.item, row.trust) for row in statistics.quality_by_questionnaire.rows),
        ),
        "hallucination": bars(
            tasks,
            {side: [hallucinated.get((task, side)) for task in tasks] for side in sides},
            title="Conversations with a reply that is made up",
            label="share of conversations",
            caption=_marked((row.side, row.trust) for row in statistics.hallucination.rows),
        ),
        "satisfaction_by_turn": lines(
            {
                f"{side}, all assistants": [(row.turn, row.mean) for row in rows if row.mean is not None]
                for side in SIDES
                if (rows := [row for row in satisfied if row.side == side and row.n >= ENOUGH])
            },
            title=f"Satisfaction by turn (places of {ENOUGH} replies or more)",
            across="reply",
            label="mean satisfaction, 1 to 5",
            whole=True,
            caption=_noted(statistics.satisfaction_by_turn.notes),
        ),
    }


def _noted(notes: Iterable[str]) -> str:
    return "\n".join(note for note in notes if note.startswith(TRUST_IN)) or f"Trust: {NOT_CALIBRATED}."


def _marked(marks: Iterable[tuple[str, str]]) -> str:
    """Reliability of labels, or of one label on each side, from the rows of a table."""
    return f"Trust: {together(dict(marks)) or NOT_CALIBRATED}."
