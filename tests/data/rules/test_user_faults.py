"""What a simulated user does wrong: each fault, the clean talk beside it, and how often the rules find seeded ones."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from duologue.analysis.user_faults import found_faults
from duologue.data import Attempt, Conversation, Message, ToolCall
from duologue.data.checks import check
from duologue.data.formats import messages
from duologue.data.rules import USER_FAULT_RULES, faults_of_user
from duologue.data.text.text_values import ValueSet, values
from tests.data.rules.seeded_users.seeding import FAULTS, conversations

DOCS = " ".join((Path(__file__).parents[3] / "docs/test/verdict.md").read_text("utf-8").split())
MOVE = {
    "goal": "move my flight to 2026-05-03",
    "facts": "The booking code is QX4821. It leaves at 3 pm. We are two people.",
}
CHANGE = ToolCall(name="change_booking", result={"status": "ok"})
RULES = dict(
    zip(
        FAULTS,
        (
            *("user-leaves-early", "user-false-claim", "user-invents", "user-invents", "user-all-at-once"),
            *("user-as-assistant", "user-repeats-itself", "user-asks-excluded", "user-contradicts-itself"),
        ),
        strict=True,
    )
)
"""The rule for each seeded fault."""


def talk(scenario: dict[str, Any], *texts: str | tuple[str, ToolCall], stop: str | None = "user_ended") -> Conversation:
    """A conversation that the user opens; a tool call stands beside an assistant's text."""
    messages = []
    for number, said in enumerate(texts):
        text, calls = (said, ()) if isinstance(said, str) else (said[0], said[1:])
        drafts = (Attempt(text=text, verdict="accepted", tool_calls=calls),) if calls else ()
        messages.append(Message(role="assistant" if number % 2 else "user", text=text, attempts=drafts))
    return Conversation(id="a", scenario=scenario, messages=tuple(messages), stop=stop)


def found(conversation: Conversation) -> list[tuple[str, int]]:
    return [
        (one.rule, one.message)
        for one in faults_of_user(conversation.scenario, conversation.messages, conversation.stop)
    ]


ASKS = "What is your booking code?"
DONE = ("Your flight is now on 2026-05-03.", CHANGE)
OPEN = "Please move my flight to May 3rd."
NO_VOUCHER = {"goal": "cancel my trip and get the money back, no voucher", "facts": "The code is LM0077."}
DINNER = {"goal": "plan a dinner at home, without any fish", "facts": "Seven guests will come."}
TOLD = MOVE | {"persona": "Gives a fact only when asked for it."}


