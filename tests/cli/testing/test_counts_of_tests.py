"""What `duologue test` counts: planned conversations, those with a score, cut short, and not begun."""

import json
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

AGENT = """
import asyncio
from pathlib import Path

from duologue.testing import scripted_model

model = scripted_model("Done: QX4821 has been moved.", tokens=(30, 10))


async def waits(messages):
    while not Path("go").exists():
        await asyncio.sleep(0.01)
    return "Done: QX4821 has been moved."
"""
PLANNED = 6


@pytest.fixture(autouse=True)
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)  # before the folders of earlier tests
    Path("counted_agent.py").write_text(AGENT)
    success = {"text_contains": "QX4821 has been moved"}
    lines = [{"goal": f"move flight {n}", "facts": "The code is QX4821.", "success": success} for n in "ab"]
    Path("scenarios.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    sys.modules.pop("counted_agent", None)


def arguments(agent: str, *more: object) -> tuple[object, ...]:
    given = ("--scenarios", "scenarios.jsonl", "--repeats", PLANNED // 2, "--concurrency", 1, "--out", "run")
    return ("test", "--assistant", f"counted_agent:{agent}", *given, *more)


def counts_of(result: dict[str, Any]) -> list[Any]:
    return [result[name] for name in ("planned", "scored", "cut_short", "not_begun")]


@pytest.mark.heavy
@pytest.mark.parametrize(("agent", "bound"), [("waits", ("--max-time", "1s")), ("model", ("--max-run-tokens", 100))])
def test_a_bounded_run_counts_what_it_did_not_hold_and_does_not_pass(duologue, agent, bound) -> None:
    code, out, err = duologue(*arguments(agent, *bound, "--json", "--junit", "junit.xml"))
    result = json.loads(out)
    planned, scored, cut_short, missing = counts_of(result)
    assert (code, result["passed"], planned, cut_short) == (1, False, PLANNED, 1)
    assert 0 < missing == PLANNED - scored - cut_short
    assert "the same command with --out run --resume" in err.splitlines()[-1]
    (suite,) = ElementTree.parse("junit.xml").getroot()
    assert [suite.get(name) for name in ("tests", "failures", "errors")] == ["6", "0", f"{cut_short + missing}"]
    messages = [case[0].get("message") for case in suite.iter("testcase") if len(case)]
    assert messages[0].startswith(
        f"it was cut short: {' '.join(map(str, bound))}".replace("time 1s", "time is over, 1 s")
    )
    assert messages[1:] == ["it was not begun: the run ended before"] * missing
    assert result["unscored_because"] == messages[0]
    names = [case.get("name") for case in suite.iter("testcase")]
    assert len(set(names)) == PLANNED

    Path("go").touch()
    code, out, err = duologue(*arguments(agent, "--resume", "--junit", "junit.xml"))
    assert (code, "6 conversations planned: 6 scored, 0 cut short, 0 not begun" in out) == (0, True), err
    assert "6 conversations planned: 6 scored, 0 cut short, 0 not begun" in Path("run/page.html").read_text()
    (suite,) = ElementTree.parse("junit.xml").getroot()
    assert [suite.get(name) for name in ("tests", "errors")] == ["6", "0"]
    assert {case.get("name") for case in suite.iter("testcase")} == set(names)


@pytest.mark.heavy
def test_text_and_page_say_how_many_were_not_begun(duologue) -> None:
    code, out, _ = duologue(*arguments("waits", "--max-time", "1s"))
    line = "6 conversations planned: 0 scored, 1 cut short, 5 not begun"
    assert (code, line in out, line in Path("run/page.html").read_text()) == (1, True, True)


def test_a_threshold_that_the_share_meets_does_not_pass_a_run_with_something_missing(duologue) -> None:
    code, out, _ = duologue(*arguments("model", "--max-run-tokens", 1200, "--threshold", 0.5, "--json"))
    result = json.loads(out)
    assert (code, result["passed"], result["success"]["value"]) == (1, False, 1.0)


GUARDED = """
from duologue import graphs, nodes
from duologue.nodes.validators import Observing

ACCOUNT = "The account is DE89."


def careless(messages):
    return ACCOUNT


def careful(messages):
    return "Done: QX4821 has been moved."


def learns(messages):
    return "Done: QX4821 has been moved." if "note" in messages[-1]["content"] else ACCOUNT


def secret(draft, state):
    return {"accepted": False, "reason": "secret", "repair": "No account."} if "DE89" in draft["text"] else None


def cast(agent: str = "careful", observe: bool = False, when_rejected: str | None = None):
    guard = nodes.validator(secret)
    return graphs.agent_test.cast(assistant=f"guarded_agent:{agent}", when_rejected=when_rejected).replace(
        answer_validator=Observing(guard) if observe else guard
    )
"""


def guarded(duologue, agent: str, *more: object, exits: int = 0) -> tuple[dict[str, Any], str, str]:
    Path("guarded_agent.py").write_text(GUARDED)
    sys.modules.pop("guarded_agent", None)
    line = {"kind": "agent", "goal": "move it", "facts": "It is QX4821.", "success": {"not": {"text_contains": "nope"}}}
    Path("guarded.jsonl").write_text(json.dumps(line) + "\n")
    command = ("test", "guarded_agent:cast", "--scenarios", "guarded.jsonl", "--set", f"agent={agent}")
    code, out, err = duologue(*command, "--max-turns", 2, "--out", "json", "--json", *more)
    assert code == exits, err
    text = duologue(*command, "--max-turns", 2, "--out", "text", "--no-page", *more)
    return json.loads(out), text[1], text[2]


def test_replies_that_were_sent_although_rejected_are_counted(duologue) -> None:
    result, out, err = guarded(duologue, "careless", "--junit", "junit.xml")
    assert (result["sent_although_rejected"], result["rejected_drafts"]) == (2, 8)
    assert "2 replies were sent although a validator rejected them" in out
    assert "when_rejected=stop" in err
    suite = ElementTree.parse("junit.xml").getroot()[0]
    _, sent = suite.iter("property")
    assert sent.attrib == {"name": "replies sent although rejected", "value": "2"}


def test_without_a_rejected_draft_tables_are_as_before(duologue) -> None:
    result, out, err = guarded(duologue, "careful", "--junit", "junit.xml")
    assert (result["sent_although_rejected"], result["rejected_drafts"]) == (0, 0)
    assert result["first_draft"] == result["success"]
    assert "rejected" not in out + err
    assert "first draft" not in out + err
    (verdict,) = ElementTree.parse("junit.xml").getroot()[0].iter("property")
    assert verdict.get("name") == "verdict"


def test_the_guard_does_not_hide_the_agent(duologue) -> None:
    result, out, err = guarded(duologue, "learns")
    (row,) = result["scenarios"]
    assert (result["success"]["value"], result["first_draft"]["value"], row["first_draft"]["value"]) == (1, 0, 0)
    assert (result["sent_although_rejected"], row["rejected_drafts"]) == (0, result["rejected_drafts"])
    assert result["rejected_drafts"] > 0
    assert "rejected: drafts of the agent; at first draft: share of conversations that succeeded" in " ".join(
        out.split()
    )
    assert "at first draft: 0.00 (95 % interval 0.00 to" in out
    assert "Observing(VALIDATOR)" in err


def test_a_validator_that_only_observes_measures_the_agent(duologue) -> None:
    result, _, _ = guarded(duologue, "learns", "--set", "observe=true")
    assert (result["success"]["value"], result["first_draft"]["value"]) == (1, 0)
    assert result["sent_although_rejected"] == result["rejected_drafts"] == 2


def test_a_stop_after_the_last_attempt_sends_no_rejected_reply(duologue) -> None:
    result, out, _ = guarded(duologue, "careless", "--set", "when_rejected=stop", exits=1)
    assert (result["answered"], result["unanswered"], result["none_accepted"]) == (0, 1, {"secret": 1})
    assert "no reply was accepted (secret) in 1" in out
    assert (result["sent_although_rejected"], result["rejected_drafts"]) == (0, 4)
