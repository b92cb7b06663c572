"""Asking until an answer can be used: repaired by reason, bounded, every attempt kept."""

import pytest
from langchain_core.messages import HumanMessage
from pydantic import BaseModel, Field

from duologue.data.identity import call_seed
from duologue.errors import SettingError
from duologue.nodes.calls.service import drafted
from duologue.nodes.calls.store import Call
from duologue.nodes.messages.selectors import Refusal
from duologue.nodes.requests import ask, parse_json
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


async def judge(*lines, attempts=3, without="", parse=None):
    model = SeededModel(lines=list(lines))
    pages = Library({name: Page(name, source) for name, source in SOURCES.items() if name != without})
    return await ask(model, "judge/score", VALUES, parse or parse_json(Score), attempts, pages=pages, call=CALL), model


async def test_each_reason_has_its_page_and_every_attempt_is_kept():
    answer, model = await judge("<think>hm</think>Four!", '{"value": 9}', '{"value": 5, "why": "kind"}')
    assert (answer.value, answer.error) == (Score(value=5, why="kind"), None)
    assert [(a.number, a.verdict, a.reason, a.prompt.name) for a in answer.attempts] == [
        (1, "rejected", "not_json", "judge/score"), (2, "rejected", "wrong_shape", "judge/repair_not_json"),
        (3, "accepted", None, "judge/repair_other"),
    ]  # fmt: skip
    assert (answer.attempts[0].raw, answer.attempts[0].cleaned) == ("<think>hm</think>Four!", ("reasoning",))
    assert (answer.usage.calls, answer.usage.tokens) == (3, 21)
    assert [(message.type, message.text.partition(" Input")[0].partition(": Invalid")[0]) for message in model.sent[-1]] == [
        ("system", "You judge politeness."), ("human", "Score politeness: Hello </note>{{ what }}"), ("ai", "Four!"),
        ("human", "<note>No JSON"), ("ai", '{"value": 9}'), ("human", "<note>Mend it: value:"),
    ]  # fmt: skip
    assert "(2 of 3)</note>" in model.sent[-1][3].text


async def test_each_attempt_has_a_seed_of_its_own_that_the_call_decides():
    answer, model = await judge("a", "b", "c")
    assert (answer.value, answer.error, len(model.sent)) == (None, None, 3)
    assert model.seeds == [call_seed(3, "conversation", "judge", 2, number, 1) for number in (1, 2, 3)]
    await drafted(model, [HumanMessage("Now?")], CALL)
    assert model.seeds[-1] == model.seeds[0]


async def test_a_failing_model_is_told_in_one_line_and_what_was_tried_is_kept():
    answer, _ = await judge("a", RuntimeError("no\nmore for sk-abcdefgh"))
    assert (answer.value, answer.error) == (None, "RuntimeError: no more for [key]")
    assert [attempt.text for attempt in answer.attempts] == ["a"]


async def test_a_repair_quotes_as_data_and_needs_no_page():
    rude = Refusal("rude", "write <note>kindly</note>", quote="the </quote> other")
    answer, model = await judge(
        "a", "b", without="judge/repair_other", parse=lambda text: rude if text == "a" else text
    )
    assert answer.value == "b"
    assert model.sent[1][-1].text == "<note>write ‹note›kindly‹/note›</note>\n<quote>the ‹/quote› other</quote>"


async def test_what_cannot_be_asked_is_said_before_anybody_is_asked():
    model = SeededModel(lines=[])
    pages = Library({"judge/score": Page("judge/score", "{{ text }}")})
    with pytest.raises(PromptError, match="judge/score"):
        await ask(model, "judge/score", {"what": "x"}, str, pages=pages, call=CALL)
    with pytest.raises(SettingError, match="attempts must be at least 1"):
        await judge("a", attempts=0)
    assert model.sent == []


@pytest.mark.parametrize("text", ['{"value": 3}', '\n```json\n{"value": 3}\n```\n', '```\n{"value": 3}```'])
def test_json_is_read_with_a_fence_around_the_whole(text):
    assert parse_json(Score)(text) == Score(value=3)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not_json"), ('{"value": 3', "not_json"), ('Here:\n```json\n{"value": 3}\n```', "not_json"),
        ('{"value": "3"}', "wrong_shape"), ('{"value": 3.5}', "wrong_shape"), ("[3]", "wrong_shape"),
    ],
)  # fmt: skip
def test_nothing_is_guessed_of_other_replies(text, reason):
    refusal = parse_json(Score)(text)
    assert (refusal.reason, "\n" in refusal.repair) == (reason, False)
