"""Judged turns for tests."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from duologue.analysis.recllmsim.judges import (
    JudgedTurn,
)
from duologue.analysis.recllmsim.judges.scores import PairedScores, satisfaction_scores

POINTS = st.integers(1, 5)


def turn(user: str = "u", conversation: int = 0, satisfaction: int = 4, **more: Any) -> JudgedTurn:
    fields: dict[str, Any] = {
        "path": str(conversation), "id": f"c{conversation}", "turn": 1, "assistant": "", "language": "en", "reply": "Go there.", "following": "",
    }  # fmt: skip
    return JudgedTurn(user=user, conversation=conversation, satisfaction=satisfaction, **{**fields, **more})


def of_points(*truth: int, users: int = 1) -> list[JudgedTurn]:
    """A turn for each satisfaction, a conversation each, by these users in turn."""
    return [turn(f"u{place % users}", place, points) for place, points in enumerate(truth)]


def scores(turns: Sequence[JudgedTurn], points: Sequence[float]) -> Any:
    return satisfaction_scores(PairedScores(turns, points, [0] * len(turns)))
