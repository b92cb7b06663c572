"""`duologue test`: limits, settings, scores that fail, and how many conversations it holds."""

import gc
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from duologue import data

OWN = '''
from pathlib import Path
from typing import Literal

from duologue import nodes
from duologue.graphs import simquac


def goal(state):
    if state["scenario"]["title"] == "b":
        raise ValueError("no such seat")
    return True


def cast(
    name: str = "x", other: str | None = None, folder: Path | None = None, size: Literal["1", "2"] = "1",
    count: int = 1, answer: str = "goal",
):
    """A student of few words."""
    kept = [name, other, folder and str(folder), size, count]
    Path("settings.json").write_text(__import__("json").dumps(kept))
    return simquac.cast().replace(
        closing=nodes.scoring(success=goal if answer == "goal" else lambda state: 1),
        limits=nodes.Limits(max_turns=3, answer_attempts=1, question_attempts=2, max_tokens=90_000),
    )
'''

SCENARIO = {"kind": "simquac", "background": "", "header": "Keepers", "section": "Three keepers lived there."}


@pytest.fixture(autouse=True)
def own(tmp_path: Path) -> None:
    (tmp_path / "own_test.py").write_text(OWN)
    scenarios = [json.dumps(SCENARIO | {"title": title}) + "\n" for title in "ab"]
    (tmp_path / "scenarios.jsonl").write_text("".join(scenarios))
    (tmp_path / "right.jsonl").write_text(scenarios[0])
    sys.modules.pop("own_test", None)


def arguments(*more: object, scenarios: str = "right.jsonl") -> tuple[object, ...]:
    return ("test", "own_test:cast", "--scenarios", scenarios, "--out", "run", *more)


def limits() -> Any:
    return json.loads(Path("run/manifest.json").read_text())["settings"]["limits"]


def test_the_limits_are_the_casts_but_for_those_that_are_set(duologue) -> None:
    code, _, err = duologue(*arguments())
    assert code == 0, err
    assert limits() == {
        "max_turns": 3, "answer_attempts": 1, "question_attempts": 2, "max_tokens": 90_000, "seed": 0,
    }  # fmt: skip


def test_each_limit_has_an_option(duologue) -> None:
    more = ("--max-turns", 1, "--question-attempts", 5, "--answer-attempts", 6, "--max-tokens", 7000, "--seed", 8)
    code, _, err = duologue(*arguments(*more))
    assert code == 0, err
    assert limits() == {
        "max_turns": 1, "answer_attempts": 6, "question_attempts": 5, "max_tokens": 7000, "seed": 8,
    }  # fmt: skip


def test_a_setting_that_is_a_text_is_taken_as_it_is_written(duologue) -> None:
    settings = ("name=5", "other=true", "folder=7", "size=2", "count=4")
    code, _, err = duologue(*arguments(*(part for text in settings for part in ("--set", text))))
    assert code == 0, err
    assert json.loads(Path("settings.json").read_text()) == ["5", "true", "7", "2", 4]
    code, _, err = duologue(*arguments("--set", "name=null", "--set", "other=null", "--out", "other"))
    assert code == 0, err
    assert json.loads(Path("settings.json").read_text())[:2] == ["null", None]


def test_what_a_failing_scorer_left_unscored_is_said_and_is_no_success(duologue) -> None:
    code, out, err = duologue(*arguments("--repeats", 2, "--json", scenarios="scenarios.jsonl"))
    result = json.loads(out)
    assert (code, result["conversations"], result["unscored"], result["successes"]) == (1, 2, 2, 2)
    error = "the first because: the score 'success' failed: ValueError: no such seat (own_test.py, line"
    assert f"2 of 4 conversations that began have no score, {error}" in " ".join(err.split())


def test_a_scorer_that_always_raises_is_reported_with_its_own_error_and_line(duologue) -> None:
    Path("right.jsonl").write_text(json.dumps(SCENARIO | {"title": "b"}) + "\n")
    code, out, err = duologue(*arguments())
    line = OWN.splitlines().index('        raise ValueError("no such seat")') + 1
    error = f"the score 'success' failed: ValueError: no such seat (own_test.py, line {line})"
    assert (code, out.startswith("not passed (")) == (1, True)
    assert f"no score, the first because: {error}" in " ".join((out + err).split())
    assert "closing=" not in err


AGENT = """
def agent(messages):
    open("called", "w").close()
    return "Done."


def world(scenario):
    return {"seats": 1}
"""


@pytest.mark.parametrize("command", [("test",), ("simulate", "agent_test")])
@pytest.mark.parametrize(
    ("success", "line"),
    [
        (
            {"final_state": {"seats": 1}},
            "success.final_state: compares a state that nothing gives: give the cast a world",
        ),
        (
            {"any_of": [{"not": {"final_state_exactly": {"seats": 1}}}, {"solved": True}]},
            "success.any_of.not.final_state_exactly: compares a state that nothing gives: give the cast a world",
        ),
        ({"not": {"judged": "The fee is named."}}, "names no model to judge: give it 'model', or the command --judge"),
    ],
)
def test_a_success_that_cannot_be_scored_is_refused_before_a_call(
    duologue, monkeypatch, command, success, line
) -> None:
    monkeypatch.syspath_prepend(Path.cwd())
    Path("agent_of_state.py").write_text(AGENT)
    sys.modules.pop("agent_of_state", None)
    Path("state.jsonl").write_text(json.dumps({"goal": "a seat", "success": success}) + "\n")
    given = (*command, "--assistant", "agent_of_state:agent", "--scenarios", "state.jsonl", "--out", "run")
    code, out, err = duologue(*given)
    assert (code, out, line in err) == (2, "", True), err
    assert duologue(*given, "--plan") == (2, "", err)
    assert not Path("called").exists()
    assert not Path("run").exists()
    if "judged" not in line and "judge" not in line:
        assert duologue(*given, "--world", "agent_of_state:world")[0] == 0
        assert Path("called").exists()


def test_a_score_that_is_a_number_is_named(duologue) -> None:
    code, out, err = duologue(*arguments("--set", "answer=number"))
    assert (code, out.startswith("not passed (")) == (1, True)
    assert "the score 'success' is 1, not true or false" in " ".join((out + err).split())


def test_it_ends_with_the_command_that_shows_the_conversations(duologue) -> None:
    code, out, err = duologue(*arguments())
    assert code == 0
    assert "run: run" in out
    assert "duologue show run" in err


@pytest.mark.usefixtures("only_new_objects")
def test_it_holds_no_conversation_that_is_counted(duologue, monkeypatch) -> None:
    def alive() -> int:
        return sum(isinstance(thing, data.Conversation) for thing in gc.get_objects())

    gc.collect()
    before, most = alive(), []
    from_plain = data.Conversation.from_plain

    def counted(value: Any) -> data.Conversation:
        most.append(alive() - before)
        return from_plain(value)

    monkeypatch.setattr(data.Conversation, "from_plain", counted)
    code, _, err = duologue(*arguments("--repeats", 20, "--max-turns", 1, "--json", "--no-page"))
    assert code == 0, err
    assert len(most) >= 20
    assert max(most) <= 4
