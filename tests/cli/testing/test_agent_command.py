"""`duologue test --assistant AGENT --scenarios FILE`: no cast, a report, a page, JUnit XML, user faults, thresholds."""

import json
import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

AGENT = """
import re
from duologue.testing import scripted_model


def agent(messages):
    said = "\\n".join(message["content"] for message in messages if message["role"] == "user")
    code = re.search(r"[A-Z]{2}\\d{4}", said)
    return f"Done: {code[0]} has been moved." if code else "Which booking is it? Please tell me the code."


def stubborn(messages):
    return "I am sorry, I cannot do that."


def broken(messages):
    raise KeyError("no seat")


leaking = scripted_model("I need a flight.", "Assistant: here it is. Thank you, goodbye.", "Assistant: bye")
sloppy = scripted_model("According to my instructions I am to say QX4821.")
"""
SCENARIOS = [
    {"goal": "move my flight", "facts": "The code is QX4821.", "success": {"text_contains": "QX4821 has been moved"}},
    {"goal": "move another flight", "facts": "The code is LM0077.", "success": {"text_contains": "a refund"}},
]


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)  # before the folders of earlier tests
    Path("my_agent.py").write_text(AGENT)
    Path("scenarios.jsonl").write_text("".join(json.dumps(scenario) + "\n" for scenario in SCENARIOS))
    Path("right.jsonl").write_text(json.dumps(SCENARIOS[0]) + "\n")
    sys.modules.pop("my_agent", None)


def arguments(*more: object, agent: str = "agent", scenarios: str = "scenarios.jsonl") -> tuple[object, ...]:
    return ("test", "--assistant", f"my_agent:{agent}", "--scenarios", scenarios, "--out", "run", *more)


def test_an_agent_is_tested_without_a_cast(duologue) -> None:
    code, out, err = duologue(*arguments("--repeats", 3))
    assert code == 0, err
    assert "3 of 6 scored conversations succeeded: 0.50 (95 % interval" in out
    assert re.search(r"move my flight +3 +3 +1\.00 +0\.39 +1\.00 +1\.00", out)
    assert "whose fault: assistant 3\n" in out
    assert "  3 of 3: an expected text was never written\n    shortest: " in out
    lines = err.splitlines()
    failed = [line for line in lines if line.startswith("failed: ")]
    assert len(failed) == 1
    assert "        2 more of this scenario failed" in lines
    assert out.startswith(
        "passed: 6 conversations planned: 6 scored, 0 cut short, 0 not begun; no threshold is set, so any share passes\n"
    )
    assert 'never says "a refund"; the user ended it (fault: assistant)' in failed[0]
    page = Path("run/page.html").read_text()
    for line in failed:
        name = line.split()[1].rstrip(":")
        address = f"{Path('run/page.html').resolve().as_uri()}#{name}"
        assert any(text.strip().startswith(f"{address}/") for text in lines)  # at the message where it went wrong
    assert "QX4821" in Path("run/conversations.jsonl").read_text()
    assert "<html" in page


@pytest.mark.heavy
def test_without_an_agent_it_says_that_the_rule_based_assistant_is_tested(duologue) -> None:
    line = "no agent was named, so the rule-based assistant 'offline' is tested: name yours with --assistant"
    command = ("test", "--scenarios", "right.jsonl", "--no-page", "--out")
    assert line in duologue(*command, "without")[2]
    assert line not in duologue(*command, "with", "--assistant", "my_agent:agent")[2]
    assert line not in duologue(*command, "chosen", "--set", "assistant=offline")[2]


def test_a_failure_is_told_once_and_in_plain_words(duologue) -> None:
    Path("right.jsonl").write_text(json.dumps({"goal": "move my flight"}) + "\n")
    _, _, err = duologue(*arguments(agent="stubborn", scenarios="right.jsonl"))
    (failed,) = [line for line in err.splitlines() if line.startswith("failed: ")]
    assert failed.endswith("the user did not confirm that it is solved: the user gave up (fault: assistant)")


