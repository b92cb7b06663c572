"""A reply that has come is paid for: it is kept although whoever waits for it is cancelled."""

import asyncio

import pytest

from duologue.nodes.calls.tries import LAST_TURNS, reply_despite_cancellation


async def reply_after(turns: int) -> str:
    for _ in range(turns):
        await asyncio.sleep(0)
    return "reply"


def unusable(reply: str) -> None:
    raise ValueError(f"{reply} is empty")


def cancelled_at_once(work):
    """What waiting for a call gives that is cancelled in its first turn."""

    async def main():
        task = asyncio.create_task(work)
        await asyncio.sleep(0)
        task.cancel()
        return await task

    return main()


@pytest.mark.parametrize("check", [None, len])
async def test_a_reply_comes_without_a_cancellation(check):
    assert await reply_despite_cancellation(reply_after(3), check) == ("reply", None)


async def test_a_reply_that_cannot_be_used_is_an_error_of_the_call():
    with pytest.raises(ValueError, match="reply is empty"):
        await reply_despite_cancellation(reply_after(3), unusable)


async def test_a_reply_that_comes_within_the_last_turns_is_given_with_the_cancellation():
    reply, cancelled = await cancelled_at_once(reply_despite_cancellation(reply_after(2), len))
    assert reply == "reply"
    assert isinstance(cancelled, asyncio.CancelledError)


async def test_a_cancellation_outweighs_a_reply_that_cannot_be_used():
    with pytest.raises(asyncio.CancelledError):
        await cancelled_at_once(reply_despite_cancellation(reply_after(2), unusable))


async def test_a_call_that_takes_longer_than_the_last_turns_is_cancelled_itself():
    ended = []

    async def slow():
        try:
            await reply_after(10 * LAST_TURNS)
        finally:
            ended.append(True)

    with pytest.raises(asyncio.CancelledError):
        await cancelled_at_once(reply_despite_cancellation(slow()))
    assert ended == [True]
