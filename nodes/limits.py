"""Limits of a conversation, plain data that a graph is passed as its context; and stop criteria, functions that read them."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self, TypeAlias

from pydantic import ConfigDict

from ..data.records import TURN_TIMEOUT, Role
from ..errors import SettingError
from .state import State


@dataclass(frozen=True, kw_only=True, repr=False)
class Limits:
    """Limits of one conversation, and the seed of its random choices.

    Example::

        >>> import duologue
        >>> duologue.Limits(max_turns=3, seed=7).max_turns
        3
    """

    __pydantic_config__: ClassVar = ConfigDict(use_attribute_docstrings=True)  # for the schema of a graph's context

    max_turns: int | None = None
    """Maximum turns, including those of the initial state. None: the cast's default."""
    question_attempts: int = 4
    """Most calls for one turn of the user, including the first.

    4 as in the published code of "Let the LLMs Talk"; its Algorithm 1 has 5 (one and up to four more).
    """
    answer_attempts: int = 4
    """Most calls for one turn of the assistant, including the first; 4 and 5 as above."""
    seed: int = 0
    """Seed of the run, from which every call's seed is derived."""
    turn_timeout: float = TURN_TIMEOUT
    """Most seconds of a turn of an agent or a function; a longer one ends the conversation (`agent_timeout`)."""

    def __post_init__(self) -> None:
        seconds = self.turn_timeout
        if not isinstance(seconds, (int, float)) or isinstance(seconds, bool):
            raise TypeError(f"Limits.turn_timeout must be a number of seconds, not {seconds!r}")
        if not 0 < seconds < float("inf"):
            raise SettingError(f"Limits.turn_timeout must be above 0 seconds, not {seconds}")
        for name in (name for name in _NAMES if name != "turn_timeout"):
            value = getattr(self, name)
            if value is None and name == "max_turns":
                continue
            if not isinstance(value, int) or isinstance(value, bool):
                raise TypeError(f"Limits.{name} must be a whole number, not {value!r}")
            if name != "seed" and value < 1:
                raise SettingError(f"Limits.{name} must be at least 1, not {value}")

    def __repr__(self) -> str:
        values = ((field.name, getattr(self, field.name), field.default) for field in fields(self))
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value, default in values if value != default)})"

    def or_else(self, default: "Limits") -> Self:
        """These limits, with the default's `max_turns` in place of None."""
        return self if self.max_turns is not None else replace(self, max_turns=default.max_turns)

    def plain(self) -> dict[str, Any]:
        """Plain JSON values; `turn_timeout` only where it is not the default."""
        plain = {name: getattr(self, name) for name in _NAMES}
        if self.turn_timeout == TURN_TIMEOUT:
            del plain["turn_timeout"]
        return plain


_NAMES = tuple(field.name for field in fields(Limits))
"""Of the limits without what a context has beside them."""


Stop: TypeAlias = Callable[[State, Limits], str | None]
"""A stop criterion: a plain function that returns why the conversation ends now, or None."""
SIGNATURE = "(state, limits) -> StopReason | None"
"""How a stop criterion is called."""


@dataclass(frozen=True)
class AnyOf:
    """Gives the first reason of any of the criteria, in order."""

    criteria: tuple[Stop, ...]

    def __call__(self, state: State, limits: Limits) -> str | None:
        return next((reason for stop in self.criteria if (reason := stop(state, limits)) is not None), None)


def any_of(*criteria: Stop) -> Stop:
    """A criterion that gives the first reason of any of these, in order."""
    return AnyOf(criteria)


def max_turns(state: State, limits: Limits) -> str | None:
    """`max_turns` once the number of complete turns reaches the limit, which holds for every conversation."""
    reached = limits.max_turns is not None and state.get("turn", 0) >= limits.max_turns
    return "max_turns" if reached else None


MANY_TURNS = 10_000
"""A limit of turns that no conversation reaches, for one that another criterion ends."""


@dataclass(frozen=True)
class AfterOneTurn:
    """Stop as soon as one side has had one turn; the cast's own criterion, which counts turns, is asked of users only."""

    role: Role
    own: Stop

    def __call__(self, state: State, limits: Limits) -> str | None:
        if self.role == "assistant":
            return "max_turns" if state.get("turn", 0) > state.get("origin", {}).get("opened", 0) else None
        if (reason := self.own(state, limits)) is not None:
            return reason
        is_judged = state.get("speaking") == "user" and not state.get("verdicts")
        return "max_turns" if is_judged else None
