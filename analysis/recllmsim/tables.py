"""The published tables about conversations with tasks and profiles: a function each, from `Talks` to a `Table`.

Definitions are those of the README, the tables and the scripts published with the papers of RecLLMSim, among them "To What
Extent Can LLMs Assist in User Simulation for Task-Oriented Conversations" and "Human vs. Agent in Task-Oriented
Conversations" (SIGIR-AP 2025). All need the extra `stats`.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sized
from functools import cache
from typing import Any, TypeAlias

from ...data.domains import in_language
from ...data.labels.reading import PEOPLES_INTENT, annotations_in
from ...data.recllmsim import task_name
from ...data.recllmsim.published_labels import BEHAVIOUR
from ...data.records import Conversation, Role
from ...data.text.languages import Language
from ...errors import of_extra
from ..tables import Table, TablesReport, table_of
from .profile_tables import profile_statistics, profile_values
from .talks import NOT_TOLD, SIDES, Talk, Talks

LengthMeasure: TypeAlias = Callable[[str], int | Sized]
"""The length of a text, or its pieces: `len`, or a tokenizer such as `encoding.encode` or `jieba.lcut`."""

ALL = "all"
"""The row of all tasks, or of all assistants, together."""
ALIGNMENT, COMPLETENESS = "Preference Alignment", "Role-Playing Completeness"
OF_THE_USER = (ALIGNMENT, "Additional Preferences", COMPLETENESS)
"""Items of a rating that judge the simulated user; the others judge the assistant."""

_ROLES: tuple[Role, ...] = ("user", "assistant")
_INTENTS = ("intent", PEOPLES_INTENT)
_BEHAVIOUR = ("strategy", *(name.replace("_", " ") for name in sorted(BEHAVIOUR)))
"""How the names of behaviour labels begin; `strategy` is an unknown edition's."""
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def recllmsim_tables(
    conversations: Iterable[Conversation] | Talks, *, length: LengthMeasure = len, language: Language | None = None
) -> TablesReport:
    """Every table of the task-oriented ones of some conversations; `length` and `language` as for `lengths`."""
    talks = Talks.of(conversations)
    made = {name: function(talks) for name, function in TABLES.items()}
    return TablesReport(by_name={**made, "lengths": lengths(talks, length, language)})


def basic_counts(talks: Talks) -> Table:
    """Conversations, contexts, users and messages by task and side (scripts "basic_statistics" and "basic_count")."""
    frame = talks.frame()
    frame["context"] = [str(talk.conversation.scenario.get("task_context")) for talk in talks.talks]
    frame["messages"] = [len(talk.messages) for talk in talks.talks]
    frame["turns"] = frame["messages"] // 2
    counts = _by_task(frame).agg(
        conversations=("task", "size"),
        contexts=("context", "nunique"),
        users=("user", "nunique"),
        messages=("messages", "sum"),
        turns=("turns", "mean"),
    )
    new = sum(task_name(str(talk.conversation.scenario["task"])) == "new_travel" for talk in talks.talks)
    notes = [*talks.notes, "Turns: messages // 2. Users: people, or different profiles."]
    if new:
        notes.append(f"Travel planning holds {new} conversations about new travel planning, as published tables do.")
    return table_of("Basic counts", counts.reset_index(), notes)


