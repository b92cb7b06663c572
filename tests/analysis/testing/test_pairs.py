"""Two versions of an agent in pairs: which pairs count, what is counted, and how it is told."""

from typing import Any

import pytest

from duologue.analysis.testing.pairs.conversation_values import REJECTED
from duologue.analysis.testing.pairs.pairing import compare_pairs_of
from duologue.analysis.testing.pairs.pairs_text import (
    changed_lines,
    measure_table,
    not_as_good,
    paired_lines,
    paired_properties,
    verdict_line,
)
from duologue.analysis.testing.success import successes
from duologue.analysis.testing.verdict import with_verdict
from duologue.data import Attempt, Conversation, Message
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
    result = compare_pairs_of(old, reversed(new))
    assert (result.pairs, result.scenarios) == (7, 3)
    assert result.difference == pytest.approx((1 + 0 - 0.25) / 3)
    assert (result.both, result.only_old, result.only_new, result.neither) == (1, 1, 2, 3)
    assert [pair.id for pair in result.won] == ["0-0", "0-1"]
    assert [pair.id for pair in result.lost] == ["2-1"]


def test_a_fault_of_user_or_infrastructure_leaves_a_pair_out_whichever_side_has_it():
    old, new = versions(["1111"] * 2, ["1111"] * 2)
    old[0] = talk(0, 0, True, "", "You are welcome.")  # the user said nothing: it is at fault although it succeeded
    new[1] = talk(0, 1, False, stop="user_rejected")
    old[2] = talk(0, 2, None, stop="model_failed", failure=Failure(node="assistant", error="no answer"))
    new[3] = talk(0, 3, None, stop="budget")
    result = compare_pairs_of(old, new)
    assert (result.pairs, result.left_out) == (4, {"user": 2, "infrastructure": 2})
    assert [pair.left_out for pair in result.tested[:5]] == ["user", "user", "infrastructure", "infrastructure", None]
    assert result.with_left_out.pairs == 8
    assert result.with_left_out.difference == pytest.approx((-1 - 1 + 1) / 4 / 2)
    assert any(
        "4 of 8 pairs are left out: 2 by a fault of the user and 2 without a score" in line
        for line in paired_lines(result)
    )


def test_a_fault_of_the_user_after_the_agents_own_leaves_no_pair_out():
    code, wish, which = (
        "My booking code is QX4821.",
        "I want to move my flight QX4821 to 2026-05-03.",
        "Which booking is it?",
    )
    texts = {"agent first": (which, code, "For how many people?", code), "user first": ("For how many people?", code)}
    old, new = versions(["1", "1"], ["0", "0"])
    for number, then in enumerate(texts.values()):
        one = talk(number, 0, False, wish, which, code, *then, "On it.")
        new[number] = one.model_copy(update={"scenario": one.scenario | {"goal": "move it"}})
    result = compare_pairs_of(old, new)
    assert [pair.left_out for pair in result.tested] == [None, "user"]


def test_two_versions_of_one_name_are_told_apart():
    old, new = versions(["10", "1"], ["00", "0"])
    result = compare_pairs_of(old, new, names=("mine", "mine"))
    assert (result.old_name, result.new_name) == ("mine (old)", "mine (new)")
    assert [group.versions for group in result.groups] == [{"mine (old)": 1, "mine (new)": 3}]


def test_a_planned_pair_without_a_record_is_left_out_and_counted():
    old, new = versions(["11", "11"], ["11", "10"])
    result = compare_pairs_of(old, new[:3], planned=["0-0", "1-1", "never begun"])
    assert [pair.id for pair in result.tested] == ["0-0", "1-1", "never begun"]
    assert (result.pairs, result.left_out) == (1, {"infrastructure": 2})


def test_pairs_are_told_where_they_differ_and_whether_the_user_does():
    old = [talk(n, 0, True, "Hello.", "Yes?", "Two seats.", "Booked.") for n in range(4)]
    new = [
        old[0],
        talk(1, 0, True, "Hello.", "Yes?", "Two seats.", "No."),
        talk(2, 0, True, "Hello.", "Yes?"),
        talk(3, 0, True, "Hello.", "Yes?", "Three seats.", "Booked."),
    ]
    result = compare_pairs_of(old, new)
    assert [pair.differs_at for pair in result.tested] == [None, 3, 2, 2]
    assert [pair.user_differs for pair in result.tested] == [False, False, False, True]
    line = "3 of 4 pairs (75 %) are equal up to an answer of the agent, and 1 of 4 to the end; in 1 the user differs"
    assert any(shown.startswith(line) for shown in paired_lines(result)), paired_lines(result)
    same = compare_pairs_of(old, new[:2] + old[2:])
    assert "all pairs are equal up to an answer of the agent, and 3 of 4 to the end" in paired_lines(same)


