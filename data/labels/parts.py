"""A part of a label: the values that it may have."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Self, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictStr,
    StringConstraints,
    field_validator,
    model_validator,
)

from ..recllmsim.published_labels import closed_list
from .votes import Vote

PartName: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]

_WIDEST = 1000
"""Widest scale, highest minus lowest: every number of it is a choice."""


class PartDefinition(BaseModel):
    """One component of a label: a value of a list, a number of a scale, or a text."""

    model_config = ConfigDict(frozen=True, extra="forbid")

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
        kinds = [bool(self.values), self.scale is not None, self.text]
        if sum(kinds) != 1:
            raise ValueError("has to have one of values, scale and text")
        if len(set(map(repr, self.values))) != len(self.values):
            raise ValueError("names a value twice")
        if self.scale is not None and self.scale[0] >= self.scale[1]:
            raise ValueError("has a scale whose lowest number is not below its highest")
        if self.scale is not None and self.scale[1] - self.scale[0] > _WIDEST:
            raise ValueError(f"has a scale of more than {_WIDEST:,} steps: give a narrower one")
        if any(isinstance(value, str) and not value.strip() for value in self.values):
            raise ValueError("names an empty value: leave it out, or give it a name")
        if self.several is not None and not 0 <= self.several[0] <= self.several[1] > 0:
            raise ValueError("has 'several' that is not [minimum, maximum]")
        if self.ordered and not self.values:
            raise ValueError("is 'ordered' without values")
        return self

    @property
    def choices(self) -> tuple[Vote, ...]:
        """All values that it may have, in order; none for a text."""
        return tuple(range(self.scale[0], self.scale[1] + 1)) if self.scale is not None else self.values

    @property
    def has_order(self) -> bool:
        """Whether its values are in an order, so that two of them may be near each other."""
        return self.scale is not None or self.ordered

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
