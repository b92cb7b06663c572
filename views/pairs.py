"""Conversations side by side, turn by turn: of two runs or data sets about the same topics, or of two versions of an agent."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from ..analysis.testing.pairs import PairedTest, TestedPair, changed_lines, measure_table, paired_lines
from ..data import domains
from ..data.people import paired
from ..data.records import Conversation, Message
from ..data.summaries import outline
from .conversation import ShownTurn, pieces, stop_text, turns
from .listing import ListColumn, ListRow, list_page
from .pages import plural, render
from .parts import Gallery, has_images
from .wording import Wording, language_on_page

MOST = 1_000
"""Most pairs on a page, of versions the lost and won ones first."""
FIGURES = (
    ("exchanges", "turns", 0),
    ("refused", "refusals", 0),
    ("rejected", "rejected", 0),
    ("coverage", "coverage", 2),
    ("characters", "characters", 0),
)
"""Columns for both sides, left out if all are 0: the outline's field, its label, decimal places."""
KINDS = ("lost", "won", "neither succeeds", "both succeed", "left out")
COLUMNS = (
    ListColumn("title", number=False),
    ListColumn("pair", number=False, hint="lost: only the old version succeeds; won: only the new one"),
    ListColumn("differs from", hint="number of the first message that differs"),
    *(ListColumn(f"turns {side}") for side in "AB"),
    *(ListColumn(f"tokens {side}") for side in "AB"),
)


@dataclass(frozen=True)
class Stretch:
    """A stretch of the section, and whether a span of the first or the second conversation covers it."""

    text: str
    first: bool
    second: bool


def against_page(
    first: Sequence[Conversation], second: Sequence[Conversation], names: tuple[str, str], *, title: str = ""
) -> str:
    """Both sets as one self-contained page: each topic that both have unfolds into the two conversations side by side.

    Args:
        first: Conversations of the first set.
        second: Conversations of the second set.
        names: Names of the two sets.
        title: Title of the page; default: the two names.
    """
    pairing = paired(first, second)
    pairs = [(pair, (outline(pair[0]), outline(pair[1]))) for pair in pairing.pairs[:MOST]]
    shown = [figure for figure in FIGURES if any(getattr(side, figure[0]) for _, sides in pairs for side in sides)]
    rows = []
    for number, (pair, sides) in enumerate(pairs):
        head, anchor = sides[0], f"p{number}"
        figures = [getattr(side, name) for name, _, _ in shown for side in sides]
        html = pair_html(*pair, names, anchor)
        text = _words(f"{head.title}\n{head.topic}", pair)
        choices = {"kind": head.kind}
        rows.append(ListRow([head.title, *figures], text, html, anchor, small=head.topic, choices=choices))
    columns = [ListColumn("title", number=False)]
    for _, label, digits in shown:
        columns += [ListColumn(f"{label} {side}", digits=digits) for side in "AB"]
    return list_page(
        title or f"{names[0]} against {names[1]}",
        columns,
        rows,
        lines=[
            f"A {names[0]}: {plural(len(first), 'conversation')}, {len(pairing.only_first):,} without a counterpart",
            f"B {names[1]}: {plural(len(second), 'conversation')}, {len(pairing.only_second):,} without a counterpart",
            f"{plural(len(pairing.pairs), 'pair')} about the same topic",
            *_not_shown(len(pairing.pairs)),
        ],
        images=any(has_images(one) for pair, _ in pairs for one in pair),
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
            *_not_shown(len(ordered)),
        ],
        summary=render("table.html", table=measure_table(result), in_page=True) if result.measures else "",
        images=any(has_images(one) for side in sides for one in side.values()),
    )


def _not_shown(pairs: int) -> list[str]:
    return [f"{pairs - MOST:,} more pairs are not shown"] if pairs > MOST else []


def _words(head: str, pair: Iterable[Conversation]) -> str:
    return "\n".join((head, *(message.text for one in pair for message in one.messages)))


def _row(pair: TestedPair, old: Conversation | None, new: Conversation | None, result: PairedTest) -> ListRow:
    sides = [None if one is None else (len(one.exchanges), one.usage.tokens or None) for one in (old, new)]
    cells = [pair.scenario, pair.kind, pair.differs_at, *(side and side[n] for n in (0, 1) for side in sides)]
    reasons = "; ".join(f"{side}: {why}" for side, why in (("A", pair.old_reason), ("B", pair.new_reason)) if why)
    choices = {"pair": pair.kind}
    if old is None or new is None:
        return ListRow(cells, pair.scenario, small=reasons, choices=choices)
    html = pair_html(old, new, (result.old_name, result.new_name), pair.id, fold_equal=True)
    text = _words(f"{pair.scenario}\n{reasons}", (old, new))
    return ListRow(cells, text, html, pair.id, small=reasons, choices=choices)


def pair_html(
    first: Conversation,
    second: Conversation,
    names: tuple[str, str],
    anchor: str,
    *,
    fold_equal: bool = False,
) -> str:
    """Two conversations in two columns, a row for each turn, below the text or task that they are about.

    `fold_equal`: show the turns before the first that differs, in words or in calls, once and folded.
    """
    domain = domains.of(first)
    material = domain.material(first.scenario)
    source = next((piece for piece in material if piece.source), None)
    same = source is not None and domains.of(second).source_text(second.scenario) == source.text
    rows = list(zip_longest(_exchanges(first), _exchanges(second), fillvalue=list[ShownTurn]()))
    differing = (number for number, (a, b) in enumerate(rows) if _content(a) != _content(b))
    equal = next(differing, len(rows)) if fold_equal else 0
    return render(
        "pair.html",
        anchor=anchor,
        wording=Wording(language_on_page(first)),
        names=names,
        outlines=(outline(first), outline(second)),
        stops=(stop_text(first), stop_text(second)),
        source=source.label if source else "",
        stretches=stretches(source.text, first.messages, second.messages) if source and same else (),
        material=[piece for piece in material if piece is not source],
        parts=Gallery().html,
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


def stretches(section: str, first: Sequence[Message], second: Sequence[Message]) -> tuple[Stretch, ...]:
    """The section cut wherever a span of either side begins or ends."""
    border = len(first)
    return tuple(
        Stretch(piece.text, any(n < border for n in piece.messages), any(n >= border for n in piece.messages))
        for piece in pieces(section, (*first, *second))
    )
