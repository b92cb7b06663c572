"""Images and files in a conversation: read from replies, judged, sent on as words, recorded."""

import base64
from types import SimpleNamespace
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage
from langgraph.graph import START, MessagesState, StateGraph

from duologue.data import Conversation, count, record_lines
from duologue.graphs import Cast
from duologue.nodes import AgentSpeaker, Limits, not_empty
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


async def test_what_is_no_text_is_recorded_and_words_are_sent_in_its_place() -> None:
    seen: list[Any] = []

    async def reply(state: MessagesState) -> dict[str, Any]:
        seen.append([one.content for one in state["messages"]])
        drawn = {"type": "image_url", "image_url": {"url": URL}}
        return {"messages": [AIMessage([{"type": "text", "text": "Like this."}, drawn])]}

    user = Shows({"text": "What is it?", "parts": [IMAGE]}, {"text": "", "parts": [PAGE]})
    conversation = await talk(user, AgentSpeaker("assistant", agent(reply)), question_validator=not_empty)
    assert [message.text for message in conversation.messages] == ["What is it?", "", "Like this."]
    assert [part.plain() for part in conversation.messages[2].parts] == [NOTE]
    assert conversation.messages[2].attempts[0].parts == ()
    assert seen == [["What is it?\n[image: https://a.b/c.png]\n\n[file: shelf/a.pdf]"]]
    sides = count([conversation])
    assert (sides.side("user").parts, sides.side("assistant").parts) == ({"image": 1, "file": 1}, {"image": 1})
    assert record_lines.from_plain(conversation.plain()) == conversation


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
