"""The definition of a label: its unit, its values, its form in a record, and what several votes on it come to.

A page's front matter holds these data. `aggregate` is the published rule for one part; `final_value` gives the value of a
whole label, part by part.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import floor
from typing import Annotated, Any, Literal, Self, TypeAlias, get_args

from pydantic import Field, StrictBool, StrictStr, StringConstraints, ValidationError, field_validator, model_validator

from ...errors import DataError, first_invalid
from ..recllmsim.published_labels import INTENTS, closed_list
from ..recllmsim.tasks import TaskName
from ..records import Conversation, Json, Label, Message, Record, as_object

Vote: TypeAlias = str | int | float | bool
"""One value that was voted for: a word, yes or no, or a number of a scale."""
PartName: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]

_WIDEST = 1000
"""Widest scale, highest minus lowest: every number of it is a choice."""
_OF_PART = ("values", "ordered", "scale", "text", "several")
"""Keys of a part that stand in the front matter itself where a label has one part."""

Unit: TypeAlias = Literal[
    "conversation", "user turn", "assistant turn", "turn", "context", "preference", "profile", "reason"
]
"""What is labelled: the conversation, a message of either side, the scenario's context, its preference or its profile, or
the reason that a person gives in a side-by-side study, in their own words."""

LabelWording: TypeAlias = Literal["together", "so far", "alone"]
"""How an annotator is asked about messages: about all of a conversation at once; about each with the messages up to it;
or about each text without anything else."""

_KEYS: Mapping[str, str] = {
    "hallucination_people": "hallucination", "intent_people": "intent", "profile_mapped_people": "profile_mapped",
    "satisfaction_conversation": "satisfaction",
}  # fmt: skip
"""By label the name under which it lies where that is another one: two measurements of one published name."""
_APART = frozenset({"conflict", "satisfaction"})
"""Labels each part of which is a label of its own in a record, as it is published."""
_TRANSLATIONS = frozenset({"translation", "translation_en", "translation_context", "translation_preference"})
_OF_MESSAGES: Mapping[str, str | None] = {"user turn": "user", "assistant turn": "assistant", "turn": None}


class PartDefinition(Record):
    """One component of a label: a value of a list, a number of a scale, or a text."""

    values: tuple[StrictStr | StrictBool, ...] = ()
    """The words to choose from, or yes and no (`[true, false]`), or a closed list of the published profiles by name, such
    as `personality en`."""
    ordered: bool = False
    """Whether the words are in an order, from low to high."""
    scale: tuple[int, int] | None = None
    """Lowest and highest whole number."""
    text: bool = False
    """Whether it is a text of the annotator's own."""
    several: tuple[int, int] | None = None
    """Fewest and most values at once: then it is a list."""
    only_if: Mapping[str, tuple[Vote, ...]] = Field(default_factory=dict)
    """It applies only where another part has one of these values."""

    @field_validator("values", mode="before")
    @classmethod
    def _of_words(cls, values: object) -> object:
        if isinstance(values, str) and (words := closed_list(values)) is not None:
            return words
        if isinstance(values, (list, tuple)):
            if any(not isinstance(value, (str, bool)) for value in values):
                raise ValueError("are words, or yes and no: give numbers as scale: [lowest, highest], or in quotes")
            if len({type(value) for value in values}) > 1:
                raise ValueError("mix words with yes and no, which YAML reads as true and false: put them in quotes")
        return values

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if sum((bool(self.values), self.scale is not None, self.text)) != 1:
            raise ValueError("has to have one of values, scale and text")
        if len(set(map(repr, self.values))) != len(self.values) or "" in map(str.strip, map(str, self.values)):
            raise ValueError("names a value twice, or an empty one")
        if self.scale is not None and not 0 < self.scale[1] - self.scale[0] <= _WIDEST:
            raise ValueError(f"has a scale that is not [lowest, highest], with at most {_WIDEST:,} steps")
        if self.several is not None and not 0 <= self.several[0] <= self.several[1] > 0:
            raise ValueError("has 'several' that is not [minimum, maximum]")
        if self.ordered and not self.values:
            raise ValueError("is 'ordered' without values")
        return self

    @property
    def choices(self) -> tuple[Vote, ...]:
        """All values that it may have, in order; none for a text."""
        return tuple(range(self.scale[0], self.scale[1] + 1)) if self.scale is not None else self.values

    def problem(self, value: object) -> str:
        """Why this is not a value of it, in a few words; empty if it is one."""
        if self.several is None:
            return self._problem_of_one(value)
        if not isinstance(value, list):
            return f"is not a list of {self.several[0]} to {self.several[1]} values"
        if not self.several[0] <= len(value) <= self.several[1]:
            return f"has {len(value)} values, not {self.several[0]} to {self.several[1]}"
        if len(set(map(repr, value))) != len(value):
            return "names a value twice"
        return next(filter(None, map(self._problem_of_one, value)), "")

    def _problem_of_one(self, value: object) -> str:
        if self.text:
            return "" if isinstance(value, str) and value.strip() else "is no text"
        if among(value, self.choices) and not isinstance(value, float):
            return ""
        if self.scale is not None:
            return f"is {value!r}, not a whole number from {self.scale[0]} to {self.scale[1]}"
        return f"is {value!r}, not one of {', '.join(map(str, self.values))}"


