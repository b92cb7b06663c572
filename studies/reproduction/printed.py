"""The figures that README and the pages print, read from the checkout: each stands there and nowhere else."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from ...errors import DataError

ROOT = Path(__file__).parents[2]
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e[-+]\d+)?")


def page_text(page: str) -> str:
    """The text of a page of the checkout; DataError where the package is installed without it."""
    path = ROOT / page
    if not path.is_file():
        raise DataError(f"{page}: this installation has no pages: run it in a checkout of the repository")
    return path.read_text(encoding="utf-8")


def cells(line: str) -> list[str]:
    """The cells of a row of a table."""
    return [cell.strip() for cell in line.strip("|").split("|")]


def table(page: str, *heading: str, joined: int = 1) -> dict[str, list[list[str]]]:
    """The numbers of each cell of the page's table with this heading, by the first cells of the row."""
    lines = page_text(page).splitlines()
    places = [number for number, line in enumerate(lines) if cells(line) == list(heading)]
    if len(places) != 1:
        raise DataError(f"{page}: has {len(places)} tables with the heading {' | '.join(heading)}")
    rows = {}
    for line in lines[places[0] + 2 :]:
        if not line.startswith("|"):
            break
        row = cells(line)
        rows[", ".join(row[:joined])] = [NUMBER.findall(cell) for cell in row[joined:]]
    return rows


def agree(numbers: Sequence[str], *values: float) -> bool:
    """Whether these are the values, each rounded to the places that are shown."""
    return [float(number.replace(",", "")) for number in numbers] == [
        float(f"{value:.{len(number.partition('.')[2])}f}") for number, value in zip(numbers, values, strict=True)
    ]


def plain_name(cell: str) -> str:
    """The name in a row's first cell, without marks."""
    return cell.replace("*", "").replace("`", "")


def of_table(
    page: str,
    heading: Sequence[str],
    columns: Sequence[str | Sequence[str]],
    named: Callable[[str], str] = plain_name,
    joined: int = 1,
) -> dict[str, str]:
    """The printed figures of a table by `row: column`; a cell without a number has none.

    `joined`: how many first cells name a row. `columns`: names of the columns after these; several for a column whose cells hold several numbers, none for one
    of words. `named`: the name of a row from its first cells. DataError if a cell has another count of numbers.
    """
    printed = {}
    for first, row in table(page, *heading, joined=joined).items():
        for numbers, column in zip(row, columns, strict=True):
            names = [column] if isinstance(column, str) else column
            if numbers and names and len(numbers) != len(names):
                raise DataError(f"{page}: the row {first!r} has the numbers {numbers} for {', '.join(names)}")
            printed.update({f"{named(first)}: {name}": number for name, number in zip(names, numbers, strict=False)})
    return printed


def of_sentence(page: str, pattern: str) -> dict[str, str]:
    """The printed figures of a sentence by the names of the pattern's groups, underscores as spaces.

    White space of the page counts as one space; DataError if the sentence is not on the page once.
    """
    matches = list(re.finditer(pattern, " ".join(page_text(page).split())))
    if len(matches) != 1:
        raise DataError(f"{page}: has {len(matches)} sentences like {pattern}")
    return {f"{page}: {name.replace('_', ' ')}": text for name, text in matches[0].groupdict().items()}
