"""Documents: headings and readable text of Markdown, plain text and Word, and what is no document."""

import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.data import documents
from duologue.data.documents import Block
from duologue.data.documents.markdown import markdown_blocks, titled_markdown
from duologue.data.documents.plain import text_blocks
from duologue.data.grounding import ground
from duologue.data.simquac import read_topics
from duologue.errors import DataError, MissingExtraError

DOCUMENTS = Path(__file__).parents[1] / "fixtures" / "documents"
WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def blocks(name: str) -> list[tuple[str, int | None]]:
    ((document,), _) = documents.read(DOCUMENTS / name)
    return [(block.text, block.level) for block in document.blocks]


def texts(blocks_read: list[Block]) -> list[str]:
    return [("#" * block.level + " " if block.level else "") + block.text for block in blocks_read]


def paragraph(text: str, style: str = "") -> str:
    styled = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{styled}<w:r><w:t>{text}</w:t></w:r></w:p>"


def word(path: str, *body: str) -> Path:
    """A Word document as a German Word writes it: its styles have ids of their own, and the known names."""
    styles = {"Titel": "Title", "berschrift1": "heading 1", "berschrift2": "heading 2"}
    parts = {
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}"><Relationship Id="r" Type="{OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>',
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{PACKAGE}"><Relationship Id="r" Type="{OFFICE}/styles" Target="styles.xml"/></Relationships>',
        "word/styles.xml": f"<w:styles {WORD}>"
        + "".join(
            f'<w:style w:type="paragraph" w:styleId="{id}"><w:name w:val="{name}"/></w:style>'
            for id, name in styles.items()
        )
        + "</w:styles>",
        "word/document.xml": f"<w:document {WORD}><w:body>{''.join(body)}</w:body></w:document>",
    }
    with zipfile.ZipFile(path, "w") as packed:
        for name, text in parts.items():
            packed.writestr(name, text)
    return Path(path)


def test_markdown_has_headings_of_both_kinds_and_those_in_code_and_quotations_are_text() -> None:
    blocks_read = blocks("mill.md")
    assert [(text, level) for text, level in blocks_read if level] == [
        ("The mill at Ilmtal", 1),
        ("Building", 2),
        ("Prices", 2),
        ("Later years", 4),
        ("Owners", 2),
        ("Building", 2),
        ("Open questions", 2),
    ]
    assert ("# not a heading\nturns = 12", None) in blocks_read
    assert texts(markdown_blocks("> # Said\n\n- # Listed\n\n<!-- -->\n\n    # Indented")) == [
        "Said",
        "- Listed",
        "# Indented",
    ]


def test_links_images_lists_and_tables_become_readable_text() -> None:
    blocks_read = [text for text, _ in blocks("mill.md")]
    assert "The mill stands by the river, an hour from the town. Its wheel in winter" in blocks_read
    assert "- two floors\n- one wheel of\n  - elm for the paddles\n  - oak for the axle" in blocks_read
    assert "grain | price\nrye | 3\noats | 2" in blocks_read
    assert "The miller wrote: I never owned a cat." in blocks_read
    assert not any("remark to the printer" in text for text in blocks_read)


def test_tags_that_only_lay_out_are_left_out_and_any_other_tag_is_text() -> None:
    blocks_read = [text for text, _ in blocks("mill.md")]
    assert any(
        "The sign said <title> for reasons unknown, and a < b held. Nobody asked why." in text for text in blocks_read
    )
    assert texts(
        markdown_blocks('<div align="center">\n<h1>Mill <i>two</i></h1>\n<p>By <u>hand</u></p>\n</div>\n')
    ) == [
        "# Mill two",
        "By hand",
    ]
    assert texts(markdown_blocks("<title>\nis a tag &amp; text\n")) == ["<title> is a tag & text"]
    assert texts(markdown_blocks('A <img alt="red &lt;b&gt; dot" src=x> here')) == ["A red <b> dot here"]


def test_front_matter_is_no_text_and_two_rules_around_text_are_no_front_matter() -> None:
    assert titled_markdown("---\ntitle: A  mill\n---\nText.")[1] == "A mill"
    assert titled_markdown('+++\ntitle = "A mill"\n+++\nText.') == ([Block("Text.")], "A mill", [])
    for text in ("---\nWords of a reader\n---\n\nText.", "---\na: [\n---\nText."):
        blocks_read, title, _ = titled_markdown(text)
        assert title is None
        assert "Text." in texts(blocks_read)[-1]
        assert len(blocks_read) == 2
    assert titled_markdown("---\ntitle: [1]\n---\nText.")[1] is None


