"""Pages of HTML: their main part, their encoding, and signs of the page that are no text."""

from collections.abc import Callable
from pathlib import Path

import pytest

from duologue.data import documents
from duologue.data.documents.encodings import decoded
from tests.data.documents.test_documents import DOCUMENTS, texts


def test_a_page_is_its_main_part_in_the_encoding_that_it_declares() -> None:
    ((document,), _) = documents.read(DOCUMENTS / "villages" / "harbour.html")
    assert document.title == "Hafen & Umgebung"
    assert texts(list(document.blocks)) == [
        "# Der Hafen",
        "Er liegt im Norden\nder Insel.",
        "## Schiffe <title>",
        "Im Hafen liegen neun Schiffe. Ein Kutter",
        "- Kutter\n- Fähren\n  3. große\n  4. kleine",
        "Jahr | Schiffe\n1950 | 40\n2000 | 9",
        "  Ebbe\n    Flut",
        "## Werft",
    ]
    (note,) = document.notes
    assert note == "left out of the page, in characters: nav 11, footer 9, hidden parts 7"


@pytest.mark.parametrize(
    ("label", "encoding", "text"),
    [
        ("gb2312", "gb18030", "镕基"),  # the first character is in GBK only
        ("GBK", "gb18030", "㐀"),
        ("iso-8859-1", "windows-1252", "“Café” – 5 €"),
        ("latin1", "windows-1252", "It’s"),
        ("us-ascii", "windows-1252", "naïve…"),
        ("shift_jis", "cp932", "①"),
        ("iso-8859-9", "windows-1254", "‘ışık’"),
        ("koi8-r", "koi8-r", "река"),
    ],
)
def test_a_declared_encoding_means_what_browsers_take_it_for(label: str, encoding: str, text: str) -> None:
    Path("a.html").write_bytes(f'<meta charset="{label}"><p>'.encode() + text.encode(encoding))
    ((document,), _) = documents.read("a.html")
    assert texts(list(document.blocks)) == [text]


def test_a_byte_without_a_character_in_windows_1252_is_a_control_character() -> None:
    assert decoded(b"<meta charset=iso-8859-1>\x81\x93") == "<meta charset=iso-8859-1>\x81\u201c"


@pytest.mark.parametrize(
    ("heading", "text"),
    [
        ("Results<sup>1</sup>", "Results"),
        ("Results <sup>1, 2</sup>", "Results"),
        ('Mill<sup class="reference"><a href="#cite-1"><span>[</span>1<span>]</span></a></sup>', "Mill"),
        ('Mill <a href="#n"><sup>2</sup></a>', "Mill"),
        ("Mill<sup>[a]</sup> and town<sup>†</sup>", "Mill and town"),
        ("Why?<sup>3</sup>", "Why?"),
        ("The 19<sup>th</sup> century", "The 19th century"),
        ("E = mc<sup>2</sup>", "E = mc2"),
        ("Fields in km<sup>2</sup>", "Fields in km2"),
        ("Loaf<sup>TM</sup>", "LoafTM"),
    ],
)
def test_the_mark_of_a_note_is_no_part_of_a_heading_and_a_power_is(heading: str, text: str) -> None:
    Path("a.html").write_text(f"<h1>{heading}</h1><p>Here<sup>1</sup> too.")
    ((document,), _) = documents.read("a.html")
    assert texts(list(document.blocks)) == [f"# {text}", "Here1 too."]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"<meta charset=utf-8><p>caf\xe9", "is not utf-8 at byte 26"),
        (b"<p>caf\xe9", "is not utf-8 at byte 6"),
        (b"<meta charset=klingon>", "declares the encoding 'klingon'"),
    ],
)
def test_a_page_that_cannot_be_decoded_is_named(content: bytes, problem: str, fault: Callable[..., str]) -> None:
    Path("a.html").write_bytes(content)
    assert problem in fault(documents.read, Path("a.html"))


def test_a_page_nested_without_end_is_read() -> None:
    Path("a.html").write_text("<div>" * 20_000 + "<h1>Deep</h1>text")
    ((document,), _) = documents.read("a.html")
    assert texts(list(document.blocks)) == ["# Deep", "text"]


def test_the_sign_beside_a_heading_that_links_to_it_is_no_text() -> None:
    Path("a.html").write_text('<h1>Mill<a href="#mill">¶</a></h1><p>See <a href="#owners">owners</a>.')
    ((document,), _) = documents.read("a.html")
    assert texts(list(document.blocks)) == ["# Mill", "See owners."]
    assert document.notes == ()
