"""A conversation as one self-contained page: what it is about, the dialogue, every draft, the graph that ran."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from ..data.executed_graph import executed
from ..data.grounding import gives_no_answer
from ..data.outlines import outline, title_of
from ..data.records import Attempt, Conversation, Message, Role
from .graph import drawn
from .marking import Mark, facts, leaves, marked
from .pages import page, render, source

_KNOWN = ("task", "task_context", "preference", "profile")
"""Keys of a scenario that are shown first, in this order; those below have places of their own."""
_PLACED = frozenset({"kind", "digest", "title", "header", "background", "section"})


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

    @property
    def rejected(self) -> tuple[Attempt, ...]:
        """Attempts that were not said."""
        return tuple(attempt for attempt in self.attempts if attempt.verdict in ("rejected", "unjudged"))

    @property
    def standing(self) -> Attempt | None:
        """The attempt that was said, if the last one was."""
        last = self.attempts[-1] if self.attempts else None
        return last if last is not None and last.verdict in ("accepted", "observed") else None

    @property
    def refused(self) -> bool:
        """Whether the assistant says that there is no answer."""
        return self.message is not None and self.role == "assistant" and gives_no_answer(self.message)


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
    section = conversation.scenario.get("section")
    graph = executed([conversation])
    return render(
        "conversation.html",
        conversation=conversation,
        anchor=anchor or f"c{conversation.id}",
        told=outline(conversation),
        background=str(conversation.scenario.get("background", "")),
        pieces=pieces(section, conversation.messages) if isinstance(section, str) else (),
        material=material(conversation),
        turns=tuple(turns(conversation)),
        seconds=conversation.timing.get("seconds"),
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


def material(conversation: Conversation) -> tuple[tuple[str, str | tuple[tuple[str, str], ...]], ...]:
    """What the scenario says besides a topic's own texts: each key's name with its text, or with rows of an object."""
    about = conversation.scenario
    keys = [*(key for key in _KNOWN if key in about), *(key for key in about if key not in _KNOWN)]
    found: list[tuple[str, str | tuple[tuple[str, str], ...]]] = []
    for key in keys:
        value = about[key]
        if key in _PLACED or not value:
            continue
        if isinstance(value, dict):
            rows = ((str(label).replace("_", " "), ", ".join(leaves(inner))) for label, inner in value.items())
            found.append((key.replace("_", " "), tuple(row for row in rows if row[1])))
        elif isinstance(value, str):
            found.append((key.replace("_", " "), value))
    return tuple(found)


def turns(conversation: Conversation) -> Iterator[Turn]:
    """Messages and silent turns in the order in which they came."""
    known = facts(conversation.scenario)
    silent: dict[int, list[Turn]] = {turn.after: [] for turn in conversation.unsaid}
    for turn in conversation.unsaid:
        silent[turn.after].append(Turn(None, turn.role, None, turn.attempts, ()))
    for number, message in enumerate(conversation.messages):
        yield from silent.get(number, [])
        targets = tuple((span.text, span.start) for span in message.spans)
        yield Turn(number, message.role, message, message.attempts, targets, marked(message.text, known))
    yield from silent.get(len(conversation.messages), [])


def _nodes(conversation: Conversation) -> tuple[tuple[str, int, float], ...]:
    """Name, runs and seconds of each node, where a record without edges tells them."""
    nodes = conversation.timing.get("nodes")
    told = nodes.items() if isinstance(nodes, dict) else ()
    return tuple(
        (name, int(str(value.get("runs", 0))), float(str(value.get("seconds", 0))))
        for name, value in told
        if isinstance(value, dict)
    )