def among(value: object, values: Sequence[Vote]) -> bool:
    """Whether the value is one of these; in Python True is 1, too."""
    return any(one == value and isinstance(one, bool) == isinstance(value, bool) for one in values)


class LabelDefinition(Record):
    """A label by its name: what it is about, its parts, and the text that defines each value."""

    name: PartName
    title: PartName
    unit: Unit
    parts: Mapping[PartName, PartDefinition]
    asked: LabelWording = "together"
    """How an annotator is asked about messages."""
    shows: tuple[PartName, ...] = ()
    """Keys of the scenario that an annotator is shown, where it has them, such as `task_context` and `preference`."""
    blind: bool = False
    """Whether an annotator sees only the messages, and neither task nor profile."""
    tasks: tuple[TaskName, ...] = ()
    """Short names of the tasks whose conversations have it; empty for all."""
    definition: str = ""
    """What each value means, for an annotator; Markdown."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not self.parts:
            raise ValueError("has no parts: give its values or its scale")
        for name, part in self.parts.items():
            for other, values in part.only_if.items():
                on = self.parts.get(other)
                if on is None or other == name or name in on.only_if or any(map(on.problem, values)):
                    raise ValueError(
                        f"its part {name!r} depends (only_if) on values that {other!r} cannot have, or on itself"
                    )
        return self

    @classmethod
    def of(cls, name: str, front: Mapping[str, Any], definition: str, where: str) -> Self:
        """The definition in a page's front matter: `unit`, and `parts` or, for one part, its `values` or `scale`.

        DataError names the problem in one line.
        """
        fields: dict[str, Any] = {"title": name, **front}
        alone = {key: fields.pop(key) for key in _OF_PART if key in fields}
        if alone and "parts" in fields:
            raise DataError(f"{where}: has parts, and {next(iter(alone))!r} beside them: put it into a part")
        try:
            return cls(name=name, definition=definition.strip(), **({"parts": {name: alone}} | fields))
        except ValidationError as error:
            first = first_invalid(error)
            path = first.path.removeprefix("parts.")
            problem = first.reason if first.type == "value_error" else first.message
            raise DataError(f"{where}: {f'{path}: ' if path else ''}{problem}: {_LAYOUT}") from None
        except TypeError as error:
            raise DataError(f"{where}: {error}: {_LAYOUT}") from None

    @property
    def role(self) -> str | None:
        """The role whose messages it is about; None for both roles and for units that are not messages."""
        return _OF_MESSAGES.get(self.unit)

    @property
    def of_messages(self) -> bool:
        """Whether messages have it, and not the conversation."""
        return self.unit in _OF_MESSAGES

    @property
    def translates(self) -> bool:
        """Whether it is a translation, which lies in `extra`: it judges nothing."""
        return self.name in _TRANSLATIONS

    @property
    def keys(self) -> tuple[str, ...]:
        """The names in a record's labels under which it lies, in order."""
        if self._apart:
            return (*self.parts, "intent_zh") if self.name == "intent" else tuple(self.parts)
        return (_KEYS.get(self.name, self.name),)

    @property
    def _apart(self) -> bool:
        """Whether each part is a label of its own in a record: as published, or as the label is called like its one part."""
        return self.translates or self.name in _APART or [*self.parts] == [_KEYS.get(self.name, self.name)]

    def about(self, part: str) -> str:
        """The paragraphs of the definition about one part; all of it if none begins with its name.

        They begin with the name in `**`, and end before the next part's.
        """
        heads = {f"**{name}**" for name in self.parts}
        paragraphs: list[str] = []
        inside = False
        for paragraph in self.definition.split("\n\n"):
            head = next((head for head in heads if paragraph.startswith(head)), None)
            inside = head == f"**{part}**" if head is not None else inside
            if inside:
                paragraphs.append(paragraph)
        return "\n\n".join(paragraphs) or self.definition

    def applies(self, part: str, value: Mapping[str, Any]) -> bool:
        """Whether a part applies, given the value of the others."""
        return all(among(value.get(other), values) for other, values in self.parts[part].only_if.items())

    def problems(self, value: object) -> list[str]:
        """What is wrong with a value, a line each; none if it is one."""
        if not isinstance(value, Mapping):
            return [f"is not an object with {', '.join(self.parts)}"]
        problems = [f"{name!r} is not a part of it" for name in value if name not in self.parts]
        for name, part in self.parts.items():
            part_value = value.get(name)
            if not self.applies(name, value):
                if part_value is not None:
                    problems.append(f"{name} does not apply here: give null")
            elif name not in value:
                problems.append(f"{name} is missing")
            elif problem := part.problem(part_value):
                problems.append(f"{name} {problem}")
        return problems

    def as_labels(self, label: Label) -> dict[str, Label]:
        """What a record holds, by name, of a label whose value and votes are objects by part.

        Parts that do not apply are left out, and so is what has no value and no vote.
        """
        said: list[Any] = [one and self._applying(as_object(one)) for one in (label.value, *label.votes)]
        by_key: dict[str, list[Any]] = {self.keys[0]: said}
        if self._apart:
            names = [name for name in self.parts if self.applies(name, as_object(label.value))]
            by_key = {name: [as_object(one).get(name) for one in said] for name in names}
        if self.name == "intent" and by_key["intent"][0] in INTENTS:
            by_key["intent_zh"] = [INTENTS.get(one) for one in by_key["intent"]]
        return {
            key: Label(value=value, votes=tuple(votes), by=label.by)
            for key, (value, *votes) in by_key.items()
            if any(one is not None for one in (value, *votes))
        }

    def _applying(self, value: Mapping[str, Any]) -> Json:
        names = (name for name in self.parts if value.get(name) is not None or self.applies(name, value))
        return {name: value.get(name) for name in names}

    def held_by(self, holder: Conversation | Message) -> dict[str, Any]:
        """By name what a conversation or message holds of it, None for a tie; a translation is in `extra`."""
        if self.translates:
            return {key: holder.extra[key] for key in self.keys if holder.extra.get(key) is not None}
        return {key: holder.labels[key].value for key in self.keys if key in holder.labels}

    def value_in(self, holder: Conversation | Message) -> dict[str, Any] | None:
        """Its value in a conversation or message, with the parts that are there; None if none is."""
        held = self.held_by(holder)
        if not self._apart:
            held = dict(as_object(held.get(self.keys[0])))
        return {name: held[name] for name in self.parts if held.get(name) is not None} or None