def test_a_footnote_of_markdown_and_its_mark_are_no_text_and_a_note_has_its_size() -> None:
    blocks_read, _, notes = titled_markdown(
        "# Mill[^1]\n\nIt burned [^Two].\n\n[^1]: Once\n[^two]: Twice, as\nthe clerk wrote.\n\n    A second paragraph.\n\nIt was built again."
    )
    assert texts(blocks_read) == ["# Mill", "It burned.", "It was built again."]
    assert notes == ["left out of the text, in characters: footnotes 55"]


@pytest.mark.parametrize(
    "text",
    ["It burned.[^1]", "Write `[^1]` for it.\n\n[^1]: Once", "    [^1]: code\n\n[^1] is none", "[^a b]: is text"],
)
def test_a_mark_without_its_note_and_one_in_code_are_text(text: str) -> None:
    assert "[^" in texts(markdown_blocks(text))[0]


def test_a_footnote_ends_where_a_heading_or_a_list_begins_and_may_stand_in_an_item() -> None:
    assert texts(markdown_blocks("One.[^1]\n\n[^1]: Note\n# Two\n\nText")) == ["One.", "# Two", "Text"]
    assert texts(markdown_blocks("- One[^1]\n\n  [^1]: Note\n\n- two")) == ["- One\n- two"]
    assert texts(markdown_blocks("See [a mill][m].[^1]\n\n[^1]: Note\n[m]: a.md")) == ["See a mill."]


def test_lines_that_were_broken_to_fit_are_joined_in_chinese_without_a_space() -> None:
    assert texts(markdown_blocks("水磨坊在\n河边。\n\nA mill\nby a river.  \nTwo lines.")) == [
        "水磨坊在河边。",
        "A mill by a river.\nTwo lines.",
    ]


def test_plain_text_keeps_every_sign_and_a_short_first_line_is_its_title() -> None:
    ((document,), _) = documents.read(DOCUMENTS / "bees.txt")
    assert document.title == "Bees on the roofs"
    assert [block.text for block in document.blocks] == [
        "More than two hundred hives stand on the roofs of the town, and the keepers visit them on Sundays:\n"
        "- in spring to look for queens\n- in summer to take honey",
        "A hive weighs <40 kg> in May; *nobody* lifts it alone.",
    ]


def test_plain_text_with_markdown_headings_is_markdown() -> None:
    assert texts(text_blocks("# Bees\n\nThey *live*.")[0]) == ["# Bees", "They live."]
    assert texts(text_blocks("Bees\n====\n\nThey live.")[0]) == ["# Bees", "They live."]
    assert texts(text_blocks("#bees and *bees*")[0]) == ["#bees and *bees*"]


@pytest.mark.parametrize("first", ["It begins here.", "x" * 81, "- an item", "Two\nlines, then\n- three"])
def test_a_first_paragraph_that_is_no_title_stays_in_the_text(first: str) -> None:
    blocks_read, title, _ = text_blocks(f"{first}\n\nMore.")
    assert title is None
    assert len(blocks_read) == 2


CHAPTERS = [
    ("CHAPTER I.\n\nIt rose.", ["## CHAPTER I.", "It rose."]),
    ("CHAPTER I. THE SPRING.\n\nIt rose.", ["## CHAPTER I. THE SPRING.", "It rose."]),
    ("Chapter 12: The spring\nIt rose early\nin the hills.", ["## Chapter 12: The spring", "It rose early in the hills."]),
    ("CHAPTER XIV\nThe spring\n\nIt rose.", ["## CHAPTER XIV The spring", "It rose."]),
    ("CHAPTER 3\n\nTHE SPRING\n\nIt rose.", ["## CHAPTER 3 THE SPRING", "It rose."]),
    ("CHAPTER I\nIt rose early in the hills\nabove the town.", ["## CHAPTER I", "It rose early in the hills above the town."]),
    ("CHAPTER IV\n\n“Stop!” he said.\n\nIt rose.", ["## CHAPTER IV", "“Stop!” he said.", "It rose."]),
]  # fmt: skip
PARAGRAPHS = [
    "Chapter 3 describes the spring.",
    "Chapter 3\nis about the spring.",
    "Chapter 3: the spring rises and\nruns down.",
    "Chapter I wrote in the hills was lost.",
    "chapter 3",
    "CHAPTER ONE HUNDRED",
    "CHAPTER I. Spring\nCHAPTER II. Mouth",
]


@pytest.mark.parametrize(("text", "expected"), CHAPTERS)
def test_chapter_and_its_number_are_a_heading_of_plain_text_with_the_title_beside_or_below(text, expected) -> None:
    assert texts(text_blocks(f"The river\n\nBefore it.\n\n{text}")[0]) == ["Before it.", *expected]


