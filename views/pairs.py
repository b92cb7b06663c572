"""Two versions of an agent side by side, turn by turn, each pair from the first message or call that differs."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any

from ..analysis.testing.pairs import PairedTest, TestedPair, changed_lines, measure_table, paired_lines
from ..data import domains
from ..data.records import Conversation
from ..data.summaries import outline
from .conversation import ShownTurn, stop_text, turns
from .listing import ListColumn, ListRow, list_page
from .pages import render
from .parts import parts_html
from .wording import Wording, language_on_page

MOST = 1_000
"""Most pairs on a page, of versions the lost and won ones first."""
KINDS = ("lost", "won", "neither succeeds", "both succeed", "left out")
COLUMNS = (
    ListColumn("title", number=False),
    ListColumn("pair", number=False, hint="lost: only the old version succeeds; won: only the new one"),
    ListColumn("differs from", hint="number of the first message that differs"),
    *(ListColumn(f"turns {side}") for side in "AB"),
    *(ListColumn(f"tokens {side}") for side in "AB"),
)


def pairs_page(result: PairedTest, old: Iterable[Conversation], new: Iterable[Conversation], *, title: str = "") -> str:
    """Two versions of an agent, the lost pairs first, each from the first message that differs.

    Args:
        result: The comparison.
        old: Conversations of the old version, A on the page.
        new: Conversations of the new version, B on the page.
        title: Title of the page; default: the two names.
    """
    ordered = sorted(result.tested, key=lambda pair: KINDS.index(pair.kind))
    ids = {pair.id for pair in ordered[:MOST]}
    sides = [{one.id: one for one in conversations if one.id in ids} for conversations in (old, new)]
    return list_page(
        title or f"{result.new_name} against {result.old_name}",
        COLUMNS,
        [_row(pair, sides[0].get(pair.id), sides[1].get(pair.id), result) for pair in ordered[:MOST]],
        lines=[
            f"A {result.old_name}, the old version; B {result.new_name}, the new one",
            *paired_lines(result),
            *changed_lines(result),
            *([f"{len(ordered) - MOST:,} more pairs are not shown"] if len(ordered) > MOST else []),
        ],
        summary=render("table.html", table=measure_table(result), in_page=True) if result.measures else "",
        summary_title="Other measures",
    )


def _row(pair: TestedPair, old: Conversation | None, new: Conversation | None, result: PairedTest) -> ListRow:
    sides = [None if one is None else (len(one.exchanges), one.usage.tokens or None) for one in (old, new)]
    cells = [pair.scenario, pair.kind, pair.differs_at, *(side and side[n] for n in (0, 1) for side in sides)]
    reasons = "; ".join(f"{side}: {why}" for side, why in (("A", pair.old_reason), ("B", pair.new_reason)) if why)
    choices = {"pair": pair.kind}
    if old is None or new is None:
        return ListRow(cells, pair.scenario, small=reasons, choices=choices)
    html = pair_html(old, new, (result.old_name, result.new_name), pair.id)
    text = "\n".join((pair.scenario, reasons, *(message.text for one in (old, new) for message in one.messages)))
    return ListRow(cells, text, html, pair.id, small=reasons, choices=choices)


def pair_html(first: Conversation, second: Conversation, names: tuple[str, str], anchor: str) -> str:
    """Two conversations in two columns, a row for each turn; those before the first that differs once and folded."""
    rows = list(zip_longest(_exchanges(first), _exchanges(second), fillvalue=list[ShownTurn]()))
    equal = next((number for number, (a, b) in enumerate(rows) if _content(a) != _content(b)), len(rows))
    return render(
        "pair.html",
        anchor=anchor,
        wording=Wording(language_on_page(first)),
        names=names,
        outlines=(outline(first), outline(second)),
        stops=(stop_text(first), stop_text(second)),
        material=domains.of(first).material(first.scenario),
        parts=parts_html,
        equal=[left for left, _ in rows[:equal]],
        rows=rows[equal:],
    )


def _exchanges(conversation: Conversation) -> list[list[ShownTurn]]:
    """Turns by exchange: a new exchange begins with a user's turn after the assistant's."""
    groups: list[list[ShownTurn]] = []
    for turn in turns(conversation):
        if not groups or (turn.role == "user" and groups[-1][-1].role == "assistant"):
            groups.append([])
        groups[-1].append(turn)
    return groups


def _content(exchange: Sequence[ShownTurn]) -> list[tuple[Any, ...]]:
    """What is said and called in an exchange, to see whether two are equal."""
    return [
        (
            turn.role,
            turn.message.text if turn.message else None,
            len(turn.message.parts) if turn.message else 0,
            [(call.name, call.arguments, call.result, call.error) for call in turn.calls],
        )
        for turn in exchange
    ]
