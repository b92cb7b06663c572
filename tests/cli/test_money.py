"""What a run may cost and take, said before it begins and held while it goes on."""

import json
import re

import pytest

from duologue.cli.options.run import RunOptions
from duologue.cli.running.progress import Progress
from duologue.data import simquac as topics
from duologue.errors import SettingError
from duologue.graphs import simquac
from duologue.nodes import Limits
from duologue.runs.planning.conversations import conversations_planned

PLAN = ("simulate", "simquac", "--limit", "3", "--max-turns", "4", "--plan")


@pytest.fixture
def endpoint(monkeypatch):
    """Two models behind an endpoint that is never called."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    return lambda model: ("--user", f"openai:{model}", "--assistant", f"openai:{model}")


def test_a_plan_tells_conversations_calls_tokens_and_cost_and_ends(duologue, tmp_path, endpoint):
    code, out, err = duologue(*PLAN, *endpoint("gpt-4.1-mini"), "--out", tmp_path / "r")
    first, tokens, cost, *assumed = out.splitlines()
    assert (
        first == "3 conversations planned, each of up to 4 turns: up to 24 calls, and up to 96 if drafts are rejected"
    )
    assert re.fullmatch(r"tokens: about [\d,]+ \(at least [\d,]+, at most [\d,]+\)", tokens)
    assert re.fullmatch(r"cost:   about \$0.\d+ \(at least \$0.0\d+, at most \$0.\d+\)", cost)
    assert assumed[:3] == [
        "about: 4 turns with messages of 20 tokens (user) and 28 (assistant), as in the published simulated "
        "conversations of SimQuAC; one draft in ten is retried",
        "at least: one turn of short messages, and no draft is rejected",
        "at most: 4 turns of long messages, and each draft is rejected as often as may be",
    ]
    assert "first calls as they would be sent" in assumed[3]
    assert (code, err, list(tmp_path.iterdir())) == (0, "", [])


def test_a_plan_needs_no_key(duologue, tmp_path, endpoint, monkeypatch):
    with_key = duologue(*PLAN, *endpoint("gpt-4.1-mini"), "--out", tmp_path / "r")
    monkeypatch.delenv("OPENAI_API_KEY")
    assert duologue(*PLAN, *endpoint("gpt-4.1-mini"), "--out", tmp_path / "r") == with_key


def test_a_plan_as_json_says_what_is_unknown(duologue, tmp_path, endpoint):
    code, out, _ = duologue(*PLAN, *endpoint("mine"), "--json", "--out", tmp_path / "r")
    document = json.loads(out)
    assert (code, document["conversations"], document["calls"]) == (0, 3, {"usual": 24, "most": 96})
    assert 0 < document["tokens"]["low"] < document["tokens"]["about"] < document["tokens"]["high"]
    assert set(document["assumed"]) == {"about", "at least", "at most"}
    assert (document["cost"], document["cost_unknown"]) == (None, "no price of the model 'mine' is known")


def test_a_plan_of_offline_speakers_costs_nothing(duologue, tmp_path):
    _, out, _ = duologue(*PLAN, "--out", tmp_path / "r")
    assert "cost:   nothing: no language model is called" in out


def test_a_test_of_an_agent_has_a_plan_too(duologue, tmp_path):
    file = tmp_path / "s.jsonl"
    file.write_text('{"goal": "Book a table.", "facts": [], "success": {"text_contains": "booked"}}\n')
    code, out, _ = duologue("test", "--scenarios", file, "--repeats", "7", "--plan", "--out", tmp_path / "r")
    assert (code, out.startswith("7 conversations planned")) == (0, True)
    assert not (tmp_path / "r").exists()


def test_a_resumed_run_is_estimated_by_what_is_finished(duologue, tmp_path):
    run = ("simulate", "simquac", "--max-turns", "2", "--out", tmp_path / "r")
    assert duologue(*run)[0] == 0
    file = tmp_path / "r" / "conversations.jsonl"
    lines = file.read_text().splitlines(True)
    file.write_text("".join(lines[:5]))
    scenarios = list(simquac.scenarios(topics.samples()))
    about = conversations_planned(
        simquac.cast(), scenarios, tmp_path / "r", Limits(max_turns=2)
    ).estimated()
    tokens = [sum(m["usage"]["input_tokens"] + m["usage"]["output_tokens"] for m in used(line)) for line in lines[:5]]
    mean = sum(tokens) / 5 * (len(lines) - 5)
    assert about.tokens[0] <= mean <= about.tokens[2]
    assert about.tokens[1] == pytest.approx(mean, abs=1)
    assert about.rule.startswith("the mean of the 5 finished conversations")
    code, out, _ = duologue(*run, "--plan")
    assert (code, out.split()[0]) == (0, f"{len(lines) - 5}")


def used(line):
    return [draft for message in json.loads(line)["messages"] for draft in message["attempts"]]


async def test_longer_conversations_of_more_take_more(tmp_path, endpoint):
    scenarios = list(simquac.scenarios(topics.samples()))

    def tokens(count, turns):
        cast = simquac.cast(user="openai:m", assistant="openai:m")
        # In a thread of its own, as the command is in no event loop.
        return conversations_planned(cast, scenarios[:count], None, Limits(max_turns=turns)).estimated().tokens

    import asyncio

    small, more, longer = [await asyncio.to_thread(tokens, *plan) for plan in ((1, 2), (3, 2), (1, 8))]
    assert all(one > other for one, other in zip(more, small, strict=True))
    assert longer[0] == small[0]  # one exchange at least, whatever the limit
    assert longer[1] > 4 * small[1]  # what was said is sent again with each call
    assert longer[2] > 4 * small[2]


def plan_of(duologue, *more):
    return json.loads(duologue(*PLAN, *more, "--json", "--out", "r")[1])["tokens"]


def test_a_plan_at_most_uses_every_bound_up(duologue, endpoint):
    sides = endpoint("gpt-4.1-mini")
    most = plan_of(duologue, *sides)["high"]
    assert plan_of(duologue, *sides, "--question-attempts", 1, "--answer-attempts", 1)["high"] == pytest.approx(
        most / 4, abs=2
    )
    assert plan_of(duologue, *(f"{side}?max_tokens=4000" if ":" in side else side for side in sides))["high"] > 4 * most
    assert plan_of(duologue, *sides, "--max-tokens", 1000)["high"] == 3000
    bounded = plan_of(duologue, *sides, "--max-tokens", 5000)
    assert (bounded["about"], bounded["high"], bounded["input"] + bounded["output"]) == (5000, 5000, 5000)
    assert bounded["low"] == pytest.approx(3900, abs=1100)


def test_a_plan_within_a_bound_of_the_run_says_so(duologue, endpoint):
    out = duologue(*PLAN, *endpoint("gpt-4.1-mini"), "--max-cost", "0.001", "--out", "r")[1]
    assert "at most $0.001)" in out
    assert "each draft is rejected as often as may be; then a bound of the run ends it" in out


def test_conversations_that_their_user_ends_are_not_expected_to_go_on_to_the_limit(duologue, endpoint):
    sides = endpoint("gpt-4.1-mini")
    out = duologue("simulate", "recllmsim", "--sample", 3, *sides, "--plan", "--out", "r")[1]
    assert "about: 4 turns with messages of 132 tokens (user) and 349 (assistant), as in" in out
    assert "at most: 10 turns of long messages" in out


def test_a_bounded_cost_with_an_unknown_price_is_refused_before_the_folder_is_made(duologue, tmp_path, endpoint):
    code, _, err = duologue("simulate", "simquac", "--max-cost", "5", *endpoint("mine"), "--out", tmp_path / "r")
    assert code == 2
    assert "the price of the model 'mine' (127.0.0.1:9) is unknown: bound the run by --max-tokens instead" in err
    assert err.count("\n") == 1, "nothing is said before, such as where calls would go"
    assert not (tmp_path / "r").exists()


def test_an_agents_own_calls_are_said_to_count_in_no_bound(duologue, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("def agent(messages):\n    return 'Hm.'\n")
    monkeypatch.chdir(tmp_path)
    _, _, err = duologue(
        "simulate", "simquac", "--limit", "1", "--max-turns", "1", "--max-tokens", "10000",
        "--assistant", "mine:agent", "--out", "r",
    )  # fmt: skip
    assert "calls that the assistant makes itself count in no bound of the run" in err


@pytest.mark.parametrize(
    ("option", "line"),
    [
        (("--max-cost", "0"), "'0' is not a bound: give a number above 0"),
        (("--max-cost", "nan"), "'nan' is not a bound"),
        (("--max-time", "soon"), "'soon' is not a duration: write 45s"),
        (("--max-tokens", "0"), "--max-tokens"),
        (
            ("--concurrency", "0"),
            "Invalid value for '--concurrency': '0' is not a positive integer: write one from 1, or auto",
        ),
        (("--shard", "3/2"), "expected K/N"),
        (("--patience", "-1"), "'-1' is not a duration"),
    ],
)
def test_a_bound_that_is_none_is_one_line(duologue, tmp_path, option, line):
    code, out, err = duologue("simulate", "simquac", *option, "--out", tmp_path / "r")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert line in err


@pytest.mark.parametrize(
    ("bound", "faults"), [(("--max-cost", "0.006"), {}), (("--max-tokens", "11000"), {"429": 0.1})]
)
def test_a_run_that_is_resumed_at_the_bound_that_ended_it_tells_its_sum_and_hardly_calls(
    duologue, faulty, monkeypatch, bound, faults
):
    pytest.importorskip("genai_prices")
    served = faulty(latency=0.02, misbehave=0.2, faults=faults)
    for name, value in served.environment.items():
        monkeypatch.setenv(name, value)
    sides = [f"--{side}=openai:gpt-4.1-mini" for side in ("user", "assistant")]
    run = ("simulate", "simquac", *sides, *bound, "--max-turns", 2, "--concurrency", 3, "--out", "r")
    lines = []
    for more in ((), ("--resume",)):
        code, out, err = duologue(*run, *more)
        assert (code, out[0] in "123456") == (1, True)
        lines.append((re.findall(r"is reached, with (\S+)", err), served.counts()["requests"]))
    (before, asked), (after, asked_again) = lines
    assert asked_again <= asked + 1  # one call fits, which the three under way left no room for
    assert len(before) == len(after) == 1
    assert _number(after[0]) >= _number(
        before[0]
    )  # a reply that came while the run ended is kept, and counts from then on


def _number(sum_told):
    return float(sum_told.strip("$:;,").replace(",", ""))


def test_options_become_a_pace_and_a_control():
    options = RunOptions(patience=5, max_cost=2, max_run_tokens=9)
    assert (options.pace.patience, options.pace.concurrency) == (5, None)
    control = options.control()
    assert (control.spending.max_cost, control.spending.max_tokens, control.pace) == (2, 9, options.pace)
    with pytest.raises(SettingError):
        RunOptions(max_cost=-1).control()


def test_a_line_of_a_log_begins_with_the_time_of_day(capsys):
    notify = RunOptions().control().notify
    assert notify is not None
    notify("api.example.com fails call after call")
    with Progress(7) as progress:
        progress._tell()
    first, second, last = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"\d\d:\d\d:\d\d api.example.com fails call after call", first)
    assert re.fullmatch(r"\d\d:\d\d:\d\d 0/7 conversations, 0 turns.*", second)
    assert re.fullmatch(r"\d\d:\d\d:\d\d 0/7 conversations, 0 turns.*", last)


def test_help_groups_money_and_pace(duologue):
    _, out, _ = duologue("simulate", "simquac", "--help")
    assert "Money and time" in out
    assert "Pace of calls" in out
    assert "[default: 10m]" in out