_LAYOUT = (
    f"a label has a unit ({', '.join(get_args(Unit))}) and either parts or, for one part, values: [good, bad], "
    "scale: [0, 100] or text: true; several: [1, 3] makes it a list"
)


# --- What several votes on one label come to, by the rule of the published annotations

Ballot: TypeAlias = Sequence[Mapping[str, Any] | None]
"""The votes on one item, in the order of the annotators; None for one that was refused or could not be read."""

MEANT = 2
"""Widest range of numbers, highest minus lowest, whose mean is taken."""


def aggregate(votes: Sequence[Vote]) -> Vote | None:
    """What votes come to by the rule of the published annotations; None in a tie, which is an abstention and no value.

    Words, yes and no: what more than half of the votes are, so two of three. Numbers whose range is at most 2: their
    mean, rounded to the nearest whole number, halves upwards. Else a tie. ValueError for no votes, and for numbers
    mixed with words. The rule gives every `final` of the published votes, none of which is a tie: there everything was asked
    again until it gave a value, so those votes are selected. ("To What Extent Can LLMs Assist in User
    Simulation for Task-Oriented Conversations"; "Human vs. Agent in Task-Oriented Conversations")

    >>> aggregate(["High", "Low", "High"]), aggregate([3, 4, 5]), aggregate([1, 3, 5])
    ('High', 4, None)
    """
    ballot = tuple(votes)
    if not ballot:
        raise ValueError("no votes: give at least one")
    numbers = [float(vote) for vote in ballot if not isinstance(vote, str | bool)]
    if numbers and len(numbers) < len(ballot):
        raise ValueError(f"votes {list(ballot)!r} mix numbers and words: a label has values of one kind")
    value: Vote | None = None
    if numbers:
        if max(numbers) - min(numbers) <= MEANT:
            value = floor(sum(numbers) / len(numbers) + 0.5)
    else:
        (most, number), *_ = Counter(map(_key, ballot)).most_common(1)
        value = most[1] if 2 * number > len(ballot) else None
    return value


