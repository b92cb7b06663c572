"""What becomes of a reply is what stock `ChatOpenAI` makes of it: message, metadata, tokens, and errors."""

import gzip
import json
import re
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.globals import set_debug, set_llm_cache
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.rate_limiters import InMemoryRateLimiter
from langchain_openai import ChatOpenAI

from duologue.nodes.models import clients
from duologue.nodes.models.endpoint import EndpointModel
from duologue.nodes.models.faults import fault_of

RUN_ID = re.compile(r"lc_run--[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}-0")
DETAILS = {
    "prompt_tokens_details": {"cached_tokens": 7, "audio_tokens": 0, "of_my_own": 3},
    "completion_tokens_details": {"reasoning_tokens": 2},
}


def tool_call(arguments: Any = '{"where": "here"}', **more: Any) -> dict[str, Any]:
    return {"id": "t-1", "type": "function", "function": {"name": "look", "arguments": arguments}} | more


def assistant_message(content: Any = "Who?", **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


CUSTOM = {"id": "t", "type": "custom", "custom": {"name": "c", "input": "x"}}


def odd(message: dict[str, Any]) -> bytes:
    return json.dumps({"choices": [{"message": message}]}).encode()


MESSAGES: dict[str, dict[str, Any]] = {
    "text": assistant_message(),
    "refusal": assistant_message(None, refusal="I won't."),
    "no refusal": assistant_message(refusal=None, annotations=[]),
    "reasoning": assistant_message("Who?", reasoning_content="Let me see.", reasoning="x"),
    "reasoning alone": assistant_message(None, reasoning_content="Let me see."),
    "tool call": assistant_message(None, tool_calls=[tool_call()]),
    "tool calls and text": assistant_message("I look.", tool_calls=[tool_call(), tool_call(id="t-2")]),
    "tool call that is no json": assistant_message(None, tool_calls=[tool_call("{")]),
    "tool call without an id": assistant_message(None, tool_calls=[{"function": {"name": "look", "arguments": "{}"}}]),
    "tool call with an index": assistant_message(None, tool_calls=[tool_call(index=0)]),
    "function call": assistant_message(None, function_call={"name": "look", "arguments": "{}"}),
    "audio": assistant_message(None, audio={"id": "a", "data": "eA==", "expires_at": 1, "transcript": "Who?"}),
    "parts": assistant_message([{"type": "text", "text": "Who?"}]),
    "a name and an id": assistant_message(name="ada", id="m-1"),
    "unicode": assistant_message("你好 \ud83d\ude00 \u2028"),
}
COMPLETIONS: dict[str, dict[str, Any]] = {
    "usage": {"usage": {"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23, **DETAILS}},
    "no usage": {"usage": None},
    "odd usage": {"usage": {"prompt_tokens": -1, "completion_tokens": 3}},
    "usage with more": {"usage": {"prompt_tokens": 1, "completion_tokens": 2, "cost": 0.1, "prompt_tokens_details": None}},
    "a tier": {"service_tier": "flex", "system_fingerprint": "fp-1"},
    "odd names": {"id": 3, "model": None, "service_tier": 7},
    "more": {"provider": "somebody", "prompt_logprobs": None},
}  # fmt: skip


@pytest.fixture
def models(recorder, shapes):
    """One of our models, and a stock one over the client that judges replies."""

    def make(**settings: Any) -> tuple[Any, Any]:
        about = {"model": "m", "api_key": shapes.key, "base_url": recorder.url, **settings}
        return EndpointModel.of(**about), ChatOpenAI(
            max_retries=0, http_async_client=clients.endpoint_client(), http_socket_options=(), **about
        )

    return make


@pytest.fixture
def same(recorder):
    """The message of a reply, which is that of stock but for its id and a note of ours."""

    async def compare(ours: Any, stock: Any, *arguments: Any, **more: Any) -> AIMessage:
        messages = [await model.ainvoke(*(arguments or ("Hello",)), **more) for model in (ours, ours, stock)]
        assert [sent.short for sent in recorder.sent[-3:]] == [True, True, False]
        for message in messages:
            message.response_metadata.pop("odd_usage", None)
        plain = [message.model_dump(exclude={"id"}) for message in messages]
        assert plain[0] == plain[1] == plain[2]
        assert json.dumps(plain[1], sort_keys=True) == json.dumps(plain[2], sort_keys=True)
        assert type(messages[1]) is type(messages[2])
        for message in messages:
            assert message.id == "m-1" or RUN_ID.fullmatch(message.id)
        return messages[1]

    return compare


@pytest.mark.parametrize("name", MESSAGES)
async def test_a_message_is_read_as_stock_reads_it(models, same, recorder, shapes, name):
    recorder.say = shapes.completion(MESSAGES[name])
    await same(*models())


@pytest.mark.parametrize("name", COMPLETIONS)
async def test_what_stands_around_a_message_is_read_as_stock_reads_it(models, same, recorder, shapes, name):
    recorder.say = shapes.completion(**COMPLETIONS[name])
    await same(*models())


async def test_the_message_is_that_of_a_stock_model_with_its_own_client(recorder, shapes, models):
    recorder.say = shapes.completion(**COMPLETIONS["usage"])
    ours, _ = models()
    stock = ChatOpenAI(model="m", api_key=shapes.key, base_url=recorder.url)
    dumps = [(await model.ainvoke("Hello")).model_dump(exclude={"id"}) for model in (ours, stock)]
    assert dumps[0] == dumps[1]
    assert dumps[0]["response_metadata"]["model_provider"] == "openai"


async def test_probabilities_and_several_choices_are_read_as_stock_reads_them(models, same, recorder, shapes):
    one = shapes.completion()
    chance = {"content": [{"token": "Who", "logprob": -0.1, "bytes": None, "top_logprobs": []}], "refusal": None}
    first, second = (
        one["choices"][0] | {"logprobs": chance},
        one["choices"][0] | {"index": 1, "finish_reason": "length"},
    )
    recorder.say = one | {"choices": [first]}
    assert (await same(*models(logprobs=True))).response_metadata["logprobs"]["content"][0]["token"] == "Who"
    recorder.say = one | {"choices": [second, first]}
    await same(*models(n=2))
    results = [await model.agenerate([[HumanMessage("Hello")]]) for model in models(n=2)]
    dumped = [
        [generation.message.model_dump(exclude={"id"}) for generation in result.generations[0]] for result in results
    ]
    assert dumped[0] == dumped[1]


@pytest.mark.heavy
async def test_every_kind_of_input_is_taken(models, same, recorder):
    prompt = ChatPromptTemplate.from_messages([("system", "You ask."), ("human", "{it}")]).invoke({"it": "Hello"})
    for model_input in (
        "Hello",
        prompt,
        [SystemMessage("x"), HumanMessage("y")],
        (HumanMessage("y"),),
        [("human", "z")],
    ):
        await same(*models(), model_input)
    await same(*models(), "Hello", {"tags": ["a"], "metadata": {"b": 1}, "run_name": "c"})
    ours, _ = models()
    run = "019394a0-0000-7000-8000-000000000000"
    assert (await ours.ainvoke("Hello", {"run_id": run})).id == f"lc_run--{run}-0"


class Watcher(BaseCallbackHandler):
    """Counts what it is told."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def on_chat_model_start(self, serialized: Any, messages: Any, **more: Any) -> None:
        self.events.append("start")

    def on_llm_end(self, response: Any, **more: Any) -> None:
        self.events.append(f"end {response.generations[0][0].text}")

    def on_llm_error(self, error: BaseException, **more: Any) -> None:
        self.events.append("error")


async def test_who_watches_a_call_is_told_of_it(models, recorder, shapes):
    ours, _ = models()
    watcher = Watcher()
    await ours.ainvoke("Hello", {"callbacks": [watcher]})
    await ours.with_config(callbacks=[watcher]).ainvoke("Hello")
    await models(callbacks=[watcher])[0].ainvoke("Hello")
    assert watcher.events == ["start", "end Who lived there?"] * 3
    assert all(sent.short for sent in recorder.sent)
    recorder.say = shapes.Answer({"error": {"message": "no"}}, 400)
    with pytest.raises(Exception, match="no"):
        await ours.ainvoke("Hello", {"callbacks": [watcher]})
    assert watcher.events[-2:] == ["start", "error"]


async def test_a_graph_that_streams_messages_still_does(models, recorder, shapes):
    from langgraph.graph import START, MessagesState, StateGraph

    piece = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    words = [
        piece | {"choices": [{"index": 0, "delta": {"role": "assistant", "content": word}}]} for word in ("Who", "?")
    ]
    stream = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in words) + b"data: [DONE]\n\n"
    recorder.say = shapes.Answer(stream, headers={"content-type": "text/event-stream"})
    ours, _ = models()

    async def speak(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await ours.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState).add_node("speak", speak).add_edge(START, "speak").compile()
    come = [
        chunk.content async for chunk, _ in graph.astream({"messages": [("human", "Hello")]}, stream_mode="messages")
    ]
    assert [text for text in come if text] == ["Who", "?"]
    recorder.say = shapes.completion()
    assert (await graph.ainvoke({"messages": [("human", "Hello")]}))["messages"][-1].text == "Who lived there?"
    assert recorder.last.short


async def test_a_cache_a_limiter_and_debugging_still_work(models, recorder, capsys):
    cached, _ = models(cache=InMemoryCache())
    assert (await cached.ainvoke("Hello")).text == (await cached.ainvoke("Hello")).text
    assert len(recorder.sent) == 1
    ours, _ = models()
    set_llm_cache(InMemoryCache())
    try:
        assert (await ours.ainvoke("Hello")).text == (await ours.ainvoke("Hello")).text
        assert len(recorder.sent) == 2
    finally:
        set_llm_cache(None)
    acquisitions = []

    class Limiter(InMemoryRateLimiter):
        async def aacquire(self, *, blocking: bool = True) -> bool:
            acquisitions.append(blocking)
            return True

    await models(rate_limiter=Limiter())[0].ainvoke("Hello")
    assert acquisitions == [True]
    set_debug(True)
    try:
        await ours.ainvoke("Hello")
    finally:
        set_debug(False)
    assert "Entering LLM run" in capsys.readouterr().out


async def test_a_model_that_streams_or_gives_blocks_takes_the_long_way(models, recorder, shapes):
    assert (await models(output_version="v1")[0].ainvoke("Hello")).content == [
        {"type": "text", "text": "Who lived there?"}
    ]
    message = await models(include_response_headers=True)[0].ainvoke("Hello")
    assert message.response_metadata["headers"]["content-type"] == "application/json"
    assert not recorder.last.short


STATUSES = [400, 401, 402, 403, 404, 408, 409, 422, 425, 429, 500, 502, 503, 529, 304]


@pytest.mark.parametrize("status", STATUSES)
async def test_a_status_raises_the_error_that_stock_raises(models, recorder, shapes, status):
    body = b"" if status == 304 else {"error": {"message": "not so", "type": "t", "code": "c"}}
    recorder.say = shapes.Answer(body, status, {"Retry-After": "7", "x-request-id": "r-1"})
    ours, stock = models()
    errors: list[Any] = []
    for model in (ours, ours, stock):
        with pytest.raises(Exception) as raised:  # noqa: PT011 - of any class: it is compared
            await model.ainvoke("Hello")
        errors.append(raised.value)
    assert [sent.short for sent in recorder.sent] == [True, True, False]
    for error in errors[:2]:
        assert (type(error), str(error)) == (type(errors[2]), str(errors[2]))
        assert (error.status_code, error.body, error.request_id) == (status, errors[2].body, "r-1")
        assert error.response.headers["retry-after"] == "7"
        assert error.response.content == errors[2].response.content
        assert fault_of(error) == fault_of(errors[2])
        assert str(error.request.url) == f"{recorder.url}/chat/completions"


@pytest.mark.parametrize(
    "body",
    [*map(odd, (assistant_message(None, tool_calls=[tool_call({"where": "here"})]), assistant_message(None, tool_calls=[CUSTOM]), assistant_message(name=3))), b"<html>down</html>", b"", b"{", b"[]", b"null", b"{}", b'{"choices": []}', b'{"error": {"message": "overloaded"}}', b"\xff\xfe{", b'{"choices": [{"message": {"content": 3}}]}', b'data: {"choices": []}\n\n'],
)  # fmt: skip
async def test_what_is_no_reply_is_the_fault_that_stock_finds(models, recorder, shapes, body):
    recorder.say = shapes.Answer(body)
    faults = []
    for model in models():
        with pytest.raises(Exception) as raised:  # noqa: PT011 - of any class: its fault is looked at
            await model.ainvoke("Hello")
        faults.append((type(raised.value), fault_of(raised.value)))
    assert faults[0] == faults[1]


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
async def test_a_packed_reply_is_unpacked_as_far_as_it_may_go(models, recorder, shapes, monkeypatch, coding):
    import zlib

    pack = gzip.compress if coding == "gzip" else zlib.compress
    ours, _ = models()
    recorder.say = shapes.Answer(pack(json.dumps(shapes.completion()).encode()), headers={"Content-Encoding": coding})
    assert (await ours.ainvoke("Hello")).text == "Who lived there?"
    monkeypatch.setattr(clients, "MOST_BYTES", 2**20)
    bomb = pack(json.dumps(shapes.completion(assistant_message("x" * 2**24))).encode())
    assert len(bomb) < 2**15
    recorder.say = shapes.Answer(bomb, headers={"Content-Encoding": coding})
    with pytest.raises(Exception) as raised:  # noqa: PT011 - of any class: its fault is looked at
        await ours.ainvoke("Hello")
    assert fault_of(raised.value).name == "too_large"


async def test_a_long_line_in_the_head_of_a_reply_is_read(models, recorder, shapes):
    recorder.say = shapes.Answer(shapes.completion(), headers={"X-Long": "x" * 30_000})
    assert (await models()[0].ainvoke("Hello")).text == "Who lived there?"


@pytest.mark.parametrize(("status", "method"), [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")])
async def test_a_redirect_within_the_origin_is_followed_as_stock_follows_it(
    models, same, recorder, shapes, status, method
):
    recorder.paths["/v1/chat/completions"] = shapes.Answer({}, status, {"Location": "../../v2/chat/completions?a=%2F"})
    ours, stock = models()
    hops = []
    for model in (ours, ours, stock):
        recorder.sent.clear()
        assert (await model.ainvoke("Hello")).text == "Who lived there?"
        hops.append([(sent.method, sent.path, sent.body, sent.headers["authorization"]) for sent in recorder.sent])
        assert all(sent.short == (model is ours) for sent in recorder.sent)
    assert hops[0] == hops[1] == hops[2]
    assert [hop[:2] for hop in hops[0]] == [("POST", "/v1/chat/completions"), (method, "/v2/chat/completions?a=%2F")]
