"""A simulated user in the simulations of openevals: the user, and the condition that ends them with it.

    import duologue
    from duologue.hosts import openevals
    from openevals.simulators import run_multiturn_simulation

    customer = duologue.user(goal="move my flight", facts=["The code is QX4821."])
    run_multiturn_simulation(app=my_app, **openevals.sides(customer), max_turns=10)

openevals 0.2 calls the user with the trajectory, a list of messages in OpenAI's form, and lets it end nothing by itself.
"""

from collections.abc import Callable, Mapping, Sequence
from inspect import isawaitable
from typing import Any, NoReturn, TypeAlias

from ..data.identity import digest
from ..data.records import Message
from ..errors import ModelError, SettingError
from .simulated_users import User, UserEnded

Trajectory: TypeAlias = Sequence[Mapping[str, Any]]
StoppingCondition: TypeAlias = Callable[..., Any]
"""A stopping condition of openevals."""


class _Verdict(int):
    """Whether to end; it cannot be awaited, as the asynchronous run would."""

    def __await__(self) -> NoReturn:
        raise SettingError("openevals.sides is for run_multiturn_simulation: give this one openevals.async_sides")


def sides(
    user: User, thread_id: str | None = None, *, stopping_condition: StoppingCondition | None = None
) -> dict[str, Any]:
    """The arguments `user` and `stopping_condition` of `run_multiturn_simulation`.

    Args:
        user: The simulated user.
        thread_id: The simulation's `thread_id`, which is then in the metadata of its runs in LangSmith too.
        stopping_condition: A further condition. The simulation ends with the user, or as soon as this is true.

    Raises:
        ModelError: While it simulates, if the user's model or code fails at its first message.

    Example::

        >>> import duologue
        >>> from duologue.hosts import openevals
        >>> sorted(openevals.sides(duologue.user(goal="book a table")))
        ['stopping_condition', 'user']
    """

    def simulated_user(
        trajectory: Trajectory, *, thread_id: str = "", turn_counter: int = 0, **others: Any
    ) -> dict[str, Any]:
        return message_of(user.reply_now(trajectory), thread_id, turn_counter)

    def stop(trajectory: Trajectory, *, turn_counter: int = 0, **others: Any) -> int:
        if stopping_condition is not None and stopping_condition(trajectory, turn_counter=turn_counter, **others):
            return _Verdict(True)
        return _Verdict(isinstance(user.reply_now(trajectory), UserEnded))

    return {"user": simulated_user, "stopping_condition": stop, **_thread(thread_id)}


def async_sides(
    user: User, thread_id: str | None = None, *, stopping_condition: StoppingCondition | None = None
) -> dict[str, Any]:
    """The same for `run_multiturn_simulation_async`, whose evaluators are `async def` too.

    The further condition may be either kind of function.
    """

    async def simulated_user(
        trajectory: Trajectory, *, thread_id: str = "", turn_counter: int = 0, **others: Any
    ) -> dict[str, Any]:
        return message_of(await user.reply(trajectory), thread_id, turn_counter)

    async def stop(trajectory: Trajectory, *, turn_counter: int = 0, **others: Any) -> bool:
        if stopping_condition is not None:
            ended = stopping_condition(trajectory, turn_counter=turn_counter, **others)
            if await ended if isawaitable(ended) else ended:
                return True
        return isinstance(await user.reply(trajectory), UserEnded)

    return {"user": simulated_user, "stopping_condition": stop, **_thread(thread_id)}


def message_of(answer: Message | UserEnded, thread_id: str, turn: int) -> dict[str, Any]:
    """The answer as a message with an id of its own.

    A user may leave with its first message. SettingError for any other end: a stopping condition was to see it.
    ModelError if there is no first message because the user failed.
    """
    message = answer.message if isinstance(answer, UserEnded) else answer
    if isinstance(answer, UserEnded) and answer.failure:
        raise ModelError(f"the simulated user failed: {answer.failure}")
    if message is None or (isinstance(answer, UserEnded) and turn):
        reason = answer.reason if isinstance(answer, UserEnded) else ""
        raise SettingError(
            f"the user has ended the conversation ({reason}): give the simulation the stopping condition of "
            "openevals.sides, with one of yours as sides(user, stopping_condition=...)"
        )
    return {"role": "user", "content": message.text, "id": digest("openevals", thread_id, turn, message.text)[:32]}


def _thread(thread_id: str | None) -> dict[str, Any]:
    if thread_id is None:
        return {}
    return {"thread_id": thread_id, "langsmith_extra": {"metadata": {"thread_id": thread_id}}}
