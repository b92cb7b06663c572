"""The time of an agent's turn: what takes longer ends the conversation by a reason of its own."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from langchain_core.messages import BaseMessage

from ...data.records import Role
from ...errors import SettingError
from ..calls.gate import RunOverError
from ..calls.service import current, during
from ..contract import ContractError
from ..limits import Limits, checked_seconds
from ..replies.agent_steps import TURN, AgentTurn
from ..replies.conversion import drafts_of
from ..replies.exits import OwnCancelError
from ..state import Draft

T = TypeVar("T")

TIMED_OUT: Mapping[Role, str] = {"assistant": "agent_timeout", "user": "user_timeout"}
"""The stop reason of an agent whose turn took too long, by whom it plays."""
LAST = 0.5
"""Seconds in which a cancelled turn may end; after that it is left behind."""


def turn_seconds(own: float | None, limits: Limits) -> float:
    """The limit of an agent's turn in seconds: its own, else that of the conversation."""
    return limits.turn_timeout if own is None else own


def check_turn_timeout(role: Role, seconds: float | None) -> None:
    """ContractError for a limit that is not a number above 0."""
    try:
        if seconds is not None:
            checked_seconds(f"{role}: turn_timeout", seconds)
    except (SettingError, TypeError) as error:
        raise ContractError(str(error)) from None


def told_turn_timeout(seconds: float | None) -> dict[str, float]:
    """An agent's own limit for the record; nothing without one."""
    return {} if seconds is None else {"turn_timeout": seconds}


async def within(seconds: float, turn: Coroutine[Any, Any, T]) -> T:
    """The result of an agent's turn; TurnTimeoutError after these seconds.

    A turn that blocks is left behind in an event loop of ours (`new_loop`). In another loop it cannot be ended, and it
    counts by the time that it took. One that goes on although it is cancelled is left behind.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    own = AgentTurn(seconds, began + seconds)
    with during(TURN, own):
        task = loop.create_task(turn)
    try:
        with current().agent_turn(task):
            await asyncio.wait({task}, timeout=seconds)
    except (asyncio.CancelledError, RunOverError):
        await _leave(task, own)
        raise
    if own.dropped:
        await _leave(task, own)
        raise asyncio.CancelledError
    if task.done() and loop.time() - began <= seconds:
        own.due = None
        try:
            return task.result()
        except asyncio.CancelledError as error:
            raise OwnCancelError().with_traceback(error.__traceback__) from None
    await _leave(task, own)
    raise own.error()


async def _leave(task: "asyncio.Task[Any]", turn: AgentTurn) -> None:
    """Cancel a turn, and let it end if it does so at once."""
    turn.due = asyncio.get_running_loop().time() + LAST
    task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # nobody else asks for its error
    task.cancel()
    await asyncio.wait({task}, timeout=LAST)


def drafts_in_time(messages: Sequence[BaseMessage]) -> list[Draft]:
    """The messages and calls of an agent in a turn beyond its timeout, or a draft without a text."""
    return drafts_of(messages) or [Draft(text="")]
