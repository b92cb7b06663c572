"""Prompt pages: their gaps, their digests, and pages in place of the shipped ones."""

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.prompts import Library, Page, PromptError, shipped

OWN = {
    "user/guide": Page("user/guide", "Ask about {{ header }}."),
    "user/start": Page("user/start", "Begin."),
}


def replaced(name: str, content: str | bytes) -> Library:
    """Two pages, with one file of one's own in place of what it is named after."""
    file = Path("own", name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return Library(OWN).replaced("own")


def fault(name: str, content: str | bytes) -> str:
    """What is said of a page that cannot be used: one line, the file first."""
    with pytest.raises(PromptError) as caught:
        replaced(name, content)
    line = str(caught.value)
    assert line.startswith(f"own/{name}: ")
    assert "\n" not in line
    return line


def test_a_page_names_its_gaps_and_is_filled() -> None:
    page = Page("a", "{{ who }} asks {{ whom }}, says {{ who }}.\n")
    assert page.gaps == {"who", "whom"}
    assert page.fill(who="She", whom="him") == "She asks him, says She."


def test_a_missing_value_is_an_error_that_names_page_and_gap() -> None:
    with pytest.raises(PromptError, match=r"^prompt a: .*\{\{ whom \}\}") as caught:
        Page("a", "{{ who }} asks {{ whom }}").fill(who="She")
    assert "{{ who }}" not in str(caught.value)


@given(
    st.text() | st.sampled_from(["{{ who }}", "{% raw %}", "{# a #}", "{{ 7*7 }}", "<b>&amp;</b>", "\\1", "{{", "%}"])
)
def test_whatever_a_value_holds_stays_text(value: str) -> None:
    assert Page("a", "[{{ who }}]").fill(who=value) == f"[{value}]"


def test_a_digest_is_the_beginning_of_the_sources_sha_256() -> None:
    assert Page("a", "Who? 谁？").digest == hashlib.sha256("Who? 谁？".encode()).hexdigest()[:16]
    assert Page("a", "Who?").digest == Page("b", "Who?").digest != Page("a", "Who? ").digest


def test_a_page_that_is_not_there_is_an_error_that_names_those_that_are() -> None:
    with pytest.raises(PromptError, match=r"prompt user/guid: .*user/guide, user/start"):
        Library(OWN)["user/guid"]
    assert "user/guide" in Library(OWN)
    assert "user/guid" not in Library(OWN)


def test_a_file_replaces_the_page_of_its_name_and_leaves_the_others() -> None:
    library = replaced("user/guide.md", "What of {{ header }}?")
    assert library["user/guide"].fill(header="tea") == "What of tea?"
    assert library["user/start"] == OWN["user/start"]
    assert library.digests["user/guide"] != OWN["user/guide"].digest
    assert Library(OWN)["user/guide"].source == "Ask about {{ header }}."


@pytest.mark.parametrize("name", ["user/guid.md", "guide.md", "user/deep/guide.md", "user/guide.en.md"])
def test_a_file_that_replaces_nothing_is_named(name: str) -> None:
    assert "user/guide, user/start" in fault(name, "What of {{ header }}?")


def test_a_page_with_a_gap_that_nothing_fills_is_named_with_it() -> None:
    line = fault("user/guide.md", "What of {{ header }} and {{ section }}?")
    assert "{{ section }}" in line
    assert "{{ header }}" not in line


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("What of\n{{ header ?", "line 2"),
        ("What of {{ header }}\n\n{% if %}", "line 3"),
        ("{{ header | nosuchfilter }}", "line 1"),
        ("{{ }}", "line 1"),
        (b"{{ header }} \xff", "UTF-8"),
        ("", "empty"),
    ],
)
def test_a_page_that_cannot_be_read_is_named_with_the_place(content: str | bytes, place: str) -> None:
    assert place in fault("user/guide.md", content)


def test_a_folder_that_is_missing_a_file_or_without_pages_is_named() -> None:
    with pytest.raises(PromptError, match=r"^own: is not a folder"):
        Library(OWN).replaced("own")
    Path("own").write_text("a", encoding="utf-8")
    with pytest.raises(PromptError, match=r"^own: is not a folder"):
        Library(OWN).replaced("own")
    Path("other").mkdir()
    Path("other/README.md").write_text("a", encoding="utf-8")
    with pytest.raises(PromptError, match=r"^other: holds no template"):
        Library(OWN).replaced("other")


def test_every_shipped_page_says_something_and_can_be_filled() -> None:
    library = shipped("simquac")
    for name, page in library.pages.items():
        filled = page.fill(**dict.fromkeys(page.gaps, "{{ tea }}"))
        assert page.name == name
        assert len(filled) > 20
        assert filled.count("{{ tea }}") >= len(page.gaps)


@pytest.mark.parametrize(("cast", "language"), [("nothing", "en"), ("simquac", "xx"), ("simquac", "en/user/start.md")])
def test_a_cast_or_language_without_pages_is_named(cast: str, language: str) -> None:
    with pytest.raises(PromptError, match=f"{cast!r} in {language!r}"):
        shipped(cast, language)
