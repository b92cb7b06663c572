"""Files of ablations: variants and what they have in common, as TOML, YAML or JSON."""

import sys
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, Field, JsonValue, ValidationError

from ...data.files.settings_files import read_settings
from ...data.people.splits import UserPart
from ...errors import DataError, at, first_invalid
from .variants import CastChanges

PATHS = ("prompts", "like")
"""Settings of a cast that are paths, the second with arguments behind it."""
STORED = ("replay:", "people:")
"""Begins of models that are paths."""


class NamedChanges(CastChanges):
    """A variant in a file."""

    name: str


class AblationFile(CastChanges):
    """An ablation as plain data; its changes beside `variant` hold for all variants.

    Paths are relative to the file's folder, in which modules are found too.
    """

    variant: list[NamedChanges] = Field(min_length=2, validation_alias=AliasChoices("variant", "variants"))
    """The variants; all others are compared with the first."""
    scenarios: Path | None = None
    """As for `duologue simulate --scenarios`; without it the cast's own."""
    part: UserPart = "all"
    limit: int | None = Field(default=None, ge=1)
    """Number of scenarios, the first ones."""
    judge: str | None = None
    repeats: int = Field(default=1, ge=1)
    seed: int = 0
    max_turns: int | None = Field(default=None, ge=1)
    measures: list[str] | None = None

    @classmethod
    def of(cls, path: Path) -> "AblationFile":
        """The ablation of a file; DataError names a problem in one line."""
        value = read_settings(path)
        try:
            file = cls.model_validate(value if isinstance(value, dict) else {})
        except ValidationError as error:
            first = first_invalid(error)
            raise DataError(
                f"{at(path)}: {first.path}: {first.reason}: write cast, scenarios, repeats, measures and at least two of "
                "variant, each with name and settings, replace or limits"
            ) from None
        names = [variant.name for variant in file.variant]
        if again := [name for number, name in enumerate(names) if name in names[:number]]:
            raise DataError(f"{at(path)}: variant: two have the name {again[0]!r}: name them apart")
        folder = path.parent
        if str(folder.resolve()) not in sys.path:
            sys.path.append(str(folder.resolve()))  # and left there, as for modules of the working folder
        scenarios = None if file.scenarios is None else folder / file.scenarios
        return file.model_copy(update={"scenarios": scenarios, **_from(file, folder)}).model_copy(
            update={"variant": [one.model_copy(update=_from(one, folder)) for one in file.variant]}
        )

    def variants(self) -> dict[str, CastChanges]:
        """Each variant by its name, with what all have in common."""
        return {variant.name: variant.beside(self) for variant in self.variant}

    def options(self) -> dict[str, Any]:
        """The options of `AblationPlan.of` beside the variants."""
        names = ("scenarios", "repeats", "measures", "limit", "judge", "part", "seed", "max_turns")
        return {name: getattr(self, name) for name in names}


def _from(changes: CastChanges, folder: Path) -> dict[str, dict[str, JsonValue]]:
    """Settings and replaced parts whose paths begin in the folder of the file."""
    parts = {"settings": changes.settings, "replace": changes.replace}
    return {part: {name: _beside(name, value, folder) for name, value in of.items()} for part, of in parts.items()}


def _beside(name: str, value: JsonValue, folder: Path) -> JsonValue:
    if not isinstance(value, str):
        return value
    begin = next((begin for begin in STORED if value.startswith(begin)), "")
    if not begin and name not in PATHS:
        return value
    path, mark, arguments = value.removeprefix(begin).partition("?")
    return f"{begin}{folder / path}{mark}{arguments}"
