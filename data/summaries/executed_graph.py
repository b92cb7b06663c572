"""The executed graph of one or many conversations: runs of nodes and edges, seconds and tokens."""

from collections import Counter
from collections.abc import Iterable, Iterator

from pydantic import Field

from ..records import Conversation, Edge, Record, Role, Usage

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


class GraphCounts:
    """The sums of an executed graph, to which conversations are added one by one."""

    def __init__(self) -> None:
        self._conversations = 0
        self._edges: Counter[tuple[str, str, str]] = Counter()
        self._seconds: dict[str, float] = {}
        self._tokens: dict[str, int] = {}
        self._reasons: dict[str, Counter[str]] = {}

    def add(self, conversation: Conversation, times: int = 1) -> None:
        """Add the edges of a conversation, or with -1 take them away; one without edges counts for nothing."""
        if not conversation.edges:
            return
        self._conversations += times
        for edge in conversation.edges:
            self._edges[edge.source, edge.target, edge.label] += times * edge.count
        for name, timing in conversation.timing.nodes.items():
            self._seconds[name] = self._seconds.get(name, 0.0) + times * timing.seconds
        for name, usage in _usages(conversation):
            if usage is not None:
                self._tokens[name] = self._tokens.get(name, 0) + times * usage.tokens
        for name, role in VALIDATORS.items():
            reasons = self._reasons.setdefault(name, Counter())
            for attempt in conversation.attempts(role, new_only=True):
                if attempt.reason and attempt.verdict in ("rejected", "observed"):
                    reasons[attempt.reason] += times

    @property
    def graph(self) -> ExecutedGraph:
        """The graph by its sums so far."""
        names = dict.fromkeys(end for source, target, _ in self._edges for end in (source, target))
        arrived: Counter[str] = Counter()
        left: Counter[str] = Counter()
        for (source, target, _), count in self._edges.items():
            arrived[target] += count
            left[source] += count
        entered = {target for _, target, _ in self._edges}
        return ExecutedGraph(
            conversations=self._conversations,
            nodes=tuple(
                ExecutedNode(
                    name=name,
                    runs=arrived[name] if name in entered else left[name],
                    seconds=round(self._seconds[name], 6) if name in self._seconds else None,
                    tokens=self._tokens.get(name),
                    reasons=dict(self._reasons.get(name, Counter()).most_common()),
                )
                for name in names
            ),
            edges=tuple(
                Edge.model_validate({"source": source, "target": target, "label": label, "count": count})
                for (source, target, label), count in self._edges.items()
            ),
        )


def executed(conversations: Iterable[Conversation]) -> ExecutedGraph:
    """The sum of the graphs of all conversations that have edges; empty if none has.

    Edges of different topologies are listed together. No edge leads to the first node: its runs are the count of
    the edges that leave it.
    """
    counts = GraphCounts()
    for conversation in conversations:
        counts.add(conversation)
    return counts.graph


def _usages(conversation: Conversation) -> Iterator[tuple[str, Usage | None]]:
    """Each usage in a conversation with the node whose call it is; None where a call has none."""
    yield CLOSING, conversation.closing_usage
    for name, role in SPEAKERS.items():
        drafts = conversation.attempts(role, new_only=True)
        yield from ((name, None if draft.rule_based else draft.usage) for draft in drafts)
    for name, role in VALIDATORS.items():
        yield from ((name, attempt.judging) for attempt in conversation.attempts(role, new_only=True))
