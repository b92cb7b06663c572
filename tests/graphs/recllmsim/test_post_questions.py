"""Questions that the speakers of the RecLLMSim cast are asked afterwards."""

import json
from typing import Any

import pytest

from duologue.data.recllmsim import to_object
from duologue.data.recllmsim.dataset import from_object
from duologue.graphs import conversation, recllmsim, record
from duologue.nodes import Limits
from tests.graphs.recllmsim.conftest import ABOUT


async def test_those_who_spoke_are_asked_afterwards_also_when_they_were_swapped_in(play):
    conversation, user, assistant = await play(
        ["A present.", "Thank you, goodbye.", "Yes."], ["A book."], post_questions=True
    )
    assert len(user.seen) == 2 + 5
    assert len(assistant.seen) == 1 + 3
    assert conversation.labels["post_questions"]["assistant"][-1]["response"] == "A book."
    assert [m.text for m in conversation.messages] == ["A present.", "A book.", "Thank you, goodbye."]


async def test_post_questions_are_independent_and_counted_apart():
    cast = recllmsim.cast(post_questions=True)
    conversation_record = record(
        await conversation(cast).ainvoke(recllmsim.scenario(ABOUT), context=Limits(max_turns=2))
    )
    post_questions: Any = conversation_record.labels["post_questions"]
    assert {role: len(exchanges) for role, exchanges in post_questions.items()} == {"assistant": 3, "user": 5}
    exchanges = [exchange for of_role in post_questions.values() for exchange in of_role]
    assert all(set(exchange) == {"query", "response"} and exchange["response"] for exchange in exchanges)
    spent = conversation_record.closing_usage.tokens
    plain = record(await conversation(recllmsim.cast()).ainvoke(recllmsim.scenario(ABOUT), context=Limits(max_turns=2)))
    assert spent > 0
    assert sum(message.usage.tokens for message in conversation_record.messages) == plain.usage.tokens
    assert conversation_record.usage == plain.usage + conversation_record.closing_usage
    in_file = json.loads(json.dumps(to_object(conversation_record)))
    assert in_file["post_questions"] == post_questions
    assert from_object(in_file, "1.json").labels["post_questions"] == post_questions


async def test_a_question_that_fails_says_why_and_the_others_are_asked():
    calls = []

    def reply(messages):
        calls.append(messages[-1]["content"])
        if "The talk is over" in messages[-1]["content"] and "specific" in messages[-1]["content"]:
            raise RuntimeError("no answer today")
        return "A book."

    cast = recllmsim.cast(assistant=reply, post_questions=True)
    conversation_record = record(
        await conversation(cast).ainvoke(recllmsim.scenario(ABOUT), context=Limits(max_turns=1))
    )
    exchanges: Any = conversation_record.labels["post_questions"]
    (failed,) = [one for of_role in exchanges.values() for one in of_role if "error" in one]
    assert "specific" in failed["query"]
    assert failed["response"] is None
    assert "no answer today" in failed["error"]
    assert conversation_record.stop == "max_turns"
    assert conversation_record.failure is None
    assert not any("A book." in text for text in calls[1:])  # what was answered before is not in the next question


async def test_further_questions_for_afterwards_are_a_page_each(tmp_path):
    (tmp_path / "user").mkdir()
    (tmp_path / "user/post_again.md").write_text("Would you come again?")
    cast = recllmsim.cast(prompts=tmp_path, post_questions=True)
    conversation_record = record(await conversation(cast).ainvoke(recllmsim.scenario(ABOUT), context=Limits()))
    exchanges: Any = conversation_record.labels["post_questions"]
    assert "Would you come again?" in {exchange["query"] for exchange in exchanges["user"]}
    (tmp_path / "user/post_again.md").write_text("Would {{ name }} come again?")
    with pytest.raises(ValueError, match="template variable"):
        recllmsim.cast(prompts=tmp_path)
