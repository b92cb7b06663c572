"""What a task-oriented conversation is about: a task, its context, and the profile of the one who asks."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, Self

from pydantic import Field, ValidationError, model_validator

from ...errors import DataError
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
"""The attributes of a profile in their order: name in a structured profile, and in its English and Chinese text."""

_GENDERS = {"female": "女", "male": "男"}
_LINE = re.compile(r"(?:(?P<number>\d{1,3})\s*[.、．])?(?P<attribute>[^:：]*)[:：](?P<value>.*)", re.S)
# Of a run of white space only the first character begins a match: else a long run costs its length squared.
_BETWEEN = re.compile(r"(?:(?<!\s)\s+)?[,，、;；]\s*(?:and\s+|以及|和)?|(?<!\s)\s+and\s+")


class Situation(Record):
    """A task context and a profile: what the user of a conversation knows and the assistant does not.

    Exactly one of `preference` (a profile as text, as simulated users have it) and `profile` (the
    structured one that people gave of themselves) is there; ValueError otherwise.
    """

    kind: Literal["recllmsim"] = "recllmsim"
    language: Language = "en"
    """Language of the conversation, and of the profile and context."""
    task: str
    """The task's name as the source has it (`task`, or `task_type` of people's conversations)."""
    task_context: str
    """What the user is to reach, in the user's view."""
    task_context_id: int | None = None
    """Place of the context among its task's, from 0."""
    preference_id: int | None = None
    """Place of the profile in its pool, from 0."""
    preference: str | None = None
    """The profile as text: a numbered line for each attribute."""
    profile: Json | None = Field(default=None)
    """The profile with keys: gender, age, lists of personality, habits and the like."""

    @model_validator(mode="after")
    def _one_profile(self) -> Self:
        if (self.preference is None) == (self.profile is None):
            raise ValueError("a situation has either a 'preference' (text) or a 'profile' (structured)")
        return self

    def scenario(self) -> dict[str, Any]:
        """The situation as a scenario's plain JSON, without the keys that have no value."""
        return self.model_dump(mode="python", exclude_none=True)

    @classmethod
    def of(cls, source: "Conversation | Mapping[str, Any]") -> Self:
        """The situation of a conversation, or of a scenario; ValueError if it is about something else."""
        scenario = source.scenario if isinstance(source, Conversation) else source
        if scenario.get("kind") != KIND:
            raise DataError(f"the scenario is of kind {scenario.get('kind')!r}, a situation is {KIND!r}")
        try:
            return cls.model_validate(dict(scenario))
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(part) for part in first["loc"])
            raise DataError(
                f"the scenario of kind {KIND!r}: {f'{key!r}: ' if key else ''}{first['msg']}: is this a record?"
            ) from None

    @property
    def profile_text(self) -> str:
        """The profile as text in the situation's language; a structured one with a numbered line per attribute."""
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
        """Attribute and value, one pair for each value: what a user can let out bit by bit."""
        pairs = self._structured() if self.preference is None else lines_of(self.preference)
        return [(attribute, value) for attribute, values in pairs for value in values]

    def _structured(self) -> Iterator[tuple[str, list[str]]]:
        profile = self.profile or {}
        for key in (*(key for key in ATTRIBUTES if key in profile), *(key for key in profile if key not in ATTRIBUTES)):
            given = profile[key]
            # What is no text, number or list of them tells nothing of the person (which contexts they did).
            values = [str(v) for v in (given if isinstance(given, list) else [given]) if isinstance(v, (str, int))]
            if key == "gender" and self.language == "zh":
                values = [_GENDERS.get(value.lower(), value) for value in values]
            if values:
                yield ATTRIBUTES.get(key, (key, key))[self.language == "zh"], values


class Line(NamedTuple):
    """A line of a profile's text, such as `2. Age: 25`."""

    number: int | None
    """None where there is none, as in some translations."""
    attribute: str
    value: str


def line_of(text: str) -> Line | None:
    """The parts of one line; None if it names no attribute."""
    parts = _LINE.fullmatch(text.strip())
    if parts is None or not (attribute := parts["attribute"].strip()):
        return None
    return Line(int(parts["number"]) if parts["number"] else None, attribute, parts["value"].strip())


def lines_of(text: str) -> Iterator[tuple[str, list[str]]]:
    """Attribute and values of each line of a profile's text."""
    for line in map(line_of, text.split("\n")):
        if line is not None:
            yield line.attribute, values_of(line.value)


def values_of(text: str) -> list[str]:
    """The values of an attribute's text, such as the three of `Patient, kind, and curious`."""
    return [part for part in _BETWEEN.split(text.rstrip(".。")) if part]
