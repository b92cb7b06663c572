"""SimQuAC and QuAC files as they are written: what the format cannot hold, numbers and nesting without end."""

from duologue.data import Message, simquac
from duologue.data.grounding import NO_ANSWER
from tests.data.simquac.small_files import (
    again,
    answered,
    data_set,
    exactly,
    paragraph,
    qa,
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


def test_what_was_said_in_one_go_is_one_question_without_what_is_not_stored() -> None:
    question, answer = talk(("How?", answered(("slowly", 9)))).messages
    messages = (Message(role="user", text="Well."), Message(role="user", text="Hm.", stored=False), question, answer)
    value = again([talk().model_copy(update={"messages": messages})])
    assert [question["question"] for question in value["data"][0]["paragraphs"][0]["qas"]] == ["Well.\nHow?"]


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
