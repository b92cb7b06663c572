"""Scorers: a failing one is recorded in place of its score, and the others are asked."""

import math
from typing import Any

import pytest

import duologue
from duologue import nodes
from duologue.data import Conversation
from duologue.graphs import simquac

TOPIC = {"title": "The pier", "header": "Keepers", "section": "Three keepers lived there. The last left in 1968."}


def scored(**scorers: Any) -> Conversation:
    cast = simquac.cast().replace(closing=nodes.scoring(**scorers))
    return duologue.simulate(cast, [simquac.scenario(TOPIC)], limits=nodes.Limits(max_turns=1))[0]


def test_a_scorer_that_raises_is_recorded_and_the_others_are_asked() -> None:
    def failing(state: nodes.State) -> bool:
        raise KeyError("no seat\nfor sk-abcdefghijklmnopqrstuvwx")

    conversation = scored(success=failing, turns=lambda state: len(state["messages"]))
    assert conversation.failure is None
    assert conversation.stop == "max_turns"
    scores: Any = conversation.labels["scores"]
    assert scores["turns"] == {"value": 2, "reason": ""}
    assert (scores["success"]["value"], scores["success"]["reason"]) == (None, "")
    assert scores["success"]["error"].startswith("KeyError: ")
    assert "\n" not in scores["success"]["error"]
    assert "abcdefghijklm" not in scores["success"]["error"]


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        (math.nan, "the scorer 'cost': expected true, false, a finite number or a text, got nan"),
        (nodes.Score(math.inf), "got inf"),
        ([], "got list"),
        (nodes.Score(True, 3), "the scorer 'cost': expected a text as the reason, got int"),
    ],
)
def test_an_answer_that_is_no_score_is_recorded_with_the_name_of_its_scorer(answer: Any, named: str) -> None:
    scores: Any = scored(cost=lambda state: answer, rest=lambda state: True).labels["scores"]
    assert scores["cost"]["value"] is None
    assert named in scores["cost"]["error"]
    assert scores["rest"]["value"] is True


def test_a_scorer_may_give_no_score() -> None:
    assert scored(success=lambda state: None).labels["scores"] == {}
