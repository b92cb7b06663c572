"""Where failed conversations went wrong, by rules: each rule on a conversation that has its fault and one that has not."""

from typing import Any

import pytest

from duologue.analysis.faults import Cause, findings, templated_path
from duologue.analysis.outcomes import outcome
from duologue.analysis.testing.failures import groups_of
from duologue.analysis.testing.success import successes
from duologue.data import Conversation, Message
from duologue.data.records import Attempt, Failure, ToolCall, Unsaid
from duologue.views.conversation import conversation_page
from tests.analysis.testing.talks import talk

WISH = "I want to move my flight QX4821 to 2026-05-03."
SUCCESS = {"tool_called": {"name": "change", "arguments": {"date": "2026-05-03"}}}


def call(name: str, error: str | None = None, result: Any = None, **arguments: Any) -> ToolCall:
    done = {} if result is None and error is None else result
    return ToolCall(name=name, arguments=arguments, result=done, error=error)


def reply(text: str, *calls: ToolCall) -> Message:
    return Message(role="assistant", text=text, attempts=(Attempt(text=text, verdict="accepted", tool_calls=calls),))


def failed(*said: Any, success: Any = None, **more: Any) -> Conversation:
    scenario = {"goal": "move it"} | ({} if success is None else {"success": success})
    return talk(more.pop("id", "1"), False, *said, scenario=scenario, **more)


def cause(*said: Any, **more: Any) -> Cause:
    found = outcome(failed(*said, **more)).cause
    assert found is not None
    return found


CODE = reply("Done: it is now on 2026-05-03.", call("change", date="2026-05-03"))
NO_SEAT, MOVED = call("change", "no seat", date="2026-05-03"), call("change", date="2026-05-04")


@pytest.mark.parametrize(
    ("said", "success", "name", "fault"),
    [
        ([WISH, CODE, "And?", CODE], None, "the agent called `change` again after it had been done", "assistant"),
        ([WISH, reply("Moved.", NO_SEAT)], None, "`change` failed, and the agent left it at that", "undecided"),
        (
            [WISH, reply("Moved.", call("change", result={"error": "no seat"}))],
            None,
            "`change` failed, and the agent left it at that",
            "undecided",
        ),
        ([WISH, reply("Moved.", MOVED)], SUCCESS, "the agent called `change` with another `date` than was asked for", "assistant"),
        ([WISH, CODE], {"tool_not_called": "change"}, "the agent called `change`, which it must not", "assistant"),
        ([WISH, "One moment.", "And?", "One moment!"], None, "the agent repeated its message", "assistant"),
        (
            [WISH, reply("Well.", *[call("look_up", booking="QX4821")] * 3)],
            None,
            "the agent repeated the same call of `look_up`",
            "assistant",
        ),
        (
            [WISH, reply("A day later.", NO_SEAT, MOVED)],
            {"tool_not_called": "change"},
            "after `change` failed, the agent called it with another `date`",
            "assistant",
        ),
    ],
)  # fmt: skip
def test_a_rule_finds_the_message_at_which_a_conversation_went_wrong(
    said: list[Any], success: Any, name: str, fault: str
) -> None:
    found = cause(*said, success=success)
    assert (found.name, found.fault, found.message) == (name, fault, len(said) - 1)


@pytest.mark.parametrize(
    "said",
    [
        ["To 2026-05-03.", reply("One moment.", call("transfer_to_x")), "And?", reply("Soon.", call("transfer_to_x"))],
        ["To 2026-05-03.", reply("Moved.", NO_SEAT, call("change", date="2026-05-03"))],
        ["To 2026-05-03.", "I am sorry, I cannot do that.", "Why?", "Your code is ZZ9911."],
        ["To 2026-05-03.", reply("Which?", call("look_up", result={"ref": "RR7"})), "QX4821.", CODE, "Bye.", "Bye!"],
    ],
)
def test_hand_offs_second_tries_words_and_sound_conversations_are_no_finding(said: list[Any]) -> None:
    assert findings(failed(*said, success=SUCCESS)) == []


