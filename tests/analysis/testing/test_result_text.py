"""The result of a test in words and as Markdown."""

import re
from typing import Any

import pytest

import duologue
from duologue.analysis.testing.junit_report import junit
from duologue.analysis.testing.markdown_report import markdown
from duologue.analysis.testing.plan import PlannedConversation
from duologue.analysis.testing.result_text import failed_because, failed_by_scenario, headline
from duologue.analysis.testing.shares import few
from duologue.analysis.testing.success import successes
from duologue.analysis.testing.verdict import with_verdict
from duologue.data import Conversation, Message
from duologue.data.formats.messages import NO_RESULT
from duologue.data.records import INTERRUPT, WAITING, Attempt, Failure, ToolCall, Unsaid


def talk(name: str, value: Any, scenario: str = "a", repeat: int = 0, messages: int = 1, **more: Any) -> Conversation:
    labels = {"scores": {"success": {"value": value, "reason": more.pop("reason", "")}}}
    said = tuple(Message(role="user", text="x") for _ in range(messages))
    changed = {"stop": "max_turns", **more}
    return Conversation(id=name, scenario={"title": scenario}, repeat=repeat, labels=labels, messages=said, **changed)


def test_sixteen_repeats_print_few_k_and_keep_all() -> None:
    assert few(range(1, 16)) == [1, 2, 4, 8, 15]
    result = successes(talk(f"{s}{n}", n > 2, s, n) for s in "abc" for n in range(16))
    (line,) = [line for line in headline(result) if line.startswith("pass^")]
    assert re.findall(r"pass\^(\d+)", line) == ["1", "2", "4", "8", "15"]
    assert set(result.pass_hat_intervals) == set(range(1, 16))


def test_failures_are_one_for_each_scenario_the_shortest_with_how_many_more() -> None:
    lengths = [("a", 3), ("a", 1), ("b", 5), ("b", 2), ("b", 2)]
    result = successes(talk(f"t{n}", False, s, n, messages=many) for n, (s, many) in enumerate(lengths))
    assert [(failure.id, more) for failure, more in failed_by_scenario(result)] == [("t1", 1), ("t3", 2)]


def test_scenarios_of_one_title_stay_apart() -> None:
    other = talk("u", False, "a").model_copy(update={"scenario": {"title": "a", "seat": 2}})
    result = successes([talk("t", False, "a"), other])
    assert [(failure.id, more) for failure, more in failed_by_scenario(result)] == [("t", 0), ("u", 0)]
    assert [row[0] for row in result.table().rows] == ["a (t)", "a (u)"]
    assert [failure.scenario for failure, _ in failed_by_scenario(result)] == ["a (t)", "a (u)"]
    assert [row.first for row in result.scenarios] == ["t", "u"]
    assert successes([talk("t", False, "a")]).names == ("a",)


def test_successes_whose_user_gave_up_are_counted_in_a_note() -> None:
    many = [talk("a", True, stop="user_gave_up"), talk("b", True, "b"), talk("c", False, "c", stop="user_gave_up")]
    result = successes(many)
    assert result.gave_up == 1
    assert any(line.startswith("in 1 of 2 successes the user gave up: ") for line in headline(result))
    assert not any("gave up" in line for line in headline(successes(many[1:])))


def test_a_user_that_gave_up_after_the_refusal_that_its_success_asks_for_is_no_reason_to_doubt() -> None:
    def asked(success: dict[str, Any]) -> Any:
        ended = talk("a", True, stop="user_gave_up")
        return successes([ended.model_copy(update={"scenario": {"title": "a", "success": success}})])

    asked_for = "in 1 of 1 successes the user gave up after the refusal that its 'success' asks for"
    assert (result := asked({"refused": True})).gave_up == result.gave_up_refused == 1
    assert [line for line in headline(result) if "gave up" in line] == [asked_for]
    assert asked_for not in headline(asked({"refused": False}))


