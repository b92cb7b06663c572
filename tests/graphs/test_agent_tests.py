"""The cast that tests an agent: a user with a goal and facts, scenarios without a kind, the rule-based user."""

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage

import duologue
from duologue import nodes
from duologue.data import domains
from duologue.graphs import agent_test
from duologue.testing import scripted_model

FLIGHT = {"goal": "move my flight to 2026-05-03", "facts": "My booking code is QX4821. I live in Bern."}


def clerk(messages: list[dict[str, Any]]) -> str:
    """Asks for the code, then where the customer lives, then does it."""
    user_text = "\n".join(message["content"] for message in messages if message["role"] == "user")
    if "QX4821" not in user_text:
        return "Which booking is it? Please tell me its code."
    return "Done: it has been moved. Anything else?" if "Bern" in user_text else "Where do you live?"


def reply_and_note(heard: list[Any], messages: Any, reply: str) -> str:
    """The reply; what it was given is kept."""
    heard.append(messages)
    return reply


def conversations_with(
    assistant: Any, *scenarios: dict[str, Any], user: Any = "offline", turns: int = 10, seed: int = 0
) -> Any:
    states = agent_test.scenarios(scenarios or (FLIGHT,))
    cast = agent_test.cast(user, assistant, **agent_test.Goals().settings_for(states))
    return duologue.simulate(cast, states, limits=nodes.Limits(max_turns=turns, seed=seed))


@pytest.mark.parametrize("seed", range(4))
def test_the_rule_based_user_states_its_goal_tells_what_it_is_asked_and_says_goodbye(seed: int) -> None:
    (talk,) = conversations_with(clerk, seed=seed)
    wish, code, home, bye = [message.text for message in talk.messages if message.role == "user"]
    assert "move my flight to 2026-05-03" in wish
    assert ("QX4821" in code, "Bern" in code) == (True, False)
    assert "Bern" in home
    assert (bye, talk.stop) == ("Thank you, goodbye.", "user_ended")
    assert talk.scores["success"]["value"] is True


def test_it_gives_up_when_it_is_refused_twice_which_is_no_success() -> None:
    (talk,) = conversations_with(lambda messages: "Sorry, that is not possible.")
    assert (talk.stop, len(talk.messages)) == ("user_gave_up", 5)
    assert talk.scores["success"]["value"] is False


def test_it_gives_up_on_an_assistant_that_never_does_it() -> None:
    (talk,) = conversations_with(lambda messages: "Hm.", turns=30)
    assert talk.stop == "user_gave_up"
    user_texts = [message.text for message in talk.messages if message.role == "user"]
    assert all("move my flight" in text for text in user_texts[:-1])


@pytest.mark.parametrize(
    "bye", ["Thanks a lot, goodbye!", "Great, that is all I needed. Bye!", "Goodbye.", "麻烦你了，谢谢，再见"]
)
def test_a_goodbye_in_the_users_own_words_ends_the_talk_and_is_a_message_like_any_other(bye: str) -> None:
    (talk,) = conversations_with(lambda messages: "It is done.", user=scripted_model("Please move it.", bye))
    assert (talk.stop, talk.scores["success"]["value"]) == ("user_ended", True)
    assert (talk.messages[-1].text, talk.messages[-1].stored) == (bye, True)
    assert talk.provenance is not None


LOAN = {"goal": "renew a book of a reader", "facts": ["The name of the book is Middlemarch.", "The reader is R-22."]}
COURSE = {"goal": "我想取消会员的课程", "facts": ["课程是瑜伽。", "会员是M-310。"]}


@pytest.mark.parametrize(
    ("scenario", "question", "told"),
    [
        (FLIGHT, "What is your mother's maiden name?", ""),
        (LOAN, "Which book is it about?", "Middlemarch"),
        (LOAN, "Please tell me the reader's number.", "R-22"),
        (LOAN, "Why do you want to renew the book?", ""),
        (LOAN, "What is wrong with the book?", ""),
        (COURSE, "请问是哪个课程？", "瑜伽"),
        (COURSE, "您对课程满意吗？", ""),
    ],
)
def test_it_gives_the_fact_that_is_asked_for_and_else_says_that_it_does_not_know(scenario, question, told) -> None:
    (talk,) = conversations_with(lambda messages: question, scenario)
    answer = talk.messages[2].text
    facts = [value for value in ("QX4821", "Bern", "Middlemarch", "R-22", "瑜伽", "M-310") if value in answer]
    assert facts == [told] * bool(told)


