"""A simulated user in the simulations of openevals: the user, and the condition that ends them with it.

    import duologue
    from duologue.hosts import openevals
    from openevals.simulators import run_multiturn_simulation

    customer = duologue.user(goal="move my flight", facts=["The code is QX4821."])
    run_multiturn_simulation(app=my_app, **openevals.sides(customer), max_turns=10)

openevals 0.2 calls the user with the trajectory, a list of messages in OpenAI's form, and lets it end nothing by itself.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from ..data.identity import digest
from ..data.records import Message
from ..errors import SettingError
from .simulated_users import User, UserEnded

Trajectory: TypeAlias = Sequence[Mapping[str, Any]]


def sides(user: User, thread_id: str | None = None) -> dict[str, Any]:
    """The arguments `user` and `stopping_condition` of `run_multiturn_simulation`.

    Args:
        user: The simulated user.
        thread_id: The simulation's `thread_id`, which is then in the metadata of its runs in LangSmith too.

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

    def stopping_condition(trajectory: Trajectory, *, turn_counter: int = 0, **others: Any) -> bool:
        return isinstance(user.reply_now(trajectory), UserEnded)

    return {"user": simulated_user, "stopping_condition": stopping_condition, **_thread(thread_id)}


def async_sides(user: User, thread_id: str | None = None) -> dict[str, Any]:
    """The same for `run_multiturn_simulation_async`, which takes only plain `async def` functions."""

    async def simulated_user(
        trajectory: Trajectory, *, thread_id: str = "", turn_counter: int = 0, **others: Any
    ) -> dict[str, Any]:
        return message_of(await user.reply(trajectory), thread_id, turn_counter)

    async def stopping_condition(trajectory: Trajectory, *, turn_counter: int = 0, **others: Any) -> bool:
        return isinstance(await user.reply(trajectory), UserEnded)

    return {"user": simulated_user, "stopping_condition": stopping_condition, **_thread(thread_id)}


def message_of(answer: Message | UserEnded, thread_id: str, turn: int) -> dict[str, Any]:
    """The answer as a message with an id of its own; SettingError for an end without a message."""
    message = answer.message if isinstance(answer, UserEnded) else answer
    if message is None:
        reason = answer.failure or answer.reason if isinstance(answer, UserEnded) else ""
        raise SettingError(
            f"the user has ended the conversation ({reason}): give the simulation the stopping condition of openevals.sides"
        )
    return {"role": "user", "content": message.text, "id": digest("openevals", thread_id, turn, message.text)[:32]}


def _thread(thread_id: str | None) -> dict[str, Any]:
    if thread_id is None:
        return {}
    return {"thread_id": thread_id, "langsmith_extra": {"metadata": {"thread_id": thread_id}}}
