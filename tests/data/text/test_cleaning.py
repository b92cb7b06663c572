"""What models put around what they say: taken off, recorded, and nothing else touched."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.data.text.cleaning import clean

WRAPPINGS = (
    "<think> </think> <THINK> </Think> <reasoning> </reasoning> <thought> a: Teacher: **Answer:** 答： 回答： \" ' “ ” ` 「 」 "
    "x y ** İ ß : <b> \u2028"
)
wrapped = st.lists(st.sampled_from(WRAPPINGS.split(" ")) | st.sampled_from([" ", "\n", ""]), max_size=14).map("".join)
texts = wrapped | st.text(max_size=30)


def bare(text: str) -> str:
    """The text without any white space."""
    return "".join(text.split())


@settings(max_examples=400)
@given(texts)
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    once = clean(text)
    again = clean(once.text)
    assert again.text == once.text
    assert again.removed == ()


@settings(max_examples=400)
@given(texts)
def test_what_is_left_stands_in_what_came_in_its_order(text: str) -> None:
    rest = iter(bare(text))
    assert all(character in rest for character in bare(clean(text).text))


@pytest.mark.parametrize("text", ["Teacher: <think>Hm, cut o", '"<think>Hm, cut o"', "**Answer:** <think>Hm"])
def test_reasoning_that_was_cut_off_behind_a_label_or_quote_is_not_said(text: str) -> None:
    cleaned = clean(text)
    assert "Hm" not in cleaned.text
    assert "reasoning" in cleaned.removed


@pytest.mark.parametrize(
    ("text", "expected", "removed"),
    [
        ("He ran.", "He ran.", ()),
        ("<think>Hm.</think>He ran.", "He ran.", ("reasoning",)),
        ("<THINK>\nHm.\n</think>\n\nHe ran.", "He ran.", ("reasoning",)),
        ("<think>a</think>He <think>b</think>ran.", "He ran.", ("reasoning",)),
        ("<think>a <think>b</think> c</think>He ran.", "He ran.", ("reasoning",)),
        ("<think>a</think><reasoning>b</reasoning>He ran.", "He ran.", ("reasoning",)),
        ("Hm, let me see.</think>He ran.", "He ran.", ("reasoning",)),
        ("<think>Hm, cut o", "", ("reasoning",)),
        ("Teacher: He ran.", "He ran.", ("label",)),
        ("Q: Why?", "Why?", ("label",)),
        ("**Answer:** He ran.", "He ran.", ("label",)),
        ("老师：长城。", "长城。", ("label",)),
        ('"He ran."', "He ran.", ("quotes",)),
        ("「长城」", "长城", ("quotes",)),
        ("\"'He ran.'\"", "He ran.", ("quotes",)),
        ('<think>Hm.</think>\nTeacher: "He ran."', "He ran.", ("reasoning", "label", "quotes")),
        ('"Teacher: He ran."', "He ran.", ("quotes", "label")),
    ],
)
def test_reasoning_labels_and_quotes_are_taken_off_and_named(
    text: str, expected: str, removed: tuple[str, ...]
) -> None:
    cleaned = clean(text)
    assert cleaned.text == expected
    assert cleaned.removed == removed


@pytest.mark.parametrize(
    "text",
    [
        '"Friends" and "Seinfeld"',
        'He said "no"',
        "It's the boys'",
        "Teachers: they ran.",
        "Teacher",
        "Teacher:",
        '""',
        '"',
        "1 < 2 > 0",
        "He joined NATO",
        "CANNOTANSWER",
    ],
)
def test_what_is_no_wrapping_stays(text: str) -> None:
    cleaned = clean(text)
    assert cleaned.text == text
    assert cleaned.removed == ()
