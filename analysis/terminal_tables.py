"""A table's body in a terminal: columns as wide as it allows, no number broken over two lines."""

from collections.abc import Iterable, Sequence
from typing import Any

NARROWEST = 8
"""Characters of a column of texts below which no word is broken to make room."""


class TableBody:
    """The body of a table for rich.

    No word is cut where the terminal is wide enough for the longest of each column. In a narrower one only words of
    texts and of headings are cut. `texts`: of each column whether it holds texts; `shown`: the cells of each row as
    texts.
    """

    def __init__(self, headings: Sequence[str], texts: Sequence[bool], shown: Sequence[Sequence[str]]) -> None:
        self.headings, self.texts, self.shown = headings, texts, shown

    def __rich_console__(self, console: Any, options: Any) -> Iterable[Any]:
        from rich.cells import cell_len
        from rich.table import Table as RichTable
        from rich.text import Text

        cells = [[heading, *(row[number] for row in self.shown)] for number, heading in enumerate(self.headings)]
        longest = [max((cell_len(word) for text in texts for word in text.split()), default=0) for texts in cells]
        room = options.max_width - sum(longest)
        gap = 2 if room >= 2 * len(longest) else 1
        if room < gap * len(longest):
            least = [
                NARROWEST if of_text else max((cell_len(row[number]) for row in self.shown), default=1)
                for number, of_text in enumerate(self.texts)
            ]
            longest = _narrowed(longest, least, options.max_width - gap * len(longest))
            room = options.max_width - sum(longest)
        fits = bool(longest) and room >= gap * len(longest)
        whole = [max(map(cell_len, texts), default=0) for texts in cells]
        widths = _widths(longest, whole, room - gap * len(longest)) if fits else [None] * len(longest)
        table = RichTable(box=None, pad_edge=False, padding=(0, gap if fits else 2, 0, 0))
        for number, heading in enumerate(self.headings):
            # Where the terminal is narrow a cell goes on below: rich would cut it short.
            side: Any = "left" if self.texts[number] else "right"
            table.add_column(Text(heading), justify=side, overflow="fold", width=widths[number])
        for row in self.shown:
            table.add_row(*map(Text, row))
        yield table


def _narrowed(longest: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Widths that break the longest words first, but none to less than the column's least: so no number is broken."""
    widths = list(longest)
    while sum(widths) > room:
        wide = [number for number, width in enumerate(widths) if width > least[number]]
        if not wide:
            break
        widths[max(wide, key=lambda number: widths[number])] -= 1
    return widths


def _widths(longest: Sequence[int], whole: Sequence[int], room: int) -> list[int]:
    """Widths of columns with words of at most these lengths.

    The room that is left first completes the columns that lack the least. rich would take it from the widest columns,
    below their longest word, and then cut the last column.
    """
    widths = list(longest)
    for number in sorted(range(len(widths)), key=lambda number: whole[number] - longest[number]):
        more = min(whole[number] - longest[number], room)
        widths[number] += more
        room -= more
    return widths
