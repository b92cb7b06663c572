"""Limits that are set and limits that are found out: rates, concurrency, queues at the endpoint."""

import asyncio
import statistics

import pytest
from langchain_core.messages import HumanMessage

from duologue.nodes.calls.gate import EndpointError
from duologue.nodes.calls.service import Calls, drafted
from duologue.nodes.calls.store import Call
from duologue.testing import scripted_model


@pytest.mark.parametrize("latency", [0.005, 0.2, 2.0])
@pytest.mark.parametrize("how", [{}, {"windows": True}, {"after": 1.0}])
def test_an_endpoint_that_allows_ten_requests_a_second_lets_everybody_finish(run, calls, latency, how):
    reasons = []

    async def main():
        limited = calls.Limited(10, latency, **how)
        endpoint = calls.Endpoint(limited)
        asyncio.get_running_loop().call_later(20, lambda: reasons.append(endpoint.gate.held_back_by))
        return await endpoint.conversations(60, 6), len(endpoint.requests), limited.refused, calls.seconds()

    finished, requests, refused, seconds = run(main())
    assert finished == 60
    assert "slowed down to" in reasons[0] or "it asked to wait" in reasons[0]
    assert refused < 0.12 * requests
    assert seconds < 1.5 * 36


@pytest.mark.parametrize("per_second", [0.5, 1, 100])
def test_other_rates_are_found_out_too(run, calls, per_second):
    number = 3600 if per_second == 100 else 120

    async def main():
        limited = calls.Limited(per_second, 0.5)
        endpoint = calls.Endpoint(limited)
        return await endpoint.conversations(60, number // 60), len(endpoint.requests), limited.refused, calls.seconds()

    finished, requests, refused, seconds = run(main())
    assert finished == 60
    assert refused < 0.25 * requests
    assert seconds < 2 * number / per_second


def test_the_gate_grows_again_after_the_refusals_end(run, calls):
    async def main():
        limited = calls.Limited(5, 0.2)
        endpoint = calls.Endpoint(limited)
        asyncio.get_running_loop().call_later(60, setattr, limited, "per_second", 100_000)
        await endpoint.conversations(32, 150)
        return endpoint

    endpoint = run(main())
    per_second = [sum(second <= time < second + 1 for time, _ in endpoint.requests) for second in range(200)]
    assert statistics.mean(per_second[30:60]) < 6
    assert max(per_second) > 0.9 * 32 / 0.2
    again = next(second for second, number in enumerate(per_second) if number > 0.9 * 32 / 0.2)
    assert again < 60 + 60
    assert endpoint.gate.per_second is None


def test_the_gate_grows_again_after_an_endpoint_that_bore_few_at_a_time(run, calls):
    bears = 2

    async def answer(endpoint, what):
        if endpoint.under_way > bears:
            await asyncio.sleep(0.01)
            raise calls.fault("rate_limited", "limit")
        await asyncio.sleep(0.5)
        return what

    async def main():
        nonlocal bears
        endpoint = calls.Endpoint(answer)
        task = asyncio.create_task(endpoint.conversations(40, 60))
        await asyncio.sleep(60)
        few = endpoint.gate.counts.succeeded
        bears = 1000
        return await task, few, endpoint.most, calls.seconds()

    finished, few, most, seconds = run(main())
    assert finished == 40
    assert few > 0.6 * 60 * 2 / 0.5
    assert most == 40
    assert seconds < 60 + 90


@pytest.mark.parametrize(("concurrent", "latency"), [(64, 0.2), (200, 0.2), (64, 5)])
def test_an_endpoint_without_limits_is_not_slowed_down(run, calls, concurrent, latency):
    async def main():
        endpoint = calls.Endpoint(calls.always(latency))
        await endpoint.conversations(concurrent, 28, pause=0)
        return endpoint

    endpoint = run(main())
    times = [time for time, _ in endpoint.requests]
    grown = 6 * latency
    later = sum(grown <= time < grown + 20 * latency for time in times)
    assert later >= 0.9 * 20 * concurrent


def test_a_pause_that_is_asked_for_holds_for_all_calls(run, calls):
    async def answer(endpoint, what):
        await asyncio.sleep(0.01)
        if 1 < calls.seconds() < 41:
            raise calls.fault("rate_limited", "limit", 41 - calls.seconds())
        return what

    async def main():
        endpoint = calls.Endpoint(answer)
        return await endpoint.conversations(20, 100, pause=0.1), endpoint

    finished, endpoint = run(main())
    assert finished == 20
    assert not [time for time, _ in endpoint.requests if 1.2 < time < 40.9]
    assert any("asks to wait 40 s" in line for line in endpoint.lines)


def test_a_pause_that_is_longer_than_patience_ends_the_run_at_once(run, calls):
    async def answer(endpoint, what):
        raise calls.fault("rate_limited", "limit", 3600)

    async def main():
        endpoint = calls.Endpoint(answer)
        await endpoint.conversations(20, 3)
        return endpoint, calls.seconds()

    endpoint, seconds = run(main())
    assert {type(error) for error in endpoint.errors} == {EndpointError}
    assert "asks to wait 3600 s, longer than the outage timeout (--patience, 600 s)" in str(endpoint.errors[0])
    assert seconds < 1
    assert len(endpoint.requests) <= 8


def test_an_endpoint_that_refuses_for_minutes_from_the_start_is_waited_for(run, calls):
    async def answer(endpoint, what):
        if calls.seconds() < 300:
            raise calls.fault("rate_limited", "limit")
        await asyncio.sleep(0.1)
        return what

    async def main():
        endpoint = calls.Endpoint(answer)
        return await endpoint.conversations(40, 3), sum(time < 300 for time, _ in endpoint.requests)

    finished, requests = run(main())
    assert finished == 40
    assert requests < 40


def test_requests_a_minute_are_kept_to_smoothly(run, calls):
    async def main():
        endpoint = calls.Endpoint(calls.always(0.05), requests_per_minute=300)
        await endpoint.conversations(50, 12)
        return [time for time, _ in endpoint.requests]

    times = run(main())
    busiest = max(sum(begin <= time < begin + 1 for time in times) for begin in times)
    assert busiest <= 2 * 5
    assert times[-1] == pytest.approx(600 / 5, abs=2)


def test_tokens_a_minute_are_estimated_before_and_corrected_after(run, calls):
    async def main():
        endpoint = calls.Endpoint(calls.always(0.05), tokens_per_minute=60_000)
        one_by_one = [endpoint.call(number, tokens=100, spent=lambda reply: 500) for number in range(60)]
        await asyncio.gather(*one_by_one)
        return calls.seconds()

    assert run(main()) == pytest.approx(60 * 500 / 1000, rel=0.2)


def test_a_call_that_takes_more_than_a_seconds_worth_of_tokens_goes_and_is_paid_for_later(run, calls):
    async def main():
        endpoint = calls.Endpoint(calls.always(0.05), tokens_per_minute=6000)
        await endpoint.call("large", tokens=1000)
        await endpoint.call("next", tokens=1000)
        await endpoint.call("last", tokens=10)
        return [round(time) for time, _ in endpoint.requests]

    assert run(main()) == [0, 10, 19]


def test_no_small_call_overtakes_a_large_one(run, calls):
    async def main():
        endpoint = calls.Endpoint(calls.always(0.05), tokens_per_minute=6000)
        await asyncio.gather(*(endpoint.call(number, tokens=2000 if number == 3 else 10) for number in range(30)))
        return [what for _, what in endpoint.requests]

    assert run(main()) == list(range(30))


def queueing(calls, servers, latency):
    """An endpoint that works on so many at a time, and lets the others queue."""
    places = asyncio.Semaphore(servers)

    async def answer(endpoint, what):
        async with places:
            await asyncio.sleep(latency(endpoint.chance))
        return what

    return answer


@pytest.mark.parametrize("servers", [1, 4, 16])
def test_calls_that_only_queue_at_the_endpoint_are_held_back_without_loss(run, calls, servers):
    async def main():
        endpoint = calls.Endpoint(queueing(calls, servers, lambda chance: 0.2))
        await endpoint.conversations(50, 40, pause=0)
        return endpoint, calls.seconds()

    endpoint, seconds = run(main())
    assert seconds < 1.05 * 2000 * 0.2 / servers
    assert endpoint.gate.room < 4 * servers + 16


@pytest.mark.parametrize("shape", ["steady", "exponential", "lognormal"])
def test_a_model_that_is_slow_or_whose_replies_vary_is_not_held_back(run, calls, shape):
    latency = {
        "steady": lambda chance: 10.0,
        "exponential": lambda chance: chance.expovariate(1),
        "lognormal": lambda chance: chance.lognormvariate(0, 1.2),
    }[shape]

    async def main():
        endpoint = calls.Endpoint(queueing(calls, 10_000, latency))
        rooms = []
        endpoint.gate.on_room.append(rooms.append)
        await endpoint.conversations(100, 40, pause=0)
        return endpoint.most, min(rooms[60:], default=125)

    most, least = run(main())
    assert most == 100
    assert least > 40


def test_a_model_that_becomes_slower_for_another_reason_keeps_its_calls(run, calls):
    async def answer(endpoint, what):
        await asyncio.sleep((0.2 if calls.seconds() < 20 else 2.0) * endpoint.chance.uniform(0.7, 1.3))
        return what

    async def main():
        endpoint = calls.Endpoint(answer)
        task = asyncio.create_task(endpoint.conversations(32, 250, pause=0))
        await asyncio.sleep(200)
        before = endpoint.gate.counts.succeeded
        await asyncio.sleep(100)
        rate = (endpoint.gate.counts.succeeded - before) / 100
        await task
        return rate

    assert run(main()) > 0.85 * 32 / 2


def test_concurrency_that_is_set_is_never_exceeded(run, calls):
    async def main():
        endpoint = calls.Endpoint(calls.always(0.1), concurrency=5)
        await endpoint.conversations(40, 10)
        return endpoint.most

    assert run(main()) == 5


def test_whoever_waits_for_room_is_told_when_it_changes(run, calls):
    async def main():
        endpoint = calls.Endpoint(calls.always(0.1))
        before, rooms = endpoint.gate.room, []
        endpoint.gate.on_room.append(rooms.append)
        await endpoint.conversations(64, 5)
        return before, rooms, endpoint.gate.room

    before, rooms, last = run(main())
    assert rooms[0] != before == 10
    assert rooms[-1] == last >= 64


def test_a_run_is_woken_when_an_endpoint_has_room_for_more_or_fewer_conversations():
    changes = []
    service = Calls(on_room=lambda: changes.append(service.room))
    gate = service.gate("http://x/v1")
    assert service.gate("http://x/v1") is gate
    for on_change in gate.on_room:
        on_change(1)
    assert changes == [service.room]
    service.on_room = None
    for on_change in gate.on_room:
        on_change(2)
    assert len(changes) == 1


async def test_a_run_whose_endpoint_is_given_up_makes_no_further_call():
    given_up = EndpointError("given up")
    with Calls(stopped=given_up).active(), pytest.raises(EndpointError) as raised:
        await drafted(scripted_model("Yes."), [HumanMessage("Now?")], Call(0, "c", "user"))
    assert raised.value is given_up
