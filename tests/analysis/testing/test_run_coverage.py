"""What conversations touched of what their scenarios cover, and success by level and by difficulty."""

import pytest

from duologue.analysis.testing.design.run_coverage import CoverageCounts, touched_row
from duologue.analysis.testing.markdown_report import markdown
from duologue.analysis.testing.success import successes
from duologue.data import Conversation
from duologue.views.success import result_html

ROW = {"tool": "change", "argument": "valid", "rule": "rule 2", "writing": "terse", "channel": "phone"}
SCENARIO = {
    "goal": "move my booking",
    "covers": {**ROW, "values": ["QX4821", "2026-05-03"]},
    "difficulty": {"calls": 2, "rules": 1, "facts": 3},
}


def talk(user="Hello.", calls=(), scenario=SCENARIO, name="a", success=None, **more):
    attempt = {
        "text": "Yes.", "verdict": "accepted",
        "tool_calls": [{"name": call, "arguments": arguments, "result": "ok"} for call, arguments in calls],
    }  # fmt: skip
    labels = {} if success is None else {"scores": {"success": {"value": success, "reason": ""}}}
    messages = [{"role": "user", "text": user}, {"role": "assistant", "text": "Yes.", "attempts": [attempt]}]
    return Conversation.model_validate(
        {"id": name, "scenario": scenario, "messages": messages, "labels": labels, **more}
    )


CALL = ("change", {"booking": "QX4821", "date": "2026-05-03"})


@pytest.mark.parametrize(
    ("user", "calls", "touched"),
    [
        ("Hello.", (), {"writing"}),
        ("Move qx4821 to 2026-05-03.", (), {"writing", "argument", "rule"}),
        ("Hello.", (CALL,), {"writing", "argument", "rule", "tool"}),
        ("QX4821, please.", (("look_up", {}),), {"writing"}),
        ("By phone.", (CALL,), {"writing", "argument", "rule", "tool", "channel"}),
    ],
)
def test_a_level_comes_up_by_a_call_a_value_or_a_word_of_the_user(user, calls, touched):
    assert touched_row(talk(user, calls)).keys() == touched


def test_a_missing_value_comes_up_with_an_answer_and_nothing_does_in_a_conversation_that_was_cut_short():
    missing = {"goal": "x", "covers": {"tool": "change", "argument": "missing", "of": "booking", "values": []}}
    assert touched_row(talk(scenario=missing)) == {"argument": "missing"}
    assert touched_row(talk(scenario=missing, stop="budget")) == {}
    assert touched_row(Conversation(id="a", scenario=missing)) == {}
    assert touched_row(talk(scenario={"goal": "x"})) == {}


def counts(*conversations):
    counted = CoverageCounts()
    for conversation, scenario, success in conversations:
        counted.add(conversation, scenario, success)
    return counted.coverage()


def test_pairs_come_up_where_both_levels_do_in_one_conversation():
    coverage = counts((talk(calls=(CALL,)), "a", True), (talk(), "b", False))
    assert (coverage.pairs, coverage.touched_pairs) == (10, 6)
    rows = {(row.factor, row.level): row for row in coverage.levels}
    assert [row.factor for row in coverage.levels] == ["tool", "argument", "rule", "writing", "channel"]
    tool = rows["tool", "change"]
    assert (tool.scenarios, tool.conversations, tool.touched, tool.success.value) == (2, 2, 1, 0.5)


def test_success_is_counted_by_calls_rules_and_facts_also_for_scenarios_of_ones_own():
    own = {"goal": "x", "difficulty": {"calls": 10, "facts": 1}}
    coverage = counts((talk(), "a", True), (talk(), "a", False), (talk(scenario=own), "b", True), (talk(), "c", None))
    assert [(row.factor, row.level, row.scenarios, row.success.value) for row in coverage.difficulty] == [
        ("calls", "2", 2, 0.5), ("calls", "10", 1, 1.0), ("rules", "1", 2, 0.5), ("facts", "1", 1, 1.0),
        ("facts", "3", 2, 0.5),
    ]  # fmt: skip


def test_scenarios_that_no_design_made_have_no_coverage():
    assert counts((talk(scenario={"goal": "x"}), "a", True)) is None
    assert successes([talk(scenario={"goal": "x"}, success=True)]).coverage is None


def test_rules_are_in_the_order_of_their_numbers():
    rows = [(talk(scenario={"goal": "x", "covers": {"rule": f"rule {n}", "tool": "t"}}), str(n), True) for n in (10, 2)]
    assert [row.level for row in counts(*rows).levels] == ["t", "rule 2", "rule 10"]


def test_terminal_page_and_markdown_show_the_tables():
    result = successes([talk(calls=(CALL,), success=True), talk(name="b", success=False)])
    for text in (result_html(result), markdown(result, "x")):
        assert "Coverage" in text
        assert "Success by difficulty" in text
        assert "6 of the 10 that the scenarios cover came up in a conversation" in text
