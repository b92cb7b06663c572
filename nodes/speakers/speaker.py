"""Speakers that ask a chat model, what these share with agents, and what a text names that is the user's own."""

import inspect
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self, cast
from urllib.parse import parse_qs, parse_qsl, urlsplit, urlunsplit

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable
from langgraph.graph.state import StateGraph
from langgraph.runtime import Runtime

from ...data.records import Role
from ...data.tracing import host_of
from ...errors import DuologueError, SettingError, kind
from ...prompts import PromptError
from ..calls.service import drafted
from ..calls.store import Call
from ..contract import ContractError, check_node, describe, required_parameters
from ..limits import Limits
from ..messages import MessageBuilder, PageMessages
from ..models.offline.model import OfflineChatModel
from ..models.offline.reading import GOAL_MARKS
from ..models.specs import chat_model, model_provenance
from ..settings.import_path import imported
from ..settings.redaction import error_line, keep_url_secrets
from ..state import State, Update, attempt_number, id_of, repeats


class Speaker:
    """What a model, a function and an agent have in common that play a side: whose part it is, and what they are sent."""

    role: Role
    build: MessageBuilder | None

    def placed(self, view: MessageBuilder) -> Self:
        """The same speaker on a side of a cast with this view, where it has none of its own."""
        return self if self.build is not None else cast(Self, replace(cast(Any, self), build=view))

    def sent(self, state: State) -> list[BaseMessage]:
        """The messages that it is sent; ContractError where no cast has given it a view."""
        if self.build is None:
            raise ContractError(f"{self.role}: the speaker stands in no cast, whose view it would be sent: give build=")
        return self.build(state)


@dataclass(frozen=True)
class ChatSpeaker(Speaker):
    """Asks a chat model for one message; `build` makes its messages from the state."""

    role: Role
    model: BaseChatModel
    build: MessageBuilder | None = None
    """None: the view of its side of the cast."""
    path: str | None = None
    """The import path that the model was given by."""
    read_only: ClassVar[bool] = True
    """The model's tool calls are not carried out."""

    def placed(self, view: MessageBuilder) -> Self:
        """The same speaker on a side with this view; an offline model without a part gets that of the view, or the side.

        PromptError if it plays a user with a goal and the pages do not mark the goal: it reads marks, not words.
        """
        if self.build is not None:
            return self
        part = "goal_user" if self.role == "user" else "task_assistant"
        model, material = chat_model(self.model, side=getattr(view, "offline", part)), "user/material"
        if isinstance(model, OfflineChatModel) and model.side == "goal_user" and isinstance(view, PageMessages):
            marks = view.pages[material].marks if material in view.pages else ()
            if not any(mark in GOAL_MARKS for mark in marks):
                raise PromptError(
                    f"prompt {material}: the offline user finds no goal in it: write <goal>{{{{ goal }}}}</goal> there, "
                    "and the user's facts as <facts>{{ facts }}</facts>"
                )
        return replace(self, model=model, build=view)

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        call = speaker_call(self.role, state, runtime.context)
        return {"drafts": [await drafted(self.model, self.sent(state), call, attempt_number(state, self.role))]}

    def provenance(self) -> dict[str, Any]:
        return {
            "model": model_provenance(self.model),
            "view": describe(self.build),
            **({"object": self.path} if self.path else {}),
        }


def is_reply(function: object) -> bool:
    """Whether the object is a function of messages only, and not a node, whose first parameter is named `state`."""
    if not callable(function) or isinstance(function, (type, Runnable)):
        return False
    needed = [one for one in required_parameters(function) or () if one.kind is not one.KEYWORD_ONLY]
    return len(needed) == 1 and next(iter(inspect.signature(function).parameters)) != "state"


def speaker_call(role: Role, state: State, limits: Limits) -> Call:
    """The call of a speaker's turn; its attempt is `attempt_number(state, role)`."""
    return Call(limits.seed, id_of(state), role, state.get("turn", 0), repeats=repeats(state, role))


# What a text names that is the user's own

OWN = "a LangGraph agent, a chat model, a function of messages, a node, or a function without arguments that makes one"
REMOTE = "agent:"
"""Prefix of the spec of a graph on a LangGraph server."""


def speaking(path: str, what: str) -> Any:
    """The object of an import path, ready to take part: a graph is compiled, a function without arguments is called.

    SettingError gives in one line what cannot be imported (it begins with `what`), fails, or does not speak.
    """
    value = imported(path, what)
    is_function = inspect.isroutine(value) or isinstance(value, partial)
    try:
        if is_function and required_parameters(value) == [] and not inspect.iscoroutinefunction(value):
            value = value()
        if isinstance(value, StateGraph):
            value = value.compile()
    except DuologueError:
        raise
    except (Exception, SystemExit) as error:
        raise SettingError(f"{path}: failed: {error_line(error, placed=True)}") from error
    try:
        if not is_reply(value):
            check_node(path, value)
    except (ContractError, ValueError):  # the latter of some built-in functions
        one = f"the class {value.__name__}: give an instance, or" if isinstance(value, type) else f"{kind(value)}: give"
        raise SettingError(f"{path}: is no speaker but {one} {OWN}") from None
    return value


def channels_named(query: str, choice: str) -> dict[str, Any]:
    """Which channels of a graph get the words and answer, of `in=NAME&out=NAME` after an import path; else SettingError."""
    named = dict(parse_qsl(query))
    if set(named) != {"in", "out"}:
        raise SettingError(f"{choice}: after the import path of a graph only ?in=NAME&out=NAME may stand")
    return {"reads": named["in"], "answers": named["out"]}


def remote_agent(spec: str) -> Runnable[Any, Any]:
    """The graph of `agent:URL?graph=NAME`, by default `agent` as in LangGraph's templates.

    No key of this process is sent: the server has its own keys. SettingError for another form, which is not quoted: it
    may hold a password all the same.
    """
    from langgraph.pregel.remote import RemoteGraph  # imported on use, because it imports an HTTP client

    address = spec.removeprefix(REMOTE)
    where = f"agent at {host_of(address)}"
    with suppress(ValueError):
        url = urlsplit(address)
        arguments = parse_qs(url.query, strict_parsing=bool(url.query))
        if "@" in url.netloc:
            keep_url_secrets(address)
            raise SettingError(f"{where}: give the address without credentials: it is recorded")
        is_whole = url.scheme in ("http", "https") and url.hostname and arguments.keys() <= {"graph"}
        if is_whole and address.isprintable() and not set(" \\") & set(address):
            server = urlunsplit((url.scheme, url.netloc, url.path, "", ""))
            return RemoteGraph(arguments.get("graph", ["agent"])[-1], url=server, api_key=None)
    raise SettingError(f"{where}: is not an address of a LangGraph server: write agent:http://HOST:PORT?graph=NAME")
