"""What may be wrong with a call to a model: its fault, that of any error, and the flaw of a reply that came."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from json import JSONDecodeError
from typing import Any, Literal, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata

from ...errors import DuologueError
from ..attachments import why_empty
from ..settings.redaction import error_line, redacted

Whose: TypeAlias = Literal["endpoint", "limit", "settings", "request", "ours"]
"""`endpoint`: a retry may succeed. `limit`: too many calls, a retry must wait. `settings`: the key, the model's name or
the account; no call of this run can succeed. `request`: this one request is refused. `ours`: a bug."""

MEANINGS: Mapping[str, tuple[Whose, str]] = {
    "rate_limited": ("limit", "the endpoint reports too many calls"),
    "overloaded": ("endpoint", "the endpoint reports that it is overloaded or down"),
    "server_error": ("endpoint", "the endpoint failed"),
    "timeout": ("endpoint", "no complete reply came in time"),
    "unreachable": ("endpoint", "no connection to the endpoint"),
    "reset": ("endpoint", "the connection broke"),
    "not_json": ("endpoint", "the reply is not JSON, or is incomplete"),
    "not_a_completion": ("endpoint", "the reply is not a model's reply"),
    "no_choices": ("endpoint", "the reply has no choices"),
    "null_content": ("endpoint", "the reply has neither a text nor anything in its place"),
    "too_large": ("endpoint", "the reply is larger than any message can be"),
    "wrong_key": ("settings", "the key is not accepted"),
    "forbidden": ("settings", "the key may not use this model"),
    "unknown_model_or_url": ("settings", "there is no such model, or no such address"),
    "quota_spent": ("settings", "the account has no money or quota left"),
    "proxy_refused": ("settings", "the proxy does not accept the user name or the password"),
    "certificate_refused": ("settings", "the endpoint's certificate is not trusted here"),
    "redirected": ("settings", "the endpoint sends elsewhere, and the key is not sent after"),
    "bad_request": ("request", "the endpoint refuses this request"),
    "content_policy": ("request", "the endpoint refuses the content of this request"),
    "context_length": ("request", "the request is longer than the model takes"),
    "own_error": ("ours", "an error of the program, not of the endpoint"),
}
"""Every fault by its name, with its origin and its meaning."""


@dataclass(frozen=True)
class CallFault:
    """The reason why a call has no usable reply."""

    name: str
    """One of `MEANINGS`."""
    whose: Whose
    detail: str
    """The endpoint's words, in one line without secrets."""
    after: float | None = None
    """Seconds that the endpoint asks to wait (Retry-After)."""

    @property
    def line(self) -> str:
        """Name, meaning and detail on one line, for people."""
        meaning = MEANINGS[self.name][1] if self.name in MEANINGS else self.whose
        return f"{self.name}: {meaning} ({self.detail})" if self.detail else f"{self.name}: {meaning}"


class ReplyError(Exception):
    """An endpoint's answer is not a reply; `fault` is the reason."""

    def __init__(self, fault: CallFault) -> None:
        super().__init__(fault.line)
        self.fault = fault


