"""What endpoints do to a conversation: it is retried, or ends with a reason, and nothing said is lost."""

import json
from dataclasses import replace
from typing import Any

import pytest
from werkzeug import Response

import duologue
from duologue import data, graphs
from duologue.nodes import Limits
from duologue.nodes.calls.endpoint_gate import EndpointError
from duologue.nodes.calls.health import Health

IMPATIENT = "openai:m?max_retries=0"


@pytest.fixture
def simulated(lighthouse):
    """One conversation about the lighthouse between two models."""

    def simulate(model: Any = "openai:m", turns: int = 1, **more: Any):
        cast = graphs.simquac.cast(model, model, limits=Limits(max_turns=turns))
        return duologue.simulate(cast, [graphs.simquac.scenario(lighthouse)], **more)[0]

    return simulate


def test_a_busy_endpoint_is_asked_again_after_as_long_as_it_says(endpoint, simulated, monkeypatch):
    paused = []
    limited = Health._limited

    def looked_at(health, turn, fault, now):
        paused.append(fault.after)
        return limited(health, turn, replace(fault, after=0.01), now)

    monkeypatch.setattr(Health, "_limited", looked_at)
    endpoint.say(user=[endpoint.failing(429, "slow down", Retry_After="7"), "Who lived there?"])
    conversation = simulated()
    assert (conversation.stop, conversation.messages[0].text) == ("max_turns", "Who lived there?")
    assert len(endpoint.calls) == 3
    assert paused == [7]
    assert endpoint.bodies()[0] == endpoint.bodies()[1]


@pytest.mark.heavy
def test_an_endpoint_that_stays_busy_ends_the_conversation(endpoint, simulated):
    endpoint.otherwise["assistant"] = endpoint.failing(429, "slow down", Retry_After="0.01")
    conversation = simulated("openai:m?max_retries=2")
    assert (conversation.stop, conversation.failure.node) == ("model_failed", "assistant")
    assert "429" in conversation.failure.error
    assert len(endpoint.bodies("assistant")) == 3


@pytest.mark.heavy
def test_an_endpoint_that_breaks_once_is_asked_again(endpoint, simulated):
    endpoint.say(assistant=[endpoint.failing(500), "three keepers"])
    conversation = simulated()
    assert (conversation.stop, conversation.messages[1].text) == ("max_turns", "Three keepers")
    assert len(endpoint.bodies("assistant")) == 2
    assert conversation.usage.calls == 2


@pytest.mark.heavy
def test_a_timeout_ends_the_conversation_and_keeps_what_was_said(endpoint, simulated):
    endpoint.say(user=["Who lived there?", "Who was the last?"], assistant=["three keepers", "Nobody.", endpoint.sleep])
    conversation = simulated("openai:m?timeout=3&max_retries=0", turns=3)
    assert (conversation.stop, conversation.failure.node) == ("model_failed", "assistant")
    assert "timed out" in conversation.failure.error.lower()
    assert [message.text for message in conversation.messages] == [
        "Who lived there?",
        "Three keepers",
        "Who was the last?",
    ]
    assert [(turn.role, [a.text for a in turn.attempts]) for turn in conversation.unsaid] == [
        ("assistant", ["Nobody."])
    ]
    assert len(endpoint.calls) == 5


CUT_OFF = Response('{"id": "chatcmpl-1", "choices": [{"index": 0, "mess', content_type="application/json")


@pytest.mark.heavy
def test_a_reply_cut_off_once_is_asked_for_again(endpoint, simulated):
    endpoint.say(user=[CUT_OFF, "Who lived there?"], assistant=[CUT_OFF, "three keepers"])
    conversation = simulated()
    assert (conversation.stop, [message.text for message in conversation.messages]) == (
        "max_turns",
        ["Who lived there?", "Three keepers"],
    )
    assert len(endpoint.calls) == 4


@pytest.mark.heavy
def test_replies_that_are_always_cut_off_end_the_conversation(endpoint, simulated):
    endpoint.otherwise["assistant"] = CUT_OFF
    conversation = simulated("openai:m?max_retries=2")
    assert (conversation.stop, conversation.failure.node) == ("model_failed", "assistant")
    assert conversation.failure.error.startswith("not_json")
    assert [message.text for message in conversation.messages] == ["What is point 2?"]
    assert 2 <= len(endpoint.bodies("assistant")) <= 4


@pytest.mark.parametrize(
    "reply",
    [
        Response("<html>a gateway's own page</html>", content_type="text/html"),
        Response("", content_type="application/json"),
        Response("{}", content_type="application/json"),
        Response("[]", content_type="application/json"),
        Response("null", content_type="application/json"),
        Response('{"choices": []}', content_type="application/json"),
        Response('{"error": {"message": "overloaded"}}', content_type="application/json"),
        Response(b'{"choices": "\xff\xfe"}', content_type="application/json"),
        Response(status=204),
    ],
    ids=["page", "nothing", "empty", "list", "null", "no_choice", "error", "not_utf8", "no_content"],
)
def test_a_reply_that_is_no_completion_ends_the_conversation(endpoint, simulated, reply):
    endpoint.otherwise["user"] = reply
    conversation = simulated("openai:m?max_retries=1")
    assert (conversation.stop, conversation.failure.node, conversation.messages) == (
        "model_failed",
        "user_simulator",
        (),
    )
    assert conversation.failure.error
    assert len(endpoint.calls) == 2


