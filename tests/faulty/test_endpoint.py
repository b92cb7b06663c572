"""The faulty endpoint that other tests rely on: what it counts, and that its faults are those that were asked for."""

import http.client
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

STUDENT = "<title>Aberwick</title>\n<background>A tower.</background>\n<header>Keepers</header>"


def body(seed: int = 1, text: str = STUDENT, **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": text}], "seed": seed, **more}


def ask(endpoint: Any, seed: int = 1, *, timeout: float = 900, **more: Any) -> httpx.Response:
    return httpx.post(
        endpoint.url + "/chat/completions", json=body(seed, **more), timeout=timeout, trust_env=False, verify=False
    )


@pytest.mark.heavy
def test_it_answers_naturally_and_as_a_function_of_the_request(faulty: Any) -> None:
    one, other = faulty(), faulty()
    texts = [
        ask(words, seed).json()["choices"][0]["message"]["content"] for words in (one, other) for seed in (1, 2, 3)
    ]
    assert texts[:3] == texts[3:]
    assert all(text.endswith("?") for text in texts)
    assert len(set(texts)) > 1
    assert ask(one).json()["usage"]["prompt_tokens"] > 0
    assert httpx.get(one.url + "/models", trust_env=False, verify=False).json()["data"][0]["id"] == "m"


@pytest.mark.heavy
def test_what_was_answered_before_counts_as_a_repeat(faulty: Any) -> None:
    endpoint = faulty()
    for seed in (1, 2, 1, 1):
        ask(endpoint, seed)
    counts = endpoint.counts()
    assert (counts["requests"], counts["bodies"], counts["answered"], counts["repeats"]) == (4, 2, 4, 2)
    assert httpx.get(endpoint.url.removesuffix("/v1") + "/counts", trust_env=False, verify=False).json() == counts


def test_a_connection_is_kept_or_closed_as_the_client_wants(faulty: Any) -> None:
    endpoint = faulty()
    connection = http.client.HTTPConnection("127.0.0.1", endpoint.port)
    for _ in range(2):
        connection.request("POST", "/v1/chat/completions", json.dumps(body()))
        assert connection.getresponse().read()
    first = connection.sock
    connection.request("POST", "/v1/chat/completions", json.dumps(body()), {"connection": "close"})
    assert first is connection.sock  # one connection served all three
    connection.getresponse().read()
    assert connection.sock is None
    connection.close()
    assert endpoint.counts()["requests"] == 3


@pytest.mark.parametrize("status", ["500", "503", "529", "429", "400_policy", "401", "402", "403", "404"])
def test_a_status_can_be_had_for_every_request(faulty: Any, status: str) -> None:
    endpoint = faulty(status=status)
    reply = ask(endpoint)
    assert reply.status_code == int(status[:3])
    assert reply.json()["error"]["message"]
    assert "retry-after" not in reply.headers


def test_retry_after_is_a_fault_of_its_own(faulty: Any) -> None:
    assert ask(faulty(status="429_after", retry_after=7)).headers["retry-after"] == "7"


@pytest.mark.parametrize(
    ("fault", "wrong"),
    [
        ("null_content", lambda reply: reply.json()["choices"][0]["message"]["content"] is None),
        ("empty", lambda reply: reply.json()["choices"][0]["message"]["content"] == ""),
        ("choices_empty", lambda reply: reply.json()["choices"] == []),
        ("choices_null", lambda reply: reply.json()["choices"] is None),
        ("choices_missing", lambda reply: "choices" not in reply.json()),
        ("html", lambda reply: reply.text.startswith("<html>")),
        ("truncated", lambda reply: not reply.text.endswith("}")),
        ("empty_body", lambda reply: reply.content == b""),
        ("usage_negative", lambda reply: reply.json()["usage"]["prompt_tokens"] < 0),
        ("length", lambda reply: reply.json()["choices"][0]["finish_reason"] == "length"),
        ("content_filter", lambda reply: reply.json()["choices"][0]["finish_reason"] == "content_filter"),
        ("refusal", lambda reply: "cannot help" in reply.json()["choices"][0]["message"]["refusal"]),
    ],
)
def test_a_body_can_be_wrong_in_each_way(faulty: Any, fault: str, wrong: Any) -> None:
    endpoint = faulty(faults={fault: 1.0})
    reply = ask(endpoint)
    assert reply.status_code == 200
    assert wrong(reply)
    assert endpoint.counts()["faults"] == {fault: 1}
    assert endpoint.counts()["answered"] == 0  # asked again it costs nothing twice


def test_a_redirect_a_huge_body_and_an_unknown_fault(faulty: Any) -> None:
    other = faulty()
    assert ask(faulty(faults={"redirect": 1.0}, redirect=other.url)).headers["location"] == other.url
    assert len(ask(faulty(faults={"huge": 1.0}, huge=3_000_000)).content) > 3_000_000
    with pytest.raises(ValueError, match="no such fault"):
        faulty(faults={"hugo": 1.0})


@pytest.mark.parametrize("fault", ["reset_before", "reset_amid"])
def test_a_connection_is_reset(faulty: Any, fault: str) -> None:
    with pytest.raises(httpx.TransportError):
        ask(faulty(faults={fault: 1.0}))


@pytest.mark.parametrize("fault", ["slow", "never"])
def test_a_client_that_gives_up_is_no_longer_in_flight(faulty: Any, fault: str) -> None:
    endpoint = faulty(faults={fault: 1.0}, slow=30)
    with pytest.raises(httpx.TimeoutException):
        ask(endpoint, timeout=0.05)
    endpoint.until(lambda counts: counts["most_in_flight"] == 1 and counts["in_flight"] == 0)


@pytest.mark.heavy
def test_a_share_of_everything_is_drawn_by_the_request_and_how_often_it_was_asked(faulty: Any) -> None:
    def fallen(seed: int) -> list[bool]:
        endpoint = faulty(faults={"everything": 0.3}, seed=seed)
        seen = []
        for number in range(60):
            try:
                reply = ask(endpoint, number % 30)
                seen.append(reply.status_code != 200)
            except httpx.TransportError:
                seen.append(True)
        counts = endpoint.counts()
        assert 8 <= sum(counts["faults"].values()) <= 28
        assert len(counts["faults"]) > 4
        return seen

    assert fallen(1) == fallen(1)
    assert fallen(1) != fallen(2)


def test_requests_beyond_what_a_second_allows_are_refused(faulty: Any) -> None:
    endpoint = faulty(per_second=5, retry_after=2)
    replies = [ask(endpoint, seed) for seed in range(8)]
    refused = [reply for reply in replies if reply.status_code == 429]
    assert refused
    assert refused[0].headers["retry-after"] == "2"
    assert endpoint.counts()["faults"] == {"limit": len(refused)}


def test_it_is_gone_after_so_many_requests_for_so_many(faulty: Any) -> None:
    endpoint, seen = faulty(gone_requests=[[2, 3], [6, 1]]), []
    for seed in range(8):
        try:
            seen.append(ask(endpoint, seed).status_code)
        except httpx.TransportError:
            seen.append(0)
    assert seen == [200, 200, 0, 0, 0, 200, 0, 200]


def test_nobody_listens_while_it_is_gone_and_the_port_stays_its_own(faulty: Any) -> None:
    endpoint = faulty()
    ask(endpoint)
    endpoint.leave()
    with pytest.raises(httpx.ConnectError):
        ask(endpoint)
    endpoint.listen()
    assert ask(endpoint).status_code == 200


def test_it_is_gone_by_the_clock_after_the_first_request(faulty: Any) -> None:
    endpoint = faulty(gone=[[0.0, 30.0]], latency=5)
    assert (
        httpx.get(endpoint.url + "/models", trust_env=False, verify=False).status_code == 200
    )  # no request of the run
    with pytest.raises(httpx.TransportError):
        ask(endpoint)
    with pytest.raises(httpx.ConnectError):
        ask(endpoint)


def test_replies_are_held_from_the_nth_on_until_they_are_freed(faulty: Any) -> None:
    endpoint = faulty(hold_at=1, lost=1)
    assert ask(endpoint, 1).status_code == 200
    with pytest.raises(httpx.TimeoutException):
        ask(endpoint, 2, timeout=0.1)
    endpoint.until(lambda counts: counts["held"] == 0 and counts["answered"] == 2)  # one was paid and never came
    endpoint.change(hold_at=None)
    assert ask(endpoint, 2).status_code == 200
    assert endpoint.counts()["repeats"] == 1


@pytest.mark.parametrize("when", ["before", "amid", "after"])
def test_it_kills_at_the_reply_that_was_told(faulty: Any, when: str) -> None:
    sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    endpoint = faulty(kill={"pid": sleeper.pid, "at": 2, "when": when})
    ask(endpoint, 1)
    assert sleeper.poll() is None
    try:
        ask(endpoint, 2)
    except httpx.TransportError:
        assert when != "after"
    assert sleeper.wait(900) == -9
    assert endpoint.counts()["in_flight_at_kills"] == [1]


def test_a_line_for_each_proper_reply_survives_the_process(faulty: Any, tmp_path: Path) -> None:
    endpoint = faulty(log=str(tmp_path / "log"))
    for seed in (1, 2, 1):
        ask(endpoint, seed)
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [line["times"] for line in lines] == [1, 1, 2]


def test_it_calls_a_tool_first_and_speaks_the_responses_api(faulty: Any) -> None:
    parameters = {"type": "object", "properties": {"room": {"type": "integer"}}}
    tool = {"type": "function", "function": {"name": "book", "parameters": parameters}}
    endpoint = faulty(tools=True, reply="Done.")
    choice = ask(endpoint, tools=[tool]).json()["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert json.loads(choice["message"]["tool_calls"][0]["function"]["arguments"]) == {"room": 1}
    response = httpx.post(
        endpoint.url + "/responses", json={"model": "m", "input": "Hello"}, trust_env=False, verify=False
    ).json()
    assert response["output"][0]["content"][0]["text"] == "Done."
