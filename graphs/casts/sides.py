"""The node for one role of a conversation, from a model identifier, model, agent, function or node."""

from dataclasses import replace
from typing import Any, TypeAlias, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable

from ...data.records import Role
from ...nodes.contract import Node
from ...nodes.messages.building import MessageBuilder, Talk
from ...nodes.models.specs import names_model
from ...nodes.people import WithPeople, of_spec, source_path
from ...nodes.settings.import_path import is_import_path
from ...nodes.speakers.agents import AgentSpeaker
from ...nodes.speakers.import_path_speakers import check_form, speaking
from ...nodes.speakers.offline_roles import taking_part
from ...nodes.speakers.remote import REMOTE, remote_agent
from ...nodes.speakers.replay import ReplaySpeaker, replayed_path
from ...nodes.speakers.speaker import ChatSpeaker, FunctionSpeaker, SpeakerReply, is_reply

Speaker: TypeAlias = str | BaseChatModel | Runnable[Any, Any] | Node | SpeakerReply
"""A model's spec, a chat model, an agent that speaks `messages`, a function of messages, or a node."""

OWN = (AgentSpeaker, FunctionSpeaker, WithPeople)
"""Speakers that are made before their cast is known: what they are sent depends on the cast that they stand in."""


def side(role: Role, choice: Speaker, build: MessageBuilder, offline: str | None = None) -> Node:
    """The node for one role of the conversation: as `speaker`, with more model identifiers.

    Args:
        role: The role that it plays.
        choice: An object that `speaker` takes, or a model identifier. `replay:PATH` replays stored conversations,
            `people:PATH` draws turns from them. A model with `?like=PATH` or `?rewrite=PATH` writes a user with their
            help. `agent:URL` calls a graph on a LangGraph server. `MODULE:NAME` is an object of your own: a node, an
            agent, a chat model, or a function. `PROVIDER:NAME` is a model, unless the working folder has such an
            object.
        build: Builds the messages for a model.
        offline: The role of the offline model, by default a user with a goal or a helper, as for `speaker`.

    Returns:
        The node.
    """
    if isinstance(choice, str):
        check_form(choice, role)
        if (path := replayed_path(choice)) is not None:
            return ReplaySpeaker.of(path, role)
        if source_path(choice) is not None:
            return speaker(role, of_spec(choice, role), build, offline)
        if choice.startswith(REMOTE):
            agent, send = remote_agent(choice)
            return AgentSpeaker(role, agent, _view(role, build), url=choice.removeprefix(REMOTE), send=send)
        if is_import_path(choice) and not names_model(choice):
            own = speaking(choice, role)
            node = speaker(role, own, build, offline)
            if node is own or not isinstance(node, (AgentSpeaker, ChatSpeaker, FunctionSpeaker)):
                return node
            return replace(node, path=choice)
    return speaker(role, choice, build, offline)


def speaker(role: Role, choice: Speaker, build: MessageBuilder, offline: str | None = None) -> Node:
    """A model identifier, a chat model, an agent or a function of messages as a node.

    A node stays as it is.

    Args:
        role: The role that it plays.
        choice: The model, agent, function or node.
        build: Builds the messages for a model, and for an agent or a function as the user. As the assistant these get
            the conversation (`nodes.Talk`), unless they are an `AgentSpeaker` or `FunctionSpeaker` with `system=True`.
        offline: The role of the offline model. Default: a user with a goal (`goal_user`), which needs the goal between
            <goal> and </goal>, or a helper (`task_assistant`).

    Returns:
        The node.
    """
    if isinstance(choice, (str, BaseChatModel)):
        return ChatSpeaker(role, taking_part(choice, role, build, offline), build)
    if isinstance(choice, Runnable) and not callable(choice):
        return AgentSpeaker(role, choice, _view(role, build))
    if is_reply(choice):
        return FunctionSpeaker(role, cast(SpeakerReply, choice), _view(role, build))
    return choice.placed(build) if isinstance(choice, OWN) else cast(Node, choice)


def _view(role: Role, build: MessageBuilder) -> MessageBuilder:
    """What an agent or a function is sent: as the assistant the conversation; a user has to know its part."""
    return Talk(role, instead=build) if role == "assistant" else build
