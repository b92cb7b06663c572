"""A header of the user's choice tells the endpoint which conversation a request belongs to."""

from contextlib import nullcontext

import pytest

import duologue
from duologue import graphs
from duologue.errors import ModelError
from duologue.nodes import Limits, chat_model
from duologue.nodes.models import model_provenance, recordable
from duologue.nodes.models.conversation_header import SPEAKING

SPEC = "openai:m?conversation_header=X-Session-Id"


@pytest.mark.heavy
def test_every_request_of_a_conversation_carries_its_id(recorder, lighthouse):
    topics = [lighthouse.model_copy(update={"title": f"Rock {number}"}) for number in range(3)]
    cast = graphs.simquac.cast(SPEC, SPEC, limits=Limits(max_turns=2))
    conversations = duologue.simulate(cast, graphs.simquac.scenarios(topics))
    ids = [sent.headers["x-session-id"] for sent in recorder.sent]
    assert set(ids) == {one.id for one in conversations}
    assert all(sent.short for sent in recorder.sent)
    assert b"Session" not in b"".join(sent.body for sent in recorder.sent)


@pytest.mark.parametrize("query", ["", "&use_responses_api=true", "&streaming=true"])
async def test_it_goes_whichever_way_a_call_takes_and_only_within_a_conversation(recorder, query):
    model = chat_model(SPEC + query)
    for conversation in ("c-1", "c-2", ""):
        token = SPEAKING.set(conversation)
        try:
            with pytest.raises(Exception) if query else nullcontext():  # noqa: PT011 - what is said is no such reply
                await model.ainvoke("Hello")
        finally:
            SPEAKING.reset(token)
    assert [sent.headers.get("x-session-id") for sent in recorder.sent] == ["c-1", "c-2", None]


@pytest.mark.parametrize(
    ("conversation", "header"),
    [("a/b#3", "a/b#3"), ("ärk 1", "%C3%A4rk%201"), ("x\r\nAuthorization: y", "x%0D%0AAuthorization:%20y"), ("100%", "100%25")],
)  # fmt: skip
async def test_an_id_is_written_so_that_a_header_can_hold_it(recorder, conversation, header):
    token = SPEAKING.set(conversation)
    try:
        await chat_model(SPEC).ainvoke("Hello")
    finally:
        SPEAKING.reset(token)
    assert recorder.last.headers["x-session-id"] == header
    assert recorder.last.headers["authorization"].startswith("Bearer ")


def test_it_is_recorded_as_any_argument(recorder):
    assert model_provenance(chat_model(SPEC)) == {
        "spec": "openai:m",
        "arguments": {"conversation_header": "X-Session-Id"},
    }
    assert recordable(SPEC) == SPEC


@pytest.mark.parametrize(
    "name",
    ["Authorization", "Proxy-Authorization", "X-Api-Key", "api-key", "Cookie", "Host", "Content-Length", "Connection", "X-Auth-Token", "OpenAI-Organization", "X Y", "X:Y", "X%0D%0AY", "", "%C3%84", "3", "x" * 101],
)  # fmt: skip
def test_a_name_that_cannot_be_is_one_line(recorder, name):
    with pytest.raises(ModelError, match=r"^model 'openai:m': conversation_header: ") as raised:
        chat_model(f"openai:m?conversation_header={name}")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("argument", ["default_headers", "conversation_headers", "api_key", "default_query"])
def test_other_headers_stay_out_of_specs(recorder, argument):
    with pytest.raises(ModelError, match="never from a model identifier"):
        chat_model(f"openai:m?{argument}=x")
