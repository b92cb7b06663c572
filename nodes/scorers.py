"""Scorers: judgements of a finished conversation, its scenario and its world, such as whether a tool was called.

The closing node `scoring` calls them. Those of outcomes (the final state, tool calls, texts, refusals, the user's goodbye)
are one pydantic dataclass each: called by users under its small name, read from a scenario's `success`
(`nodes.success`), and described in the record's provenance. A wrong value raises pydantic's ValidationError.
"""

import inspect
import re
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, is_dataclass, replace
from json import dumps
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

from langgraph.runtime import Runtime
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, TypeAdapter, ValidationError, model_validator
from pydantic.dataclasses import dataclass as strict_dataclass

from ..data import domains
from ..data.formats.messages import NO_RESULT
from ..data.packages import frames_of
from ..data.records import INTERRUPT, WAITING, Broken, Message, Usage, stop_in_words
from ..errors import SettingError, first_invalid
from ..errors import shown as in_words
from .contract import ContractError, Node, check_function, describe
from .limits import Limits
from .settings.redaction import error_line
from .state import State, Update, recorded, said, standing
from .worlds import acts_in, begun_state, calls_that_ran, state_of, was_not_undone

LABEL = "scores"
"""The conversation's label with the scores by name."""
SUCCESS = "success"
"""Name of the score for whether the conversation reached its goal: true or false."""


@dataclass(frozen=True)
class Score:
    """A value with its reason, or the error in place of a value."""

    __pydantic_config__: ClassVar = ConfigDict(strict=True, revalidate_instances="always")
    value: bool | int | FiniteFloat | str | None
    """None only with an error."""
    reason: str = ""
    usage: Mapping[str, int] | None = None
    """Tokens of the calls to a model, by the names of `data.Usage`; None without a call."""
    error: str = ""
    """The reason why there is no value, in one line."""
    frames: tuple[str, ...] = ()
    """The places in one's own code that a scorer's error passed, as of `data.records.Failure`."""
    found: tuple[Broken, ...] = ()
    """What it found, as data: the conditions that are broken where the value is false."""

    def plain(self) -> dict[str, Any]:
        """Plain JSON values for the label."""
        broken = [one.model_dump(exclude_defaults=True) for one in self.found] if self.value is False else []
        more: dict[str, Any] = {"error": self.error, "frames": list(self.frames), "broken": broken}
        more["usage"] = self.usage and dict(self.usage)
        return {"value": self.value, "reason": self.reason} | {key: value for key, value in more.items() if value}


ScorerAnswer: TypeAlias = Score | bool | int | float | str | None
Scorer: TypeAlias = Callable[..., ScorerAnswer | Awaitable[ScorerAnswer]]
"""A function of the state of a complete conversation, async or not, that returns its score, or None for no score.

With a second parameter, `(state, world)`, it also gets the conversation's live world, None without one. A
second parameter with a default is the world only if it is named `world`.
"""


_SCORE = TypeAdapter(Score)


@dataclass(frozen=True)
class Scoring:
    """A closing node that calls scorers and writes the conversation's label `scores`.

    A scorer's error is recorded in place of its score: a failure of this node would hide the other scores.
    """

    scorers: Mapping[str, Scorer]
    made_of: ClassVar[str] = "scorers"

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        world = world_of(runtime)
        scores = {name: await run_scorer(name, scorer, state, world) for name, scorer in self.scorers.items()}
        given = {name: score for name, score in scores.items() if score is not None}
        update: Update = {"labels": {LABEL: {name: score.plain() for name, score in given.items()}}}
        if usage := total(score.usage for score in given.values()):
            update["usage"] = usage
        return update


def scoring(**scorers: Scorer) -> Node:
    """A closing node that scores the conversation: `scoring(success=nodes.tool_called("change"))`.

    `success` is what `duologue test` counts. ContractError for what cannot be called as a scorer.
    """
    for name, scorer in scorers.items():
        check_scorer(name, scorer)
    return Scoring(scorers)


def check_scorer(name: str, scorer: Any) -> None:
    """Raises ContractError unless the object can be called as a scorer, with a state or a state and a world."""
    arguments = 2 if callable(scorer) and _takes_world(scorer) else 1
    expected = "(state) or (state, world) -> a score"
    check_function(f"the scorer {name!r}", scorer, expected, arguments=arguments, may_be_async=True)


