"""Rows of data for fine-tuning and preferences: the question is read with its answer, and nothing is lost."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.data import Conversation, DataError, load, messages, sharegpt
from duologue.data.formats.dialogues import asides, further

TALK = [("user", "When does it open?"), ("assistant", "At nine.")]
ASKED, REPLY = (dict(zip(("role", "content"), turn, strict=True)) for turn in TALK)
BEFORE = [["Is it free?", "Yes."]]
OTHER = {"role": "assistant", "content": "Never."}


def file(*rows: Any, name: str = "rows.jsonl") -> Path:
    path = Path(name)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def words(conversation: Conversation) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in conversation.messages]


def only(*rows: Any) -> Conversation:
    loaded = load(file(*rows))
    assert loaded.kind == "rows"
    (conversation,) = loaded
    check_written(list(loaded))
    return conversation


def check_written(conversations: list[Conversation]) -> None:
    """As lines of messages, conversations lose nothing, and are read back equal."""
    assert messages.write(conversations, "again.jsonl") == []
    again = load("again.jsonl")
    assert again.kind == "messages"
    for one, other in zip(conversations, again, strict=True):
        assert (one.messages, one.labels, asides(one)) == (other.messages, other.labels, asides(other))
        assert further(one) == further(other)


SHAPES: dict[str, dict[str, Any]] = {
    "alpaca": {"instruction": "When does it open?", "input": "", "output": "At nine."},
    "query and response": {"query": "When does it open?", "response": "At nine."},
    "question and answer": {"question": "When does it open?", "answer": "At nine."},
    "prompt and completion": {"prompt": "When does it open?", "completion": "At nine."},
    "messages as prompt and completion": {"prompt": [ASKED], "completion": [REPLY]},
    "chosen and rejected": {"prompt": "When does it open?", "chosen": "At nine.", "rejected": "Never."},
    "chosen messages": {"prompt": [ASKED], "chosen": [REPLY], "rejected": [OTHER]},
    "chosen with its prompt": {"prompt": "When does it open?", "chosen": [ASKED, REPLY], "rejected": [ASKED, OTHER]},
    "chosen whole": {"chosen": [ASKED, REPLY], "rejected": [ASKED, OTHER]},
    "chosen whole beside messages": {"messages": [ASKED, REPLY], "chosen": [ASKED, REPLY], "rejected": [ASKED, OTHER]},
    "chosen beside messages": {"messages": [ASKED], "chosen": REPLY, "rejected": OTHER},
    "sharegpt": {
        "conversations": [{"from": "human", "value": "When does it open?"}],
        "chosen": {"from": "gpt", "value": "At nine."},
        "rejected": {"from": "gpt", "value": "Never."},
    },
    "transcript": {
        "chosen": "\n\nHuman: When does it open?\n\nAssistant: At nine.",
        "rejected": "\n\nHuman: When does it open?\n\nAssistant: Never.",
    },
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_row_is_a_question_with_its_answer(shape: str) -> None:
    conversation = only(SHAPES[shape] | {"source": "ours"})
    assert words(conversation) == TALK
    assert further(conversation)["source"] == "ours"
    assert further(conversation).get("rejected") == SHAPES[shape].get("rejected")


def test_instruction_and_input_are_one_message_that_keeps_both() -> None:
    conversation = only({"instruction": "Sum up.", "input": "It opens at nine.", "output": "Nine."})
    assert words(conversation) == [("user", "Sum up.\n\nIt opens at nine."), ("assistant", "Nine.")]
    values = conversation.messages[0].extra["messages"]["values"]
    assert values == {"instruction": "Sum up.", "input": "It opens at nine."}


@pytest.mark.parametrize(
    "history", [BEFORE, [{"role": "user", "content": "Is it free?"}, {"role": "assistant", "content": "Yes."}]]
)
@pytest.mark.parametrize("shape", ["alpaca", "query and response", "question and answer"])
def test_history_and_system_stand_before_the_question(shape: str, history: Any) -> None:
    conversation = only(SHAPES[shape] | {"history": history, "system": "Be brief."})
    assert words(conversation) == [("user", "Is it free?"), ("assistant", "Yes."), *TALK]
    assert [aside["system"] for aside in asides(conversation)] == ["Be brief."]


def test_a_history_of_anything_else_is_refused(fault: Callable[..., str]) -> None:
    path = file(SHAPES["alpaca"] | {"history": ["Is it free?"]})
    assert "line 1: 'history' is not a list of pairs" in fault(load, path)


@pytest.mark.parametrize("key", ["label", "kto_tag"])
def test_whether_an_answer_is_wanted_is_a_label(key: str) -> None:
    assert only(SHAPES["prompt and completion"] | {key: False}).labels == {key: False}
    (conversation,) = load(file({"messages": [ASKED, REPLY], key: True}))
    assert conversation.labels == {key: True}
    check_written([conversation])
    (conversation,) = load(file({"messages": [ASKED, REPLY], key: "greeting"}))
    assert conversation.labels == {}


def test_rejected_answers_are_counted() -> None:
    row = SHAPES["chosen and rejected"]
    assert load(file(row, row)).notes == ("2 rejected answers are kept beside the chosen",)


def test_rows_without_a_text_are_left_out_and_counted() -> None:
    loaded = load(file(SHAPES["alpaca"], {"instruction": "", "output": ""}))
    assert (len(loaded), loaded.notes) == (1, ("1 row without a text left out",))


def test_messages_that_the_chosen_conversation_does_not_begin_with_are_kept() -> None:
    conversation = only({"messages": [OTHER], "chosen": [ASKED, REPLY], "rejected": [ASKED, OTHER]})
    assert words(conversation) == TALK
    assert further(conversation)["row"] == {"messages": [OTHER]}


def test_rows_that_name_one_conversation_are_one() -> None:
    row = SHAPES["question and answer"]
    conversation = only(row | {"session_id": 4, "page": 1}, row | {"session_id": 4, "page": 2})
    assert (conversation.id, words(conversation)) == ("4", TALK + TALK)
    assert further(conversation)["page"] == 1
    assert conversation.messages[2].extra["messages"]["values"]["page"] == 2


def test_calls_of_tools_before_the_chosen_answer_are_its_calls() -> None:
    call = {"from": "function_call", "value": '{"name": "hours", "arguments": {"day": "Monday"}}'}
    turns = [*SHAPES["sharegpt"]["conversations"], call, {"from": "observation", "value": "nine"}]
    (called,) = only(SHAPES["sharegpt"] | {"conversations": turns}).messages[1].tool_calls
    assert (called.name, called.arguments, called.result) == ("hours", {"day": "Monday"}, "nine")


def test_images_belong_to_the_messages_that_mark_them() -> None:
    turns = [{"from": "human", "value": "<image>What is it?"}, {"from": "gpt", "value": "A door."}]
    turns += [{"from": "human", "value": "And <image> with <image>?"}, {"from": "gpt", "value": "Windows."}]
    path = file({"conversations": turns, "images": ["a.png", "b.png", "c.png"]})
    (conversation,) = load(path)
    assert [[part.url for part in message.parts] for message in conversation.messages] == [
        ["a.png"], [], ["b.png", "c.png"], [],
    ]  # fmt: skip
    assert sharegpt.write([conversation], "again.jsonl") == []
    assert Path("again.jsonl").read_text() == path.read_text()


@pytest.mark.parametrize("key", ["images", "image"])
def test_images_beside_messages_are_parts_too_and_the_line_is_written_as_it_was(key: str) -> None:
    turns = [{"role": "user", "content": "<image>What is it?"}, {"role": "assistant", "content": "A door."}]
    path = file({"id": "a", "messages": turns, key: "a.png"})
    (conversation,) = load(path)
    assert [part.url for part in conversation.messages[0].parts] == ["a.png"]
    assert messages.write([conversation], "again.jsonl") == []
    assert Path("again.jsonl").read_text() == path.read_text()
    row = {"prompt": turns[:1], "chosen": turns[1:], "rejected": [OTHER], key: ["a.png"]}
    assert only(row).messages[0].parts == conversation.messages[0].parts


@pytest.mark.parametrize("images", [["a.png"], ["a.png", "b.png", "c.png"], ["a.png", 3]])
def test_images_that_do_not_fit_the_marks_stay_a_key(images: list[Any]) -> None:
    turns = [{"from": "human", "value": "<image><image>?"}, {"from": "gpt", "value": "A door."}]
    (conversation,) = load(file({"conversations": turns, "images": images}))
    assert [message.parts for message in conversation.messages] == [(), ()]
    assert further(conversation)["images"] == images


def test_a_row_of_another_kind_is_named_with_its_columns(fault: Callable[..., str]) -> None:
    line = fault(load, file(SHAPES["question and answer"], {"qestion": "When?", "answer": "At nine."}))
    assert "line 2: is not a question with its answer" in line
    assert "it has qestion, answer;" in line


@pytest.mark.parametrize(
    "value",
    [
        {"messages": [ASKED, REPLY], "prompt": "When?", "completion": "At nine."},
        {"prompt": "When?", "response": {"choices": [{"message": REPLY}]}},
        {"prompt": "Write a poem."},
        {"question": "When?", "answer": {"text": ["nine"]}},
        {"chosen": "At nine.", "rejected": "Never."},
    ],
    ids=str,
)
def test_neighbours_are_not_claimed(value: dict[str, Any]) -> None:
    path, kind = file(value), ""
    with suppress(DataError):
        kind = load(path).kind
    assert kind != "rows"


def test_an_alpaca_file_with_a_history_is_not_one_of_recllmsim() -> None:
    path = Path("rows.json")
    path.write_text(json.dumps([SHAPES["alpaca"] | {"history": BEFORE}], indent=1), encoding="utf-8")
    assert load(path).kind == "rows"
    path.write_text(json.dumps(SHAPES["alpaca"] | {"history": BEFORE}, indent=1), encoding="utf-8")
    assert load(path).kind == "rows"


texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
pairs = st.lists(st.tuples(texts, texts), min_size=1, max_size=4)
keys = st.dictionaries(st.sampled_from(["source", "output", "rating", "row", "response"]), texts, max_size=2)


@given(pairs, keys, st.booleans(), st.sampled_from(["alpaca", "query", "messages"]))
def test_conversations_written_as_rows_are_read_again(
    talk: list[tuple[str, str]], more: dict[str, str], instructed: bool, shape: str
) -> None:
    *before, (question, answer) = talk
    turns = [turn for pair in talk for turn in zip(("user", "assistant"), pair, strict=True)]
    row: dict[str, Any] = {"history": [list(pair) for pair in before]}
    if shape == "alpaca":
        row |= {"instruction": question, "input": "", "output": answer}
    elif shape == "query":
        row |= {"query": question, "response": answer}
    else:
        whole = [{"role": role, "content": text} for role, text in turns]
        row = {"prompt": whole[:-1], "completion": whole[-1:]}
    row = {**more, **row, **({"system": "Be brief."} if instructed and shape != "messages" else {})}
    conversation = only(row)
    assert words(conversation) == turns
    assert bool(asides(conversation)) == ("system" in row)


@pytest.mark.parametrize(
    ("row", "roles"),
    [
        ({"system_prompt": "Be brief.", "question": "Tea?", "response": "Yes."}, "user assistant"),
        ({"question": "Milk?", "answer": "No.", "chat_history": [ASKED, REPLY]}, "user assistant user assistant"),
        ({"message": "Milk?", "reply": "No.", "history": [ASKED, REPLY]}, "user assistant user assistant"),
        ({"question": "Milk?", "answer": "No.", "chat_history": "Human: Tea?"}, "user assistant"),
        ({"messages": [ASKED], "answer": "Yes."}, "user assistant"),
        ({"messages": [ASKED], "reply": "Yes."}, "user assistant"),
        ({"messages": [ASKED, REPLY], "answer": "two bags"}, "user assistant"),
        ({"messages": [ASKED, REPLY], "system_prompt": "Be brief."}, "user assistant"),
    ],
)
def test_a_history_an_answer_and_an_instruction_by_another_key_are_read(row, roles):
    (talk,) = load(file(row))
    assert [message.role for message in talk.messages] == roles.split()
    assert ["system" in aside for aside in talk.extra.get("asides", [])] == [True] * ("system_prompt" in row)
