"""The sentences of docs, notebooks and docstrings: short, and in the project's words. `make words` prints the figures."""

import pytest

from tests import prose


@pytest.fixture(scope="module")
def measured() -> dict[str, prose.Measured]:
    """The measures of each folder, by the beginning of its paths; empty for the files of the root."""
    folders: dict[str, list[prose.Measured]] = {}
    for name, value in prose.measure().items():
        folders.setdefault(name.partition("/")[0] if "/" in name else "", []).append(value)
    return {folder: prose.total(values) for folder, values in folders.items()}


def test_no_sentence_no_paragraph_and_no_word_is_to_be_changed(measured):
    assert [place for folder in measured.values() for place in folder.to_change] == []


def test_the_sentences_of_each_folder_are_short(measured):
    assert measured.keys() >= {"", "analysis", "cli", "data", "docs", "graphs", "nodes", "runs", "studies", "views"}
    for name, folder in measured.items():
        assert folder.lengths, name
        assert folder.share <= prose.SHARE, "\n".join(folder.long)
        assert folder.mean <= prose.MEAN, name


@pytest.mark.parametrize(
    ("text", "lengths", "changes"),
    [
        ("One two three four. Five `a b c` six, e.g. seven eight! *Nine ten* eleven twelve", [4, 6, 4], 0),
        ("- " + "word " * 41, [41], 1),
        ("Nobody of these. The file says what it is.", [6], 2),
        ("| a | b |\n|---|---|\n| one two three four | `code` |", [4], 0),
        ("```text\nnot read at all, since it is code\n```\n    nor is this here\n", [], 0),
        ("One two three four five. " * 17, [5] * 17, 1),
        ('He said "nobody is here now" and left.', [8], 0),
    ],
)
def test_what_is_measured_of_a_page(text, lengths, changes):
    page = prose.Measured()
    for line, paragraph in prose.markdown(text):
        page.add(f"page:{line}", paragraph)
    assert page.lengths == lengths
    assert len(page.to_change) == changes


def test_what_is_measured_of_a_module(tmp_path):
    (tmp_path / "a.py").write_text(
        '"""About a module of four."""\n\n\ndef public():\n    """Give something to the reader."""\n\n\n'
        'def _private():\n    """This one is not read here."""\n\n\n'
        'LIMIT = 4\n"""A constant with a text below."""\n\n\nclass Kind:\n    size: int\n    """The size of a field here."""\n'
    )
    assert [text for _, text in prose.docstrings(tmp_path / "a.py")] == [
        "About a module of four.",
        "A constant with a text below.",
        "Give something to the reader.",
        "The size of a field here.",
    ]