@pytest.mark.parametrize(
    ("rule", "number", "conversation"),
    [
        ("user-leaves-early", 2, talk(MOVE, OPEN, ASKS, "Thanks, that's all. Bye!")),
        ("user-leaves-early", 2, talk(MOVE, OPEN, ASKS, "I give up, goodbye.", stop="user_gave_up")),
        ("user-false-claim", 2, talk(MOVE, OPEN, ASKS, "Great, my flight has been moved already!", ASKS, "QX4821", DONE, "Bye!")),
        ("user-invents", 2, talk(MOVE, OPEN, ASKS, "It's QX4812.", stop="max_turns")),
        ("user-invents", 2, talk(MOVE, OPEN, "How many passengers are you?", "Three of us.", stop="max_turns")),
        ("user-invents", 2, talk(MOVE, OPEN, "What is your e-mail address?", "me@mail.example", stop="max_turns")),
        ("user-all-at-once", 0, talk(TOLD, "Move it to 2026-05-03: QX4821, it leaves at 15:00, and we are 2 people.", DONE, "Bye!")),
        ("user-as-assistant", 2, talk(MOVE, OPEN, ASKS, "Sure, how may I help you today?", stop="max_turns")),
        ("user-repeats-itself", 4, talk(MOVE, OPEN, ASKS, "QX4821", "How many passengers are you?", OPEN, stop="max_turns")),
        ("user-asks-excluded", 2, talk(NO_VOUCHER, "Cancel my trip, please.", ("It is cancelled.", CHANGE), "Then I'd like a voucher, please.")),
        ("user-contradicts-itself", 4, talk(MOVE, OPEN, ASKS, "QX4821. I travel with one bag.", "When does it leave?", "At 3. I travel with three bags.", stop="max_turns")),
        ("user-leaves-early", 2, talk({"goal": "把航班改到5月3日", "facts": "预订号是QX4821。"}, "请改签到5月3日。", "请问您的预订号是多少？", "好的，谢谢，再见。")),
        ("user-invents", 2, talk({"goal": "改签", "facts": "预订号是QX4821。"}, "我要改签。", "预订号是多少？", "QX4812", stop="max_turns")),
        ("user-invents", 2, talk(MOVE, OPEN, "Which seat did you have?", "I was in 9A.", stop="max_turns")),
        ("user-invents", 2, talk(MOVE, OPEN, "What is your profession?", "I'm a nurse.", stop="max_turns")),
        ("user-all-at-once", 0, talk(MOVE | {"persona": "Answers what it is asked, and volunteers nothing."}, "Move it to 2026-05-03: QX4821, it leaves at 15:00, and we are 2 people.", DONE, "Bye!")),
        ("user-repeats-itself", 4, talk(MOVE, OPEN, ASKS, "QX4821", "How many passengers are you?", "Once more: QX4821", stop="max_turns")),
        ("user-asks-excluded", 2, talk(DINNER, "Plan a dinner, please.", "Here is a menu of four dishes: a soup, a salad, a risotto and a tart.", "Could we have a salmon starter?", stop="max_turns")),
        ("user-asks-excluded", 2, talk(NO_VOUCHER, "Cancel my trip, please.", "Would you like a voucher?", "Yes, gladly.", stop="max_turns")),
        ("user-contradicts-itself", 4, talk(MOVE, OPEN, ASKS, "QX4821. I never drink alcohol.", "When does it leave?", "At 3. I love a glass of wine on board.", stop="max_turns")),
        ("user-contradicts-itself", 4, talk(MOVE, OPEN, ASKS, "QX4821. It is my first flight with you.", "When does it leave?", "At 3. I have been flying with you every month for years.", stop="max_turns")),
        ("user-contradicts-itself", 4, talk({"goal": "改签", "facts": "预订号是QX4821。三点起飞。"}, "我要改签。", "预订号是多少？", "QX4821。我还没退休。", "几点起飞？", "三点。我退休已经五年了。", stop="max_turns")),
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
        talk(MOVE, OPEN, ASKS, "qx-4821", "At what time does it leave?", "15:00", "How many are you?", "2", DONE, "Thanks, bye!"),
        talk(MOVE, OPEN, ASKS, "QX4812. Sorry, I mean QX4821.", DONE, "Great, it has been moved already. Bye!"),
        talk(MOVE, OPEN, "There is no seat left on that day, I'm sorry.", "What a pity. Bye!"),
        talk(MOVE, OPEN, "I have to close this chat. Goodbye.", "Goodbye."),
        talk(MOVE, OPEN, ASKS, "QX4821", ASKS, "QX4821", stop="max_turns"),
        talk(MOVE, OPEN, "", OPEN, ASKS, "QX4821", stop="max_turns"),
        talk(MOVE, OPEN, ASKS, stop="max_turns"),
        talk(MOVE, OPEN, ASKS, "", stop="budget"),
        talk(MOVE, OPEN, "What is your e-mail address?", "I don't know that.", stop="max_turns"),
        talk(MOVE, "This is what I need: move my flight to May 3rd.", "Why?", "That I cannot tell you. I only want this: move my flight to May 3rd.", stop="max_turns"),
        talk(MOVE, OPEN, "I have 08:15 and 19:40. Which one?", "The 19:40 one.", DONE, "Thanks, bye!"),
        talk(MOVE, OPEN, ("", CHANGE), "Thanks, bye!"),
        talk(TOLD, OPEN, ASKS, "QX4821", "When does it leave?", "At 3 pm.", DONE, "Thanks, bye!"),
        talk(NO_VOUCHER, "Cancel my trip, and no voucher, please.", "Would a voucher do?", "No voucher, please.", stop="max_turns"),
        talk(DINNER, "Plan a dinner, please.", "Is there anything that they do not eat?", "No salmon, please: they eat no fish.", stop="max_turns"),
        talk(MOVE, OPEN, ASKS, "QX4821. I don't drink alcohol.", "When does it leave?", "At 3. My husband would like a glass of wine.", stop="max_turns"),
        talk(MOVE, OPEN, "What is your profession?", "Why do you need that?", stop="max_turns"),
        talk(MOVE, OPEN, "Do you have any pets?", "No.", stop="max_turns"),
        talk({"goal": "move my flight"}, "Move my flight.", ASKS, "QX4821", stop="max_turns"),  # no facts: undecided
        talk({"facts": "The code is QX4821."}, "Hello.", ASKS, "QX4821", stop="max_turns"),
        talk({"goal": "move it", "first_message": "Move QX1111."}, "Move QX1111.", ASKS, "QX1111", stop="max_turns"),
        talk({"kind": "log", "digest": "x"}, "Hi, book QX9999.", ASKS, "Thanks, bye!"),  # a log has no scenario
        talk({}, "Hi.", stop=None),
        talk(MOVE, stop=None),
    ],
)  # fmt: skip
def test_what_is_undecided_is_not_a_fault(conversation):
    assert found(conversation) == []


