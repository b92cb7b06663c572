"""JUnit XML of a run, as CI systems read it, and the faults of user simulators."""

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from duologue.analysis.outcomes import outcome
from duologue.analysis.testing.junit_report import junit
from duologue.analysis.testing.plan import PlannedConversation
from duologue.analysis.testing.success import successes
from duologue.analysis.user_faults import RULE, user_fault
from duologue.data import Conversation, Message
from duologue.data.records import Failure, Timing


def talk(
    name: str, value: Any, goal: str = "a seat", *texts: str, stop: str = "max_turns", **more: Any
) -> Conversation:
    labels = {} if value is None else {"scores": {"success": {"value": value, "reason": f"because {name}"}}}
    messages = tuple(Message(role="user" if n % 2 == 0 else "assistant", text=text) for n, text in enumerate(texts))
    return Conversation(id=name, scenario={"goal": goal}, messages=messages, stop=stop, labels=labels, **more)


NASTY = 'a <b> & "c" \x00\x1b[31m\ud800 \ufffe ]]> 你好 \U0001f600'
FAILED = Failure(node="assistant", error="timeout")
TALKS = (
    talk("a", True, timing=Timing(seconds=1.5)),
    talk("b", False, NASTY, NASTY, repeat=1, timing=Timing(seconds=0.25)),
    talk("c", None, stop="model_failed", failure=FAILED),
    talk("d", False, stop="user_rejected"),
    talk("e", True, "a seat", "Assistant: hello"),
)


def test_it_has_the_shape_that_ci_systems_read() -> None:
    text = junit(TALKS, f"suite {NASTY}", addresses={"b": "file:///run/page.html#b"})
    assert text.startswith('<?xml version="1.0" encoding="utf-8"?>\n')
    root = ElementTree.fromstring(text.encode("utf-8"))
    (suite,) = root
    assert (root.tag, suite.tag) == ("testsuites", "testsuite")
    for element in (root, suite):
        assert [element.get(name) for name in ("tests", "failures", "errors", "skipped", "time")] == [
            "5", "2", "1", "0", "1.750",
        ]  # fmt: skip
    properties, *cases = suite
    assert [(element.get("name"), element.get("value")) for element in properties] == [
        ("trust in success", "source not told")
    ]
    assert {case.tag for case in cases} == {"testcase"}
    assert all(set(case.attrib) == {"classname", "name", "time"} for case in cases)
    assert len({case.get("name") for case in cases}) == 5
    assert [[inner.tag for inner in case] for case in cases] == [[], ["failure"], ["error"], ["failure"], []]
    failure = cases[1][0]
    assert failure.attrib == {
        "message": "because b; the maximum number of turns was reached",
        "type": "fault: assistant",
    }
    assert "file:///run/page.html#b" in failure.text
    assert 'user: a <b> & "c" [31m  ]]> 你好 \U0001f600' in failure.text
    assert cases[2][0].attrib == {"message": "assistant: timeout", "type": "fault: infrastructure"}
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", text)


def test_the_notes_on_a_result_are_the_output_of_the_suite() -> None:
    suite = ElementTree.fromstring(junit([talk("a", True)], "s", notes=["one\x07", "two"]))[0]
    assert suite.findtext("system-out") == "one\ntwo"
    assert ElementTree.fromstring(junit([talk("a", True)], "s"))[0].find("system-out") is None


def test_what_is_excluded_is_skipped_with_the_rule() -> None:
    (suite,) = ElementTree.fromstring(junit(TALKS, "s", exclude_user_faults=True).encode())
    assert [suite.get(name) for name in ("failures", "errors", "skipped")] == ["1", "1", "2"]
    assert [case[0].get("message") for case in suite if case.find("skipped") is not None] == [
        "the user simulator is at fault: user_rejected",
        "the user simulator is at fault: user-role-leak",
    ]


def test_a_case_has_the_number_of_its_scenario_in_order() -> None:
    talks = [talk(f"{n}", True, goal, repeat=n % 2) for n, goal in enumerate(["x", "x", "y", "y"])]
    (suite,) = ElementTree.fromstring(junit(talks, "s"))
    assert [case.get("name") for case in suite.iter("testcase")] == [
        "1. x [repeat 1]", "1. x [repeat 2]", "2. y [repeat 1]", "2. y [repeat 2]",
    ]  # fmt: skip


