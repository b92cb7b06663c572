"""Sentences as slices of their text."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.data.text import sentence_splitting as parting
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
def test_no_character_is_lost_changed_or_moved(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


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


def test_a_sentence_longer_than_a_piece_is_cut_between_words() -> None:
    text = "market " * PIECE
    assert set(" ".join(sentences(text)).split(" ")) == {"market"}


@pytest.mark.parametrize(
    "text", ["." * 50_000, "a. " * 5_000, "(a. " * 5_000, '"a. ' * 5_000, "\\" * 50_000, "x" * 50_000, "... " * 5_000]
)
def test_pysbd_never_gets_more_than_a_piece(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read = pieces_read(monkeypatch)
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())
    assert max(read, default=0) <= PIECE
    assert sum(read) <= len(text)


@pytest.mark.parametrize("text", ["- a. b\n" * 40_000, "A ship, no. 3, and (more). " * 12_000])
def test_pysbd_splits_only_the_beginning_of_a_very_long_text(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read = pieces_read(monkeypatch)
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())
    assert parting.LENGTH <= sum(read) + parting.CALL * len(read) <= parting.LENGTH + PIECE + parting.CALL


@pytest.mark.parametrize("line", ["What can be said of it, in short; of this: not much", "长城很长，真的很长"])
def test_a_line_without_marks_is_one_sentence_also_for_pysbd(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert parting._segments(line) == [line]
    read = pieces_read(monkeypatch)
    assert sentences(line) == (line,)
    assert read == []


@pytest.mark.parametrize("word", ["no", "Mr.", "not"])
def test_an_abbreviation_is_replaced_once_however_often_a_text_has_it(
    word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []
    module = parting._segmenter("en").language_module
    former = module.AbbreviationReplacer.__mro__[1].scan_for_replacements

    def counted(self: object, text: str, *more: object) -> str:
        texts.append(text)
        return str(former(self, text, *more))

    monkeypatch.setattr(module.AbbreviationReplacer.__mro__[1], "scan_for_replacements", counted)
    assert sentences(f"{word} x, " * 90 + "Then!")
    assert 0 < len(texts) < 10


def pieces_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lengths of the pieces that pysbd gets from now on."""
    read: list[int] = []
    segmenter = parting._segmenter

    def reading(language: str) -> object:
        def segment(piece: str) -> object:
            read.append(len(piece))
            return segmenter(language).segment(piece)

        return SimpleNamespace(segment=segment)

    monkeypatch.setattr(parting, "_segmenter", reading)
    sentences.cache_clear()
    return read


def test_a_sentence_that_is_longer_than_a_piece_is_one_all_the_same() -> None:
    long = " ".join(["word"] * 700) + "."
    assert sentences(f"First one. {long} Last one.") == ("First one.", long, "Last one.")
