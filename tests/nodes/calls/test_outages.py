"""An endpoint that goes away: who waits, how long, and how many requests that costs."""

import asyncio

import pytest

from duologue.nodes.calls.gate import CallError, EndpointError
from duologue.nodes.calls.reservations import RunOverError


def outage(calls, begins, seconds, latency=0.2):
    async def answer(endpoint, what):
        if begins <= calls.seconds() < begins + seconds:
            await asyncio.sleep(0.001)
            raise calls.fault("connection_refused")
        await asyncio.sleep(latency)
        return what

    return answer


@pytest.mark.parametrize(("seconds", "probes"), [(3, 2), (10, 4), (30, 5), (300, 33)])
def test_all_conversations_outlive_an_outage_that_costs_one_request_at_a_time(run, calls, seconds, probes):
    async def main():
        endpoint = calls.Endpoint(outage(calls, 3, seconds))
        return await endpoint.conversations(40, 20), endpoint

    finished, endpoint = run(main())
    assert finished == 40
    failed = [time for time, _ in endpoint.requests if 3 <= time < 3 + seconds]
    assert len([time for time in failed if time > 3.2]) <= probes  # the first second finds out that it is away
    assert len(failed) <= 40 + 10 + probes
    assert endpoint.lines[0].startswith("http://x/v1 fails call after call, last connection_refused")
    assert "answers again" in endpoint.lines[-1]
    assert len(endpoint.lines) <= probes + 3


@pytest.mark.parametrize("seed", range(3))
def test_an_endpoint_that_comes_back_with_faults_is_found_back_soon(run, calls, seed):
    faults = ["null_content", "overloaded", "rate_limited", "reset"]

    async def answer(endpoint, what):
        if 3 <= calls.seconds() < 33:
            raise calls.fault("unreachable")
        await asyncio.sleep(0.1)
        if endpoint.chance.random() < 0.3:
            name = endpoint.chance.choice(faults)
            raise calls.fault(name, "limit" if name == "rate_limited" else "endpoint")
        return what

    async def main():
        endpoint = calls.Endpoint(answer)
        endpoint.chance.seed(seed)
        lines = []
        endpoint.gate._notify = lambda line: lines.append((calls.seconds(), line))
        await endpoint.conversations(20, 15)
        return [time for time, line in lines if "again, after" in line or "is there again" in line]

    times = run(main())
    assert 33 <= times[0] < 50


def test_an_outage_that_is_longer_than_patience_ends_the_run_with_one_line(run, calls):
    async def main():
        endpoint = calls.Endpoint(outage(calls, 3, 10_000), patience=60)
        await endpoint.conversations(40, 20)
        return endpoint, calls.seconds()

    endpoint, seconds = run(main())
    [line] = {str(error) for error in endpoint.errors}
    assert line.startswith("http://x/v1: no usable reply any more, tried for 60 s; last connection_refused: told")
    assert 63 <= seconds < 64
    assert endpoint.gate.state == "ended"


def test_a_closed_port_is_tried_for_fifteen_seconds_with_few_requests(run, calls):
    async def main():
        endpoint = calls.Endpoint(outage(calls, 0, 10_000))
        assert await endpoint.conversations(40, 6) == 0
        return endpoint, calls.seconds()

    endpoint, seconds = run(main())
    assert 14.9 <= seconds < 15.5
    assert len(endpoint.requests) <= 20
    assert {type(error) for error in endpoint.errors} == {EndpointError}
    [line] = {str(error) for error in endpoint.errors}
    assert "no usable reply at all" in line
    assert "\n" not in line


def test_a_single_call_to_a_closed_port_ends_after_fifteen_seconds_too(run, calls):
    async def main():
        endpoint = calls.Endpoint(outage(calls, 0, 10_000))
        with pytest.raises(EndpointError):
            await endpoint.call()
        return len(endpoint.requests), calls.seconds()

    requests, seconds = run(main())
    assert requests <= 15
    assert 14.9 <= seconds < 15.5


def test_a_slow_first_reply_is_no_outage(run, calls):
    async def main():
        endpoint = calls.Endpoint(calls.always(60))
        return await endpoint.conversations(4, 1)

    assert run(main()) == 4


