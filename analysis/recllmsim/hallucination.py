"""How often an assistant's reply is marked as made up, by task and side."""

from typing import ClassVar

from ...data.records import Record
from ..annotations import of_message
from .rows import Rows
from .talks import Conversations, Side, Talk, Talks, share

JUDGEMENTS = ("yes", "no", "cannot tell")


class TaskHallucination(Record):
    """The judged conversations of one side about one task."""

    task: str
    side: Side
    replies: int
    """Replies that are judged."""
    made_up: int
    cannot_tell: int
    share: float | None
    """Of the judged replies those that are made up, 0 to 1."""
    conversations: int
    """Conversations with a judged reply."""
    with_any: int
    """Those with a reply that is made up."""
    share_with_any: float | None
    """Of these conversations, 0 to 1."""


class Hallucination(Rows[TaskHallucination]):
    """Hallucination per turn, which is per reply, and per conversation.

    The published script "hallucination": a reply of which the judge cannot tell counts as not made up.
    """

    title: ClassVar[str] = "Hallucination"


def hallucination(conversations: Conversations) -> Hallucination:
    """A row for each task and side."""
    talks = Talks.of(conversations)
    judged = Talks(tuple(talk for talk in talks.talks if judgements_of(talk)))
    rows = []
    for task, side, group in judged.groups():
        found = [judgements_of(talk) for talk in group]
        replies = [one for of_talk in found for one in of_talk]
        some = sum("yes" in of_talk for of_talk in found)
        rows.append(
            TaskHallucination(
                task=task,
                side=side,
                replies=len(replies),
                made_up=replies.count("yes"),
                cannot_tell=replies.count("cannot tell"),
                share=share(replies.count("yes"), len(replies)),
                conversations=len(group),
                with_any=some,
                share_with_any=share(some, len(group)),
            )
        )
    notes = list(talks.notes)
    if talks.talks and not rows:
        notes.append("No reply is judged: there is no label `hallucination`.")
    elif missing := len(talks.talks) - len(judged.talks):
        notes.append(f"{missing} conversations have no judged reply: left out.")
    if rows:
        notes.append("A reply of which the judge cannot tell counts as not made up.")
    return Hallucination(rows=tuple(rows), notes=tuple(notes))


def judgements_of(talk: Talk) -> list[str]:
    """What is said of each judged reply, one of `JUDGEMENTS`."""
    told = [of_message(message).get("hallucination", []) for message in talk.said("assistant")]
    return [values[0] for values in told if values and values[0] in JUDGEMENTS]
