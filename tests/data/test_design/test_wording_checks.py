"""A wording keeps each value, invents none, and gives neither the answer nor a tool's name away."""

import pytest

from duologue.data.test_design.wording_checks import WordingChecks

SCENARIO = {
    "goal": "look up my booking",
    "facts": ["The booking is PK4410.", "The date is 2026-03-20."],
    "success": {"text_contains": {"any": ["2026-03-11", "flex"]}},
}
FACTS = ["It is PK4410.", "I fly on 2026-03-20."]
GOAL = "I would like to see what I have booked with you."
CHECKS = WordingChecks.of(SCENARIO, "en", ["look_up", "change"])


def test_a_wording_with_all_values_is_accepted_and_a_plain_verb_is_not_a_tool_s_name():
    assert CHECKS.fault(GOAL, FACTS) is None
    assert CHECKS.fault("Can you change something for me?", FACTS) is None
    assert CHECKS.fault("Please show me PK4410 for 2026-03-20.", ["That is it.", "Yes, that day."]) is None


@pytest.mark.parametrize(
    ("goal", "facts", "fault"),
    [
        (GOAL, ["It is PK441.", "I fly on 2026-03-20."], ("lost_value", "PK4410")),
        (GOAL, ["It is PK4410, I fly on 2026-03-20."], ("lost_fact", "1 / 2")),
        (GOAL, [*FACTS[:1], "I fly on 2026-03-20, not on 2026-03-11."], ("gives_answer", "2026-03-11")),
        (GOAL + " For 3 people.", FACTS, ("invented_value", "3")),
        ("Please Look_Up my trip.", FACTS, ("tool_name", "look_up")),
        ("我想查一下我的预订。", FACTS, ("other_language", "zh")),
    ],
)
def test_a_wording_with_a_fault_is_rejected_with_the_words_that_show_it(goal, facts, fault):
    assert CHECKS.fault(goal, facts) == fault


def test_a_goal_in_almost_the_words_of_another_one_is_a_near_double():
    other = "I would like to see what I have booked with you, please."
    assert CHECKS.fault(GOAL, FACTS, [other]) == ("near_double", other)
    assert CHECKS.fault(GOAL, FACTS, ["Show me my trip."]) is None
