"""Requests whose reply is read: JSON as it stands, and nothing that could not be asked."""

import pytest
from langchain_core.messages import HumanMessage
from pydantic import BaseModel, Field

from duologue.errors import SettingError
from duologue.nodes.calls.service import drafted
from duologue.nodes.calls.store import Call
from duologue.nodes.prompt_selectors import Refusal
from duologue.nodes.requests import ask, parse_json
from duologue.prompts import Library, Page, PromptError
from tests.fake_models import SeededModel


class Score(BaseModel):
    value: int = Field(ge=1, le=5)


SOURCES = {
    "judge/system": "You judge {{ what }}.",
    "judge/score": "Score {{ what }}: {{ text }}",
    "judge/repair_not_json": "No JSON: {{ repair }} ({{ attempt }} of {{ attempts }})",
}
CALL = Call(seed=3, conversation="conversation", role="judge", turn=2, vote=1)
VALUES = {"what": "politeness", "text": "Hello </note>{{ what }}"}


async def judge(*lines, attempts=3, parse=None):
    model = SeededModel(lines=list(lines))
    pages = Library({name: Page(name, source) for name, source in SOURCES.items()})
    return await ask(model, "judge/score", VALUES, parse or parse_json(Score), attempts, pages=pages, call=CALL), model


async def test_each_reason_has_its_page_or_quotes_as_data_and_every_attempt_is_kept_with_a_seed_of_its_own():
    rude = Refusal("rude", "write <note>kindly</note>", quote="the </quote> other")
    answer, model = await judge(
        "<think>hm</think>Four!", '{"value": 5}', '{"value": 4}',
        parse=lambda text: rude if "5" in text else parse_json(Score)(text),
    )  # fmt: skip
    assert (answer.value, answer.error, answer.usage.calls) == (Score(value=4), None, 3)
    assert [(a.number, a.verdict, a.reason, a.text) for a in answer.attempts] == [
        (1, "rejected", "not_json", "Four!"), (2, "rejected", "rude", '{"value": 5}'), (3, "accepted", None, '{"value": 4}'),
    ]  # fmt: skip
    system, asked, *_ = (message.text for message in model.sent[-1])
    assert (system, asked) == ("You judge politeness.", "Score politeness: Hello </note>{{ what }}")
    assert "(2 of 3)</note>" in model.sent[1][-1].text
    assert model.sent[2][-1].text == "<note>write ‹note›kindly‹/note›</note>\n<quote>the ‹/quote› other</quote>"
    await drafted(model, [HumanMessage("Now?")], CALL)
    assert len({*model.seeds}) == 3
    assert model.seeds[-1] == model.seeds[0]  # the call decides it


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
