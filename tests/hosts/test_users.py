"""A user in a loop of one's own: its words are those of a run, depend on what it has heard alone, and end by name."""

import importlib
import json
import sys

import pytest
from langchain_core.messages import AIMessage, HumanMessage

import duologue
from duologue import runs
from duologue.errors import DataError, MissingExtraError, SettingError
from duologue.graphs import agent_test
from duologue.hosts import UserEnded
from duologue.testing import scripted_model

GOAL = {"goal": "move my flight to 2026-05-03", "facts": "The booking code is QX4821."}


def agent(messages):
    texts = " ".join(message["content"] for message in messages if message["role"] == "user")
    return "Done: it is booked on 2026-05-03." if "QX4821" in texts else "Which is the booking code?"


def talk(user):
    """The user's messages and its end, in a loop that keeps texts only."""
    messages, texts = [], []
    for _ in range(20):
        answer = user.reply_now(messages)
        if isinstance(answer, UserEnded):
            return texts + ([answer.message.text] if answer.message else []), answer
        texts.append(answer.text)
        messages.append({"role": "user", "content": answer.text})
        messages.append({"role": "assistant", "content": agent(messages)})
    raise AssertionError("it never ended")


def test_its_words_are_those_of_a_run():
    [conversation] = duologue.simulate(agent_test.cast(assistant=agent), agent_test.scenarios([GOAL]))
    user = duologue.user(**GOAL)
    texts, end = talk(user)
    assert texts == [message.text for message in conversation.messages if message.role == "user"]
    assert end.reason == conversation.stop == "user_ended"
    assert user.conversation.id == conversation.id
    assert [message.text for message in user.conversation.messages] == [m.text for m in conversation.messages]


@pytest.mark.parametrize("behaviours", [[], ["impatient", "changes_mind"]])
def test_asked_twice_it_says_the_same_and_another_object_too(behaviours):
    user, other = (duologue.user(**GOAL, behaviours=behaviours) for _ in range(2))
    heard = [{"role": "user", "content": user.reply_now().text}, {"role": "assistant", "content": "Which code?"}]
    assert user.reply_now(heard) == user.reply_now(heard)
    assert other.reply_now(heard).text == user.reply_now(heard).text


def test_asked_twice_a_model_is_called_once():
    model = scripted_model("Move it.", "Something else.", by_call=True)
    user = duologue.user(**GOAL, user=model)
    assert user.reply_now() == user.reply_now()
    assert len(model.sent) == 1


def test_messages_of_openai_and_langchain_are_heard_alike():
    user = duologue.user(**GOAL)
    plain = [{"role": "user", "content": "Move my flight."}, {"role": "assistant", "content": "Which code?"}]
    chain = [HumanMessage("Move my flight."), AIMessage("Which code?")]
    assert user.reply_now(plain).text == user.reply_now(chain).text
    tools = [
        plain[0],
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "nothing"},
        plain[1],
    ]  # fmt: skip
    assert user.reply_now(tools).text == user.reply_now(plain).text


def test_rejected_drafts_are_in_its_record_after_each_answer():
    model = scripted_model("assistant: I can help you.", "I want to move it.", "It is QX4821.", by_call=True)
    user = duologue.user(**GOAL, user=model)
    first = user.reply_now()
    assert first.text == "I want to move it."
    user.reply_now([{"role": "user", "content": first.text}, {"role": "assistant", "content": "Which code?"}])
    attempts = user.conversation.messages[0].attempts
    assert [(one.verdict, one.reason) for one in attempts] == [("rejected", "role_leak"), ("accepted", None)]
    assert len(user.conversation.messages) == 3


