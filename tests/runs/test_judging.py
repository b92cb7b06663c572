"""Replies judged by a model: what it is shown, what is kept, and when it is not asked any more."""

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from duologue.data import Conversation, Message
from duologue.errors import DataError, SettingError
from duologue.nodes.models.scripted import ScriptedModel
from duologue.prompts import PromptError
from duologue.runs.asking import GIVE_UP
from duologue.runs.judging import Reply, judge_replies

FOUR = '{"reason": "Good.", "value": "4"}'


class Heard(ScriptedModel):
    """Says its lines, one for each call, and keeps what it was sent."""

    sent: list[str] = []  # noqa: RUF012 - a field of pydantic

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        self.sent.append("\n".join(message.text for message in messages))
        line = self.lines[len(self.sent) - 1]
        return ChatResult(generations=[ChatGeneration(message=AIMessage(str(line)))])


@pytest.fixture
def talk() -> Conversation:
    said = ["Where is the pier?", "In the east.", "Wrong!", "In the west."]
    messages = [
        Message(
            role="assistant" if place % 2 else "user", text=text, labels={"satisfaction": "SECRET"} if place % 2 else {}
        )
        for place, text in enumerate(said)
    ]
    scenario = {"kind": "plain", "goal": "Find the pier", "success": "solved"}
    return Conversation(id="one", scenario=scenario, messages=tuple(messages))


def test_a_judge_is_shown_the_scenario_and_nothing_after_the_reply(talk: Conversation) -> None:
    model = Heard(lines=[FOUR])
    (said,) = judge_replies(model, [Reply(talk, 1)])
    assert (said.points, said.reason, said.error) == (4, "Good.", "")
    (sent,) = model.sent
    assert "Find the pier" in sent
    assert "In the east." in sent
    assert not [word for word in ("Wrong!", "west", "SECRET", "solved") if word in sent]


def test_what_is_kept_is_not_asked_again_and_a_failure_is(talk: Conversation, tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    replies = [Reply(talk, 1), Reply(talk, 2)]
    model = Heard(lines=[FOUR, "Hm.", "Hm.", "Hm.", FOUR])
    first = judge_replies(model, replies, kept=kept, concurrency=1)
    assert [said.points for said in first] == [4, None]
    assert first[1].error == "the judge gave no judgement: not_json: Invalid JSON: expected value at line 1 column 1"
    assert len(model.sent) == 4
    assert [said.points for said in judge_replies(model, replies, kept=kept, concurrency=1)] == [4, 4]
    assert len(model.sent) == 5
    assert [said.points for said in judge_replies(Heard(lines=[]), replies, kept=kept)] == [4, 4]
    assert len(kept.read_text().splitlines()) == 3


def test_equal_questions_are_asked_once(talk: Conversation) -> None:
    again = talk.model_copy(update={"id": "two", "messages": talk.messages[:2]})
    model = Heard(lines=[FOUR])
    assert [said.points for said in judge_replies(model, [Reply(talk, 1), Reply(again, 1)])] == [4, 4]
    assert len(model.sent) == 1


def test_another_page_is_another_question(talk: Conversation, tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    model = Heard(lines=[FOUR, '{"reason": "", "value": "2"}'])
    assert judge_replies(model, [Reply(talk, 1)], kept=kept)[0].points == 4
    assert judge_replies(model, [Reply(talk, 1)], kept=kept, page="How kind?")[0].points == 2
    assert "How kind?" in model.sent[-1]


def test_a_model_that_fails_throughout_is_not_asked_for_ever(talk: Conversation) -> None:
    messages = talk.messages * 20
    long = talk.model_copy(update={"messages": messages})
    model = Heard(lines=["Hm."] * 3 * GIVE_UP)
    said = judge_replies(model, [Reply(long, turn) for turn in range(1, 31)], concurrency=1)
    assert len(model.sent) == 3 * GIVE_UP
    assert [one.error for one in said[GIVE_UP:]] == [f"not asked: {GIVE_UP} calls in a row failed"] * 20


def test_the_offline_model_a_reply_that_is_not_there_and_another_file_are_refused(
    talk: Conversation, tmp_path: Path
) -> None:
    with pytest.raises(SettingError, match="offline model can only speak"):
        judge_replies("offline", [Reply(talk, 1)])
    with pytest.raises(DataError, match="conversation one has no reply 3"):
        judge_replies(Heard(lines=[FOUR]), [Reply(talk, 3)])
    with pytest.raises(PromptError, match="secret"):
        judge_replies(Heard(lines=[FOUR]), [Reply(talk, 1), Reply(talk, 2)], page="{{ secret }}?")
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps({"no": "opinion"}) + "\n")
    with pytest.raises(DataError, match="is no opinion of a judge"):
        judge_replies(Heard(lines=[FOUR]), [Reply(talk, 1)], kept=other)
