"""What a text names that is the user's own: an object by its import path, `module:name`, or a graph on a server."""

import sys
from contextlib import suppress
from functools import partial
from inspect import iscoroutinefunction, isroutine
from pathlib import Path
from pkgutil import resolve_name
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit, urlunsplit

from langchain_core.runnables import Runnable
from langgraph.graph.state import StateGraph

from ...data.identity import digest
from ...data.tracing import host_of
from ...errors import DuologueError, SettingError, kind
from ..contract import ContractError, check_node, is_reply, required_parameters
from ..models.specs import is_import_path
from .redaction import error_line, keep_url_secrets


def imported(path: str, what: str) -> Any:
    """The object of an import path; the working folder is searched too.

    SettingError begins with `what`, and says what is wrong: the form, the import with its line, or the name.
    """
    if not is_import_path(path):
        raise SettingError(f"{what}: {path.partition('?')[0]!r} is no import path: give MODULE:NAME")
    if (folder := str(Path.cwd())) not in sys.path:
        sys.path.append(folder)  # and left there, for imports that the module makes later
    try:
        return resolve_name(path)
    except (Exception, SystemExit) as error:
        why = error_line(error, placed=True)
        raise SettingError(f"{what}: {path} cannot be imported in {folder}: {why}") from error


def code_of(path: str) -> dict[str, str] | None:
    """The name of an import path, and a digest of its module's file: that of another version differs; None without a file."""
    module = path.partition("?")[0].partition(":")[0]
    file = getattr(sys.modules.get(module), "__file__", None)
    try:
        return {"name": module, "source": digest(Path(file).read_text("utf-8"))[:16]} if file else None
    except (OSError, ValueError):
        return None


def import_path_of(value: object) -> str | None:
    """The import path with which another process can import this function; None without one."""
    path = f"{getattr(value, '__module__', '')}:{getattr(value, '__qualname__', '')}"
    try:
        can_be = isroutine(value) and is_import_path(path) and not path.startswith("__main__:")
        return path if can_be and imported(path, "") is value else None
    except SettingError:
        return None


# What takes part in a conversation

OWN = "a LangGraph agent, a chat model, a function of messages, a node, or a function without arguments that makes one"
REMOTE = "agent:"
"""Prefix of the spec of a graph on a LangGraph server."""


def speaking(path: str, what: str) -> Any:
    """The object of an import path, ready to take part: a graph is compiled, a function without arguments is called.

    SettingError gives in one line what cannot be imported (it begins with `what`), fails, or does not speak.
    """
    value = imported(path, what)
    is_function = isroutine(value) or isinstance(value, partial)
    try:
        if is_function and required_parameters(value) == [] and not iscoroutinefunction(value):
            value = value()
        value = value.compile() if isinstance(value, StateGraph) else value
    except DuologueError:
        raise
    except (Exception, SystemExit) as error:
        raise SettingError(f"{path}: failed: {error_line(error, placed=True)}") from error
    with suppress(ContractError, ValueError):  # the latter of some built-in functions
        if not is_reply(value):
            check_node(path, value)
        return value
    raise SettingError(f"{path}: is no speaker but {kind(value)}: give {OWN}")


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
