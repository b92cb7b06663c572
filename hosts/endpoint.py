"""A simulated user behind an OpenAI-compatible endpoint of this machine (extra `serve`).

Every harness that lets a model play the user can ask it. The answer is a function of scenario, seed and messages. With a
session, named by a header or the field `user`, the user also keeps its memory and its record from answer to answer.
"""

import asyncio
import secrets  # noqa: TID251 - compares a token in the same time, right or wrong
import socket
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from ..data.records import Conversation
from ..errors import DataError, DuologueError, SettingError, of_extra
from ..nodes.calls.service import kept_in
from ..nodes.calls.spending import Spending
from ..nodes.calls.store import Replies
from ..views.doors import HEADERS, wrong_place
from .chat_completions import OWNER, ChatRequest, RefusedRequestError, chunks, completion, heard
from .simulated_users import User

UserOf: TypeAlias = Callable[[int], User]
"""Makes the user of a seed."""

SESSION = "x-session-id"
"""Header that names a session; the field `user` of a request does too."""
MOST_SESSIONS = 1_024
"""Sessions that are kept: the one that was asked longest ago is forgotten first."""
LARGEST = 1 << 24
"""Bytes of the largest request, 16 MiB."""
GONE = 499
"""Status of a request whose client has left, as servers log it."""


class ServedUsers:
    """Simulated users by the names under which they are asked for, and their sessions.

    `seed` counts where a request has none. `unswapped`: requests hold the conversation with its own roles.
    """

    def __init__(self, users: Mapping[str, UserOf], *, seed: int = 0, unswapped: bool = False) -> None:
        self._users, self._seed, self._unswapped = dict(users), seed, unswapped
        self._sessions: OrderedDict[tuple[str, str, int], User] = OrderedDict()

    def models(self) -> list[dict[str, Any]]:
        """The users as models."""
        return [{"id": name, "object": "model", "created": 0, "owned_by": OWNER} for name in self._users]

    async def answer(self, request: ChatRequest, session: str | None) -> dict[str, Any]:
        """The completion of a request; RefusedRequestError for a wrong request."""
        messages = heard(request.messages, unswapped=self._unswapped)
        user = self._user(request.model, self._seed if request.seed is None else request.seed, session or request.user)
        try:
            return completion(request, await user.reply(messages))
        except RefusedRequestError:
            raise
        except (DataError, SettingError) as error:
            raise RefusedRequestError(400, str(error), param="messages") from None
        except DuologueError as error:
            raise RefusedRequestError(502, str(error), code="model_failed") from None

    def record(self, session: str) -> Conversation:
        """The record of the last answer in a session; RefusedRequestError with status 404 without such a session."""
        for key in reversed(self._sessions):
            if key[0] == session:
                return self._sessions[key].conversation
        raise RefusedRequestError(404, f"there is no session {session!r}", code="session_not_found")

    def _user(self, name: str, seed: int, session: str | None) -> User:
        if name not in self._users:
            names = ", ".join(list(self._users)[:20])
            line = f"model: there is no user {name!r}, only {names}"
            raise RefusedRequestError(404, line, code="model_not_found", param="model")
        if session is None:
            return self._users[name](seed)
        key = (session, name, seed)
        if key not in self._sessions:
            self._sessions[key] = self._users[name](seed)
        self._sessions.move_to_end(key)
        while len(self._sessions) > MOST_SESSIONS:
            self._sessions.popitem(last=False)
        return self._sessions[key]


def application(users: ServedUsers, token: str | None = None) -> Any:
    """The endpoint as an ASGI application; with a `token` it is the key that clients must send."""
    of_extra("starlette", "serve")
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response, StreamingResponse
    from starlette.routing import Route

    async def models(request: Request) -> Response:
        listed = users.models()
        if (name := request.path_params.get("name")) is None:
            return JSONResponse({"object": "list", "data": listed})
        for model in listed:
            if model["id"] == name:
                return JSONResponse(model)
        raise RefusedRequestError(404, f"there is no user {name!r}", code="model_not_found", param="model")

    async def completions(request: Request) -> Response:
        chat = ChatRequest.of(await content_of(request.receive))
        answer = await _while_there(users.answer(chat, request.headers.get(SESSION)), request.receive)
        if answer is None:
            return Response(status_code=GONE)
        if chat.stream:
            return StreamingResponse(chunks(chat, answer), media_type="text/event-stream")
        return JSONResponse(answer)

    async def record(request: Request) -> Response:
        return JSONResponse(users.record(request.path_params["session"]).model_dump(mode="json"))

    async def refused(request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            error = RefusedRequestError(error.status_code, f"{request.method} {request.url.path}: {error.detail}")
        elif not isinstance(error, RefusedRequestError):
            error = RefusedRequestError(500, f"a bug of Duologue's: {type(error).__name__}")
        return JSONResponse(error.body, error.status, error.headers)

    routes = [
        Route("/v1/models", models),
        Route("/v1/models/{name:path}", models),
        Route("/v1/chat/completions", completions, methods=["POST"]),
        Route("/v1/sessions/{session:path}", record),
    ]
    handlers: Any = {HTTPException: refused, RefusedRequestError: refused, 500: refused}
    return Entrance(Starlette(routes=routes, exception_handlers=handlers), token)


class Entrance:
    """An ASGI middleware that refuses other hosts, pages in a browser, and clients without the token."""

    def __init__(self, app: Any, token: str | None) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        """Answer a request of ASGI, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        from starlette.responses import JSONResponse

        headers = {name.lower().decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(headers)
        if refusal is not None:
            await JSONResponse(refusal.body, refusal.status, dict(HEADERS))(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, headers: Mapping[str, str]) -> RefusedRequestError | None:
        if place := wrong_place(headers):
            return RefusedRequestError(*place)
        expected = f"Bearer {self._token}".encode()
        if self._token and not secrets.compare_digest(headers.get("authorization", "").encode(), expected):
            return RefusedRequestError(
                401, "give the token of this server as your client's api_key", code="invalid_api_key"
            )
        return None


async def content_of(receive: Callable[[], Awaitable[MutableMapping[str, Any]]]) -> bytes:
    """The body of a request; RefusedRequestError with status 413 for one that is too large."""
    content = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RefusedRequestError(GONE, "the client has left")
        content += message.get("body", b"")
        more = message.get("more_body", False)
        if len(content) > LARGEST:
            raise RefusedRequestError(413, f"the request has more than {LARGEST:,} bytes")
    return bytes(content)


async def _while_there(
    work: Awaitable[dict[str, Any]], receive: Callable[[], Awaitable[MutableMapping[str, Any]]]
) -> dict[str, Any] | None:
    """The result of the work; None if the client left before, which cancels the work."""
    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(receive())
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        return await working if working.done() else None
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


@contextmanager
def kept_with_spending(path: Path, spending: Spending) -> Iterator[None]:
    """Inside, replies are kept in a file, and what it has of earlier servers is part of the spending.

    RunError or DataError for a file that cannot be used.
    """
    with Replies(path.resolve()) as replies, kept_in(replies):
        if spending.bounded:
            spending.add_kept(replies)
        yield


def serve(app: Any, listening: socket.socket, seconds: float | None = None) -> None:
    """Serve an application at a socket until the process is interrupted, or for so many seconds."""
    uvicorn = of_extra("uvicorn", "serve")
    config = uvicorn.Config(app, log_level="critical", server_header=False, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)

    async def served() -> None:
        if seconds is not None:
            asyncio.get_running_loop().call_later(seconds, setattr, server, "should_exit", True)
        await server.serve(sockets=[listening])

    asyncio.run(served())
