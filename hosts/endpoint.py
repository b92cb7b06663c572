"""A simulated user behind an OpenAI-compatible endpoint of this machine (extra `serve`).

Every harness that lets a model play the user can ask it: each user is a model, and its next message the completion. The
answer is a function of scenario, seed and messages.
"""

import asyncio
import json
import secrets  # noqa: TID251 - compares a token in the same time, right or wrong
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..data.identity import digest
from ..data.records import Message, Usage
from ..errors import DataError, DuologueError, SettingError, first_invalid, of_extra
from .users import User, UserEnded

OWNER = "duologue"
"""Key of what a completion says beside OpenAI's fields, and the owner of the models."""
SPENT = "insufficient_quota"
"""Type and code of an error after which no request can succeed, as its budget is spent."""
HOSTS = ["127.0.0.1", "localhost"]
"""Names of this machine. Any other name in `Host` is that of a page whose name was bound to this address."""
MOST_USERS = 1_024
"""Users of different seeds whose answers are kept: the one that was asked longest ago is forgotten first."""


class RefusedRequestError(DuologueError):
    """A request that is not answered: a status of HTTP, and the error in OpenAI's form."""

    def __init__(self, status: int, message: str, *, code: str | None = None, param: str | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.param = status, code, param
        self.headers = {"x-should-retry": "false"} if code == SPENT else {}  # OpenAI's clients ask again after any 429

    @property
    def body(self) -> dict[str, Any]:
        """The error as OpenAI's clients read it."""
        kind = "server_error" if self.status >= 500 else SPENT if self.code == SPENT else "invalid_request_error"
        return {"error": {"message": str(self), "type": kind, "param": self.param, "code": self.code}}


class StreamOptions(BaseModel):
    """Options of a stream."""

    include_usage: bool = False


class ChatRequest(BaseModel):
    """The fields of a request that are read: settings such as a temperature are those of the user's own model."""

    model_config = ConfigDict(extra="ignore", strict=True)

    model: str
    messages: list[dict[str, Any]]
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: int | None = Field(default=None, ge=1, le=1)
    seed: int | None = None

    @classmethod
    def of(cls, content: bytes) -> "ChatRequest":
        """The request of a body; RefusedRequestError with status 400 for another one."""
        try:
            return cls.model_validate_json(content)
        except ValidationError as error:
            first = first_invalid(error)
            line = f"{first.path or 'the request'}: {first.message}"
            raise RefusedRequestError(400, line, param=first.path or None) from None


def heard(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The conversation as the user hears it, without instructions.

    In a request the answer is the assistant's, so the roles are swapped: your assistant's messages are those of the role
    `user`. RefusedRequestError with status 400 if the last one is not, or if a tool was called in the user's name.
    """
    spoken = [dict(message) for message in messages if message.get("role") not in ("system", "developer")]
    remedy = "send your assistant's messages as 'user' and those of our user as 'assistant'"
    if any(message.get("role") in ("tool", "function") or message.get("tool_calls") for message in spoken):
        raise RefusedRequestError(400, f"messages: the user calls no tools: {remedy}", param="messages")
    if spoken and spoken[-1].get("role") != "user":
        line = f"messages: the last one has the role {spoken[-1].get('role')!r}: {remedy}"
        raise RefusedRequestError(400, line, param="messages")
    swapped = {"user": "assistant", "assistant": "user"}
    return [{**message, "role": swapped.get(str(message.get("role")), message.get("role"))} for message in spoken]


def completion(request: ChatRequest, answer: Message | UserEnded) -> dict[str, Any]:
    """The answer as a chat completion.

    `finish_reason` is `stop` while the conversation goes on, and the reason of its end after that. RefusedRequestError with
    status 502 if the user's model failed, and 429 if its budget is spent.
    """
    ended = answer if isinstance(answer, UserEnded) else None
    if ended is not None and ended.failure:
        spent = ended.reason == "budget"
        raise RefusedRequestError(429 if spent else 502, ended.failure, code=SPENT if spent else ended.reason)
    message = answer.message if isinstance(answer, UserEnded) else answer
    usage = Usage.none() if message is None else message.usage
    return {
        "id": f"chatcmpl-{digest(request.model, request.seed, request.messages)[:29]}",
        "object": "chat.completion",
        "created": 0,  # nothing of an answer depends on a clock
        "model": request.model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "" if message is None else message.text, "refusal": None},
                "logprobs": None,
                "finish_reason": "stop" if ended is None else ended.reason,
            }
        ],
        "usage": {
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "total_tokens": usage.tokens,
        },
        OWNER: {
            "ended": None if ended is None else ended.reason,
            "rejected_drafts": 0 if message is None else len(message.rejected),
        },
    }


def chunks(request: ChatRequest, whole: Mapping[str, Any]) -> Iterator[str]:
    """A completion as the events of a stream: the text in one piece, as a draft is judged as a whole before it is sent."""
    [choice] = whole["choices"]
    with_usage = request.stream_options is not None and request.stream_options.include_usage
    common = {name: whole[name] for name in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    first = {"index": 0, "delta": choice["message"], "logprobs": None, "finish_reason": None}
    last = {"index": 0, "delta": {}, "logprobs": None, "finish_reason": choice["finish_reason"]}
    events = [{"choices": [first]}, {"choices": [last], OWNER: whole[OWNER]}]
    events += [{"choices": [], "usage": whole["usage"]}] if with_usage else []
    for event in events:
        yield f"data: {json.dumps({**common, **event}, ensure_ascii=False)}\n\n"
    yield "data: [DONE]\n\n"


def application(  # noqa: C901 - routes and refusals of one application
    users: Mapping[str, Callable[[int], User]], *, seed: int = 0, token: str | None = None
) -> Any:
    """The endpoint as an ASGI application.

    Args:
        users: What makes the user of a seed, by the name under which it is asked for.
        seed: Counts where a request has none.
        token: The key that clients must send; None: any.
    """
    of_extra("starlette", "serve")
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response, StreamingResponse
    from starlette.routing import Route

    made = lru_cache(maxsize=MOST_USERS)(lambda name, seed: users[name](seed))

    def check(request: Request, name: str | None = None) -> None:
        if "origin" in request.headers:
            raise RefusedRequestError(403, "this server answers programs, and no page in a browser")
        expected = f"Bearer {token}".encode()
        if token and not secrets.compare_digest(request.headers.get("authorization", "").encode(), expected):
            line = "give the token of this server as your client's api_key"
            raise RefusedRequestError(401, line, code="invalid_api_key")
        if name is not None and name not in users:
            line = f"model: there is no user {name!r}, only {', '.join([*users][:20])}"
            raise RefusedRequestError(404, line, code="model_not_found", param="model")

    async def models(request: Request) -> Response:
        name = request.path_params.get("name")
        check(request, name)
        listed = [{"id": one, "object": "model", "created": 0, "owned_by": OWNER} for one in users]
        if name is None:
            return JSONResponse({"object": "list", "data": listed})
        return JSONResponse(next(model for model in listed if model["id"] == name))

    async def completions(request: Request) -> Response:
        check(request)
        chat = ChatRequest.of(await request.body())
        check(request, chat.model)
        try:
            reply = await made(chat.model, seed if chat.seed is None else chat.seed).reply(heard(chat.messages))
        except (DataError, SettingError) as error:
            raise RefusedRequestError(400, str(error), param="messages") from None
        answer = completion(chat, reply)
        if chat.stream:
            return StreamingResponse(chunks(chat, answer), media_type="text/event-stream")
        return JSONResponse(answer)

    async def refused(request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            error = RefusedRequestError(error.status_code, f"{request.method} {request.url.path}: {error.detail}")
        elif isinstance(error, DuologueError) and not isinstance(error, RefusedRequestError):
            error = RefusedRequestError(502, str(error), code="model_failed")
        elif not isinstance(error, RefusedRequestError):
            error = RefusedRequestError(500, f"a bug of Duologue's: {type(error).__name__}")
        return JSONResponse(error.body, error.status, error.headers)

    routes = [
        Route("/v1/models", models),
        Route("/v1/models/{name:path}", models),
        Route("/v1/chat/completions", completions, methods=["POST"]),
    ]
    handlers: Any = {HTTPException: refused, DuologueError: refused, 500: refused}
    trusted = [Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS)]
    return Starlette(routes=routes, exception_handlers=handlers, middleware=trusted)


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
