"""How often an assistant's reply is marked as made up, by task and side."""

from collections.abc import Sequence
from typing import Literal

from ...data.labels.reading import of_message
from ...data.records import Record
from ..tables import TypedRows
from .talks import SIDES, Conversations, Talks, TaskConversation, TaskSide, share

JUDGEMENTS = ("yes", "no", "cannot tell")


class TaskHallucination(Record):
    """The replies, or the conversations, of one side about one task, and those of them that are judged."""

    task: str
    side: TaskSide
    per: Literal["turn", "conversation"]
    n: int
    """Replies that are judged, one a turn; or conversations with such a reply."""
    of: int
    """All replies, or conversations, whether judged or not."""
    made_up: int
    """Replies that are made up, or conversations with such a reply."""
    cannot_tell: int
    """Of the others: replies of which the judge cannot tell, or conversations with such a reply."""
    share: float | None
    """Of the n those that are made up, 0 to 1."""
    trust: str
    """How far the judgements of the side can be trusted."""


class Hallucination(TypedRows[TaskHallucination], title="Hallucination"):
    """Hallucination per turn, which is per reply, and per conversation.

    The published script "hallucination": a reply of which the judge cannot tell counts as not made up.
    """


def hallucination(conversations: Conversations) -> Hallucination:
    """A row for each task and side per turn, and one per conversation; none if nothing is judged."""
    talks = Talks.of(conversations)
    rows: list[TaskHallucination] = []
    notes = list(talks.notes)
    if any(map(judgements_of, talks.talks)):
        trust = {side: talks.trusts.mark_of_label("hallucination", sides=[side], of_messages=True) for side in SIDES}
        for task, side, group in talks.groups():
            judgements = [judgements_of(talk) for talk in group]
            replies = [[judgement] for of_talk in judgements for judgement in of_talk]
            reply_count = sum(len(talk.messages_of("assistant")) for talk in group)
            judged = [of_talk for of_talk in judgements if of_talk]
            rows += [_row(task, side, "turn", replies, reply_count, trust[side]),
                     _row(task, side, "conversation", judged, len(group), trust[side])]  # fmt: skip
        notes += talks.without(judgements_of, "judged reply")
        notes.append("Shares are of the n that are judged. A reply that the judge leaves open counts as not made up.")
    elif talks.talks:
        notes.append("No reply is judged: there is no label `hallucination`.")
    return Hallucination(rows=tuple(rows), notes=tuple(notes))


def _row(
    task: str,
    side: TaskSide,
    per: Literal["turn", "conversation"],
    judged: Sequence[Sequence[str]],
    of: int,
    trust: str,
) -> TaskHallucination:
    made_up = sum("yes" in judgements for judgements in judged)
    unsure = sum("cannot tell" in judgements and "yes" not in judgements for judgements in judged)
    return TaskHallucination(
        task=task,
        side=side,
        per=per,
        n=len(judged),
        of=of,
        made_up=made_up,
        cannot_tell=unsure,
        share=share(made_up, len(judged)),
        trust=trust,
    )


def judgements_of(talk: TaskConversation) -> list[str]:
    """The judgement of each judged reply, one of `JUDGEMENTS`."""
    annotations = [of_message(message).get("hallucination", []) for message in talk.messages_of("assistant")]
    return [values[0] for values in annotations if values and values[0] in JUDGEMENTS]