def test_one_line_counts_all_users_that_gave_up() -> None:
    refusal = talk("a", True, stop="user_gave_up")
    refusal = refusal.model_copy(update={"scenario": {"title": "a", "success": {"refused": True}}})
    lines = headline(successes([refusal, talk("b", True, "b", stop="user_gave_up"), talk("c", True, "c")]))
    assert [line for line in lines if "gave up" in line] == [
        "in 2 of 3 successes the user gave up, in 1 after the refusal that its 'success' asks for; "
        "of the other 1 read one, as its 'success' may ask too little"
    ]


def test_a_note_says_that_a_goodbye_counts_as_success_where_a_scenario_asks_for_none() -> None:
    result = duologue.test(lambda messages: "It is booked.", [{"goal": "book a table"}])
    assert result.by_goodbye == result.successes == 1
    assert any(
        line.startswith("in 1 of 1 scored conversation the scenario has no 'success'") for line in headline(result)
    )
    told = duologue.test(lambda messages: "It is booked.", [{"goal": "book", "success": {"text_contains": "booked"}}])
    assert told.by_goodbye == 0


CALLS = (ToolCall(name="change"), ToolCall(name="look_up"))
CALLED = Message(
    role="assistant", text="x", attempts=(Attempt(number=1, text="x", verdict="accepted", tool_calls=CALLS),)
)


@pytest.mark.parametrize(
    ("success", "named"),
    [
        ({"tool_called": "chnage"}, "chnage"),
        ({"tool_called": [{"name": "refund"}, "change"]}, "refund"),
        ({"any_of": [{"tool_not_called": "chang"}, {"refused": True}]}, "chang"),
        ({"not": {"tool_called": {"name": "chang", "arguments": {}}}}, "chang"),
        ({"tool_called": "change", "tool_not_called": "refund"}, ""),
        ({"not": {"tool_called": "refund"}}, ""),
        ({"text_contains": "tool_called"}, ""),
    ],
)
def test_a_tool_of_success_that_no_conversation_called_is_named(success: dict[str, Any], named: str) -> None:
    conversation = talk("a", True).model_copy(update={"scenario": {"success": success}, "messages": (CALLED,)})
    line = f"`success` names the tool {named}, which no conversation called; tools called: change, look_up"
    assert successes([conversation]).warnings == ((line,) if named else ())
    assert [text for text in headline(successes([conversation])) if "names the tool" in text] == [line] * bool(named)


def test_a_tool_of_a_draft_that_was_not_sent_was_called() -> None:
    unsaid = Unsaid(
        role="assistant", after=0, attempts=(Attempt(number=1, text="x", verdict="rejected", tool_calls=CALLS),)
    )
    conversation = talk("a", True, unsaid=(unsaid,)).model_copy(
        update={"scenario": {"success": {"tool_called": "change"}}}
    )
    assert successes([conversation]).warnings == ()
    (line,) = successes([conversation.model_copy(update={"scenario": {"success": {"tool_called": "refund"}}})]).warnings
    assert line.endswith("called: change (in a draft that was not sent), look_up (in a draft that was not sent)")


@pytest.mark.parametrize(("calls", "shown"), [((ToolCall(name="interrupt"), CALLS[1]), "look_up"), ((), "none")])
def test_an_approval_is_no_tool_of_the_agent(calls: tuple[ToolCall, ...], shown: str) -> None:
    reply = CALLED.model_copy(update={"attempts": (CALLED.attempts[0].model_copy(update={"tool_calls": calls}),)})
    scenario = {"success": {"tool_called": "refund"}}
    conversation = talk("a", True).model_copy(update={"scenario": scenario, "messages": (reply,)})
    (line,) = successes([conversation]).warnings
    assert line.endswith(f"tools called: {shown}")
    assert successes([talk("a", True).model_copy(update={"scenario": scenario, "messages": ()})]).warnings == ()


def called(name: str, value: bool, *calls: ToolCall, reason: str = "") -> Conversation:
    """A conversation whose agent called these tools in a rejected draft and in the accepted one."""
    drafts = Attempt(text="x", verdict="rejected", tool_calls=calls), Attempt(number=2, text="x", verdict="accepted")
    reply = Message(role="assistant", text="x", attempts=drafts)
    return talk(name, value, name, reason=reason).model_copy(update={"messages": (reply,)})


