"""Facts that a text asks for or gives, by their kind."""

import pytest

from duologue.data.rules.requested_facts import AskedFact, asked_facts, is_given, is_same_fact


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Which booking is it?", "What is the code of your reservation?", True),
        ("What is the code?", "May I have your order number?", True),
        ("What is your order number?", "What is your customer number?", False),
        ("Which day suits you?", "What date did you have in mind?", True),
        ("What is the date?", "What is your date of birth?", False),
        ("What date is it?", "What time is it?", False),
        ("Wie lautet die Buchungsnummer?", "Nennen Sie mir den Buchungscode.", True),
        ("请问日期是哪天?", "请告诉我日期。", True),
    ],
)
def test_two_requests_are_for_one_fact(one: str, other: str, same: bool) -> None:
    pairs = [(first, second) for first in asked_facts([one]) for second in asked_facts([other])]
    assert any(is_same_fact(*pair) for pair in pairs) == same


@pytest.mark.parametrize(
    "text", ["Is the date right?", "Shall I keep this date?", "Is it 2026-05-03, the date?", "Why?"]
)
def test_a_question_for_yes_or_no_asks_for_no_fact(text: str) -> None:
    assert asked_facts([text]) == []


@pytest.mark.parametrize(
    ("kind", "given", "not_given"),
    [
        ("code", "It is qx4821.", "It is the one for two people in 2026."),
        ("date", "On the 3rd of May.", "Whenever you like, for 2 people."),
        ("time", "At 7 pm.", "In the evening, for 7."),
        ("e-mail", "mia@example.org", "I have none @ home"),
        ("phone", "+49 30 1234567", "Call me in 2026."),
    ],
)
def test_the_form_of_a_value_tells_whether_it_was_given(kind: str, given: str, not_given: str) -> None:
    fact = AskedFact(kind, frozenset())
    assert (is_given(fact, [given]), is_given(fact, [not_given])) == (True, False)
