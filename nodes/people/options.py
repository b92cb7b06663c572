"""The spec `people:SRC?unseen=true&...`: the source of the turns and the conditions for using them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self, get_args

from ...data.people.draws import MOST_DRAWN
from ...data.people.splits import UserPart
from ...errors import ModelError, SettingError
from ..models.specs import head_of, parse_spec
from ..settings.redaction import redacted

PREFIX = "people:"


@dataclass(frozen=True)
class PeopleOptions:
    """Which stored turns may be used again.

    SettingError for a wrong value.
    """

    unseen: bool = False
    """Leave out the conversations about the same context as the one that is simulated (`Domain.topic_key`)."""
    part: UserPart = "all"
    """Only the conversations of this part of the users: the split of `compare --part`."""
    min_users: int = 1
    """A turn is used only if so many people have said nearly the same, or if it holds no name, number or address by
    rule. 1: any turn is used."""
    mask: bool = False
    """Put placeholders in the place of names, numbers and addresses, as far as rules find them."""
    licence: str = ""
    """The licence of the source, for the card of the data set; empty: not stated."""
    most: int = MOST_DRAWN
    """Maximum of conversations that turns are taken from; of more, those of users drawn by digest."""

    def __post_init__(self) -> None:
        for name in ("unseen", "mask"):
            if not isinstance(getattr(self, name), bool):
                raise SettingError(f"people: {name} must be true or false, not {getattr(self, name)!r}")
        if self.part not in get_args(UserPart):
            raise SettingError(f"people: part must be one of {', '.join(get_args(UserPart))}, not {self.part!r}")
        for name in ("min_users", "most"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise SettingError(f"people: {name} must be a whole number from 1, not {value!r}")

    @classmethod
    def of(cls, query: Mapping[str, Any]) -> Self:
        """The options of a spec's query, in which a licence may look like a number."""
        return cls(**{**query, **{name: str(value) for name, value in query.items() if name == "licence"}})

    def plain(self) -> dict[str, Any]:
        """The options that differ from their defaults."""
        return {
            option.name: value for option in fields(self) if (value := getattr(self, option.name)) != option.default
        }


def people_path(spec: object) -> Path | None:
    """The path of a spec `people:SRC?...`; None for any other spec."""
    if not isinstance(spec, str) or not spec.startswith(PREFIX):
        return None
    return Path(spec.removeprefix(PREFIX).partition("?")[0])


def parsed(spec: str, weights: Collection[str] = ()) -> tuple[Path, PeopleOptions]:
    """Path and options of a spec `people:SRC?...`; SettingError, in one line, for a wrong spec.

    `weights`: names that it may give besides its options (`weighed`).
    """
    try:
        _, name, query = parse_spec(spec)
    except ModelError:
        raise SettingError(
            f"{head_of(spec)!r}: its options are unclear: write people:SRC?unseen=true&part=tune"
        ) from None
    if not name.strip():
        raise SettingError("people: names no source: write people:SRC, a path of stored conversations")
    names = [option.name for option in fields(PeopleOptions)]
    query = {option: value for option, value in query.items() if option not in weights}
    for option in query:
        if option not in names:
            raise SettingError(
                f"{head_of(spec)!r} has no option {redacted(option)!r}; there are {', '.join([*names, *weights])}"
            )
    return Path(name), PeopleOptions.of(query)


def weighed(spec: str, weights: Collection[str]) -> dict[str, Any]:
    """The weights of a spec, by name."""
    return {option: value for option, value in parse_spec(spec)[2].items() if option in weights}
