"""Streamed events of four APIs: they add up to the replies that the same requests have without streaming."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.analysis.logs import log_statistics
from duologue.data import Contents, Conversation, load, messages
from duologue.data.checks import check
from duologue.data.logs.request_lines import read
from duologue.data.logs.streams import assembled
from duologue.views.conversation import conversation_html

ASKED = {"role": "user", "content": "Is a room free?"}
TEXT, CALLS = "I look.", [("t1", "rooms", {"nights": 2, "sea": True}), ("t2", "prices", {})]


def cut(text: str, sizes: list[int]) -> list[str]:
    """The text in pieces of these sizes, the rest as one."""
    pieces, begin = [], 0
    for size in sizes:
        pieces.append(text[begin : begin + size])
        begin += size
    return [*pieces, text[begin:]]


Call = tuple[str, str, dict[str, Any]]


def of_anthropic(text: str, calls: list[Call], sizes: list[int]) -> Iterator[dict[str, Any]]:
    start: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": {"input_tokens": 9, "output_tokens": 1}}  # fmt: skip
    yield {"type": "message_start", "message": start}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}  # fmt: skip
    yield {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}}
    yield {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "c2ln"}}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "content_block_start", "index": 1, "content_block": {"type": "redacted_thinking", "data": "eA=="}}
    yield {"type": "content_block_stop", "index": 1}
    yield {"type": "ping"}
    yield {"type": "content_block_start", "index": 2, "content_block": {"type": "text", "text": ""}}
    for piece in cut(text, sizes):
        yield {"type": "content_block_delta", "index": 2, "delta": {"type": "text_delta", "text": piece}}
    yield {"type": "content_block_stop", "index": 2}
    for index, (name, tool, arguments) in enumerate(calls, start=3):
        block = {"type": "tool_use", "id": name, "name": tool, "input": {}}
        yield {"type": "content_block_start", "index": index, "content_block": block}
        for piece in cut(json.dumps(arguments), sizes):
            yield {"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": piece}}  # fmt: skip
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}}
    yield {"type": "message_stop"}


def of_chat(text: str, calls: list[Call], sizes: list[int]) -> Iterator[dict[str, Any]]:
    def chunk(delta: dict[str, Any], reason: str | None = None, **more: Any) -> dict[str, Any]:
        choices = [{"index": 0, "delta": delta, "finish_reason": reason}]
        return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "m", "choices": choices, **more}

    yield chunk({"role": "assistant", "content": ""})
    for piece in cut(text, sizes):
        yield chunk({"content": piece})
    for index, (name, tool, _) in enumerate(calls):
        call = {"index": index, "id": name, "type": "function", "function": {"name": tool, "arguments": ""}}
        yield chunk({"tool_calls": [call]})
    for index, (_, _, arguments) in enumerate(calls):
        for piece in cut(json.dumps(arguments), sizes):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, "tool_calls")
    yield {**chunk({}), "choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 5}}


def items_of(text: str, calls: list[Call]) -> list[dict[str, Any]]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    said = {"id": "m1", "type": "message", "role": "assistant", "status": "completed", "content": content}
    called = [
        {"type": "function_call", "id": f"fc_{name}", "call_id": name, "name": tool, "arguments": json.dumps(arguments)}
        for name, tool, arguments in calls
    ]
    return [{"id": "rs_1", "type": "reasoning", "summary": []}, said, *called]


def of_responses(text: str, calls: list[Call], sizes: list[int]) -> Iterator[dict[str, Any]]:
    whole: dict[str, Any] = {"id": "resp_1", "object": "response", "model": "m", "status": "in_progress", "output": []}
    yield {"type": "response.created", "sequence_number": 0, "response": whole}
    items = items_of(text, calls)
    for index, item in enumerate(items):
        begun = {**item, **{key: "" for key in ("arguments",) if key in item}, **{key: [] for key in ("content",) if key in item}}  # fmt: skip
        yield {"type": "response.output_item.added", "output_index": index, "item": begun}
        kind = "output_text" if item["type"] == "message" else "function_call_arguments"
        for piece in cut(text if kind == "output_text" else item.get("arguments", ""), sizes):
            if item["type"] != "reasoning":
                yield {"type": f"response.{kind}.delta", "output_index": index, "content_index": 0, "delta": piece}
        if item["type"] == "reasoning":
            yield {"type": "response.output_item.done", "output_index": index, "item": item}
    usage = {"input_tokens": 9, "output_tokens": 5}
    whole = {**whole, "status": "completed", "output": items, "usage": usage}
    yield {"type": "response.completed", "sequence_number": 9, "response": whole}


def of_converse(text: str, calls: list[Call], sizes: list[int]) -> Iterator[dict[str, Any]]:
    yield {"messageStart": {"role": "assistant"}}
    yield {"contentBlockDelta": {"delta": {"reasoningContent": {"text": "Hm."}}, "contentBlockIndex": 0}}
    yield {"contentBlockDelta": {"delta": {"reasoningContent": {"signature": "c2ln"}}, "contentBlockIndex": 0}}
    yield {"contentBlockStop": {"contentBlockIndex": 0}}
    for piece in cut(text, sizes):
        yield {"contentBlockDelta": {"delta": {"text": piece}, "contentBlockIndex": 1}}
    yield {"contentBlockStop": {"contentBlockIndex": 1}}
    for index, (name, tool, arguments) in enumerate(calls, start=2):
        yield {
            "contentBlockStart": {"start": {"toolUse": {"toolUseId": name, "name": tool}}, "contentBlockIndex": index}
        }
        for piece in cut(json.dumps(arguments), sizes):
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": piece}}, "contentBlockIndex": index}}
        yield {"contentBlockStop": {"contentBlockIndex": index}}
    yield {"messageStop": {"stopReason": "tool_use"}}
    yield {"metadata": {"usage": {"inputTokens": 9, "outputTokens": 5}, "metrics": {"latencyMs": 3}}}


APIS = {"anthropic": of_anthropic, "chat": of_chat, "responses": of_responses, "converse": of_converse}
KEPT = {
    "anthropic": "kept beside the words: thinking 1, redacted_thinking 1",
    "responses": "kept beside the words: reasoning 1",
    "converse": "kept beside the words: reasoningContent 1",
}
LOST = {"converse": "left out of 1 response: metrics"}


def server_sent(events: list[dict[str, Any]]) -> str:
    written = (f"event: {event.get('type', 'message')}\ndata: {json.dumps(event)}\n\n" for event in events)
    return ": begin\n\n" + "".join(written) + "data: [DONE]\n\n"


def file(text: str, name: str = "log.jsonl") -> Path:
    path = Path(name)
    path.write_text(text, encoding="utf-8")
    return path


def lines(*values: Any) -> Path:
    return file("".join(json.dumps(value) + "\n" for value in values))


def calls_of(talk: Conversation) -> list[tuple[str, dict[str, Any]]]:
    makers: tuple[Any, ...] = (*talk.messages, *(draft for turn in talk.unsaid for draft in turn.attempts))
    return [(call.name, call.arguments) for maker in makers for call in maker.tool_calls]


def written_again(talks: Contents | Any) -> None:
    """What is read is written as messages without a loss, and read back equal."""
    conversations = talks.conversations
    assert messages.write(conversations, "again.jsonl") == []
    assert load("again.jsonl").conversations == tuple(conversations)


LAID = {
    "lines": lambda events: "".join(json.dumps(event) + "\n" for event in events),
    "list": json.dumps,
    "server-sent": server_sent,
    "with data": lambda events: "".join(
        json.dumps({"event": "x", "data": json.dumps(event)}) + "\n" for event in events
    ),
}


@pytest.mark.parametrize("laid", LAID)
@pytest.mark.parametrize("api", APIS)
def test_events_alone_are_a_reply_with_its_calls(api: str, laid: str) -> None:
    loaded = load(file(LAID[laid](list(APIS[api](TEXT, CALLS, [2, 3])))))
    (talk,) = loaded.conversations
    assert loaded.kind == "streams"
    assert str(talk) == f"assistant: {TEXT}"
    assert talk.messages[0].parts == ()
    assert talk.id == {"anthropic": "msg_1", "chat": "chatcmpl-1", "responses": "resp_1"}.get(api, talk.id)
    assert calls_of(talk) == [("rooms", {"nights": 2, "sea": True}), ("prices", {})]
    assert list(loaded.notes) == ["1 streamed reply without a request", *filter(None, [KEPT.get(api), LOST.get(api)])]
    counts = log_statistics("log", [talk])
    assert (counts.tool_calls, counts.input_tokens, counts.output_tokens) == (2, 9, 5)
    written_again(loaded)


@pytest.mark.parametrize("form", ["events", "server-sent", "batch body"])
@pytest.mark.parametrize("api", APIS)
def test_events_are_the_response_of_their_request(api: str, form: str) -> None:
    events: Any = list(APIS[api](TEXT, CALLS, [4]))
    response = server_sent(events) if form == "server-sent" else events
    request = {"model": "m", "input": [ASKED]} if api == "responses" else {"model": "m", "messages": [ASKED]}
    value = {"request": request, "response": {"body": response} if form == "batch body" else response, "rating": 4}
    loaded = load(lines(value))
    (talk,) = loaded.conversations
    assert str(talk) == f"user: Is a room free?\nassistant: {TEXT}"
    assert calls_of(talk) == [("rooms", {"nights": 2, "sea": True}), ("prices", {})]
    assert talk.labels == {"rating": 4}
    assert not [finding for finding in check(talk) if finding.level == "error"]
    assert TEXT in conversation_html(talk)
    written_again(loaded)


@pytest.mark.parametrize("api", APIS)
def test_a_response_whose_last_event_is_broken_or_unknown_is_what_came(api: str) -> None:
    request = {"model": "m", "input": [ASKED]} if api == "responses" else {"model": "m", "messages": [ASKED]}
    events: Any = list(APIS[api](TEXT, [], [4]))
    for response in (
        server_sent(events).removesuffix("data: [DONE]\n\n") + "data: {broken\n\n",
        [*events, {"cost": 3}],
    ):
        (talk,) = load(lines({"request": request, "response": response}))
        assert str(talk) == f"user: Is a room free?\nassistant: {TEXT}"


def test_an_invocation_log_of_bedrock_is_read() -> None:
    sent, came = (
        {"messages": [{"role": "user", "content": [{"text": "Is a room free?"}]}]},
        list(of_converse(TEXT, [], [])),
    )
    value = {
        "schemaType": "ModelInvocationLog",
        "operation": "ConverseStream",
        "requestId": "r1",
        "input": {"inputContentType": "application/json", "inputBodyJson": sent},
        "output": {"outputContentType": "application/json", "outputBodyJson": came},
    }
    loaded = load(lines(value))
    assert str(loaded.conversations[0]) == f"user: Is a room free?\nassistant: {TEXT}"
    written_again(loaded)


def test_chunks_belong_to_the_response_of_their_id() -> None:
    first, second = list(of_chat("One.", [], [1])), list(of_chat("Two.", [], [2]))
    mixed = [
        {**chunk, "id": name}
        for pair in zip(first, second, strict=True)
        for chunk, name in zip(pair, "ab", strict=True)
    ]
    loaded = load(lines(*mixed))
    assert [str(talk) for talk in loaded.conversations] == ["assistant: One.", "assistant: Two."]
    assert loaded.notes == ("2 streamed replies without a request",)


def test_of_several_choices_the_first_counts_and_citations_are_kept() -> None:
    chunks = list(of_chat(TEXT, [], []))
    second = {**chunks[1], "choices": [{"index": 1, "delta": {"content": "Or not."}}]}
    assert str(load(lines(*chunks[:2], second, *chunks[2:])).conversations[0]) == f"assistant: {TEXT}"
    cited = {"type": "content_block_delta", "index": 2, "delta": {"type": "citations_delta", "citation": {"url": "x"}}}
    events = list(of_anthropic(TEXT, [], []))
    assert assembled([*events[:-3], cited, cited, *events[-3:]])[0]["content"][2]["citations"] == [{"url": "x"}] * 2


@pytest.mark.parametrize("api", APIS)
def test_one_stream_after_another_are_two_replies(api: str) -> None:
    events = [*APIS[api]("One.", [], []), *APIS[api]("Two.", [], [])]
    if api == "chat":
        half = len(events) // 2
        events = [{**event, "id": str(number >= half)} for number, event in enumerate(events)]
    assert [str(talk) for talk in load(lines(*events))] == ["assistant: One.", "assistant: Two."]


@pytest.mark.parametrize("api", APIS)
def test_a_stream_that_was_cut_off_gives_what_came(api: str) -> None:
    events = list(APIS[api](TEXT, CALLS[:1], [3]))
    begun = next(number for number, event in enumerate(events) if TEXT[:3] in json.dumps(event))
    assert str(load(lines(*events[: begun + 1])).conversations[0]) == "assistant: I l"
    half = next(number for number, event in enumerate(events) if "ights" in json.dumps(event))
    (talk,) = load(lines(*events[:half])).conversations
    assert calls_of(talk) == [("rooms", {"value": '{"n'})]


def test_events_without_a_beginning_are_a_reply_too() -> None:
    (talk,) = load(lines(*list(of_anthropic(TEXT, [], []))[1:]))
    assert str(talk) == f"assistant: {TEXT}"


def test_an_error_in_a_stream_is_kept_and_data_that_is_not_json_is_named(fault: Any) -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Too busy."}}
    events = [*list(of_anthropic(TEXT, [], []))[:-2], error]
    assert assembled(events)[0]["error"] == error["error"]
    assert str(load(lines(*events)).conversations[0]) == f"assistant: {TEXT}"
    text = server_sent(list(of_anthropic(TEXT, [], []))[:-1]) + "data: {broken\n\n"
    assert "event 13" in fault(load, file(text))


@pytest.mark.parametrize(
    "value",
    [
        {"type": "response.text", "text": "a"},
        {"type": "message", "text": "a"},
        {"metadata": {"usage": 1}},
        {"object": "chat.completion.chunk.list"},
        {"event": "x", "data": "[1]"},
    ],
    ids=str,
)
def test_values_like_events_are_not_claimed(value: Any, fault: Any) -> None:
    assert "not in a known format" in fault(load, lines(value))


json_values = st.recursive(st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3), lambda inner: st.lists(inner, max_size=2), max_leaves=4)  # fmt: skip
some_calls = st.lists(st.tuples(st.just("x"), st.sampled_from(["rooms", "prices"]), st.dictionaries(st.text(max_size=3), json_values, max_size=2)), max_size=3)  # fmt: skip


@pytest.mark.heavy
@given(
    st.sampled_from(sorted(APIS)), st.text(min_size=1, max_size=12), some_calls, st.lists(st.integers(0, 4), max_size=4)
)
def test_any_reply_comes_back_from_its_events(api: str, text: str, calls: list[Call], sizes: list[int]) -> None:
    calls = [(f"t{number}", name, arguments) for number, (_, name, arguments) in enumerate(calls)]
    result = read(lines(*APIS[api](text, calls, sizes)))
    (talk,) = result.conversations
    assert [(message.role, message.text) for message in talk.messages] == [("assistant", text)]
    assert calls_of(talk) == [(name, arguments) for _, name, arguments in calls]
    written_again(result)
