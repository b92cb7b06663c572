"""What a function may answer with in place of a text, and what is told of anything else."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from pydantic import BaseModel

import duologue
from duologue.graphs import agent_test
from duologue.nodes.replies.function_answers import drafts_answered

CALL = {"id": "1", "type": "function", "function": {"name": "change", "arguments": '{"booking": "QX4821"}'}}


class OpenAIMessage(BaseModel):
    role: str = "assistant"
    content: str | None = "Done: moved."
    refusal: str | None = None


def talk_with(agent: Any) -> Any:
    states = agent_test.scenarios([{"first_message": "Move it!"}])
    return duologue.simulate(agent_test.cast("offline", agent), states)[0]


def pieces(messages: Any) -> Iterator[str]:
    yield "Done: "
    yield "moved."


async def async_pieces(messages: Any) -> AsyncIterator[str]:
    for piece in ("Done: ", "moved."):
        yield piece


def chunks(messages: Any) -> Iterator[AIMessageChunk]:
    yield AIMessageChunk(content="Done: ")
    yield AIMessageChunk(content="moved.")


@pytest.mark.parametrize(
    "agent",
    [
        lambda messages: {"role": "assistant", "content": "Done: moved."},
        lambda messages: {"content": [{"type": "text", "text": "Done: moved."}]},
        lambda messages: {"choices": [{"message": {"role": "assistant", "content": "Done: moved."}}]},
        lambda messages: {"messages": [*messages, {"role": "assistant", "content": "Done: moved."}]},
        lambda messages: [{"role": "assistant", "content": "Done: moved."}],
        lambda messages: [*messages, {"role": "assistant", "content": "Done: moved."}],
        lambda messages: [HumanMessage("Move it!"), AIMessage("Done: moved.")],
        lambda messages: OpenAIMessage(),
        lambda messages: iter([{"role": "assistant", "content": "Done: moved."}]),
        pieces,
        async_pieces,
        chunks,
    ],
)
def test_messages_of_any_form_and_streams_are_taken_as_they_are(agent: Any) -> None:
    talk = talk_with(agent)
    assert talk.failure is None
    assert [message.text for message in talk.messages] == ["Move it!", "Done: moved.", "Thank you, goodbye."]


@pytest.mark.parametrize(
    "answer",
    [
        [
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "1", "content": "ok"},
            {"role": "assistant", "content": "Done: moved."},
        ],
        [
            AIMessage("", tool_calls=[{"name": "change", "args": {"booking": "QX4821"}, "id": "1"}]),
            ToolMessage("ok", tool_call_id="1"),
            AIMessage("Done: moved."),
        ],
    ],
)
def test_tool_calls_and_their_results_are_kept_with_the_message(answer: Any) -> None:
    (call,) = talk_with(lambda messages: answer).messages[1].tool_calls
    assert (call.name, call.arguments, call.result) == ("change", {"booking": "QX4821"}, "ok")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "nothing (None)"),
        (7, "int"),
        ([], "no message of its own"),
        ({"answer": "Done."}, "dict with the keys 'answer'"),
        (["Done."], "str as a message"),
        ({"role": "nobody", "content": "Done."}, "cannot be read"),
    ],
)
def test_anything_else_is_a_failure_of_the_assistant_that_names_what_is_accepted(answer: Any, words: str) -> None:
    talk = talk_with(lambda messages: answer)
    assert (talk.failure.node, talk.stop) == ("assistant", "model_failed")
    assert words in talk.failure.error
    assert "a text, a LangChain message, a message of OpenAI's form" in talk.failure.error


def test_an_empty_text_is_rejected_as_empty_and_asked_again() -> None:
    talk = talk_with(lambda messages: "")
    assert not any(message.role == "assistant" for message in talk.messages if message.text)
    assert {attempt.reason for attempt in talk.attempts()} >= {"empty"}


@pytest.mark.parametrize(
    ("answer", "flaw"),
    [
        ("", "empty"),
        ("Done: moved.", None),
        ({"choices": [{"message": {"content": "Done"}, "finish_reason": "length"}], "model": "m-1"}, "cut_off"),
        ({"choices": [{"message": {"content": None}, "finish_reason": "content_filter"}]}, "content_filter"),
        ({"role": "assistant", "content": None, "refusal": "I won't."}, "refusal"),
        (OpenAIMessage(content=None, refusal="I won't."), "refusal"),
        (AIMessage("Done", response_metadata={"stop_reason": "max_tokens"}), "cut_off"),
    ],
)
async def test_an_answer_has_the_flaw_that_it_tells_of(answer: Any, flaw: str | None) -> None:
    (draft,) = await drafts_answered(answer, [])
    assert draft.get("flaw") == flaw
    assert flaw != "refusal" or draft["text"] == "I won't."
