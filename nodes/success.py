"""What a scenario says of its own success: `scenario["success"]`, plain JSON that names scorers.

    {"tool_called": {"name": "change", "arguments": {"booking": "QX4821"}}, "text_contains": "2026-05-03"}

All that it names must hold. It is read strictly, and applied in every cast when a conversation is over. A cast that scores
`success` itself keeps its say: both must hold, so a scenario can ask for more than its cast, and never for less.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from langgraph.runtime import Runtime
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from ..data.attempts import is_object
from ..errors import DuologueError, SettingError
from .combined_scores import all_of, any_of, joined, negated
from .judged_scores import judged
from .limits import Limits
from .scorers import final_state, refused, solved, text_contains, tool_called
from .scores import LABEL, SUCCESS, Score, Scorer, label_of, total, world_of
from .state import State, Update

KEY = "success"
"""The scenario's key."""
OF_CAST, OF_SCENARIO = "success_of_cast", "success_of_scenario"
"""Names of the two scores that `success` is made of, where cast and scenario both give one."""

_STRICT = ConfigDict(extra="forbid", strict=True, frozen=True)

Reader: TypeAlias = Callable[[Any], Scorer]
"""From a scorer's JSON to the scorer."""


class _Tool(BaseModel):
    model_config = _STRICT

    name: str = Field(min_length=1)
    arguments: dict[str, JsonValue] | None = None
    times: int | None = Field(default=None, ge=0)
    errors: bool = False

    def scorer(self) -> Scorer:
        return tool_called(self.name, self.arguments, times=self.times, errors=self.errors)


class _Text(BaseModel):
    model_config = _STRICT

    all: list[str] = []
    any: list[str] = []
    side: Literal["user", "assistant", "both"] = "assistant"
    regex: bool = False
    case: bool = False

    def scorer(self) -> Scorer:
        how: dict[str, Any] = {"side": self.side, "regex": self.regex, "case": self.case}
        parts: list[Scorer] = [text_contains(*self.all, match="all", **how)] if self.all or not self.any else []
        parts += [text_contains(*self.any, match="any", **how)] if self.any else []
        return parts[0] if len(parts) == 1 else all_of(*parts)


class _Judge(BaseModel):
    model_config = _STRICT

    criterion: str = Field(min_length=1)
    model: str | None = None
    labels: list[str] = []
    passing: list[str] = []
    language: Literal["en", "zh"] = "en"

    def scorer(self) -> Scorer:
        if self.model is None:
            raise SettingError("names no model to judge: give it 'model', or the command --judge openai:NAME")
        if self.labels and not self.passing:
            raise SettingError("has labels, but does not say which are a success: give it 'passing'")
        return judged(self.model, self.criterion, labels=self.labels, passing=self.passing, language=self.language)


def _tools(value: Any) -> Scorer:
    return _each(value, lambda one: _Tool.model_validate({"name": one} if isinstance(one, str) else one).scorer())


def _no_tools(value: Any) -> Scorer:
    def never(one: Any) -> Scorer:
        tool = _Tool.model_validate({"name": one} if isinstance(one, str) else one)
        if tool.times is not None:
            raise SettingError("'times' has no meaning where a tool must not be called: leave it out")
        return tool.model_copy(update={"times": 0}).scorer()

    return _each(value, never)


def _texts(value: Any) -> Scorer:
    if isinstance(value, str | list):
        value = {"all": [value] if isinstance(value, str) else value}
    return _Text.model_validate(value).scorer()


def _judgements(value: Any) -> Scorer:
    return _each(value, lambda one: _Judge.model_validate({"criterion": one} if isinstance(one, str) else one).scorer())


def _state(value: Any, *, partial: bool) -> Scorer:
    if not is_object(value):
        raise SettingError("expected the state as an object")
    return final_state(dict(value), partial=partial)


def _switch(scorer: Scorer) -> Reader:
    def read(value: Any) -> Scorer:
        if not isinstance(value, bool):
            raise SettingError(f"expected true or false, not {value!r}")
        return scorer if value else negated(scorer)

    return read


