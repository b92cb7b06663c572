"""Agents elsewhere, by URL: graphs on a LangGraph server, and agents that speak the Agent2Agent protocol."""

import asyncio
import json
import secrets  # noqa: TID251 - a server may take a message with a known id for one that it has
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, cast
from urllib.parse import SplitResult, parse_qs, urljoin, urlsplit, urlunsplit

from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable
from langgraph.runtime import Runtime

from ...data.records import Role
from ...errors import SettingError, of_extra
from ..contract import ContractError, describe
from ..limits import Limits
from ..messages.attachments import worded
from ..messages.building import MessageBuilder, note, sends_prompt
from ..replies.agent_steps import TurnTimeoutError
from ..replies.conversion import drafts_of
from ..settings.env_file import is_loopback
from ..settings.redaction import host_of, keep_url_secrets
from ..state import State, Update
from .speaker import given_by
from .tools import ReadOnly
from .turn_timeout import TIMED_OUT, drafts_in_time, turn_seconds, within

REMOTE = "agent:"
"""Prefix of the spec of a graph on a LangGraph server."""
A2A = "a2a:"
"""Prefix of the spec of an agent that speaks the Agent2Agent protocol."""

FORM = "write agent:http://HOST:PORT?graph=NAME"
A2A_FORM = "write a2a:http://HOST:PORT"

GRAPH = "agent"
"""The default name of the server's graph, as in LangGraph's templates."""
POLL = 0.5
"""Seconds between two looks at a task that an agent has taken on and not ended."""


def remote_agent(spec: str) -> tuple[Runnable[Any, Any], Literal["all", "new"] | None]:
    """The graph of `agent:URL?graph=NAME&send=new`, and what it is sent; SettingError unless the URL is http or https.

    No key of this process is sent: the server has its own keys.
    """
    url, where = _address(spec.removeprefix(REMOTE), "a LangGraph server", FORM)
    try:
        arguments = parse_qs(url.query, strict_parsing=bool(url.query))
    except ValueError:
        raise SettingError(f"{where}: its arguments are unclear: {FORM}") from None
    if set(arguments) - {"graph", "send"}:
        raise SettingError(f"{where}: has an argument that there is not: only graph=NAME and send=new")
    send = arguments.get("send", [None])[-1]
    if send not in (None, "all", "new"):
        raise SettingError(f"{where}: send is all or new")
    name = arguments.get("graph", [GRAPH])[-1]
    from langgraph.pregel.remote import RemoteGraph  # imported on use, because it imports an HTTP client

    server = urlunsplit((url.scheme, url.netloc, url.path, "", ""))
    return RemoteGraph(name, url=server, api_key=None), cast('Literal["all", "new"] | None', send)


def a2a_agent(role: Role, spec: str, build: MessageBuilder) -> "A2ASpeaker":
    """The agent of `a2a:URL`; SettingError for another URL, and for an agent that is to play the user."""
    url, where = _address(spec.removeprefix(A2A), "an A2A agent", A2A_FORM)
    if role == "user":
        raise SettingError(f"{where}: an A2A agent has no instructions of ours, so it plays the assistant only")
    if url.query or url.fragment:
        raise SettingError(f"{where}: an A2A agent has no arguments: {A2A_FORM}")
    of_extra("a2a", "a2a")
    return A2ASpeaker(role, urlunsplit(url), build)


def _address(address: str, what: str, form: str) -> tuple[SplitResult, str]:
    """The parts of a server's address, and its name in an error; SettingError unless it is http or https."""
    where = f"agent at {host_of(address)}"
    try:
        url = urlsplit(address)
        called = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:
        url, called = urlsplit(""), False
    if not called or not address.isprintable() or set(" \\") & set(address):
        # Not quoted: an invalid address may hold a password all the same.
        raise SettingError(f"{where}: is not an address of {what}: {form}")
    if "@" in url.netloc:
        keep_url_secrets(address)
        raise SettingError(f"{where}: give the address without credentials: it is recorded")
    return url, where


class AgentTaskError(Exception):
    """A task that an agent did not end with an answer."""


class _Place(NamedTuple):
    """Where the conversation stands at the agent."""

    context: str
    """The id by which the agent knows the conversation."""
    task: str | None
    """The task that waits for the user; None if the last one is over."""
    seen: int
    """Number of the messages that the agent knows."""


