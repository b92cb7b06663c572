"""Chat completions in OpenAI's form, in which a simulated user stands in the model's place."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..data.identity import digest
from ..data.records import Message, Usage
from ..errors import DuologueError, first_invalid
from .simulated_users import UserEnded

OWNER = "duologue"
"""Key of what a completion says beside OpenAI's fields, and the owner of the models."""
UNHEARD = ("system", "developer")
"""Roles of messages that are instructions to a model: the user has its scenario."""
SPENT = "insufficient_quota"
"""Type and code of an error after which no request can succeed, as its budget is spent."""
SWAPPED = {"user": "assistant", "assistant": "user"}


class RefusedRequestError(DuologueError):
    """A request that is not answered: a status of HTTP, and the error in OpenAI's form."""

    def __init__(self, status: int, message: str, *, code: str | None = None, param: str | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.param = status, code, param
        self.headers = {"x-should-retry": "false"} if code == SPENT else {}
        """Headers of the response: OpenAI's clients would ask again after any 429."""

    @property
    def body(self) -> dict[str, Any]:
        """The error as OpenAI's clients read it."""
        kind = "server_error" if self.status >= 500 else SPENT if self.code == SPENT else "invalid_request_error"
        return {"error": {"message": str(self), "type": kind, "param": self.param, "code": self.code}}


class StreamOptions(BaseModel):
    """Options of a stream."""

    include_usage: bool = False


class ChatRequest(BaseModel):
    """The fields of a request that are read.

    Settings of a model, such as a temperature, are those of the user's own model.
    """

    model_config = ConfigDict(extra="ignore", strict=True)

    model: str
    messages: list[dict[str, Any]]
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: int | None = Field(default=None, ge=1, le=1)
    seed: int | None = None
    user: str | None = None

    @classmethod
    def of(cls, content: bytes) -> "ChatRequest":
        """The request of a body; RefusedRequestError with status 400 for another one."""
        try:
            return cls.model_validate_json(content)
        except ValidationError as error:
            first = first_invalid(error)
            line = f"{first.path or 'the request'}: {first.message}"
            raise RefusedRequestError(400, line, param=first.path or None) from None


def heard(messages: Sequence[Mapping[str, Any]], *, unswapped: bool) -> list[dict[str, Any]]:
    """The conversation as the user hears it: its own messages are the role `user`.

    In a request the answer is the assistant's, so there the roles are swapped; `unswapped`: they are not. The last message
    must be the other side's. RefusedRequestError with status 400 if it is not, or if a tool was called in the user's name.
    """
    spoken = [dict(message) for message in messages if message.get("role") not in UNHEARD]
    agent_role, own = ("assistant", "user") if unswapped else ("user", "assistant")
    remedy = (
        "send the conversation as it is, or leave --unswapped out"
        if unswapped
        else "send your assistant's messages as 'user' and those of our user as 'assistant', or start with --unswapped"
    )
    of_tools = (message.get("role") in ("tool", "function") or message.get("tool_calls") for message in spoken)
    if not unswapped and any(of_tools):
        raise RefusedRequestError(400, f"messages: the user calls no tools: {remedy}", param="messages")
    if spoken and spoken[-1].get("role") != agent_role:
        role = spoken[-1].get("role")
        line = (
            f"messages: the last one has the role {role!r}, where {agent_role!r} is your assistant and {own!r} our user"
        )
        raise RefusedRequestError(400, f"{line}: {remedy}", param="messages")
    if unswapped:
        return spoken
    return [{**message, "role": SWAPPED.get(str(message.get("role")), message.get("role"))} for message in spoken]


def completion(request: ChatRequest, answer: Message | UserEnded) -> dict[str, Any]:
    """The answer as a chat completion.

    `finish_reason` is `stop` while the conversation goes on, and the reason of its end after that. RefusedRequestError with
    status 502 if the user's model failed, and 429 if its budget is spent.
    """
    if isinstance(answer, UserEnded) and answer.failure and answer.reason == "budget":
        raise RefusedRequestError(429, answer.failure, code=SPENT)
    if isinstance(answer, UserEnded) and answer.failure:
        raise RefusedRequestError(502, answer.failure, code=answer.reason)
    ended = answer.reason if isinstance(answer, UserEnded) else None
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
                "finish_reason": ended or "stop",
            }
        ],
        "usage": {
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "total_tokens": usage.tokens,
        },
        OWNER: {"ended": ended, "rejected_drafts": 0 if message is None else len(message.rejected)},
    }


def chunks(request: ChatRequest, whole: Mapping[str, Any]) -> Iterator[str]:
    """A completion as the events of a stream, `[DONE]` at its end.

    The text is one piece: a draft is judged as a whole before it is sent.
    """
    [choice] = whole["choices"]
    with_usage = request.stream_options is not None and request.stream_options.include_usage
    common = {name: whole[name] for name in ("id", "created", "model")} | {"object": "chat.completion.chunk"}

    def event(choices: Sequence[Mapping[str, Any]], usage: Any = None, **more: Any) -> str:
        value = {**common, "choices": choices, **({"usage": usage} if with_usage else {}), **more}
        return f"data: {json.dumps(value, ensure_ascii=False)}\n\n"

    def step(delta: Mapping[str, Any], finish_reason: str | None = None) -> list[dict[str, Any]]:
        return [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}]

    yield event(step({"role": "assistant", "content": choice["message"]["content"], "refusal": None}))
    yield event(step({}, choice["finish_reason"]), **{OWNER: whole[OWNER]})
    if with_usage:
        yield event([], whole["usage"])
    yield "data: [DONE]\n\n"
