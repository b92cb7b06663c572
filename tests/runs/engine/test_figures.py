"""How far a run is, in figures and lines."""

from collections import Counter

import pytest

from duologue.data import Attempt, Conversation, Message, Usage
from duologue.nodes.calls.spending import PriceQuery, Spending
from duologue.runs.engine.figures import RunFigures, dollars, duration
from duologue.runs.engine.reports import EndpointNow


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def conversation(name):
    used = Usage(input_tokens=90, output_tokens=10)
    messages = (
        Message(role="user", text="Hm?", attempts=(Attempt(text="Hm?", verdict="accepted", usage=used),)),
        Message(role="assistant", text="Yes.", attempts=(Attempt(text="Yes.", verdict="accepted", usage=used + used),)),
    )
    return Conversation(id=name, scenario={"kind": "call"}, messages=messages, stop="max_turns")


def state(name, attempts=(), turn=0, opened=0):
    return {"scenario": {}, "origin": {"id": name, "opened": opened}, "attempts": list(attempts), "turn": turn}


def rejected(*reasons):
    return [
        {"number": number, "text": "", "verdict": "rejected", "reason": reason} for number, reason in enumerate(reasons)
    ]


def test_turns_and_rejections_by_reason_are_counted_from_states_once():
    figures, accepted = RunFigures(3), {"number": 3, "text": "", "verdict": "accepted"}
    for now in (
        state("a"),
        state("a", rejected("enumeration")),
        state("a", rejected("enumeration")),
        state("a", rejected("enumeration", "too_long")),
        state("a", [*rejected("enumeration", "too_long"), accepted, *rejected("not_in_section")]),
        state("a", [*rejected("enumeration", "too_long"), accepted, *rejected("not_in_section"), accepted], turn=1),
        state("b", rejected("enumeration"), turn=5, opened=4),
    ):
        figures.watch(now)
    assert (figures.tally.turns, figures.under_way()) == (2, 2)
    assert figures.tally.rejected == {"enumeration": 2, "too_long": 1, "not_in_section": 1}


def test_without_a_count_of_calls_tokens_are_those_of_conversations_that_are_over():
    figures = RunFigures(2)
    figures.watch(state("a"))
    figures.keep(conversation("a"))
    assert (figures.finished, figures.under_way()) == (1, 0)
    assert {role: spent.tokens for role, spent in figures.sides.items()} == {"user": 100, "assistant": 200}


def test_tokens_and_cost_by_side_are_those_of_every_call():
    spending = Spending(priced=True)
    figures = RunFigures(2, spending)
    spending.add("gpt-4.1", {"input_tokens": 1_000_000, "output_tokens": 0}, role="user", query=PriceQuery("gpt-4.1"))
    assert "user 1.00M tokens $2.00" in figures.line()


def test_an_unknown_cost_is_not_told_as_0():
    spending = Spending(priced=True)
    spending.add("own", {"input_tokens": 10, "output_tokens": 1}, role="user", query=PriceQuery("own"))
    assert "$" not in RunFigures(2, spending).line()


def test_calls_a_second_are_those_of_late(clock):
    endpoint = EndpointNow("api.example.com", 0, {}, None)
    figures = RunFigures(2, endpoints=lambda: [endpoint], clock=clock)
    assert figures.calls_a_second() is None
    for now, requests in ((10, 100), (20, 200), (40, 220), (60, 240)):
        clock.now, endpoint = now, endpoint._replace(requests=requests)
        rate = figures.calls_a_second()
    assert rate == pytest.approx(40 / 40)


def test_the_time_left_is_told_once_enough_conversations_are_over(clock):
    figures = RunFigures(20, clock=clock)
    clock.now = 100
    for number in range(4):
        figures.keep(conversation(f"{number}"))
    assert figures.left is None
    figures.keep(conversation("4"))
    assert figures.left == 300
    assert figures.lines()[0] == "5/20 conversations  0 turns  about 5 min left"


def test_what_failed_was_cancelled_or_cut_short_is_not_told_as_finished():
    figures = RunFigures(42)
    figures.keep(conversation("a"))
    for name in "bcde":
        figures.keep(conversation(name).model_copy(update={"stop": "cancelled"}))
    figures.keep(conversation("f").model_copy(update={"stop": "model_failed"}))
    figures.keep(conversation("g").model_copy(update={"stop": "budget"}))
    assert figures.line().startswith("1/42 conversations, 4 cancelled, 1 cut short, 1 failed, 0 turns")
    assert figures.finished == 1