def test_a_user_of_peoples_turns_uses_none_twice(tmp_path):
    lines = [
        {"id": name, "user": name, "messages": [
            {"role": "user", "content": f"I look for {name} tea."}, {"role": "assistant", "content": "This one."},
            {"role": "user", "content": f"And what about more {name}?"}, {"role": "assistant", "content": "Two."}]}
        for name in ("mint", "rooibos", "camomile", "fennel", "lime", "nettle", "sage", "ginger")
    ]  # fmt: skip
    (tmp_path / "talks.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    texts, _ = talk(duologue.user(goal="tea", user=f"people:{tmp_path / 'talks.jsonl'}"))
    assert len(set(texts)) == len(texts) > 1


def test_several_messages_of_a_turn_are_paragraphs_of_one_and_stay_apart_in_its_record():
    async def node(state, runtime):
        return {"drafts": [{"text": "Hello."}, {"text": f"Move my flight, part {state.get('turn', 0)}."}]}

    user = duologue.user(**GOAL, user=node)
    first = user.reply_now()
    assert first.text == "Hello.\n\nMove my flight, part 0."
    heard = [{"role": "user", "content": first.text}, {"role": "assistant", "content": "Which code?"}]
    assert user.reply_now(heard).text == "Hello.\n\nMove my flight, part 1."
    texts = [message.text for message in user.conversation.messages]
    assert texts == ["Hello.", "Move my flight, part 0.", "Which code?", "Hello.", "Move my flight, part 1."]


def test_a_model_that_fails_is_an_end_with_its_reason():
    user = duologue.user(**GOAL, user=scripted_model(ValueError("no such model")))
    end = user.reply_now()
    assert isinstance(end, UserEnded)
    assert (end.reason, end.message) == ("model_failed", None)
    assert "no such model" in end.failure


def test_a_budget_holds_over_all_answers_of_the_users_that_share_it():
    model = scripted_model("Move it.", "Then mine.", by_call=True)
    bounds = runs.RunSettings(max_tokens=500).shared()
    first, second = (duologue.user(**GOAL, seed=seed, user=model, bounds=bounds) for seed in range(2))
    answers = [user.reply_now() for user in (first, second, second)]
    assert [getattr(answer, "reason", "") for answer in answers] == ["", "budget", "budget"]
    assert answers[2].failure.startswith("--max-tokens 500 is reached, with ")
    assert (first.reply_now(), len(model.sent)) == (answers[0], 1)


def test_the_limit_of_turns_is_an_end():
    user = duologue.user(**GOAL, max_turns=1)
    heard = [{"role": "user", "content": "Move it."}, {"role": "assistant", "content": "Which code?"}]
    assert user.reply_now(heard) == UserEnded(reason="max_turns")


def test_a_scenarios_success_is_part_of_its_draws_and_is_not_scored_here():
    goal = GOAL | {"success": {"text_contains": "2026-05-03"}}
    [conversation] = duologue.simulate(agent_test.cast(assistant=agent), agent_test.scenarios([goal]))
    user = duologue.user(scenario=goal)
    texts, _ = talk(user)
    assert texts == [message.text for message in conversation.messages if message.role == "user"]
    assert (user.conversation.id, user.conversation.labels) == (conversation.id, {})
    assert user.success == goal["success"]


def test_an_answer_without_text_is_noted(caplog):
    user = duologue.user(**GOAL)
    user.reply_now([{"role": "user", "content": "Move it."}, {"role": "assistant", "content": ""}])
    assert [record.getMessage() for record in caplog.records] == [
        "user.reply: the assistant's message 1 has no text: the user cannot answer it"
    ]


def test_a_repeat_of_a_scenario_has_a_user_and_a_record_of_its_own():
    first, again, other = (duologue.user(**GOAL, seed=3, repeat=repeat) for repeat in (1, 1, 0))
    assert first.reply_now().text == again.reply_now().text
    assert first.conversation.id == again.conversation.id != other.conversation.id


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({}, "user: give a goal with its facts, or a scenario"),
        ({"goal": "a", "scenario": {"goal": "b"}}, "user: give a goal with its facts, or a scenario"),
        ({"goal": "a", "behaviours": ["rude"]}, "behaviours: there is no behaviour 'rude'"),
        ({"goal": "a", "colour": "red"}, "agent_test: there is no setting 'colour'"),
        ({"goal": "a", "seed": None}, "user: seed must be a whole number, not None"),
        ({"goal": "a", "max_turns": 0}, "user: max_turns must be at least 1, not 0"),
        ({"goal": "a", "repeat": -1}, "user: repeat must be a whole number from 0, not -1"),
        ({"scenario": "s.jsonl"}, "user: expected a scenario as an object with a 'goal', not 's.jsonl'"),
        ({"scenario": {"goal": "a", "fact": "b"}}, "user: has the key 'fact': did you mean 'facts'?"),
        ({"scenario": {"facts": "b"}}, "user: has no text 'kind', 'goal' or 'first_message'"),
        ({"scenario": {"goal": "a", "success": "booked"}}, "user: success: expected an object that names scorers"),
        (
            {"scenario": {"goal": "a", "success": {"text_contain": "b"}}},
            "user: success: there is no scorer 'text_contain'",
        ),
    ],
)
def test_a_wrong_user_is_one_line(arguments, line):
    with pytest.raises((DataError, SettingError)) as error:
        duologue.user(**arguments)
    assert str(error.value).startswith(line)


@pytest.mark.parametrize(
    ("messages", "error", "line"),
    [
        ([{"role": "user", "content": "Hello."}], SettingError, "user.reply: the last message is the user's own"),
        ([{"role": "clerk", "content": "Hello."}], DataError, "user.reply: messages, message 0: needs a 'role'"),
    ],
)
def test_wrong_messages_are_one_line(messages, error, line):
    with pytest.raises(error) as raised:
        duologue.user(**GOAL).reply_now(messages)
    assert str(raised.value).startswith(line)


def test_inspect_where_it_is_not_installed_is_one_line_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    monkeypatch.delitem(sys.modules, "duologue.hosts.inspect", raising=False)
    with pytest.raises(MissingExtraError, match=r'^inspect_ai is not installed: pip install "duologue\[inspect\]"$'):
        importlib.import_module("duologue.hosts.inspect")
