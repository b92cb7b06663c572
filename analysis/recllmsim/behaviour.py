"""How users behave by annotators' labels: which are frequent, with which users, and with which ratings.

Labels are the intents of the user's messages and each part of the conversation's behaviour labels. The value of one
is the `final` of three votes; those of human annotators (`style human ...`) stand apart, and so do people's intents, which are another
measurement than those of simulated users. "Human vs. Agent in Task-Oriented Conversations" (SIGIR-AP 2025) compares
their distributions by task and side.
"""

import re
from collections import Counter, defaultdict

from ...data.labels.reading import PEOPLES_INTENT, of_conversation, of_message
from ...data.recllmsim.published_labels import BEHAVIOUR
from ...data.records import Record
from ..tables import TypedRows
from .quality import points_of, ratings_of, satisfaction_of
from .talks import SIDES, Conversations, Talks, TaskConversation, TaskSide, mean, share, spread
from .turn_satisfaction import satisfaction_of_replies

_INTENTS = ("intent", PEOPLES_INTENT)
_NAMED = {"satisfaction with replies": "satisfaction"}
"""Ratings by other names than those of their labels."""
_BEHAVIOUR = ("strategy", *(name.replace("_", " ") for name in sorted(BEHAVIOUR)))
"""How the names of behaviour labels begin; `strategy` is an unknown edition's."""
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


class LabelShare(Record):
    """One value of one label in the conversations of one side about one task."""

    label: str
    value: str
    task: str
    side: TaskSide
    n: int
    """How often it is given: to messages (intents), or to conversations."""
    conversations: int
    """Conversations of the task and side that have the label, with any value."""
    of: int
    """All conversations of the task and side."""
    share: float | None
    """Of all values of the label there, 0 to 1."""
    trust: str
    """How far the label can be trusted on that side."""


class LabelDistributions(TypedRows[LabelShare], title="Behaviour labels"):
    """How often each value of each behaviour label is given, by task and side.

    A message with several intents counts once for each.
    """


def label_distributions(conversations: Conversations) -> LabelDistributions:
    """A row for each label, task, side and value.

    A value that the side never has is a row of 0.
    """
    talks = Talks.of(conversations)
    values_of = _values(talks)
    counts: dict[tuple[str, str, TaskSide], Counter[str]] = {}
    labelled: Counter[tuple[str, str, TaskSide]] = Counter()
    all_of: dict[tuple[str, TaskSide], int] = {}
    for task, side, group in talks.groups():
        all_of[task, side] = len(group)
        for talk in group:
            for label, values in behaviour_of(talk).items():
                counts.setdefault((label, task, side), Counter()).update(values)
                labelled[label, task, side] += 1
    order = {task: number for number, (task, _, _) in enumerate(talks.groups())}
    rows = [
        LabelShare(
            label=label,
            value=value,
            task=task,
            side=side,
            n=n[value],
            conversations=labelled[label, task, side],
            of=all_of[task, side],
            share=share(n[value], n.total()),
            trust=_trust(talks, label, side),
        )
        for (label, task, side), n in sorted(counts.items(), key=lambda item: (item[0][0], order[item[0][1]]))
        for value in values_of[label]
    ]
    return LabelDistributions(rows=tuple(rows), notes=tuple(_notes(talks, bool(rows))))


class LabelRating(Record):
    """One rating of all conversations of one side that have one value of one label."""

    label: str
    value: str
    side: TaskSide
    rating: str
    n: int
    """Conversations that have the value (of intents: in any message) and the rating."""
    of: int
    """Conversations of the side that have the value, with the rating or without."""
    mean: float | None
    """In the rating's own points: 0 to 2, 0 to 1, or 1 to 5 for the mean satisfaction with the replies."""
    trust: str
    """How far the label can be trusted on that side."""
    rating_trust: str
    """How far the rating can."""


class RatingByLabel(TypedRows[LabelRating], title="Mean rating by label"):
    """Mean rating of the conversations with each value of each behaviour label.

    Simulated conversations have annotators' ratings; people's their own questionnaires, and the mean of their
    satisfaction with each reply.
    """


def rating_by_label(conversations: Conversations) -> RatingByLabel:
    """A row for each label, value, side and rating that occur together."""
    talks = Talks.of(conversations)
    points_by_label: defaultdict[tuple[str, str, TaskSide, str], list[float]] = defaultdict(list)
    having: Counter[tuple[str, str, TaskSide]] = Counter()
    for talk in talks.talks:
        ratings = _ratings(talk)
        for label, values in behaviour_of(talk).items():
            for value in set(values):
                having[label, value, talk.side] += 1
                for rating, points in ratings.items():
                    points_by_label[label, value, talk.side, rating].append(points)
    rows = [
        LabelRating(
            label=label,
            value=value,
            side=side,
            rating=rating,
            n=len(points),
            of=having[label, value, side],
            mean=mean(points),
            trust=_trust(talks, label, side),
            rating_trust=_trust(talks, _NAMED.get(rating, rating), side),
        )
        for (label, value, side, rating), points in sorted(points_by_label.items())
    ]
    notes = _notes(talks, any(behaviour_of(talk) for talk in talks.talks))
    if talks.talks and not any(_ratings(talk) for talk in talks.talks):
        notes.append("No conversation has a rating, a questionnaire or a satisfaction.")
    return RatingByLabel(rows=tuple(rows), notes=tuple(notes))


