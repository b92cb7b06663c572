"""Two runs or data sets side by side: the conversations about one topic, turn by turn."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from markupsafe import Markup

from ..data import domains
from ..data.executed_graph import executed
from ..data.people import paired
from ..data.records import Conversation, Message
from ..data.summaries import Outline, count, means, outline
from .conversation import ShownTurn, pieces, stop_text, turns
from .graph.drawing import drawn
from .listing import ListColumn, ListRow, list_page, packed
from .pages import plural, render
from .parts import Gallery, has_images
from .run import summary_html
from .wording import Wording, language_on_page

FIGURES = (
    ("exchanges", "turns", 0),
    ("refused", "refusals", 0),
    ("rejected", "rejected", 0),
    ("coverage", "coverage", 2),
    ("characters", "characters", 0),
)
"""Columns for both sides, left out if all are 0: the outline's field, its label, decimal places."""


@dataclass(frozen=True)
class Stretch:
    """A stretch of the section, and whether a span of the first or the second conversation covers it."""

    text: str
    first: bool
    second: bool


def against_page(
    first: Sequence[Conversation],
    second: Sequence[Conversation],
    names: tuple[str, str],
    *,
    title: str = "",
    origin: str = "",
) -> str:
    """Both sets as one self-contained page.

    Each topic that both have is a row that unfolds into the two conversations side by side. Conversations without a
    counterpart are listed below.

    Args:
        first: Conversations of the first set.
        second: Conversations of the second set.
        names: Names of the two sets.
        title: Title of the page; default: the two names.
        origin: Distinguishes the source from others, such as a digest of its path.

    Returns:
        The page as HTML.
    """
    sets = [(f"A {names[0]}", first), (f"B {names[1]}", second)]
    outlines = [[outline(conversation) for conversation in conversations] for _, conversations in sets]
    by_conversation = {
        id(conversation): line
        for (_, conversations), lines in zip(sets, outlines, strict=True)
        for conversation, line in zip(conversations, lines, strict=True)
    }

    def outlines_of(conversations: Iterable[Conversation]) -> list[Outline]:
        return [by_conversation[id(conversation)] for conversation in conversations]

    pairing = paired(first, second)
    shown = [figure for figure in FIGURES if any(getattr(row, figure[0]) for rows in outlines for row in rows)]
    rows = [_row(*pair, outlines_of(pair), names, shown, number) for number, pair in enumerate(pairing.pairs)]
    columns = [ListColumn("title", number=False)]
    for _, label, digits in shown:
        columns += [ListColumn(f"{label} {name[0]}", digits=digits, hint=f"{label}: {name}") for name, _ in sets]
    alone = zip((name for name, _ in sets), (pairing.only_first, pairing.only_second), strict=True)
    graphs = [(name, executed(conversations)) for name, conversations in sets]
    sides = [(name, Markup(drawn(graph))) for name, graph in graphs if graph.edges]
    return list_page(
        title or f"{names[0]} against {names[1]}",
        columns,
        rows,
        lines=[
            *(f"{name}: {plural(len(conversations), 'conversation')}" for name, conversations in sets),
            f"{plural(len(pairing.pairs), 'pair')} about the same topic",
        ],
        summary=summary_html(
            [(name, count(conversations)) for name, conversations in sets],
            means=[(name, means(rows)) for (name, _), rows in zip(sets, outlines, strict=True)],
        ),
        after=render("left.html", left=[(f"only in {name}", outlines_of(left)) for name, left in alone if left]),
        graph=render("sides.html", sides=sides) if sides else "",
        graph_line="of both sets" if len(sides) > 1 else "",
        beside=False,  # two columns of figures for each, and no room
        images=any(has_images(conversation) for _, conversations in sets for conversation in conversations),
        origin=origin,
        rejections="rejected A" if any(name == "rejected" for name, _, _ in shown) else "",
    )


def pair_html(
    first: Conversation,
    second: Conversation,
    names: tuple[str, str],
    anchor: str,
    outlines: Sequence[Outline] = (),
    *,
    fold_equal: bool = False,
) -> str:
    """Two conversations in two columns, a row for each turn, below the text or task that they are about.

    `fold_equal`: show the turns before the first that differs once, and folded.
    """
    domain = domains.of(first)
    material = domain.material(first.scenario)
    source = next((piece for piece in material if piece.source), None)
    same = source is not None and domains.of(second).source_text(second.scenario) == source.text
    rows = list(zip_longest(_exchanges(first), _exchanges(second), fillvalue=list[ShownTurn]()))
    equal = (
        next((number for number, (a, b) in enumerate(rows) if _messages_of(a) != _messages_of(b)), len(rows))
        if fold_equal
        else 0
    )
    return render(
        "pair.html",
        anchor=anchor,
        wording=Wording(language_on_page(first)),
        names=names,
        outlines=outlines or (outline(first), outline(second)),
        stops=(stop_text(first), stop_text(second)),
        source=source.label if source else "",
        stretches=stretches(source.text, first.messages, second.messages) if source and same else (),
        material=[piece for piece in material if piece is not source],
        parts=Gallery().html,
        equal=[left for left, _ in rows[:equal]],
        rows=rows[equal:],
    )


def _row(
    first: Conversation,
    second: Conversation,
    sides: Sequence[Outline],
    names: tuple[str, str],
    shown: Sequence[tuple[str, str, int]],
    number: int,
) -> ListRow:
    figures = [getattr(side, name) for name, _, _ in shown for side in sides]
    words = "\n".join(message.text for message in (*first.messages, *second.messages))
    return ListRow(
        cells=[sides[0].title, *figures],
        text=f"{sides[0].title}\n{sides[0].topic}\n{words}",
        packed=packed(pair_html(first, second, names, f"p{number}", sides)),
        anchor=f"p{number}",
        small=sides[0].topic,
        choices={"kind": sides[0].kind},
    )


def _exchanges(conversation: Conversation) -> list[list[ShownTurn]]:
    """Turns by exchange: a new exchange begins with a user's turn after the assistant's."""
    groups: list[list[ShownTurn]] = []
    for turn in turns(conversation):
        if not groups or (turn.role == "user" and groups[-1][-1].role == "assistant"):
            groups.append([])
        groups[-1].append(turn)
    return groups


def _messages_of(turns_of_exchange: Sequence[ShownTurn]) -> list[tuple[str, str | None, int]]:
    """What is said in an exchange, to see whether two are equal."""
    return [
        (turn.role, turn.message.text if turn.message else None, len(turn.message.parts) if turn.message else 0)
        for turn in turns_of_exchange
    ]


def stretches(section: str, first: Sequence[Message], second: Sequence[Message]) -> tuple[Stretch, ...]:
    """The section cut wherever a span of either side begins or ends."""
    border = len(first)
    return tuple(
        Stretch(piece.text, any(n < border for n in piece.messages), any(n >= border for n in piece.messages))
        for piece in pieces(section, (*first, *second))
    )
