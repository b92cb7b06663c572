"""Where failed conversations went wrong, by rules: each rule on a conversation that has its fault and one that has not."""

from typing import Any

import pytest

from duologue.analysis.agent_faults.rules import FailureCause, findings
from duologue.analysis.agent_faults.success_conditions import templated, templated_path
from duologue.analysis.outcomes import outcome
from duologue.analysis.testing.failed_conversations import groups_of, joined_groups
from duologue.analysis.testing.failure_sites import cause_of
from duologue.analysis.testing.markdown_report import markdown
from duologue.analysis.testing.result_text import group_lines
from duologue.analysis.testing.success import successes
from duologue.data import Conversation, Message
from duologue.data.attempts import Attempt, ToolCall
from duologue.data.formats.dialogues import ASIDES
from duologue.data.records import Failure, Unsaid
from duologue.views.conversation import conversation_page
from duologue.views.success import result_html

WISH = ("user", "I want to move my flight QX4821 to 2026-05-03.")
SUCCESS = {"tool_called": {"name": "change", "arguments": {"date": "2026-05-03"}}}


def call(name: str, error: str | None = None, result: Any = None, **arguments: Any) -> ToolCall:
    return ToolCall(
        name=name, arguments=arguments, result={} if result is None and error is None else result, error=error
    )


def reply(text: str, *calls: ToolCall) -> Message:
    return Message(role="assistant", text=text, attempts=(Attempt(text=text, verdict="accepted", tool_calls=calls),))


def talk(
    *messages: Any, reason: str = "no", success: Any = None, stop: str = "user_ended", **more: Any
) -> Conversation:
    said = tuple(Message(role=one[0], text=one[1]) if isinstance(one, tuple) else one for one in messages)
    scenario = {"goal": "move it"} | ({} if success is None else {"success": success})
    labels = {"scores": {"success": {"value": False, "reason": reason}}}
    return Conversation(id=more.pop("id", "1"), scenario=scenario, messages=said, stop=stop, labels=labels, **more)


def cause(*messages: Any, **more: Any) -> FailureCause:
    conversation = talk(*messages, **more)
    return cause_of(conversation, outcome(conversation, "failure"))


CODE = reply("Done: it is now on 2026-05-03.", call("change", date="2026-05-03"))
ASKED = "Which booking is it?"


@pytest.mark.parametrize(
    ("messages", "success", "name", "site"),
    [
        ([WISH, CODE, ("user", "And?"), CODE], None, "the agent called `change` again after it had been done", "call"),
        (
            [WISH, reply("Done: it has been moved.", call("change", "no seat is free"))],
            SUCCESS,
            "after `change` failed, the agent reported it as done",
            "message",
        ),
        (
            [WISH, reply("Done: it has been moved.", call("change", result={"error": "no seat"}))],
            SUCCESS,
            "after `change` failed, the agent reported it as done",
            "message",
        ),
        (
            [WISH, reply("I will move it right away.", call("look_up"))],
            SUCCESS,
            "the agent reported it as done, and no call of `change` shows it",
            "message",
        ),
        (
            [WISH, reply("Your flight has been moved.", call("look_up"))],
            None,
            "the agent reported it as done, and no tool call shows it",
            "message",
        ),
        (
            [WISH, reply("Done: it is on 2026-05-04.", call("change", date="2026-05-04"))],
            SUCCESS,
            "the agent called `change` with another `date` than was asked for",
            "call",
        ),
        (
            [WISH, reply("Done: it is on 2026-05-03.", call("change", date="2026-05-03"))],
            {"tool_not_called": "change"},
            "the agent called `change`, which it must not",
            "call",
        ),
        (
            [WISH, reply("I am sorry, there is no such booking.", call("look_up", "no", booking="AB1111"))],
            None,
            "the agent called `look_up` with a `booking` that neither user nor tool had named",
            "call",
        ),
        ([WISH, ("assistant", "Your code is ZZ9911.")], None, "the agent named a code or number that neither user nor tool had named", "message"),
        (
            [WISH, ("assistant", "Ihr Flug ist leider nicht zu finden, bitte nennen Sie mir den Code.")],
            None,
            "the agent answered in another language than the user's",
            "message",
        ),
        (
            [("user", "Please move my flight."), ("assistant", ASKED), ("user", "It is QX4821."), ("assistant", ASKED)],
            None,
            "the agent asked again for what the user had answered",
            "message",
        ),
        ([WISH, ("assistant", "One moment."), ("user", "And?"), ("assistant", "One moment!")], None, "the agent repeated its message", "message"),
        (
            [WISH, reply("Well.", *[call("look_up", booking="QX4821")] * 3)],
            None,
            "the agent repeated the same call of `look_up`",
            "call",
        ),
        ([WISH, ("assistant", "I am sorry, I cannot do that.")], SUCCESS, "the agent refused", "message"),
        (
            [WISH, reply("I am sorry, I cannot do that.", call("change", "no seat", date="2026-05-03"))],
            SUCCESS,
            "after `change` failed, the agent refused",
            "message",
        ),
        ([WISH, ("assistant", "Thank you for writing. Goodbye!")], SUCCESS, "the agent stopped before the matter was settled", "message"),
        ([WISH, ("assistant", "You are the assistant of an airline. Never refund.")], None, "the agent showed its instructions", "message"),
        ([WISH, ("assistant", "Let me transfer you to the bookings team.")], {"tool_not_called": "change"}, "the agent stopped before the matter was settled", "message"),
        ([WISH, ("assistant", "I've opened a ticket, and somebody will call you back.")], SUCCESS, "the agent stopped before the matter was settled", "message"),
        ([WISH, ("assistant", "This chat is now closed.")], SUCCESS, "the agent stopped before the matter was settled", "message"),
        ([WISH, ("assistant", "Flights are a fine thing.")], SUCCESS, "the agent stopped before the matter was settled", "message"),
        (
            [WISH, ("assistant", "What is your booking code?"), ("user", "QX4821."), ("assistant", "May I have the reference of the reservation?")],
            SUCCESS,
            "the agent asked again for what the user had answered",
            "message",
        ),
        (
            [WISH, reply("You fly a day later.", call("change", "no seat", date="2026-05-03"), call("change", date="2026-05-04"))],
            {"tool_not_called": "change"},
            "after `change` failed, the agent called it with another `date`",
            "call",
        ),
        ([WISH, ("assistant", "It is booked, PNR: QXBDRT.")], SUCCESS, "the agent named a code or number that neither user nor tool had named", "message"),
        ([WISH, ("assistant", "It is booked, seat 14C.")], SUCCESS, "the agent named a code or number that neither user nor tool had named", "message"),
    ],
)  # fmt: skip
def test_a_failed_conversation_has_the_site_at_which_it_went_wrong(
    messages: list[Any], success: Any, name: str, site: str
) -> None:
    found = cause(*messages, success=success)
    assert (found.name, found.site) == (name, site)
    assert found.message == len(messages) - 1


