"""Images and files in a conversation: read from replies, judged, sent on, recorded."""

import base64
from types import SimpleNamespace
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage
from langgraph.graph import START, MessagesState, StateGraph

from duologue.data import Conversation, count, record_lines
from duologue.graphs import Cast
from duologue.nodes import AgentSpeaker, Limits, not_empty
from duologue.nodes.messages import plain_messages
from duologue.nodes.speakers.speaker import ChatSpeaker
from duologue.testing import scripted_model
from tests.graphs.played import played

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
DATA = base64.b64encode(PNG).decode()
URL = f"data:image/png;base64,{DATA}"
IMAGE = {"type": "image", "url": "https://a.b/c.png"}
NOTE = {"type": "image", "mime_type": "image/png", "size": len(PNG)}
"""Of an image whose content came with the reply."""
PAGE = {"type": "file", "url": "shelf/a.pdf"}


class Shows:
    """A scripted user who sends drafts as they are."""

    def __init__(self, *drafts: dict[str, Any]) -> None:
        self.drafts = drafts

    async def __call__(self, state: Any, runtime: Any) -> Any:
        return {"drafts": list(self.drafts)}


def agent(reply: Any) -> Any:
    return StateGraph(MessagesState).add_node("reply", reply).add_edge(START, "reply").compile(name="eye")


async def talk(user: Any, assistant: Any, turns: int = 1, **places: Any) -> Conversation:
    cast = Cast(name="eyes", user_simulator=user, assistant=assistant, **places)
    return await played(cast, {"scenario": {}}, Limits(max_turns=turns))


async def test_an_agent_reads_the_image_that_its_user_shows_and_draws_another() -> None:
    seen: list[Any] = []

    async def reply(state: MessagesState) -> dict[str, Any]:
        last = state["messages"][-1]
        seen.append(last.content_blocks)
        drawn = {"type": "image_url", "image_url": {"url": URL}}
        return {"messages": [AIMessage([{"type": "text", "text": "A sky."}, drawn])]}

    user = Shows({"text": "What is it?", "parts": [IMAGE]}, {"text": "", "parts": [PAGE]})
    conversation = await talk(user, AgentSpeaker("assistant", agent(reply)), 2, question_validator=not_empty)
    assert [message.text for message in conversation.messages[:3]] == ["What is it?", "", "A sky."]
    assert [part.plain() for part in conversation.messages[2].parts] == [NOTE]
    assert conversation.messages[2].attempts[0].parts == ()
    first = seen[0]
    assert [block["type"] for block in first] == ["text", "image", "text"]
    assert first[2]["text"] == "[file: shelf/a.pdf]"  # a path is of no use to an agent elsewhere
    sides = count([conversation])
    assert (sides.side("user").parts, sides.side("assistant").parts) == ({"image": 2, "file": 2}, {"image": 2})
    assert record_lines.from_plain(conversation.plain()) == conversation


async def test_a_function_is_sent_openais_blocks_and_its_own_images_as_words() -> None:
    heard: list[Any] = []

    def reply(messages: list[dict[str, Any]]) -> AIMessage:
        heard.append(messages)
        return AIMessage([{"type": "image", "url": "https://a.b/c.png"}])

    video = {"type": "video", "url": "https://a.b/v.mp4"}
    conversation = await talk(
        Shows({"text": "Look.", "parts": [IMAGE, video]}), AgentSpeaker("assistant", reply), 2,
        answer_validator=not_empty,
    )  # fmt: skip
    assert [part.url for part in conversation.messages[1].parts] == ["https://a.b/c.png"]
    words = {"type": "text", "text": "Look.\n[video: https://a.b/v.mp4]"}
    look = {"role": "user", "content": [words, {"type": "image_url", "image_url": {"url": IMAGE["url"]}}]}
    assert heard[1] == [look, {"role": "assistant", "content": "[image: https://a.b/c.png]"}, look]


async def test_a_model_is_sent_an_image_and_words_in_place_of_what_cannot_be_sent() -> None:
    model = scripted_model("ok")
    user = Shows({"text": "Look.", "parts": [IMAGE, PAGE, {"type": "video", "url": "https://a.b/v"}]})
    await talk(user, ChatSpeaker("assistant", model, plain_messages("assistant")))
    (message,) = model.sent[0]
    assert [block.get("type") for block in message.content] == ["text", "image"]
    assert message.content[0]["text"] == "Look.\n[file: shelf/a.pdf]\n[video: https://a.b/v]"


async def test_a_draft_of_tool_calls_alone_has_a_reason_and_a_page_of_its_own_and_is_no_refusal() -> None:
    answers = iter([AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": "1"}]), AIMessage("In words.")])
    heard: list[Any] = []

    def reply(messages: list[dict[str, Any]]) -> AIMessage:
        heard.append(messages)
        return next(answers)

    undone = SimpleNamespace(snapshot=lambda: None, restore=lambda snapshot: None)
    user = Shows({"text": "Look."})
    conversation = await talk(user, reply, answer_validator=not_empty, world=lambda scenario: undone)
    assert [attempt.reason for attempt in conversation.messages[1].attempts] == ["only_tool_calls", None]
    assert conversation.messages[1].prompt is not None
    assert conversation.messages[1].prompt.name == "assistant/repair_only_tool_calls"
    assert "Answer in words." in heard[1][-1]["content"]
    assert count([conversation]).side("assistant").reasons == {"only_tool_calls": 1}


async def test_an_image_that_a_tool_returns_stands_with_its_call_and_the_words_are_its_result() -> None:
    async def reply(state: MessagesState) -> dict[str, Any]:
        call = {"name": "draw", "args": {}, "id": "1"}
        block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}}
        result = ToolMessage([{"type": "text", "text": "drawn"}, block], tool_call_id="1")
        return {"messages": [AIMessage("", tool_calls=[call]), result, AIMessage("Here.")]}

    conversation = await talk(Shows({"text": "Draw."}), AgentSpeaker("assistant", agent(reply)))
    (call,) = conversation.messages[1].tool_calls
    assert (call.result, [part.plain() for part in call.parts]) == ("drawn", [NOTE])
