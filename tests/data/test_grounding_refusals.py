"""Which texts refuse to answer, as a whole and nothing besides."""

from types import SimpleNamespace

import pytest

from duologue.data import grounding
from duologue.data.grounding import MARKER, NO_ANSWER, Grounding, ground, is_refusal

SECTION = (
    "Aniston moved to New York City (the city of her mother) and worked as a waitress. "
    'In 1994 she was cast for "Friends", a sitcom on NBC. The show ran for ten years [1994-2004]. '
    "He joined NATO. She studied at MIT."
)


def texts(grounding: Grounding) -> list[str]:
    return [span.text for span in grounding.spans]


@pytest.mark.parametrize(
    "answer",
    [
        NO_ANSWER,
        "Sorry, I cannot find the answer.",
        "i cannot find the answer",
        "I CANNOT FIND THE ANSWER!",
        "“I cannot find the answer.”",
        "  I cannot find the answer. \n",
        "I can't find the answer.",
        "I can’t find an answer to the question in the section.",
        "I'm sorry, but I could not find the answer.",
        MARKER,
    ],
)
def test_a_text_that_is_a_refusal_as_a_whole_is_one(answer: str) -> None:
    outcome = ground(answer, SECTION)
    assert outcome.refused
    assert outcome.valid
    assert outcome.spans == ()


@pytest.mark.parametrize("answer", ["", "I", "the answer", "...", "find", "I cannot", "cannot find the", "."])
def test_a_piece_of_the_refusal_is_none(answer: str) -> None:
    assert not is_refusal(answer)
    assert not ground(answer, SECTION).valid


@pytest.mark.parametrize(
    "answer",
    [
        "I cannot find the answer. He joined NATO.",
        "He joined NATO. I cannot find the answer.",
        "I cannot find the answer, but he joined NATO",
        "She said that I cannot find the answer",
    ],
)
def test_a_refusal_with_something_else_is_none(answer: str) -> None:
    outcome = ground(answer, SECTION)
    assert not outcome.refused
    assert not outcome.valid


def test_a_span_that_speaks_like_a_refusal_is_a_span() -> None:
    section = "Critics say the text does not hold. I cannot find the answer in my heart, she sang."
    assert texts(ground("the text does not hold", section)) == ["the text does not hold"]
    assert texts(ground("I cannot find the answer in my heart", section)) == ["I cannot find the answer in my heart"]


def test_a_long_text_is_no_refusal_and_the_pattern_never_sees_it(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr(grounding, "_REFUSAL", SimpleNamespace(fullmatch=read.append))
    for text in ("sorry" * 50_000, "I cannot find the answer" + " " * 100_000 + "x", "'\"" * 100_000, "I'm " * 50_000):
        assert not is_refusal(text)
    assert read == [""]  # of quotes alone nothing is left
