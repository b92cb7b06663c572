"""Two versions of an agent in pairs: which pairs count, what is counted, and how it is told."""

from typing import Any

import pytest

from duologue.analysis.testing.pairs import (
    REJECTED,
    changed_lines,
    compare_pairs,
    measure_table,
    not_as_good,
    on_these_scenarios,
    paired_lines,
    paired_properties,
    scenario_table,
)
from duologue.data import Attempt, Conversation, Message, ToolCall
from duologue.data.records import Failure, Usage


def talk(scenario, repeat, success, *texts, stop="user_ended", drafts=(), tokens=0, **more):
    """A conversation whose messages alternate, the user's first."""
    scores: Any = {"success": {"value": success, "reason": "it says so"}} if success is not None else {}
    scores |= {name: {"value": value} for name, value in (more.pop("scored", None) or {}).items()}
    messages = tuple(
        Message(role="assistant" if number % 2 else "user", text=text) for number, text in enumerate(texts)
    )
    if drafts:
        attempts = tuple(
            Attempt(
                number=number, text="x", verdict=verdict, usage=Usage(input_tokens=tokens, output_tokens=0, calls=1)
            )
            for number, verdict in enumerate(drafts, 1)
        )
        messages = (*messages[:-1], messages[-1].model_copy(update={"attempts": attempts}))
    return Conversation(
        id=f"{scenario}-{repeat}",
        scenario={"title": f"scenario {scenario}"},
        repeat=repeat,
        stop=stop,
        labels={"scores": scores},
        messages=messages,
        **more,
    )


def versions(old, new):
    """Conversations of both versions from strings of 1 and 0, a string for each scenario."""
    return [
        [
            talk(number, repeat, mark == "1", "Hello.", f"Said by {mark}.")
            for number, marks in enumerate(side)
            for repeat, mark in enumerate(marks)
        ]
        for side in (old, new)
    ]


def test_pairs_are_conversations_of_one_id_and_the_difference_is_a_mean_over_scenarios():
    old, new = versions(["00", "0", "1100"], ["11", "0", "1000"])
    result = compare_pairs(old, reversed(new))
    assert (result.difference.n, result.difference.groups) == (7, 3)
    assert result.difference.value == pytest.approx((1 + 0 - 0.25) / 3)
    assert (result.suite.both, result.suite.only_old, result.suite.only_new, result.suite.neither) == (1, 1, 2, 3)
    assert [pair.id for pair in result.tested if pair.kind == "won"] == ["0-0", "0-1"]
    assert [pair.id for pair in result.tested if pair.kind == "lost"] == ["2-1"]


def test_a_fault_of_user_or_infrastructure_leaves_a_pair_out_whichever_side_has_it():
    old, new = versions(["1111"] * 2, ["1111"] * 2)
    old[0] = talk(0, 0, False, "", "You are welcome.")  # the user said nothing
    new[1] = talk(0, 1, False, stop="user_rejected")
    old[2] = talk(0, 2, None, stop="model_failed", failure=Failure(node="assistant", error="no answer"))
    new[3] = talk(0, 3, None, stop="budget")
    result = compare_pairs(old, new)
    assert (result.suite.pairs, result.left_out) == (4, {"user": 2, "infrastructure": 2})
    assert [pair.left_out for pair in result.tested[:5]] == ["user", "user", "infrastructure", "infrastructure", None]
    assert result.with_left_out.n == 8
    assert result.with_left_out.value == pytest.approx((1 - 1 - 1 + 1) / 4 / 2)
    assert any(
        "4 of 8 pairs are left out: 2 by a fault of the user and 2 without a score" in line
        for line in paired_lines(result)
    )


def test_a_fault_of_the_user_after_the_agents_own_leaves_no_pair_out():
    code, wish, which = (
        "It is what I booked in spring.",
        "I want to move my flight QX4821 to 2026-05-03.",
        "Which booking is it?",
    )
    texts = {
        "agent first": (which, code, "For how many people?", code),
        "user first": ("For how many people?", code, "And when?", code),
    }
    old, new = versions(["1", "1"], ["0", "0"])
    for number, then in enumerate(texts.values()):
        one = talk(number, 0, False, wish, which, code, *then, "On it.")
        plan = [{"name": "change", "arguments": {"booking": "QX4821", "date": "2026-05-03", "people": "two people"}}]
        brief = {"goal": "move it", "facts": ["We are two people."], "plan": plan}
        new[number] = one.model_copy(update={"scenario": one.scenario | brief})
    result = compare_pairs(old, new)
    assert [pair.left_out for pair in result.tested] == [None, "user"]


