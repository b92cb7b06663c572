"""Budgets, time, Ctrl-C, progress and the plan of a run."""

import asyncio
import os
import re
import signal
import threading
import time

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult

import duologue
from duologue import runs
from duologue.data import Conversation
from duologue.data.identity import digest
from duologue.errors import SettingError
from duologue.graphs import agent_test, simquac
from duologue.nodes import Limits
from duologue.nodes.calls import spending
from duologue.nodes.calls.service import Calls
from duologue.runs.plan import conversations_planned
from duologue.runs.progress import Figures
from duologue.testing import scripted_model

GOAL = {"goal": "book a table for two", "success": {"text_contains": "booked"}}
AGENT = """
import time
from pathlib import Path

def blocks(messages):
    Path("called").touch()
    time.sleep(300)
    return "late"

async def blocks_the_loop(messages):
    return blocks(messages)

def answers(messages):
    Path("called").touch()
    return "It is fine."
"""


def goals(count):
    return agent_test.scenarios([{**GOAL, "goal": f"book table {number}"} for number in range(count)])


def talker(tokens=(40, 10)):
    return scripted_model("Could you tell me more?", tokens=tokens)


def test_tokens_are_bounded_over_all_calls_also_over_those_of_an_earlier_command(tmp_path):
    cast, call = (
        agent_test.cast(scripted_model("I want to book a table.", tokens=(40, 10)), talker()),
        {"out": tmp_path / "r", "limits": Limits(max_turns=4)},
    )
    first = duologue.simulate(cast, goals(40), **call, max_tokens=2_000, concurrency=16)
    used = sum(one.usage.tokens for one in first)
    assert 1_400 <= used <= 2_200
    assert {one.stop for one in first} <= {"budget", "cancelled", "max_turns"}
    again = duologue.simulate(cast, goals(40), **call, max_tokens=2_000, concurrency=16)
    assert sum(one.usage.tokens for one in again) <= 2_200
    whole = duologue.simulate(cast, goals(40), **call, max_tokens=10**6)
    assert {one.stop for one in whole} == {"max_turns"}


