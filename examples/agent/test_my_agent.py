"""Tests of the agent by a simulated user: `pytest` in this folder. Installing Duologue brings the fixture along."""

import pytest
from my_agent import graph

from duologue.testing import SimulatedUser, assert_solved


def test_a_flight_is_moved_to_the_date_of_the_user(simulated_user: SimulatedUser) -> None:
    moved = {"tool_called": {"name": "change", "arguments": {"booking": "QX4821", "date": "2026-05-03"}}}
    conversations = simulated_user(
        graph, goal="move my flight to 2026-05-03", facts="The booking code is QX4821.", success=moved, repeats=4
    )
    assert_solved(conversations)


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="the agent moves each booking that is named")
def test_a_question_about_the_price_moves_nothing(simulated_user: SimulatedUser) -> None:
    goal = "tell me what it costs to move booking TR9310 to 2026-07-20, and move nothing yet"
    assert_solved(simulated_user(graph, goal=goal, success={"tool_not_called": "change"}))
