"""The setting `like`, as `SRC?part=tune&drafts=RUN&most=4`: the source of the style filter and its options."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_args

from ....data.people.splits import UserPart
from ....errors import ModelError, SettingError
from ...models.specs import head_of, parse_spec
from ...settings.redaction import redacted


@dataclass(frozen=True)
class LikeOptions:
    """The people behind the style filter, and how often the model may retry a turn.

    SettingError for a wrong value.
    """

    part: UserPart = "all"
    """Only the conversations of this part of the users: the split of `compare --part`."""
    drafts: str = ""
    """Path of conversations of the same simulator without the filter, for its own shares; empty: unknown."""
    most: int | None = None
    """The call of a turn whose draft is always accepted. None: the second-to-last one that the limits allow."""

    def __post_init__(self) -> None:
        if self.part not in get_args(UserPart):
            raise SettingError(f"like: part must be one of {', '.join(get_args(UserPart))}, not {self.part!r}")
        if not isinstance(self.drafts, str):
            raise SettingError(f"like: drafts must be a path of conversations, not {self.drafts!r}")
        if self.most is not None and (isinstance(self.most, bool) or not isinstance(self.most, int) or self.most < 1):
            raise SettingError(f"like: most must be a whole number from 1, not {self.most!r}")


def parsed(spec: str) -> tuple[Path, LikeOptions]:
    """Path and options of a setting `SRC?...`; SettingError, in one line, for a wrong setting."""
    head = head_of(spec)
    try:
        # The part before the options is a path, which may have a colon of its own.
        values: dict[str, Any] = parse_spec(f"like:?{query}")[2] if (query := spec.partition("?")[2]) else {}
    except ModelError:
        raise SettingError(f"like {head!r}: its options are unclear: write SRC?part=tune&drafts=RUN") from None
    if not spec.partition("?")[0].strip():
        raise SettingError("like names no source: write SRC, a path of conversations of people")
    names = [option.name for option in fields(LikeOptions)]
    for option in values:
        if option not in names:
            raise SettingError(f"like {head!r} has no option {redacted(option)!r}; there are {', '.join(names)}")
    if "drafts" in values:
        values["drafts"] = str(values["drafts"])  # a folder may be called 1
        if not values["drafts"].strip():
            raise SettingError("like: drafts names no path: write drafts=RUN, or leave it out")
    return Path(spec.partition("?")[0].strip()), LikeOptions(**values)


def paths_of(spec: str) -> list[Path]:
    """All paths of a setting."""
    source, options = parsed(spec)
    return [source, *([Path(options.drafts)] if options.drafts else [])]
