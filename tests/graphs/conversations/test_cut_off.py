"""A reply that its endpoint cut off by length is rejected, except by the rules of a published script."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from duologue.data.recllmsim import Situation
from duologue.data.simquac import Topic
from duologue.data.stop_reasons import is_finished
from duologue.graphs import conversation, recllmsim, simquac
from duologue.nodes import Limits, every, validator
from duologue.nodes.contract import ContractError
from duologue.nodes.validators import accept_all, judges_flaws
from duologue.prompts import shipped
from tests.graphs.played import played

TOPIC = Topic(title="T", background="", header="H", section="Three keepers lived there. The last one left in 1968.")
TASK = {"task": "gift preparation", "task_context": "You want a present.", "preference": "1. Gender: Female"}


def cut_once(text):
    """A function whose first answer is cut off."""
    answers = [AIMessage(text[: len(text) // 2], response_metadata={"finish_reason": "length"})]
    return lambda messages: answers.pop() if answers else AIMessage(text, response_metadata={"finish_reason": "stop"})


def cast_of(build, language=None):
    settings = {} if language is None else {"language": language}
    question, answer = ("Who lived there?", "Three keepers") if language is None else ("A present?", "A fine book.")
    return build(cut_once(question), cut_once(answer), **settings)


def state_of(language):
    if language is None:
        return simquac.scenario(TOPIC)
    return recllmsim.scenario(Situation(language=language, **TASK))


async def talk(cast, language="en", **limits):
    return await played(cast, state_of(language), Limits(**{"max_turns": 1} | limits))


@pytest.mark.parametrize(("build", "language"), [(simquac.cast, None), (recllmsim.cast, "en"), (recllmsim.cast, "zh")])
async def test_a_draft_that_was_cut_off_is_rejected_on_both_sides_with_a_page_of_its_own(build, language):
    conversation = await talk(cast_of(build, language), language)
    for message in conversation.messages:
        first, second = message.attempts
        assert (first.verdict, first.reason, first.finish_reason) == ("rejected", "cut_off", "length")
        assert (second.verdict, second.finish_reason) == ("accepted", "stop")
        assert second.prompt.name == f"{message.role}/repair_cut_off"
    pages = shipped("simquac") if language is None else shipped("recllmsim", language)
    assert "{{ attempt }}" in pages["user/repair_cut_off"].source


@pytest.mark.parametrize(("build", "language"), [(simquac.as_published, None), (recllmsim.as_published, "en")])
async def test_the_published_rules_know_no_cut(build, language):
    conversation = await talk(cast_of(build, language), language)
    published = [message for message in conversation.messages if message.stored]
    assert [message.role for message in published] == ["user", "assistant"]
    assert not any(attempt.reason == "cut_off" for attempt in conversation.attempts())
    assert published[0].attempts[0].finish_reason == "length"


@pytest.mark.parametrize("reason", ["max_tokens", "length"])
async def test_a_reply_that_is_empty_because_it_was_cut_off_is_called_cut_off(reason):
    about = {"finish_reason": reason}
    cast = recllmsim.cast("offline", lambda messages: AIMessage("", response_metadata=about))
    conversation_record = await talk(cast, answer_attempts=1)
    assert {attempt.reason for attempt in conversation_record.attempts("assistant")} == {"cut_off"}


def replying(*lines):
    """A function whose answers are these messages in turn."""
    left = [AIMessage(text, **about) for text, about in lines]
    return lambda messages: left.pop(0) if len(left) > 1 else left[0]


def ended(reason):
    return {"response_metadata": {"finish_reason": reason}}


REFUSED = {"additional_kwargs": {"refusal": "I won't."}}


def observing(judge):
    """A validator of one's own, and what it was shown."""
    shown = []

    def looks(draft, state):
        shown.append(draft["text"])
        return judge(draft)

    return looks, shown


@pytest.mark.parametrize("first", [("Half a", ended("length")), ("", ended("stop")), ("Half", ended("SAFETY"))])
@pytest.mark.parametrize("side", ["user", "assistant"])
async def test_a_flawed_reply_passes_no_validator_of_ones_own(first, side):
    looks, shown = observing(lambda draft: None)
    place = {"user": "question_validator", "assistant": "answer_validator"}[side]
    for own in (validator(looks), every(validator(looks), validator(looks)), accept_all):
        cast = recllmsim.cast(**{side: replying(first, ("A fine book.", ended("stop")))}).replace(**{place: own})
        conversation_record = await talk(cast)
        message = next(one for one in conversation_record.messages if one.role == side)
        assert (message.text, [one.verdict for one in message.attempts]) == ("A fine book.", ["rejected", "accepted"])
        assert message.attempts[0].flaw == message.attempts[0].reason is not None
    assert set(shown) == {"A fine book."}


