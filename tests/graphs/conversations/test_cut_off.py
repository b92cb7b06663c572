"""Flawed replies, cut off, filtered, empty or refusing: rejected on both sides, except by the rules of a published script."""

from functools import partial
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from duologue.data.recllmsim import Situation
from duologue.data.simquac import Topic
from duologue.graphs import recllmsim, simquac
from duologue.nodes import Limits, every, validator
from duologue.nodes.validators import judges_flaws, not_empty
from tests.graphs.played import played

TOPIC = Topic(title="T", background="", header="H", section="Three keepers lived there. The last one left in 1968.")
TASK = {"task": "gift preparation", "task_context": "You want a present.", "preference": "1. Gender: Female"}
REFUSED = {"additional_kwargs": {"refusal": "I won't."}}
PLACES = {"user": "question_validator", "assistant": "answer_validator"}


def ended(reason):
    return {"response_metadata": {"finish_reason": reason}}


def replying(*lines):
    """A function whose answers are these messages in turn, the last one for ever."""
    left = [AIMessage(text, **about) for text, about in lines]
    return lambda messages: left.pop(0) if len(left) > 1 else left[0]


async def talk(cast, language="en", **limits):
    state = simquac.scenario(TOPIC) if language is None else recllmsim.scenario(Situation(language=language, **TASK))
    return await played(cast, state, Limits(**{"max_turns": 1} | limits))


def cut_once(build, language):
    """A cast each of whose sides has its first reply cut off."""
    texts = ("Who lived there?", "Three keepers") if language is None else ("A present?", "A fine book.")
    sides = [replying((text[: len(text) // 2], ended("length")), (text, ended("stop"))) for text in texts]
    return build(*sides, **({} if language is None else {"language": language}))


@pytest.mark.parametrize(("build", "language"), [(simquac.cast, None), (recllmsim.cast, "en"), (recllmsim.cast, "zh")])
async def test_a_draft_that_was_cut_off_is_rejected_on_both_sides_with_a_page_of_its_own(build, language):
    conversation = await talk(cut_once(build, language), language)
    assert len(conversation.messages) == 2
    for message in conversation.messages:
        first, second = message.attempts
        assert (first.verdict, first.reason, first.finish_reason) == ("rejected", "cut_off", "length")
        assert (second.verdict, second.finish_reason) == ("accepted", "stop")
        assert second.prompt.name == f"{message.role}/repair_cut_off"


@pytest.mark.parametrize(
    ("build", "language"),
    [(partial(simquac.cast, as_published=True), None), (partial(recllmsim.cast, as_published=True), "en")],
)
async def test_the_published_rules_know_no_cut(build, language):
    conversation = await talk(cut_once(build, language), language)
    published = [message for message in conversation.messages if message.stored]
    assert [message.role for message in published] == ["user", "assistant"]
    assert not any(attempt.reason == "cut_off" for attempt in conversation.attempts())
    assert published[0].attempts[0].finish_reason == "length"


@pytest.mark.parametrize(
    "first", [("Half a", ended("length")), ("", ended("max_tokens")), ("", ended("stop")), ("Half", ended("SAFETY"))]
)
@pytest.mark.parametrize("side", PLACES)
async def test_a_flawed_reply_passes_no_validator_of_ones_own_and_is_not_shown_to_it(first, side):
    shown = []
    looks = validator(lambda draft, state: shown.append(draft["text"]))
    for own in (looks, every(looks, looks), not_empty):
        cast = recllmsim.cast(**{side: replying(first, ("A fine book.", ended("stop")))}).replace(**{PLACES[side]: own})
        message = next(one for one in (await talk(cast)).messages if one.role == side)
        assert (message.text, [one.verdict for one in message.attempts]) == ("A fine book.", ["rejected", "accepted"])
        assert message.attempts[0].flaw == message.attempts[0].reason is not None
        assert (message.attempts[0].reason == "cut_off") == (first[1] in (ended("length"), ended("max_tokens")))
    assert set(shown) == {"A fine book."}


async def test_a_validator_that_judges_flaws_itself_is_shown_them():
    shown = []
    looks = validator(judges_flaws(lambda draft, state: shown.append(draft["text"])))
    for own in (looks, every(validator(lambda draft, state: None), looks)):
        cast = recllmsim.cast(assistant=replying(("Half a", ended("length")))).replace(answer_validator=own)
        answer = (await talk(cast)).messages[-1]
        assert (answer.text, answer.attempts[0].flaw) == ("Half a", "cut_off")
    assert shown == ["Half a"] * 2


async def test_a_users_refusal_is_asked_again_and_an_assistants_is_what_it_says():
    user = replying(("", REFUSED), ("A present?", {}))
    question, answered = (
        one for one in (await talk(recllmsim.cast(user, replying(("", REFUSED))))).messages if one.attempts
    )
    assert [(one.reason, one.flaw, one.text) for one in question.attempts] == [
        ("refusal", "refusal", "I won't."),
        (None, None, "A present?"),
    ]
    assert question.attempts[1].prompt.name == "user/repair_refusal"
    (attempt,) = answered.attempts
    assert (answered.text, attempt.verdict, attempt.notes) == ("I won't.", "accepted", ("refusal",))
    rude = validator(lambda draft, state: "rude" if "won't" in draft["text"] else None)
    cast = recllmsim.cast(assistant=replying(("", REFUSED), ("A fine book.", {}))).replace(answer_validator=rude)
    first, second = (await talk(cast)).messages[-1].attempts
    assert [(one.verdict, one.reason, one.notes) for one in (first, second)] == [
        ("rejected", "rude", ()), ("accepted", None, ())
    ]  # fmt: skip


@pytest.mark.parametrize("side", PLACES)
async def test_a_side_that_never_said_anything_is_a_failed_model_that_is_asked_again_later(side):
    conversation = await talk(recllmsim.cast(**{side: replying(("", ended("content_filter")), ("", ended("stop")))}))
    assert (conversation.stop, conversation.fault) == ("model_failed", "infrastructure")
    assert conversation.failure.node == {"user": "user_simulator", "assistant": "assistant"}[side]
    assert conversation.failure.error == "none of 4 replies had a text: 1 content_filter, 3 empty"
    assert not conversation.finished
    assert [turn.role for turn in conversation.unsaid] == [side]
    assert any(one.role == "user" for one in conversation.messages) == (side == "assistant")
    user = replying(("", ended("content_filter")), ("Assistant: Hello.", {}), ("", ended("stop")))
    once = await talk(recllmsim.cast(user), question_attempts=3)  # which has not failed
    assert once.stop in ("user_rejected", "max_turns")


@pytest.mark.parametrize(("text", "finish", "error"), [("It was", "length", "cut_off"), (" ", "stop", "empty")])
@pytest.mark.parametrize("bad", [1, 2])
async def test_an_answer_to_a_question_afterwards_that_is_flawed_is_asked_for_once_more(text, finish, error, bad):
    calls = []

    def reply(messages):
        prompt = messages[-1]["content"]
        if "The talk is over" not in prompt:
            return "A fine book."
        calls.append(prompt)
        return AIMessage(text, **ended(finish)) if len(calls) <= bad else AIMessage("It was fine.")

    conversation = await talk(recllmsim.cast(assistant=reply, post_questions=True))
    exchanges: Any = conversation.labels["post_questions"].value
    first, second, third = exchanges["assistant"]
    assert len(calls) == 3 + 1
    assert (first.get("error"), first["response"]) == ((error, None) if bad == 2 else (None, "It was fine."))
    assert second["response"] == third["response"] == "It was fine."
