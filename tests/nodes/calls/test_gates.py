"""The gate of an endpoint, in virtual time: what is sent is counted, and nobody waits for a clock."""

import asyncio
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.errors import DuologueError
from duologue.nodes.calls.gate import CallError, EndpointError, Gate, Pace


async def echo(endpoint, what):
    await asyncio.sleep(0.01)
    return what


async def test_a_reply_comes_with_no_retries():
    assert await Gate("x", Pace()).call(lambda: echo(None, "hello")) == ("hello", {})


def test_a_call_that_fails_is_made_again_and_says_how_often(run, calls):
    ways = [calls.fault("timeout"), calls.fault("timeout"), calls.fault("rate_limited", "limit")]
    faults = []

    async def answer(endpoint, what):
        if ways:
            raise ways.pop(0)
        return "there"

    async def main():
        endpoint = calls.Endpoint(answer)
        reply = await endpoint.gate.call(lambda: endpoint.send(1), failed=lambda fault: faults.append(fault.name))
        return reply, endpoint.gate.counts

    reply, counts = run(main())
    assert reply == ("there", {"timeout": 2, "rate_limited": 1})
    assert faults == ["timeout", "timeout", "rate_limited"]
    assert (counts.calls, counts.requests, counts.succeeded, counts.failed) == (1, 4, 1, 0)
    assert counts.faults == {"timeout": 2, "rate_limited": 1}


def test_a_refused_request_is_sent_once_and_fails_alone(run, calls):
    async def answer(endpoint, what):
        if what == "long":
            raise calls.fault("context_length", "request")
        return what

    async def main():
        endpoint = calls.Endpoint(answer)
        with pytest.raises(CallError, match="context_length: told context_length") as error:
            await endpoint.call("long")
        assert error.value.fault.whose == "request"
        assert error.value.retried == {}
        assert await endpoint.call("short") == "short"
        return len(endpoint.requests)

    assert run(main()) == 2


def test_a_bug_looks_like_one_and_is_sent_once(run, calls):
    async def answer(endpoint, what):
        return {}["nothing"]

    async def main():
        endpoint = calls.Endpoint(answer)
        with pytest.raises(KeyError, match="nothing"):
            await endpoint.call()
        return len(endpoint.requests), endpoint.gate.under_way

    assert run(main()) == (1, 0)


