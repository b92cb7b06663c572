"""Sentences as slices of their text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.data.text.sentence_splitting import PIECE, sentences

PARTS = [
    "He ran. ",
    "No! ",
    "Why? ",
    "Dr. No ",
    "U.S. ",
    "e.g. ",
    "3.14 ",
    "... ",
    '"Oh." ',
    "(a. b) ",
    "\n",
    "长城。",
    "真的？",
    "∯ ȸ ",
    "1. a ",
    "\x1c",
]
texts = st.lists(st.sampled_from(PARTS), max_size=12).map("".join) | st.text(max_size=40)


@given(texts)
def test_each_sentence_is_a_slice_of_one_line_without_space_around_it(text: str) -> None:
    behind = 0
    for sentence in sentences(text):
        assert sentence
        assert sentence == sentence.strip()
        assert "\n" not in sentence
        behind = text.index(sentence, behind) + len(sentence)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He ran. She stayed! Why?", ("He ran.", "She stayed!", "Why?")),
        ("Dr. No met Mr. Bond. They ran.", ("Dr. No met Mr. Bond.", "They ran.")),
        ("It cost 3.14 dollars in the U.S. in 1990.", ("It cost 3.14 dollars in the U.S. in 1990.",)),
        ("修建了山海关。全长很长！", ("修建了山海关。", "全长很长！")),
        ("他说：“你好。”然后走了。", ("他说：“你好。", "”然后走了。")),
        ("♬ He ran∯ fast. ☝ She stayed.", ("♬ He ran∯ fast.", "☝ She stayed.")),
        ("One line\nanother line", ("One line", "another line")),
        ("", ()),
        (" \n ", ()),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: tuple[str, ...]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize("control", ["\x1c", "\x1d", "\x1e", "\x1f", "\x00", "\x0b", "\x85"])
def test_control_characters_before_a_number_break_nothing(control: str) -> None:
    assert "".join(sentences(f"He ran. {control}1. She stayed.")).replace(" ", "").endswith("1.Shestayed.")


def test_a_long_text_is_cut_between_sentences() -> None:
    text = "She ran to the market. " * (3 * PIECE // 23)
    assert set(sentences(text)) == {"She ran to the market."}


def test_a_sentence_that_is_longer_than_a_piece_is_one_all_the_same() -> None:
    long = " ".join(["word"] * 700) + "."
    assert sentences(f"First one. {long} Last one.") == ("First one.", long, "Last one.")