def test_a_value_is_the_same_in_other_words():
    familiar = ValueSet(
        ["on 2026-05-03 at 3 pm with 12 people for 1,200 euros, code QX4821, on Friday, a quarter to seven"]
    )
    for text in ("May 3rd", "5月3号", "15:00", "下午三点", "a dozen", "十二个人", "€1200", "qx-4821", "周五", "6:45"):
        assert values(text), text
        assert all(map(familiar.has, values(text))), text
    assert not any(
        familiar.has(value) for text in ("4 May", "16:00", "QX4812", "13 people", "周六") for value in values(text)
    )


def test_a_draft_is_judged_with_the_messages_before_it():
    messages = talk(MOVE, OPEN, ASKS, "It's QX4812.", ASKS, "QX4821").messages
    assert [one.message for one in faults_of_user(MOVE, messages)] == [2]
    assert faults_of_user(MOVE, messages, first=4) == []


def test_what_a_behaviour_asks_for_is_no_fault():
    claim = talk(MOVE, OPEN, ASKS, "Great, my flight has been moved already!", stop="max_turns")
    assert [one.rule for one in found_faults(claim)] == ["user-false-claim"]
    by_scenario = claim.model_copy(update={"scenario": MOVE | {"behaviours": ["false_claim"]}})
    by_option = claim.model_copy(update={"extra": {"behaviours": ["false_claim"]}})
    for allowed in (by_scenario, by_option):
        assert [*found_faults(allowed)] == []
        assert not {one.rule for one in check(allowed)} & {*USER_FAULT_RULES}


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("half", "row"),
    [
        ("words", "written before the rules"),
        ("fresh", "written after them"),
        ("held_out", "written last"),
        ("another_author", "of another author"),
    ],
)
def test_recall_and_precision_on_seeded_faults_are_those_of_the_docs(half, row):
    at_its_message = flagged = findings = right = 0
    rules: list[bool] = []
    for seeded in conversations(half):
        faults = [*found_faults(seeded.conversation)]
        findings += len(faults)
        if seeded.fault is None:
            flagged += bool(faults)
            continue
        there = [fault.rule for fault in faults if fault.message == seeded.message]
        at_its_message, right = at_its_message + bool(there), right + len(there)
        rules.append(RULES[seeded.fault] in there or "user-role-leak" in there)
    if half != "another_author":
        assert at_its_message >= 0.95 * 200
        assert right >= 0.95 * findings
        assert rules.count(True) == at_its_message
    match = re.search(rf"\| {row} \|[^|]*\|[^|]*\| (\d+) of 200 \| (\d+) of 200 \|", DOCS)
    assert match is not None
    assert (int(match[1]), int(match[2])) == (at_its_message, flagged)


THIRD_AUTHOR = Path(__file__).parent / "seeded_users/third_author.jsonl"
KIND_OF_RULE = {
    "ends_early": "user-leaves-early",
    "false_claim": "user-false-claim",
    "wrong_fact": "user-invents",
    "all_at_once": "user-all-at-once",
    "speaks_as_assistant": "user-as-assistant",
    "repeats": "user-repeats-itself",
    "asks_for_excluded": "user-asks-excluded",
    "contradicts": "user-contradicts-itself",
}


@pytest.mark.heavy
def test_the_words_of_a_third_author_have_the_figures_of_the_docs():
    found_there: dict[str, int] = dict.fromkeys(KIND_OF_RULE, 0)
    flagged = 0
    for line in THIRD_AUTHOR.read_text("utf-8").splitlines():
        value = json.loads(line)
        [log] = messages.of_values("third author", [("line", {"messages": value["messages"]})])
        stop = "user_ended" if value["fault"] == "ends_early" else None
        rules = {one.rule for one in faults_of_user(value["scenario"], log.messages, stop)}
        if value["fault"] is None:
            flagged += bool(rules)
        else:
            found_there[value["fault"]] += KIND_OF_RULE[value["fault"]] in rules
    match = re.search(r"a third author, .*? now (\d+) of 120,.*? (\d+) of 120 clean", DOCS)
    assert match is not None
    assert (int(match[1]), int(match[2])) == (sum(found_there.values()), flagged)
