"""What a simulated user does wrong by structure, and the clean talk beside it."""

import json
from pathlib import Path
from typing import Any

import pytest

from duologue.analysis.faults import found_faults
from duologue.data import Attempt, Conversation, Message, ToolCall
from duologue.data.checks import check
from duologue.data.formats import messages
from duologue.data.rules.user_faults import USER_FAULT_RULES, faults_of_user

DOCS = " ".join((Path(__file__).parents[3] / "docs/reference/error_rates.md").read_text("utf-8").split())
MOVE = {
    "goal": "move my flight to 2026-05-03",
    "facts": "The booking code is QX4821. It leaves at 3 pm. We are two people.",
}
CHANGE = ToolCall(name="change_booking", result={"status": "ok"})
TOLD = MOVE | {"persona": "Gives a fact only when asked for it."}
ASKS = "What is your booking code?"
DONE = ("Your flight is now on 2026-05-03.", CHANGE)
OPEN = "Please move my flight to May 3rd."
ALL = "Move it to 2026-05-03: QX4821, it leaves at 15:00, and we are 2 people."


def talk(scenario: dict[str, Any], *texts: str | tuple[str, ToolCall], stop: str | None = "user_ended") -> Conversation:
    """A conversation that the user opens; a tool call stands beside an assistant's text."""
    messages = []
    for number, said in enumerate(texts):
        text, calls = (said, ()) if isinstance(said, str) else (said[0], said[1:])
        drafts = (Attempt(text=text, verdict="accepted", tool_calls=calls),) if calls else ()
        messages.append(Message(role="assistant" if number % 2 else "user", text=text, attempts=drafts))
    return Conversation(id="a", scenario=scenario, messages=tuple(messages), stop=stop)


def found(conversation: Conversation) -> list[tuple[str, int]]:
    faults = faults_of_user(conversation)
    return [(one.rule, one.message) for one in faults]


@pytest.mark.parametrize(
    ("rule", "number", "conversation"),
    [
        ("user-leaves-early", 2, talk(MOVE, OPEN, ASKS, "Thanks, that's all. Bye!")),
        ("user-leaves-early", 2, talk(MOVE, OPEN, ASKS, "I give up, goodbye.", stop="user_gave_up")),
        ("user-leaves-early", 2, talk({"goal": "把航班改到5月3日"}, "请改签。", "请问您的预订号是多少？", "好的，谢谢，再见。")),
        ("user-invents", 2, talk(MOVE, OPEN, ASKS, "It's QX4812.", stop="max_turns")),
        ("user-invents", 2, talk({"goal": "改签", "facts": "预订号是QX4821。"}, "我要改签。", "预订号是多少？", "QX4812", stop="max_turns")),
        ("user-all-at-once", 0, talk(TOLD, ALL, DONE, "Bye!")),
        ("user-as-assistant", 2, talk(MOVE, OPEN, ASKS, "Sure, how may I help you today?", stop="max_turns")),
        ("user-repeats-itself", 4, talk(MOVE, OPEN, ASKS, "QX4821. It leaves at 3 pm.", "How many are you?", "QX4821. It leaves at 3 pm.", stop="max_turns")),
    ],
)  # fmt: skip
def test_a_fault_is_found_at_its_message(rule, number, conversation):
    assert found(conversation) == [(rule, number)]
    (finding,) = [one for one in check(conversation) if one.rule in USER_FAULT_RULES]
    assert (finding.rule, finding.message, finding.role) == (rule, number, "user")
    assert finding.reason


@pytest.mark.parametrize(
    "conversation",
    [
        talk(MOVE, OPEN, ASKS, "qx-4821", "At what time does it leave?", "15:00", "How many are you?", "2", DONE, "Bye!"),
        talk(MOVE, OPEN, "There is no seat left on that day, unfortunately.", "What a pity. Bye!"),
        talk(MOVE, OPEN, "I have to close this chat. Goodbye.", "Goodbye."),
        talk(MOVE, OPEN, ASKS, "QX4821", ASKS, "QX4821", stop="max_turns"),
        talk(MOVE, OPEN, ASKS, "", stop="budget"),
        talk(MOVE, OPEN, "I have 08:15 and 19:40. Which one?", "The 19:40 one.", DONE, "Thanks, bye!"),
        talk(MOVE, OPEN, ("", CHANGE), "Thanks, bye!"),
        talk(MOVE, ALL, DONE, "Bye!"),
        talk(TOLD, OPEN, ASKS, "QX4821", "When does it leave?", "At 3 pm.", DONE, "Thanks, bye!"),
        talk({"goal": "move my flight"}, "Move my flight.", ASKS, "QX4821", stop="max_turns"),
        talk({"goal": "move it", "first_message": "Move QX1111."}, "Move QX1111.", ASKS, "QX1111", stop="max_turns"),
        talk({"kind": "log", "digest": "x"}, "Hi, book QX9999.", ASKS, "Thanks, bye!"),
        talk({}, "Hi.", stop=None),
        talk(MOVE, stop=None),
    ],
)  # fmt: skip
def test_what_is_undecided_is_not_a_fault(conversation):
    assert found(conversation) == []


def test_what_a_behaviour_asks_for_is_no_fault():
    again = talk(MOVE, OPEN, ASKS, OPEN, stop="max_turns")
    assert [one.rule for one in found_faults(again)] == ["user-repeats-itself"]
    by_scenario = again.model_copy(update={"scenario": MOVE | {"behaviours": ["pushes"]}})
    by_option = again.model_copy(update={"extra": {"behaviours": ["pushes"]}})
    for allowed in (by_scenario, by_option):
        assert [*found_faults(allowed)] == []
        assert not {one.rule for one in check(allowed)} & {*USER_FAULT_RULES}


def test_the_written_conversations_have_the_figures_of_the_docs():
    rule_of = {
        "ends_early": "user-leaves-early",
        "wrong_fact": "user-invents",
        "all_at_once": "user-all-at-once",
        "speaks_as_assistant": "user-as-assistant",
        "repeats": "user-repeats-itself",
    }
    hits = flagged = 0
    for line in Path(__file__).with_name("written_users.jsonl").read_text("utf-8").splitlines():
        value = json.loads(line)
        [log] = messages.of_values("written users", [("line", {"messages": value["messages"]})])
        stop = "user_ended" if value["fault"] == "ends_early" else None
        read = log.model_copy(update={"scenario": value["scenario"], "stop": stop})
        rules = {one.rule for one in faults_of_user(read)}
        hits += rule_of.get(value["fault"]) in rules
        flagged += value["fault"] is None and bool(rules)
    assert hits >= 34
    assert flagged <= 4
    assert f"{hits} of 120 are found, and {flagged} of 120" in DOCS
