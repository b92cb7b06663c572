"""A conversation as one self-contained page: subject, dialogue, every draft, the graph that ran."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from markupsafe import Markup

from ..analysis.attempts import model_tokens
from ..analysis.faults import Cause
from ..analysis.outcomes import Outcome, in_words, outcome
from ..data import domains
from ..data.executed_graph import SPEAKERS, executed
from ..data.records import Attempt, Conversation, Message, Role, Step, ToolCall, is_own, stop_in_words
from ..data.summaries import outline, title_of
from .graph import drawn
from .labels import labels_html
from .markdown import rendered
from .pages import anchor_of, page, render
from .parts import parts_html
from .wording import Wording, language_on_page


@dataclass(frozen=True)
class Piece:
    """A stretch of the section, and the numbers of the messages whose spans cover it."""

    text: str
    start: int
    messages: tuple[int, ...]


@dataclass(frozen=True)
class ShownTurn:
    """A message as the page shows it, or the drafts of a turn without a message."""

    number: int | None
    role: Role
    message: Message | None
    attempts: tuple[Attempt, ...]
    targets: tuple[tuple[str, int], ...]
    """Text of each span, and where in the section it begins."""
    refused: bool = False
    """Whether it is a reply that gives no answer."""
    markdown: Markup | None = None
    """A reply's text as HTML; None if it has no Markdown, or spans, which are shown as they are."""

    @property
    def name(self) -> str | None:
        """The name of a third one, such as a moderator; None of a side."""
        return None if self.message is None else self.message.name

    @property
    def rejected(self) -> tuple[Attempt, ...]:
        """Attempts that did not become a message."""
        drafts = (attempt for attempt in self.attempts if attempt is not self.standing)
        return tuple(attempt for attempt in drafts if attempt.verdict in ("rejected", "unjudged"))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tools that the speaker called for it."""
        return self.standing.tool_calls if self.standing is not None else ()

    @property
    def standing(self) -> Attempt | None:
        """The attempt that became the message, or only called tools; None if the last one was rejected."""
        last = self.attempts[-1] if self.attempts else None
        if last is None or last.verdict == "rejected":
            return None
        only_calls = bool(last.tool_calls) and not last.text and last.reason is None
        return last if self.message is not None or last.verdict != "unjudged" or only_calls else None


def conversation_page(conversation: Conversation) -> str:
    """The conversation as one page of HTML: no script, no network, light and dark; every text in it is escaped."""
    return page(title_of(conversation), conversation_html(conversation))


def conversation_html(conversation: Conversation, anchor: str = "", cause: Cause | None = None) -> str:
    """The conversation without the page around it.

    `anchor`: its element's id and the beginning of those of its messages (`ANCHOR/3`); default: its own id. `cause`: why
    it failed, where more is known than its record shows.
    """
    anchor, wording = anchor or anchor_of(conversation.id), Wording(language_on_page(conversation))
    material = domains.of(conversation).material(conversation.scenario)
    graph, result = executed([conversation]), outcome(conversation)
    return render(
        "conversation.html",
        conversation=conversation,
        anchor=anchor,
        wording=wording,
        outline=outline(conversation),
        tokens=model_tokens(conversation) or None,
        cause=cause or result.cause if result.success is False else None,
        why=why_failed(conversation, result, cause),
        labels_of=labels_html,
        material=[(part, pieces(part.text, conversation.messages) if part.source else ()) for part in material],
        turns=tuple(turns(conversation)),
        seconds=conversation.timing.seconds,
        stop=stop_text(conversation),
        parts=parts_html,
        step_tree=step_tree,
        speakers={role: _label(conversation, role) for role in ("user", "assistant")},
        graph=Markup(drawn(graph)) if graph.edges else "",
    )


def why_failed(conversation: Conversation, result: Outcome, cause: Cause | None = None) -> str:
    """Why a conversation failed and whose fault it is, as list and conversation say it; empty of one that did not fail."""
    cause = cause or result.cause
    return (
        "" if result.success is not False or cause is None else f"{in_words(result, conversation.stop)}; {cause.whose}"
    )


def pieces(section: str, messages: Sequence[Message]) -> tuple[Piece, ...]:
    """The section cut wherever a span begins or ends; joined, the pieces are the section."""
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


@dataclass(frozen=True)
class Branch:
    """A step of an agent's turn with the steps of the sub-agent that it is."""

    step: Step
    inner: list["Branch"] = field(default_factory=list)


def step_tree(steps: Sequence[Step]) -> list[Branch]:
    """The steps as a tree, each level in their order: a sub-agent's belong to the last step of its name before them."""
    outermost: list[Branch] = []
    latest: dict[tuple[str, ...], Branch] = {}
    for step in steps:
        branch = Branch(step)
        around = (latest.get(step.path[:length]) for length in range(len(step.path), 0, -1))
        above = next(filter(None, around), None)
        (outermost if above is None else above.inner).append(branch)
        latest[(*step.path, step.node)] = branch
    return outermost


def turns(conversation: Conversation) -> Iterator[ShownTurn]:
    """Messages, and turns without a message, in their order."""
    domain = domains.of(conversation)
    silent: dict[int, list[ShownTurn]] = {turn.after: [] for turn in conversation.unsaid}
    for turn in conversation.unsaid:
        silent[turn.after].append(ShownTurn(None, turn.role, None, turn.attempts, ()))
    for number, message in enumerate(conversation.messages):
        yield from silent.get(number, [])
        targets = tuple((span.text, span.start) for span in message.spans)
        reply = message.role == "assistant"
        markdown = rendered(message.text) if reply and not targets else None
        refused = reply and domain.refuses(message)
        yield ShownTurn(number, message.role, message, message.attempts, targets, refused, markdown)
    yield from silent.get(len(conversation.messages), [])


def stop_text(conversation: Conversation) -> str:
    """The reason why it ended, in words of its language.

    For a cast's own reason it adds the cast and whose fault it was.
    """
    words = stop_in_words(conversation.stop)
    if is_own(conversation.stop or ""):
        return f"{words[:-1]}; fault: {conversation.fault or 'not recorded'})"
    return Wording(language_on_page(conversation))(words)


def _label(conversation: Conversation, role: Role) -> str:
    """The model or node of a role, if the record has it."""
    nodes = conversation.provenance.nodes if conversation.provenance is not None else {}
    return next((nodes[place].label for place, side in SPEAKERS.items() if side == role and place in nodes), "")
