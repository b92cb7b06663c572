"""Planted failures: repairs name their single causes, seldom one of two, and rules alone name fewer."""

import random
from collections import Counter
from typing import Any

import pytest
from scipy.stats import binomtest

import duologue
from duologue.analysis.outcomes import outcome
from duologue.nodes.interventions import listener, wrong_of_agent
from tests.faults.planted import DOMAINS, Case, cases

SAMPLE = 90
"""Of the 366 failures; all of them take a quarter of an hour."""


def marked(fault: str, case: Case) -> str:
    if fault in ("undecided", "infrastructure"):
        return "undecided"
    if {fault} == case.causes:
        return "right"
    return "one of two" if fault in case.causes else "wrong"


@pytest.mark.heavy
def test_repairs_name_single_causes_and_rules_alone_name_fewer() -> None:
    every = [*cases()]
    random.Random(1).shuffle(every)
    repaired, by_rules = Counter[str](), Counter[str]()
    two = 0
    for _, case in every[:SAMPLE]:
        settings = {"user": case.user_function, "world": case.world, "max_turns": 7, "why": True}
        result = duologue.test(case.graph, [case.described], specified=Case(case.domain).world, **settings)
        if result.successes:
            continue  # the fault that was planted does no harm
        mark = marked(result.why[0].fault, case)
        if len(case.causes) == 1:
            repaired[mark] += 1
            by_rules[marked(outcome(result.records[0]).fault, case)] += 1
        else:
            two += 1
            repaired[f"two: {mark}"] += 1
    singles = sum(by_rules.values())
    print(f"{singles} single causes: {dict(repaired)}; rules: {dict(by_rules)}; two causes: {two}")
    named = repaired["right"] + repaired["wrong"]
    assert binomtest(repaired["right"], named).proportion_ci(method="wilson").low >= 0.9
    assert repaired["undecided"] <= 0.25 * singles
    assert repaired["two: one of two"] + repaired["two: wrong"] <= 0.3 * two
    assert by_rules["right"] < repaired["right"]


@pytest.mark.parametrize("form", ["The {} is {}.", "my {}: {}", "{} = {}"])
def test_the_repaired_user_gives_the_values_of_its_facts_whatever_their_form(form: str) -> None:
    case = Case(DOMAINS[0], user="code")
    facts = [form.format(label, value) for label, value in (("code", "QX4821"), ("new date", "2026-05-03"))]
    settings = {"user": case.user_function, "world": case.world, "max_turns": 7, "why": True}
    (found,) = duologue.test(case.graph, [case.described | {"facts": facts}], **settings).why
    assert (found.fault, found.because) == ("user", "it gives QX4812, which its scenario does not have")


def test_where_no_repair_can_be_made_the_fault_by_structure_stays_with_the_reason() -> None:
    case = Case(DOMAINS[0])
    (found,) = duologue.test(lambda messages: messages[99], [case.described], world=case.world, why=True).why
    assert found.fault == "assistant"
    assert "LangGraph" in found.because


SCENARIO = Case(DOMAINS[0]).described | {"goal": "move my flight QX4821 to 2026-05-03"}
WRITE = {"name": "write", "arguments": {"code": "QX4821", "value": "2026-05-03"}}
LOOK = {"name": "look_up", "arguments": {"code": "QX4821"}, "result": "QX4821 is full"}


@pytest.mark.parametrize(
    ("said", "calls", "changed", "wrong"),
    [
        ("It is done.", [LOOK, WRITE], True, ""),  # which of the two changed the world is not known
        ("It is done.", [{"name": "drop", "arguments": {"code": "QX4821"}}], True, "it calls drop, which the plan does not"),
        ("It is done.", [{"name": "move_it", "arguments": {"code": "QX4821"}}], True, "it says that it is done, and the plan's calls were not made"),
        ("That is not possible.", [], False, "it refuses what the plan does"),
        ("That is not possible.", [LOOK], False, ""),  # what the tool told may be why
    ],
)  # fmt: skip
def test_a_call_is_wrong_that_changes_what_nobody_spoke_of(
    said: str, calls: list[Any], changed: bool, wrong: str
) -> None:
    ideal = listener(SCENARIO, [("user", SCENARIO["goal"])])
    assert wrong_of_agent(said, calls, [], ideal, SCENARIO, changed=changed) == wrong
