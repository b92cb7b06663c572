"""Shapes of logged lines that are read, and calls that are joined."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from duologue.data import DataError, load
from duologue.data.formats.dialogues import asides, further
from duologue.data.formats.turns import spoken
from duologue.data.logs.calls import LoggedCall, together
from tests.data.logs.museum_log import ASKED, LAST, MORE, SYSTEM, TALK, TOLD, WHOLE, answer, file, only, spoken_lines

SHAPES: dict[str, Any] = {
    "messages": {"messages": WHOLE},
    "conversation of roles": {"conversation": WHOLE},
    "conversations of roles": {"conversations": WHOLE},
    "trajectory": {"trajectory": WHOLE},
    "sharegpt": {
        "conversations": [
            {"from": who, "value": turn["content"]}
            for who, turn in zip(("system", "human", "model", "user", "bot"), WHOLE, strict=True)
        ]
    },
    "other names": {"messages": [turn | {"role": name} for turn, name in zip(WHOLE, ("developer", "human", "gpt", "Human", "AI"), strict=True)]},
    "request and response": {"request": {"messages": WHOLE[:4]}, "response": answer(LAST)},
    "messages with choices": {"messages": WHOLE[:4]} | answer(LAST),
    "batch with body": {"custom_id": "r1", "method": "POST", "body": {"messages": WHOLE[:4]}, "response": {"status_code": 200, "body": answer(LAST)}},
    "batch input": {"custom_id": "r1", "method": "POST", "url": "/v1/chat/completions", "body": {"messages": WHOLE}},
    "preference": {"input": {"messages": WHOLE[:4]}, "preferred_output": [LAST], "non_preferred_output": [TOLD]},
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("form", ["line", "list", "object over many lines", "gzip"])
def test_a_shape_is_read_as_lines_as_a_list_as_one_object_and_zipped(shape: str, form: str) -> None:
    value = SHAPES[shape]
    path = file(*([[value]] if form == "list" else [value]), indent=2 if form.startswith("object") else None)
    if form == "gzip":
        Path("zipped.jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
        path = Path("zipped.jsonl.gz")
    assert spoken_lines(only(path)) == TALK
    (aside,) = asides(only(path))
    assert aside["system"] == "You answer for a museum."


def test_a_list_of_messages_is_one_conversation() -> None:
    assert spoken_lines(only(file(WHOLE, indent=1))) == TALK


def test_one_message_a_line_is_put_together_by_the_id_of_its_conversation() -> None:
    first = [turn | {"conversation_id": "a", "timestamp": 3} for turn in (ASKED, TOLD)]
    path = file(first[0], MORE | {"conversation_id": "b"}, first[1], LAST | {"conversation_id": "b"})
    a, b = load(path).conversations
    assert (a.id, spoken_lines(a), b.id, spoken_lines(b)) == ("a", TALK[:2], "b", TALK[2:])
    assert a.messages[0].extra["messages"]["values"]["timestamp"] == 3


def test_calls_that_send_the_history_again_are_one_conversation() -> None:
    path = file(
        {"request": {"messages": [SYSTEM, ASKED]}, "response": answer(TOLD, "length", usage={"prompt_tokens": 9, "completion_tokens": 2})},
        {"request": {"messages": [SYSTEM, ASKED]}, "response": answer(LAST)},
        {"request": {"messages": WHOLE[:4]}, "response": answer(LAST, usage={"prompt_tokens": 20, "completion_tokens": 3})},
    )  # fmt: skip
    joined, alone = load(path).conversations
    assert (spoken_lines(joined), spoken_lines(alone)) == (TALK, [TALK[0], TALK[3]])
    assert further(joined)["usage"] == {"input_tokens": 29, "output_tokens": 5}
    assert joined.messages[1].extra["messages"]["values"]["finish_reason"] == "length"


def test_calls_without_a_name_are_joined_in_time_that_grows_with_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0

    def counted(turns: Any) -> list[tuple[str, str]]:
        nonlocal read
        read += 1
        return spoken(turns)

    monkeypatch.setattr("duologue.data.logs.calls.spoken", counted)
    first = [LoggedCall([{**ASKED, "content": f"When does room {number % 50} open?"}, TOLD]) for number in range(200)]
    second = [LoggedCall([*call.turns, MORE, LAST]) for call in first]
    talks = list(together([*first, *second]))
    assert [talk["messages"][0]["content"] for talk in talks] == [call.turns[0]["content"] for call in first]
    assert {len(talk["messages"]) for talk in talks} == {4}
    assert read < 10 * len([*first, *second])


def test_an_edit_is_looked_for_only_among_histories_that_begin_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0

    def counted(first: Any, second: Any) -> int:
        nonlocal compared
        compared += 1
        return 0

    monkeypatch.setattr("duologue.data.logs.calls._alike", counted)
    calls = [LoggedCall([{**ASKED, "content": f"Question {n}?"}, TOLD], conversation="c") for n in range(50)]
    (talk,) = together(calls)
    assert (len(talk["messages"]), compared) == (100, 0)


@pytest.mark.parametrize("value", [[], {}, [["a"]]], ids=str)
@pytest.mark.parametrize("key", ["uuid", "sender", "parent_message_uuid", "current_leaf_message_uuid"])
def test_a_name_in_a_tree_that_is_no_text_is_read_over_or_refused_in_one_line(key: str, value: Any) -> None:
    sent = [{"uuid": f"m{n}", "parent_message_uuid": f"m{n - 1}", "sender": "human", "text": "Hi"} for n in range(3)]
    refusal = ""
    try:
        load(file([{"chat_messages": [*sent[:2], {**sent[2], key: value}], key: value}]))
    except DataError as error:
        refusal = str(error)
    assert "\n" not in refusal


@pytest.mark.parametrize("instructions", [(), (0,), (1,), (0, 1)])
def test_calls_that_send_only_what_is_new_are_joined_by_their_conversation(instructions: tuple[int, ...]) -> None:
    path = file(
        {"conversation_id": "c", "messages": [SYSTEM] * (0 in instructions) + [ASKED]} | answer(TOLD),
        {"conversation_id": "c", "messages": [SYSTEM] * (1 in instructions) + [MORE]} | answer(LAST),
    )
    assert (only(path).id, spoken_lines(only(path))) == ("c", TALK)
    assert len(asides(only(path))) == bool(instructions)  # once


def test_keys_beside_the_messages_are_kept() -> None:
    value = {"id": "x", "messages": WHOLE, "metadata": {"channel": "web"}, "labels": {"solved": True}, "rating": 4}
    conversation = only(file(value))
    assert conversation.labels == {"solved": True, "rating": 4}
    assert further(conversation)["metadata"] == {"channel": "web"}


def test_a_refusal_of_the_api_is_what_the_assistant_said() -> None:
    refusal = {"role": "assistant", "content": None, "refusal": "I can't help with that."}
    assert spoken_lines(only(file({"messages": [ASKED]} | answer(refusal))))[1] == "assistant: I can't help with that."
