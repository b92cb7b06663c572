"""The graph of a conversation, and the way of one or many through it: runs of nodes and edges, seconds and tokens."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise

from pydantic import Field

from .identity import begun_with
from .records import SIDES, Conversation, Message, Provenance, Record, Role, Unsaid

SPEAKERS: dict[str, Role] = {"user_simulator": "user", "assistant": "assistant"}
"""Nodes that write a side's drafts, and have the usage of the drafts."""

VALIDATORS: dict[str, Role] = {"question_validator": "user", "answer_validator": "assistant"}
"""Nodes that judge a side's drafts."""

SPEAKER_OF: dict[Role, str] = {role: place for place, role in SPEAKERS.items()}
VALIDATOR_OF: dict[Role, str] = {role: place for place, role in VALIDATORS.items()}
"""The same by the side."""

SELECTOR_OF: dict[Role, str] = {"user": "user_prompt_selector", "assistant": "assistant_prompt_selector"}

OPENING, CLOSING = "opening", "closing"
"""The nodes that have the first word and the last one, such as scorers."""

WAYS: Mapping[str, Mapping[str, str]] = {
    "__start__": {"": OPENING},
    OPENING: {"user": "user_prompt_selector", "assistant": "assistant_prompt_selector", "stop": CLOSING},
    "user_prompt_selector": {"": "user_simulator"},
    "user_simulator": {"": "question_validator"},
    "question_validator": {
        "regenerate": "user_prompt_selector",
        "accepted": "assistant_prompt_selector",
        "stop": CLOSING,
    },
    "assistant_prompt_selector": {"": "assistant"},
    "assistant": {"": "answer_validator"},
    "answer_validator": {"regenerate": "assistant_prompt_selector", "accepted": "turn_recorder", "stop": CLOSING},
    "turn_recorder": {"continue": "user_prompt_selector", "stop": CLOSING},
    CLOSING: {"": "__end__"},
}
"""The graph of every conversation: where the ways of each node lead, by the answer of its router where it has several."""

GOES_ON = {"question_validator": "accepted", "answer_validator": "accepted", "turn_recorder": "continue"}
"""Nodes after which further ones may stand, each with the answer of its router with which a conversation goes on."""
_OUTSIDE = ("__start__", OPENING, CLOSING)


class Edge(Record):
    """An edge of the graph, and how often conversations took it."""

    source: str
    """The node that it leaves, or `__start__`."""
    target: str
    """The node that it leads to, or `__end__`."""
    label: str = ""
    """The answer of the node that it leaves, where there are several ways."""
    count: int = 0


class ExecutedNode(Record):
    """A node with its runs, seconds, tokens and rejections."""

    name: str
    runs: int
    """How often it ran."""
    seconds: float | None = None
    """Time of a speaker's calls; None if no record has it, and of another node."""
    tokens: int | None = None
    """Tokens of its calls, which a validator or the closing node has if it asks a model; None if none is recorded."""
    reasons: dict[str, int] = Field(default_factory=dict)
    """Rejected and observed drafts of a validator by reason, the most frequent first."""


class ExecutedGraph(Record):
    """Nodes in the order in which edges name them, and edges with their sums."""

    conversations: int
    """How many of the conversations were held by a graph."""
    nodes: tuple[ExecutedNode, ...]
    edges: tuple[Edge, ...]


def executed(conversations: Iterable[Conversation]) -> ExecutedGraph:
    """The sum of the ways of all conversations through their graphs; empty if none was held by a graph.

    A record tells the way by its attempts, by the node after which it ended, and by the node that failed. Where it was
    cut short, what came after the last draft is not counted. A further node runs whenever the way goes on to it: that
    its `goto` led elsewhere is not known. Edges of different topologies are listed together.
    """
    count = 0
    edges: Counter[tuple[str, str]] = Counter()
    labels: dict[tuple[str, str], str] = {}
    runs: Counter[str] = Counter()
    seconds: dict[str, float] = defaultdict(float)
    tokens: Counter[str] = Counter()
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for conversation in conversations:
        provenance = conversation.provenance
        if provenance is None or not provenance.nodes.keys() >= SPEAKERS.keys():
            continue
        count += 1
        circle = _circle(provenance)
        labels |= _drawn(circle)
        way = _way(conversation, provenance.begun, circle)
        edges.update(pairwise(way))
        runs.update(way)
        if conversation.closing_usage is not None:
            tokens[CLOSING] += conversation.closing_usage.tokens
        for role in SPEAKER_OF:
            for draft in conversation.attempts(role, new_only=True):
                if draft.seconds is not None:
                    seconds[SPEAKER_OF[role]] += draft.seconds
                if draft.usage is not None and not draft.rule_based:
                    tokens[SPEAKER_OF[role]] += draft.usage.tokens
                if draft.judging is not None:
                    tokens[VALIDATOR_OF[role]] += draft.judging.tokens
                if draft.reason and draft.verdict in ("rejected", "observed"):
                    reasons[VALIDATOR_OF[role]][draft.reason] += 1
    nodes = (
        ExecutedNode(
            name=name,
            runs=runs[name],
            seconds=round(seconds[name], 6) if name in seconds else None,
            tokens=tokens.get(name),
            reasons=dict(reasons[name].most_common()),
        )
        for name in dict.fromkeys(end for way in labels for end in way)
    )
    return ExecutedGraph(
        conversations=count,
        nodes=tuple(nodes),
        edges=tuple(
            Edge(source=source, target=target, label=label, count=edges[source, target])
            for (source, target), label in labels.items()
        ),
    )


