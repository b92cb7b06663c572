"""Requests and responses of OpenAI's Responses API, and what has an `input` and is not one."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from duologue.data import Conversation, load
from duologue.data.checks import check
from duologue.data.formats.messages import asides, further
from duologue.views.conversation import conversation_html

ASKED, REPLY = "Is a room free?", "Room 7 is free."


def message(text: str, role: str = "assistant", **more: Any) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}], **more}


CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "rooms", "arguments": '{"nights": 2}'}
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "3 rooms"}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Look first."}]}
SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed"}


def response(*output: Any, name: str = "resp_1", **more: Any) -> dict[str, Any]:
    return {"id": name, "object": "response", "model": "m", "status": "completed", "output": list(output), **more}


def lines(*values: Any) -> Path:
    path = Path("log.jsonl")
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return path


def calls_of(talk: Conversation) -> list[tuple[Any, ...]]:
    makers: tuple[Any, ...] = (*talk.messages, *(draft for turn in talk.unsaid for draft in turn.attempts))
    return [(call.name, call.arguments, call.result) for maker in makers for call in maker.tool_calls]


TALK = f"user: {ASKED}\nassistant: {REPLY}"
SHAPES: dict[str, Any] = {
    "request and response": {"request": {"model": "m", "input": ASKED, "instructions": "Be brief."}, "response": response(message(REPLY))},
    "items": {"request": {"input": [message("Be brief.", "developer"), message(ASKED, "user")]}, "response": response(message(REPLY))},
    "in one object": {"model": "m", "instructions": "Be brief.", "input": [{"role": "user", "content": ASKED}], **response(message(REPLY))},
    "output alone": {"input": ASKED, "instructions": "Be brief.", "model": "m", "output": [message(REPLY)]},
    "batch": {"custom_id": "r", "url": "/v1/responses", "body": {"input": ASKED, "instructions": "Be brief."}, "response": {"status_code": 200, "body": response(message(REPLY))}},
    "batch input": {"custom_id": "r", "method": "POST", "url": "/v1/responses", "body": {"instructions": "Be brief.", "input": [message(ASKED, "user"), message(REPLY)]}},
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_is_read_with_its_instructions(shape: str) -> None:
    loaded = load(lines(SHAPES[shape]))
    (talk,) = loaded.conversations
    assert (loaded.kind, str(talk)) == ("requests", TALK)
    assert [aside.get("system") for aside in asides(talk)] == ["Be brief."]


def test_a_response_alone_and_a_batch_of_outputs_hold_only_the_replies() -> None:
    output = {"id": "b1", "custom_id": "r1", "response": {"status_code": 200, "body": response(message("Yes."))}}
    for value in (response(message("Yes."), usage={"input_tokens": 3, "output_tokens": 2}), output):
        (talk,) = load(lines(value)).conversations
        assert str(talk) == "assistant: Yes."
    assert talk.id == "r1"


def test_calls_of_a_response_are_those_of_its_message_and_have_their_results() -> None:
    mcp = {
        "type": "mcp_call",
        "id": "mcp_1",
        "server_label": "hotel",
        "name": "prices",
        "arguments": "{}",
        "output": "90",
    }
    free = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c2", "name": "shell", "input": "ls"}
    items = [message(ASKED, "user"), REASONING, message("I look."), CALL, RESULT, mcp, free]
    done = {"type": "custom_tool_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "a.txt"}]}
    loaded = load(lines({"request": {"input": [*items, done]}, "response": response(SEARCH, message(REPLY))}))
    (talk,) = loaded.conversations
    assert [message.text for message in talk.messages] == [ASKED, "I look.", REPLY]
    assert [call[0] for call in calls_of(talk)] == ["rooms", "prices", "shell"]
    assert calls_of(talk)[0] == ("rooms", {"nights": 2}, "3 rooms")
    assert calls_of(talk)[2] == ("shell", {"value": "ls"}, "a.txt")
    assert [len(message.tool_calls) for message in talk.messages] == [0, 1, 2]
    assert talk.messages[1].attempts[-1].reasoning == "Look first."
    assert not [finding for finding in check(talk) if finding.level == "error"]
    assert "rooms" in conversation_html(talk)


def test_a_refusal_a_cut_off_and_an_image_are_read() -> None:
    refusal = {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "I can't."}]}
    image = {"role": "user", "content": [{"type": "input_text", "text": "Look:"}, {"type": "input_image", "image_url": "https://e.org/a.png"}]}  # fmt: skip
    cut = response(refusal, incomplete_details={"reason": "max_output_tokens"})
    (talk,) = load(lines({"request": {"input": [image]}, "response": cut})).conversations
    assert talk.messages[1].text == "I can't."
    assert (talk.messages[0].text, talk.messages[0].parts[0].url) == ("Look:", "https://e.org/a.png")
    assert [finding.rule for finding in check(talk) if finding.level == "warning"] == ["cut-off"]


def chain(number: int, text: str, *output: Any, after: int | None = None) -> dict[str, Any]:
    request = {"model": "m", "instructions": "Be brief.", "input": text}
    request |= {} if after is None else {"previous_response_id": f"resp_{after}"}
    usage = {"input_tokens": 10, "output_tokens": number}
    return {"request": request, "response": response(*output, name=f"resp_{number}", usage=usage)}


def test_a_chain_of_responses_is_one_conversation_and_a_branch_another() -> None:
    called = {
        "request": {"input": [RESULT], "previous_response_id": "resp_2"},
        "response": response(message("Yes."), name="resp_3"),
    }
    branch = chain(4, "Or a flat?", message("No."), after=1)
    loaded = load(lines(chain(1, "Hello", message("Hi.")), chain(2, ASKED, CALL, after=1), called, branch))
    first, second = loaded.conversations
    assert str(first) == f"user: Hello\nassistant: Hi.\nuser: {ASKED}\nassistant: Yes."
    assert str(second) == "user: Hello\nassistant: Hi.\nuser: Or a flat?\nassistant: No."
    assert calls_of(first) == [("rooms", {"nights": 2}, "3 rooms")]
    assert [aside["system"] for aside in asides(second)] == ["Be brief."]
    assert [further(talk)["usage"]["output_tokens"] for talk in (first, second)] == [3, 4]


def test_requests_that_send_the_items_again_are_one_conversation() -> None:
    asked = message(ASKED, "user")
    loaded = load(
        lines(
            {"request": {"input": [asked]}, "response": response(CALL)},
            {"request": {"input": [asked, CALL, RESULT]}, "response": response(message(REPLY), name="resp_2")},
        )
    )
    (talk,) = loaded.conversations
    assert (str(talk), calls_of(talk)) == (TALK, [("rooms", {"nights": 2}, "3 rooms")])


def test_a_list_of_items_is_one_conversation() -> None:
    items = [message(ASKED, "user"), CALL, RESULT, message(REPLY)]
    Path("items.json").write_text(json.dumps(items), encoding="utf-8")
    (talk,) = load("items.json")
    assert (str(talk), calls_of(talk)) == (TALK, [("rooms", {"nights": 2}, "3 rooms")])


words = st.text(min_size=1, max_size=8).filter(str.strip)
called = st.lists(st.tuples(st.sampled_from(["rooms", "prices"]), st.dictionaries(st.text(max_size=3), st.integers(), max_size=2), words), max_size=3)  # fmt: skip
