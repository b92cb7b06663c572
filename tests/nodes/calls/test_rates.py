"""Rates that are set, those that headers report, and those that refusals teach, in virtual time."""

import asyncio
import statistics

import pytest

from duologue.nodes.calls.gate import EndpointError
from tests.faulty.limits import Limit, Limits

from .simulator import Endpoint, Limited, always, fault, limited_run, run, seconds


@pytest.mark.parametrize("latency", [0.005, 0.2, 2.0])
@pytest.mark.parametrize("how", [{}, {"windows": True}, {"after": 1.0}])
def test_an_endpoint_that_allows_ten_requests_a_second_lets_everybody_finish(latency, how):
    reasons = []

    async def main():
        limited = Limited(10, latency, **how)
        endpoint = Endpoint(limited)
        asyncio.get_running_loop().call_later(20, lambda: reasons.append(endpoint.gate.held_back_by))
        return await endpoint.conversations(60, 6), len(endpoint.requests), limited.refused, seconds()

    finished, requests, refused, took = run(main())
    assert finished == 60
    assert "slowed down to" in reasons[0] or "it asked to wait" in reasons[0]
    assert refused < 0.12 * requests
    assert took < 2 * 36


@pytest.mark.parametrize("per_second", [0.5, 1, 100])
def test_other_rates_are_found_out_too(per_second):
    number = 3600 if per_second == 100 else 120

    async def main():
        limited = Limited(per_second, 0.5)
        endpoint = Endpoint(limited)
        return await endpoint.conversations(60, number // 60), len(endpoint.requests), limited.refused, seconds()

    finished, requests, refused, took = run(main())
    assert finished == 60
    assert refused < 0.25 * requests
    assert took < 2 * number / per_second


def test_calls_go_faster_again_after_the_refusals_end():
    async def main():
        limited = Limited(5, 0.2)
        endpoint = Endpoint(limited)
        asyncio.get_running_loop().call_later(60, setattr, limited, "per_second", 100_000)
        await endpoint.conversations(32, 150)
        return endpoint

    endpoint = run(main())
    per_second = [sum(second <= time < second + 1 for time, _ in endpoint.requests) for second in range(200)]
    assert statistics.mean(per_second[30:60]) < 6
    again = next(second for second, number in enumerate(per_second) if number > 0.9 * 32 / 0.2)
    assert again < 60 + 60
    assert endpoint.gate.held_back_by is None


def test_as_many_go_at_a_time_as_an_endpoint_bears_and_more_when_it_bears_more():
    bears = 2

    async def answer(endpoint, what):
        if endpoint.under_way > bears:
            await asyncio.sleep(0.01)
            raise fault("rate_limited", "limit")
        await asyncio.sleep(0.5)
        return what

    async def main():
        nonlocal bears
        endpoint = Endpoint(answer)
        task = asyncio.create_task(endpoint.conversations(40, 60))
        await asyncio.sleep(60)
        few = endpoint.gate.succeeded
        bears = 1000
        return await task, few, endpoint.most, seconds()

    finished, few, most, took = run(main())
    assert finished == 40
    assert few > 0.6 * 60 * 2 / 0.5
    assert most == 40
    assert took < 60 + 90


@pytest.mark.parametrize(("concurrent", "latency"), [(64, 0.2), (200, 0.2), (64, 5)])
def test_an_endpoint_without_limits_is_not_slowed_down(concurrent, latency):
    async def main():
        endpoint = Endpoint(always(latency))
        await endpoint.conversations(concurrent, 28, pause=0)
        return endpoint

    times = [time for time, _ in run(main()).requests]
    grown = 10 * latency
    assert sum(grown <= time < grown + 20 * latency for time in times) >= 0.9 * 20 * concurrent


def test_concurrency_that_is_set_is_never_exceeded():
    async def main():
        endpoint = Endpoint(always(0.1), concurrency=5)
        await endpoint.conversations(40, 10)
        return endpoint.most

    assert run(main()) == 5


def test_whoever_waits_for_room_is_told_when_it_changes():
    async def main():
        endpoint = Endpoint(always(0.1))
        before, rooms = endpoint.gate.room, []
        endpoint.gate.on_room = lambda: rooms.append(endpoint.gate.room)
        await endpoint.conversations(64, 5)
        return before, rooms, endpoint.gate.room

    before, rooms, last = run(main())
    assert rooms[0] != before == 10
    assert rooms[-1] == last >= 64


def test_a_pause_that_is_asked_for_holds_for_all_calls():
    async def answer(endpoint, what):
        await asyncio.sleep(0.01)
        if 1 < seconds() < 41:
            raise fault("rate_limited", "limit", 41 - seconds())
        return what

    async def main():
        endpoint = Endpoint(answer)
        return await endpoint.conversations(20, 100, pause=0.1), endpoint

    finished, endpoint = run(main())
    assert finished == 20
    assert not [time for time, _ in endpoint.requests if 1.2 < time < 40.9]
    assert [line for line in endpoint.lines if "asks to wait 40 s" in line]


def test_a_pause_that_is_longer_than_patience_ends_the_run_at_once():
    async def answer(endpoint, what):
        raise fault("rate_limited", "limit", 3600)

    async def main():
        endpoint = Endpoint(answer)
        await endpoint.conversations(20, 3)
        return endpoint, seconds()

    endpoint, took = run(main())
    assert {type(error) for error in endpoint.errors} == {EndpointError}
    assert "asks to wait 3600 s" in str(endpoint.errors[0])
    assert took < 1
    assert len(endpoint.requests) <= 8


@pytest.mark.parametrize(("refuses", "finishes"), [(300, 40), (10_000, 0)])
def test_an_endpoint_that_refuses_everything_from_the_start_is_waited_for_within_patience(refuses, finishes):
    async def answer(endpoint, what):
        if seconds() < refuses:
            raise fault("rate_limited", "limit")
        await asyncio.sleep(0.1)
        return what

    async def main():
        endpoint = Endpoint(answer)
        return await endpoint.conversations(40, 3), sum(time < refuses for time, _ in endpoint.requests), seconds()

    finished, requests, took = run(main())
    assert finished == finishes
    assert requests < 50
    assert took < 700


def test_requests_a_minute_are_kept_to_smoothly():
    async def main():
        endpoint = Endpoint(always(0.05), rpm=300)
        asyncio.get_running_loop().call_later(20.01, lambda: reasons.append(endpoint.gate.held_back_by))
        await endpoint.conversations(50, 12)
        return [time for time, _ in endpoint.requests]

    reasons = []
    times = run(main())
    assert "the rate that is set" in reasons[0]
    assert max(sum(begin <= time < begin + 1 for time in times) for begin in times) <= 2 * 5
    assert times[-1] == pytest.approx(600 / 5, abs=2)


def test_tokens_a_minute_are_estimated_before_and_corrected_after():
    async def main():
        endpoint = Endpoint(always(0.05), tpm=60_000)
        await asyncio.gather(*(endpoint.call(number, tokens=100, spent=lambda reply: 500) for number in range(60)))
        return seconds()

    assert run(main()) == pytest.approx(60 * 500 / 1000, rel=0.2)


def test_a_call_that_takes_more_than_a_seconds_worth_of_tokens_goes_and_is_paid_for_later():
    async def main():
        endpoint = Endpoint(always(0.05), tpm=6000)
        for tokens in (1000, 1000, 10):
            await endpoint.call(tokens, tokens=tokens)
        return [round(time) for time, _ in endpoint.requests]

    assert run(main()) == [0, 10, 19]


def test_no_small_call_overtakes_a_large_one():
    async def main():
        endpoint = Endpoint(always(0.05), tpm=6000)
        await asyncio.gather(*(endpoint.call(number, tokens=2000 if number == 3 else 10) for number in range(30)))
        return [what for _, what in endpoint.requests]

    assert run(main()) == list(range(30))


UNITS = {
    "requests": ({"requests": (10, 1.0)}, 40.0, 0.001),
    "tokens": ({"tokens": (30_000, 60.0)}, 600.0, 0.01),
    "both": ({"requests": (100, 60.0), "tokens": (40_000, 60.0)}, 600.0, 0.003),
}


def used_and_refused(unit, bucket, headers, conversations, **how):
    units, duration, slow = UNITS[unit]
    limits = Limits({name: Limit(*limit, bucket) for name, limit in units.items()}, headers)
    return limited_run(limits, conversations, duration, slow=slow, **how)[:2]


@pytest.mark.parametrize("headers", ["openai", "anthropic"])
@pytest.mark.parametrize("conversations", [8, 64])
@pytest.mark.parametrize("bucket", [False, True])
@pytest.mark.parametrize("unit", UNITS)
def test_a_limit_that_headers_report_is_used_and_refuses_few(unit, bucket, conversations, headers):
    if headers == "anthropic" and unit == "requests":
        return  # its headers are in whole seconds
    used, refused = used_and_refused(unit, bucket, headers, conversations)
    assert used >= 0.85
    assert refused <= 0.05


@pytest.mark.parametrize("headers", ["none", "retry-after"])
@pytest.mark.parametrize("bucket", [False, True])
@pytest.mark.parametrize("unit", UNITS)
def test_a_limit_without_such_headers_is_learned(unit, bucket, headers):
    used, refused = used_and_refused(unit, bucket, headers, 64)
    assert used >= 0.75
    assert refused <= 0.08


def test_faults_do_not_keep_a_limit_from_being_used():
    used, refused = used_and_refused("requests", False, "retry-after", 64, faults=0.2)
    assert used >= 0.75
    assert refused <= 0.08


@pytest.mark.parametrize(("share", "most"), [(0.02, 60), (0.1, 60), (0.3, 480)])
@pytest.mark.parametrize("seed", range(3))
def test_refusals_by_chance_do_not_bring_the_run_to_a_standstill(share, most, seed):
    async def answer(endpoint, what):
        refused = endpoint.chance.random() < share
        await asyncio.sleep(0.002 if refused else 0.2)
        if refused:
            raise fault("rate_limited", "limit")
        return what

    async def main():
        endpoint = Endpoint(answer, seed=seed)
        return await endpoint.conversations(60, 6), len(endpoint.requests), seconds()

    finished, requests, took = run(main())
    assert finished == 60
    assert requests < 1.2 * 360 / (1 - share)
    assert took < most


@pytest.mark.parametrize("seed", range(3))
def test_a_limit_beside_chance_faults_and_an_outage_is_still_found_out(seed):
    async def main():
        limited = Limited(10, 0.3)

        async def answer(endpoint, what):
            if 20 <= seconds() < 35:
                raise fault("unreachable")
            draw = endpoint.chance.random()
            if draw < 0.3:
                raise fault("rate_limited", "limit") if draw < 0.1 else fault("server_error")
            return await limited(endpoint, what)

        endpoint = Endpoint(answer, seed=seed)
        finished = await endpoint.conversations(24, 30)
        return finished, limited.refused, seconds(), [time for time, _ in endpoint.requests]

    finished, refused, took, times = run(main())
    assert finished == 24
    assert refused < 0.25 * len(times)
    assert took < 15 + 5 * 24 * 30 / 10


@pytest.mark.parametrize(("first", "then"), [(20, 5), (50, 20), (10, 1)])
def test_a_limit_that_falls_is_not_taken_for_chance(first, then):
    async def main():
        limited = Limited(first, 0.2)
        endpoint = Endpoint(limited)
        loop = asyncio.get_running_loop()
        counted = []
        loop.call_later(20, setattr, limited, "per_second", then)
        loop.call_later(40, lambda: counted.append((limited.refused, len(endpoint.requests))))
        await endpoint.conversations(30, (20 * first + 120 * then) // 30)
        refused, requests = counted[0]
        return limited.refused - refused, len(endpoint.requests) - requests

    refused, requests = run(main())
    assert refused < 0.2 * requests
