"""Rules for questions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.data.rules.guards import is_repeat
from duologue.data.simquac.domain import QUESTION_WORDS, is_enumeration, question_reasons


def test_twenty_five_words_pass_and_twenty_six_do_not() -> None:
    assert QUESTION_WORDS == 25
    assert question_reasons("word " * 25 + "\t") == ()
    assert question_reasons("word " * 26) == ("too_long",)


@pytest.mark.parametrize("text", ["", "   ", "\n", "?", "...?!", "(", "“”"])
def test_a_question_without_a_letter_or_digit_is_empty_and_nothing_else(text: str) -> None:
    assert question_reasons(text, earlier=[text]) == ("empty",)


@pytest.mark.parametrize(
    "text",
    [
        "1. Who is she?\n2. Where is she?",
        "1) Who is she? 2) Where is she?",
        "(a) who and (b) where?",
        "Tell me: 1. who, 2. where",
        "- Who is she?\n- Where is she?",
        "* Who is she?",
        "• Who is she?",
        "Questions:\n  – who?\n  – where?",
    ],
)
def test_lists_of_items_are_enumerations(text: str) -> None:
    assert is_enumeration(text)
    assert "enumeration" in question_reasons(text)


@pytest.mark.parametrize(
    "text",
    [
        "Who, when and where?",
        "What happened in 1994?",
        "Did she win 2 Emmys in 2002?",
        "Was it a success - or not?",
        "Who is Dr. No?",
        "Is 3.14 less than 22/7?",
        "-40 degrees or more?",
        "(What) is it?",
    ],
)
def test_numbers_dashes_and_brackets_alone_are_no_enumeration(text: str) -> None:
    assert not is_enumeration(text)
    assert question_reasons(text) == ()


@pytest.mark.parametrize("text", ["Who is she?", "who is  SHE", "«Who is she?!»", "Who... is she"])
def test_the_same_question_in_other_dress_was_is_repeat(text: str) -> None:
    assert is_repeat(text, ["Where?", "Who is she?"])
    assert question_reasons(text, earlier=["Who is she?"])[-1] == "asked_again"


def test_everything_that_is_wrong_is_told_the_worst_first() -> None:
    text = "1. Who is she?\n2. Where?"
    assert question_reasons(text, words=3, earlier=[text]) == (
        "enumeration",
        "newline",
        "too_long",
        "several_questions",
        "asked_again",
    )


@given(st.text(), st.text())
def test_any_text_gets_an_answer_and_is_itself_asked_again(text: str, other: str) -> None:
    reasons = question_reasons(text, earlier=[other, text])
    assert reasons == ("empty",) or reasons[-1] == "asked_again"


@pytest.mark.parametrize(
    "text",
    [
        "A) Who? B) When?",
        "I. who II. when",
        "1、谁参与？2、何时？",
        "①谁？②何时？",
        "1: who 2: when",
        "a) who b) when",
        "Two: 1) who 2) when",
    ],
)
def test_lists_within_a_line_are_enumerations(text: str) -> None:
    assert is_enumeration(text)