def lengths(talks: Talks, length: LengthMeasure = len, language: Language | None = None) -> Table:
    """Mean length of a message, and of all messages of a role in a conversation, by task, side and role.

    `length` gives a text's length or its tokens. Texts are as they were said, or with `language` the translation beside the
    message, as the published script "basic_count" reads simulated users in Chinese: a message without one has no length.
    """
    pandas = of_extra("pandas", "stats")

    @cache
    def measured(text: str) -> int:
        found = length(text)
        return len(found) if isinstance(found, Sized) else int(found)

    rows = []
    for talk in talks.talks:
        spoken: Language = "zh" if talk.conversation.scenario.get("language") == "zh" else "en"
        for role in _ROLES:
            messages = talk.messages_of(role)
            texts = [in_language(one, language, spoken) if language else one.text for one in messages]
            known = [measured(text) for text in texts if text is not None]
            whole = sum(known) if len(known) == len(texts) else None
            rows.append((talk.side, talk.task, role, len(texts), len(known), sum(known), whole))
    columns = ["side", "task", "role", "messages", "known", "characters", "per_conversation"]
    frame = pandas.DataFrame(rows, columns=columns).astype({"per_conversation": float})
    for name, order in (("side", SIDES), ("role", _ROLES)):
        frame[name] = pandas.Categorical(frame[name], order)
    sums = _by_task(frame, "role").agg(
        messages=("messages", "sum"),
        known=("known", "sum"),
        characters=("characters", "sum"),
        per_conversation=("per_conversation", "mean"),
    )
    sums["per_message"] = sums["characters"] / sums["known"].where(sums["known"] > 0)
    shown = sums[["messages", "per_message", "per_conversation"]].reset_index()
    notes = [*talks.notes, "Means over messages, and over the totals of conversations."]
    if unread := int(frame["messages"].sum() - frame["known"].sum()):
        notes.append(f"{unread} messages are not to be had in this language: they have no length here.")
    if language is None and len({str(talk.conversation.scenario.get("language")) for talk in talks.talks}) > 1:
        notes.append("Texts are in several languages: their lengths are not comparable; name a language for that.")
    return table_of("Lengths", shown, notes)