def _takes_world(scorer: Scorer) -> bool:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    positional = [one for one in inspect.signature(scorer).parameters.values() if one.kind in kinds]
    return len(positional) > 1 and (positional[1].default is inspect.Parameter.empty or positional[1].name == "world")


async def run_scorer(name: str, scorer: Scorer, state: State, world: Any = None) -> Score | None:
    """The scorer's score, or None for no score; if it raises or answers something else, a score with the error."""
    try:
        answer = scorer(state, world) if _takes_world(scorer) else scorer(state)
        return _checked(name, await answer if inspect.isawaitable(answer) else answer)
    except (Exception, SystemExit) as error:  # of the scorer, which may be anybody's code
        return Score(None, error=error_line(error, placed=True), frames=tuple(frames_of(error)))


def _checked(name: str, answer: Any) -> Score | None:
    if answer is None:
        return None
    score = answer if isinstance(answer, Score) else Score(answer)
    try:
        _SCORE.validate_python(score)
        total([score.usage])
    except ValidationError as error:
        first = first_invalid(error)
        expected = "expected true, false, a finite number or a text, or a Score of it"
        raise ContractError(f"the scorer {name!r}: {expected}; {first.where[0]}: got {in_words(first.value)}") from None
    if score.value is None and not score.error:
        raise ContractError(f"the scorer {name!r}: expected a value or an error, got a Score without both")
    return score


def total(usages: Iterable[Mapping[str, int] | None]) -> dict[str, int] | None:
    """The sum of usages, each in the form of `data.Usage`; None without any."""
    reports = [Usage.model_validate(usage) for usage in usages if usage is not None]
    return sum(reports, Usage.none()).model_dump() if reports else None


def world_of(runtime: Runtime[Limits]) -> Any:
    """The conversation's live world; None if it has none."""
    return getattr(runtime.context, "world", None)


def agent_channels(state: State) -> dict[str, Any]:
    """The channels of the assistant's agent that are plain JSON, after its last message; else empty."""
    replies = (message for message in reversed(said(state)) if message["role"] == "assistant")
    return next((dict(channels) for message in replies if (channels := standing(message).get("kept"))), {})


class AllOf:
    """True if every scorer gives true; the reason names those that do not. Each is called, also after one failed."""

    DECIDES: ClassVar[bool] = False
    """The value of one scorer that decides the whole."""
    made_of: ClassVar[str] = "scorers"

    def __init__(self, *scorers: Scorer) -> None:
        if not scorers:
            raise SettingError("all_of, any_of: give at least one scorer")
        for number, scorer in enumerate(scorers, start=1):
            check_scorer(f"{number} in {type(self).__name__}", scorer)
        self.scorers = scorers

    async def __call__(self, state: State, world: Any = None) -> Score | None:
        scores = [await _truth(scorer, state, world) for scorer in self.scorers]
        present = [score for score in scores if score is not None]
        if failed := next((score for score in present if score.error), None):
            return replace(failed, value=None, usage=total(score.usage for score in present))
        deciding = [score for score in present if bool(score.value) is self.DECIDES]
        if not deciding and None in scores:
            return None
        return joined(self.DECIDES if deciding else not self.DECIDES, deciding or present, present)

    def provenance(self) -> dict[str, Any]:
        return {"of": [describe(scorer) for scorer in self.scorers]}


class AnyScorer(AllOf):
    """True if at least one scorer gives true; each is called."""

    DECIDES: ClassVar[bool] = True


class Negated(AllOf):
    """True where its one scorer gives false, with its reason."""

    async def __call__(self, state: State, world: Any = None) -> Score | None:
        score = await _truth(self.scorers[0], state, world)
        return score if score is None or score.error else replace(score, value=not score.value)


all_of, any_of, negated = AllOf, AnyScorer, Negated


def joined(value: bool, telling: Sequence[Score], scores: Sequence[Score]) -> Score:
    """A score with the reasons of the decisive scores, and the tokens of all `scores`."""
    reasons = dict.fromkeys(score.reason for score in telling if score.reason)
    found = tuple(dict.fromkeys(one for score in telling for one in score.found))
    return Score(value, "; ".join(reasons), total(score.usage for score in scores), found=found)


async def _truth(scorer: Scorer, state: State, world: Any) -> Score | None:
    name = str(describe(scorer)["name"])
    score = await run_scorer(name, scorer, state, world)
    if score is None or score.error or isinstance(score.value, bool):
        return score
    error = f"the scorer {name!r}: expected true or false where scores are combined, got {score.value!r}"
    return replace(score, value=None, error=error)


