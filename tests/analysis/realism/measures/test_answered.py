"""The effect for each assistant: a difference with one of them is found there and not with the others."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from duologue.analysis.realism import RealismReport, RealismRow, compare
from duologue.analysis.realism.measures import MEASURES
from duologue.data import Conversation

QUICK: dict[str, Any] = {
    "measures": [measure for measure in MEASURES if measure.name in ("thanks", "turns", "identical openings")],
    "shufflings": 400,
    "halvings": 4,
    "examples_each": 0,
}
ASKED = ("a train to Rome", "a hotel by the sea", "one good museum", "a walk at night", "some cheese", "a map")


@pytest.fixture
def side(talk: Callable[..., Conversation]) -> Callable[..., list[Conversation]]:
    """Conversations of so many users with each assistant: of those who thank, every user; of the others every fifth."""

    def conversations_of(
        name: str, users: dict[str, int], thanking: Sequence[str] = (), named: bool = True
    ) -> list[Conversation]:
        conversations = []
        for assistant, count in users.items():
            for number in range(count):
                thanks = assistant in thanking or number % 5 == 0
                first = f"I look for {ASKED[number % 6]} number {number}."
                texts = (first, "Yes.", *(["More?", "No."] * (number % 3)), "Thank you." if thanks else "Fine.", "Bye.")
                more = {"assistant": assistant} if named else {}
                conversations.append(talk(*texts, user=f"{name}-{assistant}-{number}", task="trip", **more))
        return conversations

    return conversations_of


def row_of(report: RealismReport, name: str = "thanks") -> RealismRow:
    return next(row for row in report.measures if row.name == name)


def significant(report: RealismReport) -> dict[str, bool]:
    """Whether each assistant's row of thanks is significant."""
    return {part.assistant: (part.p_adjusted or 1.0) <= 0.05 for part in row_of(report).answered}


@pytest.mark.heavy
def test_a_difference_with_one_assistant_is_found_there_and_not_with_the_others(side) -> None:
    sim = side("sim", {"ada": 20, "bea": 60, "cyd": 12}, thanking=["bea"])
    human = side("human", {"ada": 50, "bea": 15, "cyd": 25})
    report = compare(sim, human, **QUICK)
    assert report.by_assistant
    assert significant(report) == {"ada": False, "bea": True, "cyd": False}
    effects = {part.assistant: part for part in row_of(report).answered}
    assert effects["bea"].effect == pytest.approx(0.8)
    assert (effects["bea"].effect_low or 0) > 0.4
    assert effects["ada"].effect == pytest.approx(0, abs=0.1)
    assert (effects["ada"].effect_low or 0) < 0 < (effects["ada"].effect_high or 0)


@pytest.mark.heavy
def test_where_only_people_name_assistants_all_simulated_users_stand_against_each_ones_people(side) -> None:
    sim = side("sim", {"any": 40}, named=False)
    human = side("human", {"ada": 50, "bea": 15, "cyd": 25}, thanking=["bea"])
    report = compare(sim, human, **QUICK)
    assert not report.by_assistant
    assert significant(report) == {"ada": False, "bea": True, "cyd": False}
    parts = {part.assistant: part for part in row_of(report).answered}
    assert [part.sim for part in parts.values()] == [pytest.approx(parts["ada"].sim)] * 3
    assert (parts["bea"].human or 0) > (parts["ada"].human or 1)


@pytest.mark.heavy
def test_an_assistant_of_few_people_and_a_single_one_have_no_row(side) -> None:
    few = compare(side("sim", {"any": 20}, named=False), side("human", {"ada": 20, "bea": 7}), **QUICK)
    assert [part.assistant for part in row_of(few).answered] == ["ada"]
    alone = compare(side("sim", {"any": 20}, named=False), side("human", {"ada": 20}), **QUICK)
    assert row_of(alone).answered == ()


def test_measures_among_others_and_the_frame_know_no_assistants(side) -> None:
    report = compare(side("sim", {"ada": 20, "bea": 20}), side("human", {"ada": 20, "bea": 20}), **QUICK)
    assert row_of(report, "turns").answered
    pairwise = [measure.name for measure in QUICK["measures"] if measure.pairwise]
    assert [row_of(report, name).answered for name in pairwise] == [()] * len(pairwise)
    assert "answered" not in report.frame().columns


@pytest.mark.heavy
def test_no_assistant_differs_where_none_does(side) -> None:
    sizes = {"ada": 40, "bea": 12, "cyd": 25}
    report = compare(side("sim", sizes), side("human", {"ada": 15, "bea": 40, "cyd": 25}), **QUICK)
    assert not any(significant(report).values())
