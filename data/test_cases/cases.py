"""A test case of another tool while it is read: some keys become a scenario, the others are listed."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from ...errors import DataError, at
from ..files.broken_lines import readable
from ..formats.detection import Contents
from ..identity import ID_LENGTH, digest
from ..records import Conversation, is_object
from .conditions import joined

_MOST_NAMED = 40
"""Most names in a note."""


@dataclass
class Case:
    """A test case, and the scenario that is made of it."""

    rest: dict[str, Any]
    """Its keys that are not taken yet; what is left in the end has no counterpart in a scenario."""
    scenario: dict[str, Any] = field(default_factory=dict[str, Any])
    conditions: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """What must hold, each as a scenario's `success`."""
    lost: dict[str, int] = field(default_factory=dict[str, int])
    """Things without a counterpart, by name, each with its number."""
    hidden: set[str] = field(default_factory=set[str])
    """Keys of the rest that are kept, but are not listed: their parts are, or they are needed for the way back."""

    def take(self, *keys: str) -> Any:
        """The first value of these keys that is not empty; all of them count as read. None without one."""
        values = [self.rest.pop(key, None) for key in keys]
        return next((value for value in values if value not in (None, "", [], {})), None)

    def text(self, *keys: str) -> str:
        """As `take`, a text; empty without one. ValueError for another kind of value."""
        value = self.take(*keys)
        if value is not None and not isinstance(value, str):
            raise ValueError(f"{keys[0]!r} is not a text: write it as one")
        return (value or "").strip()

    def put(self, key: str, value: Any) -> None:
        """Set a key of the scenario, unless the value is empty."""
        if value not in (None, "", [], {}):
            self.scenario[key] = value

    def require(self, **condition: Any) -> None:
        """Add a condition, as a scenario's `success` has it."""
        self.conditions.append(condition)

    def hide(self, **values: Any) -> None:
        """Keep values whose parts are listed, and not they themselves."""
        self.rest |= values
        self.hidden |= values.keys()

    def lose(self, name: str, count: int = 1) -> None:
        """Count things that a scenario cannot say."""
        if count:
            self.lost[name] = self.lost.get(name, 0) + count

    def whole(self, form: str) -> dict[str, Any]:
        """The scenario with its success, and under the form's name what is left; ValueError without a goal."""
        if not self.scenario.get("goal") and not self.scenario.get("first_message"):
            raise ValueError("has no text that a user would want or write: give it one")
        rest = {key: value for key, value in self.rest.items() if value not in (None, "", [], {})}
        for key in rest.keys() - self.hidden:
            self.lose(key)
        success = joined(self.conditions)
        return {**self.scenario, **({"success": success} if success else {}), **({form: rest} if rest else {})}


CaseReader: TypeAlias = Callable[[dict[str, Any]], Iterable[Case]]
"""From the JSON object of a test case to its scenarios; ValueError for one that cannot be read."""


def contents(path: str | Path, form: str, values: Iterable[tuple[str, Any]], read: CaseReader) -> Contents:
    """The scenarios of test cases, each with its place in the file, as conversations without a message.

    The notes name what has no counterpart. DataError for a test case that cannot be read.
    """
    scenarios: list[Conversation] = []
    lost: dict[str, Counter[str]] = {}
    names = Counter[str]()
    unchecked = 0
    for place, value in values:
        with readable(place):
            for case, scenario in _read(path, form, place, value, read):
                name = str(scenario.get("title") or digest(scenario)[:ID_LENGTH])
                names[name] += 1
                numbered = f"{name} ({names[name]})" if names[name] > 1 else name
                scenarios.append(Conversation(id=numbered, scenario=scenario))
                unchecked += "success" not in scenario
                for thing, count in case.lost.items():
                    lost.setdefault(thing, Counter()).update(scenarios=1, things=count)
    return Contents(tuple(scenarios), tuple(_notes(form, len(scenarios), lost, unchecked)))


def _read(
    path: str | Path, form: str, place: str, value: Any, read: CaseReader
) -> Iterator[tuple[Case, dict[str, Any]]]:
    try:
        if not is_object(value):
            raise ValueError("is not an object, as the first test case is: mend it, or leave it out")
        for case in read(dict(value)):
            yield case, case.whole(form)
    except ValueError as error:
        raise DataError(f"{at(path, place)}: {error}") from None


def _notes(form: str, total: int, lost: Mapping[str, Mapping[str, int]], unchecked: int) -> Iterator[str]:
    if lost:
        names = [_name(name, counts) for name, counts in islice(sorted(lost.items()), _MOST_NAMED)]
        more = f", and {len(lost) - _MOST_NAMED} more" if len(lost) > _MOST_NAMED else ""
        yield f"no counterpart in a scenario, kept under {form!r}: {', '.join(names)}{more}"
    if unchecked:
        yield (
            f"{unchecked} of {total} scenarios have no condition that can be checked: "
            "there the user's goodbye counts as success"
        )


def _name(name: str, counts: Mapping[str, int]) -> str:
    """A thing with the number of its scenarios, and its own where that is another one."""
    name = " ".join(name.split())[:60]
    differ = counts["things"] != counts["scenarios"]
    return f"{name} ({counts['things']} in {counts['scenarios']})" if differ else f"{name} ({counts['scenarios']})"
