"""The specs `PROVIDER:NAME?like=SRC&...` and `PROVIDER:NAME?rewrite=SRC&...`: a model, and the source of people's turns."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from ...errors import SettingError
from ..models.specs import head_of, parse_spec, query_of
from ..settings.redaction import redacted
from .options import PeopleOptions, people_path

Use: TypeAlias = Literal["like", "rewrite"]
"""The use of people's turns: few-shot examples, or drafts that the model fits to the conversation."""

EXAMPLES = 3
"""Default number of examples."""

MOST_EXAMPLES = 20

_OTHER_SPECS = ("people", "replay", "agent")


@dataclass(frozen=True)
class ModelSpec:
    """The parts of such a spec."""

    use: Use
    model: str
    """Provider and name, without a query."""
    arguments: Mapping[str, Any]
    """The arguments of the model itself."""
    path: Path
    options: PeopleOptions
    examples: int


def shown_path(spec: object) -> Path | None:
    """The path of the source in a model's spec with `like` or `rewrite`; None for any other spec."""
    if not isinstance(spec, str) or "?" not in spec or spec.strip().partition(":")[0] in _OTHER_SPECS:
        return None
    query = query_of(spec)
    return next((Path(str(query[use])) for use in get_args(Use) if use in query), None)


def rewrites(spec: object) -> bool:
    """Whether it is a model's spec with `rewrite`."""
    return shown_path(spec) is not None and "like" not in parse_spec(str(spec))[2]


def source_path(spec: object) -> Path | None:
    """The path of the conversations from which a speaker takes people's words; None for any other spec."""
    return people_path(spec) or shown_path(spec)


def model_spec(spec: str) -> ModelSpec:
    """The parts of a spec with `like` or `rewrite`; SettingError, in one line, for a wrong spec."""
    provider, name, query = parse_spec(spec)
    head = head_of(spec)
    uses: list[Use] = [use for use in get_args(Use) if use in query]
    if len(uses) != 1:
        raise SettingError(f"{head!r}: give like=SRC or rewrite=SRC, one of both")
    source = str(query.pop(uses[0]))
    if not source.strip():
        raise SettingError(f"{head!r}: {uses[0]} names no source: write {head}?{uses[0]}=SRC, a path of conversations")
    if provider == "offline":
        raise SettingError(
            f"{head!r} follows rules and reads no turns of people: give a language model, such as openai:NAME?"
            f"{uses[0]}=SRC, or people:SRC, which needs none"
        )
    if uses == ["rewrite"] and "examples" in query:
        raise SettingError(f"{head!r}: examples goes with like=SRC; with rewrite=SRC the model is shown one turn")
    examples = query.pop("examples", EXAMPLES)
    check_examples(examples)
    options = {option.name: query.pop(option.name) for option in fields(PeopleOptions) if option.name in query}
    model = f"{provider}:{name}" if ":" in spec.partition("?")[0] else provider
    return ModelSpec(uses[0], model, query, Path(source), PeopleOptions.of(options), examples)


def check_examples(examples: object) -> None:
    """SettingError unless it is a possible number of examples."""
    if isinstance(examples, bool) or not isinstance(examples, int) or not 1 <= examples <= MOST_EXAMPLES:
        raise SettingError(
            f"like: examples must be a whole number from 1 to {MOST_EXAMPLES}, not {redacted(repr(examples))}"
        )
