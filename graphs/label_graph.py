"""The graph that labels a conversation: each vote is asked for beside the others, then all are brought together.

    START -> annotator (once for each vote, at the same time) -> aggregator -> END

The loop of draft, check and repair stands within the annotator: it is that of every request (`nodes.requests.ask`).
"""

from collections.abc import Sequence
from operator import add
from typing import Annotated, Any, Required, TypeAlias

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Send
from typing_extensions import TypedDict

from ..data.labels.definition import LabelDefinition
from ..data.labels.final_values import finals
from ..data.records import Conversation
from ..nodes.annotators import Annotator, AnnotatorReply, LabelQuestion
from ..nodes.settings.redaction import without_known_secrets

NAME = "annotation"


class AnnotatorVote(TypedDict):
    """One annotator's vote, as plain JSON."""

    number: int
    """From 1."""
    values: dict[str, Any]
    """The value of each unit, by its index as text; null where every reply was refused or could not be read."""
    attempts: list[dict[str, Any]]
    """Every reply as it came, with verdict and usage; of its prompt the name and the digest."""
    error: str | None
    """Why the annotator failed."""


class AnnotationState(TypedDict, total=False):
    """The state of the labelling of one conversation, as plain JSON values."""

    conversation: Required[dict[str, Any]]
    units: Required[list[int]]
    """Indices of the messages to label, or only -1 for the conversation."""
    seed: int
    subject: str
    """What the seeds are derived from; empty: the conversation's id and the label's name."""
    vote: int
    """Number of the vote, for the annotator that is asked for it."""
    votes: Annotated[list[AnnotatorVote], add]
    final: dict[str, Any]
    """What the votes come to by the published rule, by unit."""


AnnotationGraph: TypeAlias = CompiledStateGraph[AnnotationState, None, AnnotationState, AnnotationState]


def annotation(label: LabelDefinition, annotators: Sequence[Annotator]) -> AnnotationGraph:
    """The graph for a label, with an annotator for each vote: `await graph.ainvoke(beginning(conversation, units))`.

    Its `votes` are in the order of their numbers, whichever came first.
    """

    async def annotator(state: AnnotationState) -> dict[str, Any]:
        number = state.get("vote", 1)
        talk = Conversation.from_plain(state["conversation"])
        subject = state.get("subject") or f"{talk.id}/{label.name}"
        question = LabelQuestion(
            talk, label, tuple(state["units"]), state.get("seed", 0), subject, number, len(annotators)
        )
        return {"votes": [plain_vote(number, await annotators[number - 1](question))]}

    async def aggregator(state: AnnotationState) -> dict[str, Any]:
        votes = sorted(state.get("votes", []), key=lambda vote: vote["number"])
        ballots = [[vote["values"].get(str(unit)) for vote in votes] for unit in state["units"]]
        return {"final": dict(zip(map(str, state["units"]), finals(label, ballots), strict=True))}

    def each_vote(state: AnnotationState) -> list[Send]:
        return [Send("annotator", {**state, "vote": number}) for number in range(1, len(annotators) + 1)]

    graph = StateGraph(AnnotationState)
    graph.add_node("annotator", annotator)
    graph.add_node("aggregator", aggregator)
    graph.add_conditional_edges(START, each_vote, ["annotator"])
    graph.add_edge("annotator", "aggregator")
    graph.add_edge("aggregator", END)
    return graph.compile(name=NAME)


def beginning(conversation: Conversation, units: Sequence[int], *, seed: int = 0, subject: str = "") -> AnnotationState:
    """The initial state."""
    return {
        "conversation": conversation.plain(),
        "units": list(units),
        "seed": seed,
        "subject": subject,
        "votes": [],
    }


def plain_vote(number: int, opinion: AnnotatorReply) -> AnnotatorVote:
    """A vote as plain JSON, without secrets and without the texts of the prompts, which hold the conversation."""
    attempts = []
    for attempt in opinion.attempts:
        bare = attempt.prompt and attempt.prompt.model_copy(update={"text": ""})
        attempts.append(attempt.model_copy(update={"prompt": bare}).plain())
    values = {str(unit): value for unit, value in opinion.values.items()}
    vote: AnnotatorVote = without_known_secrets(
        {"number": number, "values": values, "attempts": attempts, "error": opinion.error}
    )
    return vote
