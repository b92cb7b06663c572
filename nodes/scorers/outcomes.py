"""Scorers of what a conversation led to: the final state, tool calls, texts, refusals, the user's goodbye.

Each is one pydantic dataclass: called by users under its small name, read from a scenario's `success`
(`nodes.scorers.success`), and described in the record's provenance. Its fields are all three. A wrong value raises
pydantic's ValidationError.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, asdict, is_dataclass
from json import dumps
from typing import Any, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.dataclasses import dataclass

from ...data import domains
from ...data.formats.messages import NO_RESULT
from ...data.records import INTERRUPT, WAITING, Broken, Message, stop_in_words
from ...errors import SettingError
from ..speakers.tools import acts_in, calls_that_ran, was_not_undone
from ..state import State, recorded, said, standing
from ..worlds import begun_state, state_of
from .scores import Score, agent_channels

NO_STATE = (
    "there is no state to compare: the conversation has no world, and the agent's state has no further channel of plain "
    "JSON; give the cast a world"
)
_UNSENT = "in drafts that were not sent and not undone"
_STRICT = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, config=_STRICT)
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


@dataclass(frozen=True, config=_STRICT)
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
            ends = f"every call ended in an error: {errors[-1]}" if errors else "no call has a result"
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


@dataclass(frozen=True, config=_STRICT)
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


@dataclass(frozen=True, config=_STRICT)
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
    return None if same else Difference(path, f"has {len(actual)} items, expected {len(expected)}")


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