FULL = "Error: OSError('no seat is free')"


def test_a_tools_error_that_the_agent_caught_stands_in_every_report() -> None:
    failing = ToolCall(name="book", error=f"\n{FULL}\n Please fix your mistakes.")
    over = [
        called("a", False, failing, failing, reason="r"),
        called("b", True, failing),
        called("c", True, ToolCall(name="book")),
    ]
    result = with_verdict(successes([*over, talk("d", True, "d")]))
    line = f"calls of book ended in an error in 2 of 3 conversations that called it, first in a: {FULL}"
    assert (result.passed, result.warnings) == (True, (line,))
    assert line in headline(result)
    because = f"r; the maximum number of turns was reached; a call of book ended in an error: {FULL}"
    assert failed_because(*result.failures) == f"{because} (fault: assistant)"
    assert because in markdown(result, "x").replace("\\", "")
    assert f"a call of book ended in an error: {FULL}" in junit(over, "x").splitlines()


@pytest.mark.parametrize(
    "call",
    [
        ToolCall(name="book", error=WAITING),
        ToolCall(name="book", error=NO_RESULT),
        ToolCall(name=INTERRUPT, error="no one can answer the agent: it asks no one question"),
        ToolCall(name="book", result="Error: no seat is free"),
    ],
)
def test_a_call_that_waits_or_has_no_result_is_no_error_of_its_tool(call: ToolCall) -> None:
    assert successes([called("a", True, call)]).warnings == ()


def test_an_error_that_the_reason_names_stands_there_once_and_a_long_one_is_shortened() -> None:
    reason = f"book was called, and every call ended in an error: {FULL}"
    (failure,) = successes([called("a", False, ToolCall(name="book", error=FULL), reason=reason)]).failures
    assert failed_because(failure).count(FULL) == 1
    (line,) = successes([called("a", True, ToolCall(name="book", error="e" * 10_000))]).warnings
    assert len(line) < 400


def test_of_many_tools_that_do_not_exist_ten_are_named() -> None:
    calls = [ToolCall(name=f"t{number}", error="not a valid tool") for number in range(14)]
    *lines, last = successes([called("a", True, *calls)]).warnings
    assert (len(lines), last) == (10, "calls of 4 more tools ended in an error")


@pytest.mark.parametrize(
    ("flaw", "text", "counted"), [("content_filter", "", 0), ("content_filter", "No", 1), (None, "", 1)]
)
def test_a_reply_of_which_the_endpoints_filter_left_nothing_is_no_draft_that_a_validator_rejected(
    flaw: str | None, text: str, counted: int
) -> None:
    attempt = Attempt(text=text, verdict="rejected", reason="content_filter", flaw=flaw)
    result = successes([talk("a", True, unsaid=(Unsaid(role="assistant", after=0, attempts=(attempt,)),))])
    assert result.rejected_drafts == counted
    assert any("first draft" in line for line in headline(result)) == bool(counted)


def test_one_answer_among_many_is_not_none() -> None:
    silent = [talk(f"{n}", False, f"{n}", stop="agent_timeout") for n in range(300)]
    lines = headline(successes([talk("a", True), *silent]))
    assert any(line.startswith("answered below 1 %: in 300 of 301 conversations") for line in lines)
    assert any(line.startswith("answered 0 %: in 300 of 300 conversations") for line in headline(successes(silent)))


@pytest.mark.parametrize(
    ("ended", "silent", "percent"), [(4, 2, "67"), (299, 1, "above 99"), (1, 1, "50"), (1, 150, "1")]
)
def test_the_share_of_answers_is_rounded_and_all_only_where_it_is(ended: int, silent: int, percent: str) -> None:
    late = [talk(f"{n}", False, stop="agent_timeout") for n in range(silent)]
    lines = headline(successes([*late, *(talk(f"a{n}", True) for n in range(ended))]))
    assert any(line.startswith(f"answered {percent} %: in {silent} of {ended + silent} ") for line in lines)