def test_a_bug_in_counting_tokens_looks_like_one_and_loses_no_place(run, calls):
    async def main():
        endpoint = calls.Endpoint(echo, concurrency=1)
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                await endpoint.call(spent=lambda reply: 1 // 0)
        return endpoint.gate.under_way, len(endpoint.requests)

    assert run(main()) == (0, 3)


def test_a_wrong_key_ends_all_calls_at_once_with_one_line(run, calls):
    async def answer(endpoint, what):
        await asyncio.sleep(0.05)
        raise calls.fault("wrong_key", "settings")

    async def main():
        endpoint = calls.Endpoint(answer)
        assert await endpoint.conversations(40, 6) == 0
        with pytest.raises(EndpointError):
            await endpoint.call("later")
        return endpoint, calls.seconds()

    endpoint, seconds = run(main())
    assert len(endpoint.requests) <= 8  # those that were under way together
    assert seconds < 0.1
    [line] = {str(error) for error in endpoint.errors}
    assert line.startswith("http://x/v1: wrong_key: told wrong_key; correct the key")
    assert all(isinstance(error, DuologueError) for error in endpoint.errors)
    assert endpoint.gate.state == "ended"


def test_a_key_that_is_revoked_is_tried_three_more_times_and_then_ends_the_run(run, calls):
    async def answer(endpoint, what):
        await asyncio.sleep(0.05)
        if calls.seconds() > 1:
            raise calls.fault("wrong_key", "settings")
        return what

    async def main():
        endpoint = calls.Endpoint(answer)
        await endpoint.conversations(40, 60)
        return endpoint

    endpoint = run(main())
    assert all(isinstance(error, EndpointError) for error in endpoint.errors)
    together = sum(0.95 < time <= 1.06 for time, _ in endpoint.requests)
    later = [time for time, _ in endpoint.requests if time > 1.06]
    assert len(later) == 3
    assert later[2] - later[1] > later[1] - later[0]
    assert together <= 2 * 40


def test_a_gateway_that_refuses_the_key_now_and_then_loses_nothing(run, calls):
    async def answer(endpoint, what):
        await asyncio.sleep(0.2)
        if endpoint.chance.random() < 0.05:
            raise calls.fault("forbidden", "settings")
        return what

    async def main():
        endpoint = calls.Endpoint(answer)
        return await endpoint.conversations(20, 20)

    assert run(main()) == 20


def test_a_request_that_always_fails_while_others_succeed_fails_alone(run, calls):
    async def answer(endpoint, what):
        await asyncio.sleep(0.2)
        if what[0] == 7:
            raise calls.fault()
        return what

    async def main():
        endpoint = calls.Endpoint(answer)
        return await endpoint.conversations(8, 600), endpoint

    finished, endpoint = run(main())
    assert finished == 7
    [error] = endpoint.errors
    assert isinstance(error, CallError)
    assert error.retried == {"http_500": 9}
    assert sum(what[0] == 7 for _, what in endpoint.requests) == 10
    assert endpoint.lines == []


def test_requests_that_always_fail_end_by_number_too_when_the_others_are_done(run, calls):
    async def answer(endpoint, what):
        await asyncio.sleep(0.2)
        if what[0] < 3:
            raise calls.fault()
        return what

    async def main():
        endpoint = calls.Endpoint(answer)
        return await endpoint.conversations(20, 60), endpoint.errors, calls.seconds()

    finished, errors, seconds = run(main())
    assert finished == 17
    assert {type(error) for error in errors} == {CallError}
    assert seconds < 600


def test_conversations_come_in_turn_and_none_starves(run, calls):
    async def main():
        endpoint = calls.Endpoint(echo, concurrency=2)
        await asyncio.gather(*(endpoint.call(number) for number in range(50)))
        return [what for _, what in endpoint.requests], endpoint.most

    assert run(main()) == (list(range(50)), 2)


def test_a_cancelled_call_gives_its_place_to_the_next(run, calls):
    async def answer(endpoint, what):
        await asyncio.sleep(100 if what == "slow" else 0.01)
        return what

    async def main():
        endpoint = calls.Endpoint(answer, concurrency=1)
        slow = asyncio.create_task(endpoint.call("slow"))
        waits = asyncio.create_task(endpoint.call("waits"))
        quick = asyncio.create_task(endpoint.call("quick"))
        await asyncio.sleep(1)
        waits.cancel()
        slow.cancel()
        assert await quick == "quick"
        return [what for _, what in endpoint.requests], endpoint.gate.waiting, endpoint.gate.under_way

    assert run(main()) == (["slow", "quick"], 0, 0)


def test_a_call_that_is_cancelled_in_the_moment_of_its_turn_gives_it_back(run, calls):
    async def main():
        endpoint = calls.Endpoint(echo, concurrency=1)

        async def first():
            await endpoint.call("first")
            assert endpoint.gate.under_way == 1  # the next one has its turn, and was not told yet
            task.cancel()

        began = asyncio.create_task(first())
        task = asyncio.create_task(endpoint.call("gone"))
        await asyncio.wait([began, task])
        assert task.cancelled()
        await began
        assert await endpoint.call("next") == "next"
        return [what for _, what in endpoint.requests], endpoint.gate.under_way

    assert run(main()) == (["first", "next"], 0)


OUTCOMES = st.sampled_from(["reply", "endpoint", "limit", "after", "request", "ours", "settings"])


@settings(max_examples=60)
@given(
    plan=st.lists(
        st.tuples(
            st.lists(st.tuples(OUTCOMES, st.sampled_from([0.0, 0.001, 0.3, 7.0])), min_size=1, max_size=4),
            st.sampled_from([None, None, 0.0, 0.001, 0.5, 3.0]),
            st.integers(0, 5000),
        ),
        min_size=1,
        max_size=30,
    ),
    pace=st.sampled_from(
        [{}, {"concurrency": 1}, {"requests_per_minute": 120}, {"tokens_per_minute": 60_000}, {"patience": 5}]
    ),
)
def test_no_place_is_ever_lost_and_every_call_ends(plan, pace, run, calls):
    async def answer(endpoint, what):
        outcomes = what[0]
        outcome, latency = outcomes.pop(0) if outcomes else ("reply", 0.01)
        await asyncio.sleep(latency)
        if outcome == "ours":
            raise ZeroDivisionError
        if outcome != "reply":
            whose = "limit" if outcome == "after" else outcome
            raise calls.fault(outcome, whose, 3.0 if outcome == "after" else None)
        return what

    async def main():
        endpoint = calls.Endpoint(answer, **pace)

        async def one(outcomes, cancelled, tokens):
            task = asyncio.create_task(endpoint.call((list(outcomes),), tokens=tokens, spent=lambda reply: 2 * tokens))
            if cancelled is not None:
                asyncio.get_running_loop().call_later(cancelled, task.cancel)
            await asyncio.wait([task])
            assert task.cancelled() or isinstance(
                task.exception(), CallError | EndpointError | ZeroDivisionError | None
            )

        await asyncio.gather(*(one(*planned_call) for planned_call in plan))
        assert (endpoint.under_way, endpoint.gate.under_way, endpoint.gate.waiting) == (0, 0, 0)
        if endpoint.gate.state != "ended":
            assert await endpoint.call(([],)) == ([],)
            # And as many as before can be under way.
            await asyncio.gather(*(endpoint.call(([],)) for _ in range(20)))
        assert endpoint.gate.under_way == 0

    run(main())


def test_a_gate_costs_the_same_for_each_of_many_that_wait(steps, run, calls):
    async def main(number):
        endpoint = calls.Endpoint(echo, concurrency=4)
        await asyncio.gather(*(endpoint.call(call) for call in range(number)))

    few, many = (steps(run, main(number)) / number for number in (100, 1000))
    assert many < 1.1 * few


def test_a_gate_serves_one_loop_after_another(calls):
    endpoint = calls.Endpoint(echo, concurrency=1)
    assert asyncio.run(endpoint.call(1)) == 1

    async def left():
        asyncio.get_running_loop().create_task(endpoint.call("left behind"))
        await asyncio.sleep(0)

    asyncio.run(left())
    assert asyncio.run(endpoint.call(2)) == 2


def test_a_gate_that_is_in_use_in_another_loop_says_so(calls):
    endpoint = calls.Endpoint(calls.always(0.2))
    began = threading.Event()

    async def first():
        call = asyncio.create_task(endpoint.call(1))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        began.set()
        return await call

    thread = threading.Thread(target=lambda: asyncio.run(first()))
    thread.start()
    began.wait(900)
    try:
        with pytest.raises(RuntimeError, match="in use in another event loop"):
            asyncio.run(endpoint.call(2))
    finally:
        thread.join()


async def test_a_call_that_succeeds_at_once_needs_no_retrying(monkeypatch):
    monkeypatch.setattr("duologue.nodes.calls.gate.AsyncRetrying", None)
    assert await Gate("x", Pace()).call(lambda: echo(None, "hello")) == ("hello", {})
