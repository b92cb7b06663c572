"""Whose fault a failure is, and what broke: only what structure shows has a name, and equal failures are one group."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from duologue.analysis.faults import Cause, templated_path
from duologue.analysis.outcomes import outcome
from duologue.analysis.testing.failures import groups_of
from duologue.analysis.testing.success import successes
from duologue.data import Conversation, Message
from duologue.data.records import Attempt, Failure, Step, ToolCall, Unsaid, labels_from
from duologue.views.conversation import conversation_page
from tests.analysis.testing.talks import talk

GOAL, FACTS = "move my flight to another day", ["The booking is QX4821.", "The date is 2026-05-03."]
PLAN = [{"name": "change", "arguments": {"booking": "QX4821", "date": "2026-05-03"}}]
WISH = "I want to move my flight QX4821 to 2026-05-03."
STATE = {"kind": "state", "path": "bookings.QX4821.date", "expected": '"2026-05-03"', "got": '"2026-05-04"'}
NEVER = {"kind": "not_called", "tool": "change"}


def call(name: str, error: str | None = None, result: Any = None, **arguments: Any) -> ToolCall:
    done = {} if result is None and error is None else result
    return ToolCall(name=name, arguments=arguments, result=done, error=error)


def reply(text: str, *calls: ToolCall, steps: tuple[Step, ...] = ()) -> Message:
    attempt = Attempt(text=text, verdict="accepted", tool_calls=calls, steps=steps)
    return Message(role="assistant", text=text, attempts=(attempt,))


def failed(*said: Any, success: Any = None, plan: Any = None, **more: Any) -> Conversation:
    scenario = {"goal": GOAL, "facts": FACTS, "success": success or {}} | ({} if plan is None else {"plan": plan})
    scenario |= {"unknown": more.pop("unknown", [])}
    return talk(more.pop("id", "1"), False, *said, scenario=scenario, **more)


def cause(*said: Any, **more: Any) -> Cause:
    found = outcome(failed(*said, **more)).cause
    assert found is not None
    return found


MOVED = call("change", booking="QX4821", date="2026-05-04")
OTHER, CANCELLED = call("change", booking="QX4812", date="2026-05-03"), call("cancel", booking="QX4821")
AWAY = call("change", "HTTPStatusError('Server answered 503')", **PLAN[0]["arguments"])
BYE = "Thank you, goodbye."


@pytest.mark.parametrize(
    ("said", "more"),
    [
        ([WISH, reply("Moved.", MOVED), BYE], {"plan": PLAN, "broken": [STATE]}),
        ([WISH, "I cannot do that.", "I give up, goodbye."], {"plan": PLAN, "broken": [NEVER]}),
        ([WISH, reply("Moved.", MOVED), BYE], {"success": {"tool_not_called": "change"}}),
        ([WISH, reply("No.", call("change", "Error invoking tool 'change' with kwargs {}: field required"))], {"broken": [NEVER]}),
        ([WISH, reply("No.", call("change", "no such booking", booking="QX4812"))], {"broken": [NEVER]}),
        ([WISH, reply("No.", call("change", "no such date", booking="QX4821", date="03/05/26"))], {"plan": PLAN, "broken": [NEVER]}),
        ([WISH, *["Which one?", "Yes.", "And how are you?", "Well.", "Nice weather!", BYE]], {"plan": PLAN, "broken": [NEVER]}),
        (["Please change QX4821.", reply("Moved.", MOVED), BYE], {"success": {"tool_not_called": "change"}}),  # a refusal is wanted
        ([WISH, "Ignored."], {"broken": [{"kind": "followed"}]}),
        ([WISH, "Hm."], {"stop": "agent_timeout"}),
        ([WISH], {"stop": "model_failed", "failure": Failure(node="assistant", error="KeyError: 1", fault="assistant")}),
    ],
)  # fmt: skip
def test_the_agent_is_at_fault_by_its_end_a_forbidden_call_or_a_plan_that_the_user_gave_all_for(
    said: list[Any], more: dict[str, Any]
) -> None:
    assert cause(*said, **more).fault == "assistant"


@pytest.mark.parametrize(
    ("said", "more"),
    [
        ([WISH, reply("Moved.", MOVED), BYE], {"broken": [STATE]}),  # there is no plan
        (["Move my flight.", "Which one?", "QX4821.", "To when?"], {"plan": PLAN, "broken": [NEVER]}),
        ([WISH, "Shall I move it?", "No, do not.", "Fine."], {"plan": PLAN, "broken": [NEVER]}),
        ([WISH, reply("No.", call("change", "the system is down", **PLAN[0]["arguments"]))], {"plan": PLAN, "broken": [NEVER]}),
        ([WISH, reply("No.", call("change", "User rejected the tool call for `change`", booking="X1"))], {"plan": PLAN}),
        ([WISH, "One moment.", "And?", "One moment."], {"broken": [NEVER]}),  # loops may have any reason
        ([WISH, reply("Moved.", MOVED), BYE], {"success": {"any_of": [{"tool_not_called": "change"}]}}),
        (["Move it, it is QX4812.", reply("Moved.", OTHER), BYE], {"success": {"tool_not_called": "change"}}),
        (["Please cancel QX4821.", reply("Done.", CANCELLED), BYE], {"success": {"tool_not_called": "cancel"}, "plan": PLAN}),
        (["Move it to May 3rd.", "Which?", "It is QX4812.", reply("Moved.", call("change", booking="QX4812", date="2026-05-04"))], {"broken": [STATE], "plan": PLAN}),
        ([WISH, "Shall I?", "Yes.", "One moment."], {"plan": PLAN, "broken": [NEVER], "stop": "max_turns"}),
    ],
)  # fmt: skip
def test_what_structure_does_not_show_is_undecided(said: list[Any], more: dict[str, Any]) -> None:
    found = cause(*said, **more)
    assert (found.fault, found.because) == ("undecided", "")


@pytest.mark.parametrize(
    ("said", "words", "message"),
    [
        (["[System] You are a customer who moves a flight.", "Hm."], "another side", 0),
        (
            ["Move QX4821 to 2026-06-03.", reply("Moved.", call("change", booking="QX4821", date="2026-06-03")), BYE],
            "another value",
            0,
        ),
        (
            [
                "Move my flight.",
                "Which is your card?",
                "My card is 4711.",
                reply("Moved.", call("change", card="4711")),
                BYE,
            ],
            "does not know",
            2,
        ),
        (["Move my flight.", "Which?", "It's QX4812.", "There is no such booking.", "Bye."], "does not have", 2),
    ],
)
def test_the_user_is_at_fault_by_what_it_says_against_its_scenario(said: list[str], words: str, message: int) -> None:
    found = cause(*said, broken=[NEVER], unknown=["the card"])
    assert (found.fault, found.message) == ("user", message)
    assert words in found.because


@pytest.mark.parametrize(
    ("asked", "plan", "fault"),
    [
        ("Which booking is it?", PLAN, "user"),  # it keeps the booking to itself, which the plan needs
        ("Which one is it?", None, "undecided"),
        ("Erledigt. Noch etwas?", [], "undecided"),
        ("Which booking is it? It is in your mail.", PLAN, "user"),
    ],
)
def test_a_user_leaves_early_that_keeps_a_value_of_the_plan_to_itself(asked: str, plan: Any, fault: str) -> None:
    assert cause("Move my flight.", asked, BYE, plan=plan, broken=[NEVER]).fault == fault


@pytest.mark.parametrize(
    "said",
    [
        ["I am to be somewhere else that day.", "Done."],  # a goal in other words
        ["Move my flight QX4821 to 2026-05-03.", "Your phone?", "It is 555010.", "Done."],
        ["Move my flight QX4821 to 2026-05-03.", "Sorry?", "Move my flight QX4821 to 2026-05-03.", "Done."],
    ],
)
def test_what_may_have_another_reason_is_no_fault_of_the_user(said: list[str]) -> None:
    assert cause(*said, broken=[NEVER]).fault == "undecided"


@pytest.mark.parametrize(
    "said",
    [
        ["Move my flight QX4821 to 2026-05-03.", "Sure?", "Sorry, to 2026-06-03.", reply("Moved.", MOVED), BYE],
        ["Move my flight 14821 to 2026-05-03.", "I cannot do that.", BYE],
    ],
)
def test_the_agent_is_not_at_fault_where_the_user_gave_another_value_too(said: list[Any]) -> None:
    assert cause(*said, plan=PLAN, broken=[NEVER]).fault == "undecided"


def test_a_harmless_fault_of_the_user_explains_nothing_where_the_agent_went_on_and_acted() -> None:
    again = ("Move my flight to Rome.", "For how many?", "Move my flight to Rome!")
    more = ("And when?", "Move my flight to Rome!", "Hm.")
    assert cause(*again, *more, broken=[NEVER], plan=PLAN).fault == "user"  # it keeps the date to itself
    assert cause(*again, *more, broken=[NEVER]).fault == "undecided"
    assert cause(*again, reply("Moved.", MOVED), broken=[STATE]).fault == "undecided"


@pytest.mark.parametrize(
    ("broken", "name"),
    [
        ([NEVER], "`change` was not called"),
        ([{"kind": "unsolved"}, {"kind": "refused"}], "the agent refused"),
        ([STATE], "the final state differs at `bookings.*.date`: a date that is not the expected one"),
        ([{**STATE, "expected": '"sent"', "got": "null"}], "the final state differs at `bookings.*.date`: \"sent\" was expected, and it is null"),
        ([{"kind": "judged"}], "a judge found that the success was not reached; the user gave up"),
        ([], "the success was not reached; the user gave up"),
    ],
)  # fmt: skip
def test_the_broken_condition_names_the_group(broken: list[Any], name: str) -> None:
    found = cause(WISH, "Hm.", broken=broken, stop="user_gave_up")
    assert (found.name, found.fault, found.site, found.message) == (name, "undecided", "end", None)
    assert templated_path("orders[3].Ada Lovelace.price") == "orders.*.*.price"


def test_the_call_that_wrote_the_wrong_value_is_the_place_and_groups_are_by_the_last_node_without_hand_offs() -> None:
    steps = (
        Step(node="supervisor", calls=(0,)),
        Step(node="tools", path=("refunds",), calls=(1,)),
        Step(node="supervisor", text="Moved."),
    )
    for hand_off in (call("transfer_to_refunds"), call("delegate", agent="refunds"), call("ask_refunds")):
        found = cause(WISH, reply("Moved.", hand_off, MOVED, steps=steps), BYE, broken=[STATE])
        assert found.group.endswith("not the expected one, by `change`, at `refunds`")
        assert (found.site, found.message) == ("call", 1)
    alone = cause(WISH, reply("Moved.", call("transfer_to_refunds"), steps=steps[:1]), BYE, broken=[NEVER])
    assert alone.group == "`change` was not called, at `supervisor`"


def test_an_error_of_the_agents_code_and_a_validators_reason_are_causes() -> None:
    frames = ("shop/tools.py:12 in book",)
    crash = Failure(node="assistant", error="KeyError: 'date'", fault="assistant", frames=frames)
    assert cause(WISH, stop="model_failed", failure=crash).name == "the agent's code raised KeyError in `book`"
    draft = Attempt(text="x", verdict="rejected", reason="unconfirmed")
    unsaid = (Unsaid(role="assistant", after=1, attempts=(draft,)),)
    found = cause(WISH, stop="assistant_rejected", unsaid=unsaid)
    assert (found.name, found.fault) == ("no reply of the agent was accepted: unconfirmed", "assistant")


def test_groups_count_equal_causes_and_name_the_shortest_conversation_the_faults_and_the_versions() -> None:
    long, short = (failed(WISH, *["Hm.", "And?"] * n, "Hm.", id=f"{n}", broken=[NEVER]) for n in (2, 1))
    planned = failed(WISH, "I am sorry.", "And?", "I cannot do that.", BYE, id="planned", broken=[NEVER], plan=PLAN)
    result = successes([long, failed(WISH, "No.", id="other", broken=[STATE]), short, planned])
    first, second = result.groups
    assert (first.conversations, first.first.id, first.fault) == (3, "1", "undecided 2, assistant 1")
    assert (second.conversations, second.fault) == (1, "undecided")
    old, new = result.failures[:1], result.failures[1:]
    assert sorted(groups_of({"new": new, "old": old})[0].versions.items()) == [("new", 3), ("old", 0)]


def test_a_tool_whose_endpoint_is_away_is_no_fault_of_the_agent_that_called_it_as_planned() -> None:
    assert cause(WISH, reply("I am sorry.", AWAY), BYE, plan=PLAN, broken=[NEVER]).fault == "infrastructure"
    assert cause(WISH, reply("It is done.", AWAY), BYE, plan=PLAN, broken=[NEVER]).fault == "undecided"
    crash = Failure(node="assistant", error="KeyError: 1", fault="assistant")
    for made, fault in ((AWAY, "undecided"), (MOVED, "assistant"), (call("change", "validation error"), "assistant")):
        unsaid = (
            Unsaid(role="assistant", after=1, attempts=(Attempt(text="", verdict="unjudged", tool_calls=(made,)),)),
        )
        assert cause(WISH, stop="model_failed", failure=crash, unsaid=unsaid).fault == fault
        assert cause(WISH, stop="agent_timeout", unsaid=unsaid).fault == fault


def read(row: list[Any], scenarios: dict[str, Any]) -> Conversation:
    """A labelled failure of the file: its scenario, what was said with calls, and how it ended."""
    further: list[Any] = ["user_ended", None, None]
    _, name, said, stop, error, side = [*row, *further[len(row) - 3 :]]
    spoken = [one if isinstance(one, str) else reply(one[0], call(one[1], *one[3:], **one[2])) for one in said]
    crash: dict[str, Any] = {} if error is None else {"failure": Failure(node="assistant", error=error, fault=side)}
    return talk("1", False, *spoken, scenario=scenarios[name], broken=[STATE], stop=stop, **crash)


def labelled(name: str) -> Iterator[tuple[str, Conversation]]:
    """Failures with whose fault each is: short ones by several authors, whole ones by one who had not read the rules."""
    text = Path(__file__).with_name(name).read_text("utf-8")
    if name.endswith(".json"):
        value = json.loads(text)
        yield from ((row[0], read(row, value["scenarios"])) for row in value["failures"])
    else:
        rows = map(json.loads, text.splitlines())
        yield from ((row["whose"], Conversation.model_validate(row["talk"])) for row in rows)


@pytest.mark.parametrize(("name", "right"), [("failures.json", 30), ("whole_failures.jsonl", 23)])
def test_of_the_faults_that_are_named_at_most_one_in_twenty_is_wrong(name: str, right: int) -> None:
    marks = Counter[str]()
    for whose, conversation in labelled(name):
        found = outcome(conversation).cause
        assert found is not None
        marks["undecided" if found.fault == "undecided" else "right" if found.fault == whose else "wrong"] += 1
    print(f"{marks.total()} failures: {dict(marks)}")
    assert marks["wrong"] * 20 <= marks["right"] + marks["wrong"]
    assert marks["right"] >= right


def test_the_page_marks_the_message_at_which_a_conversation_went_wrong() -> None:
    wrong = failed(WISH, reply("Done: moved.", MOVED), broken=[STATE])
    page = conversation_page(wrong)
    assert page.count('<li class="assistant wrong" id="1/1">') == 1
    assert "here it went wrong: the final state differs" in page
    passed = wrong.model_copy(update={"labels": labels_from({"scores": {"success": {"value": True, "reason": ""}}})})
    assert "wrong" not in conversation_page(passed).split("</style>")[1]