# What a conversation led to

NO_STATE = (
    "there is no state to compare: the conversation has no world, and the agent's state has no further channel of plain "
    "JSON; give the cast a world"
)
_UNSENT = "in drafts that were not sent and not undone"
_STRICT = ConfigDict(extra="forbid", strict=True)


@strict_dataclass(frozen=True, config=_STRICT)
class FinalState:
    """Whether the final state is as expected: that of the conversation's world, else the agent's kept channels.

    A world's state is what its method `state()` gives, async or not; a mapping is its own. The reason is the first
    difference by its path: `bookings.QX4821.date: is "2026-05-01", expected "2026-05-03"`.
    """

    expected: Any
    _: KW_ONLY
    partial: bool = True
    """Whether objects may have more keys than expected, at every depth; False compares the whole."""

    async def __call__(self, state: State, world: Any = None) -> Score:
        actual = plain(await state_of(world) if world is not None else agent_channels(state))
        if world is None and not actual:
            if any(message["role"] == "assistant" for message in said(state)):
                raise SettingError(NO_STATE)
            return found(False, "the assistant has written and done nothing", "nothing_done")
        if differs := first_difference(actual, plain(self.expected), partial=self.partial):
            broken = Broken(kind="state", path=differs.path, expected=differs.expected, got=differs.got)
            return Score(False, differs.line, found=(broken,))
        return found(True, "the final state is as expected", "state_equal")

    def provenance(self) -> dict[str, Any]:
        return {"expected": plain(self.expected), "partial": self.partial}


@strict_dataclass(frozen=True, config=_STRICT)
class ToolCalled:
    """Whether the assistant called a tool of this name, in a draft that was sent or not undone."""

    name: str = Field(min_length=1)
    arguments: Mapping[str, Any] | None = None
    """Arguments that the call must have; it may have more."""
    _: KW_ONLY
    times: int | None = Field(default=None, ge=0)
    """The exact number of calls, 0: never; None: one or more."""
    errors: bool = False
    """Whether calls count too that the tool answered with an error."""

    def __call__(self, state: State) -> Score:
        sent, unsent = ([call for call in calls if call["name"] == self.name] for calls in _calls_that_last(state))
        calls = sent + unsent
        done = calls if self.errors else [call for call in calls if call.get("error") is None]
        wrong = [mismatch for call in done if (mismatch := self._wrong(call))]
        fitting = len(done) - len(wrong)
        passed = fitting > 0 if self.times is None else fitting == self.times
        if not calls:
            return found(passed, f"{self.name} was not called", "not_called", tool=self.name)
        if not done:
            errors = [error for call in calls if (error := call.get("error")) not in (NO_RESULT, WAITING)]
            last = str(errors[-1]).strip().partition("\n")[0] if errors else ""  # what follows is for the model
            ends = f"every call ended in an error: {last}" if errors else "no call has a result"
            kind = "all_failed" if errors else "no_result"
            return found(passed, f"{self.name} was called, and {ends}", kind, tool=self.name)
        if wrong and not fitting:
            path, _, expected, got = wrong[-1]
            broken = Broken(kind="other_arguments", tool=self.name, path=path, expected=expected, got=got)
            return Score(passed, f"{self.name} was called, but {wrong[-1].line}", found=(broken,))
        times = "once" if fitting == 1 else f"{fitting} times"
        hidden = sum(call in done and not self._wrong(call) for call in unsent)
        reason = f"{self.name} was called {times}" + (f" ({hidden} {_UNSENT})" if hidden else "")
        return found(passed, reason, "called", tool=self.name)

    def _wrong(self, call: Mapping[str, Any]) -> "Difference | None":
        return first_difference(plain(call.get("arguments", {})), plain(self.arguments)) if self.arguments else None

    def provenance(self) -> dict[str, Any]:
        told = {"tool": self.name, "arguments": plain(self.arguments), "times": self.times, "errors": self.errors}
        return {key: value for key, value in told.items() if value is not None}


def _calls_that_last(state: State) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    messages, unsaid = recorded(state)
    replies = [turn for turn in messages if turn["role"] == "assistant"]
    sent = [standing(reply) for reply in replies]
    turns = [*replies, *(turn for turn in unsaid if turn["role"] == "assistant")]
    tried = [attempt for turn in turns for attempt in turn.get("attempts", [])]
    left = [one for one in tried if was_not_undone(one) and not any(one is draft for draft in sent)]
    calls = [call for draft in sent for call in acts_in(draft)]
    return calls, [call for attempt in left for call in calls_that_ran(attempt)]