class StatusError(Exception):
    """An endpoint answered with an HTTP status other than success; `body` is its JSON, else its text."""

    def __init__(self, status_code: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status_code, self.headers = status_code, headers
        self.body: Any = body.decode("utf-8", "replace")
        super().__init__(redacted(self.body[:5_000])[:350] or "no word of its reason")
        with suppress(ValueError, RecursionError):
            self.body = json.loads(body)


_OWN = frozenset({"own_error", "not_json", "no_choices", "bad_request", "content_policy", "context_length"})
"""Faults that code which calls an endpoint can help, unless the client has found them in a reply."""
_HTTP_CLIENTS = frozenset({"HTTPStatusError", "HTTPError", "ClientResponseError"})
"""Errors of a status by clients of any address: 404 is that of a tool, as models' packages have errors of their own."""


def is_crash(error: BaseException) -> bool:
    """Whether an agent's error is one of its own code.

    Not of an endpoint that is away, nor of a recording that lacks a call. A tool's 404 is its own code's.
    """
    if getattr(error, "is_of_function", False):
        return True
    chain = list(_causes(error))
    if any(isinstance(one, DuologueError) or isinstance(getattr(one, "fault", None), CallFault) for one in chain):
        return False
    called = next((type(one).__name__ for one in chain if _status(one) == HTTPStatus.NOT_FOUND), None)
    return called in _HTTP_CLIENTS or fault_of(error).name in _OWN


def fault(name: str, detail: str = "", after: float | None = None) -> CallFault:
    """The fault of this name, its detail as one printable line without secrets."""
    line = "".join(sign if sign.isprintable() else " " for sign in redacted(detail[:5_000]))
    return CallFault(name, MEANINGS[name][0], " ".join(line.split())[:350], after)


def fault_of(error: BaseException) -> CallFault:
    """The fault of a call's error, of any provider's package."""
    chain = list(_causes(error))
    if judged := next((one.fault for one in chain if isinstance(one, ReplyError)), None):
        return judged
    names = {kind.__name__ for one in chain for kind in type(one).__mro__}
    for one in chain if "HttpProcessingError" not in names else ():  # aiohttp's, with a status, for what is no HTTP
        if (status := _status(one)) is not None:
            body = getattr(one, "body", None)
            words = _words_of(body.get("error", body) if isinstance(body, Mapping) else body) or str(one)
            return fault(_of_status(status, words), f"{status}: {words}", asked_wait(headers_of(one)))
    name = next((name for name, kinds in _BY_CLASS if not names.isdisjoint(kinds.split())), "own_error")
    return fault(name, error_line(error))


def of_error_in_reply(error: object) -> CallFault:
    """The fault of a reply with status 200 that has an error in place of a completion."""
    words = _words_of(error)
    code = error.get("code", error.get("status")) if isinstance(error, Mapping) else None
    return fault(_of_status(code if isinstance(code, int) and 400 <= code < 600 else 500, words), words)


def headers_of(error: BaseException) -> Mapping[str, str]:
    """The headers of the response that an error, or a cause of it, reports."""
    for one in _causes(error):
        headers = getattr(getattr(one, "response", None), "headers", None) or getattr(one, "headers", None)
        if headers and isinstance(headers, Mapping):
            return headers
    return {}


def _causes(error: BaseException) -> Iterator[BaseException]:
    one: BaseException | None = error
    for _ in range(8):
        if one is None:
            return
        yield one
        one = one.__cause__


def _status(error: BaseException) -> int | None:
    if isinstance(error, StatusError):
        return error.status_code
    if isinstance(error, JSONDecodeError | UnicodeDecodeError):  # on which a client hangs its response
        return None
    response = getattr(error, "response", None)
    places = ((error, "status_code"), (response, "status_code"), (error, "code"), (error, "status"))
    codes = [getattr(place, name, None) for place, name in places]
    if isinstance(response, Mapping):  # botocore
        codes.append((response.get("ResponseMetadata") or {}).get("HTTPStatusCode"))
    return next((int(code) for code in codes if isinstance(code, int) and 300 <= code < 600), None)


def _words_of(error: object) -> str:
    if not isinstance(error, Mapping):
        return error.strip() if isinstance(error, str) else ""
    names = [str(error[key]) for key in ("code", "type", "status") if isinstance(error.get(key), (str, int))]
    told = str(error.get("message") or error.get("detail") or "")
    return f"{told} [{', '.join(dict.fromkeys(names))}]".strip() if names else told


def _of_status(status: int, words: str) -> str:
    by_words = (name for name, pattern in _WORDS if re.search(pattern, words, re.IGNORECASE))
    if status not in (401, 404) and (name := next(by_words, None)):
        return name
    return _STATUSES.get(status) or {3: "redirected", 4: "bad_request"}.get(status // 100, "server_error")


_STATUSES = {
    401: "wrong_key", 402: "quota_spent", 403: "forbidden", 404: "unknown_model_or_url", 405: "unknown_model_or_url",
    407: "proxy_refused", 408: "timeout", 409: "server_error", 410: "unknown_model_or_url", 425: "overloaded",
    429: "rate_limited", 503: "overloaded", 529: "overloaded",
}  # fmt: skip
_WORDS = (
    # Google writes "quota" and "billing" where it means the calls of this minute, so these words alone mean nothing.
    ("quota_spent", r"insufficient_quota|billing_hard_limit_reached|billing_not_active|credit balance is too low"),
    ("content_policy", r"content_(policy|filter)|content management policy|ResponsibleAI|flagged_input|moderation"),
    ("context_length", r"context_length|context window|maximum context|prompt is too long|string_above_max_length"),
    ("wrong_key", r"invalid_api_key|API key not valid|API_KEY_INVALID|incorrect API key"),
    ("unknown_model_or_url", r"model_not_found"),
)
"""Faults by an endpoint's own words, for nearly any status."""
_BY_CLASS = (
    ("not_json", "JSONDecodeError DecodingError ContentEncodingError"),
    ("certificate_refused", "SSLCertVerificationError CertificateError ClientConnectorCertificateError"),
    ("context_length", "ContextOverflowError"),
    ("wrong_key", "ModelAuthenticationError AuthenticationError"),
    ("forbidden", "ModelPermissionDeniedError PermissionDeniedError"),
    ("unknown_model_or_url", "ModelNotFoundError UnsupportedProtocol InvalidURL LocalProtocolError"),
    ("rate_limited", "ModelRateLimitError RateLimitError"),
    ("bad_request", "ModelInvalidRequestError BadRequestError"),
    ("unreachable", "ConnectTimeout ConnectionTimeoutError ConnectError ConnectionRefusedError gaierror"),
    ("unreachable", "ClientConnectorError"),
    ("reset", "ReadError WriteError CloseError RemoteProtocolError IncompleteRead HttpProcessingError BrokenPipeError"),
    ("reset", "ConnectionResetError ConnectionAbortedError ServerDisconnectedError ClientOSError ClientPayloadError"),
    ("timeout", "TimeoutError TimeoutException APITimeoutError ModelTimeoutError"),
    ("unreachable", "ConnectionError ModelConnectionError APIConnectionError TransportError URLError"),
    ("server_error", "ModelAPIError InternalServerError"),
)
"""Names of errors' classes, of any package. What says more comes first: a cause names the same or less than its effect."""


A_DAY = 86_400.0  # seconds: a wait of more is a mistake
_DURATION = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d*\.?\d+)s)?(?:(\d*\.?\d+)ms)?")
_PARTS = (86_400, 3_600, 60, 1, 0.001)


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by `retry-after-ms` or `retry-after`, in seconds or as a date; None without a valid one."""
    values = {name.lower(): value for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 1_000), ("retry-after", 1)):
        seconds = seconds_of(values.get(name, ""), values.get("date")) / unit
        if 0 <= seconds <= A_DAY:
            return seconds
    return None


def seconds_of(text: str, date: str | None) -> float:
    """A number, the seconds of a duration such as 6m0s, or those until a time; NaN for anything else.

    A time is read by the endpoint's own clock, its `date`, where it tells one.
    """
    with suppress(ValueError):
        return float(text)
    if text and (parts := _DURATION.fullmatch(text)):
        return sum(float(part) * size for part, size in zip(parts.groups(), _PARTS, strict=True) if part)
    if (then := _time_of(text)) is None:
        return math.nan
    # A time means nothing without the present one, on which only the length of a wait depends.
    return (then - (_time_of(date or "") or datetime.now(UTC))).total_seconds()  # noqa: TID251


def _time_of(text: str) -> datetime | None:
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        with suppress(ValueError, TypeError, IndexError, OverflowError):
            time = read(text)
            return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    return None


# Flaws: a refusal, filtered, cut off or empty content, or an impossible number of tokens

REFUSAL = "refusal"
"""The model refuses in words, which are the draft's text."""
CONTENT_FILTER = "content_filter"
"""The endpoint's filter took the reply, or the rest of it."""
CUT_OFF = "cut_off"
"""The endpoint ended the reply at its length limit."""
EMPTY = "empty"
"""The reply has no text, no part and no tool call."""

