"""Conversations with a model at an endpoint: what is sent for each call, what is retried, and what no file contains."""

import json
from typing import Any

import pytest
from werkzeug import Response

import duologue
from duologue import data, graphs
from duologue.nodes import Limits
from duologue.nodes.calls.gate import EndpointError
from tests.fake_models import SeededModel, SeedlessModel


@pytest.fixture
def simulated(lighthouse, monkeypatch):
    """One conversation about the lighthouse between two models whose calls are made so many times at most."""

    def simulate(user: Any = "openai:m", assistant: Any = None, tries: int = 1, out: Any = None, **limits: Any):
        monkeypatch.setattr("duologue.nodes.calls.gate.TRIES", tries)
        limits = {"max_turns": 1, **limits}
        cast = graphs.simquac.cast(user, user if assistant is None else assistant, limits=Limits(**limits))
        return duologue.simulate(cast, [graphs.simquac.scenario(lighthouse)], out=out)[0]

    return simulate


def test_a_conversation_is_held_and_every_call_has_a_seed_of_its_own(endpoint, simulated):
    endpoint.say(user=["Who lived there?"], assistant=["They were a trio of wardens.", "three keepers"])
    conversation = simulated("openai:m?temperature=0.5", "openai:other?max_tokens=60")
    assert [message.text for message in conversation.messages] == ["Who lived there?", "Three keepers"]
    assert (conversation.usage.calls, conversation.usage.input_tokens, conversation.usage.output_tokens) == (3, 60, 9)
    settings = conversation.provenance.nodes["user_simulator"].settings
    assert settings["model"] == {"spec": "openai:m", "arguments": {"temperature": 0.5}, "max_tokens": 256}
    sent = [(body["model"], body.get("temperature"), body.get("max_tokens")) for body in endpoint.bodies()]
    assert sent == [("m", 0.5, 256), ("other", None, 60), ("other", None, 60)]
    assert {headers["authorization"] for headers in endpoint.headers} == {f"Bearer {endpoint.key}"}
    assert len({body["seed"] for body in endpoint.bodies()}) == 3


def test_an_instance_is_sent_a_seed_only_if_it_knows_one_and_has_none(simulated):
    plain, seeded, settled = SeedlessModel(lines=["Who?"]), SeededModel(lines=["Who?"]), SeededModel(lines=["Who?"], seed=3)  # fmt: skip
    for student in (plain, seeded, settled):
        simulated(student, "offline", max_turns=2)
    assert plain.options == settled.options == [{}, {}]
    assert len(set(seeded.seeds)) == 2


def test_a_reply_that_fails_for_good_ends_the_conversation_and_what_was_said_is_kept(endpoint, simulated, tmp_path):
    broken = Response(json.dumps({"error": {"message": "too\nmuch \ud83d" + "x" * 5_000}}), 400)
    endpoint.say(user=[endpoint.completion("Who lived \ud83d there?")], assistant=[broken])
    conversation = simulated(out=tmp_path / "run")
    assert (conversation.stop, conversation.failure.node) == ("model_failed", "assistant")
    assert conversation.messages[0].text == "Who lived ? there?"
    assert "400: too much" in conversation.failure.error
    assert len(conversation.failure.error) <= 500
    (stored,) = data.record_lines.read(tmp_path / "run" / "conversations.jsonl")
    assert stored.messages == conversation.messages


@pytest.mark.parametrize("is_instance", [False, True])
def test_a_wrong_key_is_tried_once_and_shown_nowhere(endpoint, simulated, caplog, tmp_path, anything_in, is_instance):
    from langchain_openai import ChatOpenAI  # takes seconds to import

    key = "the-instance's-own-word" if is_instance else endpoint.key
    model: Any = ChatOpenAI(model="m", api_key=key, base_url=endpoint.url, max_retries=0) if is_instance else "openai:m"
    endpoint.otherwise["user"] = endpoint.failing(401, f"Incorrect API key provided: {key}. Sent: Bearer {key}")
    with pytest.raises(EndpointError, match=r"wrong_key.*401: Incorrect API key provided") as ended:
        simulated(model, out=tmp_path / "run")
    assert [headers["authorization"] for headers in endpoint.headers] == [f"Bearer {key}"]
    assert key not in str(ended.value) + caplog.text
    assert b"Incorrect API key" in anything_in(tmp_path)
    assert key.encode() not in anything_in(tmp_path)