async def test_a_validator_that_judges_flaws_itself_is_shown_them():
    looks, shown = observing(lambda draft: None)
    cast = recllmsim.cast(assistant=replying(("Half a", ended("length")))).replace(
        answer_validator=validator(judges_flaws(looks))
    )
    conversation_record = await talk(cast)
    assert (conversation_record.messages[-1].text, shown) == ("Half a", ["Half a"])
    assert conversation_record.messages[-1].attempts[0].flaw == "cut_off"


@pytest.mark.parametrize("reply", [{}, REFUSED])
async def test_a_validator_that_answers_with_no_update_is_named_whatever_it_was_shown(reply):
    async def own(state, runtime):
        return "accepted"

    cast = recllmsim.cast(assistant=replying(("A fine book.", reply))).replace(answer_validator=own)
    with pytest.raises(ContractError, match=r"answer_validator.*str"):
        await conversation(cast).ainvoke(state_of("en"), context=Limits(max_turns=1))


async def test_a_users_refusal_is_asked_again_and_an_assistants_is_what_it_says():
    user = replying(("", REFUSED), ("A present?", {}))
    cast = recllmsim.cast(user, replying(("", REFUSED)))
    conversation_record = await talk(cast)
    question, answered = (one for one in conversation_record.messages if one.attempts)
    assert [(one.reason, one.flaw, one.text) for one in question.attempts] == [
        ("refusal", "refusal", "I won't."),
        (None, None, "A present?"),
    ]
    assert question.attempts[1].prompt.name == "user/repair_refusal"
    (attempt,) = answered.attempts
    assert (answered.text, attempt.verdict, attempt.flaw, attempt.notes) == (
        "I won't.",
        "accepted",
        "refusal",
        ("refusal",),
    )


async def test_a_refusal_that_a_validator_rejects_is_rejected_for_its_reason_alone():
    cast = recllmsim.cast(assistant=replying(("", REFUSED), ("A fine book.", {}))).replace(
        answer_validator=validator(lambda draft, state: "rude" if "won't" in draft["text"] else None)
    )
    conversation_record = await talk(cast)
    first, second = conversation_record.messages[-1].attempts
    assert (first.verdict, first.reason, first.notes) == ("rejected", "rude", ())
    assert (second.verdict, second.notes) == ("accepted", ())


@pytest.mark.parametrize("side", ["user", "assistant"])
async def test_a_side_that_never_said_anything_is_a_failed_model_that_is_asked_again_later(side):
    cast = recllmsim.cast(**{side: replying(("", ended("content_filter")), ("", ended("stop")))})
    conversation_record = await talk(cast)
    assert (conversation_record.stop, conversation_record.fault) == ("model_failed", "infrastructure")
    assert conversation_record.failure.node == {"user": "user_simulator", "assistant": "assistant"}[side]
    assert conversation_record.failure.error == "none of 4 replies had a text: 1 content_filter, 3 empty"
    assert not is_finished(conversation_record.stop, conversation_record.fault)
    assert [turn.role for turn in conversation_record.unsaid] == [side]
    assert any(one.role == "user" for one in conversation_record.messages) == (side == "assistant")


async def test_a_side_that_said_something_once_in_its_turn_has_not_failed():
    user = replying(("", ended("content_filter")), ("Assistant: Hello.", {}), ("", ended("stop")))
    conversation_record = await talk(recllmsim.cast(user), question_attempts=3)
    assert conversation_record.stop in ("user_rejected", "max_turns")


async def test_the_offline_model_is_never_cut_off():
    conversation_record = await talk(simquac.cast(), None, max_turns=2)
    assert {attempt.finish_reason for attempt in conversation_record.attempts()} == {None}
    assert {attempt.model for attempt in conversation_record.attempts()} == {"offline"}


@pytest.mark.parametrize(("text", "finish", "error"), [("It was", "length", "cut_off"), (" ", "stop", "empty")])
@pytest.mark.parametrize("bad", [1, 2])
async def test_an_answer_to_a_question_afterwards_that_is_cut_off_or_empty_is_asked_for_once_more(
    text, finish, error, bad
):
    calls = []

    def reply(messages):
        prompt = messages[-1]["content"]
        if "The talk is over" not in prompt:
            return "A fine book."
        calls.append(prompt)
        cut = AIMessage(
            text,
            response_metadata={"finish_reason": finish},
            usage_metadata={"input_tokens": 3, "output_tokens": 1, "total_tokens": 4},
        )
        return cut if len(calls) <= bad else AIMessage("It was fine.")

    cast = recllmsim.cast(assistant=reply, post_questions=True)
    conversation_record = await talk(cast)
    exchanges: Any = conversation_record.labels["post_questions"]
    first, second, third = exchanges["assistant"]
    assert len(calls) == 3 + 1
    assert (first.get("error"), first["response"]) == ((error, None) if bad == 2 else (None, "It was fine."))
    assert second["response"] == third["response"] == "It was fine."
