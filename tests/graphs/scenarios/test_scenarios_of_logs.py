"""Scenarios of the lines of logs: their first messages, their facts and the users that state them."""

import json
from pathlib import Path
from typing import Any

import pytest

import duologue
from duologue import graphs
from duologue.data import DataError


def test_a_first_message_of_a_log_keeps_its_images(tmp_path):
    image = {"type": "image_url", "image_url": {"url": "https://host/a.png"}}
    talk = {"messages": [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, image]}]}
    (tmp_path / "l.jsonl").write_text(json.dumps(talk) + "\n")
    (state,) = graphs.scenarios_of(tmp_path / "l.jsonl", "agent_test")
    assert state["messages"][0]["text"] == "What is it?"
    assert state["messages"][0]["parts"][0]["url"] == "https://host/a.png"
    conversations = duologue.simulate(graphs.agent_test.cast(), [state], limits=duologue.Limits(max_turns=1))
    assert conversations[0].messages[0].parts[0].url == "https://host/a.png"


def test_a_line_of_a_log_may_name_a_profile_and_a_task_context(tmp_path: Path) -> None:
    line = {"task_context": "A trip.", "profile": "calm", "messages": [{"role": "user", "content": "Hello"}]}
    (tmp_path / "log.jsonl").write_text(json.dumps(line) + "\n")
    (state,) = graphs.scenarios_of(tmp_path / "log.jsonl", "agent_test")
    assert (state["scenario"]["goal"], state["scenario"]["facts"]) == ("A trip.", "calm")


QUESTIONS = ("What is your booking code?", "To which date?", "Do you want a window or an aisle seat?")
ZH_QUESTIONS = ("请问您的订单号是多少？", "您想改到哪一天？", "您想要靠窗还是靠走道？")
TALKS = {
    "openai": [
        {"role": "system", "content": "You change flights."},
        {"role": "user", "content": "Hi, I want to move my flight."},
        {"role": "assistant", "content": "Your code and your seat, please? 12 June is full."},
        {"role": "user", "content": "QX4821. I'd like a window seat. What does it cost?"},
        {"role": "assistant", "content": "Which date?"},
        {"role": "user", "content": "To 7 June."},
        {"role": "user", "content": "Great, thanks! Goodbye."},
    ],
    "anthropic": [
        {"role": "user", "content": [{"type": "text", "text": "Hi, I want to move my flight."}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "find", "input": {"code": "ZZ1111"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "No flight ZZ1111."}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Code and seat?"}]},
        {"role": "user", "content": [{"type": "text", "text": "QX4821. I'd like a window seat."}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Which date?"}]},
        {"role": "user", "content": [{"type": "text", "text": "To 7 June."}]},
    ],
}  # fmt: skip


def written(folder: Path, *talks: Any) -> Path:
    lines = (json.dumps(talk if isinstance(talk, dict) else {"messages": talk}) + "\n" for talk in talks)
    (folder / "log.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder / "log.jsonl"


@pytest.mark.parametrize("shape", TALKS)
def test_later_statements_of_a_logs_user_are_the_facts_of_its_scenario(shape, tmp_path):
    (state,) = graphs.scenarios_of(written(tmp_path, TALKS[shape]), "agent_test")
    assert state["scenario"]["first_message"] == "Hi, I want to move my flight."
    assert state["scenario"]["facts"] == ["QX4821. I'd like a window seat.", "To 7 June."]
    assert [message["text"] for message in state["messages"]] == ["Hi, I want to move my flight."]


def test_of_a_line_with_a_goal_the_first_message_states_facts_too_and_facts_of_its_own_hold_alone(tmp_path):
    talk = [{"role": "user", "content": "Hi, my code is QX4821."}, {"role": "user", "content": "To 7 June."}]
    lines = [
        {"goal": "Move it.", "profile": {"age": 30}, "messages": talk},
        {"goal": "Move it.", "facts": "The code is AB1.", "messages": talk},
    ]
    first, second = graphs.scenarios_of(written(tmp_path, *lines), "agent_test")
    assert first["scenario"]["facts"] == [{"age": 30}, "Hi, my code is QX4821.", "To 7 June."]
    assert second["scenario"]["facts"] == "The code is AB1."


def asking(questions):
    """An agent that asks these questions and then reports success."""

    def reply(messages):
        asked_before = sum(message["role"] == "assistant" for message in messages)
        done = "已经为您改签了。" if questions is ZH_QUESTIONS else "I have moved your flight."
        return questions[asked_before] if asked_before < len(questions) else done

    return reply


@pytest.mark.parametrize(
    ("talk", "questions", "answers"),
    [
        (TALKS["openai"], QUESTIONS, ("QX4821", "To 7 June", "I'd like a window seat")),
        (
            [
                {"role": "user", "content": "你好，我想改签机票。"},
                {"role": "assistant", "content": "改到哪一天？"},
                {"role": "user", "content": "改到六月七日。"},
                {"role": "user", "content": "我想要靠窗的座位。订单号是 TR9310。"},
                {"role": "user", "content": "谢谢，再见。"},
            ],
            ZH_QUESTIONS,
            ("订单号是 TR9310", "改到六月七日", "我想要靠窗的座位"),
        ),
    ],
)
def test_the_offline_user_of_a_log_answers_each_question_with_what_that_person_stated(
    talk, questions, answers, tmp_path
):
    taken = graphs.scenarios_of(written(tmp_path, talk), "agent_test")
    cast = graphs.agent_test.cast(assistant=asking(questions), **taken.settings)
    (conversation,) = duologue.simulate(cast, taken)
    texts = [message.text for message in conversation.messages if message.role == "user"]
    assert [answer in text for answer, text in zip(answers, texts[1:-1], strict=True)] == [True] * 3
    assert conversation.stop == "user_ended"


def test_a_folder_that_is_no_run_is_said_to_be_read_as_conversations(tmp_path):
    written(tmp_path, TALKS["openai"])
    taken = graphs.scenarios_of(tmp_path, "agent_test")
    line = "is not a run folder: its files are read as conversations"
    assert taken.notes[0] == f"{tmp_path}: {line}"
    assert not any(line in note for note in graphs.scenarios_of(tmp_path / "log.jsonl", "agent_test").notes)
    with pytest.raises(DataError, match=rf"the scenario names no kind.* \({tmp_path} {line}; name a run or a file\)$"):
        graphs.scenarios_of(tmp_path, "recllmsim")
    duologue.simulate(graphs.agent_test.cast(), taken, limits=duologue.Limits(max_turns=1), out=tmp_path / "run")
    with pytest.raises(DataError) as of_run:
        graphs.scenarios_of(tmp_path / "run", "recllmsim")
    assert line not in str(of_run.value)
