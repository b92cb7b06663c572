"""`openai:` models: what is sent, who watches a call, and what LangChain offers for any chat model."""

import pickle
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import BaseModel

from duologue.nodes import chat_model
from duologue.nodes.models.faults import StatusError, fault_of
from duologue.nodes.models.openai import OpenAIModel

KEY = "open.sesame.4711"


def model(**arguments: Any) -> OpenAIModel:
    made = chat_model("openai:m", **arguments)
    assert isinstance(made, OpenAIModel)
    return made


async def test_the_body_has_the_model_the_messages_and_the_arguments_as_they_are(recorder):
    await model(temperature=0.5, max_tokens=60, top_k=5, rpm=60, timeout=9).ainvoke("Hello", seed=7, stop=["X"])
    assert recorder.last.data == {
        "model": "m", "messages": [{"role": "user", "content": "Hello"}],
        "temperature": 0.5, "max_tokens": 60, "top_k": 5, "seed": 7, "stop": ["X"],
    }  # fmt: skip
    assert recorder.last.headers["authorization"] == f"Bearer {KEY}"
    prompt = ChatPromptTemplate.from_messages([("system", "You ask."), ("human", "{it}")]).invoke({"it": "Hello"})
    for given in (prompt, [("system", "You ask."), ("human", "Hello")]):
        await model(seed=3).ainvoke(given)
        assert [one["content"] for one in recorder.last.data["messages"]] == ["You ask.", "Hello"]
        assert recorder.last.data["seed"] == 3


CALL = {"name": "look", "args": {"where": "hier, ü"}, "id": "t-1", "type": "tool_call"}
SENT_CALL = {"type": "function", "id": "t-1", "function": {"name": "look", "arguments": '{"where": "hier, ü"}'}}
TEXT = {"type": "text", "text": "Who?"}
IMAGE = {"type": "image", "base64": "eA==", "mime_type": "image/png"}
SENT_IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}


@pytest.mark.parametrize(
    ("message", "sent"),
    [
        (SystemMessage("Be brief. \u2028 你好"), {"role": "system", "content": "Be brief. \u2028 你好"}),
        (HumanMessage("Hello"), {"role": "user", "content": "Hello"}),
        (HumanMessage("Hello", name="ada"), {"role": "user", "content": "Hello", "name": "ada"}),
        (AIMessage("Hi", additional_kwargs={"refusal": None}), {"role": "assistant", "content": "Hi"}),
        (AIMessage("", tool_calls=[CALL]), {"role": "assistant", "content": "", "tool_calls": [SENT_CALL]}),
        (ToolMessage("rock", tool_call_id="t"), {"role": "tool", "content": "rock", "tool_call_id": "t"}),
        (HumanMessage([TEXT, IMAGE]), {"role": "user", "content": [TEXT, SENT_IMAGE]}),
    ],
    ids=lambda value: getattr(value, "type", None),
)
async def test_each_kind_of_message_is_sent_as_the_endpoint_reads_it(recorder, message, sent):
    await model().ainvoke([message])
    assert recorder.last.data["messages"] == [sent]


async def test_limits_that_the_endpoint_reports_are_in_the_metadata_and_its_other_headers_are_not(recorder):
    assert "headers" not in (await model().ainvoke("Hello")).response_metadata
    told = {"X-RateLimit-Limit-Requests": "60", "Set-Cookie": "a=b"}
    recorder.say = (200, recorder.say, told)
    headers = (await model().ainvoke("Hello")).response_metadata["headers"]
    assert headers["x-ratelimit-limit-requests"] == "60"
    assert headers.keys() == {"x-ratelimit-limit-requests", "date"}


async def test_a_status_is_an_error_with_its_body_and_wait_after_one_call(recorder):
    recorder.say = (429, {"error": {"message": f"not now {KEY}", "code": "c"}}, {"Retry-After": "7"})
    with pytest.raises(StatusError) as raised:
        await model().ainvoke("Hello")
    error = raised.value
    assert (error.status_code, error.body["error"]["code"], error.headers["retry-after"]) == (429, "c", "7")
    assert (fault_of(error).name, fault_of(error).after, len(recorder.sent)) == ("rate_limited", 7, 1)
    assert KEY not in str(error) + fault_of(error).detail


