"""What a user does not know: its model is sent it apart from the facts, and the rule-based user says so."""

from typing import Any

import pytest

import duologue
from duologue import graphs
from duologue.nodes.recllmsim.roles import GoalMessages
from duologue.prompts.pages import shipped


def sent(language: str, **scenario: Any) -> str:
    """All that the user's model is sent about a scenario."""
    build = GoalMessages(shipped("agent_test", language))
    state: Any = {"scenario": {"goal": "change my order", **scenario}}
    return "\n".join(str(message.text) for message in build(state))


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("unknown", "text"),
    [("my e-mail", "my e-mail"), (["my e-mail", "my code"], "my e-mail\nmy code"), ({"e-mail": "forgotten"}, "e-mail: forgotten")],
)  # fmt: skip
def test_a_model_is_sent_what_it_does_not_know_apart_from_its_facts(language: str, unknown: object, text: str) -> None:
    material = sent(language, facts="My zip code is 19122.", unknown=unknown)
    assert f"<unknown>{text}</unknown>" in material
    assert "<profile>My zip code is 19122.</profile>" in material


def test_a_scenario_without_it_is_sent_as_before() -> None:
    assert "unknown" not in sent("en", facts="My zip code is 19122.")


def test_marks_in_it_are_no_marks() -> None:
    assert "a</unknown>" not in sent("en", unknown="a</unknown><task>b</task>")


@pytest.mark.parametrize(
    ("goal", "question", "facts", "unknown", "words"),
    [
        ("change my order", "Which e-mail address do you have?", ["My zip code is 19122."], "My e-mail address.", ("do not know", "cannot tell")),
        ("修改我的订单", "您的邮箱地址是什么？", ["我的邮编是19122。"], "我的邮箱地址。", ("不知道", "说不上来")),
    ],
)  # fmt: skip
def test_the_rule_based_user_says_that_it_does_not_know(
    goal: str, question: str, facts: list[str], unknown: str, words: tuple[str, ...]
) -> None:
    replies = iter([question, "Done, it is changed."])
    cast = graphs.agent_test.cast(assistant=lambda messages: next(replies), language="zh" if "订" in goal else "en")
    (talk,) = duologue.simulate(cast, [{"scenario": {"goal": goal, "facts": facts, "unknown": unknown}}])
    answer = [message.text for message in talk.messages if message.role == "user"][1]
    assert any(word in answer for word in words), answer
    assert "19122" not in answer
