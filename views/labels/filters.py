"""The labels of a list of conversations: values, disagreement and reliability, as its page filters them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...analysis.faults import SUCCESS
from ...analysis.labels.reliability import Trusts
from ...data import domains
from ...data.labels.reading import SCORES, Label, side_of, values_of
from ...data.records import Conversation, Message
from ..shown_conversation import ShownConversation

LONGEST, MOST = 60, 60
"""Characters of one value, and different values, beyond which a label is a text and can be no filter."""

DISPUTES = ("votes differ", "tie", "people say otherwise")
"""The kinds of annotator disagreement; a row has the sum of their bits."""


@dataclass
class ListedLabel:
    """One label, or one part of it, in a list."""

    name: str
    trust: str = ""
    values: Counter[str] = field(default_factory=Counter)
    """How many conversations or messages have each value."""
    rows: dict[int, Counter[str]] = field(default_factory=dict)
    """The values in each row that has any, or votes."""
    disputes: dict[int, int] = field(default_factory=dict)
    """The rows with annotator disagreement, with the bits of `DISPUTES`."""
    messages: dict[int, list[int]] = field(default_factory=dict)
    """Numbers of the messages with annotator disagreement of each row."""
    people: dict[int, str] = field(default_factory=dict)
    """What people say otherwise of the conversation of a row."""

    @property
    def is_text(self) -> bool:
        """Whether its values are free texts, not choices."""
        return len(self.values) > MOST or any(len(value) > LONGEST for value in self.values)

    def plain(self) -> dict[str, Any]:
        """The input of the page's script: values by their places, and for each row its values."""
        values = sorted(self.values, key=_in_order)
        place = {value: number for number, value in enumerate(values)}
        return {
            "name": self.name,
            "trust": self.trust,
            "values": values,
            "rows": [
                [row, sorted([place[value], n] for value, n in counts.items()), self.disputes.get(row, 0),
                 self.messages.get(row, []), self.people.get(row, "")]
                for row, counts in self.rows.items()
            ],
        }  # fmt: skip


def listed_labels(conversations: Sequence[ShownConversation], trusts: Trusts) -> list[ListedLabel]:
    """Every label of the conversations that has values to choose from, in the order of its first occurrence.

    Scores are included, except the success, which the list shows itself.
    """
    labels: dict[tuple[str, str, bool], ListedLabel] = {}
    sides: dict[tuple[str, str, bool], dict[str, None]] = {}
    for row, shown in enumerate(conversations):
        conversation = shown.conversation
        holders: Iterable[tuple[int | None, Conversation | Message]] = (
            (None, conversation),
            *enumerate(conversation.messages),
        )
        for number, holder in holders:
            for label, people in _labels_with_peoples(shown.labels(holder), trusts):
                if not (values := _texts(label.value)) and not label.votes:
                    continue
                of = label.key, label.part, number is not None
                entry = labels.setdefault(of, ListedLabel(label.name))
                sides.setdefault(of, {})[side_of(conversation)] = None
                entry.values.update(values)
                entry.rows.setdefault(row, Counter()).update(values)
                if bits := _disputed(label, people):
                    entry.disputes[row] = entry.disputes.get(row, 0) | bits
                    if number is not None:
                        entry.messages.setdefault(row, []).append(number)
                    elif people is not None and _otherwise(label, people):
                        entry.people[row] = ", ".join(_texts(people.value))
    names = Counter(entry.name for entry in labels.values())
    listed = []
    for (key, part, of_messages), entry in labels.items():
        if entry.is_text:
            continue
        entry.trust = (
            trusts.mark_of_score(part)
            if key == SCORES
            else trusts.mark_of_label(key, part, sides[key, part, of_messages], of_messages=of_messages)
        )
        if names[entry.name] > 1 and of_messages:
            entry.name += " of messages"
        listed.append(entry)
    return listed


def _labels_with_peoples(labels_of_one: Iterable[Label], trusts: Trusts) -> Iterator[tuple[Label, Label | None]]:
    """Each label, with people's label of the same."""
    labels = {(label.key, label.part): label for label in labels_of_one if not label.beside}
    facts = domains.label_notes().facts
    for (key, part), label in labels.items():
        if key not in facts and (key != SCORES or (label.by == "scorer" and part != SUCCESS)):
            people = None if label.by == "scorer" else trusts.reference(key, part)
            yield label, None if people is None else labels.get(people)


def _disputed(label: Label, people: Label | None) -> int:
    flags = label.differ, label.tied, people is not None and _otherwise(label, people)
    return sum(1 << bit for bit, there in enumerate(flags) if there)


def _otherwise(label: Label, people: Label) -> bool:
    of_label, of_people = set(values_of(label.value)), set(values_of(people.value))
    return bool(of_label and of_people) and of_label != of_people


def _texts(value: Any) -> list[str]:
    """The values as the data writes them; none where nobody judged."""
    values = value if isinstance(value, list) else [value]
    return [" ".join(_text(item).split()) for item in values if values_of(item)]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def _in_order(value: str) -> tuple[bool, float, str]:
    try:
        return False, float(value), ""
    except ValueError:
        return True, 0.0, value.casefold()
