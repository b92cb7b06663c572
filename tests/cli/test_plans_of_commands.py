"""`--plan` of every command that asks models: what would be asked, without a call, a key or a file."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import duologue as package
from duologue.data import load
from duologue.graphs import agent_test
from duologue.nodes import Limits, judge, scorers
from duologue.runs.planning.conversations import conversations_planned
from duologue.runs.planning.plans import CallEstimate, CallPlan, CallTokens, ModelCalls, joined
from duologue.testing import scripted_model
from tests.data.simquac.quac_files import data_set

Command = Callable[..., tuple[int, str, str]]

MODEL = "openai:gpt-4.1-mini"
PEOPLE = ("people.jsonl",)
COMMANDS = {
    "simulate": ("simulate", "agent_test", "--scenarios", "goals.jsonl", "--user", MODEL, "--assistant", MODEL),
    "test": ("test", "--scenarios", "goals.jsonl", "--user", MODEL, "--judge", MODEL),
    "next-turn": ("next-turn", *PEOPLE, "--user", MODEL, "--user", "offline"),
    "validity": ("validity", *PEOPLE, "--user", MODEL, "--rater", MODEL, "--limit", 2),
    "annotate": ("annotate", *PEOPLE, "--labels", "style", "--model", MODEL),
    "readers": ("papers", "simquac", "readers", "quac.json", "--model", MODEL, "--model", f"teacher:{MODEL}"),
    "judges": ("papers", "recllmsim", "judges", *PEOPLE, "--model", MODEL),
    "profiles": ("papers", "recllmsim", "profiles", 7, "--model", MODEL),
}
NEEDS = {"next-turn": "scipy", "validity": "sklearn", "judges": "sklearn"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the data of all commands, and no key."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    goal = {"goal": "Book a table.", "facts": [], "success": {"judged": "A table is booked."}}
    Path("goals.jsonl").write_text(f"{json.dumps(goal | {'success': {'text_contains': 'booked'}})}\n" * 3)
    Path("judged.jsonl").write_text(f"{json.dumps(goal)}\n" * 3)
    Path("people.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in rated_talks()))
    data_set(tmp_path / "quac.json")
    return tmp_path


def rated_talks() -> list[dict]:
    """Talks of twelve people whose satisfaction grows with the reply."""
    talks = []
    for number in range(24):
        labels = {"satisfaction": str(2 + number % 3)}
        reply = {"role": "assistant", "content": "Day one: the harbour. " * (1 + number % 3), "labels": labels}
        wish = {"role": "user", "content": f"Plan {number % 2} days in town {number // 2}."}
        goal = f"Plan {number % 2} days in a town"
        talks.append(
            {"id": f"p{number}", "user": f"u{number // 2}", "goal": goal, "task": "trip", "messages": [wish, reply] * 2}
        )
    return talks


@pytest.mark.parametrize("name", COMMANDS)
def test_it_prints_calls_tokens_and_dollars_and_neither_calls_nor_writes(
    duologue: Command, folder: Path, name: str
) -> None:
    pytest.importorskip("genai_prices")
    pytest.importorskip(NEEDS.get(name, "json"))
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    code, out, err = duologue(*COMMANDS[name], "--plan", "--json", *out_of(name))
    assert code == 0, err
    document = json.loads(out)
    tokens, calls = document["tokens"], document["calls"]
    assert 0 < calls["usual"] < calls["most"]
    assert 0 < tokens["low"] <= tokens["about"] <= tokens["high"]
    assert tokens["input"] + tokens["output"] == pytest.approx(tokens["about"], abs=1)
    cost = document["cost"]
    assert 0 < (cost["about"] if isinstance(cost, dict) else cost) < 100
    code, out, err = duologue(*COMMANDS[name], "--plan", *out_of(name))
    assert code == 0, err
    lines = out.splitlines()
    assert f"up to {calls['usual']:,} calls, and up to {calls['most']:,} if" in lines[0]
    assert [line.partition(":")[0] for line in lines if line.startswith(("tokens", "cost", "how tokens"))] == [
        "tokens", "cost", "how tokens are counted",
    ]  # fmt: skip
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def out_of(name: str) -> tuple[str, ...]:
    """Where the command would write, if it has a folder."""
    return () if name in ("readers", "judges") else ("--out", "new" if name != "profiles" else "new.txt")


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["next-turn", "readers", "profiles", "test"])
def test_what_is_planned_bounds_what_is_called(
    duologue: Command, folder: Path, faulty: Callable, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    pytest.importorskip(NEEDS.get(name, "json"))
    command = (*COMMANDS[name], *(("--journal", "new") if name == "readers" else out_of(name)))
    planned = json.loads(duologue(*command, "--plan", "--json")[1])
    endpoint = faulty(misbehave=0.3)
    for variable, value in endpoint.environment.items():
        monkeypatch.setenv(variable, value)
    again = ("--resume",) if name == "test" else ()
    assert duologue(*command, "--json")[0] in (0, 1)
    assert 0 < endpoint.counts()["requests"] <= planned["calls"]["most"]
    left = json.loads(duologue(*command, *again, "--plan", "--json")[1])
    assert left["calls"]["usual"] < planned["calls"]["usual"]


def test_a_judge_of_the_scenario_is_counted_with_the_calls(duologue: Command, folder: Path) -> None:
    command = ("test", "--scenarios", "judged.jsonl", "--user", "offline", "--max-turns", 2, "--plan", "--json")
    judged = json.loads(duologue(*command, "--judge", MODEL, "--out", "new")[1])
    assert judged["calls"] == {"usual": 3 * 2 * 2 + 3, "most": 3 * 2 * 2 * 4 + 3 * 3}
    assert judged["cost"]["about"] > 0
    assert judged["not_counted"] == []


def test_a_judge_of_drafts_is_counted_for_each_draft_and_sent_what_was_said_before() -> None:
    def cast(page: str) -> package.graphs.Cast:
        reviewer = judge(scripted_model("x"), page, {"rude": "is rude"})
        return agent_test.cast().replace(answer_validator=reviewer)

    states = agent_test.scenarios([{"goal": "Book a table."}] * 2)
    draft = conversations_planned(cast("Is it rude? {{ draft }}"), states, None, Limits(max_turns=3))
    whole = conversations_planned(cast("Is it rude? {{ draft }} {{ conversation }}"), states, None, Limits(max_turns=3))
    assert (draft.usual, draft.most, draft.further) == (2 * 3 * 3, 2 * 3 * (4 + 4 + 4 * 3), ())
    assert whole.estimated().tokens[1] > draft.estimated().tokens[1]


async def test_scores_at_the_end_take_what_is_estimated(tmp_path: Path) -> None:
    scorer = scorers.judged(scripted_model('{"reason": "so", "value": true}', tokens=(300, 9)), "It is done.")
    cast = agent_test.cast().replace(closing=scorers.scoring(success=scorer))
    states = agent_test.scenarios([{"goal": f"Book table {number}."} for number in range(8)])
    limits = Limits(max_turns=2)
    alone = conversations_planned(agent_test.cast(), states, None, limits)
    scored = conversations_planned(cast, states, None, limits)
    assert scored.usual - alone.usual == 8
    await package.asimulate(cast, states[:6], limits=limits, out=tmp_path / "r")
    assert len(load(tmp_path / "r").conversations) == 6
    left = conversations_planned(cast, states, tmp_path / "r", limits, resume=True)
    (closing,) = [calls for calls in left.estimated().calls if calls.model is not None]
    assert closing.ends[1] == CallTokens(600.0, 0.0, 18.0, 2.0)


def plan(count: int, what: str = "turns", further: tuple[str, ...] = ()) -> CallPlan:
    calls = ModelCalls.of(None, [(10, 2)] * count)
    estimate = CallEstimate((calls,), "as sent", {"about": f"of {what}"})
    return CallPlan(count, what, count, 4 * count, "each one", True, lambda: estimate, further)


def test_plans_are_joined_and_those_of_other_things_count_with_their_calls_alone() -> None:
    whole = joined({"a": plan(2), "b": plan(3, further=("assistant",)), "c": plan(4, "pages")}, "turns", "all", "parts")
    assert (whole.count, whole.usual, whole.most, whole.further) == (5, 9, 36, ("assistant",))
    assert whole.lines()[:4] == [
        "5 turns planned, all: up to 9 calls, and up to 36 if drafts are rejected; calls made by assistant are not counted",
        "a: 2 turns, 2 calls", "b: 3 turns, 3 calls", "c: 4 pages, 4 calls",
    ]  # fmt: skip
    assert whole.estimated().tokens == (108, 108, 108)
    assert whole.estimated().assumed == {"about": "of turns / of pages"}


def test_a_bound_holds_for_every_estimate_and_is_told() -> None:
    bounded = plan(5).plain(max_tokens=30)
    assert bounded["tokens"] == {"low": 30, "about": 30, "high": 30, "input": 25, "output": 5}
    assert bounded["assumed"]["at most"] == "a bound of the run ends it"
    assert "at most" not in plan(5).plain(max_tokens=60)["assumed"]
