"""Refusals as too many: those of a limit end when less is sent, those that come by chance do not."""

import asyncio
import random
from typing import Any

import pytest

from duologue.nodes.calls.call_queue import QueueTurn
from duologue.nodes.calls.refusal_causes import Refusals, cause

NEVER: Any = None
"""Nobody waits for the permission of a turn here."""


def by_chance(calls, share, latency=0.2, after=None):
    """An endpoint that refuses this share of the requests, however few there are."""

    async def answer(endpoint, what):
        refused = endpoint.chance.random() < share
        await asyncio.sleep(0.002 if refused else latency)
        if refused:
            raise calls.fault("rate_limited", "limit", after)
        return what

    return calls.Endpoint(answer)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_refusals_by_chance_do_not_bring_the_run_to_a_standstill(run, calls, share, seed):
    async def main():
        endpoint = by_chance(calls, share)
        endpoint.chance.seed(seed)
        return await endpoint.conversations(20, 20), len(endpoint.requests), calls.seconds()

    finished, requests, seconds = run(main())
    assert finished == 20
    assert requests < 1.2 * 400 / (1 - share)
    # Slowing down for each of them it takes an hour at 10 %, two days at 30 %.
    assert seconds < (150 if share < 0.3 else 300)


@pytest.mark.parametrize("share", [0.1, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_a_wait_that_a_refusal_by_chance_asks_for_holds_for_its_call_alone(run, calls, share, seed):
    async def main():
        endpoint = by_chance(calls, share, after=1.0)
        endpoint.chance.seed(seed)
        return await endpoint.conversations(20, 20), endpoint.requests, calls.seconds()

    finished, requests, seconds = run(main())
    assert finished == 20
    # Where each of them holds for all it takes eight minutes at 10 %, ten hours at 30 %.
    assert seconds < 240
    tries = {}
    for time, what in requests[-100:]:
        assert time > tries.get(what, -10) + 1.0
        tries[what] = time


@pytest.mark.parametrize("seed", [4711, *range(4)])
def test_a_limit_beside_chance_is_still_found_out(run, calls, seed):
    async def main():
        limited = calls.Limited(10, 0.2)

        async def answer(endpoint, what):
            if endpoint.chance.random() < 0.2:
                raise calls.fault("rate_limited", "limit")
            return await limited(endpoint, what)

        endpoint = calls.Endpoint(answer)
        endpoint.chance.seed(seed)
        return await endpoint.conversations(40, 20), len(endpoint.requests), limited.refused, calls.seconds()

    finished, requests, refused, seconds = run(main())
    assert finished == 40
    assert refused < 0.2 * requests
    assert seconds < 3 * 800 / 10


@pytest.mark.parametrize("seed", range(2))
def test_a_limit_an_outage_and_faults_together_leave_a_pace(run, calls, seed):
    async def main():
        limited = calls.Limited(10, 0.3)

        async def answer(endpoint, what):
            if 20 <= calls.seconds() < 35:
                raise calls.fault("unreachable")
            draw = endpoint.chance.random()
            if draw < 0.3:
                raise calls.fault("rate_limited", "limit") if draw < 0.04 else calls.fault("server_error")
            return await limited(endpoint, what)

        endpoint = calls.Endpoint(answer)
        endpoint.chance.seed(seed)
        finished = await endpoint.conversations(24, 30)
        return finished, calls.seconds(), [time for time, _ in endpoint.requests]

    finished, seconds, times = run(main())
    assert finished == 24
    assert seconds < 15 + 5 * 24 * 30 / 10
    for begin in range(60, int(seconds) - 60, 30):
        assert sum(begin <= time < begin + 30 for time in times) > 30


@pytest.mark.parametrize(("first", "then"), [(20, 5), (50, 20), (10, 1)])
def test_a_limit_that_falls_is_not_taken_for_chance(run, calls, first, then):
    async def main():
        limited = calls.Limited(first, 0.2)
        endpoint = calls.Endpoint(limited)
        loop = asyncio.get_running_loop()
        counted = []
        loop.call_later(20, setattr, limited, "per_second", then)
        loop.call_later(40, lambda: counted.append((limited.refused, len(endpoint.requests))))
        await endpoint.conversations(30, (20 * first + 120 * then) // 30)
        refused, requests = counted[0]
        return limited.refused - refused, len(endpoint.requests) - requests, endpoint

    refused, requests, _ = run(main())
    assert refused < 0.2 * requests


def sent(pattern: str) -> list[QueueTurn]:
    """A call each tenth of a second for each letter, `r` refused; nothing is sent for two seconds at a blank."""
    turns, now = [], 0.0
    for letter in pattern:
        now += 2.0 if letter == " " else 0.1
        if letter != " ":
            turns.append(QueueTurn(10, NEVER, sent=now, refused=letter == "r"))
    return turns


def drawn(share: float, pattern: str, seed: int = 1) -> list[QueueTurn]:
    """The calls of this pattern, of which this share is refused besides."""
    chance = random.Random(seed)
    return sent("".join("r" if letter == "." and chance.random() < share else letter for letter in pattern))


def test_refusals_above_a_load_are_a_limit():
    why = cause(sent("....rr " * 10), 128)
    assert why.limit == why.both > 10
    assert why.explained == pytest.approx(1)
    assert (why.share, why.below) == (pytest.approx(1 / 3), 0.0)


@pytest.mark.parametrize("seed", range(5))
def test_refusals_at_any_load_are_chance(seed):
    why = cause(drawn(0.25, "...... " * 20, seed), 128)
    assert why.limit < -2
    assert why.both < 10


def test_refusals_above_a_load_and_some_below_are_both():
    why = cause(drawn(0.2, "....rr " * 20), 128)
    assert why.both > 10
    assert why.both > why.limit + 5
    assert why.below == pytest.approx(0.2, abs=0.05)


def test_calls_of_a_bucket_that_fills_steadily_show_its_limit():
    level, now, turns, chance = 20.0, 0.0, [], random.Random(1)
    for _ in range(300):
        gap = chance.expovariate(1.2)
        level, now = min(20.0, level + gap), now + gap
        turns.append(QueueTurn(10, NEVER, sent=now, refused=level < 1))
        level -= level >= 1
    assert cause(turns, 128).limit > 3


def after(turns: list[QueueTurn]) -> Refusals:
    """What is known when these calls have ended, at a pace of one in place of ten a second."""
    refusals = Refusals()
    refusals.bore = 10.0
    for turn in turns:
        refusals.outcome(refused=turn.refused)
    return refusals


def test_refusals_are_doubted_where_the_pace_has_fallen():
    turns = drawn(0.25, "...... " * 20)
    refusals = after(turns)
    assert refusals.verdict(turns, 8.0, again=False) == "limit"
    assert refusals.verdict(turns, None, again=False) == "limit"
    assert refusals.chance == 0
    assert refusals.verdict(turns, 1.0, again=False) == "chance"
    assert refusals.chance == cause(turns, 128).share


def test_a_limit_lets_the_pace_fall():
    turns = sent("....rr " * 10)
    refusals = after(turns)
    assert refusals.verdict(turns, 1.0, again=False) == "limit"
    assert refusals.chance == 0


def test_a_pace_that_does_not_fall_any_more_is_not_doubted():
    turns = sent("....rr " * 10)
    refusals = after(turns)
    for _ in range(50):
        assert refusals.verdict(turns, 1.0, again=True) == "limit"
    assert refusals.verdict(drawn(0.25, "...... " * 20), 1.0, again=False) == "limit"


def test_the_last_refusals_show_a_limit_that_fell():
    turns = sent("." * 96 + " " * 30 + " .r" * 16)
    refusals = after(turns)
    assert cause(turns, 128).explained < 0
    assert cause(turns, 24).explained > 0.9
    assert refusals.verdict(turns, 1.0, again=False) == "limit"


def test_chance_beside_a_limit_is_learned():
    turns = drawn(0.2, "....rr " * 20)
    refusals = after(turns)
    assert refusals.verdict(turns, 1.0, again=False) == "limit"
    assert refusals.chance == cause(turns, 128).below
    assert refusals.verdict(turns, 1.0, again=True) is None


def test_what_was_taken_for_chance_and_is_a_limit_is_unlearned():
    refusals = after(drawn(0.25, "...... " * 20))
    refusals.chance = 0.4
    turns = sent("....rr " * 10)
    verdicts = {refusals.verdict(turns, None, again=False) for _ in range(refusals.OFTEN)}
    assert refusals.chance == 0
    assert "chance" not in verdicts


def chance_of_a_quarter() -> Refusals:
    """What is known when chance explains the refusals so far."""
    turns = drawn(0.25, "...... " * 20)
    refusals = after(turns)
    assert refusals.verdict(turns, 1.0, again=False) == "chance"
    assert refusals.chance == pytest.approx(0.25, abs=0.05)
    return refusals


def test_what_chance_explains_is_not_too_many_and_more_is():
    refusals = chance_of_a_quarter()
    for number in range(100):
        refusals.outcome(refused=number % 3 == 0)
        assert not refusals.too_many()
    while not refusals.too_many():
        refusals.outcome(refused=True)
        assert refusals.chance < 0.6


def test_what_is_taken_for_chance_follows_what_is_seen():
    refusals = chance_of_a_quarter()
    for _ in range(1000):
        refusals.outcome(refused=False)
    assert refusals.chance < 0.01