def quality_by_turns(talks: Talks) -> Table:
    """Mean ratings of simulated users by length (README, "Simulation Quality across Different Conversation Turns")."""
    frame = talks.frame()
    frame["turns"] = [len(talk.messages) // 2 for talk in talks.talks]
    frame["preference_alignment"] = [talk.ratings.get(ALIGNMENT) for talk in talks.talks]
    frame["role_playing_completeness"] = [talk.ratings.get(COMPLETENESS) for talk in talks.talks]
    means = ["preference_alignment", "role_playing_completeness"]
    frame = frame.astype(dict.fromkeys(means, float))
    frame["n"] = frame[means].notna().any(axis=1).astype(int)
    rated = frame[frame["side"].isin(frame.loc[frame["n"] == 1, "side"])]
    grouped = rated.groupby("turns")
    rows = grouped[means].mean()
    rows.insert(0, "n", grouped["n"].sum())
    rows.insert(1, "of", grouped.size())
    of_all = ", ".join(f"{value:.4f}" for value in rated[means].mean())
    notes = [*talks.notes, *_without(frame, frame["n"] == 1, "such rating"), "Turns: messages // 2."]
    if len(rated):
        notes.append(f"All lengths together: n {rated['n'].sum()}, means {of_all}.")
    return table_of("Quality by turns", rows[rows["n"] > 0].reset_index(), notes)


def quality_by_questionnaire(talks: Talks) -> Table:
    """People's answers about the assistant after the conversation, in points (script "assistant_quality").

    That script puts people of the first study, whose files name no model, with gpt-4-turbo-preview; here they are `not told`.
    """
    unknown = sum(len(talk.options) - len(talk.questionnaire) for talk in talks.talks)
    notes = ["Points: 2 to 0; of memorization 1 (nothing was forgotten) or 0."]
    if unknown:
        notes.append(f"{unknown} answers are none of the published options: not counted.")
    return _items("Assistant quality by questionnaire", talks, lambda talk: talk.questionnaire, "questionnaire", notes)


def quality_by_rating(talks: Talks) -> Table:
    """Annotators' ratings of each conversation, and what the simulating model reports as its user (`satisfaction`)."""
    notes = ["About user: the simulated one. Satisfaction: a model's self-report as that user, not people's."]
    title = "Assistant quality by rating"
    return _items(title, talks, lambda talk: talk.ratings | talk.self_report, "rating", notes)


def hallucination(talks: Talks) -> Table:
    """Replies that are judged to be made up, and conversations with such a reply, by task and side ("hallucination").

    A reply of which the judge cannot tell counts as not made up, as in the published script.
    """
    pandas = of_extra("pandas", "stats")
    frame = talks.frame()
    judged = [talk.judgements for talk in talks.talks]
    frame["n"] = [len(values) for values in judged]
    frame["made_up"] = [values.count("yes") for values in judged]
    frame["cannot_tell"] = [values.count("cannot tell") for values in judged]
    turns = frame.assign(of=[len(talk.messages_of("assistant")) for talk in talks.talks], per="turn")
    whole = frame.assign(
        n=(frame["n"] > 0).astype(int),
        of=1,
        cannot_tell=((frame["cannot_tell"] > 0) & (frame["made_up"] == 0)).astype(int),
        made_up=(frame["made_up"] > 0).astype(int),
        per="conversation",
    )
    both = pandas.concat([turns, whole]) if frame["n"].any() else turns.head(0)
    both["per"] = pandas.Categorical(both["per"], ["turn", "conversation"])
    rows = _by_task(both, "per")[["n", "of", "made_up", "cannot_tell"]].sum()
    rows["share"] = rows["made_up"] / rows["n"].where(rows["n"] > 0)
    notes = [*talks.notes, *_without(frame, frame["n"] > 0, "judged reply")]
    notes.append("Shares are of the n that are judged. A reply that the judge leaves open counts as not made up.")
    return table_of("Hallucination", rows.reset_index(), notes)


def satisfaction_by_turn(talks: Talks) -> Table:
    """Mean satisfaction with the n-th reply, 1 to 5, and how its points are spread."""
    return _satisfaction("Satisfaction by turn", talks, _replies(talks), ["side", "turn"])


def satisfaction_by_assistant(talks: Talks) -> Table:
    """Mean satisfaction with the replies of each assistant, 1 to 5; where there are several, first of all together."""
    return _satisfaction(
        "Satisfaction by assistant", talks, _with_all(_replies(talks), "assistant"), ["side", "assistant"]
    )


def label_distributions(talks: Talks) -> Table:
    """How often each value of each behaviour label is given, by task and side, as "Human vs. Agent" compares them.

    A message with several intents counts once for each. Of votes the result counts.
    """
    pandas = of_extra("pandas", "stats")
    tables = []
    for label, own in _behaviour(talks).groupby("label"):
        own = _with_all(own, "task")
        counts = pandas.crosstab([own["task"], own["side"]], own["value"])
        rows = counts.stack().rename("n").reset_index()
        rows["share"] = counts.div(counts.sum(axis=1), axis=0).stack().to_numpy()
        labelled = own.groupby(["task", "side"], observed=True)["number"].nunique().rename("conversations")
        rows = rows.merge(labelled.reset_index(), on=["task", "side"])
        tables.append(rows.assign(label=label))
    columns = ["label", "value", "task", "side", "n", "conversations", "of", "share"]
    if not tables:
        return table_of("Behaviour labels", pandas.DataFrame(columns=columns), _labels_notes(talks, []))
    of = _by_task(talks.frame()).size().rename("of").reset_index()
    every = pandas.concat(tables).merge(of, on=["task", "side"])
    order = [ALL, *sorted(set(every["task"]) - {ALL})]
    every["task"] = pandas.Categorical(every["task"], order)
    every["side"] = pandas.Categorical(every["side"], SIDES)
    return table_of(
        "Behaviour labels",
        every.sort_values(["label", "task", "side", "value"])[columns],
        _labels_notes(talks, tables),
    )


TABLES: Mapping[str, Callable[[Talks], Table]] = {
    "counts": basic_counts,
    "lengths": lengths,
    "quality_by_turns": quality_by_turns,
    "quality_by_questionnaire": quality_by_questionnaire,
    "quality_by_rating": quality_by_rating,
    "hallucination": hallucination,
    "satisfaction_by_turn": satisfaction_by_turn,
    "satisfaction_by_assistant": satisfaction_by_assistant,
    "profiles": profile_statistics,
    "profile_values": profile_values,
    "labels": label_distributions,
}
"""The tables by the names that they have in JSON."""


def _with_all(frame: Any, name: str) -> Any:
    """The rows twice: once as those of all tasks, or assistants, together, before those of each."""
    pandas = of_extra("pandas", "stats")
    values = sorted(frame[name].unique(), key=lambda value: (value == NOT_TOLD, value))
    both = pandas.concat([frame.assign(**{name: ALL}), frame]) if name == "task" or len(values) > 1 else frame
    return both.assign(**{name: pandas.Categorical(both[name], dict.fromkeys([ALL, *values]))})


def _by_task(frame: Any, *further: str) -> Any:
    return _with_all(frame, "task").groupby(["task", "side", *further], observed=True)


def _without(frame: Any, judged: Any, what: str) -> list[str]:
    """A note for each side of which some conversations, or all, are not judged."""
    counts = judged.groupby(frame["side"], observed=True).agg(["sum", "size"]).astype(int)
    return [
        f"{row['size'] - row['sum']} of {row['size']} conversations ({side}) have no {what}."
        for side, row in counts.iterrows()
        if row["sum"] < row["size"]
    ]


def _items(title: str, talks: Talks, points_of: Callable[[Talk], dict[str, int]], what: str, notes: list[str]) -> Table:
    """A row for each assistant and item: how many have it, its mean, and how its points are spread."""
    pandas = of_extra("pandas", "stats")
    frame = talks.frame()
    rated = pandas.Series([bool(points_of(talk)) for talk in talks.talks], dtype=bool)
    sides = _with_all(frame[frame["side"].isin(frame.loc[rated, "side"])], "assistant")
    rows = []
    for assistant, group in sides.groupby("assistant", observed=True):
        points = pandas.DataFrame([points_of(talk) for talk in group["talk"]])
        for item in points:
            values = points[item].dropna()
            spread = [(values == number).mean() for number in range(3)]
            about = "user" if item in OF_THE_USER else "assistant"
            rows.append((assistant, about, item, len(values), len(group), values.mean(), *spread))
    columns = ["assistant", "about", "item", "n", "of", "mean", "share_0", "share_1", "share_2"]
    notes = [*talks.notes, *_without(frame, rated, what), *notes]
    return table_of(title, pandas.DataFrame(rows, columns=columns), notes)


def _replies(talks: Talks) -> Any:
    """A row for each reply of the sides of which any has a satisfaction, with its points if it has them."""
    frame = talks.frame()
    frame["turn"] = [list(range(1, len(talk.messages_of("assistant")) + 1)) for talk in talks.talks]
    frame = frame.rename_axis("number").reset_index().explode("turn").dropna(subset="turn").astype({"turn": int})
    frame["points"] = [talk.satisfaction.get(turn) for talk, turn in zip(frame["talk"], frame["turn"], strict=True)]
    frame = frame.astype({"points": float})
    return frame[frame["side"].isin(frame.loc[frame["points"].notna(), "side"])]


def _satisfaction(title: str, talks: Talks, replies: Any, keys: list[str]) -> Table:
    rated = replies[replies["points"].notna()]
    grouped, judged = replies.groupby(keys, observed=True), rated.groupby(keys, observed=True)
    rows = judged.agg(conversations=("number", "nunique"), n=("points", "size"), mean=("points", "mean"))
    rows.insert(1, "of_conversations", grouped["number"].nunique())
    rows.insert(3, "of", grouped.size())
    for points in range(1, 6):
        rows[f"share_{points}"] = judged["points"].agg(lambda values, points=points: (values == points).mean())
    notes = [*talks.notes, "Satisfaction: 1 to 5, of the n replies that have one."]
    return table_of(title, rows.reset_index(), notes)


def _behaviour(talks: Talks) -> Any:
    """A row for each value of each behaviour label: of a conversation, or of a user's message (intents)."""
    frame = talks.frame()
    found = []
    for talk in talks.talks:
        of_talk = annotations_in(talk.conversation).items()
        own = [(label, value) for label, values in of_talk if label.startswith(_BEHAVIOUR) for value in values]
        for message in talk.messages_of("user"):
            labels = annotations_in(message)
            own += [(label, value) for label in _INTENTS for value in labels.get(label, [])]
        found.append([(label, _HUMP.sub(" ", value).lower()) for label, value in own])
    frame["found"] = found
    frame = frame.rename_axis("number").reset_index().explode("found").dropna(subset="found")
    return frame.assign(label=[label for label, _ in frame["found"]], value=[value for _, value in frame["found"]])


def _labels_notes(talks: Talks, found: Any) -> list[str]:
    if not len(found):
        return [*talks.notes, "No behaviour label is there with what the table needs: an intent, or such as style."]
    return [*talks.notes, "Conversations: the result of the votes. Intents: of the user's messages, one or more each."]
