"""What `openai:` models send is what stock `ChatOpenAI` sends, byte for byte, whichever way it goes."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

from duologue.nodes.models import chat_model
from duologue.nodes.models.endpoint import EndpointModel
from duologue.nodes.models.request_forms import RequestTemplate, RequestTemplates, request_of

TALK: list[AnyMessage] = [
    SystemMessage("You ask."),
    HumanMessage("Who lived on the rock?"),
    AIMessage("Three keepers.", additional_kwargs={"refusal": None}, response_metadata={"model": "m"}, id="x"),
    HumanMessage("When did they leave?"),
]
CALL = {"name": "look", "args": {"where": "the ärk", "deep": [1, 2.5, None]}, "id": "t-1", "type": "tool_call"}
PIXEL = "iVBORw0KGgo="

KINDS: dict[str, list[Any]] = {
    "texts": TALK,
    "unicode": [HumanMessage("Žluťoučký 你好 👩‍🚀 \u2028\u2029 \x00\x1f\x7f \" \\ / </script> \u00ad\ufeff\U0010ffff")],
    "lines": [SystemMessage("a\nb\r\n\tc\b\f"), HumanMessage("")],
    "nothing said": [SystemMessage(""), AIMessage(""), HumanMessage(" ")],
    "names": [HumanMessage("Hello", name="ada"), AIMessage("Yes", name="bot"), SystemMessage("x", name="s")],
    "name aside": [HumanMessage("Hello", additional_kwargs={"name": "ada"})],
    "developer": [SystemMessage("You ask.", additional_kwargs={"__openai_role__": "developer"})],
    "tools": [*TALK, AIMessage("", tool_calls=[CALL]), ToolMessage("found", tool_call_id="t-1", name="look")],
    "text and tools": [HumanMessage("Go"), AIMessage("I look.", tool_calls=[CALL]), ToolMessage([{"type": "text", "text": "so", "id": "b"}], tool_call_id="t-1")],
    "invalid tools": [AIMessage("", invalid_tool_calls=[{"name": "look", "args": "{", "id": "t", "error": "e", "type": "invalid_tool_call"}])],
    "raw tools": [AIMessage("", additional_kwargs={"tool_calls": [{"id": "a", "type": "function", "index": 0, "function": {"name": "f", "arguments": "{}"}}]})],
    "function": [AIMessage("", additional_kwargs={"function_call": {"name": "f", "arguments": "{}"}}), FunctionMessage(content="done", name="f")],
    "audio": [AIMessage("", additional_kwargs={"audio": {"id": "a-1", "data": "xx"}}), HumanMessage("And?")],
    "parts": [HumanMessage([{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}])],
    "standard parts": [HumanMessage([{"type": "text", "text": "This?"}, {"type": "image", "base64": PIXEL, "mime_type": "image/png"}, {"type": "image", "url": "https://x.test/a.png"}])],
    "file": [HumanMessage([{"type": "file", "base64": PIXEL, "mime_type": "application/pdf", "extras": {"filename": "a.pdf"}}])],
    "parts of a reply": [AIMessage([{"type": "text", "text": "Hm", "annotations": []}, {"type": "reasoning", "reasoning": "r"}]), HumanMessage("So?")],
    "role of its own": [ChatMessage(content="Hello", role="critic")],
    "tuples": [("system", "You ask."), ("human", "Hello")],
    "dicts": [{"role": "user", "content": "Hello"}],
}  # fmt: skip

ARGUMENTS: dict[str, dict[str, Any]] = {
    "none": {},
    "usual": {"temperature": 0.5, "max_tokens": 60, "top_p": 0.9, "seed": 7},
    "small numbers": {"temperature": 1e-05, "top_p": 1e-7, "seed": 2**62, "frequency_penalty": -0.0},
    "stop": {"stop": ["\n", "EN\u00dcD"]},
    "reasoning": {"reasoning_effort": "low", "verbosity": "low"},
    "biased": {"logit_bias": {50256: -100}, "presence_penalty": 0.1, "n": 2},
    "extra": {"extra_body": {"top_k": 20, "chat_template_kwargs": {"enable_thinking": False}, "temperature": 0.2}},
    "tier": {"service_tier": "flex", "store": False, "model_kwargs": {"user": "u", "safety_identifier": "ö"}},
    "probabilities": {"logprobs": True, "top_logprobs": 2},
    "one by one": {"streaming": False, "disable_streaming": True},
}


class Found(BaseModel):
    """What was found."""

    place: str
    deep: bool = False


def look(where: str) -> str:
    """Look somewhere."""
    return where


@pytest.fixture
def pair(recorder, shapes):
    """The same settings as one of our models and as a stock one."""

    def make(name: str = "m", **settings: Any) -> tuple[Any, Any]:
        ours = EndpointModel.of(model=name, api_key=shapes.key, base_url=recorder.url, **settings)
        return ours, ChatOpenAI(model=name, api_key=shapes.key, base_url=recorder.url, max_retries=0, **settings)

    return make


@pytest.fixture
def same(recorder):
    """Whether both send the same, the first of ours and the next; and whether that went the short way."""

    async def compare(ours: Any, stock: Any, messages: Any, **arguments: Any) -> bool:
        for model in (ours, ours, stock):
            await model.ainvoke(messages, **arguments)
        first, second, whole = recorder.sent[-3:]
        assert first.body == second.body == whole.body
        assert first.path == second.path == whole.path
        hop = {"connection", "accept-encoding", "host"}
        assert {n: v for n, v in second.headers.items() if n not in hop} == {
            n: v for n, v in whole.headers.items() if n not in hop
        }
        assert first.short == second.short
        return second.short

    return compare


@pytest.mark.parametrize("kind", KINDS)
async def test_messages_of_every_kind_are_sent_as_stock_sends_them(pair, same, kind):
    assert await same(*pair(), KINDS[kind])


@pytest.mark.parametrize("name", ARGUMENTS)
async def test_settings_are_sent_as_stock_sends_them(pair, same, name):
    assert await same(*pair(**ARGUMENTS[name]), TALK)


async def test_arguments_of_a_call_are_sent_as_stock_sends_them(pair, same):
    ours, stock = pair(temperature=0.3)
    assert await same(ours, stock, TALK, seed=3)
    assert await same(ours, stock, TALK, seed=4, temperature=0.7, stop=["x"])
    assert await same(ours, stock, "Hello", max_tokens=5)
    assert await same(ours, stock, TALK, extra_body={"top_k": 1})


async def test_a_seed_of_the_extra_body_stays_that_of_every_call(pair, same):
    ours, stock = pair(extra_body={"seed": 7})
    for seed in (7, 8):
        assert not await same(ours, stock, TALK, seed=seed)


async def test_settings_that_are_changed_between_two_calls_hold_for_the_next(pair, same):
    ours, stock = pair(temperature=0.3, model_kwargs={"user": "a"})
    assert await same(ours, stock, TALK)
    ours.temperature = stock.temperature = 0.9
    assert await same(ours, stock, TALK)
    for model in (ours, stock):
        model.model_kwargs["user"] = "b"
    assert await same(ours, stock, TALK)


@pytest.mark.parametrize("name", ["o3-mini", "gpt-5", "gpt-4.1-mini", "o1", "Qwen/Qwen3-8B"])
async def test_what_stock_changes_for_a_models_name_is_changed(pair, same, name):
    assert await same(*pair(name, use_responses_api=False, max_tokens=9, temperature=0.5), TALK)


@pytest.mark.heavy
async def test_tools_and_structured_output_are_sent_as_stock_sends_them(pair, same, recorder, shapes):
    message = {"role": "assistant", "content": '{"place": "rock", "deep": true}'}
    recorder.say = shapes.completion(message)
    ours, stock = pair()
    assert await same(ours.bind_tools([look, Found]), stock.bind_tools([look, Found]), TALK)
    assert await same(
        ours.bind_tools([look], tool_choice="look", strict=True, parallel_tool_calls=False),
        stock.bind_tools([look], tool_choice="look", strict=True, parallel_tool_calls=False),
        KINDS["tools"],
    )
    for method in ("json_schema", "json_mode"):
        structured = [model.with_structured_output(Found, method=method) for model in (ours, stock)]
        assert not await same(*structured, TALK)  # the package reads the reply itself
    call = {"id": "t", "type": "function", "function": {"name": "Found", "arguments": '{"place": "rock"}'}}
    recorder.say = shapes.completion({"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls")
    structured = [model.with_structured_output(Found, method="function_calling") for model in (ours, stock)]
    assert await same(*structured, TALK)
    assert await structured[0].ainvoke(TALK) == Found(place="rock")


async def test_address_query_and_headers_are_those_of_stock(pair, same, recorder):
    more = {"default_query": {"api-version": "1 ü"}, "default_headers": {"X-Team": "a"}, "organization": "o-1"}
    assert await same(*pair(**more), TALK)
    assert recorder.last.path == "/v1/chat/completions?api-version=1+%C3%BC"
    assert (recorder.last.headers["x-team"], recorder.last.headers["openai-organization"]) == ("a", "o-1")


async def test_a_slash_at_the_end_of_the_address_changes_nothing(recorder, shapes):
    for url in (recorder.url, recorder.url + "/"):
        await EndpointModel.of(model="m", api_key=shapes.key, base_url=url).ainvoke("Hello")
        assert (recorder.last.path, recorder.last.short) == ("/v1/chat/completions", True)


@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        ({"extra_headers": {"X-One": "1"}}, TALK),
        ({"extra_query": {"a": "1"}}, TALK),
        ({"timeout": 5}, TALK),
        ({"logit_bias": {"1": float("nan")}}, TALK),
        ({}, [HumanMessage("\ud800 alone")]),
        ({"prediction": Found(place="x")}, TALK),
    ],
    ids=["headers", "query", "timeout", "no number", "half a sign", "no json"],
)
async def test_what_the_short_way_does_not_know_is_left_to_stock(pair, recorder, arguments, messages):
    ours, stock = pair()
    await ours.ainvoke(TALK, **{name: {} if name != "timeout" else 9 for name in arguments if name != "logit_bias"})
    ends = []
    for model in (ours, stock):
        recorder.sent.clear()
        try:
            await model.ainvoke(messages, **arguments)
            sent = recorder.last
            ends.append((sent.body, sent.path, sent.headers.get("x-one")))
        except Exception as error:
            ends.append((type(error), str(error)))
    assert ends[0] == ends[1]


async def test_the_responses_interface_is_left_to_stock(recorder, shapes):
    recorder.paths["/v1/responses"] = {
        "id": "r-1", "object": "response", "created_at": 1, "model": "m", "status": "completed", "parallel_tool_calls": True,
        "tool_choice": "auto", "tools": [],
        "output": [{"id": "i", "type": "message", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "Who?", "annotations": []}]}],
    }  # fmt: skip
    message = await chat_model("openai:m?use_responses_api=true").ainvoke(TALK)
    assert (message.text, recorder.last.path, recorder.last.short) == ("Who?", "/v1/responses", False)


async def test_a_package_that_writes_something_else_is_given_its_way(pair, recorder, monkeypatch):
    ours, _ = pair()
    monkeypatch.setattr(RequestTemplate, "body", lambda template, kinds, messages, seed: b"{}")
    await ours.ainvoke(TALK)
    await ours.ainvoke(TALK)
    assert [sent.short for sent in recorder.sent] == [False, False]
    assert recorder.sent[0].body == recorder.sent[1].body


texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)
kinds = st.sampled_from([SystemMessage, HumanMessage, AIMessage])
talks = st.lists(st.builds(lambda kind, text: kind(text), kinds, texts), max_size=5)
values = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | texts
)
plain = st.recursive(
    values, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
)


@pytest.mark.heavy
@settings(max_examples=80, deadline=None)
@given(
    talk=talks,
    more=st.fixed_dictionaries(
        {},
        optional={
            "seed": st.integers(0, 2**31),
            "temperature": st.floats(0, 2),
            "extra_body": st.dictionaries(texts, plain, max_size=3),
        },
    ),
)
async def test_whatever_is_said_is_written_as_stock_writes_it(talk: list[BaseMessage], more: dict[str, Any]):
    model = EndpointModel.of(model="m", api_key="open.sesame.4711", base_url="http://127.0.0.1:9/v1")

    async def stock(messages: list[BaseMessage], **changed: Any) -> Any:
        return await ChatOpenAI._agenerate(model, messages, **{**more, **changed})

    whole = (await request_of(stock, talk)).content
    form, body = await RequestTemplates().request(talk, more, stock) or (None, None)
    assert (body, form.url.path) == (whole, "/v1/chat/completions")