def test_two_versions_of_one_name_are_told_apart():
    old, new = versions(["10", "1"], ["00", "0"])
    result = compare_pairs(old, new, names=("mine", "mine"))
    assert (result.old_name, result.new_name) == ("mine (old)", "mine (new)")
    assert [group.versions for group in result.groups] == [{"mine (old)": 1, "mine (new)": 3}]


def test_a_planned_pair_without_a_record_is_left_out_and_counted():
    old, new = versions(["11", "11"], ["11", "10"])
    result = compare_pairs(old, new[:3], planned=["0-0", "1-1", "never begun"])
    assert [pair.id for pair in result.tested] == ["0-0", "1-1", "never begun"]
    assert (result.suite.pairs, result.left_out) == (1, {"infrastructure": 2})


def test_pairs_are_told_where_they_differ_and_whether_the_user_does():
    old = [talk(n, 0, True, "Hello.", "Yes?", "Two seats.", "Booked.") for n in range(4)]
    new = [
        old[0],
        talk(1, 0, True, "Hello.", "Yes?", "Two seats.", "No."),
        talk(2, 0, True, "Hello.", "Yes?"),
        talk(3, 0, True, "Hello.", "Yes?", "Three seats.", "Booked."),
    ]
    result = compare_pairs(old, new)
    assert [pair.differs_at for pair in result.tested] == [None, 3, 2, 2]
    assert [pair.user_differs for pair in result.tested] == [False, False, False, True]
    line = "3 of 4 pairs are equal up to an answer of the agent, and 1 of 4 to the end; in 1 the user differs"
    assert any(shown.startswith(line) for shown in paired_lines(result)), paired_lines(result)
    same = compare_pairs(old, new[:2] + old[2:])
    assert "all pairs are equal up to an answer of the agent, and 3 of 4 to the end" in paired_lines(same)


def test_pairs_differ_at_a_call_or_a_result_too_where_the_words_are_the_same():
    def with_call(number, **call):
        one = talk(number, 0, True, "Hello.", "It is booked.")
        done = Attempt(text="It is booked.", verdict="accepted", tool_calls=(ToolCall(**call),))
        said = one.messages[1].model_copy(update={"attempts": (done,)})
        return one.model_copy(update={"messages": (one.messages[0], said)})

    first = {"name": "book", "arguments": {"seats": 2}, "result": "ok"}
    others = [first, {**first, "arguments": {"seats": 3}}, {**first, "result": "full"}, {**first, "name": "cancel"}]
    old = [with_call(number, **first) for number in range(4)]
    new = [with_call(number, **other) for number, other in enumerate(others)]
    assert [pair.differs_at for pair in compare_pairs(old, new).tested] == [None, 1, 1, 1]


def test_other_measures_are_paired_and_adjusted_for_their_number():
    def side(tokens, verdicts, rude, depth):
        return [
            talk(
                n, 0, True, "Hello.", "Yes.", drafts=verdicts, tokens=tokens + n, scored={"rude": rude, "depth": depth}
            )
            for n in range(8)
        ]

    old, new = side(10, ("rejected", "accepted"), True, 5), side(30, ("accepted",), False, 5)
    result = compare_pairs(old, new)
    measures = {one.measure: one.difference for one in result.measures}
    assert list(measures) == ["tokens", "turns", REJECTED, "score rude", "score depth"]  # no tool was called
    assert measures["tokens"].value == pytest.approx(33.5 - (20 + 7))
    assert measures[REJECTED].value == -0.5
    assert measures["score rude"].value == -1
    assert measures["score depth"].value == 0
    assert measures["score rude"].p == pytest.approx(2 / 2**8)
    assert all(one.adjusted_p >= one.difference.p for one in result.measures)
    assert len(measure_table(result).rows) == 5


