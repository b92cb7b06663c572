"""How a conversation begins: its id, its provenance, the messages it already has, each side's memory."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from pydantic import ValidationError

from ...data.identity import VERSION, begun_with, digest
from ...data.provenance import SIDES
from ...data.records import Conversation, Message
from ...errors import first_invalid
from ...nodes.contract import ContractError, check_reason
from ...nodes.limits import Limits
from ...nodes.state import State, awaits_answer, merged, without_memories
from ...nodes.stops import until_spent
from ..casts.cast import Cast
from .recording import state_id


def of_cast(cast: Cast) -> dict[str, Any]:
    """The provenance that all conversations of a cast share: without limits, scenario and first messages."""
    return {
        "cast": cast.name,
        "nodes": {place: node.plain() for place, node in cast.describe().items()},
        "words": cast.words,
        "stop_reasons": cast.own_reasons,
        "prompts": cast.prompts.digests,
    }


def opening(state: State, cast: Cast, limits: Limits, described: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The first update of the state: the conversation's id, its provenance and the messages it already has.

    `described`: what `of_cast` gave for the cast, if it was asked before.
    """
    scenario = state.get("scenario")
    if not isinstance(scenario, dict):
        raise ContractError("the initial state has no 'scenario': give it one, such as simquac.scenario(topic)")
    memories = state.get("memories", {})
    if not isinstance(memories, dict) or not all(
        side in SIDES.values() and isinstance(memory, dict) for side, memory in memories.items()
    ):
        raise ContractError("the initial state's 'memories': expected an object for each side, such as {'user': {}}")
    try:
        messages = tuple(Message.model_validate(message) for message in state.get("messages", []))
    except ValidationError as error:
        first = first_invalid(error)
        raise ContractError(f"the initial state's messages: {first.path}: {first.message}") from None
    first_messages = [message.plain() for message in messages]
    begun = Conversation(id="", scenario=scenario, messages=messages)
    turn = sum(1 for exchange in begun.exchanges if any(message.stored for message in exchange.assistant))
    return {
        "scenario": deepcopy(scenario),  # what a node writes into it must not reach other conversations
        "id": state_id(state, cast.name),
        "ordinal": state.get("ordinal", 0),
        "repeat": state.get("repeat", 0),
        "messages": first_messages or _greeting(cast),
        "turn": turn,
        "opened": turn,
        "attempts": [],
        "drafts": [],
        "verdicts": [],
        "way": None,
        "unsaid": [],
        "memories": memories,
        "pending_memory": None,
        "record_memory": cast.record_memory,
        "stop": _spent(cast, state, first_messages, turn, limits),
        "provenance": {
            **(of_cast(cast) if described is None else described),
            "limits": limits.plain(),
            "data": digest(scenario),
            "version": VERSION,
        }
        | ({"begun": begun_with(first_messages)} if first_messages else {})
        | ({"forks": dict(forks)} if (forks := state.get("forks")) else {}),
    }


def _greeting(cast: Cast) -> list[dict[str, Any]]:
    """The assistant's greeting as a message; none if the cast has no greeting."""
    if cast.greeting is None:
        return []
    return [Message(role="assistant", text=cast.greeting, stored=False).plain()]


def _spent(cast: Cast, state: State, messages: list[dict[str, Any]], turn: int, limits: Limits) -> str | None:
    """The stop reason of a conversation whose first messages already reach a limit; None if it may go on."""
    begun = merged(state, {"messages": messages, "turn": turn, "opened": turn})
    if not messages or awaits_answer(begun):
        return None
    reason = cast.stop(without_memories(begun), limits)
    return check_reason(cast.stop, reason, cast.own_reasons) or until_spent(begun, limits)
