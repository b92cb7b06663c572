"""SimQuAC and QuAC files as they are written: what the format cannot hold, numbers and nesting without end."""

import json
from pathlib import Path

import pytest

from duologue.data import DataError, Message, simquac
from duologue.data.grounding import NO_ANSWER
from tests.data.simquac.small_files import (
    again,
    answered,
    data_set,
    exactly,
    paragraph,
    qa,
    saved,
    talk,
)


def test_a_simulated_conversation_is_written_as_the_published_ones_are() -> None:
    refusal = Message(role="assistant", text=NO_ANSWER)
    value = again([talk(("How?", answered(("slowly", 9), ("It", 0))), ("Why?", refusal))])
    expected = paragraph(
        "It rises slowly.",
        qa("How?", ("slowly", 9), ("It", 0)),
        qa("Why?", ("CANNOTANSWER", 17)),
    )
    for number, question in enumerate(expected["qas"]):
        answers = question.pop("answers")
        question |= {"id": str(number + 1), "answers": answers, "is_impossible": number == 1}
    assert exactly(value) == exactly(data_set(expected))


def test_a_file_that_is_as_we_would_write_it_leaves_nothing_to_keep_besides() -> None:
    simquac.write([talk(("How?", answered(("slowly", 9)))), talk(("Why?", answered(("It", 0))))], "set.json")
    for conversation in simquac.read("set.json"):
        assert conversation.extra == {}
        assert [message.extra for message in conversation.messages] == [{}, {}]


def test_what_was_said_in_one_go_is_one_question_without_what_is_not_stored() -> None:
    question, answer = talk(("How?", answered(("slowly", 9)))).messages
    messages = (Message(role="user", text="Well."), Message(role="user", text="Hm.", stored=False), question, answer)
    value = again([talk().model_copy(update={"messages": messages})])
    assert [question["question"] for question in value["data"][0]["paragraphs"][0]["qas"]] == ["Well.\nHow?"]


def test_a_goodbye_that_is_not_stored_is_neither_written_nor_said_to_be_left_out() -> None:
    conversation = talk(("How?", answered(("slowly", 9))))
    goodbye = Message(role="user", text="Bye!", stored=False)
    ended = conversation.model_copy(update={"messages": (*conversation.messages, goodbye)})
    assert simquac.write([ended], "again.json") == []
    assert len(simquac.read("again.json")[0].messages) == 2


def test_what_the_format_cannot_hold_is_named_and_left_out() -> None:
    conversation = talk(("How?", answered(("slowly", 9))), ("Why?", Message(role="assistant", text="No idea.")))
    messages = (Message(role="assistant", text="Hello."), *conversation.messages, Message(role="user", text="Who?"))
    left_out = simquac.write([conversation.model_copy(update={"messages": messages})], "again.json")
    assert len(left_out) == 3
    assert "turn 0: a turn without a question" in left_out[0]
    assert "turn 2: an answer that is not a span" in left_out[1]
    assert "turn 3: a question without an answer" in left_out[2]
    (conversation_read,) = simquac.read("again.json")
    assert [message.text for message in conversation_read.messages] == ["How?", "slowly"]


def test_no_conversation_at_all_is_a_file_in_the_format() -> None:
    assert again([]) == {"data": [{"paragraphs": []}]}
    assert simquac.read("again.json") == []


@pytest.mark.parametrize("number", ["1e999", "-1e999"])
def test_a_number_too_large_to_be_written_again_is_refused_in_one_line(number: str) -> None:
    text = json.dumps(data_set(paragraph(note=0))).replace('"note": 0', f'"note": {number}')
    Path("set.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError):
        again(simquac.read("set.json"))


@pytest.mark.parametrize("depth", [50, 190])
def test_nesting_that_can_be_read_can_be_written_again(depth: int) -> None:
    deep = json.loads("[" * depth + "]" * depth)
    value = data_set(paragraph("It rises.", qa("How?", ("It", 0), note=deep), note=deep))
    assert again(simquac.read(saved(value))) == value


@pytest.mark.parametrize("depth", [201, 500, 900, 100_000])
def test_nesting_that_would_end_somewhere_in_the_middle_is_refused_in_one_line(depth: int) -> None:
    Path("set.json").write_text(f'{{"data": {"[" * depth + "]" * depth}}}', encoding="utf-8")
    with pytest.raises(DataError, match=r"^set\.json: is nested too deeply to be a data set, more than 200 levels"):
        simquac.read("set.json")


def test_a_file_that_was_there_is_whole_whatever_happens_while_writing() -> None:
    simquac.write([talk(("How?", answered(("slowly", 9))))], "again.json")
    before = Path("again.json").read_bytes()
    broken = talk().model_copy(update={"extra": {"paragraph": {"values": {"a": float("nan")}, "order": ["a"]}}})
    with pytest.raises(ValueError, match="JSON"):
        simquac.write([broken], "again.json")
    assert Path("again.json").read_bytes() == before
    assert [file.name for file in Path().iterdir()] == ["again.json"]
