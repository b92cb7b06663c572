"""A completion of an endpoint: the message and draft with its flaw, or the fault by name."""

import json
from contextlib import suppress
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.nodes.models.faults import ReplyError
from duologue.nodes.models.openai import message_in
from duologue.nodes.replies import reply_of

USAGE = {"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23}


def reply(message: Any = None, finish: Any = "stop", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": "Who lived there?"} if message is None else message
    return {"id": "c-1", "model": "m-1", "choices": [{"message": message, "finish_reason": finish}], "usage": USAGE} | more  # fmt: skip


def reply_with(content: Any, finish: Any = "stop", **more: Any) -> dict[str, Any]:
    return reply({"role": "assistant", "content": content, **more}, finish)


def read(body: Any) -> Any:
    """The message of a body."""
    return message_in(body if isinstance(body, bytes) else json.dumps(body).encode())


@pytest.mark.parametrize(
    ("body", "text", "flaw"),
    [
        (reply(), "Who lived there?", None),
        (reply_with("<think>Let me see.</think>"), "", "empty"),
        (reply_with("Who liv", "length"), "Who liv", "cut_off"),
        (reply_with("Who", "content_filter"), "Who", "content_filter"),
        (reply_with(None, refusal="I won't."), "I won't.", "refusal"),
        (reply_with([{"type": "text", "text": "Who lived there?"}]), "Who lived there?", None),
        (reply_with("Who?", 7), "Who?", None),
        (reply_with("Who \ud83d?"), "Who ??", None),
        ({"choices": [{"message": {"content": "Who?"}}]}, "Who?", None),
        (reply(model=3, id=4), "Who lived there?", None),
    ],
)
def test_a_reply_is_a_draft_with_its_flaw(body, text, flaw):
    draft = reply_of([read(body)])
    assert (draft["text"], draft.get("flaw")) == (text, flaw)


@pytest.mark.parametrize(
    ("usage", "flaw", "tokens"),
    [
        (None, None, (0, 0)),
        ({"prompt_tokens": -5, "completion_tokens": 3}, None, (0, 0)),
        ({}, None, (0, 0)),
        ({"prompt_tokens": 10**30, "completion_tokens": 3}, None, (0, 0)),
        (USAGE | {"prompt_tokens_details": {"cached_tokens": -7}, "completion_tokens_details": "x"}, None, (20, 3)),
        (USAGE | {"prompt_tokens": 20.0, "cost": 0.1}, None, (20, 3)),
    ],
)
def test_a_usage_that_cannot_be_is_unknown_and_the_reply_stands(usage, flaw, tokens):
    draft = reply_of([read(reply(usage=usage))])
    assert (draft["text"], draft.get("flaw")) == ("Who lived there?", flaw)
    assert (draft["usage"]["input_tokens"], draft["usage"]["output_tokens"]) == tokens
    assert all(count >= 0 for count in draft["usage"].values())


def test_a_message_has_usage_model_finish_reason_and_id():
    details = {"prompt_tokens_details": {"cached_tokens": 7}, "completion_tokens_details": {"reasoning_tokens": 2}}
    message = read(reply(usage={**USAGE, **details}))
    assert message.usage_metadata == {
        "input_tokens": 20, "output_tokens": 3, "total_tokens": 23,
        "input_token_details": {"cache_read": 7}, "output_token_details": {"reasoning": 2},
    }  # fmt: skip
    about = {"finish_reason": "stop", "model_name": "m-1", "id": "c-1"}
    assert message.response_metadata == about


def test_tool_calls_are_read_and_arguments_that_are_no_json_are_invalid_calls():
    def call(arguments: str, **more: Any) -> dict[str, Any]:
        return {"id": "t-1", "type": "function", "function": {"name": "look", "arguments": arguments}} | more

    message = read(reply_with(None, "tool_calls", tool_calls=[call('{"where": "here"}'), call("{", id="t-2")]))
    assert [(one["name"], one["args"], one["id"]) for one in message.tool_calls] == [("look", {"where": "here"}, "t-1")]
    assert [(one["args"], one["id"]) for one in message.invalid_tool_calls] == [("{", "t-2")]
    spoken = {"id": "a", "data": "eA==", "transcript": "Who?"}
    assert read(reply_with(None, audio=spoken)).additional_kwargs == {"audio": spoken}


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (reply_with(None), "null_content"),
        (reply(choices=[]), "no_choices"),
        ({"id": "c-1", "model": "m-1"}, "no_choices"),
        ({}, "not_a_completion"),
        (reply_with("Who?", tool_calls=[{"function": {"name": "look", "arguments": {"a": 1}}}]), "not_a_completion"),
        (b"<html>a gateway's own page</html>", "not_a_completion"),
        (b'data: {"choices": []}\n\n', "not_a_completion"),
        (b"", "not_json"),
        (b'{"choices": "\xff\xfe"}', "not_json"),
        (b"[" * 200_000, "not_json"),
        (b'{"choices": 1' + b"0" * 5_000 + b"}", "not_json"),
        ({"error": {"message": "slow down", "code": 429}}, "rate_limited"),
        ({"error": {"message": "no", "code": "insufficient_quota"}}, "quota_spent"),
        ({"error": "something broke"}, "server_error"),
        ({"choices": [{"error": {"message": "upstream", "code": 502}}]}, "server_error"),
    ],
)
def test_what_is_no_reply_is_a_fault_by_name(body, name):
    with pytest.raises(ReplyError) as raised:
        read(body)
    assert raised.value.fault.name == name
    assert raised.value.fault.detail


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.sampled_from(["text", "{"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["type", "text", "id", "x"]), inner),
    max_leaves=4,
)


@given(st.data())
def test_whatever_an_endpoint_says_is_a_message_or_a_fault(data):
    call = {"id": "t", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    body = deepcopy(reply_with("Who?", refusal=None, tool_calls=[call], audio={"id": "a", "data": "eA=="}))
    for _ in range(2):
        place: Any = body
        while True:
            key = data.draw(st.sampled_from([*place] if isinstance(place, dict) else range(len(place))))
            if not place[key] or not isinstance(place[key], (dict, list)) or data.draw(st.booleans()):
                break
            place = place[key]
        place[key] = data.draw(JSON)
    with suppress(ReplyError):
        reply_of([read(body)])