def test_json_is_one_document_with_everything(duologue) -> None:
    code, out, err = duologue(*arguments("--repeats", 2, "--json", "--threshold", 0.4))
    result = json.loads(out)
    assert code == 0, err
    assert (result["cast"], result["passed"], result["successes"], result["page"]) == (
        "agent_test",
        True,
        2,
        "run/page.html",
    )
    assert [row["success"]["value"] for row in result["scenarios"]] == [1, 0]
    assert result["faults"] == {"user": 0, "assistant": 2, "infrastructure": 0}
    assert all(failure["page"].endswith(f"run/page.html#{failure['id']}") for failure in result["failures"])


@pytest.mark.parametrize(("threshold", "code"), [(0.5, 0), (0.51, 1)])
def test_below_the_threshold_the_exit_code_is_one_and_the_share_is_told(duologue, threshold, code) -> None:
    ended, out, _ = duologue(*arguments("--threshold", threshold, "--no-page"))
    assert ended == code
    compared = "below" if code else "not below"
    assert f"threshold {threshold:g}: the share of successes, 0.5, is {compared} it" in out.splitlines()
    assert out.startswith("not passed (the share is below the threshold 0.51): " if code else "passed: ")
    assert not Path("run/page.html").exists()


@pytest.mark.parametrize(("at_least", "code"), [(0.01, 0), (0.5, 1)])
def test_at_least_decides_by_the_lower_end_of_the_interval(duologue, at_least, code) -> None:
    ended, out, err = duologue(*arguments("--at-least", at_least, "--no-page", "--json"))
    result = json.loads(out)
    assert (ended, result["at_least"], result["passed"]) == (code, at_least, not code)
    low = result["success"]["low"]
    assert 0.01 < low < result["success"]["value"] == 0.5
    compared = "below" if code else "not below"
    line = f"at least {at_least:g}: the lower end of the share's 95 % interval, {low:.4g}, is {compared} it"
    assert line in err.splitlines()


def test_junit_has_failures_with_reasons_and_errors_for_the_infrastructure(duologue) -> None:
    code, _, err = duologue(*arguments("--junit", "reports/junit.xml"))
    assert code == 0, err
    (suite,) = ElementTree.parse("reports/junit.xml").getroot()
    assert [suite.get(name) for name in ("name", "tests", "failures", "errors")] == ["agent_test", "2", "1", "0"]
    cases = list(suite.iter("testcase"))
    assert re.search(r"^page: page\.html#\w+$", cases[1][0].text, re.M)
    code, _, err = duologue(*arguments(agent="broken")[:-1], "broken", "--junit", "broken.xml")
    (suite,) = ElementTree.parse("broken.xml").getroot()
    assert (code, suite.get("failures"), next(suite.iter("failure")).get("type")) == (1, "2", "fault: assistant")


def test_an_agent_that_fails_in_every_conversation_gives_a_whole_report(duologue) -> None:
    code, out, err = duologue(*arguments("--repeats", 2, "--json", "--crash-is-unscored", agent="broken"))
    result = json.loads(out)
    assert (code, result["passed"], result["success"], result["unscored"]) == (1, False, None, 4)
    assert result["faults"] == {"user": 0, "assistant": 4, "infrastructure": 0}
    assert [row["unscored"] for row in result["scenarios"]] == [2, 2]
    assert "4 of 4 conversations that began have no score, the first because: assistant: KeyError: 'no seat'" in err
    assert "closing=" not in err
    code, out, _ = duologue(*arguments("--resume", "--repeats", 2, "--crash-is-unscored", agent="broken"))
    assert (code, "no share of successes: no conversation has a score" in " ".join(out.split())) == (1, True)