@pytest.mark.parametrize("nothing", ["", " \n"])
def test_an_empty_reply_is_a_rejected_attempt(endpoint, simulated, nothing):
    empty = endpoint.completion(nothing)
    endpoint.say(user=[empty, "Who lived there?"], assistant=[empty, "three keepers"])
    conversation = simulated()
    assert [message.text for message in conversation.messages] == ["Who lived there?", "Three keepers"]
    assert [(a.verdict, a.reason, a.number) for a in conversation.attempts()] == [
        ("rejected", "empty", 1), ("accepted", None, 2),
        ("rejected", "empty", 1), ("accepted", None, 2),
    ]  # fmt: skip
    assert all(message["content"] for body in endpoint.bodies() for message in body["messages"])
    assert endpoint.bodies("user")[0]["seed"] != endpoint.bodies("user")[1]["seed"]


def test_a_user_that_declines_is_asked_again(endpoint, simulated):
    endpoint.say(user=[endpoint.completion(None, refusal="I won't."), "Who lived there?"])
    conversation = simulated()
    first, second = conversation.attempts("user")
    assert (first.text, first.flaw, first.reason, second.reason) == ("I won't.", "refusal", "refusal", None)
    assert second.prompt.name == "user/repair_refusal"


def test_reasoning_in_a_field_of_its_own_is_not_what_was_said(endpoint, simulated):
    endpoint.say(user=[endpoint.completion("Who lived there?", reasoning_content="Let me see: 1. who 2. when")])
    assert simulated().messages[0].text == "Who lived there?"


def test_a_reply_without_usage_still_counts_as_a_call(endpoint, simulated):
    bare = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Who lived there?"}}]}
    endpoint.say(user=[Response(json.dumps(bare), content_type="application/json")])
    usage = simulated().messages[0].usage
    assert (usage.calls, usage.tokens) == (1, 0)


def test_half_a_surrogate_pair_fits_in_a_run_folder(endpoint, simulated, tmp_path):
    broken = Response('{"error": {"message": "too much \\ud83d"}}', 400, content_type="application/json")
    endpoint.say(user=[endpoint.completion("Who lived \ud83d there?")], assistant=[broken])
    conversation = simulated(out=tmp_path / "run")
    assert (conversation.stop, conversation.messages[0].text) == ("model_failed", "Who lived ? there?")
    (stored,) = data.record_lines.read(tmp_path / "run" / "failures.jsonl")
    assert stored.messages == conversation.messages


def test_a_wrong_key_is_tried_once_and_shown_nowhere(endpoint, simulated, caplog, tmp_path, anything_in):
    message = f"Incorrect API key provided: {endpoint.key}. Sent: Bearer {endpoint.key}"
    endpoint.otherwise["user"] = endpoint.failing(401, message)
    with pytest.raises(EndpointError, match="wrong_key: 401: Incorrect API key provided") as ended:
        simulated(out=tmp_path / "run")
    assert len(endpoint.calls) == 1
    assert endpoint.key not in str(ended.value)
    assert endpoint.key not in caplog.text
    assert b"Incorrect API key" in anything_in(tmp_path)
    assert endpoint.key.encode() not in anything_in(tmp_path)


def test_the_key_of_a_given_instance_is_shown_nowhere(endpoint, simulated, tmp_path, anything_in):
    from langchain_openai import ChatOpenAI  # takes seconds to import

    own = "the-instance's-own-word"
    model = ChatOpenAI(model="m", api_key=own, base_url=endpoint.url, max_retries=0)
    endpoint.otherwise["user"] = endpoint.failing(401, f"Incorrect API key provided: {own}")
    with pytest.raises(EndpointError, match="Incorrect API key provided") as ended:
        simulated(model, out=tmp_path / "run")
    assert endpoint.headers[0]["authorization"] == f"Bearer {own}"
    assert own not in str(ended.value)
    assert own.encode() not in anything_in(tmp_path)


def test_the_key_is_in_no_file_of_a_run(endpoint, simulated, tmp_path, monkeypatch, anything_in):
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url.replace("//", "//me:endpoint.password@"))
    conversation = simulated("openai:m?temperature=0.5", turns=2, out=tmp_path / "run")
    assert conversation.stop == "max_turns"
    written = anything_in(tmp_path / "run")
    assert conversation.id.encode() in written
    for secret in (endpoint.key, "endpoint.password"):
        assert secret.encode() not in written


def test_one_failing_conversation_does_not_stop_the_others(endpoint, lighthouse, tmp_path):
    def student(body):
        broken = "Rock 2" in body["messages"][1]["content"] and len(body["messages"]) > 2
        return endpoint.failing(400, "no more") if broken else f"What is point {len(body['messages'])}?"

    endpoint.otherwise["user"] = student
    topics = [lighthouse.model_copy(update={"title": f"Rock {number}"}) for number in range(5)]
    cast = graphs.simquac.cast(IMPATIENT, IMPATIENT, limits=Limits(max_turns=2))
    conversations = duologue.simulate(cast, graphs.simquac.scenarios(topics), concurrency=2, out=tmp_path / "run")
    assert [one.stop for one in conversations] == ["max_turns", "max_turns", "model_failed", "max_turns", "max_turns"]
    assert [len(one.messages) for one in conversations] == [4, 4, 2, 4, 4]
    assert conversations[2].failure.node == "user_simulator"
    assert len((tmp_path / "run" / "conversations.jsonl").read_text().splitlines()) == 4
    assert len((tmp_path / "run" / "failures.jsonl").read_text().splitlines()) == 1


def test_a_failure_is_told_in_one_short_line(endpoint, simulated):
    endpoint.otherwise["user"] = endpoint.failing(400, "bad\nrequest\n" + "x" * 5_000)
    error = simulated(IMPATIENT).failure.error
    assert "bad request" in error
    assert "\n" not in error
    assert len(error) <= 500
