"""Agents on a LangGraph server, by URL."""

from typing import Any, Literal, cast
from urllib.parse import parse_qs, urlsplit, urlunsplit

from langchain_core.runnables import Runnable

from ..errors import SettingError
from .environment import host_of

REMOTE = "agent:"
"""Prefix of the spec of a remote agent."""

GRAPH = "agent"
"""The default name of the server's graph, as in LangGraph's templates."""


def remote_agent(spec: str) -> tuple[Runnable[Any, Any], Literal["all", "new"] | None]:
    """The graph of `agent:URL?graph=NAME&send=new`, and what it is sent; SettingError unless the URL is http or https.

    No key of this process is sent: the server has its own keys.
    """
    url = urlsplit(spec.removeprefix(REMOTE))
    if url.scheme not in ("http", "https") or not url.hostname:
        raise SettingError(f"{spec}: is no address of a LangGraph server: write agent:http://HOST:PORT?graph=NAME")
    if "@" in url.netloc:
        raise SettingError(
            f"agent at {host_of(url.geturl())}: give the address without credentials: a spec is recorded"
        )
    try:
        arguments = parse_qs(url.query, strict_parsing=bool(url.query))
    except ValueError:
        arguments = {"?": []}
    if unknown := sorted(set(arguments) - {"graph", "send"}):
        raise SettingError(
            f"agent at {host_of(url.geturl())}: there is no argument {unknown[0]!r}, only graph=NAME and send=new"
        )
    send = arguments.get("send", [None])[-1]
    if send not in (None, "all", "new"):
        raise SettingError(f"agent at {host_of(url.geturl())}: send is all or new, not {send!r}")
    name = arguments.get("graph", [GRAPH])[-1]
    from langgraph.pregel.remote import RemoteGraph  # imported on use, because it imports an HTTP client

    address = urlunsplit((url.scheme, url.netloc, url.path, "", ""))
    return RemoteGraph(name, url=address, api_key=None), cast('Literal["all", "new"] | None', send)