def test_thirty_percent_of_random_faults_open_no_breaker_and_lose_nothing(run, calls):
    async def answer(endpoint, what):
        await asyncio.sleep(0.2)
        if endpoint.chance.random() < 0.3:
            raise calls.fault("no_choices")
        return what

    async def main():
        endpoint = calls.Endpoint(answer)
        return await endpoint.conversations(40, 50), endpoint

    finished, endpoint = run(main())
    assert finished == 40
    assert endpoint.lines == []
    assert len(endpoint.requests) < 40 * 50 / 0.7 * 1.1


def test_after_an_outage_few_calls_go_first_and_then_as_many_as_before(run, calls):
    async def main():
        endpoint = calls.Endpoint(outage(calls, 3, 10))
        await endpoint.conversations(40, 100)
        return endpoint

    endpoint = run(main())
    after = sorted(time for time, _ in endpoint.requests if time > 13)
    probe = after[0]
    assert sum(time < probe + 0.39 for time in after) <= 1 + 3
    assert sum(probe + 3 < time < probe + 4 for time in after) > 0.9 * 40 / 0.2


def test_a_probe_that_is_cancelled_leaves_the_next_one_its_turn(run, calls):
    async def main():
        endpoint = calls.Endpoint(outage(calls, 1, 20))
        assert await endpoint.call("first") == "first"
        await asyncio.sleep(1)
        tasks = [asyncio.create_task(endpoint.call(number)) for number in range(12)]
        await asyncio.sleep(15)  # by now all wait behind the breaker
        assert endpoint.gate.state == "away"
        for task in tasks[:6]:
            task.cancel()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        return done[6:]

    assert run(main()) == list(range(6, 12))


def test_a_run_that_waits_behind_an_outage_does_not_use_up_tries(run, calls):
    async def main():
        endpoint = calls.Endpoint(outage(calls, 1, 500), tries=2)
        return await endpoint.conversations(3, 10), endpoint

    finished, endpoint = run(main())
    assert finished == 3
    assert not any(isinstance(error, CallError) for error in endpoint.errors)


def test_a_closed_gate_waits_for_no_endpoint_that_is_away_and_makes_no_further_try(run, calls):
    async def main(closed_at):
        endpoint = calls.Endpoint(outage(calls, 3, 10_000), patience=600)
        asyncio.get_running_loop().call_at(closed_at, endpoint.gate.close)
        await endpoint.conversations(400, 20)
        return endpoint, calls.seconds()

    for closed_at in (2, 60):  # before it goes away, and while it is away
        endpoint, seconds = run(main(closed_at))
        assert seconds < closed_at + 1
        assert all(when <= closed_at for when, _ in endpoint.requests)
        assert {type(error) for error in endpoint.errors} == {RunOverError}


def test_a_closed_gate_gives_the_replies_of_calls_that_are_under_way(run, calls):
    async def slow(endpoint, what):
        await asyncio.sleep(5)
        return what

    async def main():
        endpoint = calls.Endpoint(slow)
        asyncio.get_running_loop().call_at(1, endpoint.gate.close)
        return await endpoint.conversations(4, 2), [str(type(error)) for error in endpoint.errors], endpoint.requests

    finished, errors, requests = run(main())
    assert (finished, len(errors), len(requests)) == (0, 4, 4)


def test_a_request_that_is_always_answered_with_nothing_fails_alone_though_no_other_is_made(run, calls):
    async def main():
        async def nothing(endpoint, what):
            raise calls.fault("null_content")

        endpoint = calls.Endpoint(nothing)
        endpoint.gate._health.breaker.succeeded()  # it has answered before
        with pytest.raises(CallError, match="null_content"):
            await endpoint.gate.call(lambda: nothing(endpoint, ""))
        return endpoint.gate.counts.requests, calls.seconds()

    requests, seconds = run(main())
    assert requests == 10
    assert seconds < 180


def test_an_error_of_ones_own_code_says_nothing_of_the_endpoint(run, calls):
    async def answer(endpoint, what):
        await asyncio.sleep(0.1)
        raise calls.fault("own_error", "ours")

    async def main():
        endpoint = calls.Endpoint(answer)
        for number in range(30):
            with pytest.raises(type(calls.fault())):
                await endpoint.call(number)
        return len(endpoint.requests), endpoint.lines

    assert run(main()) == (30, [])
