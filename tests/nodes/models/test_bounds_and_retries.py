"""Replies of models are bounded, and a retry differs from the draft that was rejected."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from werkzeug import Response

import duologue
from duologue import graphs
from duologue.nodes import Limits

LONG = "Who " + "really " * 40 + "lived there?"
GOAL = {"goal": "Book a room.", "facts": {}}


def talk(cast: Any, scenario: Any, **limits: Any) -> Any:
    (one,) = duologue.simulate(cast, [scenario], limits=Limits(**{"max_turns": 1, **limits}), progress=False)
    return one


@pytest.fixture
def about(lighthouse: Any) -> Callable[..., Any]:
    """A conversation of the SimQuAC cast about the lighthouse."""
    return lambda user="openai:m", assistant="openai:m", limits=None, **settings: talk(
        graphs.simquac.cast(user, assistant, **settings), graphs.simquac.scenario(lighthouse), **(limits or {})
    )


@pytest.mark.parametrize(
    ("model", "settings", "sent", "kept"),
    [
        ("openai:m", {}, (256, 1024), (256, 1024)),
        ("openai:m", {"user_tokens": 40, "assistant_tokens": 90}, (40, 90), (40, 90)),
        ("openai:m?max_tokens=60", {"user_tokens": 40}, (60, 60), (None, None)),
        ("openai:m?max_tokens=none", {}, (None, None), (None, None)),
        ("openai:m?max_completion_tokens=9", {}, (None, None), (None, None)),
        ("openai:m", {"as_published": True}, (None, None), (None, None)),
        ("openai:m", {"as_published": True, "user_tokens": 40}, (40, None), (40, None)),
    ],
)
def test_each_side_has_its_bound_and_the_record_says_which(
    endpoint: Any, about: Any, model: str, settings: Any, sent: Any, kept: Any
) -> None:
    conversation = about(model, model, **settings)
    assert tuple(endpoint.bodies(side)[0].get("max_tokens") for side in ("user", "assistant")) == sent
    nodes = conversation.provenance.nodes
    told = [nodes[place].settings["model"] for place in ("user_simulator", "assistant")]
    assert tuple(one.get("max_tokens") for one in told) == kept
    assert nodes["assistant"].label == model  # it is named as it was given


def refused(name: str, instead: str = "") -> Response:
    said = {"message": f"Unsupported value: '{name}'. {instead}", "param": name, "code": "unsupported_parameter"}
    return Response(json.dumps({"error": said}), 400)


def test_an_endpoint_that_refuses_what_we_add_is_asked_as_it_wants(endpoint: Any, about: Any) -> None:
    """OpenAI's reasoning models take `max_completion_tokens`, and no other temperature than 1."""

    def reasoning(body: Any) -> Any:
        if "max_tokens" in body:
            return refused("max_tokens", "Use 'max_completion_tokens' instead.")
        return refused("temperature") if "temperature" in body else LONG

    endpoint.otherwise["user"] = reasoning
    conversation = about(assistant="offline")
    assert conversation.stop == "user_rejected"
    bounds = [(body.get("max_tokens"), body.get("max_completion_tokens")) for body in endpoint.bodies()]
    assert bounds == [(256, None), (None, 256), (None, 256), (None, 256), (None, 256)]  # it is remembered
    assert [body.get("temperature") for body in endpoint.bodies()] == [None, None, None, 1.3, None]


def test_a_retry_has_its_own_seed_and_the_reason_and_the_same_words_a_third_time_end_the_attempts(
    endpoint: Any, about: Any
) -> None:
    endpoint.say(user=["Who lived there?"])
    endpoint.otherwise["assistant"] = "They were a trio of wardens."
    conversation = about("openai:m", "openai:m?temperature=0.5", limits={"answer_attempts": 6})
    asked = endpoint.bodies("assistant")
    assert [body["temperature"] for body in asked] == [0.5, 0.5, 0.8]
    assert len({body["seed"] for body in asked}) == 3
    assert "trio of wardens" in json.dumps(asked[1]["messages"])  # the teacher is shown its own drafts
    tried = conversation.messages[1].attempts
    assert [one.reason for one in tried] == ["not_in_section", "not_in_section", "repeated"]
    assert tried[2].notes == ("not_in_section",)
    assert conversation.messages[1].fallback


def test_a_student_is_told_the_reason_and_not_its_own_words(endpoint: Any, about: Any) -> None:
    drafts = [LONG, "1. Who?\n2. Why?", LONG, "Who lived there?"]
    endpoint.say(user=list(drafts))
    conversation = about(assistant="offline")
    asked = endpoint.bodies("user")
    assert [body.get("temperature") for body in asked] == [None, None, None, 1.3]  # two of them are the same
    assert [one.verdict for one in conversation.messages[0].attempts] == ["rejected"] * 3 + ["accepted"]
    assert not any("really" in text for text in endpoint.texts("user"))
    assert len({body["messages"][-1]["content"] for body in asked}) == 4  # each retry says why, and which it is


def test_replies_that_end_before_the_first_word_name_the_setting(endpoint: Any, about: Any) -> None:
    choice = {"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": ""}}
    silent = {"id": "c", "object": "chat.completion", "model": "m", "choices": [choice]}
    endpoint.otherwise["user"] = lambda body: Response(json.dumps(silent), content_type="application/json")
    conversation = about(assistant="offline")
    assert len(endpoint.bodies("user")) == 4  # silence is no word that comes again
    assert "user_tokens" in conversation.failure.error
    assert "?max_tokens=N" in conversation.failure.error
