"""How people's conversations are given: `people:SRC?...`, or a model's `?like=SRC&...`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ...data.people.draws import MOST_DRAWN
from ...data.people.splits import UserPart
from ...errors import SettingError, first_invalid
from ..models.specs import head_of, parse_spec, query_of
from ..settings.redaction import redacted

Use: TypeAlias = Literal["people", "like"]
"""What is done with people's turns: they are sent as they are, or shown to a model as examples."""

_Factor: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class PeopleOptions(BaseModel):
    """Which stored turns may be used again, and what counts in the choice among them; SettingError for a wrong value.

    The last five are factors of what `retrieval.WEIGHTS` has: 1 leaves it as it is, 0 takes it out.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    unseen: bool = False
    """Leave out the conversations about the same context as the one that is simulated (`Domain.topic_key`)."""
    part: UserPart = "all"
    """Only the conversations of this part of the users: the split of `compare --part`."""
    mask: bool = False
    """Put placeholders in the place of names, numbers and addresses, as far as rules find them; leave out images."""
    licence: Annotated[str, BeforeValidator(str)] = ""
    """The licence of the source, for the card of the data set; empty: not stated."""
    most: int = Field(MOST_DRAWN, ge=1)
    """Maximum of conversations that turns are taken from; of more, those of users drawn by digest."""
    examples: int = Field(3, ge=1, le=20)
    """Maximum of few-shot examples at a turn; only with `like`."""
    scenario: _Factor = 1.0
    heard: _Factor = 1.0
    words: _Factor = 1.0
    stay: _Factor = 1.0
    spread: _Factor = 1.0

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            first, names = first_invalid(error), ", ".join(PeopleOptions.model_fields)
            what = redacted(f"{first.path}={first.value}")
            raise SettingError(f"people: {what}: {first.message}; the options are {names}") from None

    def plain(self) -> dict[str, Any]:
        """The options that differ from their defaults, without the number of examples."""
        return self.model_dump(exclude_defaults=True, exclude={"examples"})


class PeopleSpec(NamedTuple):
    """The parts of a model identifier that names people's conversations; `model` and its arguments only with `like`."""

    use: Use
    path: Path
    options: PeopleOptions
    model: str
    arguments: Mapping[str, Any]


def use_of(spec: object) -> Use | None:
    """What a model identifier does with people's conversations; None if it names none. It may be wrong otherwise."""
    if not isinstance(spec, str):
        return None
    provider = spec.strip().partition(":")[0]
    if provider == "people":
        return "people"
    query = query_of(spec) if "?" in spec and provider not in ("replay", "agent") else {}
    return "like" if "like" in query else None


def people_spec(spec: str) -> PeopleSpec | None:
    """The parts of a model identifier that names people's conversations; None for any other, errors for a wrong one."""
    if (use := use_of(spec)) is None:
        return None
    head, (provider, name, query) = head_of(spec), parse_spec(spec)
    source = name if use == "people" else str(query.pop(use))
    if not source.strip():
        raise SettingError(f"{head!r}: {use} names no source: write people:SRC or {use}=SRC, a path of conversations")
    if use != "like" and "examples" in query:
        raise SettingError(f"{head!r}: examples goes with like=SRC: without it no examples are shown")
    if provider == "offline":
        raise SettingError(f"{head!r} follows rules and reads no turns of people: give a language model, or people:SRC")
    own = query if use == "people" else PeopleOptions.model_fields
    options = PeopleOptions(**{option: query.pop(option) for option in [*query] if option in own})
    return PeopleSpec(use, Path(source), options, f"{provider}:{name}" if name else provider, query)