def test_once_nothing_new_begins_it_tells_what_is_finished_and_no_time_left(clock):
    ending = [None]
    figures = RunFigures(42, clock=clock, ending=lambda: ending[0])
    clock.now = 60
    for number in range(8):
        figures.keep(conversation(f"{number}"))
    for name in "abc":
        figures.watch(state(name))
    assert "left" in figures.line()
    ending[0] = "interrupted"
    assert figures.lines()[0] == "8/42 conversations, finishing 3 conversations  0 turns"


@pytest.mark.parametrize(
    ("cost", "words"), [(0.00000031, "$0.00000031"), (0.0042, "$0.0042"), (0.0999, "$0.100"), (0.1, "$0.10"), (2, "$2.00")]
)  # fmt: skip
def test_a_cost_has_as_many_digits_as_tell_something(cost, words):
    assert dollars(cost) == words


def test_faults_and_a_wait_for_the_endpoint_are_told():
    faults = Counter(rate_limited=4, timeout=2)
    endpoint = EndpointNow("api.example.com", 9, faults, "gone, trying again in 4 s")
    lines = RunFigures(2, endpoints=lambda: [endpoint]).lines()
    assert "4 rate limited  2 faults" in lines[1]
    assert lines[2] == "api.example.com: gone, trying again in 4 s"
    assert "api.example.com: gone, trying again in 4 s" in RunFigures(2, endpoints=lambda: [endpoint]).line()


@pytest.mark.parametrize("width", [20, 40, 79, 200])
def test_no_line_is_wider_than_the_terminal_and_the_most_important_stays(width, clock):
    spending = Spending(priced=True)
    for role in ("user", "assistant", "question_validator"):
        spending.add("gpt-4.1", {"input_tokens": 10**9}, role=role, query=PriceQuery("gpt-4.1"))
    endpoint = EndpointNow("a" * 90, 10**6, Counter(rate_limited=10**5, timeout=10**5), "gone, trying again in 4 s")
    figures = RunFigures(100_000, spending, lambda: [endpoint], clock)
    figures.watch(state("a", rejected("enumeration", "a_long_name_of_a_reason", "other"), turn=999_999))
    clock.now = 86_000
    figures.tally.finished = 99_000
    lines = figures.lines(width)
    assert len(lines) == 3
    assert max(map(len, lines)) <= width
    assert lines[0].startswith("99,000/100,000 conve")


def test_reasons_are_named_as_far_as_there_is_room():
    figures = RunFigures(9)
    figures.watch(state("a", rejected("enumeration", "enumeration", "not_in_section", "too_long")))
    assert figures.lines(120)[0].endswith("4 rejected (enumeration 2, not in section 1, too long 1)")
    assert figures.lines(65)[0].endswith("4 rejected (enumeration 2, …)")
    assert figures.lines(45)[0].endswith("4 rejected")


def test_a_fourth_reason_is_not_named_and_said_to_be_there():
    figures = RunFigures(9)
    figures.watch(state("a", rejected("one", "one", "two", "three", "four")))
    assert "5 rejected (one 2, two 1, three 1, …)" in figures.line()


def test_the_user_comes_before_the_assistant_whoever_answered_first():
    spending = Spending(priced=True)
    for role in ("judge", "assistant", "user"):
        spending.add("m", {"input_tokens": 10}, role=role, query=None)
    line = RunFigures(9, spending).line()
    assert line.index("user 10 tokens") < line.index("assistant 10 tokens") < line.index("judge 10 tokens")


def test_watching_makes_no_text_and_forgets_what_is_over(monkeypatch):
    monkeypatch.setattr(RunFigures, "lines", lambda *_: pytest.fail("a text was made"))
    figures = RunFigures(10_000)
    for number in range(2000):
        figures.watch(state(f"{number}", turn=1))
        figures.keep(conversation(f"{number}"))
    assert (figures.finished, figures.tally.turns, figures.under_way()) == (2000, 2000, 0)


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (89, "89 s"), (120, "2 min"), (7500, "2 h 5 min"), (7200, "2 h"), (10**6, "277 h")]
)  # fmt: skip
def test_a_duration_in_words(seconds, words):
    assert duration(seconds) == words