@strict_dataclass(frozen=True, config=_STRICT)
class TextContains:
    """Whether one role's messages contain all of some texts and any of others: see `text_contains`."""

    _: KW_ONLY
    all: list[str] = Field(default_factory=list)
    any: list[str] = Field(default_factory=list)
    side: Literal["user", "assistant", "both"] = "assistant"
    regex: bool = False
    case: bool = False

    @model_validator(mode="after")
    def _searchable(self) -> Self:
        texts = [*self.all, *self.any]
        if not texts or not all(text.strip() for text in texts):
            raise ValueError("give a text to look for")
        for text in texts if self.regex else ():
            try:
                re.compile(text)
            except re.error as error:
                raise ValueError(f"{text!r} is not a regular expression: {error}") from None
        return self

    def __call__(self, state: State) -> Score:
        spoken = "\n".join(texts_of(state, self.side))
        said_of_any = [text for text in self.any if self._is_in(text, spoken)]
        lacking = [text for text in self.all if not self._is_in(text, spoken)][:1]
        lacking += [] if said_of_any else self.any[:1]
        if lacking:
            who = "nobody" if self.side == "both" else f"the {self.side} never"
            reason = "; ".join(f"{who} says {shown(text)}" for text in lacking)
            return found(False, reason, "not_said", side=self.side, expected=shown(lacking[0]))
        said_now = [shown(text) for text in (*self.all[:1], *said_of_any[:1])]
        return found(True, "; ".join(f"said: {text}" for text in said_now), "said", side=self.side, got=said_now[0])

    def _is_in(self, text: str, spoken: str) -> bool:
        if not self.regex:
            plain, spoken = _comparable(text), _comparable(spoken)
            text = re.escape(plain)
            text = rf"(?<!\d)(?<!\d[.,]){text}" if plain[0].isdigit() else text  # 40 is not in 140
            text = rf"{text}(?!\d)(?![.,]\d)" if plain[-1].isdigit() else text
        return re.search(text, spoken, 0 if self.case else re.IGNORECASE) is not None

    def provenance(self) -> dict[str, Any]:
        texts = {"texts": self.all or self.any, "match": "all" if self.all else "any", "side": self.side}
        return texts | {name: True for name in ("regex", "case") if getattr(self, name)}


_QUOTES = str.maketrans("‘’“”", "''\"\"")


def _comparable(text: str) -> str:
    """The text with equal white space and marks of quotation, in one form of each character (NFKC), with digits of all
    scripts as 0 to 9."""
    plain = unicodedata.normalize("NFKC", " ".join(text.split())).translate(_QUOTES)
    return "".join(str(unicodedata.decimal(one)) if one.isdecimal() else one for one in plain)


def text_contains(*texts: str, match: Literal["all", "any"] = "all", **settings: Any) -> TextContains:
    """Whether one role's messages contain these texts, all or any of them.

    In plain texts all white space is equal, and so are the forms of a character and the digits of all scripts. A number is
    whole: 40 is not in 140.

    Settings: `side` (`user`, `assistant`, the default, or `both`), `regex` (the texts are regular expressions of
    Python), `case` (upper and lower case differ).
    """
    wanted: dict[str, Any] = {match: list(texts)}
    return TextContains(**wanted, **settings)


def texts_of(state: State, side: Literal["user", "assistant", "both"]) -> list[str]:
    """The messages of one role, or of both, the goodbye included; a third one's are of neither."""
    messages = [message for message in said(state) if not message.get("name")]
    return [message["text"] for message in messages if side in ("both", message["role"])]