def test_a_conversation_without_an_accepted_reply_is_not_answered_and_has_the_validators_reason() -> None:
    attempt = Attempt(text="No.", verdict="rejected", reason="too_short")
    turn = Unsaid(role="assistant", after=1, attempts=(attempt, attempt))
    over = [talk(f"{value}", value, stop="assistant_rejected", unsaid=(turn,), reason="r") for value in (True, False)]
    result = with_verdict(successes(over))
    assert (result.answered, result.unanswered, result.unanswered_successes) == (0, 2, 1)
    assert (result.passed, result.not_passed_because) == (False, ("the agent answered in no conversation to the end",))
    assert result.none_accepted == {"too_short": 2}
    assert any(
        line.endswith("did not answer to the end: no reply was accepted (too_short) in 2") for line in headline(result)
    )
    because = "r; no reply of the assistant was accepted: too_short"
    assert failed_because(*result.failures) == f"{because} (fault: assistant)"
    assert because in markdown(result, "x").replace("\\", "")
    assert f'message="{because}"' in junit(over, "x")


def test_what_a_model_wrote_is_text_in_markdown() -> None:
    hostile = "<img src=x onerror=y> [click](http://evil) | **b** `c` www.evil.org\n# head \u202e"
    result = successes([talk("a/b c", False, hostile, reason=hostile), talk("ok", True, "b")])
    result = result.model_copy(update={"advice": ("<b>",)})
    text = markdown(result, "duologue test: x", lambda name: f"page.html#{name}")
    assert text.startswith(
        "## duologue test: x\n\n**2 conversations: 2 scored, 0 cut short**\n\n1 of 2 scored conversations succeeded: 0.50 ("
    )
    assert "](page.html#a/b c)" in text
    plain = text.replace("](page.html#a/b c)", "")
    for sign in ("<img", "[click", "**b", "`c", "://", "www.evil", "\u202e", "\n# head", "<b>"):
        assert not re.search(rf"(?<!\\){re.escape(sign)}", plain), sign
    rows = [line for line in text.splitlines() if line.startswith("| ") and "head" in line]
    assert len(rows) == 1
    assert len(re.findall(r"(?<!\\)\|", rows[0])) == 7


def test_a_long_test_lists_some_scenarios_and_says_how_many_more() -> None:
    text = markdown(successes(talk(f"t{n}", n % 2 == 1, f"s{n:03}") for n in range(240)), "x")
    assert "- 140 more scenarios are left out here" in text
    assert "- 100 more scenarios\n" in text
    assert "](" not in text


def test_a_run_that_lacks_scores_says_between_what_the_share_of_all_lies() -> None:
    plan = [PlannedConversation(name, name, name) for name in "abcd"]
    scored = [talk("a", True), talk("b", True, "b"), talk("c", None, "c", stop="budget")]
    result = successes(scored, plan=plan)
    assert result.of_planned == (0.5, 1.0)
    line = (
        "of all 4 conversations 0.50 succeed if the 2 without a score fail, and 1.00 if they succeed: "
        "the interval is only of the scored"
    )
    assert headline(result)[2] == line
    assert line in markdown(result, "t")
    assert successes(scored[:2]).of_planned is None
    assert successes(scored[2:], plan=plan).of_planned == (0.0, 1.0)  # no share, so no line
    assert not any("if they succeed" in text for text in headline(successes(scored[2:], plan=plan)))


def test_what_is_no_message_is_not_called_a_crash() -> None:
    failure = Failure(node="assistant", error="AnswerError: the function answered with int", fault="assistant")
    result = successes([talk("a", None, stop="model_failed", failure=failure)], crashes="failure")
    assert (result.crashed, result.without_message) == (1, 1)
    assert (
        "answered 0 %: in 1 of 1 conversation the agent did not answer to the end: it answered with no message in 1"
        in headline(result)
    )