def test_a_score_that_is_now_and_then_no_truth_value_has_no_scale():
    old = [talk(n, 0, True, "Hello.", scored={"depth": True}) for n in range(2)]
    new = [talk(n, 0, True, "Hello.", scored={"depth": 4}) for n in range(2)]
    (depth,) = (one for one in compare_pairs(old, new).measures if one.measure == "score depth")
    assert depth.difference.value == 3


@pytest.mark.parametrize(
    ("old", "new", "margin", "shown", "passes"),
    [
        (["0"] * 12, ["1"] * 12, None, "better", True),
        (["1"] * 12, ["0"] * 12, None, "worse", True),
        (["1"] * 12, ["0"] * 12, 0.05, "worse", False),
        (["1"] * 12, ["0"] * 12, "shown", "worse", False),
        (["10"] * 8, ["01"] * 8, 0.1, "not shown", False),
        (["10"] * 8, ["01"] * 8, "shown", "not shown", True),
        (["1" * 8] * 12, ["1" * 8] * 12, 0.05, "not shown", True),
        (["1"], ["1"], 0.2, "not shown", False),
    ],
)
def test_what_is_shown_on_these_scenarios_decides_whether_a_test_passes(old, new, margin, shown, passes):
    before, after = versions(old, new)
    result = compare_pairs(before, after, margin=margin)
    assert result.suite.shown == shown
    assert (not_as_good(result) == "") == passes


@pytest.mark.parametrize("margin", [0, -0.1, 1, "often"])
def test_a_margin_is_shown_or_a_share(margin):
    with pytest.raises(ValueError, match="a margin is"):
        compare_pairs(*versions(["1"], ["1"]), margin=margin)


def test_no_difference_is_never_told_without_what_would_have_been_shown():
    result = compare_pairs(*versions(["10", "01", "11"] * 4, ["11", "00", "11"] * 4))
    assert f"{result.suite.detectable:.2f}" in paired_lines(result)[0]
    few = compare_pairs(*versions(["1", "0"], ["1", "0"]))
    assert few.suite.detectable is None
    assert few.difference.low is None
    assert few.difference.reason


def test_scenarios_stand_with_their_counts_those_that_lost_most_first():
    result = compare_pairs(*versions(["11", "1111", "00", "11"], ["11", "1000", "01", "01"]))
    assert [(row.scenario, row.old, row.new, row.pairs) for row in result.by_scenario] == [
        ("scenario 1", 4, 1, 4),
        ("scenario 3", 2, 1, 2),
        ("scenario 0", 2, 2, 2),
        ("scenario 2", 0, 1, 2),
    ]
    table = scenario_table(result)
    assert [row[0] for row in table.rows] == ["scenario 1", "scenario 3", "scenario 2"]
    assert len(table.notes) == 1


def test_lost_pairs_come_first_and_long_lists_are_cut():
    result = compare_pairs(*versions(["1"] * 7 + ["0"] * 2, ["0"] * 7 + ["1"] * 2), names=("before", "after"))
    lines = changed_lines(result)
    assert [sorted(group.versions) for group in result.groups] == [["after", "before"]]
    assert lines.pop(0).endswith(": after 7, before 2")
    assert lines[0] == "lost: scenario 0 (0-0, differs from message 1): after failed: it says so"
    assert lines[5] == "lost: 2 more scenarios"
    assert lines[6] == "won: scenario 7 (7-0, differs from message 1): before failed: it says so"


def test_figures_of_a_comparison_are_properties_of_a_suite():
    result = compare_pairs(*versions(["0"] * 12, ["1"] * 12), names=("before", "after"))
    properties = paired_properties(result)
    assert properties["against"] == "before"
    assert (properties["pairs"], properties["only_new"], properties["only_old"]) == ("12", "12", "0")
    assert float(properties["low"]) <= float(properties["difference"]) == 1 <= float(properties["high"])
    assert properties["shown on these scenarios"] == "better"


def test_the_pairs_that_differ_decide_on_these_scenarios():
    """McNemar's exact test: of six pairs that differ, all of one kind, p is 2 / 2**6."""
    six = on_these_scenarios([(False, True)] * 6 + [(True, True)] * 4)
    assert (six.p, six.shown, six.difference) == (2 / 2**6, "better", 0.6)
    assert on_these_scenarios([(True, False)] * 5).shown == "not shown"
    assert on_these_scenarios([]).difference is None
