"""A conversation as one self-contained page: the section with its spans, the dialogue, every draft."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise

from jinja2 import DictLoader, Environment, StrictUndefined

from ..data.grounding import gives_no_answer
from ..data.records import Attempt, Conversation, Message, Role


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

    @property
    def rejected(self) -> tuple[Attempt, ...]:
        return tuple(attempt for attempt in self.attempts if attempt.verdict in ("rejected", "unjudged"))

    @property
    def standing(self) -> Attempt | None:
        last = self.attempts[-1] if self.attempts else None
        return last if last is not None and last.verdict in ("accepted", "observed") else None

    @property
    def refused(self) -> bool:
        return self.message is not None and self.role == "assistant" and gives_no_answer(self.message)


def conversation_page(conversation: Conversation) -> str:
    """The page as HTML: no script, no network, light and dark. Every text in it is escaped."""
    page = _environment().get_template("page.html")
    text = page.render(title=_title(conversation), style=_read("style.css"), body=conversation_html(conversation))
    return text.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair fits in no file


def conversation_html(conversation: Conversation) -> str:
    """The conversation without the page around it, as a notebook shows it."""
    section = conversation.scenario.get("section")
    return (
        _environment()
        .get_template("conversation.html")
        .render(
            conversation=conversation,
            title=_title(conversation),
            header=str(conversation.scenario.get("header", "")),
            background=str(conversation.scenario.get("background", "")),
            pieces=pieces(section, conversation.messages) if isinstance(section, str) else (),
            turns=tuple(turns(conversation)),
            seconds=conversation.timing.get("seconds"),
            nodes=_nodes(conversation),
        )
    )


def notebook_html(conversation: Conversation) -> str:
    """The conversation with its own style, for a cell's output."""
    return f"<style>{_read('style.css')}</style>{conversation_html(conversation)}"


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
    silent = {turn.after: [] for turn in conversation.unsaid}  # type: dict[int, list[Turn]]
    for turn in conversation.unsaid:
        silent[turn.after].append(Turn(None, turn.role, None, turn.attempts, ()))
    for number, message in enumerate(conversation.messages):
        yield from silent.get(number, [])
        targets = tuple((span.text, span.start) for span in message.spans)
        yield Turn(number, message.role, message, message.attempts, targets)
    yield from silent.get(len(conversation.messages), [])


def _title(conversation: Conversation) -> str:
    return str(conversation.scenario.get("title") or f"Conversation {conversation.id}")


def _nodes(conversation: Conversation) -> tuple[tuple[str, int, float], ...]:
    """Name, runs and seconds of each node, where the record tells them."""
    nodes = conversation.timing.get("nodes")
    told = nodes.items() if isinstance(nodes, dict) else ()
    return tuple(
        (name, int(str(value.get("runs", 0))), float(str(value.get("seconds", 0))))
        for name, value in told
        if isinstance(value, dict)
    )


@lru_cache(maxsize=1)
def _environment() -> Environment:
    names = ("page.html", "conversation.html")
    return Environment(
        loader=DictLoader({name: _read(name) for name in names}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@lru_cache(maxsize=8)
def _read(name: str) -> str:
    return files("duologue.views").joinpath("templates", name).read_text(encoding="utf-8")
