"""Labels of profiles: their number, diversity and most frequent values, by attribute and side.

Each person and each different profile of a simulated user counts once.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from ...data.labels.reading import is_other
from ...data.recllmsim import ATTRIBUTES, Situation
from ...data.recllmsim.profiles import AGE_BANDS
from ...data.records import Conversation
from ...errors import of_extra
from ..tables import Table, table_of
from .talks import SIDES, Talk, Talks, own_profile

TOP = 5
"""Maximum number of frequent labels that are shown, as many as the published script compares."""

Labels: TypeAlias = dict[str, list[str]]
"""Labels of a profile by the key of their attribute."""


def profile_statistics(conversations: Iterable[Conversation] | Talks) -> Table:
    """Number and diversity of the labels, by attribute and side (script "profile_plot").

    Simpson's index is 1 - sum p^2 ("Measurement of Diversity", 1949, his lambda taken from 1): the chance that two labels
    drawn with replacement differ. Shannon's is -sum p ln p (1948). Both are of the shares among all labels of an attribute,
    "others" left out. The published script takes its simulated profiles only from travel planning.
    """
    talks = Talks.of(conversations)
    entropy = of_extra("scipy.stats", "stats").entropy
    rows = []
    every, notes = _attributes(talks)
    for key, side, profiles in every:
        labels = [label for own in profiles for label in own]
        counts = Counter(label for label in labels if not is_other(label))
        shares = [count / counts.total() for count in counts.values()]
        rows.append(
            {
                "attribute": ATTRIBUTES[key][0],
                "side": side,
                "profiles": len(profiles),
                "of": len({talk.user for talk in talks.talks if talk.side == side}),
                "labels_per_profile": len(labels) / len(profiles),
                "distinct": len(counts),
                "others": len(labels) - counts.total(),
                "simpson": 1 - sum(share**2 for share in shares) if shares else None,
                "shannon": float(entropy(shares)) if shares else None,
            }
        )
    notes.append("Simpson: 1 minus the sum of squared shares. Shannon: entropy in nats. Both without the label others.")
    return _table("Profiles", rows, notes, {"simpson": float, "shannon": float})


def profile_values(conversations: Iterable[Conversation] | Talks, top: int = TOP) -> Table:
    """The most frequent labels of each attribute and side, in English where the data has them in both languages."""
    talks = Talks.of(conversations)
    english = _english(talks.talks)
    rows = []
    every, notes = _attributes(talks)
    for key, side, profiles in every:
        having = Counter(label for labels in profiles for label in set(labels) if not is_other(label))
        most = sorted((-count, english.get(label, label)) for label, count in having.items())[:top]
        about = {"attribute": ATTRIBUTES[key][0], "side": side}
        rows += [
            {**about, "value": value, "n": -count, "of": len(profiles), "share": -count / len(profiles)}
            for count, value in most
        ]
    return _table("Top profile values", rows, notes, {})


def _table(title: str, rows: Sequence[dict[str, Any]], notes: Sequence[str], kinds: dict[str, type]) -> Table:
    frame = of_extra("pandas", "stats").DataFrame(rows) if rows else None
    if frame is None:
        frame = of_extra("pandas", "stats").DataFrame(columns=["attribute", "side"])
        return table_of(title, frame, [*notes, "No conversation has a profile with labels."])
    return table_of(title, frame.astype(kinds), notes)


def _attributes(talks: Talks) -> tuple[list[tuple[str, str, list[list[str]]]], list[str]]:
    """Of each attribute and side the labels of every profile that has it, and notes."""
    notes = list(talks.notes)
    sides: dict[str, list[Labels]] = {}
    for side in SIDES:
        sides[side], remarks = _profiles([talk for talk in talks.talks if talk.side == side])
        notes += [f"{side.capitalize()}: {line}" for line in remarks]
    found = [
        (key, side, of_all)
        for key in ATTRIBUTES
        for side, profiles in sides.items()
        if (of_all := [labels[key] for labels in profiles if key in labels])
    ]
    return found, notes


def _profiles(talks: Sequence[Talk]) -> tuple[list[Labels], list[str]]:
    """The labels of each profile, or where none has labels the parts of its lines."""
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


def _mapped(talk: Talk) -> Labels:
    """A person's structured profile, or the labels that annotators gave to a text."""
    keys = {name: key for key, (label, _) in ATTRIBUTES.items() for name in (key, label)}
    own = own_profile(talk.conversation) or {}
    labels = {keys[name]: [_label(label) for label in _listed(value)] for name, value in own.items() if name in keys}
    return _banded({key: [label for label in values if label] for key, values in labels.items()})


def _written(talk: Talk) -> Labels:
    keys = {name.casefold(): key for key, names in ATTRIBUTES.items() for name in names}
    labels: defaultdict[str, list[str]] = defaultdict(list)
    for attribute, value in Situation.of(talk.conversation).facts:
        if key := keys.get(attribute.casefold()):
            labels[key].append(value.lower())
    return _banded(dict(labels))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _label(value: Any) -> str:
    """The label in Chinese, which people's profiles are in too; in English if there is no other."""
    text = value.get("zh") or value.get("en") if isinstance(value, dict) else value
    return str(text).strip() if isinstance(text, str | int) else ""


def _english(talks: Sequence[Talk]) -> dict[str, str]:
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