_FINISHES = {
    REFUSAL: "refusal refused",
    CONTENT_FILTER: "content_filter content_filtered safety recitation blocklist prohibited_content spii image_safety "
    "guardrail_intervened error_toxic error_toxic_content jailbreak",
    CUT_OFF: "length max_tokens max_output_tokens model_length token_limit model_context_window_exceeded",
}
"""The finish reasons of each flaw, as the providers write them, in small letters."""
_FLAWS = {reason: flaw for flaw, reasons in _FINISHES.items() for reason in reasons.split()}
_FINISH_KEYS = ("finish_reason", "stop_reason", "done_reason", "stopReason")
"""Keys of the finish reason in a message's metadata: OpenAI and Google, Anthropic, Ollama, Bedrock."""
_DETAILS = (
    ("cached_tokens", "input_token_details", "cache_read"),
    ("reasoning_tokens", "output_token_details", "reasoning"),
)


def finish_of(message: BaseMessage) -> str | None:
    """The endpoint's reason why the model stopped; None if it gives none."""
    metadata: Mapping[str, Any] = message.response_metadata
    incomplete, feedback = metadata.get("incomplete_details"), metadata.get("prompt_feedback")
    reasons = [metadata.get(key) for key in _FINISH_KEYS]
    if isinstance(incomplete, Mapping):  # of OpenAI's responses
        reasons.append(incomplete.get("reason"))
    if isinstance(feedback, Mapping) and feedback.get("block_reason"):  # of Google, for a blocked prompt
        reasons.append(CONTENT_FILTER)
    return next((reason for reason in reasons if isinstance(reason, str)), None)