class Varied(BaseChatModel):
    """A chat model whose replies take more or fewer tokens, by what it is sent."""

    @property
    def _llm_type(self):
        return "varied"

    def _generate(self, *_, **__):
        raise NotImplementedError

    async def _agenerate(self, messages, stop=None, run_manager=None, **kwargs):
        number = int(digest([str(message.content) for message in messages])[:6], 16)
        await asyncio.sleep(number % 7 / 1000)
        sent, said = sum(len(str(message.content)) for message in messages) // 4, round(20 * 1.5 ** (number % 8))
        usage = {"input_tokens": sent, "output_tokens": said, "total_tokens": sent + said}
        reply = AIMessage("I see. Please go on. " * (1 + said // 40), usage_metadata=usage)
        return ChatResult(generations=[ChatGeneration(message=reply)])


@pytest.mark.parametrize("bound", [0.005, 0.01, 0.05])
def test_the_bound_of_the_cost_is_hardly_passed_by_many_calls_at_the_same_time(monkeypatch, bound):
    def price(query, tokens):
        return (0.4 * tokens.get("input_tokens", 0) + 1.6 * tokens.get("output_tokens", 0)) / 1e6

    monkeypatch.setattr(spending, "price", price)
    cast = agent_test.cast(Varied(), Varied())
    talks = duologue.simulate(cast, goals(200), limits=Limits(max_turns=6), max_cost=bound, concurrency=64)
    usages = [attempt.usage for one in talks for attempt in one.attempts() if attempt.usage is not None]
    spent = sum(price(None, usage.model_dump()) for usage in usages)
    assert 0.4 * bound < spent <= 1.1 * bound


def test_time_is_bounded_also_while_an_agent_blocks():
    def agent(messages):
        time.sleep(30)

    (one,) = duologue.simulate(agent_test.cast("offline", agent), goals(1), max_time=0.3)
    assert one.stop == "budget"


@pytest.mark.parametrize(
    "wrong", [{"concurrency": 0}, {"max_cost": -1}, {"shard": "3/2"}, {"frozen": True}, {"repeat": 3}]
)
def test_a_wrong_setting_is_one_line(wrong):
    with pytest.raises(SettingError, match=next(iter(wrong))):
        duologue.simulate(simquac.cast(), simquac.scenarios(duologue.data.simquac.samples()[:1]), **wrong)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("agent", ["blocks", "blocks_the_loop", "answers"])
def test_a_signal_ends_a_run_in_order_and_says_how_to_go_on(forks, tmp_path, agent, number, code):
    (tmp_path / "mine.py").write_text(AGENT)
    (tmp_path / "goals.jsonl").write_text('{"goal": "book a table"}\n' * 200)
    command = f"test --assistant mine:{agent} --scenarios goals.jsonl --max-turns 9 --concurrency 2 --out run"
    fork = forks(command.split(), tmp_path, {})
    while not (tmp_path / "called").exists() and not fork.over:
        time.sleep(0.01)
    os.kill(fork.pid, number)
    assert fork.wait(60) == code
    assert len(re.findall(r"(?m)^interrupted: .*continue: the same command with --out run$", fork.stderr)) == 1
    if agent != "blocks_the_loop":
        assert (tmp_path / "run" / "conversations.jsonl").stat().st_size > 0


def test_ctrl_c_in_a_script_writes_down_what_is_under_way_and_says_how_to_go_on(tmp_path):
    called: list[object] = []

    def agent(messages):
        called.append(messages)
        if len(called) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait()

    with pytest.raises(KeyboardInterrupt) as raised:
        duologue.simulate(agent_test.cast("offline", agent), goals(3), out=tmp_path / "r")
    assert "continue: the same call with out=" in raised.value.__notes__[-1]
    assert [one.stop for one in duologue.data.record_lines.StoredRun(tmp_path / "r").cut_short()] == ["cancelled"] * 3


def test_progress_tells_what_is_finished_succeeded_rejected_spent_and_left():
    calls = Calls()
    calls.spending.add("m", {"input_tokens": 900, "output_tokens": 100}, query=None)
    figures = Figures(4, calls)
    (one,) = duologue.test(lambda messages: "It is booked.", [GOAL]).records
    figures.add(one)
    figures.add(Conversation(id="x", scenario={}, stop="model_failed"))
    line = re.sub(r"[\d.e+]+ calls/s \| \d:\d\d:\d\d left", "N calls/s | T left", figures.line)
    parts = "2 of 4 conversations | 1 failed | 1 of 1 succeeded | 1,000 tokens | N calls/s | T left"
    assert line == parts


def test_a_plan_counts_conversations_and_calls_and_takes_tokens_from_the_finished_ones(tmp_path):
    cast, limits = agent_test.cast(talker(), talker()), Limits(max_turns=2)
    settings = runs.RunSettings(out=tmp_path / "r", repeats=2)
    plan = conversations_planned({"": cast}, goals(3), settings, limits)
    assert (plan.count, plan.usual, plan.tokens) == (6, 24, None)
    duologue.simulate(cast, goals(1), out=tmp_path / "r", limits=limits)
    plan = conversations_planned({"": cast}, goals(3), settings, limits)
    assert (plan.count, plan.tokens) == (5, 5 * 4 * 50)
    assert "5 conversations planned, each of up to 2 turns: up to 20 calls" in plan.line
    both = conversations_planned({"": cast, "against": cast}, goals(3), runs.RunSettings(), limits)
    assert (both.count, both.usual) == (6, 24)


def test_a_frozen_run_calls_no_model_and_says_which_call_it_lacks(tmp_path):
    model, call = talker(), {"limits": Limits(max_turns=2)}
    first = duologue.simulate(agent_test.cast(model, talker()), goals(2), out=tmp_path / "r", **call)
    asked = len(model.sent)
    replies = {"replies": tmp_path / "r" / "replies.sqlite", "frozen": True}
    again = duologue.simulate(agent_test.cast(model, talker()), goals(2), **replies, **call)
    assert [one.without_timing().messages for one in again] == [one.without_timing().messages for one in first]
    assert len(model.sent) == asked
    (lacking,) = duologue.simulate(agent_test.cast(model, talker()), goals(3)[2:], **replies, **call)
    assert "has no call of user in turn 1" in lacking.failure.error
