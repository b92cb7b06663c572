"""A simulated user in the simulations of openevals 0.2: the user, and the condition that ends them with it.

    import duologue
    from duologue.hosts import openevals
    from openevals.simulators import run_multiturn_simulation

    customer = duologue.user(goal="move my flight", facts=["The code is QX4821."])
    run_multiturn_simulation(app=my_app, **openevals.sides(customer), max_turns=10)

openevals calls the user with the trajectory, a list of messages in OpenAI's form, and lets it end nothing by itself.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ..data.identity import digest
from ..errors import ModelError, SettingError
from .users import User, UserEnded


def sides(user: User, *, awaited: bool = False) -> dict[str, Any]:
    """The arguments `user` and `stopping_condition` of `run_multiturn_simulation`.

    Args:
        user: The simulated user.
        awaited: Give those of `run_multiturn_simulation_async`.

    Raises:
        ModelError: While it simulates, if the user's model or code fails at its first message.

    Example::

        >>> import duologue
        >>> from duologue.hosts import openevals
        >>> sorted(openevals.sides(duologue.user(goal="book a table")))
        ['stopping_condition', 'user']
    """

    async def reply(trajectory: Sequence[Mapping[str, Any]], *, turn_counter: int = 0, **_: Any) -> dict[str, Any]:
        answer = await user.reply(trajectory)
        ended = answer if isinstance(answer, UserEnded) else None
        if ended is not None and ended.failure:
            raise ModelError(f"the simulated user failed: {ended.failure}")
        message = answer.message if isinstance(answer, UserEnded) else answer
        if message is None or (ended is not None and turn_counter):  # a user may leave with its first message
            raise SettingError("the user has ended the conversation: give the simulation openevals.sides whole")
        name = digest("openevals", len(trajectory), message.text)[:32]
        return {"role": "user", "content": message.text, "id": name}

    async def stop(trajectory: Sequence[Mapping[str, Any]], **_: Any) -> bool:
        return isinstance(await user.reply(trajectory), UserEnded)

    if awaited:
        return {"user": reply, "stopping_condition": stop}
    from ..runs import blocking

    return {
        "user": lambda trajectory, **more: blocking(reply(trajectory, **more)),
        "stopping_condition": lambda trajectory, **more: blocking(stop(trajectory, **more)),
    }
