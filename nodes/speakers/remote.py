"""Agents elsewhere, by URL: graphs on a LangGraph server."""

from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit, urlunsplit

from langchain_core.runnables import Runnable

from ...data.settings.tracing import host_of
from ...errors import SettingError
from ..settings.redaction import keep_url_secrets

REMOTE = "agent:"
"""Prefix of the spec of a graph on a LangGraph server."""

FORM = "write agent:http://HOST:PORT?graph=NAME"

GRAPH = "agent"
"""The default name of the server's graph, as in LangGraph's templates."""


def remote_agent(spec: str) -> Runnable[Any, Any]:
    """The graph of `agent:URL?graph=NAME`; SettingError unless the URL is http or https.

    No key of this process is sent: the server has its own keys.
    """
    url, where = _address(spec.removeprefix(REMOTE))
    try:
        arguments = parse_qs(url.query, strict_parsing=bool(url.query))
    except ValueError:
        raise SettingError(f"{where}: its arguments are unclear: {FORM}") from None
    if set(arguments) - {"graph"}:
        raise SettingError(f"{where}: has an argument that there is not: only graph=NAME")
    name = arguments.get("graph", [GRAPH])[-1]
    from langgraph.pregel.remote import RemoteGraph  # imported on use, because it imports an HTTP client

    server = urlunsplit((url.scheme, url.netloc, url.path, "", ""))
    return RemoteGraph(name, url=server, api_key=None)


def _address(address: str) -> tuple[SplitResult, str]:
    """The parts of a server's address, and its name in an error; SettingError unless it is http or https."""
    where = f"agent at {host_of(address)}"
    try:
        url = urlsplit(address)
        called = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:
        url, called = urlsplit(""), False
    if not called or not address.isprintable() or set(" \\") & set(address):
        # Not quoted: an invalid address may hold a password all the same.
        raise SettingError(f"{where}: is not an address of a LangGraph server: {FORM}")
    if "@" in url.netloc:
        keep_url_secrets(address)
        raise SettingError(f"{where}: give the address without credentials: it is recorded")
    return url, where
