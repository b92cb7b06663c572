"""The record of a conversation that a harness held: whole, and with the scores of a run."""

from collections.abc import Iterable
from itertools import takewhile
from typing import Any

from langgraph.runtime import Runtime

from ..data.records import Conversation
from ..nodes.scorers.scores import Scoring
from ..nodes.scorers.success import KEY, with_success_of_scenario
from ..nodes.state import Update, ended_state
from .simulated_users import Heard, User, UserEnded, messages_of


async def scored_record(
    user: User, messages: Iterable[Heard], ended: UserEnded | None, success: Any = None
) -> Conversation:
    """The record of the user's conversation, with the score `success` that a run would give it.

    Args:
        user: The user, who gave its answer to these messages.
        messages: All messages of the conversation, with its calls of tools.
        ended: How the user ended it. None if something else did; then nothing is scored.
        success: What counts as success, as in a scenario. Default: whether the user left as one who has what it came
            for.
    """
    record = user.conversation
    if record.provenance is not None:  # the assistant was the harness's, not that of the cast
        nodes = {name: node for name, node in record.provenance.nodes.items() if node.role != "assistant"}
        record = record.model_copy(update={"provenance": record.provenance.model_copy(update={"nodes": nodes})})
    if success is not None:
        record = record.model_copy(update={"scenario": {**record.scenario, KEY: success}})
    if ended is None:
        after = takewhile(lambda message: message.role == "assistant", reversed(messages_of(messages)))
        return record.model_copy(update={"messages": (*record.messages, *reversed(list(after))), "stop": None})
    state = ended_state(record.model_copy(update={"stop": ended.reason}))
    runtime = Runtime(context=user.limits)
    update: Update = {}
    if isinstance(user.cast.closing, Scoring):
        update = await user.cast.closing(state, runtime)
    update = await with_success_of_scenario(update, state, runtime)
    return record.model_copy(update={"labels": {**record.labels, **update.get("labels", {})}, "stop": ended.reason})