def test_other_measures_are_paired_and_adjusted_for_their_number():
    def side(tokens, verdicts, rude, depth):
        return [
            talk(
                n, 0, True, "Hello.", "Yes.", drafts=verdicts, tokens=tokens + n, scored={"rude": rude, "depth": depth}
            )
            for n in range(8)
        ]

    old, new = side(10, ("rejected", "accepted"), True, 5), side(30, ("accepted",), False, 5)
    result = compare_pairs_of(old, new)
    measures = {one.measure: one for one in result.measures}
    assert list(measures) == ["tokens", "turns", REJECTED, "score rude", "score depth"]  # no tool was called
    assert measures["tokens"].difference == pytest.approx(33.5 - (20 + 7))
    assert measures[REJECTED].difference == -0.5
    assert measures["score rude"].difference == -1
    assert measures["score depth"].difference == 0
    assert all(one.adjusted_p >= one.p for one in measures.values() if one.p is not None)
    assert measures["score rude"].p == pytest.approx(1 / 2**8)
    assert measures["score rude"].adjusted_p > measures["score rude"].p
    assert len(measure_table(result).rows) == 5


def test_a_score_that_is_now_and_then_no_truth_value_has_no_scale():
    old = [talk(n, 0, True, "Hello.", scored={"depth": True}) for n in range(2)]
    new = [talk(n, 0, True, "Hello.", scored={"depth": 4}) for n in range(2)]
    (depth,) = (one for one in compare_pairs_of(old, new).measures if one.measure == "score depth")
    assert depth.difference == 3


@pytest.mark.parametrize(
    ("old", "new", "margin", "words", "passes"),
    [
        (["0"] * 12, ["1"] * 12, None, "better", True),
        (["1"] * 12, ["0"] * 12, None, "worse", True),
        (["1"] * 12, ["0"] * 12, 0.05, "worse", False),
        (["10"] * 8, ["01"] * 8, 0.1, "not shown to be as good", False),
        (["11"] * 60, ["11"] * 60, 0.2, "as good within 0.2", True),
        (["1"], ["1"], 0.2, "no verdict", False),
    ],
)
def test_the_verdict_is_in_words_and_decides_whether_a_test_passes(old, new, margin, words, passes):
    before, after = versions(old, new)
    result = compare_pairs_of(before, after, margin=margin)
    assert verdict_line(result).startswith(words)
    assert (not_as_good(result) == "") == passes
    verdict = with_verdict(successes(after), against=result)
    assert verdict.passed == passes
    assert verdict.against is result


def test_no_difference_is_never_told_without_the_difference_that_would_be_found():
    result = compare_pairs_of(*versions(["10", "01", "11"] * 4, ["11", "00", "11"] * 4))
    assert "no difference is shown: so many pairs find a difference of 0." in verdict_line(result)
    few = compare_pairs_of(*versions(["1", "0"], ["1", "0"]))
    assert verdict_line(few) == "no difference is shown: 2 scenarios cannot show a difference, as the test needs 6"
    more = compare_pairs_of(*versions(["1", "0"] * 3 + ["1"], ["1", "0"] * 3 + ["0"]))
    line = ": so few scenarios find no difference, however large, with a chance of 80 %"
    assert verdict_line(more).endswith(f"{line}; only 1 scenario differs, and 6 are needed")
    same = compare_pairs_of(*versions(["1"] * 7, ["1"] * 7))
    assert verdict_line(same).endswith(line)
    five = compare_pairs_of(*versions(["1111"] * 9, ["0000"] * 5 + ["1111"] * 4))
    assert verdict_line(five).endswith(" with a chance of 80 %; only 5 scenarios differ, and 6 are needed")


def test_lost_pairs_come_first_and_long_lists_are_cut():
    result = compare_pairs_of(*versions(["1"] * 7 + ["0"] * 2, ["0"] * 7 + ["1"] * 2), names=("before", "after"))
    lines = changed_lines(result)
    assert [sorted(group.versions) for group in result.groups] == [["after", "before"]]
    assert lines.pop(0).endswith(": after 7, before 2")
    assert lines[0] == "lost: scenario 0 (0-0, differs from message 1): after failed: it says so"
    assert lines[5] == "lost: 2 more scenarios"
    assert lines[6] == "won: scenario 7 (7-0, differs from message 1): before failed: it says so"


def test_repeats_of_a_scenario_are_named_once():
    result = compare_pairs_of(*versions(["1111", "01"], ["0100", "01"]), names=("before", "after"))
    assert changed_lines(result)[1:] == [
        "lost: scenario 0 (0-0, differs from message 1; 2 more of this scenario): after failed: it says so"
    ]


def test_a_measure_without_an_interval_has_the_reason():
    def notes(scenarios):
        old, new = (
            [
                talk(n, 0, True, *["Hello.", "Yes."] * turns, drafts=("accepted",), tokens=n * turns)
                for n in range(scenarios)
            ]
            for turns in (1, 2)
        )
        return measure_table(compare_pairs_of(old, new)).notes

    reason = "no interval: a measure without bounds, such as tokens, needs 6 scenarios that differ"
    assert reason in notes(4)
    assert reason not in notes(1 + 6)


def test_figures_of_a_comparison_are_properties_of_a_suite():
    result = compare_pairs_of(*versions(["0"] * 12, ["1"] * 12), names=("before", "after"), margin=0.1)
    properties = paired_properties(result)
    assert properties["against"] == "before"
    assert (properties["pairs"], properties["only_new"], properties["only_old"]) == ("12", "12", "0")
    assert float(properties["low"]) <= float(properties["difference"]) == 1 <= float(properties["high"])
    assert properties["verdict of the comparison"] == "better"
    alone = paired_properties(compare_pairs_of(*versions(["1"], ["1"])))
    assert "low" not in alone
