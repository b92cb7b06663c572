"""Texts in the cells of Markdown and LaTeX: one line each, their signs escaped."""

from collections.abc import Iterable

from ..data.text.terminal import on_one_line

DASH = "–"
"""The sign of a missing value wherever people read the table; in CSV and data frames it is empty."""

MARKDOWN = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|~&$"})
"""Markdown's signs, escaped."""

LATEX = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': "''",
        DASH: "--",
        "[": "{[}",  # a bracket or star behind a row's end would be an argument of it
        "]": "{]}",
        "*": "{*}",
    }
)
"""LaTeX's signs, escaped."""


def markdown_text(text: str) -> str:
    """A text on one line in which Markdown and HTML are text, and an address is not a link."""
    return on_one_line(text).translate(MARKDOWN).replace("://", r"\://").replace("www.", r"www\.")


def one_line(text: str) -> str:
    """The text with single spaces for all white space."""
    return " ".join(text.split())


def piped(cells: Iterable[str]) -> str:
    """A row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def latex_row(cells: Iterable[str]) -> str:
    """A row of a LaTeX table."""
    return " & ".join(cells) + r" \\"
