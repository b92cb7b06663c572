"""Quality of conversations by length and by assistant, from users' questionnaires and annotators' ratings.

Definitions are those of the tables and scripts published with two papers (SIGIR-AP 2025). These are "To What Extent Can
LLMs Assist in User Simulation for Task-Oriented Conversations" and "Human vs. Agent in Task-Oriented Conversations".
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

from ...data.records import Conversation, Record
from ..tables import TypedRows
from .talks import NOT_TOLD, Conversations, Talks, TaskConversation, mean, share

ALIGNMENT, COMPLETENESS = "Preference Alignment", "Role-Playing Completeness"

OF_THE_USER = (ALIGNMENT, "Additional Preferences", COMPLETENESS)
"""Items of a rating that judge the simulated user; the others judge the assistant."""

SCORES: Mapping[str, Mapping[str, int]] = {
    "Memorization": {"否": 1, "是": 0},
    "Detail": {"详细": 2, "一般": 1, "简略": 0},
    "Availability": {"很有用": 2, "有一定参考": 1, "不可用": 0},
    "Diversity": {"结果多样": 2, "一般": 1, "结果单一": 0},
}
"""Points of each answer to each question of a questionnaire.

Memorization asks whether the assistant forgot anything, so that no is the good answer; it is scored as the
rating of the same name, the published scripts leave it out. The other three are scored as they do.
"""


class TurnQuality(Record):
    """All rated conversations of one length."""

    turns: int
    n: int
    """Conversations that are rated."""
    of: int
    """All conversations of that length, of the sides that have any rating."""
    preference_alignment: float | None
    """Mean, 0 to 2."""
    role_playing_completeness: float | None
    """Mean, 0 to 2."""


class QualityByTurns(TypedRows[TurnQuality], title="Quality by turns"):
    """Mean ratings of simulated users by length: turns are messages // 2.

    The published README table "Simulation Quality across Different Conversation Turns".
    """


def quality_by_turns(conversations: Conversations) -> QualityByTurns:
    """A row for each number of turns that a rated conversation has."""
    talks = Talks.of(conversations)
    by_length: dict[int, list[dict[str, int]]] = defaultdict(list)
    lengths = Counter(talk.turns for talk in talks.of_sides_with(_rated).talks)
    for talk in filter(_rated, talks.talks):
        by_length[talk.turns].append(ratings_of(talk.conversation))
    rows = [
        TurnQuality(
            turns=turns,
            n=len(of_length),
            of=lengths[turns],
            preference_alignment=_mean_of(of_length, ALIGNMENT),
            role_playing_completeness=_mean_of(of_length, COMPLETENESS),
        )
        for turns, of_length in sorted(by_length.items())
    ]
    notes = list(talks.notes)
    if talks.talks and not rows:
        notes.append("No conversation has a rating of preference alignment or role playing; people's files have none.")
    if rated := [items for of_length in by_length.values() for items in of_length]:
        means = [_mean_of(rated, item) for item in (ALIGNMENT, COMPLETENESS)]
        shown = ", ".join("none" if value is None else f"{value:.4f}" for value in means)
        notes.append(f"Turns: messages // 2. All lengths together: n {len(rated)}, means {shown}.")
        notes += [*talks.without(_rated, "such rating"), *talks.trust("rating", _rated)]
    return QualityByTurns(rows=tuple(rows), notes=tuple(notes))


class ItemQuality(Record):
    """One item of all conversations with one assistant."""

    assistant: str
    about: str
    """Whom the item judges: `assistant`, or `user` (a simulated one)."""
    item: str
    n: int
    """Conversations that have the item."""
    of: int
    """All conversations with the assistant, of the sides that have any such judgement."""
    mean: float | None
    """0 to 2; of Memorization and Additional Preferences 0 to 1."""
    share_0: float | None
    """Share of the conversations with 0 points, 0 to 1."""
    share_1: float | None
    share_2: float | None
    trust: str
    """How far the item can be trusted, on the sides that have it."""


class QualityByQuestionnaire(TypedRows[ItemQuality], title="Assistant quality by questionnaire"):
    """People's answers about the assistant after the conversation, in points (`SCORES`).

    The published script "assistant_quality", which puts people of the first study, whose files name no model,
    with gpt-4-turbo-preview; here they are `not told`.
    """


def quality_by_questionnaire(conversations: Conversations) -> QualityByQuestionnaire:
    """A row for each assistant and question."""
    talks = Talks.of(conversations)
    rows = _items(talks, points_of)
    notes = list(talks.notes)
    if talks.talks and not rows:
        notes.append("No conversation has a questionnaire; simulated users fill none in.")
    unknown = sum(len(_options(talk.conversation)) - len(points_of(talk.conversation)) for talk in talks.talks)
    if unknown:
        notes.append(f"{unknown} answers are none of the published options: not counted.")
    if rows:
        notes += talks.without(lambda talk: points_of(talk.conversation), "questionnaire")
        notes.append("Points: 2 to 0; of memorization 1 (nothing was forgotten) or 0.")
    return QualityByQuestionnaire(rows=rows, notes=tuple(notes))


class QualityByRating(TypedRows[ItemQuality], title="Assistant quality by rating"):
    """Annotators' ratings of each conversation (`rating`), and what the simulating model reported as its user (`satisfaction`).

    The published simulated files do not name the model that answered.
    """


def quality_by_rating(conversations: Conversations) -> QualityByRating:
    """A row for each assistant and item of a rating."""
    talks = Talks.of(conversations)
    rows = _items(talks, _all_ratings)
    notes = list(talks.notes)
    if talks.talks and not rows:
        notes.append("No conversation has a rating; people's files have none.")
    if rows:
        notes += talks.without(lambda talk: _all_ratings(talk.conversation), "rating")
        notes.append("About user: the simulated one. Satisfaction: a model's self-report as that user, not people's.")
    if any(row.assistant == NOT_TOLD for row in rows):
        notes.append("Assistant unknown: the published files of simulated users name no model.")
    return QualityByRating(rows=rows, notes=tuple(notes))


def ratings_of(conversation: Conversation) -> dict[str, int]:
    """Points of each item of the rating, 0 to 2."""
    return _points(conversation.labels.get("rating"))


def satisfaction_of(conversation: Conversation) -> dict[str, int]:
    """Points of each item of the satisfaction with the whole conversation, 0 to 2, such as `satisfaction detail`."""
    return {f"satisfaction {item}": points for item, points in _points(conversation.labels.get("satisfaction")).items()}


def points_of(conversation: Conversation) -> dict[str, int]:
    """Points of each question of the questionnaire that has a published answer."""
    return {
        item: SCORES[item][option]
        for item, option in _options(conversation).items()
        if item in SCORES and option in SCORES[item]
    }


def _rated(talk: TaskConversation) -> bool:
    """Whether the conversation has a rating of preference alignment or of role playing."""
    items = ratings_of(talk.conversation)
    return ALIGNMENT in items or COMPLETENESS in items


def _all_ratings(conversation: Conversation) -> dict[str, int]:
    return ratings_of(conversation) | satisfaction_of(conversation)


def _options(conversation: Conversation) -> dict[str, str]:
    questionnaire = conversation.labels.get("questionnaire")
    questions = questionnaire if isinstance(questionnaire, list) else []
    return {
        str(question.get("summary")): str(question.get("option")).strip()
        for question in questions
        if isinstance(question, dict)
    }


def _points(rating: object) -> dict[str, int]:
    items = rating.items() if isinstance(rating, dict) else ()
    return {str(item): points for item, points in items if type(points) is int and 0 <= points <= 2}


def _items(talks: Talks, points: Callable[[Conversation], Mapping[str, int]]) -> tuple[ItemQuality, ...]:
    rows = []
    trust: dict[str, str] = {}
    for assistant, group in talks.of_sides_with(lambda talk: points(talk.conversation)).by_assistant():
        by_item: defaultdict[str, list[int]] = defaultdict(list)
        for talk in group:
            for item, value in points(talk.conversation).items():
                by_item[item].append(value)
        for item in by_item.keys() - trust.keys():
            sides = {talk.side for talk in talks.talks if item in points(talk.conversation)}
            trust[item] = talks.trusts.mark_of_label(*_key(item, points), sides, of_messages=False)
        rows += [
            ItemQuality(
                assistant=assistant,
                about="user" if item in OF_THE_USER else "assistant",
                item=item,
                n=len(values),
                of=len(group),
                mean=mean(values),
                share_0=share(values.count(0), len(values)),
                share_1=share(values.count(1), len(values)),
                share_2=share(values.count(2), len(values)),
                trust=trust[item],
            )
            for item, values in by_item.items()
        ]
    return tuple(rows)


def _key(item: str, points: Callable[[Conversation], Mapping[str, int]]) -> tuple[str, str]:
    if points is points_of:
        return "questionnaire", ""
    key, _, part = item.partition(" ")
    return (key, part) if key == "satisfaction" else ("rating", item)


def _mean_of(ratings: Sequence[Mapping[str, int]], item: str) -> float | None:
    return mean([rating[item] for rating in ratings if item in rating])
