"""How a run is brought to its end before its plan is done."""

import asyncio
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from duologue import Limits, runs
from duologue.data import simquac as topics
from duologue.graphs import simquac
from duologue.nodes.calls.service import drafted
from duologue.nodes.calls.spending import PriceQuery, Spending
from duologue.nodes.calls.store import Call
from duologue.nodes.models.scripted import ScriptedModel
from duologue.runs.engine.control import Control, default_control
from duologue.runs.engine.conversing import do_all

Loop: Any = asyncio.SelectorEventLoop


class VirtualTime(Loop):  # type: ignore[misc]
    """A loop whose clock jumps to the next timer."""

    now = 0.0

    def time(self):
        return self.now

    def _run_once(self):
        if not self._ready and self._scheduled:
            self.now = max(self.now, self._scheduled[0].when())
        super()._run_once()


def test_who_ends_it_says_why_and_the_first_reason_stays():
    control = Control()
    assert control.begins
    control.end("interrupted")
    control.end("again")
    assert (control.begins, control.ending, control.spent()) == (False, "interrupted", None)


def test_a_cut_ends_also_what_is_under_way():
    control = Control()
    control.cut("--max-time is over")
    assert (control.begins, control.ending, control.spent()) == (False, "--max-time is over", "--max-time is over")


def test_spending_that_is_over_cuts_the_run():
    control = Control(Spending(max_tokens=10))
    assert control.spent() is None
    control.spending.add("m", {"input_tokens": 10}, role="user", query=PriceQuery("m"))
    assert control.spent() == "--max-run-tokens 10 is reached, with 10 tokens"
    assert not control.begins


def test_time_that_is_over_cuts_the_run_and_a_run_that_was_faster_is_left_alone():
    async def work(seconds):
        control = Control()
        with control.within(60):
            await asyncio.sleep(seconds)
        return control.cutting

    with asyncio.Runner(loop_factory=VirtualTime) as runner:
        assert runner.run(work(59)) is None
        assert runner.run(work(61)) == "--max-time is over, 60 seconds"


def test_without_a_bound_there_is_no_timer():
    with Control().within(None):
        pass


def test_a_control_holds_inside_alone():
    control = Control()
    with control.as_default():
        assert default_control() is control
    assert default_control() is not control


async def test_a_run_that_is_ended_begins_no_further_conversation(tmp_path):
    control = Control()
    scenarios = simquac.scenarios(topics.samples()[:4])
    with control.as_default():
        summary = await runs.arun(
            simquac.cast(), scenarios, tmp_path / "run", limits=Limits(max_turns=1), concurrency=1,
            keep=lambda _: control.end("enough"),
        )  # fmt: skip
    assert (summary.finished, summary.planned) == (1, 4)


class Served(ScriptedModel):
    """Replies after so many seconds; writes down when it was called."""

    seconds: float
    called: list[float]

    async def _agenerate(self, messages, stop=None, run_manager=None, **kwargs):
        self.called.append(asyncio.get_running_loop().time())
        await asyncio.sleep(self.seconds)
        return self._generate(messages)


@pytest.mark.parametrize(("takes", "most"), [(0.4, 3.4), (6.0, 9.0), (10_000.0, 13.0)])
def test_after_the_bound_no_call_begins_and_calls_under_way_have_ten_seconds(takes, most):
    model, ended = Served(lines=["Yes."], seconds=takes, called=[]), []

    async def talk(number):
        try:
            for turn in range(50):
                await drafted(model, [HumanMessage("Hello?")], Call(0, str(number), "user", turn))
        finally:
            ended.append(asyncio.get_running_loop().time())

    async def main():
        control = Control()
        with control.within(3):
            await do_all(range(100), talk, control.call_service(), control, 5)
        return asyncio.get_running_loop().time()

    with asyncio.Runner(loop_factory=VirtualTime) as runner:
        over = runner.run(main())
    assert max(model.called) <= 3
    assert len(ended) == 5
    assert over <= most + 0.01
