"""The graph that ran, of one conversation or of many: how often each node and each edge, and what it cost."""

from collections import Counter
from collections.abc import Iterable

from pydantic import Field

from .records import Conversation, Edge, Record, Role

SPEAKERS: dict[str, Role] = {"user_simulator": "user", "assistant": "assistant"}
"""Nodes whose calls are those of a side's drafts."""

VALIDATORS: dict[str, Role] = {"question_validator": "user", "answer_validator": "assistant"}
"""Nodes that read a side's drafts."""


class ExecutedNode(Record):
    """A node, and what came of it."""

    name: str
    runs: int
    """How often an edge led to it."""
    seconds: float | None = None
    """Time in the node; None where no record tells it."""
    tokens: int | None = None
    """Tokens of its calls; None for nodes of which drafts do not tell them."""
    reasons: dict[str, int] = Field(default_factory=dict)
    """Drafts that a validator rejected, or would have, by reason; the most frequent first."""


class ExecutedGraph(Record):
    """Nodes in the order in which edges name them, and edges with their sums."""

    conversations: int
    """How many conversations told their edges."""
    nodes: tuple[ExecutedNode, ...]
    edges: tuple[Edge, ...]


def executed(conversations: Iterable[Conversation]) -> ExecutedGraph:
    """The graph of all the conversations that have edges, their counts added; without any it is empty.

    Edges of different topologies stand side by side. The first node has no edge that leads to it, and runs
    as often as edges leave it.
    """
    told = 0
    ways: Counter[tuple[str, str, str]] = Counter()
    seconds: dict[str, float] = {}
    tokens: Counter[str] = Counter()
    known: set[str] = set()
    reasons: dict[str, Counter[str]] = {}
    for conversation in conversations:
        if not conversation.edges:
            continue
        told += 1
        for edge in conversation.edges:
            ways[edge.source, edge.target, edge.label] += edge.count
        for name, spent in conversation.timing.nodes.items():
            seconds[name] = seconds.get(name, 0.0) + spent.seconds
        for name, role in SPEAKERS.items():
            for attempt in conversation.attempts(role):
                if attempt.usage is not None:
                    tokens[name] += attempt.usage.tokens
                    known.add(name)
        for name, role in VALIDATORS.items():
            reasons.setdefault(name, Counter()).update(
                attempt.reason
                for attempt in conversation.attempts(role)
                if attempt.reason and attempt.verdict in ("rejected", "observed")
            )
    names = dict.fromkeys(end for source, target, _ in ways for end in (source, target))
    arrived: Counter[str] = Counter()
    left: Counter[str] = Counter()
    for (source, target, _), count in ways.items():
        arrived[target] += count
        left[source] += count
    entered = {target for _, target, _ in ways}
    return ExecutedGraph(
        conversations=told,
        nodes=tuple(
            ExecutedNode(
                name=name,
                runs=arrived[name] if name in entered else left[name],
                seconds=round(seconds[name], 6) if name in seconds else None,
                tokens=tokens[name] if name in known else None,
                reasons=dict(reasons.get(name, Counter()).most_common()),
            )
            for name in names
        ),
        edges=tuple(
            Edge.model_validate({"source": source, "target": target, "label": label, "count": count})
            for (source, target, label), count in ways.items()
        ),
    )
