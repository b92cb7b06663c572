"""Scorers: judgements of a finished conversation, its scenario and its world, such as whether a tool was called.

Each function here returns one, for `scoring(success=...)` or for a scenario's `success`
(`nodes.scorers.scenario_success`). Their settings stand in the record's provenance.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...data.attempts import WAITING
from ...data.formats.tool_messages import NO_RESULT
from ...errors import SettingError
from ..contract import describe
from ..speakers.tools import calls_that_ran, was_not_undone
from ..state import State, recorded, said, standing
from ..worlds import state_of
from .differences import difference, plain, shown
from .scores import Score, agent_channels

NO_STATE = (
    "there is no state to compare: the conversation has no world, and the agent keeps no channel; "
    "give the cast a world, or the agent AgentSpeaker(keep=...)"
)


@dataclass(frozen=True)
class FinalState:
    """Whether the final state is as expected: see `final_state`."""

    expected: Any = None
    key: str | None = None
    partial: bool = True

    async def __call__(self, state: State, world: Any = None) -> Score:
        actual = plain(await state_of(world) if world is not None else agent_channels(state))
        if world is None and not actual:
            if any(message["role"] == "assistant" for message in said(state)):
                raise SettingError(NO_STATE)
            return Score(False, "the assistant has written and done nothing")
        scenario = state["scenario"]
        if self.key is not None and self.key not in scenario:
            raise SettingError(f"final_state: the scenario has no {self.key!r}")
        expected = plain(self.expected if self.key is None else scenario[self.key])
        mismatch = difference(actual, expected, partial=self.partial)
        return Score(mismatch is None, mismatch or "the final state is as expected")

    def provenance(self) -> dict[str, Any]:
        expected = {"expected": plain(self.expected)} if self.key is None else {"key": self.key}
        return {**expected, "partial": self.partial}


def final_state(expected: Any = None, *, key: str | None = None, partial: bool = True) -> FinalState:
    """Whether the final state is as expected: that of the conversation's world, else the agent's kept channels.

    A world's state is the value of its method `state()`, plain or async. Without it, it is the attribute
    `state`, else the world itself, if it is a mapping.

    Args:
        expected: The expected state; or give `key`.
        key: The scenario's key for the expected state.
        partial: Whether objects may have more keys than expected, at every depth; False compares the whole.

    Returns:
        The scorer. Its reason is the first difference by its path: `bookings.QX4821.date: is "2026-05-01", expected
        "2026-05-03"`.

    Raises:
        SettingError: Both of `expected` and `key` are given, or none.
    """
    if (expected is None) == (key is None):
        raise SettingError("final_state: give what is expected, or the scenario's key that holds it")
    return FinalState(expected, key, partial)


@dataclass(frozen=True)
class ToolCalled:
    """Whether the assistant called a tool: see `tool_called`."""

    name: str
    arguments: Mapping[str, Any] | None = None
    where: Callable[[dict[str, Any]], bool] | None = None
    times: int | None = None
    errors: bool = False

    def __call__(self, state: State) -> Score:
        left = [(call, word) for call, word in _calls_left_unsent(state) if call["name"] == self.name]
        calls = [call for call in tool_calls(state) if call["name"] == self.name] + [call for call, _ in left]
        done = calls if self.errors else [call for call in calls if call.get("error") is None]
        wrong = [mismatch for call in done if (mismatch := self._wrong(call.get("arguments", {})))]
        fitting = len(done) - len(wrong)
        passed = fitting > 0 if self.times is None else fitting == self.times
        if not calls:
            return Score(passed, f"{self.name} was not called")
        if not done:
            errors = [error for call in calls if (error := call.get("error")) not in (NO_RESULT, WAITING)]
            ends = f"every call ended in an error: {errors[-1]}" if errors else "no call has a result"
            return Score(passed, f"{self.name} was called, and {ends}")
        if wrong and not fitting:
            return Score(passed, f"{self.name} was called, but {wrong[-1]}")
        where = [word for call, word in left if call in done and not self._wrong(call.get("arguments", {}))]
        times = "" if fitting == len(where) == 1 else " once" if fitting == 1 else f" {fitting} times"
        some = f", {len(where)} of them" if fitting > len(where) else ", all" if fitting > 1 else ""
        unsent = f"{some} in {where[0]} draft that was not undone" if where else ""
        return Score(passed, f"{self.name} was called{times}{unsent}")

    def _wrong(self, arguments: dict[str, Any]) -> str | None:
        """The mismatch with the expected arguments; None if they fit."""
        if self.arguments and (mismatch := difference(plain(arguments), plain(self.arguments))):
            return mismatch
        if self.where is not None and not self.where(arguments):
            return f"with {shown(arguments)}"
        return None

    def provenance(self) -> dict[str, Any]:
        described: dict[str, Any] = {"tool": self.name, "arguments": plain(self.arguments), "times": self.times}
        described = {key: value for key, value in described.items() if value is not None} | {"errors": self.errors}
        return described | ({"where": describe(self.where)} if self.where is not None else {})


def tool_called(
    name: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    where: Callable[[dict[str, Any]], bool] | None = None,
    times: int | None = None,
    errors: bool = False,
) -> ToolCalled:
    """Whether the assistant called a tool of this name, in a draft that was sent or not undone.

    Args:
        name: Name of the tool.
        arguments: Arguments that the call must have; it may have more.
        where: A function of the arguments that must hold.
        times: The exact number of calls, 0: never; default: one or more.
        errors: Whether calls count too that the tool answered with an error.

    Returns:
        The scorer.

    Raises:
        SettingError: `times` is below 0.
    """
    if times is not None and (isinstance(times, bool) or times < 0):
        raise SettingError(f"tool_called: times must be 0 or more, not {times}")
    return ToolCalled(name, arguments, where, times, errors)


def tool_calls(state: State) -> list[dict[str, Any]]:
    """The tool calls of the assistant's messages in order, each the plain form of a `data.ToolCall`."""
    return [
        call
        for message in said(state)
        if message["role"] == "assistant"
        for call in standing(message).get("tool_calls", [])
    ]


def _calls_left_unsent(state: State) -> Iterator[tuple[dict[str, Any], str]]:
    """The calls that tools answered in drafts which were not sent and not undone, with the draft's verdict in words."""
    said_so, silent = recorded(state)
    sent = [id(standing(message)) for message in said_so]
    for turn in (*said_so, *silent):
        for attempt in turn.get("attempts", []) if turn["role"] == "assistant" else ():
            if was_not_undone(attempt) and id(attempt) not in sent:
                word = "a rejected" if attempt["verdict"] == "rejected" else "an unjudged"
                yield from ((call, word) for call in calls_that_ran(attempt))
