"""Documents: headings and readable text of Markdown, plain text, HTML and Word, and what is no document."""

import sys
import zipfile
from pathlib import Path

import pytest

from duologue.data import documents
from duologue.data.documents import Block, of_text
from duologue.errors import MissingExtraError

DOCUMENTS = Path(__file__).parent / "fixtures" / "documents"
WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def texts(blocks: tuple[Block, ...] | list[Block]) -> list[str]:
    return [("#" * block.level + " " if block.level else "") + block.text for block in blocks]


def of_file(name: str, text: str | bytes) -> list[str]:
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    ((document,), _) = documents.read(name)
    return texts(document.blocks)


def word(path: str, *body: tuple[str, str]) -> None:
    """A Word document as a German Word writes it: its styles have ids of their own, and the known names."""
    styles = {"Titel": "Title", "berschrift1": "heading 1", "berschrift2": "heading 2"}
    named = (
        f'<w:style w:type="paragraph" w:styleId="{id}"><w:name w:val="{name}"/></w:style>'
        for id, name in styles.items()
    )
    paragraphs = (
        f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>' for text, style in body
    )
    parts = {
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}"><Relationship Id="r" Type="{OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>',
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{PACKAGE}"><Relationship Id="r" Type="{OFFICE}/styles" Target="styles.xml"/></Relationships>',
        "word/styles.xml": f"<w:styles {WORD}>{''.join(named)}</w:styles>",
        "word/document.xml": f"<w:document {WORD}><w:body>{''.join(paragraphs)}</w:body></w:document>",
    }
    with zipfile.ZipFile(path, "w") as packed:
        for name, text in parts.items():
            packed.writestr(name, text)


def test_markdown_has_headings_and_those_in_code_and_quotations_are_text() -> None:
    ((document,), _) = documents.read(DOCUMENTS / "mill.md")
    blocks = [(block.text, block.level) for block in document.blocks]
    assert [(text, level) for text, level in blocks if level] == [
        ("The mill at Ilmtal", 1),
        ("Building", 2),
        ("Prices", 2),
        ("Later years", 4),
        ("Owners", 2),
        ("Building", 2),
        ("Open questions", 2),
    ]
    for text in (
        "# not a heading\nturns = 12",
        "The mill stands by the river, an hour from the town. Its wheel in winter",
        "- two floors\n- one wheel of\n  - elm for the paddles\n  - oak for the axle",
        "grain | price\nrye | 3\noats | 2",
        "The miller wrote: I never owned a cat.",
    ):
        assert (text, None) in blocks
    assert any("The sign said <title> for reasons unknown, and a < b held." in text for text, _ in blocks)
    assert not any("remark to the printer" in text for text, _ in blocks)


def test_plain_text_keeps_every_sign_and_a_short_first_line_is_its_title() -> None:
    ((document,), _) = documents.read(DOCUMENTS / "bees.txt")
    assert document.title == "Bees on the roofs"
    assert [block.text for block in document.blocks] == [
        "More than two hundred hives stand on the roofs of the town, and the keepers visit them on Sundays:\n"
        "- in spring to look for queens\n- in summer to take honey",
        "A hive weighs <40 kg> in May; *nobody* lifts it alone.",
    ]
    assert texts(of_text("Bees\n====\n\nThey *live*.")[0]) == ["# Bees", "They live."]
    for first in ("It begins here.", "x" * 81, "- an item"):
        assert of_text(f"{first}\n\nMore.")[1] is None


def test_html_is_the_text_of_its_main_part() -> None:
    page = (
        "<title>Mill</title><nav>Home</nav><main><h1>The <i>mill</i></h1><p>It *stands* by a\nriver.</p>"
        "<ul><li>two floors</li><li>a wheel</li></ul><table><tr><th>grain</th><th>price</th></tr><tr><td>rye</td><td>3</td></tr></table><script>x</script></main>"
    )
    assert of_file("a.html", page) == [
        "# The mill",
        "It *stands* by a river.",
        "- two floors\n- a wheel",
        "grain | price\nrye | 3",
    ]


def test_words_title_stands_above_its_headings_in_any_language() -> None:
    word("a.docx", ("The lighthouse", "Titel"), ("It stands &lt;title&gt;.", ""), ("Lamp", "berschrift1"), ("Oil.", ""))
    ((document,), _) = documents.read("a.docx")
    assert texts(document.blocks) == ["# The lighthouse", "It stands <title>.", "## Lamp", "Oil."]


@pytest.mark.parametrize(
    ("name", "stored", "problem"),
    [
        ("a.docx", b"no archive", "is not a Word document"),
        ("a.pdf", b"x", "save it as .md, .txt, .html or .docx"),
        ("a.md", b"caf\xe9", "is not UTF-8 at byte 3"),
    ],
)
def test_what_is_no_document_is_named(name: str, stored: bytes, problem: str, fault) -> None:
    Path(name).write_bytes(stored)
    assert problem in fault(documents.read, Path(name))


@pytest.mark.parametrize(("name", "module"), [("a.html", "bs4"), ("a.docx", "mammoth")])
def test_a_missing_extra_is_named_with_the_file(monkeypatch: pytest.MonkeyPatch, name: str, module: str) -> None:
    Path(name).write_bytes(b"<p>x")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf'{name}: {module} is not installed: .*"duologue\[documents\]"'):
        documents.read(name)


def test_a_folder_is_read_by_the_names_in_it_and_other_files_are_named(fault) -> None:
    for name in ("b/z.md", "b/a.txt", "a.md", ".git/c.md", "b/.d.md", "b/e.png", "~$f.docx"):
        Path("in", name).parent.mkdir(parents=True, exist_ok=True)
        Path("in", name).write_text("text")
    read, notes = documents.read("in")
    assert [document.name for document in read] == ["a.md", "b/a.txt", "b/z.md"]
    assert len(notes) == 1
    assert "e.png" in notes[0]
    Path("empty").mkdir()
    assert "holds no document" in fault(documents.read, Path("empty"))
    assert "cannot be read" in fault(documents.read, Path("nowhere.md"))
