"""Labels of profiles: their number, diversity and most frequent values, by attribute and side."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from ...data.labels.reading import is_other
from ...data.recllmsim import ATTRIBUTES, Situation
from ...data.recllmsim.profiles import AGE_BANDS
from ...data.records import Conversation, Record
from ...errors import of_extra
from ..tables import TypedRows
from .talks import SIDES, Conversations, Talks, TaskConversation, TaskSide, mean, share

TOP = 5
"""Maximum number of frequent labels that are shown, as many as the published script compares."""

Labels = dict[str, list[str]]
"""Labels of a profile by the key of their attribute."""


class AttributeStatistics(Record):
    """One attribute of all profiles of one side."""

    attribute: str
    side: TaskSide
    profiles: int
    """Different profiles of simulated users, or people, that have the attribute."""
    of: int
    """All profiles of simulated users, or all people."""
    labels_per_profile: float | None
    """Mean number of labels, "others" among them."""
    distinct: int
    """Different labels, "others" not counted."""
    others: int
    """How often the label is "others"."""
    simpson: float | None
    """Simpson's index of diversity: 1 minus the sum of the squared shares of the labels, 0 to 1."""
    shannon: float | None
    """Shannon's entropy of the shares in nats: 0 with one label, log k with k equally frequent ones."""


class ProfileStatistics(TypedRows[AttributeStatistics], title="Profiles"):
    """Labels of profiles: each person and each different profile of a simulated user counts once.

    Simpson's index is 1 - sum p^2 (Simpson 1949, "Measurement of Diversity", his lambda taken from 1). It is the chance
    that two labels drawn with replacement differ. Shannon's is -sum p ln p (Shannon 1948), scipy's `entropy`. Both are
    of the shares among all labels of an attribute, "others" left out, as in the published script "profile_plot". That
    script takes its simulated profiles only from travel planning. Ages are counted by bands of years.
    """


def profile_statistics(conversations: Conversations) -> ProfileStatistics:
    """A row for each attribute and side. Needs the extra `stats`."""
    talks = Talks.of(conversations)
    attributes, notes = _attributes(talks)
    rows = [_attribute(key, side, profiles, len(talks.users(side))) for key, side, profiles in attributes]
    if rows:
        notes += _trust(talks)
        notes.append(
            "Simpson: 1 minus the sum of squared shares. Shannon: entropy in nats. Both without the label others. "
            "Ages: bands of years."
        )
    return ProfileStatistics(rows=tuple(rows), notes=tuple(notes))


class ValueCount(Record):
    """A label of one attribute, and in how many profiles of one side it is."""

    attribute: str
    side: TaskSide
    value: str
    n: int
    """Profiles that have it."""
    of: int
    """The side's profiles that have the attribute."""
    share: float | None
    """n of `of`, 0 to 1."""


class ProfileValues(TypedRows[ValueCount], title="Top profile values"):
    """The most frequent labels of each attribute and side, equally frequent ones by their names.

    Labels are in English where the data has them in both languages.
    """


def profile_values(conversations: Conversations, top: int = TOP) -> ProfileValues:
    """That many rows for each attribute and side, fewer where there are fewer labels."""
    talks = Talks.of(conversations)
    attributes, notes = _attributes(talks)
    english = _english(talks.talks)
    rows = []
    for key, side, profiles in attributes:
        having = Counter(label for labels in profiles for label in set(labels) if not is_other(label))
        most = sorted((-n, english.get(label, label)) for label, n in having.items())[:top]
        rows += [
            ValueCount(
                attribute=ATTRIBUTES[key][0],
                side=side,
                value=value,
                n=-n,
                of=len(profiles),
                share=share(-n, len(profiles)),
            )
            for n, value in most
        ]
    if rows:
        notes += _trust(talks)
        notes.append("Labels are in English where the data has them in both languages.")
    return ProfileValues(rows=tuple(rows), notes=tuple(notes))


def _attributes(talks: Talks) -> tuple[list[tuple[str, TaskSide, list[list[str]]]], list[str]]:
    notes = list(talks.notes)
    sides: dict[TaskSide, list[Labels]] = {}
    for side in SIDES:
        sides[side], remarks = _profiles(talks.of_side(side))
        notes += [f"{side.capitalize()}: {line}" for line in remarks]
    attributes: list[tuple[str, TaskSide, list[list[str]]]] = [
        (key, side, of_all)
        for key in ATTRIBUTES
        for side, profiles in sides.items()
        if (of_all := [labels[key] for labels in profiles if key in labels])
    ]
    if talks.talks and not attributes:
        notes.append("No conversation has a profile with labels.")
    return attributes, notes


