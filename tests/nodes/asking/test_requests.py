"""Asking until an answer can be used: repaired by reason, bounded, every attempt kept."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from pydantic import BaseModel, Field

from duologue.data.identity import call_seed
from duologue.errors import SettingError
from duologue.nodes import Call, Refusal, RequestAnswer, ask, parse_json
from duologue.nodes.asking.requests import asked_of
from duologue.nodes.calls.service import drafted
from duologue.prompts import Library, Page, PromptError
from tests.fake_models import SeededModel


class Score(BaseModel):
    value: int = Field(ge=1, le=5)
    why: str = ""


SOURCES = {
    "judge/system": "You judge {{ what }}.",
    "judge/score": "Score {{ what }}: {{ text }}",
    "judge/repair_not_json": "No JSON: {{ repair }} ({{ attempt }} of {{ attempts }})",
    "judge/repair_other": "Mend it: {{ repair }} ({{ attempt }} of {{ attempts }})",
}
CALL = Call(seed=3, conversation="conversation", role="judge", turn=2, vote=1)
VALUES = {"what": "politeness", "text": "Hello </note>{{ what }}"}


def library(*without):
    return Library({name: Page(name, source) for name, source in SOURCES.items() if name not in without})


def plain(calls):
    """Role and text of each message of each call."""
    return [[(message.type, message.text) for message in messages] for messages in calls]


async def judge(*lines, attempts=3, pages=None, parse=None):
    model = SeededModel(lines=list(lines))
    pages = pages or library()
    return await ask(model, "judge/score", VALUES, parse or parse_json(Score), attempts, pages=pages, call=CALL), model


async def test_a_reply_that_can_be_read_is_the_answer():
    answer, model = await judge('{"value": 4}')
    assert (answer.value, answer.error) == (Score(value=4), None)
    assert plain(model.sent) == [
        [("system", "You judge politeness."), ("human", "Score politeness: Hello </note>{{ what }}")]
    ]
    (attempt,) = answer.attempts
    assert (attempt.verdict, attempt.prompt.name, attempt.usage.tokens) == ("accepted", "judge/score", 7)


async def test_each_reason_has_its_page_and_every_attempt_is_kept():
    answer, model = await judge("<think>hm</think>Four!", '{"value": 9}', '{"value": 5, "why": "kind"}')
    assert answer.value == Score(value=5, why="kind")
    assert [(a.number, a.verdict, a.reason) for a in answer.attempts] == [
        (1, "rejected", "not_json"), (2, "rejected", "wrong_shape"), (3, "accepted", None)
    ]  # fmt: skip
    assert [a.prompt.name for a in answer.attempts] == ["judge/score", "judge/repair_not_json", "judge/repair_other"]
    assert (answer.attempts[0].raw, answer.attempts[0].cleaned) == ("<think>hm</think>Four!", ("reasoning",))
    assert (answer.usage.calls, answer.usage.tokens) == (3, 21)
    (last,) = plain(model.sent[-1:])
    assert [role for role, _ in last] == ["system", "human", "ai", "human", "ai", "human"]
    assert [text for role, text in last if role == "ai"] == ["Four!", '{"value": 9}']
    assert last[3][1].startswith("<note>No JSON: Invalid JSON")
    assert "(2 of 3)</note>" in last[3][1]
    assert last[5][1].startswith("<note>Mend it: value: Input should be less than or equal to 5.")


async def test_each_attempt_has_a_seed_of_its_own_that_the_call_decides():
    _, model = await judge("a", "b", "c")
    assert model.seeds == [call_seed(3, "conversation", "judge", 2, number, 1) for number in (1, 2, 3)]
    assert len(set(model.seeds)) == 3
    await drafted(model, [HumanMessage("Now?")], CALL)
    assert model.seeds[-1] == model.seeds[0]


async def test_after_its_attempts_there_is_no_value_and_no_further_call():
    answer, model = await judge("a", "b", '{"value": 1}', attempts=2)
    assert (answer.value, answer.error, len(answer.attempts), len(model.sent)) == (None, None, 2, 2)


async def test_a_failing_model_is_told_in_one_line_and_what_was_tried_is_kept():
    answer, _ = await judge("a", RuntimeError("no\nmore for sk-abcdefgh"))
    assert (answer.value, answer.error) == (None, "RuntimeError: no more for [key]")
    assert [attempt.text for attempt in answer.attempts] == ["a"]


async def test_a_library_without_pages_of_reasons_repairs_with_the_reasons_words():
    refusal = Refusal("rude", "write <note>kindly</note>")
    answer, model = await judge(
        "a", "b", attempts=2, pages=library("judge/repair_other"), parse=lambda text: refusal if text == "a" else text
    )
    assert answer.value == "b"
    assert plain(model.sent)[1][-1] == ("human", "<note>write ‹note›kindly‹/note›</note>")


async def test_words_that_a_refusal_quotes_are_sent_behind_its_page():
    refusal = Refusal("like_another", "too <note>like", quote="the </quote> other")
    _, model = await judge("a", "b", attempts=2, parse=lambda text: refusal)
    assert model.sent[1][-1].text == "<note>Mend it: too ‹note›like (2 of 2)</note>\n<quote>the ‹/quote› other</quote>"


async def test_a_page_that_cannot_be_filled_is_said_before_anybody_is_asked():
    model = SeededModel(lines=[])
    with pytest.raises(PromptError, match="judge/score"):
        await ask(model, "judge/score", {"what": "x"}, str, pages=library(), call=CALL)
    assert model.sent == []


@pytest.mark.parametrize("attempts", [0, 2])
async def test_attempts_that_nothing_can_make_are_refused(attempts):
    async def reply(prompt, tried):
        return {"text": "a"}

    with pytest.raises(SettingError, match="attempts must be at least 1"):
        await asked_of(reply, {"name": "a", "digest": "", "text": ""}, str, attempts=attempts)


async def test_a_draft_that_no_record_can_hold_is_told_as_a_failure():
    async def reply(prompt, tried):
        return {"text": "a", "usage": {"tokens": "many"}}

    answer: RequestAnswer[str] = await asked_of(reply, {"name": "a", "digest": "", "text": ""}, str)
    assert answer.error.startswith("ValidationError")


async def test_a_reply_that_was_cut_off_is_refused_though_it_could_be_read():
    lines = [
        {"text": "All of it, bu", "finish_reason": "length", "model": "m", "reasoning": "hm", "kept": {"n": 1}},
        {"text": "All of it.", "finish_reason": "stop", "tool_calls": [{"name": "look_up", "result": "12"}]},
    ]

    async def reply(prompt, tried):
        return lines[len(tried)]

    def repair(refusal, attempt):
        return {"name": refusal.reason, "digest": "", "text": refusal.repair}

    answer: RequestAnswer[str] = await asked_of(reply, {"name": "a", "digest": "", "text": ""}, str, repair, 2)
    first, second = answer.attempts
    assert answer.value == "All of it."
    assert (first.verdict, first.reason, first.finish_reason, first.model) == ("rejected", "cut_off", "length", "m")
    assert (first.reasoning, first.kept) == ("hm", {"n": 1})
    assert (second.finish_reason, second.tool_calls[0].result) == ("stop", "12")
    assert second.prompt.name == "cut_off"
    assert "too long" in second.prompt.text


async def test_a_cut_off_reply_is_repaired_with_its_own_page_if_there_is_one():
    pages = Library({name: Page(name, text) for name, text in (SOURCES | {"judge/repair_cut_off": "Shorter."}).items()})
    cut_off = AIMessage('{"value": 4}', response_metadata={"finish_reason": "length"})
    answer, model = await judge(cut_off, '{"value": 5}', pages=pages)
    assert answer.value == Score(value=5)
    assert plain(model.sent)[1][-1] == ("human", "<note>Shorter.</note>")


@pytest.mark.parametrize("text", ['{"value": 3}', '\n```json\n{"value": 3}\n```\n', '```\n{"value": 3}```'])
def test_json_is_read_with_a_fence_around_the_whole(text):
    assert parse_json(Score)(text) == Score(value=3)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not_json"),
        ("Sure! {}", "not_json"),
        ('{"value": 3', "not_json"),
        ('Here:\n```json\n{"value": 3}\n```', "not_json"),
        ('{"value": "3"}', "wrong_shape"),
        ('{"value": 3.5}', "wrong_shape"),
        ("{}", "wrong_shape"),
        ("[3]", "wrong_shape"),
    ],
)
def test_nothing_is_guessed_of_other_replies(text, reason):
    refusal = parse_json(Score)(text)
    assert refusal.reason == reason
    assert refusal.repair
    assert "\n" not in refusal.repair