@dataclass(frozen=True)
class A2ASpeaker:
    """Asks an agent by the Agent2Agent protocol (extra `a2a`), as its card at the URL has it.

    The agent keeps the conversation in a context of its own: it is sent only new messages. A task that asks for input is
    gone on with. No key of this process is sent.

    A retry is sent to the same context with the repair line, so the agent remembers the rejected draft. Only at the
    first turn it begins a new context.
    """

    role: Role
    url: str
    build: MessageBuilder
    """Builds the messages for a model that replaces the agent."""
    turn_timeout: float | None = None
    """Most seconds of a turn, as of an `AgentSpeaker`."""
    read_only: ClassVar[ReadOnly] = ()

    def prompted(self, state: State) -> bool:
        """Whether the selector's prompt is sent."""
        return sends_prompt(self.build, state)

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        memory, messages = dict(state.get("memory", {})), state.get("messages", [])
        place = _Place(*memory[A2A]) if A2A in memory else None
        new = messages[place.seen :] if place else messages
        texts = [worded(message) for message in new]
        if not texts or any(message["role"] == self.role for message in new):
            raise ContractError(
                f"{self.role}: an A2A agent begins with the user's message, and cannot be given answers of its own"
            )
        if (line := state.get("prompt")) and self.prompted(state):
            texts.append(note(line))
        seconds = turn_seconds(self.turn_timeout, runtime.context)
        try:
            text, context, task = await within(seconds, _answer(self.url, "\n\n".join(texts), place))
        except TurnTimeoutError:
            return {"drafts": drafts_in_time([]), "stop": TIMED_OUT[self.role]}
        drafts = drafts_of([AIMessage(text)])
        return {"drafts": drafts, "memory": {**memory, A2A: list(_Place(context, task, len(messages) + len(drafts)))}}

    def provenance(self) -> dict[str, Any]:
        return {"agent": "a2a", "view": describe(self.build), **given_by(None, self.url)}


async def _answer(url: str, text: str, place: _Place | None) -> tuple[str, str, str | None]:
    """The agent's answer, its context, and the task that waits for the user.

    SettingError for a card that leads to another host, AgentTaskError for a task without an answer; errors of the SDK.
    """
    import httpx
    from a2a.client import A2ACardResolver, ClientConfig, create_client
    from a2a.types.a2a_pb2 import GetTaskRequest, Message, Part, SendMessageRequest, TaskState
    from a2a.types.a2a_pb2 import Role as Sender

    async with httpx.AsyncClient(timeout=None) as http:  # a turn has a limit of ours
        card = await A2ACardResolver(http, url).get_agent_card()
        for interface in card.supported_interfaces:
            interface.url = urljoin(url, interface.url)
        elsewhere = [one.url for one in card.supported_interfaces if not _is_same_host(one.url, url)]
        if elsewhere:
            raise SettingError(
                f"agent at {host_of(url)}: its card leads to {host_of(elsewhere[0])}: give the address of that host"
            )
        config = ClientConfig(httpx_client=http, streaming=False, supported_protocol_bindings=["JSONRPC", "HTTP+JSON"])
        client = await create_client(card, config)
        sent = Message(role=Sender.ROLE_USER, parts=[Part(text=text)], message_id=secrets.token_hex(16))
        if place is not None:
            sent.context_id, sent.task_id = place.context, place.task or ""
        try:
            [response] = [part async for part in client.send_message(SendMessageRequest(message=sent))]
        except TypeError:  # the SDK's, for a result that is null
            raise AgentTaskError("the agent's response has no result") from None
        if response.HasField("message"):
            return _text(response.message.parts), response.message.context_id, None
        task = response.task
        while task.status.state in (TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING):
            await asyncio.sleep(POLL)
            task = await client.get_task(GetTaskRequest(id=task.id))
        answer = _task_text(task)
        waits = task.status.state == TaskState.TASK_STATE_INPUT_REQUIRED
        if not waits and task.status.state != TaskState.TASK_STATE_COMPLETED:
            state = TaskState.Name(task.status.state).removeprefix("TASK_STATE_").lower()
            raise AgentTaskError(f"the agent's task ended as {state}: {answer}".rstrip(": "))
        return answer, task.context_id, task.id if waits else None


def _is_same_host(one: str, other: str) -> bool:
    """Whether two addresses are of one host; every name of this machine is one."""
    return urlsplit(one).hostname == urlsplit(other).hostname or (is_loopback(one) and is_loopback(other))


def _task_text(task: Any) -> str:
    """What a task says: its status, then its artifacts; without both, the agent's last message."""
    texts = [_text(task.status.message.parts), *(_text(artifact.parts) for artifact in task.artifacts)]
    texts = list(dict.fromkeys(text for text in texts if text))
    own = [message for message in task.history if message.role == 2]
    return "\n\n".join(texts) or (_text(own[-1].parts) if own else "")


def _text(parts: Iterable[Any]) -> str:
    """The texts of parts; data as JSON, and a file by its name."""
    from google.protobuf.json_format import MessageToDict

    texts: list[str] = []
    for part in parts:
        kind = part.WhichOneof("content")
        if kind == "text":
            texts.append(part.text)
        elif kind == "data":
            texts.append(json.dumps(MessageToDict(part.data), ensure_ascii=False))
        else:
            texts.append(f"[{part.filename or part.url or part.media_type or 'a file'}]")
    return "\n".join(texts)
