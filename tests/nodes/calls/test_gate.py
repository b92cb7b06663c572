"""The gate of an endpoint, in virtual time: turns, tries, and errors that end the run. What is sent is counted."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.nodes.calls import gate
from duologue.nodes.calls.gate import CallError, EndpointError, Gate, RunOverError

from .simulator import Endpoint, always, fault, run, seconds


async def echo(endpoint, what):
    await asyncio.sleep(0.01)
    return what


async def test_a_reply_comes_with_no_retries():
    assert await Gate("x").call(lambda: echo(None, "hello")) == ("hello", {})


def test_a_call_that_fails_is_made_again_and_says_how_often():
    ways = [fault("timeout"), fault("timeout"), fault("rate_limited", "limit")]

    async def answer(endpoint, what):
        if ways:
            raise ways.pop(0)
        return "there"

    async def main():
        endpoint = Endpoint(answer)
        return await endpoint.gate.call(lambda: endpoint.send(1)), endpoint.gate

    reply, gate = run(main())
    assert reply == ("there", {"timeout": 2, "rate_limited": 1})
    assert (gate.requests, gate.succeeded) == (4, 1)
    assert gate.faults == {"timeout": 2, "rate_limited": 1}


@pytest.mark.parametrize("name", ["bad_request", "content_policy", "context_length"])
def test_a_refused_request_is_sent_once_and_fails_alone(name):
    async def answer(endpoint, what):
        if what == "bad":
            raise fault(name, "request")
        return what

    async def main():
        endpoint = Endpoint(answer)
        with pytest.raises(CallError, match=name) as error:
            await endpoint.call("bad")
        assert (error.value.fault.whose, error.value.retried) == ("request", {})
        assert error.value.record_line.startswith(name)
        assert await endpoint.call("good") == "good"
        return len(endpoint.requests)

    assert run(main()) == 2


def test_a_bug_passes_as_it_is_and_says_nothing_of_the_endpoint():
    async def answer(endpoint, what):
        return {}["nothing"]

    async def main():
        endpoint = Endpoint(answer, concurrency=1)
        for _ in range(30):
            with pytest.raises(KeyError, match="nothing"):
                await endpoint.call()
        with pytest.raises(ZeroDivisionError):
            await Endpoint(echo).call(spent=lambda reply: 1 // 0)
        return len(endpoint.requests), endpoint.gate.under_way, endpoint.lines

    assert run(main()) == (30, 0, [])


@pytest.mark.parametrize("name", ["wrong_key", "unknown_model_or_url", "quota_spent"])
def test_a_wrong_key_model_or_account_ends_all_calls_at_once_with_one_line(name):
    async def answer(endpoint, what):
        await asyncio.sleep(0.05)
        raise fault(name, "settings")

    async def main():
        endpoint = Endpoint(answer)
        assert await endpoint.conversations(40, 6) == 0
        with pytest.raises(EndpointError):
            await endpoint.call("later")
        return endpoint, seconds()

    endpoint, took = run(main())
    assert len(endpoint.requests) <= 8  # those that were under way together
    assert took < 0.1
    [line] = {str(error) for error in endpoint.errors}
    assert f"{name}: " in line
    assert "\n" not in line
    assert all(isinstance(error, EndpointError) and error.record_line == line for error in endpoint.errors)
    assert endpoint.gate.held_back_by == "given up"


def test_a_key_that_is_revoked_is_tried_three_more_times_and_then_ends_the_run():
    async def answer(endpoint, what):
        await asyncio.sleep(0.05)
        if seconds() > 1:
            raise fault("wrong_key", "settings")
        return what

    async def main():
        endpoint = Endpoint(answer)
        await endpoint.conversations(40, 60)
        return endpoint

    endpoint = run(main())
    assert {type(error) for error in endpoint.errors} == {EndpointError}
    later = [time for time, _ in endpoint.requests if time > 1.06]
    assert len(later) == 3
    assert later[2] - later[1] > later[1] - later[0]


def test_a_gateway_that_refuses_the_key_now_and_then_loses_nothing():
    async def answer(endpoint, what):
        await asyncio.sleep(0.2)
        if endpoint.chance.random() < 0.05:
            raise fault("forbidden", "settings")
        return what

    async def main():
        return await Endpoint(answer).conversations(20, 20)

    assert run(main()) == 20


def test_a_request_that_always_fails_while_others_succeed_fails_alone():
    async def answer(endpoint, what):
        await asyncio.sleep(0.2)
        if what[0] == 7:
            raise fault()
        return what

    async def main():
        endpoint = Endpoint(answer)
        return await endpoint.conversations(8, 600), endpoint

    finished, endpoint = run(main())
    assert finished == 7
    [error] = endpoint.errors
    assert error.retried == {"http_500": 9}
    assert sum(what[0] == 7 for _, what in endpoint.requests) == 10
    assert endpoint.lines == []


def test_requests_that_always_fail_end_by_number_too_when_the_others_are_done():
    async def answer(endpoint, what):
        await asyncio.sleep(0.2)
        if what[0] < 3:
            raise fault()
        return what

    async def main():
        endpoint = Endpoint(answer)
        return await endpoint.conversations(20, 60), endpoint.errors, seconds()

    finished, errors, took = run(main())
    assert finished == 17
    assert {type(error) for error in errors} == {CallError}
    assert took < 600


def test_a_request_that_is_always_answered_with_nothing_fails_alone_though_no_other_is_made():
    async def nothing(endpoint, what):
        if what:
            return what
        raise fault("null_content")

    async def main():
        endpoint = Endpoint(nothing)
        await endpoint.call("first")
        with pytest.raises(CallError, match="null_content"):
            await endpoint.call("")
        return endpoint.gate.requests, seconds()

    requests, took = run(main())
    assert requests == 11
    assert took < 180


def test_conversations_come_in_turn_and_none_starves():
    async def main():
        endpoint = Endpoint(echo, concurrency=2)
        await asyncio.gather(*(endpoint.call(number) for number in range(50)))
        return [what for _, what in endpoint.requests], endpoint.most

    assert run(main()) == (list(range(50)), 2)


def test_a_cancelled_call_gives_its_place_to_the_next():
    async def answer(endpoint, what):
        await asyncio.sleep(100 if what == "slow" else 0.01)
        return what

    async def main():
        endpoint = Endpoint(answer, concurrency=1)
        slow, waits, quick = (asyncio.create_task(endpoint.call(what)) for what in ("slow", "waits", "quick"))
        await asyncio.sleep(1)
        waits.cancel()
        slow.cancel()
        assert await quick == "quick"
        return [what for _, what in endpoint.requests], endpoint.gate.under_way

    assert run(main()) == (["slow", "quick"], 0)


def test_a_call_that_is_cancelled_in_the_moment_of_its_turn_leaves_it_to_the_next():
    async def main():
        endpoint = Endpoint(echo, concurrency=1)

        async def first():
            await endpoint.call("first")
            task.cancel()  # the next one may go, and was not told yet

        began = asyncio.create_task(first())
        task = asyncio.create_task(endpoint.call("gone"))
        await asyncio.wait([began, task])
        assert task.cancelled()
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
    pace=st.sampled_from([{}, {"concurrency": 1}, {"rpm": 120}, {"tpm": 60_000}]),
)
def test_no_place_is_ever_lost_and_every_call_ends(plan, pace):
    async def answer(endpoint, what):
        outcome, latency = what.pop(0) if what else ("reply", 0.01)
        await asyncio.sleep(latency)
        if outcome == "ours":
            raise ZeroDivisionError
        if outcome != "reply":
            raise fault(outcome, "limit" if outcome == "after" else outcome, 3.0 if outcome == "after" else None)
        return what

    async def main():
        endpoint = Endpoint(answer, **pace)

        async def one(outcomes, cancelled, tokens):
            task = asyncio.create_task(endpoint.call(list(outcomes), tokens=tokens, spent=lambda reply: 2 * tokens))
            if cancelled is not None:
                asyncio.get_running_loop().call_later(cancelled, task.cancel)
            await asyncio.wait([task])
            errors = CallError | EndpointError | ZeroDivisionError | None
            assert task.cancelled() or isinstance(task.exception(), errors)

        await asyncio.gather(*(one(*planned_call) for planned_call in plan))
        assert (endpoint.under_way, endpoint.gate.under_way) == (0, 0)
        if not endpoint.gate.ended:
            await asyncio.gather(*(endpoint.call([]) for _ in range(20)))
        assert endpoint.gate.under_way == 0

    run(main())


def test_a_gate_costs_the_same_for_each_of_many_that_wait(steps):
    async def main(number):
        endpoint = Endpoint(echo, concurrency=4)
        await asyncio.gather(*(endpoint.call(call) for call in range(number)))

    few, many = (steps(run, main(number)) / number for number in (100, 1000))
    assert many < 1.1 * few


def test_a_gate_serves_one_loop_after_another():
    endpoint = Endpoint(echo, concurrency=1)
    assert asyncio.run(endpoint.call(1)) == 1

    async def left():
        asyncio.get_running_loop().create_task(endpoint.call("left behind"))
        await asyncio.sleep(0)

    asyncio.run(left())
    assert asyncio.run(endpoint.call(2)) == 2


async def test_a_call_that_succeeds_at_once_needs_no_retrying(monkeypatch):
    monkeypatch.setattr("duologue.nodes.calls.gate.AsyncRetrying", None)
    assert await Gate("x").call(lambda: echo(None, "hello")) == ("hello", {})


def outage(begins, lasts, latency=0.2):
    async def answer(endpoint, what):
        if begins <= seconds() < begins + lasts:
            await asyncio.sleep(0.001)
            raise fault("connection_refused")
        await asyncio.sleep(latency)
        return what

    return answer


@pytest.mark.parametrize(("lasts", "probes"), [(3, 2), (30, 8), (300, 62)])
def test_all_conversations_outlive_an_outage_that_costs_one_request_at_a_time(lasts, probes):
    async def main():
        endpoint = Endpoint(outage(3, lasts))
        return await endpoint.conversations(40, 20), endpoint

    finished, endpoint = run(main())
    assert finished == 40
    failed = [time for time, _ in endpoint.requests if 3 <= time < 3 + lasts]
    assert len([time for time in failed if time > 3.2]) <= probes  # the first second finds out that it is away
    assert len(failed) <= 40 + probes
    assert endpoint.lines[0].startswith("http://x/v1 fails call after call, last connection_refused")
    assert "answers again" in endpoint.lines[-1]
    assert len(endpoint.lines) <= 4  # a reply that was under way may come in between


def test_after_an_outage_few_calls_go_first_and_then_as_many_as_before():
    async def main():
        endpoint = Endpoint(outage(3, 10))
        await endpoint.conversations(40, 100)
        return endpoint

    after = sorted(time for time, _ in run(main()).requests if time > 13)
    assert sum(time < after[0] + 0.39 for time in after) <= 1 + 3
    assert sum(after[0] + 3 < time < after[0] + 4 for time in after) > 0.9 * 40 / 0.2


def test_an_endpoint_that_comes_back_with_faults_is_found_back_soon():
    async def answer(endpoint, what):
        if 3 <= seconds() < 33:
            raise fault("unreachable")
        await asyncio.sleep(0.1)
        if endpoint.chance.random() < 0.3:
            raise fault("reset") if endpoint.chance.random() < 0.7 else fault("rate_limited", "limit")
        return what

    async def main():
        endpoint = Endpoint(answer)
        await endpoint.conversations(20, 15)
        return endpoint

    endpoint = run(main())
    assert sum(33 <= time < 60 for time, _ in endpoint.requests) > 50


@pytest.mark.parametrize(("begins", "patience"), [(3, 60), (0, 15)])
def test_an_outage_that_is_longer_than_patience_ends_the_run_with_one_line(begins, patience, monkeypatch):
    monkeypatch.setattr(gate, "PATIENCE", 60.0)

    async def main():
        endpoint = Endpoint(outage(begins, 10_000))
        assert await endpoint.conversations(40, 20) == 0
        return endpoint, seconds()

    endpoint, took = run(main())
    [line] = {str(error) for error in endpoint.errors}
    assert f"tried for {patience} s" in line
    assert "connection_refused" in line
    assert begins + patience - 0.1 <= took < begins + patience + 1
    assert endpoint.gate.held_back_by == "given up"
    assert sum(time > begins + 0.2 for time, _ in endpoint.requests) <= 20


@pytest.mark.parametrize("whose", ["endpoint", "limit"])
def test_time_in_which_nothing_is_called_uses_up_no_patience(whose):
    async def main():
        faults = [fault(whose=whose)] * 6

        async def answer(endpoint, what):
            if faults and what != "first":
                raise faults.pop()
            return what

        endpoint = Endpoint(answer)
        await endpoint.call("first")
        given_up = asyncio.create_task(endpoint.call("given up"))
        await asyncio.sleep(0.1)
        given_up.cancel()
        await asyncio.sleep(3600)
        return await endpoint.call("later")

    assert run(main()) == "later"


def test_a_single_call_to_a_closed_port_ends_after_fifteen_seconds_too():
    async def main():
        endpoint = Endpoint(outage(0, 10_000))
        with pytest.raises(EndpointError):
            await endpoint.call()
        return len(endpoint.requests), seconds()

    requests, took = run(main())
    assert requests <= 15
    assert 14.9 <= took < 15.5


def test_an_endpoint_that_answered_before_is_waited_for_from_the_start():
    async def main():
        endpoint = Endpoint(outage(0, 100))
        endpoint.gate.answered = True
        return await endpoint.conversations(4, 2)

    assert run(main()) == 4


def test_a_slow_first_reply_is_no_outage():
    async def main():
        return await Endpoint(always(60)).conversations(4, 1)

    assert run(main()) == 4


def test_thirty_percent_of_random_faults_lose_nothing():
    async def answer(endpoint, what):
        await asyncio.sleep(0.2)
        if endpoint.chance.random() < 0.3:
            raise fault("no_choices")
        return what

    async def main():
        endpoint = Endpoint(answer)
        return await endpoint.conversations(40, 50), len(endpoint.requests), endpoint.lines

    finished, requests, lines = run(main())
    assert (finished, lines) == (40, [])
    assert requests < 40 * 50 / 0.7 * 1.1


def test_a_probe_that_is_cancelled_leaves_the_next_one_its_turn():
    async def main():
        endpoint = Endpoint(outage(1, 20))
        assert await endpoint.call("first") == "first"
        await asyncio.sleep(1)
        tasks = [asyncio.create_task(endpoint.call(number)) for number in range(12)]
        await asyncio.sleep(15)  # by now all wait
        assert "gone" in endpoint.gate.held_back_by
        for task in tasks[:6]:
            task.cancel()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        return done[6:]

    assert run(main()) == list(range(6, 12))


def test_waiting_behind_an_outage_uses_up_no_tries():
    async def main():
        endpoint = Endpoint(outage(1, 500))
        return await endpoint.conversations(3, 10)

    assert run(main()) == 3


@pytest.mark.parametrize("closed_at", [2, 60])  # before the endpoint goes away, and while it is away
def test_a_closed_gate_waits_for_nothing_and_makes_no_further_try(closed_at):
    async def conversation(endpoint):
        try:
            for _ in range(20):
                await endpoint.call()
        except RunOverError:
            return True
        return False

    async def main():
        endpoint = Endpoint(outage(3, 10_000))
        asyncio.get_running_loop().call_at(closed_at, endpoint.gate.close)
        over = await asyncio.gather(*(conversation(endpoint) for _ in range(400)))
        return over, endpoint, seconds()

    over, endpoint, took = run(main())
    assert all(over)
    assert took < closed_at + 1
    assert all(when <= closed_at for when, _ in endpoint.requests)


def test_a_closed_gate_gives_the_replies_of_calls_that_are_under_way():
    async def main():
        endpoint = Endpoint(always(5))
        asyncio.get_running_loop().call_at(1, endpoint.gate.close)
        return await endpoint.conversations(4, 1)

    assert run(main()) == 4
