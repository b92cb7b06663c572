"""What a command says before it does much, and where it asks."""

import json

import pytest

from duologue.cli.output import plans
from duologue.data import simquac as topics
from duologue.graphs import simquac
from duologue.nodes import Limits
from duologue.runs.planning.conversations import conversations_planned

LARGE = ("simulate", "recllmsim", "--sample", "3", "--max-turns", "1")
PLAN = "126 conversations planned, each of one turn: up to 252 calls, and up to 1,008 if drafts are rejected"


@pytest.fixture
def terminal(monkeypatch):
    """Both ends are a terminal, and the answers that were asked for."""
    questions = []

    def answering(answer):
        def confirm(text, **_):
            questions.append(text)
            return answer

        monkeypatch.setattr(plans, "at_terminal", lambda: True)
        monkeypatch.setattr("typer.confirm", confirm)
        return questions

    return answering


@pytest.fixture
def endpoint(monkeypatch):
    """A model behind an endpoint that is never called."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    return ("--user", "openai:m", "--assistant", "openai:m")


@pytest.mark.heavy
def test_a_large_run_is_said_before_it_starts_and_goes_on_where_nobody_can_be_asked(duologue, tmp_path):
    code, _, err = duologue(*LARGE, "--out", tmp_path / "r")
    assert (code, err.splitlines()[0]) == (0, PLAN)
    code, _, err = duologue("simulate", "simquac", "--limit", "2", "--max-turns", "1", "--out", tmp_path / "small")
    assert (code, "planned" in err) == (0, False)


@pytest.mark.heavy
def test_a_resumed_run_counts_only_what_is_missing(duologue, tmp_path):
    duologue(*LARGE, "--out", tmp_path / "r")
    file = tmp_path / "r" / "conversations.jsonl"
    file.write_text("".join(file.read_text().splitlines(True)[:60]))
    _, _, err = duologue(*LARGE, "--out", tmp_path / "r", "--resume")
    assert "66 conversations planned" in err
    _, _, err = duologue(*LARGE, "--out", tmp_path / "r", "--resume")
    assert "planned, each" not in err


def test_at_a_terminal_it_asks_and_no_ends_the_command(duologue, tmp_path, terminal, endpoint):
    questions = terminal(False)
    code, _, err = duologue(*LARGE, *endpoint, "--out", tmp_path / "r")
    assert (code, questions, (tmp_path / "r").exists()) == (1, ["go on?"], False)
    assert "126 conversations planned" in err
    assert "nothing was done" in err


@pytest.fixture
def begun(monkeypatch):
    """The runs that were begun; each is interrupted at once."""
    ran = []

    def begin(work, *_):
        work.close()
        ran.append(work)
        raise KeyboardInterrupt

    monkeypatch.setattr("duologue.cli.running.run.run", begin)
    return ran


@pytest.mark.parametrize("more", [("--yes",), ("--json",)])
def test_yes_and_json_are_not_asked(duologue, tmp_path, terminal, endpoint, more, begun):
    questions = terminal(False)
    duologue(*LARGE, *endpoint, *more, "--out", tmp_path / "r")
    assert (questions, len(begun)) == ([], 1)


def test_speakers_that_call_nothing_are_not_asked_about(duologue, tmp_path, terminal, begun):
    questions = terminal(False)
    duologue(*LARGE, "--out", tmp_path / "r")
    assert (questions, len(begun)) == ([], 1)


def test_profiles_are_counted_too(duologue, tmp_path):
    _, _, err = duologue("papers", "recllmsim", "profiles", "60", "--out", tmp_path / "p.txt")
    assert "60 profiles planned" in err


def test_success_is_counted_too(duologue, tmp_path):
    file = tmp_path / "scenarios.jsonl"
    scenario = simquac.scenario(topics.samples()[0])["scenario"]
    scenario["success"] = {"text_contains": "the"}
    file.write_text(json.dumps({key: value for key, value in scenario.items() if key != "digest"}) + "\n")
    _, _, err = duologue(
        "test", "simquac", "--scenarios", file, "--repeats", "51", "--max-turns", "1", "--out", tmp_path / "t"
    )
    assert "51 conversations planned" in err


def test_a_replayed_side_makes_no_calls_and_an_agent_makes_its_own(tmp_path):
    scenarios = list(simquac.scenarios(topics.samples()))

    def plan(**sides):
        return conversations_planned(simquac.cast(**sides), scenarios, tmp_path, Limits(max_turns=2), resume=False)

    both = plan()
    assert (both.usual, both.most, both.calls_models) == (len(scenarios) * 4, len(scenarios) * 16, False)

    async def mine(messages):
        return "words"

    own = plan(assistant=mine)
    assert (own.calls_models, own.further) == (True, ("assistant",))
    assert "calls made by assistant are not counted" in own.line
