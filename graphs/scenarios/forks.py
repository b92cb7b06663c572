"""Initial states from stored conversations: a fork at one of its messages, and a replay from its beginning."""

from collections.abc import Iterator, Mapping
from typing import Any

from ...data.executed_graph import SPEAKER_OF
from ...data.identity import begun_with
from ...data.records import Conversation, Fork, NodeInfo, Role
from ...data.scenarios import scenario_of
from ...errors import DataError, SettingError
from ...nodes.speakers.agents import CHANNELS, THREAD
from ...nodes.state import Planned


def forked(conversation: Conversation, at: int, *, source: str = "") -> Planned:
    """The state of a conversation, simulated, logged or of people, right after its message number `at`, from 0.

    The messages up to that one are kept as they are recorded, with every draft; the other side speaks next. The sides'
    memories are those that the record has; what it lacks is a note of `Provenance.forks`.

    `source`: name of the file or folder that holds the conversation. DataError if it has no message or says nothing of
    its scenario; SettingError if there is no such message, or nothing can follow it.
    """
    _check_last(conversation, at)
    state = _state(conversation)
    fork = Fork(id=conversation.id, at=at, source=source, notes=tuple(_notes(conversation, at)))
    return {
        **state,
        "messages": [message.plain() for message in conversation.messages[: at + 1]],
        "memories": _memories(conversation, at),
        "forks": fork.plain(),
    }


def replayed(conversation: Conversation, source: str = "") -> Planned:
    """The state of a replay, with id, scenario, repeat and first messages of the stored conversation.

    `source`: name of the file or folder that holds it. DataError if the conversation says nothing of its scenario.
    """
    record = conversation.model_dump(mode="json", exclude_defaults=True)
    state: Planned = {
        **_state(conversation),
        "id": conversation.id,
        "repeat": conversation.repeat,
        "replays": {"record": record, "source": source},
    }
    if first := _first_messages(conversation):
        state["messages"] = first
    if conversation.forks is not None and not conversation.forks.answers_only:
        state["forks"] = conversation.forks.model_dump(exclude_defaults=True)
    return state


def _state(conversation: Conversation) -> Planned:
    """Scenario, number and `extra`: of a simulated conversation as they are, else those of a scenario made of it."""
    subject = scenario_of(conversation)
    if subject is None:
        raise DataError(f"{conversation.id}: has no goal and no words of a user, of which a user could be made")
    origin = subject if conversation.provenance is None else conversation
    state: Planned = {"scenario": dict(origin.scenario), "ordinal": conversation.ordinal}
    return {**state, "extra": dict(origin.extra)} if origin.extra else state


def _first_messages(conversation: Conversation) -> list[dict[str, Any]]:
    """The messages that a simulated conversation began with."""
    begun = conversation.provenance.begun if conversation.provenance is not None else ""
    messages: list[dict[str, Any]] = []
    for message in conversation.messages if begun else ():
        messages.append(message.plain())
        if begun_with(messages) == begun:
            return messages
    return []


def _check_last(conversation: Conversation, at: int) -> None:
    """DataError or SettingError if a message cannot be the last that is kept."""
    count = len(conversation.messages)
    if not count:
        raise DataError(f"{conversation.id}: has no message that could be kept: simulate it from its beginning")
    if isinstance(at, bool) or not isinstance(at, int) or not 0 <= at < count:
        messages = "only #0" if count == 1 else f"#0 to #{count - 1}"
        raise SettingError(f"at {at!r}: {conversation.id} has {messages}: give the number of the last message to keep")
    last = conversation.messages[at]
    if last.role == "user" and not last.stored and last.name is None:
        raise SettingError(
            f"at {at}: message #{at} of {conversation.id} is the user's goodbye, which gets no reply: "
            "give an earlier message"
        )


def _memories(conversation: Conversation, at: int) -> dict[Role, dict[str, Any]]:
    """What each side kept for itself at a message, as far as the record has it."""
    memories: dict[Role, dict[str, Any]] = {}
    at_its_end = at == len(conversation.messages) - 1
    for role in SPEAKER_OF:
        memory = dict(conversation.memory.get(role, {})) if at_its_end else {}
        memory.pop(THREAD, None)  # a fork has threads of its own
        own = [message for message in conversation.messages[: at + 1] if message.role == role]
        if own and own[-1].kept:
            memory[CHANNELS] = dict(own[-1].kept)
        if memory:
            memories[role] = memory
    return memories


def _notes(conversation: Conversation, at: int) -> Iterator[str]:
    """What the record lacks of the sides' memories at a message, a line each."""
    nodes: Mapping[str, NodeInfo] = conversation.provenance.nodes if conversation.provenance is not None else {}
    for role, place in SPEAKER_OF.items():
        memory = conversation.memory.get(role)
        settings = nodes[place].settings if place in nodes else {}
        if (
            memory and at < len(conversation.messages) - 1 and "agent" not in settings
        ):  # of an agent each message has them
            yield f"the memory of the {role} at message #{at} is not recorded, only the one at the end"
        if "agent" in settings:
            yield f"the {role} begins a new thread with these messages; what else its thread and store held is not recorded"
