"""Situations of task-oriented conversations: a task, its context, and the user's profile."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, Self

from pydantic import Field, ValidationError, model_validator

from ...errors import DataError, first_invalid
from ..records import Conversation, Json, Record
from ..text.languages import Language

KIND = "recllmsim"
"""`kind` of a scenario that is a task with a profile."""

ATTRIBUTES: Mapping[str, tuple[str, str]] = {
    "gender": ("Gender", "性别"),
    "age": ("Age", "年龄"),
    "background": ("Field of Study", "专业背景"),
    "personality": ("Personality", "个性"),
    "occupation": ("Occupation", "职业"),
    "daily_interests": ("Daily Interests and Hobbies", "日常兴趣爱好"),
    "travel_habits": ("Travel Habits", "旅行习惯"),
    "dining_preferences": ("Dining Preferences", "用餐偏好"),
    "spending_habits": ("Spending Habits", "消费习惯"),
    "other_aspects": ("Other Aspects", "其他方面"),
}
"""The attributes of a profile in order: key in a structured profile, and label in English and Chinese text."""

_GENDERS = {"female": "女", "male": "男"}
_LINE = re.compile(r"(?:(?P<number>\d{1,3})\s*[.、．])?(?P<attribute>[^:：]*)[:：](?P<value>.*)", re.S)
# A match begins only at the first character of a run of white space: otherwise the time is quadratic in the run.
_BETWEEN = re.compile(r"(?:(?<!\s)\s+)?[,，、;；]\s*(?:and\s+|以及|和)?|(?<!\s)\s+and\s+")


class Situation(Record):
    """A task context and a profile, which only the user of a conversation has.

    It has either a `preference` (the profile of a simulated user, as text) or a `profile` (a person's structured
    profile). ValueError if it has both or neither.
    """

    kind: Literal["recllmsim"] = "recllmsim"
    language: Language = "en"
    """Language of the conversation, and of the profile and context."""
    task: str
    """The source's name of the task (`task`, or `task_type` in people's conversations)."""
    task_context: str
    """The user's goal, from the user's view."""
    task_context_id: int | None = None
    """Number of the context within its task, from 0."""
    preference_id: int | None = None
    """Index of the profile in its pool, from 0."""
    preference: str | None = None
    """The profile as text: a numbered line for each attribute."""
    profile: Json | None = Field(default=None)
    """The profile with keys: gender, age, lists of personality, habits and the like."""
    success: Json | None = None
    """What counts as success, by the names of scorers; neither side sees it."""

    @model_validator(mode="after")
    def _one_profile(self) -> Self:
        if (self.preference is None) == (self.profile is None):
            raise ValueError("a situation has either a 'preference' (text) or a 'profile' (structured)")
        return self

    def scenario(self) -> dict[str, Any]:
        """The situation as a scenario's plain JSON, without keys that have no value."""
        return self.model_dump(mode="python", exclude_none=True)

    @classmethod
    def of(cls, source: "Conversation | Mapping[str, Any]") -> Self:
        """The situation of a conversation or a scenario; DataError if it is not a situation."""
        scenario = source.scenario if isinstance(source, Conversation) else source
        if scenario.get("kind") != KIND:
            raise DataError(f"the scenario is of kind {scenario.get('kind')!r}, a situation is {KIND!r}")
        try:
            return cls.model_validate(dict(scenario))
        except ValidationError as error:
            first = first_invalid(error)
            where = f"{first.path!r}: " if first.path else ""
            raise DataError(f"the scenario of kind {KIND!r}: {where}{first.message}: is this a record?") from None

    @property
    def profile_text(self) -> str:
        """The profile as text in the situation's language, with a numbered line for each attribute."""
        if self.preference is not None:
            return self.preference
        between, colon = ("、", "：") if self.language == "zh" else (", ", ": ")
        lines = [
            f"{number}. {label}{colon}{between.join(values)}"
            for number, (label, values) in enumerate(self._structured(), start=1)
        ]
        return "\n".join(lines)

    @property
    def facts(self) -> list[tuple[str, str]]:
        """Pairs of attribute and value, one for each value of the profile."""
        pairs = self._structured() if self.preference is None else lines_of(self.preference)
        return [(attribute, value) for attribute, values in pairs for value in values]

    def _structured(self) -> Iterator[tuple[str, list[str]]]:
        profile = self.profile or {}
        for key in (*(key for key in ATTRIBUTES if key in profile), *(key for key in profile if key not in ATTRIBUTES)):
            value = profile[key]
            # Other values than texts, numbers and lists of these do not describe the person (contexts done so far).
            values = [
                str(item) for item in (value if isinstance(value, list) else [value]) if isinstance(item, (str, int))
            ]
            if key == "gender" and self.language == "zh":
                values = [_GENDERS.get(text.lower(), text) for text in values]
            if values:
                yield ATTRIBUTES.get(key, (key, key))[self.language == "zh"], values


class SituationLine(NamedTuple):
    """A line of a profile's text with its number, such as `2. Age: 25`."""

    number: int | None
    """None if the line has no number, as in some translations."""
    attribute: str
    value: str


def line_of(text: str) -> SituationLine | None:
    """Parse a line of a profile; None if it names no attribute."""
    parts = _LINE.fullmatch(text.strip())
    if parts is None or not (attribute := parts["attribute"].strip()):
        return None
    return SituationLine(int(parts["number"]) if parts["number"] else None, attribute, parts["value"].strip())


def lines_of(text: str) -> Iterator[tuple[str, list[str]]]:
    """Attribute and values of each line of a profile's text."""
    for line in map(line_of, text.split("\n")):
        if line is not None:
            yield line.attribute, values_of(line.value)


def values_of(text: str) -> list[str]:
    """The values of an attribute's text, such as the three of `Patient, kind, and curious`."""
    return [part for part in _BETWEEN.split(text.rstrip(".。")) if part]
