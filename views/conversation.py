"""A conversation as one self-contained page: what it is about, the dialogue, every draft, the graph that ran."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from ..data import domains
from ..data.executed_graph import SPEAKERS, executed
from ..data.outlines import outline, title_of
from ..data.records import Attempt, Conversation, Message, Role
from .graph import drawn
from .marking import Mark, marked
from .pages import page, render, source


@dataclass(frozen=True)
class Piece:
    """A stretch of the section, and the numbers of the messages whose spans it stands in."""

    text: str
    start: int
    messages: tuple[int, ...]


@dataclass(frozen=True)
class Turn:
    """A message, or drafts of a turn in which nothing was said, as the page shows it."""

    number: int | None
    role: Role
    message: Message | None
    attempts: tuple[Attempt, ...]
    targets: tuple[tuple[str, int], ...]
    """Text of each span, and where in the section it begins."""
    marks: tuple[Mark, ...] = ()
    """The message's text, with the scenario's facts in it."""
    refused: bool = False
    """Whether it is a reply that gives no answer."""

    @property
    def rejected(self) -> tuple[Attempt, ...]:
        """Attempts that were not said."""
        return tuple(attempt for attempt in self.attempts if attempt.verdict in ("rejected", "unjudged"))

    @property
    def standing(self) -> Attempt | None:
        """The attempt that was said, if the last one was."""
        last = self.attempts[-1] if self.attempts else None
        return last if last is not None and last.verdict in ("accepted", "observed") else None


def conversation_page(conversation: Conversation, *, back: str = "") -> str:
    """The page as HTML: no script, no network, light and dark. Every text in it is escaped.

    `back`: address of a list that the page belongs to, for a link.
    """
    link = render("back.html", back=back) if back else ""
    return page(title_of(conversation), link + conversation_html(conversation))


def conversation_html(conversation: Conversation, anchor: str = "") -> str:
    """The conversation without the page around it, as a notebook shows it.

    `anchor`: what its element ids begin with, in a page that holds several; by default they are its own.
    """
    material = domains.of(conversation).material(conversation.scenario)
    graph = executed([conversation])
    return render(
        "conversation.html",
        conversation=conversation,
        anchor=anchor or f"c{conversation.id}",
        told=outline(conversation),
        material=[(each, pieces(each.text, conversation.messages) if each.source else ()) for each in material],
        turns=tuple(turns(conversation)),
        seconds=conversation.timing.seconds,
        stop=stop_text(conversation),
        speakers={role: _label(conversation, role) for role in ("user", "assistant")},
        nodes=() if graph.edges else _nodes(conversation),
        graph=Markup(drawn(graph)) if graph.edges else "",
    )


def notebook_html(conversation: Conversation) -> str:
    """The conversation with its own style, for a cell's output."""
    return f"<style>{source('style.css')}</style>{conversation_html(conversation)}"


def pieces(section: str, messages: Sequence[Message]) -> tuple[Piece, ...]:
    """The section cut where a span begins or ends: together the pieces are the section."""
    spans = [
        (max(0, span.start), min(len(section), span.end), number)
        for number, message in enumerate(messages)
        for span in message.spans
    ]
    cuts = sorted({0, len(section), *(cut for start, end, _ in spans if start < end for cut in (start, end))})
    return tuple(
        Piece(section[start:end], start, tuple(n for first, last, n in spans if first <= start and end <= last))
        for start, end in pairwise(cuts)
    )


def turns(conversation: Conversation) -> Iterator[Turn]:
    """Messages and silent turns in the order in which they came."""
    domain = domains.of(conversation)
    facts = domain.facts(conversation.scenario)
    silent: dict[int, list[Turn]] = {turn.after: [] for turn in conversation.unsaid}
    for turn in conversation.unsaid:
        silent[turn.after].append(Turn(None, turn.role, None, turn.attempts, ()))
    for number, message in enumerate(conversation.messages):
        yield from silent.get(number, [])
        targets = tuple((span.text, span.start) for span in message.spans)
        marks = marked(message.text, facts)
        refused = message.role == "assistant" and domain.refuses(message)
        yield Turn(number, message.role, message, message.attempts, targets, marks, refused)
    yield from silent.get(len(conversation.messages), [])


def stop_text(conversation: Conversation) -> str:
    """Why it ended, in words; of a cast's own reason whose it is and whose fault."""
    cast, own, name = (conversation.stop or "no reason told").rpartition(":")
    words = name.replace("_", " ")
    return f"{words} ({cast}; fault: {conversation.fault or 'not told'})" if own else words


def _label(conversation: Conversation, role: Role) -> str:
    """What speaks for a side, where the record tells it."""
    nodes = conversation.provenance.nodes if conversation.provenance is not None else {}
    return next((nodes[place].label for place, side in SPEAKERS.items() if side == role and place in nodes), "")


def _nodes(conversation: Conversation) -> tuple[tuple[str, int, float], ...]:
    """Name, runs and seconds of each node, where a record without edges tells them."""
    return tuple((name, node.runs, node.seconds) for name, node in conversation.timing.nodes.items())