def _several(combine: Callable[..., Scorer]) -> Reader:
    def read(value: Any) -> Scorer:
        if not isinstance(value, list) or not value:
            raise SettingError("expected a list of objects, each as 'success' itself")
        return combine(*(success_of(one) for one in value))

    return read


def _each(value: Any, read: Callable[[Any], Scorer]) -> Scorer:
    """The scorer of a value, or of all values of a list."""
    if not isinstance(value, list):
        return read(value)
    if not value:
        raise SettingError("expected at least one in the list")
    return all_of(*map(read, value))


READERS: Mapping[str, Reader] = {
    "final_state": lambda value: _state(value, partial=True),
    "final_state_exactly": lambda value: _state(value, partial=False),
    "tool_called": _tools,
    "tool_not_called": _no_tools,
    "text_contains": _texts,
    "refused": _switch(refused()),
    "solved": _switch(solved()),
    "judged": _judgements,
    "all_of": _several(all_of),
    "any_of": _several(any_of),
    "not": lambda value: negated(success_of(value)),
}
"""The scorers that a scenario may name."""


def success_of(described: Any, path: str = KEY) -> Scorer:
    """The scorer of a scenario's `success`; SettingError says in one line what is wrong in it and where."""
    if not is_object(described) or not described:
        raise SettingError(f"{path}: expected an object that names scorers: {', '.join(READERS)}")
    scorers: list[Scorer] = []
    for name, value in described.items():
        if name not in READERS:
            raise SettingError(f"{path}: there is no scorer {name!r}, only {', '.join(READERS)}")
        try:
            scorers.append(READERS[name](value))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            inner = ".".join(str(part) for part in first["loc"])
            where = ".".join(filter(None, (path, name, inner)))
            raise SettingError(f"{where}: {first['msg']}, not {first['input']!r}") from None
        except DuologueError as error:
            raise SettingError(f"{path}.{name}: {error}") from None
    return scorers[0] if len(scorers) == 1 else all_of(*scorers)


def with_judge(described: Any, judge: str) -> Any:
    """A scenario's `success` in which this model judges wherever no other is named."""
    if isinstance(described, list):
        return [with_judge(one, judge) for one in described]
    if not is_object(described):
        return described
    inner = {
        name: with_judge(value, judge) if name in ("all_of", "any_of", "not") else value
        for name, value in described.items()
    }
    if "judged" in inner:
        many = inner["judged"] if isinstance(inner["judged"], list) else [inner["judged"]]
        inner["judged"] = [
            {"model": judge, **(one if is_object(one) else {"criterion": one})}
            if isinstance(one, str) or is_object(one)
            else one
            for one in many
        ]
    return inner


async def with_success_of_scenario(update: Update, state: State, runtime: Runtime[Limits]) -> Update:
    """The closing node's update, with the score that the scenario's `success` asks for.

    A `success` that is no object is the scenario's own affair.
    """
    described = state["scenario"].get(KEY)
    if state.get("failure") or not is_object(described):
        return update
    labels: Any = update.get("labels", {})
    if not is_object(labels):
        return update  # no update of ours: the step says what is wrong with it
    scores: dict[str, Any] = dict(labels.get(LABEL) or {})
    try:
        scorer = success_of(described)
    except DuologueError as error:
        found: dict[str, Any] | None = {"value": None, "reason": "", "error": str(error)}
    else:
        found = await label_of(KEY, scorer, state, world_of(runtime))
    own = scores.get(SUCCESS)
    if found is None:
        return update
    usage = total([update.get("usage"), found.get("usage")])
    if own is not None:
        scores |= {OF_CAST: own, OF_SCENARIO: found}
        found = _both(own, found)
    scored: Update = {**update, "labels": {**labels, LABEL: scores | {SUCCESS: found}}}
    return scored if usage is None else {**scored, "usage": usage}


def _both(own: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """Two scores as one: true if both are; a failed one, or one that is not true or false, is the score."""
    for score in (own, found):
        if not isinstance(score.get("value"), bool):
            return dict(score)
    scores = [Score(each["value"], each.get("reason", ""), each.get("usage")) for each in (own, found)]
    failing = [score for score in scores if not score.value]
    return joined(not failing, failing or scores, scores).plain()
