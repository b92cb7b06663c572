"""Two versions of an agent side by side, the lost pairs first, each from the first message that differs."""

from collections.abc import Iterable
from itertools import islice

from ...analysis.testing.pairs import PairedTest, TestedPair, changed_lines, measure_table, paired_lines
from ...data.records import Conversation
from ...data.summaries import outline
from ..against import pair_html
from ..listing import ListColumn, ListRow, list_page, packed
from ..pages import render

ON_PAGE = 1_000
"""Most pairs on the page, the lost and won ones first."""
KINDS = ("lost", "won", "neither succeeds", "both succeed", "left out")
COLUMNS = (
    ListColumn("title", number=False),
    ListColumn("pair", number=False, hint="lost: only the old version succeeds; won: only the new one"),
    ListColumn("differs from", hint="number of the first message that differs"),
    *(ListColumn(f"turns {side}") for side in "AB"),
    *(ListColumn(f"tokens {side}") for side in "AB"),
)


def pairs_page(result: PairedTest, old: Iterable[Conversation], new: Iterable[Conversation], *, title: str = "") -> str:
    """The pairs as one self-contained page.

    Args:
        result: The comparison.
        old: Conversations of the old version, A on the page.
        new: Conversations of the new version, B on the page.
        title: Title of the page; default: the two names.
    """
    ordered = sorted(result.tested, key=lambda pair: KINDS.index(pair.kind))
    shown = list(islice(ordered, ON_PAGE))
    names = {pair.id for pair in shown}
    sides = [{one.id: one for one in conversations if one.id in names} for conversations in (old, new)]
    rows = [_row(pair, sides[0].get(pair.id), sides[1].get(pair.id), result) for pair in shown]
    left = len(ordered) - len(shown)
    return list_page(
        title or f"{result.new_name} against {result.old_name}",
        COLUMNS,
        rows,
        lines=[
            f"A {result.old_name}, the old version; B {result.new_name}, the new one",
            *paired_lines(result),
            *changed_lines(result),
            *([f"{left} more pairs are not shown"] if left else []),
        ],
        summary=render("table.html", table=measure_table(result), in_page=True) if result.measures else "",
    )


def _row(pair: TestedPair, old: Conversation | None, new: Conversation | None, result: PairedTest) -> ListRow:
    kind = pair.kind
    sides = [None if one is None else (len(one.exchanges), one.usage.tokens or None) for one in (old, new)]
    cells = [pair.scenario, kind, pair.differs_at, *(side and side[column] for column in (0, 1) for side in sides)]
    reasons = "; ".join(
        f"{letter}: {reason}" for letter, reason in (("A", pair.old_reason), ("B", pair.new_reason)) if reason
    )
    if old is None or new is None:
        return ListRow(cells=cells, text=pair.scenario, small=reasons, choices={"pair": kind})
    sides_by_name = (result.old_name, result.new_name)
    html = pair_html(old, new, sides_by_name, pair.id, (outline(old), outline(new)), fold_equal=True)
    return ListRow(
        cells=cells,
        text="\n".join((pair.scenario, reasons, *(message.text for one in (old, new) for message in one.messages))),
        packed=packed(html),
        anchor=pair.id,
        small=reasons,
        choices={"pair": kind},
    )
