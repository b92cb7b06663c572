"""Grounding of any text of any script: a slice is found whole, any other answer is named."""

import re
import unicodedata

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from duologue.data.grounding import Grounding, ground, is_refusal

# Scripts without spaces between words: each of their characters may begin or end a match.
UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")

WORDS = (
    "the The a A I answer cannot find NATO Dr. U.S. e.g. No. 3.14 1,500 don't Aniston's café cafe\u0301 ß ss SS İ i̇ "
    "ı ŉ ʼn ﬁ fi 長城 长城 人々 カ สวัสดี हिन्दी 한국 x_y _ ² ½ Ⅷ \u0301 \u200d \u00ad ... … 1. 1) \\ \\1 \ud800 𝔸 🙂"
)

MARKS = list("()[]{}\"'“”‘’.,;:?!-–—/&%$*<>|`«»「」、。")

SPACES = [" "] * 8 + ["  ", "\n", "\t", "\u00a0", "\u3000", "\r\n", "\u2028", "\x1c", "\u200b", ""]

odd = st.lists(st.sampled_from(WORDS.split(" ")) | st.sampled_from(MARKS) | st.sampled_from(SPACES), max_size=24).map(
    "".join
)

alike = st.lists(st.sampled_from(["a", "A", "b", " ", " ", "(", ")", "[", "]", ". ", '"', "\n"]), max_size=30).map(
    "".join
)

sections = odd | alike | st.text(max_size=30)
"""Texts of words, brackets, quotes, dashes and line breaks in any order, many of them of few kinds."""


def boundaries(text: str) -> list[int]:
    """Offsets at which no word is cut: also none between a letter and what combines with it."""

    def of_a_word(character: str) -> bool:
        joins = character.isalnum() or character == "_" or combines(character)
        return joins and not UNSPACED.match(character)

    def combines(character: str) -> bool:
        return unicodedata.category(character) in ("Mn", "Mc", "Me", "Cf")

    return [
        offset
        for offset in range(len(text) + 1)
        if offset in (0, len(text))
        or not (combines(text[offset]) or (of_a_word(text[offset - 1]) and of_a_word(text[offset])))
    ]


def says_something(text: str) -> bool:
    return any(character.isalnum() for character in text)


def bare(text: str) -> str:
    """The letters and digits of a text, without case."""
    return "".join(filter(str.isalnum, text.casefold()))


def texts(grounding: Grounding) -> list[str]:
    return [span.text for span in grounding.spans]


def assert_own_slices(grounding: Grounding, section: str) -> None:
    for span in grounding.spans:
        assert section[span.start : span.end] == span.text


@pytest.mark.heavy
@settings(max_examples=200)
@given(sections, st.data())
def test_every_slice_between_word_boundaries_is_exactly_one_span(section: str, data: st.DataObject) -> None:
    offset = st.sampled_from(boundaries(section))
    start, end = sorted((data.draw(offset), data.draw(offset)))
    piece = section[start:end]
    assume(says_something(piece) and not is_refusal(piece))
    outcome = ground(piece, section)
    assert outcome.valid
    assert len(outcome.spans) == 1
    assert_own_slices(outcome, section)
    assert bare(piece)[:1] == bare(outcome.spans[0].text)[:1]
    if not set("([") & set(section):
        assert bare(outcome.spans[0].text) == bare(piece)


plain = st.lists(st.sampled_from(["a", "b", "A", "c", "中", "1", "x'y", ".", ","]), min_size=1, max_size=6)

groups = st.recursive(
    plain,
    lambda inner: st.tuples(plain, st.sampled_from(["()", "[]"]), inner, plain).map(
        lambda parts: [*parts[0], parts[1][0], *parts[2], parts[1][1], *parts[3]]
    ),
    max_leaves=3,
)


@given(sections, sections, sections)
def test_whatever_is_answered_gives_slices_or_one_reason(answer: str, section: str, background: str) -> None:
    outcome = ground(answer, section, background)
    assert_own_slices(outcome, section)
    assert outcome.valid == (outcome.reason is None) == (outcome.refused or bool(outcome.spans))
    assert not (outcome.refused and outcome.spans)
    if outcome.valid:
        assert outcome.failed == ()