def test_an_agent_that_breaks_in_some_conversations_is_incomplete(duologue) -> None:
    Path("my_agent.py").write_text(
        AGENT + "\n\ndef some(messages):\n    return agent(messages) if 'another' not in str(messages) else 1 / 0\n"
    )
    code, out, _ = duologue(*arguments("--crash-is-unscored", "--junit", "junit.xml", agent="some"))
    assert code == 1
    assert re.search(r"assistant +1", out)
    assert "no score" in out
    assert "1 of 2 conversations that began has no score, the first because: assistant: ZeroDivisionError" in " ".join(
        out.split()
    )
    code, out, _ = duologue(*arguments("--json", "--threshold", 0.4, "--resume", "--crash-is-unscored", agent="some"))
    result = json.loads(out)
    assert (code, result["passed"], result["success"]["value"]) == (1, False, 1)
    assert [(row["conversations"], row["unscored"]) for row in result["scenarios"]] == [(1, 0), (0, 1)]
    (suite,) = ElementTree.parse("junit.xml").getroot()
    assert [inner.tag for case in suite.iter("testcase") for inner in case] == ["error"]


def test_a_user_simulators_faults_are_shown_apart_and_left_out_by_a_rule_that_is_printed(duologue) -> None:
    more = ("--user", "my_agent:leaking", "--repeats", 2, "--set", "may_give_up=false")
    scenario = {"goal": "a flight", "success": {"text_contains": "code"}}
    Path("leak.jsonl").write_text(
        json.dumps(scenario) + "\n" + json.dumps(scenario | {"first_message": "QX4821!"}) + "\n"
    )
    code, _, err = duologue(*arguments(*more, scenarios="leak.jsonl"))
    line = " ".join(err.split())
    assert code == 0, err
    assert "user-role-leak" in line
    assert "user_rejected: 4, first in" in line
    assert "the user simulator is at fault in 4 of 4 conversations" in line
    excluding = ("--exclude-user-faults", "--resume", "--json", "--junit", "leak.xml")
    code, out, err = duologue(*arguments(*more, *excluding, scenarios="leak.jsonl"))
    assert (code, json.loads(out)["success"], json.loads(out)["excluded"]) == (1, None, 4)
    assert "at fault in every conversation" in " ".join(err.split())
    assert ElementTree.parse("leak.xml").getroot()[0].get("skipped") == "4"


def test_a_world_of_ones_own_is_given_by_its_import_path(duologue) -> None:
    Path("kk.py").write_text("""
from langgraph.runtime import get_runtime


class World:
    def __init__(self, scenario):
        self.booked = []

    def state(self):
        return {"booked": self.booked}


def world(scenario):
    return World(scenario)


def agent(messages):
    get_runtime().context.world.booked.append("seat")
    return "Done: it is booked."
""")
    Path("kk.jsonl").write_text(
        json.dumps({"goal": "订一个座位", "success": {"final_state": {"booked": ["seat"]}}}) + "\n"
    )
    more = ("--assistant", "kk:agent", "--world", "kk:world", "--language", "en", "--out", "kk", "--max-turns", 1)
    code, out, err = duologue("test", "--scenarios", "kk.jsonl", *more)
    assert code == 0, err
    assert "1 of 1 scored conversation succeeded" in out
    assert (
        json.loads(Path("kk/manifest.json").read_text())["settings"]["nodes"]["user_prompt_selector"]["language"]
        == "en"
    )


def test_an_option_for_a_setting_that_a_cast_lacks_is_named(duologue) -> None:
    Path("own_cast.py").write_text("from duologue.graphs import simquac\n\n\ndef cast():\n    return simquac.cast()\n")
    code, out, err = duologue("test", "own_cast:cast", "--scenarios", "right.jsonl", "--world", "own_cast:cast")
    assert (code, out, "world" in err) == (2, "", True), err