@pytest.mark.parametrize(
    ("broken", "name", "fault"),
    [
        ([{"kind": "not_called", "tool": "change"}], "`change` was not called", "undecided"),
        ([{"kind": "all_failed", "tool": "change"}], "every call of `change` failed", "undecided"),
        ([{"kind": "said", "side": "assistant"}], "a text was written that must not be", "assistant"),
        ([{"kind": "unsolved"}, {"kind": "refused"}], "the agent refused", "undecided"),
        (
            [{"kind": "state", "path": "bookings.QX4821.date", "expected": '"x"'}],
            "the final state differs at `bookings.*.date`; the user gave up",
            "undecided",
        ),
        ([{"kind": "judged"}], "a judge found that the success was not reached; the user gave up", "undecided"),
        ([], "the success was not reached; the user gave up", "undecided"),
    ],
)
def test_without_a_rule_the_broken_condition_names_the_cause(broken: list[Any], name: str, fault: str) -> None:
    found = cause(WISH, "Hm.", broken=broken, stop="user_gave_up")
    assert (found.name, found.fault, found.site, found.message) == (name, fault, "end", 1)


def test_the_call_that_wrote_the_wrong_value_is_the_place() -> None:
    wrong = reply("It is moved.", call("change", booking="QX4821", day="Monday"))
    state = {"kind": "state", "path": "bookings.QX4821.day", "expected": '"Sunday"', "got": '"Monday"'}
    found = cause(WISH, wrong, "Bye.", broken=[state])
    assert (found.name, found.message) == ("the agent called `change` with another `day` than was asked for", 1)
    assert cause(WISH, wrong, "Bye.").name == "after `change` was called: the success was not reached"
    assert templated_path("orders[3].Ada Lovelace.price") == "orders.*.*.price"


def test_an_error_of_the_agents_code_and_a_validators_reason_are_causes() -> None:
    frames = ("shop/tools.py:12 in book",)
    crash = Failure(node="assistant", error="KeyError: 'date'", fault="assistant", frames=frames)
    assert cause(WISH, stop="model_failed", failure=crash).name == "the agent's code raised KeyError in `book`"
    draft = Attempt(text="x", verdict="rejected", reason="unconfirmed")
    unsaid = (Unsaid(role="assistant", after=1, attempts=(draft,)),)
    found = cause(WISH, stop="assistant_rejected", unsaid=unsaid)
    assert (found.name, found.fault) == ("no reply of the agent was accepted: unconfirmed", "assistant")


def test_who_errs_in_the_earlier_message_is_at_fault() -> None:
    again, which, other = "My booking code is QX4821.", "Which booking is it?", "For how many people?"
    agent_first = cause(WISH, which, again, which, again, other, again)
    assert (agent_first.name, agent_first.fault, agent_first.message) == (
        "the agent repeated its message",
        "assistant",
        3,
    )
    user_first = cause(WISH, which, again, other, again, other)
    assert (user_first.fault, user_first.message) == ("user", 4)
    assert cause("[System] You are a customer.", "Hm.").fault == "user"


def test_groups_count_equal_causes_and_name_the_shortest_conversation_and_the_versions() -> None:
    loop = ["One moment.", "And?", "One moment."]
    long, short = failed(WISH, *loop, "Bye.", id="long"), failed(WISH, *loop, id="short")
    result = successes([long, failed(WISH, reply("No.", NO_SEAT), id="failed"), short])
    assert [
        (group.name, group.conversations, group.first.id, group.first.cause.message) for group in result.groups
    ] == [
        ("the agent repeated its message", 2, "short", 3),
        ("`change` failed, and the agent left it at that", 1, "failed", 1),
    ]
    old, new = result.failures[:1], result.failures[1:]
    assert groups_of({"new": new, "old": old})[0].versions == {"new": 2, "old": 0}


def test_the_page_marks_the_message_at_which_a_conversation_went_wrong() -> None:
    wrong = failed(WISH, reply("Done: moved.", NO_SEAT))
    page = conversation_page(wrong)
    assert page.count('<li class="assistant wrong" id="1/1">') == 1
    assert "here it went wrong: `change` failed, and the agent left it at that" in page
    passed = wrong.model_copy(update={"labels": {"scores": {"success": {"value": True, "reason": ""}}}})
    assert "wrong" not in conversation_page(passed).split("</style>")[1]