def _profiles(talks: Sequence[TaskConversation]) -> tuple[list[Labels], list[str]]:
    labelled: dict[str, Labels] = {}
    written: dict[str, Labels] = {}
    changed: set[str] = set()
    for talk in talks:
        mapped = _mapped(talk)
        profiles = labelled if mapped else written
        labels = mapped or _written(talk)
        if profiles.setdefault(talk.user, labels) != labels:
            changed.add(talk.user)
    notes = [f"users whose profile changed: {len(changed)}; their first one is counted."] if changed else []
    only_written = [user for user in written if user not in labelled]
    if labelled and only_written:
        notes.append(f"{len(only_written)} profiles are texts without labels: left out.")
    elif only_written:
        notes.append("profiles are texts without labels: the parts of their lines are counted.")
    return list((labelled or written).values()), notes


def _mapped(talk: TaskConversation) -> Labels:
    """A person's structured profile, or the labels that annotators gave to a text."""
    keys = {name: key for key, (label, _) in ATTRIBUTES.items() for name in (key, label)}
    own = own_profile(talk.conversation) or {}
    labels = {keys[name]: [_label(label) for label in _listed(value)] for name, value in own.items() if name in keys}
    return _banded({key: [label for label in values if label] for key, values in labels.items()})


def own_profile(conversation: Conversation) -> Mapping[str, Any] | None:
    """The profile of a person, or that which a simulated one is mapped to, as it is; None without one."""
    mapped = conversation.labels.get("profile_mapped")
    own = mapped if isinstance(mapped, Mapping) else conversation.scenario.get("profile")
    return own if isinstance(own, Mapping) else None


def _written(talk: TaskConversation) -> Labels:
    keys = {name.casefold(): key for key, names in ATTRIBUTES.items() for name in names}
    labels: defaultdict[str, list[str]] = defaultdict(list)
    for attribute, value in Situation.of(talk.conversation).facts:
        if key := keys.get(attribute.casefold()):
            labels[key].append(value.lower())
    return _banded(dict(labels))


def _trust(talks: Talks) -> list[str]:
    """How far the labels of written profiles can be trusted; people chose their own."""
    return talks.trust("profile_mapped", lambda talk: "profile_mapped" in talk.conversation.labels)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _label(value: Any) -> str:
    """The label in Chinese, which people's profiles are in too; in English if there is no other."""
    text = value.get("zh") or value.get("en") if isinstance(value, dict) else value
    return str(text).strip() if isinstance(text, str | int) else ""


def _english(talks: Sequence[TaskConversation]) -> dict[str, str]:
    """Labels in English by the Chinese ones beside which they stand anywhere in the data."""
    english: dict[str, str] = {"Male": "male", "Female": "female"}
    for talk in talks:
        mapped = talk.conversation.labels.get("profile_mapped")
        for value in mapped.values() if isinstance(mapped, dict) else ():
            for label in _listed(value):
                if isinstance(label, dict) and isinstance(label.get("zh"), str) and isinstance(label.get("en"), str):
                    english[label["zh"].strip()] = label["en"].strip().lower()
    return english


def _banded(labels: Labels) -> Labels:
    """The age by the band of years that it is in."""
    ages = [int(age) for age in labels.get("age", []) if age.isdecimal() and len(age) <= 3]
    bands = [f"{low}-{high}" for age in ages for low, high in AGE_BANDS if low <= age <= high]
    return {key: bands if key == "age" else values for key, values in labels.items() if key != "age" or bands}


def _attribute(key: str, side: TaskSide, of_all: Sequence[Sequence[str]], of: int) -> AttributeStatistics:
    every = [label for labels in of_all for label in labels]
    # "others" says nothing: left out of all but its own count, as in the published script.
    counts = Counter(label for label in every if not is_other(label))
    total = counts.total()
    return AttributeStatistics(
        attribute=ATTRIBUTES[key][0],
        side=side,
        profiles=len(of_all),
        of=of,
        labels_per_profile=mean([len(labels) for labels in of_all]),
        distinct=len(counts),
        others=len(every) - total,
        simpson=1 - sum((n / total) ** 2 for n in counts.values()) if total else None,
        shannon=float(of_extra("scipy.stats", "stats").entropy(list(counts.values()))) if total else None,
    )
