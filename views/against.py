"""Two runs or data sets side by side: the conversations about one topic, turn by turn."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from markupsafe import Markup

from ..data.executed import executed
from ..data.outline import outline
from ..data.pairing import paired
from ..data.records import Conversation
from ..data.tally import tally
from .conversation import Turn, material, pieces, turns
from .graph import drawn
from .listing import Column, Row, list_page
from .pages import plural, render
from .run import summary_html

FIGURES = (
    ("exchanges", "exchanges", 0),
    ("refused", "refusals", 0),
    ("rejected", "rejected", 0),
    ("coverage", "coverage", 2),
    ("characters", "characters", 0),
)
"""What the list tells of both sides: the outline's field, its name, decimal places."""


@dataclass(frozen=True)
class Stretch:
    """A stretch of the section, and whether spans of either conversation stand in it."""

    text: str
    first: bool
    second: bool


def against_page(
    first: Sequence[Conversation], second: Sequence[Conversation], names: tuple[str, str], *, title: str = ""
) -> str:
    """Both sets as one self-contained page: a row for each topic that both are about, unfolding into the two
    conversations side by side; the others are listed."""
    found = paired(first, second)
    rows = [_row(one, other, names, number) for number, (one, other) in enumerate(found.pairs)]
    columns = [Column("title", number=False)]
    for _, label, digits in FIGURES:
        columns += [
            Column(f"{label} {side}", digits=digits, hint=f"{label}: {name}")
            for side, name in zip("AB", names, strict=True)
        ]
    graphs = [(f"{side} {name}", executed(each)) for side, name, each in zip("AB", names, (first, second), strict=True)]
    left = [
        (f"only in {side} {name}", [outline(each) for each in alone])
        for side, name, alone in zip("AB", names, (found.only_first, found.only_second), strict=True)
    ]
    return list_page(
        title or f"{names[0]} against {names[1]}",
        columns,
        rows,
        lines=[
            f"A {names[0]}: {plural(len(first), 'conversation')}; B {names[1]}: {plural(len(second), 'conversation')}; "
            f"{plural(len(found.pairs), 'pair')} about the same topic"
        ],
        about=summary_html(
            [(f"{side} {name}", tally(each)) for side, name, each in zip("AB", names, (first, second), strict=True)]
        ),
        after=render("left.html", left=[(name, alone) for name, alone in left if alone]),
        graph="\n".join(f"{render('heading.html', text=name)}{drawn(graph)}" for name, graph in graphs if graph.edges),
        rejections="rejected A",
    )


def pair_html(first: Conversation, second: Conversation, names: tuple[str, str], anchor: str) -> str:
    """Two conversations in two columns, an exchange a row, below what they are about."""
    section = first.scenario.get("section")
    other = second.scenario.get("section")
    return render(
        "pair.html",
        anchor=anchor,
        names=names,
        told=(outline(first), outline(second)),
        stretches=_stretches(section, first, second) if isinstance(section, str) and section == other else (),
        material=material(first),
        rows=list(zip_longest(_exchanges(first), _exchanges(second), fillvalue=())),
    )


def _row(one: Conversation, other: Conversation, names: tuple[str, str], number: int) -> Row:
    told = outline(one), outline(other)
    figures = [getattr(side, name) for name, _, _ in FIGURES for side in told]
    said = "\n".join(message.text for each in (one, other) for message in each.messages)
    return Row(
        cells=[told[0].title, *figures],
        text=f"{told[0].title}\n{told[0].topic}\n{said}",
        body=Markup(pair_html(one, other, names, f"p{number}")),
        small=told[0].topic,
        choices={"kind": told[0].kind},
    )


def _exchanges(conversation: Conversation) -> list[list[Turn]]:
    """Turns by exchange: one begins where the user speaks after the assistant has."""
    groups: list[list[Turn]] = []
    for turn in turns(conversation):
        if not groups or (turn.role == "user" and groups[-1][-1].role == "assistant"):
            groups.append([])
        groups[-1].append(turn)
    return groups


def _stretches(section: str, first: Conversation, second: Conversation) -> tuple[Stretch, ...]:
    border = len(first.messages)
    return tuple(
        Stretch(piece.text, any(n < border for n in piece.messages), any(n >= border for n in piece.messages))
        for piece in pieces(section, (*first.messages, *second.messages))
    )