def test_a_case_has_the_same_name_whichever_conversations_could_be_scored() -> None:
    talks = [talk("0", True, "x"), talk("1", True, "y"), talk("2", True, "z")]
    plan = [PlannedConversation.of(one) for one in talks]
    cut_short_last = [talk("1", True, "y"), talk("0", None, "x", stop="model_failed", failure=FAILED)]
    named = []
    for conversations in (talks, cut_short_last):
        (suite,) = ElementTree.fromstring(junit(conversations, "s", plan=plan))
        named.append([case.get("name") for case in suite.iter("testcase")])
    assert named == [
        ["1. x [repeat 1]", "2. y [repeat 1]", "3. z [repeat 1]"],
        ["2. y [repeat 1]", "1. x [repeat 1]", "3. z [repeat 1]"],
    ]


@pytest.mark.parametrize(
    ("conversation", "rule"),
    [
        (talk("a", True, "g", "Hello", "Hi"), None),
        (talk("a", True, "g", "[System]: You are welcome.\nAssistant: hello"), "user-role-leak"),
        (talk("a", True, "g", "As the user simulator, I should now object, given my profile."), "user-prompt-leak"),
        (talk("a", True, "g", "..."), "user-empty"),
        (talk("a", True, "g", "Hello", "As an AI language model, I am the assistant: yes"), None),
        (talk("a", None, "g", stop="user_rejected"), "user_rejected"),
    ],
)
def test_a_user_simulator_is_at_fault_by_rules_that_have_names(conversation: Conversation, rule: str | None) -> None:
    assert user_fault(conversation) == rule
    if rule and rule.startswith("user-"):
        assert rule in RULE


def test_whose_fault_a_failure_is() -> None:
    leaked = talk("x", False, "g", "Assistant: hello")
    assert [outcome(conversation).fault for conversation in (*TALKS, leaked)] == [
        "none", "assistant", "infrastructure", "user", "none", "user",
    ]  # fmt: skip
    result = successes(TALKS)
    assert result.faults == {"user": 1, "assistant": 1, "infrastructure": 1}
    assert [row[1] for row in result.fault_table().rows] == [1, 1, 1]


def test_user_faults_are_excluded_whether_they_succeeded_or_not_and_both_rates_are_there() -> None:
    every, without = successes(TALKS), successes(TALKS, exclude_user_faults=True)
    assert (every.successes, every.conversations, every.excluded) == (2, 4, 0)
    assert (without.successes, without.conversations, without.excluded) == (1, 2, 2)
    for result in (every, without):
        assert (result.all.successes, result.all.conversations) == (2, 4)
        assert (result.without_user_faults.successes, result.without_user_faults.conversations) == (1, 2)
        assert [(fault.id, fault.rule, fault.success) for fault in result.user_faults] == [
            ("d", "user_rejected", False), ("e", "user-role-leak", True),
        ]  # fmt: skip
    assert [failure.id for failure in every.failures] == ["d", "b"]
    assert [failure.id for failure in without.failures] == ["b"]
    none = successes(TALKS[3:], exclude_user_faults=True)
    assert (none.success, none.conversations, none.pass_hat, none.without_user_faults.success) == (None, 0, {}, None)
    assert [row.success for row in none.scenarios] == [None] * len(none.scenarios)


def test_a_scenario_has_an_interval_and_a_pass_hat_of_its_own() -> None:
    result = successes([talk(f"{n}", n < 3) for n in range(4)] + [talk(f"y{n}", True, "y") for n in range(5)])
    first, second = result.scenarios
    assert (round(first.success.low, 2), first.success.value, round(first.success.high, 2)) == (0.27, 0.75, 0.98)
    assert (first.pass_hat, second.pass_hat) == (0.0, 1.0)
    table = result.table()
    # From all four conversations of the first there is one draw: the column is of three, C(3, 3) / C(4, 3).
    assert [column.name for column in table.columns][-1] == "pass^3"
    assert [row[-1] for row in table.rows] == [0.25, 1.0]
    assert ([*result.pass_hat], [*result.pass_hat_intervals]) == ([1, 2, 3, 4], [1, 2, 3])
