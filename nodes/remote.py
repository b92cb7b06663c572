"""An assistant on a LangGraph server, by its URL: the graph is called there, as one's own is called here."""

from typing import Any
from urllib.parse import parse_qs, urlsplit, urlunsplit

from langchain_core.runnables import Runnable

from ..errors import SettingError
from .environment import host_of

REMOTE = "agent:"
"""What the spec of a remote agent begins with."""

GRAPH = "agent"
"""The graph of the server that is called where the spec names none, as LangGraph's templates call it."""


def remote_agent(spec: str) -> Runnable[Any, Any]:
    """The graph of `agent:URL?graph=NAME`; SettingError unless the URL is one of http or https.

    The server holds its own keys: none of this process is sent there.
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
    if unknown := sorted(set(arguments) - {"graph"}):
        raise SettingError(f"agent at {host_of(url.geturl())}: there is no argument {unknown[0]!r}, only graph=NAME")
    name = arguments.get("graph", [GRAPH])[-1]
    from langgraph.pregel.remote import RemoteGraph  # brings an HTTP client along: only when it is used

    address = urlunsplit((url.scheme, url.netloc, url.path, "", ""))
    return RemoteGraph(name, url=address, api_key=None)
