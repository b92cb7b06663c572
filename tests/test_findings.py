"""Each figure of docs/research/findings.md stands on the page that its section names for figures."""

import re

import pytest

from tests.test_imports import ROOT

PAGE = ROOT / "docs/research/findings.md"
SECTIONS = dict(
    re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
)
NUMBER = re.compile(r"(?<![\w.])-?\d*\.?\d+")


def numbers(text: str) -> set[str]:
    """The numbers of a text, each without the zero before its point."""
    return {re.sub(r"^(-?)0\.", r"\1.", number) for number in NUMBER.findall(text)}


@pytest.mark.parametrize("title", SECTIONS)
def test_the_figures_of_a_finding_stand_on_the_page_that_it_names(title):
    prose, named = re.sub(r"^ {4}.*\n", "", SECTIONS[title], flags=re.MULTILINE).split("Figures:")
    page = PAGE.parent / re.findall(r"\]\(([^)#]+)", named)[0]
    figures = numbers(prose.replace("hit@1", ""))
    assert figures
    assert figures - numbers(page.read_text(encoding="utf-8")) == set()
