"""The executed graph of one or many conversations: runs of nodes and edges, seconds and tokens."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from pydantic import Field

from .records import Conversation, Edge, Record, Role, Usage

SPEAKERS: dict[str, Role] = {"user_simulator": "user", "assistant": "assistant"}
"""Nodes that write a side's drafts, and have the usage of the drafts."""

VALIDATORS: dict[str, Role] = {"question_validator": "user", "answer_validator": "assistant"}
"""Nodes that judge a side's drafts."""

SPEAKER_OF: dict[Role, str] = {role: place for place, role in SPEAKERS.items()}
VALIDATOR_OF: dict[Role, str] = {role: place for place, role in VALIDATORS.items()}
"""The same by the side."""

CLOSING = "closing"
"""The node that has the last word, such as scorers."""


class ExecutedNode(Record):
    """A node with its runs, seconds, tokens and rejections."""

    name: str
    runs: int
    """How often an edge led to it."""
    seconds: float | None = None
    """Time in the node; None if no record has it."""
    tokens: int | None = None
    """Tokens of its calls, which a validator or the closing node has if it asks a model; None if none is recorded."""
    reasons: dict[str, int] = Field(default_factory=dict)
    """Rejected and observed drafts of a validator by reason, the most frequent first."""


class ExecutedGraph(Record):
    """Nodes in the order in which edges name them, and edges with their sums."""

    conversations: int
    """How many of the conversations have edges."""
    nodes: tuple[ExecutedNode, ...]
    edges: tuple[Edge, ...]


def executed(conversations: Iterable[Conversation]) -> ExecutedGraph:
    """The sum of the graphs of all conversations that have edges; empty if none has.

    Edges of different topologies are listed together. No edge leads to the first node: its runs are the count of
    the edges that leave it.
    """
    count = 0
    edges: Counter[tuple[str, str, str]] = Counter()
    seconds: dict[str, float] = defaultdict(float)
    tokens: Counter[str] = Counter()
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for conversation in conversations:
        if not conversation.edges:
            continue
        count += 1
        for edge in conversation.edges:
            edges[edge.source, edge.target, edge.label] += edge.count
        for name, spent in conversation.timing.nodes.items():
            seconds[name] += spent
        for name, usage in _usages(conversation):
            if usage is not None:
                tokens[name] += usage.tokens
        for name, role in VALIDATORS.items():
            for attempt in conversation.attempts(role, new_only=True):
                if attempt.reason and attempt.verdict in ("rejected", "observed"):
                    reasons[name][attempt.reason] += 1
    arrived, left = Counter[str](), Counter[str]()
    for (source, target, _), times in edges.items():
        arrived[target] += times
        left[source] += times
    nodes = (
        ExecutedNode(
            name=name,
            runs=arrived[name] if name in arrived else left[name],
            seconds=round(seconds[name], 6) if name in seconds else None,
            tokens=tokens.get(name),
            reasons=dict(reasons[name].most_common()),
        )
        for name in dict.fromkeys(end for source, target, _ in edges for end in (source, target))
    )
    return ExecutedGraph(
        conversations=count,
        nodes=tuple(nodes),
        edges=tuple(
            Edge(source=source, target=target, label=label, count=times)
            for (source, target, label), times in edges.items()
        ),
    )


def _usages(conversation: Conversation) -> Iterator[tuple[str, Usage | None]]:
    """Each usage in a conversation with the node whose call it is; None where a call has none."""
    yield CLOSING, conversation.closing_usage
    for name, role in SPEAKERS.items():
        drafts = conversation.attempts(role, new_only=True)
        yield from ((name, None if draft.rule_based else draft.usage) for draft in drafts)
    for name, role in VALIDATORS.items():
        yield from ((name, attempt.judging) for attempt in conversation.attempts(role, new_only=True))
