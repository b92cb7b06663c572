"""Logs of models and agents: names of roles, contents, and files that are refused."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from duologue.data import DataError, load
from duologue.data.attachments import parts_of
from duologue.data.formats.dialogues import asides
from duologue.data.formats.turns import turns_of
from duologue.data.text.languages import written_language
from tests.data.logs.museum_log import ASKED, LAST, MORE, SYSTEM, TALK, TOLD, answer, file, only, spoken_lines


def test_a_prompt_of_the_older_completions_is_a_users_message() -> None:
    request = {"model": "m", "prompt": ["When does it open?"]}
    path = file({"request": request, "response": {"choices": [{"text": "At nine.", "finish_reason": "stop"}]}})
    assert spoken_lines(only(path)) == TALK[:2]


EVENT = {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}}
CHUNK = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "At"}}]}


@pytest.mark.parametrize(
    "response",
    [
        [EVENT],
        [CHUNK],
        [{"messageStart": {"role": "assistant"}}],
        {"body": [EVENT]},
        f"event: message_start\ndata: {json.dumps(EVENT)}\n\n",
        {"body": f"data: {json.dumps(CHUNK)}\n\n"},
    ],
    ids=str,
)
def test_a_response_that_was_logged_as_a_stream_is_refused_by_its_line(
    response: Any, fault: Callable[..., str]
) -> None:
    line = fault(load, file({"request": {"messages": [ASKED]}, "response": response}))
    assert line.endswith("line 1: its response is a stream's events: log the whole response")


def test_a_request_whose_body_is_a_list_is_no_request(fault: Callable[..., str]) -> None:
    assert "is not in a known format" in fault(load, file({"request": {"body": []}, "response": {"body": []}}))


def test_a_line_that_lacks_messages_is_named(fault: Callable[..., str]) -> None:
    assert "line 2" in fault(load, file({"messages": [ASKED]} | answer(TOLD), {"a": 1}))


def test_a_damaged_gzip_file_is_named(fault: Callable[..., str]) -> None:
    Path("log.jsonl.gz").write_bytes(gzip.compress(b"{}")[:-9])
    assert "damaged" in fault(load, "log.jsonl.gz")


@pytest.mark.parametrize(
    ("user", "assistant"),
    [("Customer", "Agent"), ("visitor", "customer_service"), ("client", "operator"), ("用户", "客服")],
)
def test_the_names_that_customer_services_give_the_sides_are_read(tmp_path, user, assistant):
    lines = [{"conversation_id": "1", "role": role, "content": "x"} for role in (user, assistant)]
    (tmp_path / "chat.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (talk,) = load(tmp_path / "chat.jsonl")
    assert [message.role for message in talk.messages] == ["user", "assistant"]


def test_a_pair_of_names_of_nodes_is_no_message():
    assert turns_of(["agent", "tools"]) == []
    assert turns_of(["user", "hello"]) == [{"role": "user", "content": "hello"}]


def test_of_an_unknown_role_only_the_role_is_told_with_a_line_that_is_read(tmp_path):
    (tmp_path / "chat.jsonl").write_text('{"conversation_id": "1", "role": "Kunde", "content": "x"}\n')
    with pytest.raises(DataError) as raised:
        load(tmp_path / "chat.jsonl")
    assert "not the role 'Kunde'" in str(raised.value)
    assert '{"conversation_id": "1", "role": "user", "content": "Hello"} (docs/start/log_formats.md)' in str(
        raised.value
    )
    assert "OpenTelemetry" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Ich möchte bitte einen Flug nach Bern buchen, und zwar für morgen.", "other"),
        ("Je voudrais un billet pour Berne, est-ce que vous avez une place?", "other"),
        ("Сколько стоит билет?", "other"),
        ("チェスのルールを教えてください", "other"),
        ("I would like to fly to Bern, via Le Bourget.", "en"),
        ("QX4821", "en"),
        ("我想订一张票", "zh"),
        ("123", None),
    ],
)
def test_a_language_that_is_neither_english_nor_chinese_is_another_one(text, language):
    assert written_language(text) == language


def test_a_call_whose_message_is_no_object_is_one_line() -> None:
    calls = [{"request": {"messages": [ASKED, "hello"]}, "response": answer(TOLD)} for _ in range(2)]
    with pytest.raises(DataError, match=r"log\.jsonl"):
        load(file(*calls))


@pytest.mark.parametrize(
    "value",
    [
        {"type": "human", "data": {"content": "When does it open?"}},
        {"type": "constructor", "id": ["messages", "HumanMessage"], "kwargs": {"content": "When does it open?"}},
    ],
)
def test_a_message_of_langchain_has_its_side_by_its_class_alone(value: dict[str, Any]) -> None:
    assert turns_of(value) == [ASKED]


def test_parts_that_are_not_text_become_blocks_of_their_kind() -> None:
    picture = {"type": "blob", "mime_type": "image/png", "content": "aGk="}
    (turn,) = turns_of({"role": "user", "parts": [{"type": "text", "content": "Look:"}, picture]})
    image = {"type": "media", "base64": "aGk=", "mime_type": "image/png"}
    assert turn["content"] == [{"type": "text", "text": "Look:"}, image]
    (part,) = parts_of(turn["content"])
    assert (part.type, part.url) == ("image", "data:image/png;base64,aGk=")


@pytest.mark.parametrize("before", [[ASKED], [ASKED, {"role": "tool", "content": "nine"}, SYSTEM]])
@pytest.mark.parametrize("again", [[SYSTEM, TOLD, MORE], [ASKED, TOLD, MORE]])
def test_calls_that_send_a_part_of_the_history_are_joined_where_they_overlap(before: Any, again: Any) -> None:
    path = file(
        {"conversation_id": "c", "messages": [SYSTEM, *before], "response": TOLD},
        {"conversation_id": "c", "messages": again} | answer(LAST),
        {"conversation_id": "c", "messages": [ASKED]} | answer(TOLD, "length"),
    )
    conversation = only(path)
    assert spoken_lines(conversation) == TALK
    assert conversation.messages[1].extra["messages"]["values"]["finish_reason"] == "length"
    assert ("nine" in str(asides(conversation))) == (len(before) > 1)


def test_after_an_edited_message_only_what_is_new_is_added() -> None:
    edited, other = {"role": "user", "content": "And on Mondays?"}, {"role": "assistant", "content": "At ten."}
    after = {"role": "user", "content": "Thanks."}
    calls = [
        ([ASKED], TOLD),
        ([ASKED, TOLD, MORE], LAST),
        ([ASKED, TOLD, edited], other),
        ([ASKED, TOLD, edited, other, after], None),
    ]
    lines = [{"session_id": "s", "request": {"messages": sent}, "response": reply} for sent, reply in calls]
    texts = [*TALK, "user: And on Mondays?", "assistant: At ten.", "user: Thanks."]
    assert spoken_lines(only(file(*lines))) == texts
