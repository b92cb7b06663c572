"""The tables that README and the pages print, read from the checkout."""

import re
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e[-+]\d+)?")


def cells(line: str) -> list[str]:
    """The cells of a row of a table."""
    return [cell.strip() for cell in line.strip("|").split("|")]


def table(page: str, *heading: str) -> dict[str, list[list[str]]]:
    """The numbers of each cell of the page's table with this heading, by the first cell of the row."""
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    (place,) = (number for number, line in enumerate(lines) if cells(line) == list(heading))
    rows = {}
    for line in lines[place + 2 :]:
        if not line.startswith("|"):
            break
        first, *others = cells(line)
        rows[first] = [NUMBER.findall(cell) for cell in others]
    return rows


def agree(numbers: Sequence[str], *values: float) -> bool:
    """Whether these are the values, each rounded to the places that are shown."""
    return [float(number.replace(",", "")) for number in numbers] == [
        float(f"{value:.{len(number.partition('.')[2])}f}") for number, value in zip(numbers, values, strict=True)
    ]
