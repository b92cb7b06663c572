"""Requests to a platform of the track: which are made again, and after how many seconds."""

import asyncio

import httpx
import pytest

from duologue.hosts.trec import protocol
from duologue.hosts.trec.protocol import Platform, PlatformError, UnansweredError

BEGUN = httpx.Response(200, json={"conversation_id": "c", "scenario": {"goal": {"topic": "talks"}}})
BUSY = httpx.Response(503, text="a moment")


def slowly(after):
    return httpx.Response(429, headers={"retry-after": after})


@pytest.fixture
def asked(monkeypatch):
    """A function that makes a request, and gives its reply, the seconds of its pauses, and what was asked."""
    pauses = []

    async def sleep(seconds):
        pauses.append(seconds)

    monkeypatch.setattr("duologue.hosts.trec.protocol.asyncio.sleep", sleep)

    def ask(request, *answers):
        pauses.clear()
        left, paths = list(answers), []

        def answer(asked_for):
            paths.append(asked_for.url.path)
            one = left.pop(0)
            if isinstance(one, httpx.Response):
                return one
            raise one("no", request=asked_for)

        platform = Platform("http://here", "task2", "r", "us", transport=httpx.MockTransport(answer))
        return asyncio.run(request(platform)), list(pauses), paths

    return ask


def send(platform):
    return platform.send(platform.request("c", "hello", "now", is_final=False))


def test_pauses_are_the_platforms_own_up_to_a_minute(asked):
    _, pauses, _ = asked(Platform.start, slowly("3"), slowly("9999"), slowly("Wed, 21 Oct 2099 07:28:00 GMT"), BEGUN)
    assert pauses == [3.0, 60.0, protocol.PAUSES[2]]


@pytest.mark.parametrize("request_of", [Platform.start, Platform.session])
def test_a_platform_that_comes_back_is_waited_for(asked, request_of):
    reply, pauses, paths = asked(request_of, httpx.ConnectError, BUSY, httpx.ReadTimeout, BEGUN)
    assert reply.scenario
    assert pauses == list(protocol.PAUSES[:3])
    assert len(set(paths)) == 1


def test_a_message_that_the_platform_may_have_is_not_sent_again_by_itself(asked):
    for lost in (BUSY, httpx.ReadTimeout, httpx.RemoteProtocolError):
        with pytest.raises(UnansweredError, match=r"here, task2/run/continue"):
            asked(send, lost, BEGUN)
    reply, pauses, _ = asked(send, httpx.ConnectError, slowly("0"), BEGUN)
    assert (reply.status, pauses) == (200, [1.0, 0.0])


@pytest.mark.parametrize(
    ("answer", "advice"),
    [
        (httpx.Response(401), "set TREC_TOKEN"),
        (httpx.Response(302), "check --url"),
        (httpx.Response(404), "check --url and --debug"),
        (httpx.Response(422), "mend what it names"),
    ],
)
def test_a_refusal_is_one_line_at_once_with_its_remedy(asked, answer, advice):
    with pytest.raises(PlatformError, match=f"here, task2/run/start answers .*{advice}"):
        asked(Platform.start, answer)


def test_a_run_for_trying_has_routes_of_its_own_and_the_team_is_named():
    requests = []

    def answer(request):
        requests.append((request.url.path, request.content))
        return BEGUN

    platform = Platform("http://here/", "task1", "r", "us", debug=True, transport=httpx.MockTransport(answer))
    for work in (platform.start, platform.session, platform.dump):
        asyncio.run(work())
    assert [path for path, _ in requests] == ["/task1/debug/start", "/debug/session", "/debug/dump"]
    assert b'"team_id":"us"' in requests[0][1]


def test_after_five_tries_the_last_problem_is_named(asked):
    with pytest.raises(PlatformError, match="answers 503 \\(a moment\\): wait"):
        asked(Platform.session, *[BUSY] * 5)
