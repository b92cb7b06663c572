"""Goals and facts of people's conversations: near-equal ones once, with the numbers by which an answer is judged."""

import json

import pytest

from duologue.data.scenarios import ScenarioReader
from duologue.data.test_design.log_cases import LogCase, LogCases, LogSpace

TEA = "How long does green tea steep at 80 degrees?"


def log(*texts, **more):
    turns = [(("user", "assistant")[number % 2], text) for number, text in enumerate(texts)]
    return {"messages": [{"role": role, "content": text} for role, text in turns], **more}


@pytest.fixture
def read(tmp_path):
    def cases(*lines):
        path = tmp_path / "logs.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return LogCases.of(ScenarioReader(path))

    return cases


def test_the_first_message_is_the_goal_and_later_statements_are_facts(read):
    (case,) = read(log(TEA, "Is it loose?", "It is loose leaf from Uji.", "Three minutes.", "Thanks, bye!")).cases
    assert (case.goal, case.facts, case.amount) == (TEA, ("It is loose leaf from Uji.",), "one or two")
    assert case.values == ["80"]


def test_a_line_s_own_goal_and_facts_come_before_its_messages(read):
    (case,) = read(log("Hello.", "Yes?", goal="brew tea", facts=["The cup is blue."], task="kitchen")).cases
    assert (case.goal, case.facts, case.task) == ("brew tea", ("The cup is blue.",), "kitchen")


def test_near_equal_conversations_count_once_and_those_without_a_user_not(read):
    other = TEA.replace("steep", "have to steep")
    cases = read(log(TEA), log(other), log("Book me a room in Rome for 3 nights."), log("", "Hello?"))
    assert [case.goal for case in cases.cases] == [TEA, "Book me a room in Rome for 3 nights."]
    assert cases.near_equal == 1


def test_a_long_first_message_is_cut_behind_a_sentence(read):
    (case,) = read(log("I need a plan for 3 days. " + "It should be quiet, and near the sea. " * 20)).cases
    assert len(case.goal) <= 180
    assert case.goal.endswith("sea.")


def test_a_chinese_numeral_with_a_measure_may_be_answered_by_its_figure():
    assert LogCase("a", "我打算做一个七天的旅行，预算5万", ()).values == ["5", "七天", "7天"]
    assert LogCase("a", "二十天的旅行", ()).values == []


def test_tasks_and_amounts_of_facts_are_factors_and_what_no_log_has_is_excluded():
    cases = [LogCase("a", "x 1", (), "food"), LogCase("b", "y", (), "food"), LogCase("c", "z", ("f",) * 3, "trips")]
    space = LogSpace(cases)
    assert space.factors() == {"task": ("food", "trips"), "facts": ("none", "more")}
    assert space.exclusion().reason({"task": "trips", "facts": "none"}) == "no conversation of the logs has both"
    assert [space.case({"task": "food", "facts": "none"}, 0).id for _ in range(2)] == ["a", "a"]
    assert LogSpace(cases[:2]).factors() == {"facts": ("none",)}
