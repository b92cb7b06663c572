"""Sections of the pages in docs that are ways in: `tests/examples/test_extend.py` runs them and reads what they print."""

import re

from tests.tree import ROOT

WAYS_IN = (
    ("graph/nodes.md", "A validator"),
    ("graph/nodes.md", "A prompt selector"),
    ("graph/nodes.md", "A user"),
    ("graph/casts.md", "A cast of your own"),
    ("graph/casts.md", "Prompts"),
    ("graph/casts.md", "A domain"),
    ("graph/langgraph.md", "Further nodes"),
    ("graph/langgraph.md", "A person in the loop"),
    ("data/labels.md", "A label of your own"),
    ("data/formats.md", "A format of your own"),
    ("people/realism.md", "A measure of your own"),
)
PARTS = re.compile(r"^(## (.+)\n(?:(?!## ).*\n)*)", re.MULTILINE)


def section(page: str, heading: str) -> str:
    """The section of a page of docs with this heading of the second level; without a heading the whole page."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    if not heading:
        return text
    return next(part for part, name in PARTS.findall(text) if name == heading)


def without_ways_in(page: str, text: str) -> str:
    """A page's text with blank lines in the place of its ways in."""
    for part, name in PARTS.findall(text):
        if (page.removeprefix("docs/"), name) in WAYS_IN:
            text = text.replace(part, "\n" * part.count("\n"))
    return text
