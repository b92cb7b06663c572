"""Refusals as too many: those of a limit end when less is sent, those that come by chance do not."""

import asyncio

import pytest

from duologue.nodes.calls.refusal_causes import Refusals


def by_chance(calls, share, latency=0.2):
    """An endpoint that refuses this share of the requests, however few there are."""

    async def answer(endpoint, what):
        refused = endpoint.chance.random() < share
        await asyncio.sleep(0.002 if refused else latency)
        if refused:
            raise calls.fault("rate_limited", "limit")
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


def test_a_limit_beside_chance_is_still_found_out(run, calls):
    async def main():
        limited = calls.Limited(10, 0.2)

        async def answer(endpoint, what):
            if endpoint.chance.random() < 0.2:
                raise calls.fault("rate_limited", "limit")
            return await limited(endpoint, what)

        endpoint = calls.Endpoint(answer)
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


def test_half_of_what_was_borne_is_tried_out_when_the_pace_falls():
    refusals = Refusals()
    for number in range(40):
        refusals.outcome(0.0, refused=number % 4 == 0)
    assert not refusals.slowed(10.0, 1.0)
    assert refusals.bore == 10
    assert not refusals.slowed(8.0, 2.0)
    assert refusals.slowed(6.0, 3.0)
    assert refusals.tries
    assert refusals.verdict() is None


def tried(pattern: str) -> Refusals:
    """A trial after a quarter of the calls was refused.

    A letter for each call that was sent in it: `r` refused.
    """
    refusals = Refusals()
    for number in range(80):
        refusals.outcome(0.0, refused=number % 4 == 0)
    refusals.slowed(10.0, 1.0)
    assert refusals.slowed(6.0, 2.0)
    for letter in pattern:
        refusals.outcome(3.0, refused=letter == "r")
    return refusals


@pytest.mark.parametrize(
    ("pattern", "verdict"),
    [
        ("", None),
        ("." * 8, None),
        ("." * 12, "limit"),
        ("r...r...r..", None),
        ("r...r...r...r", "chance"),
        ("rrrrr", "lower limit"),
        ("rrr" + "." * 22 + "r" + "." * 8, "lower limit"),
    ],
)
def test_a_trial_ends_when_it_is_known_why_calls_are_refused(pattern, verdict):
    refusals = tried(pattern)
    assert refusals.verdict() == verdict
    assert refusals.tries == (verdict is None)
    assert bool(refusals.chance) == (verdict == "chance")


def test_a_call_that_was_sent_before_a_trial_says_nothing_in_it():
    refusals = tried("")
    for _ in range(50):
        refusals.outcome(1.5, refused=True)
    assert refusals.verdict() is None


def test_what_chance_explains_is_not_too_many_and_more_is():
    refusals = tried("r...r...r...r")
    assert refusals.verdict() == "chance"
    for number in range(100):
        refusals.outcome(4.0, refused=number % 3 == 0)
        assert not refusals.too_many()
    while not refusals.too_many():
        refusals.outcome(5.0, refused=True)
        assert refusals.chance < 0.6


def test_what_is_taken_for_chance_follows_what_is_seen():
    refusals = tried("r...r...r...r")
    assert refusals.verdict() == "chance"
    for _ in range(1000):
        refusals.outcome(4.0, refused=False)
    assert refusals.chance < 0.01