def _key(vote: Vote) -> tuple[type, Vote]:
    """What makes two votes the same one: in Python True is 1, too."""
    return (bool if isinstance(vote, bool) else str if isinstance(vote, str) else float, vote)


def final_value(label: LabelDefinition, ballot: Ballot) -> Json | None:
    """The value that the votes on an item come to; None for a part in which nothing wins, and without any vote.

    A word or number needs valid votes of more than half of those who were asked. Of a list, such as several intents,
    those of its values win that more than half named. A text is the one of the first annotator that agrees with the rest
    of the value: texts are not counted.
    """
    valid = [vote for vote in ballot if vote is not None]
    if not valid:
        return None
    final: dict[str, Any] = dict.fromkeys(label.parts)
    # A part that depends on another comes after it, and a text after everything that can be counted.
    for name in sorted(label.parts, key=lambda name: (label.parts[name].text, bool(label.parts[name].only_if))):
        part = label.parts[name]
        if not label.applies(name, final):
            continue
        values = [vote[name] for vote in valid if vote.get(name) is not None and label.applies(name, vote)]
        voters = len(values) if part.only_if else len(ballot)
        if part.text:
            counted = [other for other, of_other in label.parts.items() if not of_other.text]
            agreeing = (vote for vote in valid if all(vote.get(other) == final[other] for other in counted))
            final[name] = next((vote[name] for vote in agreeing if vote.get(name) is not None), None)
        elif part.several is not None:
            final[name] = _several(part, values, voters)
        elif 2 * len(values) > voters:
            final[name] = aggregate(values)
    return final


def _several(part: PartDefinition, lists: Sequence[Sequence[Vote]], voters: int) -> list[Vote] | None:
    assert part.several is not None
    named = list(dict.fromkeys(value for vote in lists for value in vote))
    won = [value for value in named if 2 * sum(value in vote for vote in lists) > voters]
    return won if 2 * len(lists) > voters and part.several[0] <= len(won) <= part.several[1] else None
