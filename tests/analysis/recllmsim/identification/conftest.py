"""Conversations of users of two kinds, whose words tell the kind, or who they are."""

from typing import Any

import pytest


def _talk(
    user: str, number: int, calm: bool, text: str, side: Any = "people", task: Any = "other", **labels: Any
) -> Any:
    from duologue.analysis.recllmsim.identification import ASPECTS, VOCABULARY, ProfileTalk

    name = "Calm" if calm else "Humorous"
    own = {aspect: (name,) if aspect == "personality" else (VOCABULARY[aspect][0],) for aspect in ASPECTS}
    return ProfileTalk(
        id=f"{user}-{number}", path=f"{user}/{number}", side=side, user=user, assistant="", language="en",
        messages=(("user", text), ("assistant", "Certainly, here goes.")), labels={**own, **labels}, task=task,
    )  # fmt: skip


def _crowd(word: str, side: Any = "people", name: str = "u", users: int = 24, talks: int = 4) -> list[Any]:
    crowd_talks = []
    for user in range(users):
        calm = user % 2 == 0
        sign = "lake river" if calm else "clown circus"
        own = sign if word == "sign" else " ".join([f"marker{chr(97 + user)}"] * 3)
        crowd_talks += [_talk(f"{name}{user}", number, calm, f"Well now {own}", side) for number in range(talks)]
    return crowd_talks


@pytest.fixture
def talk() -> Any:
    """One conversation: of which user, its number, whether they are calm, what they say."""
    pytest.importorskip("sklearn")
    return _talk


@pytest.fixture
def crowd() -> Any:
    """24 users of two kinds, with four talks each.

    `sign`: a word tells the kind; `marker`: each user has their own word.
    """
    pytest.importorskip("sklearn")
    return _crowd


@pytest.fixture
def values() -> Any:
    """The rows of an aspect side by side, by split and model."""

    def rows_of_aspect(report: Any, aspect: str = "personality") -> dict[tuple[str, str], Any]:
        return {(row.split, row.model): row for row in report.table.rows if row.aspect == aspect}

    return rows_of_aspect
