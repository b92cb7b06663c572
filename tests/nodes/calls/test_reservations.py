"""What calls under way may take is held back from the budget: together they do not pass it."""

import asyncio
import random

import pytest

from duologue.nodes.calls.prices import PriceQuery
from duologue.nodes.calls.reservations import CallKind, Reservations, RunOverError
from duologue.nodes.calls.spending import Spending

MINI = PriceQuery("gpt-4.1-mini", "openai", "http://127.0.0.1:9/v1")


async def spend(reservations, workers, *, sent=300, mean=200, ratio=1.3, seed=1):
    """Let so many workers call until none may; replies are of very unequal lengths, and prompts longer than expected."""
    chance = random.Random(seed)

    async def work(role):
        while True:
            async with reservations.room(CallKind(role, MINI), sent) as took:
                await asyncio.sleep(chance.uniform(0.2, 2.0))
                replied = round(min(10 * mean, chance.lognormvariate(0, 0.8) * mean / 1.377))
                usage = {"input_tokens": round(sent * ratio), "output_tokens": replied}
                counted = reservations.spending.add(None, usage, role=role, query=MINI)
                took(counted["input_tokens"], counted["output_tokens"])

    ended = await asyncio.gather(
        *(work("user" if number % 2 else "assistant") for number in range(workers)), return_exceptions=True
    )
    assert {type(error) for error in ended} == {RunOverError}


@pytest.mark.parametrize("workers", [1, 8, 64])
@pytest.mark.parametrize("bound", [8_000, 40_000, 400_000])
def test_no_more_than_a_tenth_over_the_tokens_is_spent_and_little_is_left(run, workers, bound):
    for seed in range(5):
        spending = Spending(max_tokens=bound)
        run(spend(Reservations(spending), workers, seed=seed))
        assert 0.8 * bound < spending.total.tokens < 1.1 * bound
        assert spending.over().startswith(
            f"--max-run-tokens {bound:,} is reached, with {spending.total.tokens:,} tokens"
        )


def test_no_more_than_a_tenth_over_the_cost_is_spent(run):
    pytest.importorskip("genai_prices")
    spending = Spending(max_cost=0.02)
    run(spend(Reservations(spending), 64))
    assert 0.8 * 0.02 < spending.total.cost < 1.1 * 0.02


def test_a_call_that_would_pass_the_bound_alone_is_not_made_and_the_line_gives_its_length(run):
    spending = Spending(max_tokens=250)
    run(spend(Reservations(spending), 3))
    assert spending.total.calls == 0
    assert spending.over() == (
        "--max-run-tokens 250 is reached, with 0 tokens: the next call, of about 300 tokens, would pass it"
    )


def test_without_a_bound_every_call_begins_at_once(run):
    async def main():
        reservations = Reservations(Spending())
        entered = 0
        async with asyncio.TaskGroup() as tasks:

            async def work():
                nonlocal entered
                async with reservations.room(CallKind("user", MINI), 10**9):
                    entered += 1
                    await asyncio.sleep(1)

            for _ in range(20):
                tasks.create_task(work())
            await asyncio.sleep(0.5)
            assert entered == 20

    run(main())


def test_calls_inside_an_agents_turn_do_not_wait_for_the_turn_that_makes_them(run):
    async def main():
        reservations = Reservations(Spending(max_tokens=1000))
        async with (
            reservations.room(CallKind("agent as assistant", None), 0),
            reservations.room(CallKind("judge", MINI), 5000),
        ):
            return True

    assert run(main())


def test_a_part_of_a_budget_waits_for_more_and_says_that_it_is_short(run):
    async def main():
        spending = Spending()
        spending.take_part(Spending(max_tokens=2000).part)
        reservations = Reservations(spending)
        task = asyncio.ensure_future(spend(reservations, 4))
        await asyncio.sleep(100)
        first = spending.total.tokens, reservations.short > 0, spending.over()
        spending.take_part(Spending(max_tokens=9000).part)
        reservations.wake()
        await asyncio.sleep(100)
        second = spending.total.tokens
        reservations.close()
        await task
        return first, second

    (first, short, over), second = run(main())
    assert 1000 < first < 2200
    assert (short, over) == (True, None)
    assert 7000 < second < 9900


def test_when_nothing_may_begin_any_more_who_waits_is_sent_away(run):
    async def main():
        reservations = Reservations(Spending(max_tokens=1000))
        async with reservations.room(CallKind("user", MINI), 900):
            waiting = asyncio.ensure_future(spend(reservations, 2))
            await asyncio.sleep(1)
            reservations.close()
            await waiting

    run(main())


def test_no_call_is_short_of_the_budget_before_one_waits():
    assert Reservations(Spending()).short == 0


async def test_a_call_that_an_agent_makes_inside_its_turn_has_its_room_there():
    reservations = Reservations(Spending(max_tokens=500))
    kind = CallKind("assistant", MINI)
    async with asyncio.timeout(10), reservations.room(kind, 300), reservations.room(kind, 300) as took:
        took(1, 1)  # any other would wait until the first has ended
