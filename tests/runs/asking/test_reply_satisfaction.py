"""Replies judged by a model: what it is shown, what is kept, and when it is not asked any more."""

import json
from pathlib import Path
from typing import Any

import pytest

from duologue.data import Conversation, Message
from duologue.errors import DataError, SettingError
from duologue.nodes.models.scripted import ScriptedModel
from duologue.prompts import PromptError
from duologue.runs.asking.questions import GIVE_UP
from duologue.runs.asking.reply_satisfaction import JudgedReply, SatisfactionReply, judging
from duologue.runs.loop import blocking
from duologue.testing import scripted_model

FOUR = '{"reason": "Good.", "value": "4"}'


def judge_replies(
    model: Any, replies: list[JudgedReply], page: str | None = None, **settings: Any
) -> list[SatisfactionReply]:
    return blocking(judging(model, replies, page).answers(**settings))


@pytest.fixture
def talk() -> Conversation:
    texts = ["Where is the pier?", "In the east.", "Wrong!", "In the west."]
    messages = [
        Message(
            role="assistant" if place % 2 else "user", text=text, labels={"satisfaction": "SECRET"} if place % 2 else {}
        )
        for place, text in enumerate(texts)
    ]
    scenario = {"kind": "plain", "goal": "Find the pier", "success": "solved"}
    return Conversation(id="one", scenario=scenario, messages=tuple(messages))


def test_a_judge_is_shown_the_scenario_and_nothing_after_the_reply(talk: Conversation) -> None:
    model = scripted_model(FOUR, by_call=True)
    (reply,) = judge_replies(model, [JudgedReply(talk, 1)])
    assert (reply.points, reply.reason, reply.error) == (4, "Good.", "")
    (sent,) = model.texts
    assert "Find the pier" in sent
    assert "In the east." in sent
    assert not [word for word in ("Wrong!", "west", "SECRET", "solved") if word in sent]


def test_replies_that_cannot_be_read_are_kept_too(talk: Conversation, tmp_path: Path) -> None:
    answers_file, replies = tmp_path / "kept.jsonl", [JudgedReply(talk, 1)]
    model = scripted_model("Hm.", "Hm.", "Hm.", by_call=True)
    for _ in range(2):
        (reply,) = judge_replies(model, replies, answers_file=answers_file)
        assert reply.points is None
        assert reply.error == "the judge gave no judgement: not_json: Invalid JSON: expected value at line 1 column 1"
    assert len(model.sent) == 3


def test_what_is_kept_is_not_asked_again_and_a_failure_is(talk: Conversation, tmp_path: Path) -> None:
    answers_file = tmp_path / "kept.jsonl"
    replies = [JudgedReply(talk, 1), JudgedReply(talk, 2)]
    model = scripted_model(FOUR, "Hm.", "Hm.", ValueError("away"), FOUR, by_call=True)
    first = judge_replies(model, replies, answers_file=answers_file, concurrency=1)
    assert [reply.points for reply in first] == [4, None]
    assert first[1].error == "the judge gave no judgement: ValueError: away"
    assert len(model.sent) == 4
    assert [reply.points for reply in judge_replies(model, replies, answers_file=answers_file, concurrency=1)] == [4, 4]
    assert len(model.sent) == 5
    assert [reply.points for reply in judge_replies(ScriptedModel(lines=[]), replies, answers_file=answers_file)] == [
        4,
        4,
    ]
    assert len(answers_file.read_text().splitlines()) == 3


def test_equal_questions_are_asked_once(talk: Conversation) -> None:
    again = talk.model_copy(update={"id": "two", "messages": talk.messages[:2]})
    model = scripted_model(FOUR, by_call=True)
    assert [reply.points for reply in judge_replies(model, [JudgedReply(talk, 1), JudgedReply(again, 1)])] == [4, 4]
    assert len(model.sent) == 1


def test_another_page_is_another_question(talk: Conversation, tmp_path: Path) -> None:
    answers_file = tmp_path / "kept.jsonl"
    model = scripted_model(FOUR, '{"reason": "", "value": "2"}', by_call=True)
    assert judge_replies(model, [JudgedReply(talk, 1)], answers_file=answers_file)[0].points == 4
    assert judge_replies(model, [JudgedReply(talk, 1)], answers_file=answers_file, page="How kind?")[0].points == 2
    assert "How kind?" in model.texts[-1]


def test_a_model_that_fails_throughout_is_not_asked_for_ever(talk: Conversation) -> None:
    messages = talk.messages * 20
    long = talk.model_copy(update={"messages": messages})
    model = scripted_model(*["Hm."] * 3 * GIVE_UP, by_call=True)
    opinions = judge_replies(model, [JudgedReply(long, turn) for turn in range(1, 31)], concurrency=1)
    assert len(model.sent) == 3 * GIVE_UP
    assert [one.error for one in opinions[GIVE_UP:]] == [f"not asked: {GIVE_UP} calls in a row failed"] * 20


def test_the_offline_model_a_reply_that_is_not_there_and_another_file_are_refused(
    talk: Conversation, tmp_path: Path
) -> None:
    with pytest.raises(SettingError, match="offline model cannot judge"):
        judge_replies("offline", [JudgedReply(talk, 1)])
    with pytest.raises(DataError, match="conversation one has no reply 3"):
        judge_replies(scripted_model(FOUR, by_call=True), [JudgedReply(talk, 3)])
    with pytest.raises(PromptError, match="secret"):
        judge_replies(
            scripted_model(FOUR, by_call=True), [JudgedReply(talk, 1), JudgedReply(talk, 2)], page="{{ secret }}?"
        )
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps({"no": "opinion"}) + "\n")
    with pytest.raises(DataError, match="is not an opinion of a judge"):
        judge_replies(scripted_model(FOUR, by_call=True), [JudgedReply(talk, 1)], answers_file=other)