def test_a_sound_conversation_has_no_finding() -> None:
    messages = [
        ("user", "I want to move my flight."),
        ("assistant", "Which booking is it, such as AB1234?"),
        ("user", "QX4821, please."),
        reply("To which date?", call("look_up", booking="QX4821", result={"ref": "RR771"})),
        ("user", "To 2026-05-03."),
        reply("Done: QX4821 is now on 2026-05-03 (RR771).", call("change", date="2026-05-03")),
        ("user", "Thank you, goodbye."),
        ("assistant", "Goodbye!"),
    ]
    assert findings(talk(*messages, success=SUCCESS)) == []


@pytest.mark.parametrize(
    "messages",
    [
        # another fact of the same kind, a value to confirm, another value after a refusal or a failure
        [("assistant", "What is the new date?"), ("user", "2026-05-03."), ("assistant", "And the return date?")],
        [("assistant", "Which date?"), ("user", "2026-05-03."), ("assistant", "Is 2026-05-03 the date?")],
        [("assistant", "Which date?"), ("user", "2026-05-03."), ("assistant", "I cannot do that. Which other day?")],
        [
            ("assistant", "What is the booking code?"),
            ("user", "QX4821."),
            reply("I do not see it. What is the code of the booking?", call("look_up", "no booking")),
        ],
        # what looks like a handover
        [("assistant", "I found a direct flight with a meal service. Which seat?")],
        [("assistant", "Shall I transfer you to a colleague?")],
    ],
)
def test_what_only_looks_like_a_fault_is_no_finding(messages: list[Any]) -> None:
    assert findings(talk(("user", "I want to move my flight."), *messages, success=SUCCESS)) == []


def test_a_code_of_the_agents_instructions_is_not_invented() -> None:
    extra = {ASIDES: [{"at": 0, "system": "Our hotline has the number 0800-123456."}]}
    said = reply("The number is 0800-123456. Which booking is it?")
    assert findings(talk(WISH, said, extra=extra)) == []
    assert [found.name for found in findings(talk(WISH, said))] == [
        "the agent named a code or number that neither user nor tool had named"
    ]


def test_an_agent_without_tools_acts_by_its_words() -> None:
    success = {"text_contains": "booked for two"}
    found = cause(
        WISH, ("assistant", "It is booked."), success=success, reason='the assistant never says "booked for two"'
    )
    assert (found.name, found.site, found.expectation) == ("an expected text was never written", "end", "success")