def _circle(provenance: Provenance) -> dict[str, str]:
    """The node to which a conversation goes on from each, further nodes in their places: a circle."""
    ahead = {name: ways[GOES_ON.get(name, "")] for name, ways in WAYS.items() if name not in _OUTSIDE}
    last = {place: place for place in GOES_ON}
    for name, node in provenance.nodes.items():
        if node.after in last and name not in WAYS:
            ahead[name] = ahead[last[node.after]]
            ahead[last[node.after]] = name
            last[node.after] = name
    return ahead


def _drawn(ahead: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """The edges of a graph in drawing order, each with its label; those of further nodes come last."""
    drawn = {}
    for source, ways in WAYS.items():
        for label, target in ways.items():
            drawn[source, ahead[source] if GOES_ON.get(source) == label else target] = label
    for name in ahead:
        if name not in WAYS:
            drawn |= {(name, ahead[name]): "", (name, CLOSING): ""}
    return drawn


def _way(conversation: Conversation, begun: str, circle: Mapping[str, str]) -> list[str]:
    """The nodes that a conversation passed, in order, as far as its record tells; an empty name stands for unknown ones."""
    messages, kept = conversation.messages, _given(conversation, begun)
    asked = [one.role for one in messages[:kept] if one.stored][-1:] == ["user"]
    ahead = {**circle, OPENING: SELECTOR_OF["assistant" if asked else "user"]}
    way = ["__start__", OPENING]

    def go_on_to(node: str) -> None:
        while node in circle and way[-1] != node:
            way.append(ahead[way[-1]])

    further, before = circle.keys() - WAYS.keys(), ""
    for node, calls in _turns(messages[kept:], conversation.unsaid):
        if calls and node == before and further:  # perhaps one of these has sent it here
            way += ["", node]
        go_on_to(node)
        if calls:
            speaker, validator = SPEAKER_OF[SIDES[node]], VALIDATOR_OF[SIDES[node]]
            way += [speaker, validator, *(node, speaker, validator) * (calls - 1)]
            before = node
    failure, end = conversation.failure, conversation.stopped_at
    if failure is not None and not end:
        end = way[-1] if failure.silent else failure.node
    drafts = [attempt for turn in conversation.unsaid for attempt in turn.attempts]
    if drafts and end != way[-1]:
        if drafts[-1].verdict == "unjudged":
            way.pop()  # its validator did not come to it
        elif SIDES.get(end) == SIDES[before]:
            way.append(before)
    go_on_to(end)
    if conversation.stopped_at:
        way += [CLOSING] if failure is not None and failure.node == CLOSING else [CLOSING, "__end__"]
    return way


def _given(conversation: Conversation, begun: str) -> int:
    """With how many messages a conversation began, by their digest."""
    kept = len(conversation.messages) - len(conversation.new_messages)
    if kept or not begun:
        return kept
    plain = [message.plain() for message in conversation.messages]
    return next((count for count in range(1, len(plain) + 1) if begun_with(plain[:count]) == begun), 0)


def _turns(messages: Iterable[Message], unsaid: Iterable[Unsaid]) -> list[tuple[str, int]]:
    """Where the turns began, with the calls of each, and the further nodes that spoke, with none.

    One call may have sent several messages.
    """
    turns: list[tuple[str, int]] = []
    for message in messages:
        numbers = {attempt.number for attempt in message.attempts}
        if message.name:
            turns.append((message.name, 0))
        elif numbers and turns[-1:] != [(SELECTOR_OF[message.role], *numbers)]:
            turns.append((SELECTOR_OF[message.role], len(numbers)))
    return turns + [(SELECTOR_OF[turn.role], len({draft.number for draft in turn.attempts})) for turn in unsaid]
