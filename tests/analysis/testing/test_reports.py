"""The result as lines, Markdown, HTML and JUnit: the same content, escaped, and short enough for a terminal."""

from typing import Any
from xml.etree import ElementTree

import pytest

from duologue.analysis.tables import Table
from duologue.analysis.testing.junit import junit, unended
from duologue.analysis.testing.pairs import compare_pairs
from duologue.analysis.testing.report import TERMINAL, headline, markdown, report
from duologue.analysis.testing.success import PlannedConversation, successes, with_verdict
from duologue.data.records import Failure, Timing
from duologue.views.run import result_html
from tests.analysis.testing.talks import talk

AWAY = Failure(node="user_simulator", error="ConnectionError: away")
LOOP = ("One moment.", "And?", "One moment.")
HELD = [
    talk("a", True, "Hello.", "Yes.", scenario="first", timing=Timing(seconds=1.5)),
    talk("b", False, "Hello.", *LOOP[:2], "One moment.", scenario="first", repeat=1, broken=[{"kind": "refused"}]),
    talk("c", None, "Hello.", scenario="<b>2</b> | x", stop="model_failed", failure=AWAY),
]


def test_twenty_conversations_take_at_most_forty_lines() -> None:
    kinds = ("not_called", "all_failed", "not_said", "refused", "not_refused", "no_result", "nothing_done", "called")
    many = [
        talk(f"{n}", n % 2 == 0, "Hello.", scenario=f"s{n}", broken=[{"kind": kinds[n % 8], "tool": f"t{n}"}])
        for n in range(20)
    ]
    parts = report(with_verdict(successes(many)), TERMINAL)
    lines = [
        len(one.rows) + len(one.notes) + 2 if isinstance(one, Table) else 1 + bool(one.conversation) for one in parts
    ]
    assert sum(lines) <= 40


def test_markdown_and_html_have_the_same_lines_with_links_and_no_markup_of_others() -> None:
    result = with_verdict(successes(HELD))
    for text in (markdown(result, "x", lambda name: f"page.html#{name}"), result_html(result, {"b": "#b", "c": "#c"})):
        places = [text.index(words) for words in ("not passed", "1 of 2", "the agent refused", "#b", "Success by scen")]
        assert places == sorted(places)
        assert "<b>2" not in text
    assert "| first | 2 | 1 | 0.50 | 0 |" in markdown(result, "x")


def test_a_comparison_stands_in_every_report() -> None:
    old, new = ([talk(f"{n}", value, "Hello.", "Yes.", scenario=f"s{n}") for n in range(8)] for value in (True, False))
    result = with_verdict(successes(new), against=compare_pairs(old, new, names=("v1", "v2"), margin="shown"))
    for text in (markdown(result, "x"), result_html(result)):
        assert "Successes by scenario, v2 against v1" in text
        assert "worse than v1" in text
    assert any("on scenarios like these" in line for line in headline(result))


def junit_of(*conversations: Any, **more: Any) -> ElementTree.Element:
    (suite,) = ElementTree.fromstring(junit(conversations, "s", **more).encode())
    return suite


def test_junit_has_a_case_for_each_planned_conversation() -> None:
    plan = [PlannedConversation.of(one) for one in (*HELD, talk("d", None, scenario="never"))]
    suite = junit_of(*HELD, plan=plan, properties={"verdict": "no"}, notes=["one", "two"], addresses={"b": "p#b"})
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "time")} == {
        "tests": "4", "failures": "1", "errors": "2", "time": "1.500",
    }  # fmt: skip
    cases = suite.findall("testcase")
    names = ["1. first [repeat 1]", "1. first [repeat 2]", "2. <b>2</b> | x [repeat 1]", "3. never [repeat 1]"]
    assert [case.get("name") for case in cases] == names
    failure, error = cases[1].find("failure"), cases[2].find("error")
    assert failure is not None
    assert error is not None
    assert failure.get("type") == "fault: undecided"
    assert "group: the agent refused" in str(failure.text)
    assert "page: p#b" in str(failure.text)
    assert error.get("type") == "fault: infrastructure"
    assert "ConnectionError" in str(error.get("message"))
    assert suite.findtext("system-out") == "one\ntwo"


@pytest.mark.parametrize("text", ["\x00\x1b[2J", "\ud800", "]]>", "&<"])
def test_junit_is_xml_whatever_a_model_writes(text: str) -> None:
    suite = junit_of(talk("a", False, text, scenario=f"t{text}", reason=text))
    assert suite.get("failures") == "1"


def test_a_report_that_a_test_begins_with_is_an_error() -> None:
    (suite,) = ElementTree.fromstring(unended("s").encode())
    assert suite.get("errors") == "1"