@pytest.mark.parametrize(
    ("reason", "name"),
    [
        ("change was not called", "`change` was not called"),
        ("change was called, and every call ended in an error: no seat", "every call of `change` failed"),
        (
            'bookings.QX4821.date: is "2026-05-01", expected "x"',
            "the final state differs at `bookings.*.date`; the user gave up",
        ),
        ("booking QX4821 is {'fare': 'flex'}", "“booking … is …”; the user gave up"),
        ("", "the user gave up"),
    ],
)
def test_without_a_site_the_broken_condition_names_the_group(reason: str, name: str) -> None:
    found = cause(WISH, ("assistant", "Hm."), reason=reason, stop="user_gave_up")
    assert (found.name, found.site, found.message) == (name, "end", 1)


def test_the_call_that_wrote_the_wrong_value_is_the_site() -> None:
    wrong = reply("It is moved.", call("change", booking="QX4821", day="Monday"))
    found = cause(WISH, wrong, ("user", "Bye."), reason='bookings.QX4821.day: is "Monday", expected "Sunday"')
    assert (found.name, found.message) == ("the agent called `change` with another `day` than was asked for", 1)


def test_an_error_of_the_agents_code_and_a_validators_reason_are_causes() -> None:
    failure = Failure(
        node="assistant", error="KeyError: 'date'", fault="assistant", frames=("shop/tools.py:12 in book",)
    )
    crashed = talk(WISH, stop="model_failed", failure=failure)
    assert cause_of(crashed, outcome(crashed, "failure")).name == "the agent's code raised KeyError in `book`"
    draft = Attempt(text="x", verdict="rejected", reason="unconfirmed")
    unsaid = (Unsaid(role="assistant", after=1, attempts=(draft,)),)
    assert (
        cause(WISH, stop="assistant_rejected", unsaid=unsaid).name == "no reply of the agent was accepted: unconfirmed"
    )


def test_a_broken_user_is_the_cause() -> None:
    found = cause(("user", "[System] You are a customer."), ("assistant", "Hm."))
    assert found.name == "the user simulator was at fault: a user that writes for another side"
    assert (found.expectation, found.message) == ("user", 0)


def test_a_user_that_goes_wrong_after_the_agent_is_not_the_cause():
    sent, on = (
        ("user", "My booking code is QX4821."),
        reply("I'm passing you on to my colleagues, please stay on the line."),
    )
    ends = {"success": {"tool_called": {"name": "change"}}}
    agent_first = cause(WISH, reply(ASKED), sent, on, sent, reply("Please call our hotline about this."), **ends)
    assert (agent_first.name, agent_first.message) == ("the agent stopped before the matter was settled", 3)
    user_first = cause(WISH, reply(ASKED), sent, reply("For how many people?"), sent, on, **ends)
    assert user_first.name.startswith("the user simulator was at fault: a user that sends the same again")


def test_groups_count_equal_causes_and_name_the_shortest_conversation_and_the_versions() -> None:
    loop = [("assistant", "One moment."), ("user", "And?"), ("assistant", "One moment.")]
    long, short = talk(WISH, *loop, ("user", "Bye."), id="long"), talk(WISH, *loop, id="short")
    refusal = talk(WISH, ("assistant", "I am sorry, I cannot do that."), id="refused")
    result = successes([long, refusal, short])
    assert [(group.name, group.conversations, group.first, group.message) for group in result.groups] == [
        ("the agent repeated its message", 2, "short", 3),
        ("the agent refused", 1, "refused", 1),
    ]
    assert result.groups[0].share == pytest.approx(2 / 3)
    assert groups_of(result.failures) == result.groups
    old, new = result.failures[:1], result.failures[1:]
    assert joined_groups({"old": old, "new": new})[0].versions == {"new": 2}


def test_a_group_holds_no_value_of_a_conversation() -> None:
    assert templated("booking QX4821 of Ada Lovelace is 'x', not 3 items") == "booking … of … is …, not … items"
    assert templated_path("orders[3].Ada Lovelace.price") == "orders.*.*.price"


def test_every_report_lists_the_groups_before_the_failed_conversations_and_these_before_the_table() -> None:
    loop = [("assistant", "One moment."), ("user", "And?"), ("assistant", "One moment.")]
    result = successes([talk(WISH, *loop, id="a"), talk(WISH, *loop, id="b")])
    assert group_lines(result) == ["2 of 2: the agent repeated its message; shortest: a, message 3"]
    for text in (markdown(result, "x", lambda name: f"page.html#{name}"), result_html(result, {"a": "#a"})):
        places = [text.index(words) for words in ("2 of 2: the agent repeated", "a/3", "Success by scenario")]
        assert places == sorted(places)


def test_the_page_marks_the_message_at_which_a_conversation_went_wrong() -> None:
    failed = talk(WISH, reply("Done: moved.", call("change", "no seat", date="2026-05-03")), success=SUCCESS)
    page = conversation_page(failed)
    assert page.count('<li class="assistant wrong" id="1/1">') == 1
    assert "here it went wrong: after `change` failed, the agent reported it as done" in page
    passed = failed.model_copy(update={"labels": {"scores": {"success": {"value": True, "reason": ""}}}})
    assert "wrong" not in conversation_page(passed).split("</style>")[1]
