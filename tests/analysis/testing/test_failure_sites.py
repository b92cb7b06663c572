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
from duologue.data.records import Attempt, Failure, ToolCall, Unsaid
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
            None,
            "`change` failed, and the agent left it at that",
            "call",
        ),
        (
            [WISH, reply("Done: it has been moved.", call("change", result={"error": "no seat"}))],
            None,
            "`change` failed, and the agent left it at that",
            "call",
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
            [WISH, ("assistant", "One moment."), ("user", "And?"), ("assistant", "One moment!")],
            None,
            "the agent repeated its message",
            "message",
        ),
        (
            [WISH, reply("Well.", *[call("look_up", booking="QX4821")] * 3)],
            None,
            "the agent repeated the same call of `look_up`",
            "call",
        ),
        (
            [
                WISH,
                reply(
                    "You fly a day later.",
                    call("change", "no seat", date="2026-05-03"),
                    call("change", date="2026-05-04"),
                ),
            ],
            {"tool_not_called": "change"},
            "after `change` failed, the agent called it with another `date`",
            "call",
        ),
    ],
)
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
        [
            reply("One moment.", call("transfer_to_bookings")),
            ("user", "And?"),
            reply("On it.", call("transfer_to_bookings")),
        ],
        [reply("Moved.", call("change", "no seat", date="2026-05-03"), call("change", date="2026-05-03"))],
        [("assistant", "I am sorry, I cannot do that."), ("user", "Why?"), ("assistant", "Your code is ZZ9911.")],
    ],
)
def test_hand_offs_second_tries_and_words_are_no_finding(messages: list[Any]) -> None:
    assert findings(talk(("user", "I want to move my flight to 2026-05-03."), *messages)) == []


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
    again, other = ("user", "My booking code is QX4821."), reply("For how many people?")
    agent_first = cause(WISH, CODE, again, CODE, again, other)
    assert (agent_first.name, agent_first.message) == ("the agent called `change` again after it had been done", 3)
    user_first = cause(WISH, reply(ASKED), again, other, again, CODE, ("user", "And?"), CODE)
    assert user_first.name.startswith("the user simulator was at fault: a user that sends the same again")


def test_groups_count_equal_causes_and_name_the_shortest_conversation_and_the_versions() -> None:
    loop = [("assistant", "One moment."), ("user", "And?"), ("assistant", "One moment.")]
    long, short = talk(WISH, *loop, ("user", "Bye."), id="long"), talk(WISH, *loop, id="short")
    failed = talk(WISH, reply("No.", call("change", "no seat")), id="failed")
    result = successes([long, failed, short])
    assert [(group.name, group.conversations, group.first, group.message) for group in result.groups] == [
        ("the agent repeated its message", 2, "short", 3),
        ("`change` failed, and the agent left it at that", 1, "failed", 1),
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
    failed = talk(WISH, reply("Done: moved.", call("change", "no seat", date="2026-05-03")))
    page = conversation_page(failed)
    assert page.count('<li class="assistant wrong" id="1/1">') == 1
    assert "here it went wrong: `change` failed, and the agent left it at that" in page
    passed = failed.model_copy(update={"labels": {"scores": {"success": {"value": True, "reason": ""}}}})
    assert "wrong" not in conversation_page(passed).split("</style>")[1]
