"""How often an assistant's reply is marked as made up, by task and side."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from ...data.records import Record
from ..annotations import of_message
from ..tables import Rows
from .talks import Conversations, Side, Talk, Talks, share

JUDGEMENTS = ("yes", "no", "cannot tell")


class TaskHallucination(Record):
    """The judged replies, or conversations with any, of one side about one task."""

    task: str
    side: Side
    per: Literal["turn", "conversation"]
    n: int
    """Replies that are judged, one a turn; or conversations with such a reply."""
    made_up: int
    """Replies that are made up, or conversations with such a reply."""
    cannot_tell: int
    """Of the others: replies of which the judge cannot tell, or conversations with such a reply."""
    share: float | None
    """Of the n those that are made up, 0 to 1."""


class Hallucination(Rows[TaskHallucination]):
    """Hallucination per turn, which is per reply, and per conversation.

    The published script "hallucination": a reply of which the judge cannot tell counts as not made up.
    """

    title: ClassVar[str] = "Hallucination"


def hallucination(conversations: Conversations) -> Hallucination:
    """A row for each task and side per turn, and one per conversation."""
    talks = Talks.of(conversations)
    judged = Talks(tuple(talk for talk in talks.talks if judgements_of(talk)))
    rows = []
    for task, side, group in judged.groups():
        judgements = [judgements_of(talk) for talk in group]
        replies = [[judgement] for of_talk in judgements for judgement in of_talk]
        rows += [_row(task, side, "turn", replies), _row(task, side, "conversation", judgements)]
    notes = list(talks.notes)
    if talks.talks and not rows:
        notes.append("No reply is judged: there is no label `hallucination`.")
    elif missing := len(talks.talks) - len(judged.talks):
        notes.append(f"{missing} conversations have no judged reply: left out.")
    if rows:
        notes.append("A reply of which the judge cannot tell counts as not made up.")
    return Hallucination(rows=tuple(rows), notes=tuple(notes))


def _row(
    task: str, side: Side, per: Literal["turn", "conversation"], judged: Sequence[Sequence[str]]
) -> TaskHallucination:
    made_up = sum("yes" in judgements for judgements in judged)
    unsure = sum("cannot tell" in judgements and "yes" not in judgements for judgements in judged)
    return TaskHallucination(
        task=task,
        side=side,
        per=per,
        n=len(judged),
        made_up=made_up,
        cannot_tell=unsure,
        share=share(made_up, len(judged)),
    )


def judgements_of(talk: Talk) -> list[str]:
    """What is said of each judged reply, one of `JUDGEMENTS`."""
    annotations = [of_message(message).get("hallucination", []) for message in talk.said("assistant")]
    return [values[0] for values in annotations if values and values[0] in JUDGEMENTS]
