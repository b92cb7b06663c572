"""The labels of a list of conversations: what each says of which row, where it is disputed, and how far to trust it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..analysis.annotations import side_of
from ..analysis.label_values import Said, label_name, parts_of, values_of
from ..analysis.outcomes import SCORES, SUCCESS
from ..analysis.trust import FACTS, Trusts
from ..data.records import Conversation, Message

LONGEST, MOST = 60, 60
"""Characters of one value, and different values, beyond which a label is a text and can be no filter."""

DISPUTES = ("votes differ", "tie", "people say otherwise")
"""What makes a label disputed; a row has the sum of their bits."""


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
    """The rows that are disputed, with the bits of `DISPUTES`."""
    messages: dict[int, list[int]] = field(default_factory=dict)
    """Numbers of the disputed messages of each row."""
    people: dict[int, str] = field(default_factory=dict)
    """What people say otherwise of the conversation of a row."""

    @property
    def is_text(self) -> bool:
        """Whether its values are texts, which nobody chooses from a list."""
        return len(self.values) > MOST or any(len(value) > LONGEST for value in self.values)

    def plain(self) -> dict[str, Any]:
        """What the page's script reads: values by their places, and for each row what it has."""
        values = sorted(self.values, key=_in_order)
        place = {value: number for number, value in enumerate(values)}
        return {
            "name": self.name,
            "trust": self.trust,
            "values": values,
            "rows": [
                [row, sorted([place[value], n] for value, n in said.items()), self.disputes.get(row, 0),
                 self.messages.get(row, []), self.people.get(row, "")]
                for row, said in self.rows.items()
            ],
        }  # fmt: skip


def listed_labels(conversations: Sequence[Conversation], trusts: Trusts) -> list[ListedLabel]:
    """Every label of the conversations that has values to choose from, in the order in which they come; scores, too, but
    for the success, which the list tells itself."""
    found: dict[tuple[str, str, bool], ListedLabel] = {}
    sides: dict[tuple[str, str, bool], dict[str, None]] = {}
    for row, conversation in enumerate(conversations):
        holders: Iterable[tuple[int | None, Conversation | Message]] = (
            (None, conversation),
            *enumerate(conversation.messages),
        )
        for number, holder in holders:
            for key, part, said, people in _said(holder, trusts):
                if not (values := _texts(said.value)) and not said.votes:
                    continue
                of = key, part, number is not None
                label = found.setdefault(of, ListedLabel(label_name(key, part)))
                sides.setdefault(of, {})[side_of(conversation)] = None
                label.values.update(values)
                label.rows.setdefault(row, Counter()).update(values)
                if bits := _disputed(said, people):
                    label.disputes[row] = label.disputes.get(row, 0) | bits
                    if number is not None:
                        label.messages.setdefault(row, []).append(number)
                    elif people is not None and _otherwise(said, people):
                        label.people[row] = ", ".join(_texts(people.value))
    names = Counter(label.name for label in found.values())
    listed = []
    for (key, part, of_messages), label in found.items():
        if label.is_text:
            continue
        label.trust = (
            trusts.told_score(part)
            if key == SCORES
            else trusts.told(key, part, sides[key, part, of_messages], of_messages=of_messages)
        )
        if names[label.name] > 1 and of_messages:
            label.name += " of messages"
        listed.append(label)
    return listed


def _said(holder: Conversation | Message, trusts: Trusts) -> Iterator[tuple[str, str, Said, Said | None]]:
    """Key and part of each label with what it says, and what people say of the same."""
    labels = trusts.labels_of(holder)
    for key, value in labels.items():
        if key == SCORES and isinstance(value, Mapping):
            for name, score in value.items():
                if name != SUCCESS and isinstance(score, Mapping):
                    yield key, str(name), Said(score.get("value")), None
        elif key not in FACTS and key != SCORES:
            inner = value.get(key) if isinstance(value, dict) and key in value else value  # with a memo beside it
            for part, said in parts_of(inner).items():
                people = trusts.reference(key, part)
                theirs = None if people is None else parts_of(labels.get(people[0])).get(people[1])
                yield key, part, said, theirs


def _disputed(said: Said, people: Said | None) -> int:
    found = said.differ, said.tied, people is not None and _otherwise(said, people)
    return sum(1 << bit for bit, there in enumerate(found) if there)


def _otherwise(said: Said, people: Said) -> bool:
    ours, theirs = set(values_of(said.value)), set(values_of(people.value))
    return bool(ours and theirs) and ours != theirs


def _texts(value: Any) -> list[str]:
    """The values as the data writes them; none where nobody judged."""
    given = value if isinstance(value, list) else [value]
    return [" ".join(_text(each).split()) for each in given if values_of(each)]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def _in_order(value: str) -> tuple[bool, float, str]:
    try:
        return False, float(value), ""
    except ValueError:
        return True, 0.0, value.casefold()
