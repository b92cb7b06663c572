"""Labels of profiles: their number, diversity and most frequent values, by attribute and side.

Each person and each different profile of a simulated user counts once.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, TypeAlias

from ...data.labels.reading import is_other
from ...data.recllmsim import ATTRIBUTES, Situation
from ...data.recllmsim.profiles import AGE_BANDS
from ...data.recllmsim.published_labels import chinese
from ...data.records import as_object, value_of
from ...errors import of_extra
from ..tables import Table, table_of
from .talks import SIDES, Talk, Talks, own_profile

TOP = 5
"""Maximum number of frequent labels that are shown, as many as the published script compares."""

Labels: TypeAlias = dict[str, list[str]]
"""Labels of a profile by the key of their attribute."""


def profile_statistics(talks: Talks) -> Table:
    """Number and diversity of the labels, by attribute and side (script "profile_plot").

    Simpson's index is 1 - sum p^2 ("Measurement of Diversity", 1949, his lambda taken from 1): the chance that two labels
    drawn with replacement differ. Shannon's is -sum p ln p (1948). Both are of the shares among all labels of an attribute,
    "others" left out. The published script takes its simulated profiles only from travel planning.
    """
    frame, notes = _labels(talks)
    users = talks.frame().groupby("side", observed=True)["user"].nunique()
    entropy = of_extra("scipy.stats", "stats").entropy
    rows = []
    for (attribute, side), own in frame.groupby(["attribute", "side"], observed=True):
        labels, profiles = own["label"].dropna(), own["profile"].nunique()
        counts = labels[~labels.map(is_other).astype(bool)].value_counts(sort=False)
        shares = counts / counts.sum()
        spread = (1 - (shares**2).sum(), entropy(shares)) if len(counts) else (None, None)
        others = len(labels) - counts.sum()
        rows.append((attribute, side, profiles, users[side], len(labels) / profiles, len(counts), others, *spread))
    columns = ["attribute", "side", "profiles", "of", "labels_per_profile", "distinct", "others", "simpson", "shannon"]
    notes.append("Simpson: 1 minus the sum of squared shares. Shannon: entropy in nats. Both without the label others.")
    found = of_extra("pandas", "stats").DataFrame(rows, columns=columns)
    return table_of("Profiles", found.astype({"simpson": float, "shannon": float}), notes)


def profile_values(talks: Talks) -> Table:
    """The most frequent labels of each attribute and side, in English where the data has them in both languages."""
    frame, notes = _labels(talks)
    english = _english(talks.talks)
    rows = []
    for (attribute, side), own in frame.groupby(["attribute", "side"], observed=True):
        of = own["profile"].nunique()
        having = own.dropna().drop_duplicates(["profile", "label"])["label"].value_counts().to_dict()
        most = sorted((-n, english.get(label, label)) for label, n in having.items() if not is_other(label))[:TOP]
        rows += [(attribute, side, value, -count, of, -count / of) for count, value in most]
    columns = ["attribute", "side", "value", "n", "of", "share"]
    return table_of("Top profile values", of_extra("pandas", "stats").DataFrame(rows, columns=columns), notes)


def _labels(talks: Talks) -> tuple[Any, list[str]]:
    """A row for each label of each profile, or one without a label, and notes."""
    pandas = of_extra("pandas", "stats")
    notes = list(talks.notes)
    rows: list[tuple[str, str, int, str | None]] = []
    for side in SIDES:
        profiles, remarks = _profiles([talk for talk in talks.talks if talk.side == side])
        notes += [f"{side.capitalize()}: {line}" for line in remarks]
        for number, labels in enumerate(profiles):
            for key, own in labels.items():
                rows += [(ATTRIBUTES[key][0], side, number, label) for label in own]
                rows += [] if own else [(ATTRIBUTES[key][0], side, number, None)]
    if not rows:
        notes.append("No conversation has a profile with labels.")
    frame = pandas.DataFrame(rows, columns=["attribute", "side", "profile", "label"])
    frame["attribute"] = pandas.Categorical(frame["attribute"], [label for label, _ in ATTRIBUTES.values()])
    frame["side"] = pandas.Categorical(frame["side"], SIDES)
    return frame, notes


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
    return chinese(str(value).strip()) if isinstance(value, str | int) else ""


def _english(talks: Sequence[Talk]) -> dict[str, str]:
    """Labels in English by the Chinese ones beside which they stand anywhere in the data."""
    english: dict[str, str] = {"Male": "male", "Female": "female"}
    for talk in talks:
        for value in as_object(value_of(talk.conversation.labels, "profile_mapped")).values():
            own = [label.strip() for label in _listed(value) if isinstance(label, str)]
            english |= {_label(label): label.lower() for label in own if _label(label) != label}
    return english


def _banded(labels: Labels) -> Labels:
    """The age by the band of years that it is in."""
    ages = [int(age) for age in labels.get("age", []) if age.isdecimal() and len(age) <= 3]
    bands = [f"{low}-{high}" for age in ages for low, high in AGE_BANDS if low <= age <= high]
    return {key: bands if key == "age" else values for key, values in labels.items() if key != "age" or bands}