@strict_dataclass(frozen=True, config=_STRICT)
class Refused:
    """Whether the assistant did not do it: it called none of these tools, and the world is as it was at the beginning.

    What it said of that is a judge's (`judged`). Without names and without a world it called no tool at all. A domain
    that publishes its refusals, such as SimQuAC, has its own.
    """

    tools: tuple[str, ...] = ()

    async def __call__(self, state: State, world: Any = None) -> Score:
        domain = domains.of(state["scenario"])
        if domain is not domains.PLAIN and domain.has_refusals:
            replies = [message for message in said(state) if message["role"] == "assistant"]
            own = next((one for one in replies if domain.refuses(Message.model_validate(one))), None)
            reason = f"the assistant refused: {shown(own['text'])}" if own else "the assistant refused nothing"
            return found(own is not None, reason, "refused" if own else "not_refused")
        sent, unsent = _calls_that_last(state)
        done = [call["name"] for call in (*sent, *unsent) if call.get("error") is None and call["name"] != INTERRUPT]
        every = world is None and not self.tools
        if name := next((one for one in done if every or one in self.tools), None):
            return found(False, f"{name} was called, which was to be refused", "not_refused", tool=name)
        begun = None if world is None else begun_state(world)
        now = plain(begun) if begun is None else plain(await state_of(world))
        if differs := first_difference(now, plain(begun), partial=False):
            broken = Broken(kind="state", path=differs.path, expected=differs.expected, got=differs.got)
            return Score(False, f"the world has changed: {differs.line}", found=(broken,))
        return found(True, "nothing was done", "refused")


@dataclass(frozen=True)
class Solved:
    """Whether the user ended the conversation as solved: its stop reason is `user_ended`."""

    def __call__(self, state: State) -> Score:
        if (stop := state.get("stop")) != "user_ended":
            return found(False, f"the user did not confirm that it is solved: {stop_in_words(stop)}", "unsolved")
        last_message = texts_of(state, "user")[-1:]
        reason = f"the user ended it: {shown(last_message[0])}" if last_message else "the user ended it"
        return found(True, reason, "solved")


final_state, tool_called, solved = FinalState, ToolCalled, Solved


def refused(*tools: str) -> Refused:
    """Whether the assistant called none of these tools and left the world as it was."""
    return Refused(tools)


def found(value: bool, reason: str, kind: str, **about: str) -> Score:
    """A score with what its scorer found, which is a broken condition where the score or its negation is false."""
    return Score(value, reason, found=(Broken(kind=kind, **about),))


# The first difference of two plain values


_SHOWN = 80
"""Maximum characters of a value in a difference."""


class Difference(NamedTuple):
    """Where two values differ first."""

    path: str
    what: str
    """What differs, in words."""
    expected: str = ""
    got: str = ""

    @property
    def line(self) -> str:
        """Path and difference in a line."""
        return f"{self.path}: {self.what}" if self.path else self.what


def first_difference(actual: Any, expected: Any, *, partial: bool = True, path: str = "") -> Difference | None:
    """The first difference in the order of the expected value; None without one.

    Objects are compared key by key. `partial`: an object may have more keys than are expected, at every depth. Lists
    have the same length and order; true and false are not numbers.
    """

    def differs(words: str) -> Difference:
        return Difference(path, f"is {shown(actual)}, expected {words}", words, shown(actual))

    if isinstance(expected, Mapping):
        if not isinstance(actual, Mapping):
            return differs("an object")
        inside = f"{path}." if path else ""
        for key, value in expected.items():
            if key not in actual:
                return Difference(f"{inside}{key}", f"is missing, expected {shown(value)}", shown(value))
            if inner := first_difference(actual[key], value, partial=partial, path=f"{inside}{key}"):
                return inner
        more = [] if partial else [key for key in actual if key not in expected]
        if more:
            got = shown(actual[more[0]])
            return Difference(f"{inside}{more[0]}", f"is {got}, expected nothing there", "", got)
        return None
    if isinstance(expected, list):
        return _in_list(actual, expected, path, partial=partial) if isinstance(actual, list) else differs("a list")
    same = isinstance(actual, bool) == isinstance(expected, bool) and actual == expected
    return None if same else differs(shown(expected))


def _in_list(actual: Sequence[Any], expected: Sequence[Any], path: str, *, partial: bool) -> Difference | None:
    for number, (one, other) in enumerate(zip(actual, expected, strict=False)):
        if inner := first_difference(one, other, partial=partial, path=f"{path}[{number}]"):
            return inner
    same = len(actual) == len(expected)
    words = f"has {len(actual)} items, expected {len(expected)}"
    return None if same else Difference(path, words, f"a list of {len(expected)}", f"a list of {len(actual)}")


def shown(value: Any) -> str:
    """The value as JSON on one line, shortened."""
    try:
        text = dumps(value, ensure_ascii=False, default=repr)
    except (TypeError, ValueError):
        text = " ".join(repr(value).split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def plain(value: Any) -> Any:
    """A value as plain ones: objects of data classes and pydantic models as mappings, tuples as lists, sets sorted."""
    if isinstance(value, BaseModel):
        return plain(value.model_dump())
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(inner) for inner in value), key=shown)
    return value