@pytest.mark.parametrize("text", PARAGRAPHS)
def test_a_sentence_about_a_chapter_and_a_list_of_contents_are_text(text: str) -> None:
    assert [block.level for block in text_blocks(f"The river\n\nBefore it.\n\n{text}")[0]] == [None, None]


def test_chapters_are_the_sections_of_a_text_and_hold_every_word_below_them() -> None:
    Path("river.txt").write_text(
        "The river\n\nA book.\n\nCHAPTER I.\nIt rose\nin May.\n\nCHAPTER II. Mouth\n\nIt ended."
    )
    first, second = read_topics("river.txt")
    assert (first.title, first.background, first.header, first.section) == ("The river", "A book.", "CHAPTER I.", "It rose in May.")  # fmt: skip
    assert (second.header, second.section) == ("CHAPTER II. Mouth", "It ended.")
    (span,) = ground("rose in May", first.section).spans
    assert first.section[span.start : span.start + len(span.text)] == span.text == "rose in May"


def test_words_title_stands_above_its_headings_in_any_language() -> None:
    table = f"<w:tbl><w:tr><w:tc>{paragraph('rye')}</w:tc><w:tc>{paragraph('3')}</w:tc></w:tr></w:tbl>"
    path = word(
        "a.docx",
        paragraph("The lighthouse", "Titel"),
        paragraph("It stands on a rock &lt;title&gt;."),
        paragraph("Lamp", "berschrift1"),
        paragraph("It burns oil."),
        paragraph("Oil", "berschrift2"),
        table,
    )
    ((document,), _) = documents.read(path)
    assert texts(list(document.blocks)) == [
        "# The lighthouse",
        "It stands on a rock <title>.",
        "## Lamp",
        "It burns oil.",
        "### Oil",
        "rye | 3",
    ]


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x05\x06" + bytes(18)])
def test_what_is_no_word_document_is_named(content: bytes, fault: Callable[..., str]) -> None:
    Path("a.docx").write_bytes(content)
    assert "is not a Word document" in fault(documents.read, Path("a.docx"))


@pytest.mark.parametrize(("name", "module"), [("a.html", "bs4"), ("a.docx", "mammoth")])
def test_a_missing_extra_is_named_with_the_file(monkeypatch: pytest.MonkeyPatch, name: str, module: str) -> None:
    Path(name).write_bytes(b"<p>x")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        MissingExtraError, match=rf'{name}: {module} is not installed: pip install "duologue\[documents\]"'
    ):
        documents.read(name)


@pytest.mark.parametrize("name", ["a.pdf", "a.doc", "a.odt", "a.RTF"])
def test_a_format_that_is_not_read_is_named_with_what_to_do(name: str, fault: Callable[..., str]) -> None:
    Path(name).write_bytes(b"x")
    assert "save it as .md, .txt, .html or .docx" in fault(documents.read, Path(name))


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b"caf\xe9", "is not UTF-8 at byte 3"), (b"\xff\xfea\x00", "byte 0"), (b"a\x00b", "NUL"), (b"> " * 300, "nested")],
)
def test_a_text_that_is_none_is_named(content: bytes, problem: str, fault: Callable[..., str]) -> None:
    Path("a.md").write_bytes(content)
    assert problem in fault(documents.read, Path("a.md"))


def test_a_folder_is_read_by_the_names_in_it_and_other_files_are_counted() -> None:
    for name in ("b/z.md", "b/a.txt", "a.md", ".git/c.md", "b/.d.md", "b/e.png", "~$f.docx", "g.csv", "h.png"):
        Path("in", name).parent.mkdir(parents=True, exist_ok=True)
        Path("in", name).write_text("text")
    blocks_read, notes = documents.read("in")
    assert [document.name for document in blocks_read] == ["a.md", "b/a.txt", "b/z.md"]
    assert notes == ["3 other files are not documents and passed over: .csv 1, .png 2"]


def test_a_folder_without_documents_and_a_missing_file_are_named(fault: Callable[..., str]) -> None:
    Path("in").mkdir()
    assert "holds no document" in fault(documents.read, Path("in"))
    assert "cannot be read" in fault(documents.read, Path("nowhere.md"))


@given(st.text(alphabet="#-=*_`~<>[]()!|:\\&;/ \n\t1.a\"'?", max_size=200))
def test_no_text_breaks_a_reader(text: str) -> None:
    for reader in (titled_markdown, text_blocks):
        try:
            read_blocks, *_ = reader(text)
        except DataError:
            continue
        assert all(block.text.strip() for block in read_blocks)