def flaw_of_finish(reason: str | None) -> str | None:
    """The flaw of a finish reason; None for a reason without one."""
    return _FLAWS.get((reason or "").lower().rpartition(".")[2])


def refusal_in(message: BaseMessage) -> str:
    """The words of a refusal beside the content or in a block of it; empty without one."""
    content = message.content if isinstance(message.content, list) else ()
    blocks = [block for block in content if isinstance(block, dict) and block.get("type") == "refusal"]
    words = [place.get("refusal") for place in (message.additional_kwargs, *blocks)]
    return "\n\n".join(text for text in words if isinstance(text, str) and text.strip())


def flaw_of(message: BaseMessage, draft: Mapping[str, Any]) -> str | None:
    """The flaw of a reply and its draft; None if it has none.

    The most specific flaw comes first: a refusal, then the endpoint's finish reason, then an empty reply.
    """
    if refusal_in(message):
        return REFUSAL
    return flaw_of_finish(finish_of(message)) or (EMPTY if why_empty(draft) == EMPTY else None)


def flaw_in(draft: Mapping[str, Any]) -> str | None:
    """The flaw of a draft: its own, or that of its finish reason."""
    return draft.get("flaw") or flaw_of_finish(draft.get("finish_reason"))


def check_reply(message: BaseMessage) -> None:
    """ReplyError if a provider's message has no content, and nothing that explains it: the endpoint's fault.

    A message without any metadata is not from a provider but from a model of one's own: it is an empty reply.
    """
    if not isinstance(message, AIMessage) or message.content or not message.response_metadata:
        return
    more = [message.tool_calls, message.invalid_tool_calls, *message.additional_kwargs.values(), finish_of(message)]
    if not any(more):
        raise ReplyError(fault("null_content", "no content, no tool call and no finish reason"))


def count_of(value: object) -> int | None:
    """A number of tokens as an endpoint counts them; None for an impossible one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if 0 <= value <= 10**9 and value == int(value) else None


def usage_in(usage: Mapping[str, Any]) -> UsageMetadata | None:
    """The tokens of a usage of OpenAI's, Anthropic's or Bedrock's; None if input or output is not a number of tokens."""
    sent = count_of(usage.get("prompt_tokens", usage.get("input_tokens", usage.get("inputTokens"))))
    written = count_of(usage.get("completion_tokens", usage.get("output_tokens", usage.get("outputTokens"))))
    if sent is None or written is None:
        return None
    made = UsageMetadata(input_tokens=sent, output_tokens=written, total_tokens=sent + written)
    for key, field, name in _DETAILS:
        side = "prompt" if field.startswith("input") else "completion"
        details = usage.get(f"{side}_tokens_details") or usage.get(field.replace("token_", "tokens_"))
        if isinstance(details, Mapping) and (count := count_of(details.get(key))) is not None:
            made[field] = {name: count}  # type: ignore[literal-required]
    return made


def counted(usage: Mapping[str, Any] | None) -> dict[str, int] | None:
    """The possible numbers of a message's usage: `input_tokens`, `output_tokens`, and their known details.

    None if there is no usage, or input and output are not both numbers of tokens.
    """
    usage = usage or {}
    inputs, outputs = count_of(usage.get("input_tokens")), count_of(usage.get("output_tokens"))
    if inputs is None or outputs is None:
        return None
    tokens = {"input_tokens": inputs, "output_tokens": outputs}
    for name, field, key in _DETAILS:
        if isinstance(details := usage.get(field), Mapping) and (count := count_of(details.get(key))) is not None:
            tokens[name] = count
    return tokens