async def test_an_address_with_a_password_sends_that_in_place_of_the_key(recorder, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", recorder.url.replace("http://", "http://ada:l%C3%B6ve@") + "/")
    await model().ainvoke("Hello")
    assert recorder.last.headers["authorization"] == "Basic YWRhOmzDtnZl"
    assert "ada:" not in repr(model())


class Watcher(BaseCallbackHandler):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def on_chat_model_start(self, serialized: Any, messages: Any, **more: Any) -> None:
        self.events.append(f"start {more['invocation_params']['model_name']}")
        assert KEY not in repr(serialized)

    def on_llm_end(self, response: Any, **more: Any) -> None:
        self.events.append(f"end {response.generations[0][0].text}")

    def on_llm_error(self, error: BaseException, **more: Any) -> None:
        self.events.append("error")


async def test_who_watches_a_call_is_told_of_it_and_a_cache_answers(recorder):
    watcher = Watcher()
    await model().ainvoke("Hello", {"callbacks": [watcher]})
    await model().with_config(callbacks=[watcher]).ainvoke("Hello")
    model().invoke("Hello", {"callbacks": [watcher]})
    assert watcher.events == ["start m", "end Who lived there?"] * 3
    caching = model().model_copy(update={"cache": InMemoryCache()})
    for each in (caching, caching, caching.model_copy(update={"arguments": {"temperature": 1}})):
        await each.ainvoke("Hello")
    assert len(recorder.sent) == 5
    recorder.say = (400, b"", {})
    with pytest.raises(StatusError):
        await model().ainvoke("Hello", {"callbacks": [watcher]})
    assert watcher.events[-2:] == ["start m", "error"]


async def test_a_stream_is_the_whole_reply_also_from_a_graph(recorder):
    assert "".join([str(chunk.text) async for chunk in model().astream("Hello")]) == "Who lived there?"

    async def speak(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await model().ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState).add_node("speak", speak).add_edge(START, "speak").compile()
    given: Any = {"messages": [("human", "Hello")]}
    assert [chunk.content async for chunk, _ in graph.astream(given, stream_mode="messages")] == ["Who lived there?"]
    assert (await graph.ainvoke(given))["messages"][-1].text == "Who lived there?"


class Place(BaseModel):
    """A place."""

    name: str


async def test_tools_and_structured_output_are_asked_for_by_tools(recorder):
    call = {"id": "t", "type": "function", "function": {"name": "Place", "arguments": '{"name": "Aberwick"}'}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    recorder.say = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    assert await model().with_structured_output(Place).ainvoke("Where?") == Place(name="Aberwick")
    assert recorder.last.data["tool_choice"] == "required"
    for choice, sent in (
        ("Place", {"type": "function", "function": {"name": "Place"}}),
        ("auto", "auto"),
        (None, None),
    ):
        reply = await model().bind_tools([Place], tool_choice=choice, parallel_tool_calls=False).ainvoke("Where?")
        assert [one["args"] for one in reply.tool_calls] == [{"name": "Aberwick"}]
        assert recorder.last.data.get("tool_choice") == sent
    assert recorder.last.data["tools"][0]["function"]["parameters"]["properties"] == {"name": {"type": "string"}}
    assert recorder.last.data["parallel_tool_calls"] is False


async def test_a_sync_call_works_inside_a_running_loop_and_a_model_travels(recorder):
    travelled = pickle.loads(pickle.dumps(model(temperature=0.5)))
    assert travelled.invoke("Hello").text == "Who lived there?"
    assert recorder.last.data["temperature"] == 0.5


async def test_what_nobody_gave_is_not_sent_and_half_a_pair_of_surrogates_is(recorder):
    await model().ainvoke([HumanMessage("half \ud83d a pair")])
    assert set(recorder.last.data) == {"model", "messages"}
