"""Runs at the same time under one control take turns, and share their number, endpoints and bounds."""

import asyncio

import pytest

from duologue.nodes.calls.spending import Spending
from duologue.runs.engine.control import Control
from duologue.runs.engine.conversing import do_all


class Work:
    """Pieces of work that each take some steps of the loop; remembers in which order they began."""

    def __init__(self):
        self.begun, self.under_way, self.most = [], 0, 0

    async def loop(self, control, name, pieces, steps, concurrency=3):
        async def do(number):
            self.begun.append(name)
            self.under_way += 1
            self.most = max(self.most, self.under_way)
            for _ in range(steps):
                await asyncio.sleep(0)
            self.under_way -= 1

        await do_all(range(pieces), do, control.call_service(), control, concurrency)


def test_two_runs_begin_their_conversations_in_turn_however_long_these_take():
    control, work = Control(), Work()
    asyncio.run(both(control, work.loop(control, "old", 6, 1), work.loop(control, "new", 6, 30)))
    assert work.begun == ["old", "new"] * 6
    assert work.most == 3


def test_a_run_with_less_to_do_does_not_hold_up_the_other():
    control, work = Control(), Work()
    asyncio.run(both(control, work.loop(control, "old", 1, 1), work.loop(control, "new", 5, 2)))
    assert work.begun == ["old", *["new"] * 5]
    nothing = Work()
    asyncio.run(both(control, nothing.loop(control, "old", 0, 1), nothing.loop(control, "new", 2, 2)))
    assert nothing.begun == ["new", "new"]


def test_one_at_a_time_is_one_of_all():
    control, work = Control(), Work()
    asyncio.run(both(control, work.loop(control, "old", 3, 4, 1), work.loop(control, "new", 3, 2, 1)))
    assert (work.begun, work.most) == (["old", "new"] * 3, 1)


def test_runs_at_the_same_time_share_endpoints_and_what_is_reserved():
    control = Control(Spending(max_tokens=10))

    async def main():
        alone = control.call_service()

        async def run():
            return control.call_service()

        one, other = await control.in_turns([run(), run()])
        return alone, one, other, control.call_service()

    alone, one, other, after = asyncio.run(main())
    assert one.gate("http://there/v1") is other.gate("http://there/v1")
    assert one.reservations is other.reservations
    assert one.reservations is not alone.reservations
    assert one.reservations is not after.reservations
    assert control.services == [after]


def test_closing_ends_the_work_of_each_run():
    control, cancelled = Control(), []

    async def loop(name):
        async def do(number):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.append(name)

        await do_all(range(1), do, control.call_service(), control, 4)

    async def main():
        asyncio.get_running_loop().call_later(0.01, control.close, "interrupted")
        await control.in_turns([loop("old"), loop("new")])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("duologue.runs.engine.control.LAST_SECONDS", 0.01)
        asyncio.run(main())
    assert sorted(cancelled) == ["new", "old"]


def test_the_first_error_is_raised_as_it_is_and_the_other_run_is_cancelled():
    control, ended = Control(), []

    async def long():
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("long")

    async def broken():
        await asyncio.sleep(0)
        raise ValueError("a full disk")

    with pytest.raises(ValueError, match="a full disk"):
        asyncio.run(both(control, long(), broken()))
    assert len(ended) == 1
    assert control.turns is None


async def both(control, *runs):
    return await control.in_turns(runs)
