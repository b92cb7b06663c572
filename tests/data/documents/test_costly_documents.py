"""Documents that would take minutes to read are refused in one line before; large ones of real size are read."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.data import documents
from duologue.data.documents import blocks, hypertext, markdown, word
from duologue.data.documents.markdown import headed_blocks, parsed


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("list.md", "- x\n" * 1_000_000, "has 1,000,000 lines, the bound is 100,000: split the document"),
        ("list.txt", "- x\n" * 1_000_000, "has 1,000,000 lines, the bound is 100,000: split the document"),
        ("deep.md", "- - - - - - - x\n" * 50_000, "has 350,000 signs of Markdown, such as [ * ` < |, the bound is"),
        ("tabs.md", "-\t-\t-\t-\t-\tx\n" * 50_000, "has 250,000 signs of Markdown"),
        ("stars.md", "*a _" * 500_000, "has 1,000,000 signs of Markdown"),
        ("headed.txt", "# a\n" + "[" * 500_000, "has 500,000 signs of Markdown"),
        (
            "tags.html",
            "<div>" * 200_001,
            "has 200,001 signs of tags and entities (< and &), the bound is 200,000: split",
        ),
        ("and.html", "&" * 3_000_000, "has 3,000,000 signs of tags and entities"),
        ("less.html", "<" * 3_000_000, "has 3,000,000 signs of tags and entities"),
    ],
)
def test_what_would_take_minutes_is_refused_before_it_is_parsed(
    name: str, content: str, problem: str, fault: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("markdown_it.MarkdownIt.parse", None)
    monkeypatch.setattr("bs4.BeautifulSoup.__init__", None)
    Path(name).write_text(content)
    assert f"{name}: {problem}" in fault(documents.read, name)


@pytest.mark.parametrize("text", ["[" * 3_000, "![a" * 2_000, "a\n\n" + "[b" * 2_000 + "]"])
def test_links_without_end_are_looked_for_a_bounded_number_of_times(
    text: str, fault: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(markdown, "MOST_LOOKED_AT", 10_000)
    Path("a.md").write_text(text)
    problem = f"a.md: has {text.count('['):,} brackets [, the ends of which are not found in 10,000 steps: write \\["
    assert fault(documents.read, "a.md").startswith(problem)


def test_links_that_end_are_no_work() -> None:
    looked = "[one](a.md) and ![two](b.png), " * 1_000
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(markdown, "MOST_LOOKED_AT", 10_000)
        assert parsed(looked)


@pytest.mark.parametrize("text", ["<w:p/>", "<w:p></w:p>", "<x:p/>", "<p>\n</p>"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_empty_paragraphs_of_word_count_under_any_prefix_and_encoding(
    text: str, encoding: str, fault: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word, "MOST_PARAGRAPHS", 10)
    with zipfile.ZipFile("a.docx", "w") as packed:
        packed.writestr("word/document.xml", f"<a><w:pPr/><w:pict/>{text * 11}</a>".encode(encoding))
    assert "a.docx: has 11 paragraphs, the bound is 10: " in fault(documents.read, "a.docx")


def test_the_bounds_leave_a_book_of_a_thousand_pages_alone() -> None:
    paragraph, pages = "An ordinary line of *ten* words & a [link](b.md).\n" * 3 + "\n", 1_000
    lines, signs = (paragraph * 10 * pages).count("\n"), sum(map(paragraph.count, markdown.SIGNS))
    assert lines < blocks.MOST_LINES
    assert signs * pages < markdown.MOST_SIGNS
    assert 10 * pages * 2 * 3 < hypertext.MOST_SIGNS
    assert 10 * pages < word.MOST_PARAGRAPHS


@given(st.text(alphabet="#=-> \t\na1.*", max_size=60))
def test_no_heading_is_overlooked_in_a_plain_text(text: str) -> None:
    headed = any(token.type == "heading_open" and token.level == 0 for token in parsed(text))
    assert (headed_blocks(text) is not None) is headed


def test_a_plain_text_without_headings_is_not_parsed_as_markdown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("markdown_it.MarkdownIt.parse", None)
    Path("a.txt").write_text("A title\n\nSome [words.\n\n- an item #1\n")
    assert len(documents.read("a.txt")[0][0].blocks) == 2


def test_runs_of_word_count_too(fault: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word, "MOST_RUNS", 10)
    with zipfile.ZipFile("a.docx", "w") as packed:
        packed.writestr("word/document.xml", f"<a><w:rPr/><w:p>{'<w:r/>' * 11}</w:p></a>")
    assert "a.docx: has 11 runs of text in one format, the bound is 10: " in fault(documents.read, "a.docx")