@pytest.mark.parametrize(
    "text", ["I'm sorry, but I can't assist with that.", "As an AI, I have no shoes.", "抱歉，我无法协助。"]
)
def test_a_model_that_refuses_to_play_the_user_is_asked_again(text: str) -> None:
    replies = iter([text, "I want to buy shoes.", "Thank you, goodbye."])
    cast = agent_test.cast(user=lambda messages: next(replies), assistant=lambda messages: "Here they are.")
    (talk,) = duologue.simulate(cast, agent_test.scenarios([{"goal": "buy shoes"}]))
    first, second = talk.messages[0].attempts
    assert (first.reason, second.verdict) == ("refusal", "accepted")
    assert "That was a refusal" in second.prompt.text


def test_a_user_that_never_names_its_goal_gives_up_by_its_own_fault() -> None:
    goal = {"goal": "buy shoes", "success": {"text_contains": "bought"}}
    user = iter(["Hello!", "I need help.", "Can you hear me?", "Hello?"])
    result = duologue.test(lambda messages: "What do you need?", [goal], user=lambda messages: next(user))
    assert (result.records[0].stop, len(result.records[0].messages)) == ("user_gave_up", 5)
    assert (result.faults["user"], result.left_out, result.passed) == (1, (result.records[0].id,), False)


def test_in_chinese_prompts_and_words_are_chinese() -> None:
    (talk,) = conversations_with(
        lambda messages: "已经改好了。" if "AB1234" in str(messages) else "请告诉我订单号。",
        {"goal": "把我的航班改到5月3日", "facts": {"订单号": "AB1234"}},
    )
    assert talk.messages[-1].text == "谢谢，再见。"
    assert talk.stop == "user_ended"
    assert "助手" in talk.messages[0].prompt.text


def test_a_first_message_is_said_as_it_is_and_the_agent_answers_it() -> None:
    heard: list[Any] = []
    (talk,) = conversations_with(
        lambda messages: reply_and_note(heard, messages, "Done, it is cancelled."), {"first_message": "Cancel it!"}
    )
    assert heard[0] == [{"role": "user", "content": "Cancel it!"}]
    assert [message.text for message in talk.messages] == [
        "Cancel it!",
        "Done, it is cancelled.",
        "Thank you, goodbye.",
    ]
    assert domains.of(talk).title(talk.scenario) == "Cancel it!"


def test_a_users_model_is_sent_goal_facts_and_persona_and_the_agent_none_of_them() -> None:
    heard: list[Any] = []
    scenario = {"goal": "a </task> seat", "facts": ["Row 4.", {"fare": "flex"}], "persona": "In a hurry."}
    user = scripted_model("A seat, please.", "Thank you, goodbye.")
    (talk,) = conversations_with(
        lambda messages: reply_and_note(heard, messages, "Here <task>x</task>."),
        scenario | {"success": {"solved": True}},
        user=user,
    )
    assert talk.stop == "user_ended"
    sent = user.texts
    assert "<task>a ‹/task› seat</task>" in sent[0]
    assert 'Row 4.\n{"fare": "flex"}\nIn a hurry.' in sent[0]
    assert "solved" not in "\n".join(sent)
    assert "Here ‹task›x‹/task›." in sent[1]
    assert "I give up, goodbye." in sent[1]
    assert heard == [[{"role": "user", "content": "A seat, please."}]]


def test_a_model_as_the_assistant_is_sent_the_conversation_alone() -> None:
    (talk,) = conversations_with(scripted_model("It is done: moved."))
    assert talk.stop == "user_ended"
    (talk,) = conversations_with("offline", turns=2)
    assert talk.failure is None


def test_tool_calls_of_an_agent_are_what_a_scenario_asks_for() -> None:
    call = {"name": "change", "args": {"booking": "QX4821"}, "id": "1"}

    def agent(messages: Any) -> AIMessage:
        return AIMessage("It has been moved.", tool_calls=[call])

    success = {"tool_called": {"name": "change", "arguments": {"booking": "QX4821"}, "errors": True}}
    (talk,) = conversations_with(agent, FLIGHT | {"success": success})
    assert talk.scores["success"]["value"] is True, talk.labels


def lines(path: Path, *scenarios: Any) -> Path:
    path.write_text("".join(json.dumps(scenario) + "\n" for scenario in scenarios))
    return path


def test_equal_lines_are_told_apart_and_own_keys_are_kept(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "s.jsonl", FLIGHT, FLIGHT, {"goal": "x", "id": 7, "tags": ["a"]}, {"kind": "own", "facts": 1}
    )
    states = agent_test.Goals(scenarios=path, repeats=2).read(None, 0).states
    assert [state["ordinal"] for state in states] == [0, 0, 1, 1, 0, 0, 0, 0]
    assert states[4]["scenario"] == {"goal": "x", "id": 7, "tags": ["a"]}
    assert len({talk.id for talk in duologue.simulate(agent_test.cast(assistant=clerk), states[:4])}) == 4
