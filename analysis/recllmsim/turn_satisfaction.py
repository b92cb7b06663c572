"""How satisfied people are with each reply, by its place in the conversation and by who answered."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from ...data.labels.reading import of_message
from ...data.records import Message, Record
from ..labels.reliability import PEOPLES, TRUST_IN
from ..tables import TypedRows
from .talks import SIDES, Conversations, Talks, TaskConversation, TaskSide, mean, share

POINTS = (1, 2, 3, 4, 5)


class TurnSatisfaction(Record):
    """Satisfaction with the n-th reply of one group's conversations, as rated by each user or model."""

    side: TaskSide
    turn: int
    """The place of the reply in its conversation, from 1."""
    n: int
    """Replies with a satisfaction."""
    of: int
    """All n-th replies of the side."""
    mean: float | None
    """1 to 5."""
    share_1: float | None
    """Share of the replies with 1 point, 0 to 1."""
    share_2: float | None
    share_3: float | None
    share_4: float | None
    share_5: float | None


class SatisfactionByTurn(TypedRows[TurnSatisfaction], title="Satisfaction by turn"):
    """Mean satisfaction with the n-th reply, 1 to 5, and how the points are spread."""


class AssistantSatisfaction(Record):
    """All replies of one assistant to one side."""

    side: TaskSide
    assistant: str
    conversations: int
    """Conversations with a reply that has a satisfaction."""
    of_conversations: int
    """All conversations of the side with the assistant."""
    n: int
    """Replies with a satisfaction."""
    of: int
    """All replies in `of_conversations`."""
    mean: float | None
    """Over replies, 1 to 5."""
    share_1: float | None
    share_2: float | None
    share_3: float | None
    share_4: float | None
    share_5: float | None


class SatisfactionByAssistant(TypedRows[AssistantSatisfaction], title="Satisfaction by assistant"):
    """Mean satisfaction with the replies of each assistant, 1 to 5."""


def satisfaction_by_turn(conversations: Conversations) -> SatisfactionByTurn:
    """A row for each side and place of a reply at which any has a satisfaction."""
    talks = Talks.of(conversations)
    rows = []
    for side in SIDES:
        by_turn: defaultdict[int, list[int]] = defaultdict(list)
        reply_counts: Counter[int] = Counter()
        for talk in talks.of_side(side):
            reply_counts.update(range(1, len(talk.messages_of("assistant")) + 1))
            for turn, points in satisfaction_of_replies(talk).items():
                by_turn[turn].append(points)
        rows += [
            TurnSatisfaction(
                side=side, turn=turn, n=len(points), of=reply_counts[turn], mean=mean(points), **_shares(points)
            )
            for turn, points in sorted(by_turn.items())
        ]
    return SatisfactionByTurn(rows=tuple(rows), notes=_notes(talks, bool(rows)))


def satisfaction_by_assistant(conversations: Conversations) -> SatisfactionByAssistant:
    """A row for each side and assistant; where there are several, the first is for all together."""
    talks = Talks.of(conversations)
    judged_ones = talks.of_sides_with(satisfaction_of_replies)
    groups: list[tuple[TaskSide, str, list[TaskConversation]]] = [
        (side, assistant, group)
        for side in SIDES
        for assistant, group in Talks(tuple(judged_ones.of_side(side))).by_assistant()
    ]
    rows = []
    for side, assistant, group in groups:
        judged = [talk for talk in group if satisfaction_of_replies(talk)]
        points = [value for talk in judged for value in satisfaction_of_replies(talk).values()]
        rows.append(
            AssistantSatisfaction(
                side=side,
                assistant=assistant,
                conversations=len(judged),
                of_conversations=len(group),
                n=len(points),
                of=sum(len(talk.messages_of("assistant")) for talk in group),
                mean=mean(points),
                **_shares(points),
            )
        )
    return SatisfactionByAssistant(rows=tuple(rows), notes=_notes(talks, bool(rows)))


def satisfaction_of_replies(talk: TaskConversation) -> dict[int, int]:
    """Points of each reply by its place among the replies, from 1; those without any are left out."""
    by_reply = {turn: _points(message) for turn, message in enumerate(talk.messages_of("assistant"), start=1)}
    return {turn: points for turn, points in by_reply.items() if points is not None}


def _points(message: Message) -> int | None:
    values = of_message(message).get("satisfaction", [])
    return int(values[0]) if values and values[0] in map(str, POINTS) else None


def _shares(points: Sequence[int]) -> Mapping[str, float | None]:
    return {f"share_{value}": share(points.count(value), len(points)) for value in POINTS}


def _notes(talks: Talks, rated: bool) -> tuple[str, ...]:
    if talks.talks and not rated:
        return (*talks.notes, "No reply has a satisfaction: of the published files only people's second study has it.")
    if not rated:
        return talks.notes
    missing = talks.without(satisfaction_of_replies, "reply with a satisfaction")
    trust = talks.trust("satisfaction", satisfaction_of_replies, of_messages=True)
    of_people = trust == [f"{TRUST_IN}satisfaction: {PEOPLES}."]
    scale = "Satisfaction: 1 to 5, given by the user for each reply." if of_people else "Satisfaction: 1 to 5."
    return (*talks.notes, scale, *trust, *missing)