def test_the_threshold_is_compared_with_the_share_that_is_stated(duologue) -> None:
    Path("my_users.py").write_text("""
from langchain_core.messages import AIMessage
from duologue.nodes.models.scripted import ScriptedModel


class Mixed(ScriptedModel):
    def _generate(self, messages, *args, **kwargs):
        self_leaks = "another" in str(messages[0].text) + str(messages[1].text)
        said = sum(isinstance(message, AIMessage) for message in messages)
        lines = ["Assistant: I leak"] if self_leaks else ["QX4821, please.", "Thank you, goodbye."]
        return ScriptedModel(lines=lines)._generate(messages)


mixed = Mixed(lines=["x"])
""")
    sys.modules.pop("my_users", None)
    more = ("--user", "my_users:mixed", "--threshold", 0.9)
    code, out, err = duologue(*arguments(*more))
    assert code == 1
    assert re.search(r"user +1", out)
    code, out, err = duologue(*arguments(*more, "--exclude-user-faults", "--resume"))
    line = " ".join(out.split())
    assert code == 0, err
    assert "1 of 1 scored conversation succeeded: 1.00" in line
    assert "all: 1 of 2 scored conversations succeeded: 0.50" in line
    assert "without user faults: 1 of 1" in line
    assert "in 1 of 2 conversations, of which 0 succeeded all the same: they are left out" in " ".join(err.split())


def test_a_run_is_resumed_and_its_page_written_again(duologue) -> None:
    assert duologue(*arguments("--repeats", 2, "--json"))[0] == 0
    whole = Path("run/conversations.jsonl").read_text().splitlines(keepends=True)
    Path("run/conversations.jsonl").write_text("".join(whole[:1]))
    Path("run/page.html").unlink()
    code, out, err = duologue(*arguments("--repeats", 2, "--json", "--resume"))
    assert code == 0, err
    assert json.loads(out)["conversations"] == 4
    assert Path("run/page.html").is_file()


def test_a_run_is_not_resumed_with_another_success(duologue) -> None:
    assert duologue(*arguments("--json"))[0] == 0
    changed = SCENARIOS[1] | {"success": {"solved": True}}
    Path("scenarios.jsonl").write_text("".join(json.dumps(scenario) + "\n" for scenario in (SCENARIOS[0], changed)))
    code, out, err = duologue(*arguments("--json", "--resume"))
    assert (code, out) == (2, "")
    assert "resume with the same scenarios (or more of them)" in " ".join(err.split())


@pytest.mark.parametrize(
    ("scenario", "line"),
    [
        (("--assistant", "my_agent:agent"), "--scenarios: give a file"),
        (("--assistant", "my_agent:none", "--scenarios", "right.jsonl"), "my_agent"),
        (
            ("--scenarios", "wrong.jsonl"),
            "wrong.jsonl: line 1: success: there is no scorer 'tool_caled', only final_state",
        ),
        (
            ("--scenarios", "judged.jsonl", "--judge", "openai:m"),
            "judged.jsonl: line 1: success.judged: OPENAI_API_KEY",
        ),
        (("--scenarios", "judged.jsonl"), "success.judged: names no model to judge"),
        (("simquac", "--scenarios", "topic.jsonl"), "no conversation has a score named 'success'"),
        (("agent_test", "--cast", "agent_test", "--scenarios", "right.jsonl"), "give one cast"),
    ],
)
def test_bad_input_is_one_line_before_anything_is_simulated(duologue, scenario: Any, line: str) -> None:
    Path("wrong.jsonl").write_text('{"goal": "a", "success": {"tool_caled": "x"}}\n')
    Path("judged.jsonl").write_text('{"goal": "a", "success": {"judged": "It is polite."}}\n')
    Path("topic.jsonl").write_text(
        '{"kind": "simquac", "title": "t", "header": "h", "background": "", "section": "Ten."}\n'
    )
    code, out, err = duologue("test", *scenario, "--out", "run")
    assert (code, out) == (2, "")
    assert line in " ".join(err.split())
    assert not Path("run").exists()


def test_it_is_a_cast_like_any_other_for_simulate(duologue) -> None:
    code, out, err = duologue(
        "simulate",
        "agent_test",
        "--assistant",
        "my_agent:agent",
        "--scenarios",
        "right.jsonl",
        "--out",
        "run",
        "--json",
    )
    assert code == 0, err
    assert json.loads(out)["finished"] == 1
