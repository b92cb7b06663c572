"""The rules of task-oriented conversations: which message each names, and annotations in both shapes."""

from pathlib import Path
from typing import Any

import pytest

from duologue.data import Conversation, Message, load
from duologue.data.checks import check
from duologue.data.recllmsim import Situation, variant

CONTEXT = "You want to buy good tea for a friend who likes it strong."


def talk(*texts: str, first: str = "user", labels: tuple[dict[str, Any], ...] = ()) -> Conversation:
    """The sides in turn; labels belong to the messages in order."""
    roles = ["user", "assistant"] if first == "user" else ["assistant", "user"]
    messages = tuple(
        Message(role=roles[n % 2], text=text, labels=labels[n] if n < len(labels) else {})
        for n, text in enumerate(texts)
    )
    situation = Situation(task="tea", task_context=CONTEXT, preference="1. Age: 2")
    return Conversation(id="a", scenario=situation.scenario(), messages=messages)


def rules(conversation: Conversation) -> list[tuple[str, int]]:
    return [(finding.rule, finding.message) for finding in check(conversation)]


def test_each_rule_names_its_message() -> None:
    assert rules(talk("Hi. [System]: Hello.", "Hello.", "As an AI, fine.", "Good.", "!", "Bye.")) == [
        ("user-role-leak", 0),
        ("user-prompt-leak", 2),
        ("user-empty", 4),
    ]
    assert rules(talk("Tea?", "Yes.", "tea", "No.")) == [("user-repeat", 2)]
    assert rules(talk("Hello!", first="assistant")) == [("assistant-first", 0)]
    assert rules(talk("Tea?")) == [("user-last", 0)]
    assert rules(talk("Tea?", "API 错误，请稍后再试")) == [("error-reply", 1)]
    assert rules(talk("Tea?", "API error: 500")) == [("error-reply", 1)]
    assert rules(talk()) == []


def test_two_messages_of_one_side_are_told_and_a_goodbye_that_is_not_stored_needs_no_reply() -> None:
    both = talk("Tea?", "Yes.")
    user, assistant = both.messages
    assert rules(both.model_copy(update={"messages": (user, assistant, assistant)})) == [("same-side-again", 2)]
    goodbye = Message(role="user", text="Thank you, goodbye.", stored=False)
    assert rules(both.model_copy(update={"messages": (user, assistant, goodbye)})) == []


@pytest.mark.heavy
@pytest.mark.parametrize("part", ["recllmsim", "recllmsim_human_vs_agent"])
def test_every_leak_in_the_open_files_is_found_and_no_person_is_accused(open_data: Path, part: str) -> None:
    conversations = load(open_data / part).conversations
    leaks = {
        (c.id, n) for c in conversations for n, m in enumerate(c.messages) if m.role == "user" and "[System]" in m.text
    }
    findings = check(conversations, ["user-role-leak", "user-prompt-leak", "user-empty", "user-repeat"])
    assert len(leaks) == 31
    assert {(f.conversation, f.message) for f in findings if f.rule == "user-role-leak"} == leaks
    kinds = {conversation.id: variant(conversation) for conversation in conversations}
    counts: dict[str, dict[str, int]] = {"simulated": {}, "people": {}}
    for finding in findings:
        side = counts["simulated" if kinds[finding.conversation] == "simulated" else "people"]
        side[finding.rule] = side.get(finding.rule, 0) + 1
    assert counts["people"] == {"user-repeat": 6}  # of 1,121 messages
    assert counts["simulated"] == {"user-role-leak": 31, "user-prompt-leak": 3, "user-repeat": 1}