class UserFrequency(Record):
    """One value of one label in all users of one side."""

    label: str
    value: str
    side: TaskSide
    users: int
    """People, or profiles, that have the label at all."""
    of: int
    """All people, or profiles, of the side."""
    users_with: int
    """Those that have the value at least once."""
    mean: float | None
    """Mean over users of the value's share of all that user's values, 0 to 1: every user counts the same."""
    sd: float | None
    """Population standard deviation of it between users; None of one user."""
    trust: str
    """How far the label can be trusted on that side."""


class LabelFrequency(TypedRows[UserFrequency], title="Label frequency per user"):
    """How often users show each value of each behaviour label: mean and spread of a share for each user.

    Distributions over conversations count a user with many conversations more than one with few; this does not.
    """


def label_frequency(conversations: Conversations) -> LabelFrequency:
    """A row for each label, side and value; a value that the side never has is a row of 0."""
    talks = Talks.of(conversations)
    users_by_label: defaultdict[tuple[str, TaskSide], defaultdict[str, Counter[str]]] = defaultdict(
        lambda: defaultdict(Counter)
    )
    for talk in talks.talks:
        for label, values in behaviour_of(talk).items():
            users_by_label[label, talk.side][talk.user].update(values)
    values_of = _values(talks)
    all_of = {side: len(talks.users(side)) for side in SIDES}
    rows = [
        UserFrequency(
            label=label,
            value=value,
            side=side,
            users=len(users),
            of=all_of[side],
            users_with=sum(part > 0 for part in shares),
            mean=mean(shares),
            sd=spread(shares),
            trust=_trust(talks, label, side),
        )
        for (label, side), users in sorted(users_by_label.items())
        for value in values_of[label]
        for shares in [[counts[value] / counts.total() for counts in users.values()]]
    ]
    notes = _notes(talks, bool(rows))
    notes += [f"{label}, {side}: one user only, so there is no spread." for (label, side), users in sorted(users_by_label.items())
              if len(users) == 1]  # fmt: skip
    return LabelFrequency(rows=tuple(rows), notes=tuple(notes))


def behaviour_of(talk: TaskConversation) -> dict[str, list[str]]:
    """Values of each behaviour label of a conversation: of intents one or more for each message of the user."""
    of_parts = {
        label: [*map(_worded, values)]
        for label, values in of_conversation(talk.conversation).items()
        if label.startswith(_BEHAVIOUR)
    }
    of_messages = [of_message(message) for message in talk.messages_of("user")]
    for label in _INTENTS:
        if intents := [_worded(value) for of_one in of_messages for value in of_one.get(label, [])]:
            of_parts[label] = intents
    return of_parts


def _trust(talks: Talks, label: str, side: TaskSide) -> str:
    return talks.trusts.mark_of_name(label, [side])


def _values(talks: Talks) -> dict[str, list[str]]:
    by_label: defaultdict[str, set[str]] = defaultdict(set)
    for talk in talks.talks:
        for label, values in behaviour_of(talk).items():
            by_label[label].update(values)
    return {label: sorted(values) for label, values in by_label.items()}


def _worded(value: str) -> str:
    """The value in lower case and separate words (`AllInOne` as `all in one`), equal for labels of both languages."""
    return _HUMP.sub(" ", value).lower()


def _ratings(talk: TaskConversation) -> dict[str, float]:
    conversation = talk.conversation
    ratings: dict[str, float] = {f"rating {item}": points for item, points in ratings_of(conversation).items()}
    ratings |= satisfaction_of(conversation)
    ratings |= {f"questionnaire {item}": points for item, points in points_of(conversation).items()}
    if (satisfied := mean([*satisfaction_of_replies(talk).values()])) is not None:
        ratings["satisfaction with replies"] = satisfied
    return ratings


def _notes(talks: Talks, labelled: bool) -> list[str]:
    notes = list(talks.notes)
    if labelled:
        notes.append("Conversations: the result of the votes. Intents: of the user's messages, one or more for each.")
    elif talks.talks:
        notes.append(
            "No behaviour label is there: neither an intent of a message nor a label of a conversation such as style."
        )
    return notes
