"""What a text names that is the user's own: an object by import path, or a graph on a LangGraph server by its URL."""

import inspect
import re
from functools import partial
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit, urlunsplit

from langchain_core.runnables import Runnable
from langgraph.graph.state import StateGraph

from ...errors import DuologueError, ModelError, SettingError, kind
from ..contract import ContractError, check_node, required_parameters
from ..models.specs import PROVIDERS, chat_model
from ..settings.import_path import imported
from ..settings.redaction import error_line, keep_url_secrets
from ..settings.tracing import host_of
from .speaker import is_reply

OWN = "a LangGraph agent, a chat model, a function of messages, a node, or a function without arguments that makes one"
FORMS = "openai:NAME, PROVIDER:NAME, offline, replay:PATH, people:PATH or agent:URL"
REMOTE = "agent:"
"""Prefix of the spec of a graph on a LangGraph server."""


def check_form(text: str, what: str) -> None:
    """Raise SettingError for the name of a file or a bare word where an import path was meant."""
    file = re.fullmatch(r"(?:\./)?([\w./-]+)\.py(?::(\w+))?", text)
    if file or (text.isidentifier() and text not in PROVIDERS):
        path = f"{file[1].replace('/', '.')}:{file[2] or 'NAME'}" if file else f"{text}:NAME"
        raise SettingError(
            f"{what}: model {text!r} is unknown: use {FORMS}, or an agent of yours as MODULE:NAME, here {path}"
        )


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
    if isinstance(value, str):
        try:
            return chat_model(value)
        except ModelError as error:
            raise SettingError(f"{path}: is a text and names no model ({error}); an agent takes the messages") from None
    try:
        if not is_reply(value):
            check_node(path, value)
    except (ContractError, ValueError):  # the latter of some built-in functions
        one = f"the class {value.__name__}: give an instance, or" if isinstance(value, type) else f"{kind(value)}: give"
        raise SettingError(f"{path}: is no speaker but {one} {OWN}") from None
    return value


def channels_named(query: str, choice: str) -> dict[str, Any]:
    """Which channels of a graph without `messages` are read and answer, of `in=NAME&out=NAME` after an import path."""
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
    try:
        url = urlsplit(address)
        arguments = parse_qs(url.query, strict_parsing=bool(url.query))
        is_clear = address.isprintable() and not set(" \\") & set(address) and arguments.keys() <= {"graph"}
        if url.scheme not in ("http", "https") or not url.hostname or url.port == 0 or not is_clear:
            raise ValueError
    except ValueError:
        expected = "write agent:http://HOST:PORT?graph=NAME"
        raise SettingError(f"{where}: is not an address of a LangGraph server: {expected}") from None
    if "@" in url.netloc:
        keep_url_secrets(address)
        raise SettingError(f"{where}: give the address without credentials: it is recorded")
    server = urlunsplit((url.scheme, url.netloc, url.path, "", ""))
    return RemoteGraph(arguments.get("graph", ["agent"])[-1], url=server, api_key=None)
