"""The platform's protocol: what is sent to it, and what it answers.

Paths, keys and status codes are those of the track's baseline and its examples
(github.com/TREC-UserSim/trec-usersim-baseline, `docs/task1_workflow.md` and `docs/task2_workflow.md`).
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

import httpx
from pydantic import SecretStr

from ...data.attempts import as_list, as_object, is_object
from ...errors import DuologueError, SettingError
from ...nodes.settings.redaction import host_of, keep_secret, keep_url_secrets, redacted, without_known_secrets

TrackTask: TypeAlias = Literal["task1", "task2"]
TASKS: Mapping[TrackTask, str] = {"task1": "next_utterance_prediction", "task2": "end_to_end_conversation_generation"}
"""Each task with its name in a request."""
USER = "user"
"""The `participant_name` of the user; every other one is the agent."""
NEW_CONVERSATION, STARTED_BEFORE, COMPLETE = 201, 412, 428
"""Status codes with a meaning of their own."""
PATIENCE = 300.0
"""Seconds that the platform has for an answer: its agent is a model."""
PAUSES = (1.0, 2.0, 4.0, 8.0)
"""Seconds before each further request, unless the platform names its own."""


class PlatformError(DuologueError, ValueError):
    """A platform that cannot be reached, or that refuses a request; the same command continues the run."""

    exit_code = 1


class UnansweredError(PlatformError):
    """A request without an answer: it is not known whether the platform has it."""


@dataclass(frozen=True)
class PlatformReply:
    """An answer of the platform."""

    status: int
    body: Mapping[str, Any] = field(default_factory=dict[str, Any])
    is_repeated: bool = False
    """Whether an earlier try of the request got no answer."""

    @property
    def is_complete(self) -> bool:
        """Whether the run is over."""
        return self.status == COMPLETE

    @property
    def conversation_id(self) -> str:
        """The conversation that the next message belongs to; empty where the answer has none."""
        return str(self.body.get("conversation_id") or "")

    @property
    def scenario(self) -> Mapping[str, Any]:
        """The scenario in the track's shape; empty where the answer has none."""
        return as_object(self.body.get("scenario"))

    @property
    def messages(self) -> list[dict[str, str]] | None:
        """The conversation so far, in OpenAI's form; None where the answer has no `chat_messages`."""
        if "chat_messages" not in self.body:
            return None
        return [_message(message) for message in as_list(self.body["chat_messages"]) if is_object(message)]

    @property
    def utterance(self) -> dict[str, str] | None:
        """The agent's last message, which older platforms send without the others; None without a text."""
        utterance = as_object(self.body.get("utterance"))
        return _message(utterance) if str(utterance.get("text") or "").strip() else None


def _message(utterance: Mapping[str, Any]) -> dict[str, str]:
    name = utterance.get("participant_name") or utterance.get("participant_id")
    return {"role": "user" if name == USER else "assistant", "content": str(utterance.get("text") or "")}


@dataclass(frozen=True)
class Platform:
    """The platform of a track, for one run of a participant."""

    url: str
    task: TrackTask
    run_id: str
    team: str = ""
    description: str = ""
    debug: bool = False
    """Whether the run is for trying, at the platform's routes of that name."""
    token: SecretStr | None = None
    transport: httpx.AsyncBaseTransport | None = None
    """In place of the network, for tests."""

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            fits = False
        if not fits:
            raise SettingError(f"--url: {host_of(self.url)} is not an address: write https://HOST")
        if "@" in urlsplit(self.url).netloc or urlsplit(self.url).query:
            keep_url_secrets(self.url)
            raise SettingError(f"--url: give the address of {host_of(self.url)} without credentials: use TREC_TOKEN")
        if self.token is not None:
            keep_secret(self.token)

    @property
    def host(self) -> str:
        """Host and port, without credentials."""
        return host_of(self.url)

    @property
    def start_request(self) -> dict[str, Any]:
        """What a run begins with."""
        team = {"team_id": self.team} if self.team else {}
        return {"run_id": self.run_id, "task_name": TASKS[self.task], "description": self.description, **team}

    def request(self, conversation_id: str, text: str, timestamp: str, *, is_final: bool) -> dict[str, Any]:
        """What a message of the user is sent as."""
        return {
            "run_id": self.run_id,
            "user_utterance": {
                "timestamp": timestamp,
                "conversation_id": conversation_id,
                "participant_name": USER,
                "text": text,
                "sources": [],
                "annotations": {},
                "is_final": is_final,
            },
        }

    async def start(self) -> PlatformReply:
        """Begin the run; PlatformError if it was begun before."""
        reply = await self._reply_to("POST", f"{self.task}/{self._kind}/start", json=self.start_request)
        if reply.status == STARTED_BEFORE and reply.is_repeated:
            reply = await self.session()  # by the first try, whose answer was lost
        elif reply.status == STARTED_BEFORE:
            raise PlatformError(
                f"the run {self.run_id!r} was begun before, and not from this folder: give the --out of that run, or "
                "name another --run-id"
            )
        if not reply.scenario:
            raise PlatformError(f"{self.host} gives no scenario: is it a platform of the track?")
        return reply

    async def send(self, request: Mapping[str, Any]) -> PlatformReply:
        """The answer to a message; UnansweredError if it is not known whether the platform has the message."""
        return await self._reply_to("POST", f"{self.task}/{self._kind}/continue", json=request, once=True)

    async def session(self) -> PlatformReply:
        """Where the run stands on the platform."""
        return await self._reply_to("GET", f"{self._kind}/session", params={"run_id": self.run_id})

    async def dump(self) -> str:
        """All that the platform has of the run, JSON lines: what is judged."""
        response, _ = await self._response("GET", f"{self._kind}/dump", params={"run_id": self.run_id})
        return response.text

    @property
    def _kind(self) -> str:
        return "debug" if self.debug else "run"

    async def _reply_to(self, method: str, path: str, **request: Any) -> PlatformReply:
        response, is_repeated = await self._response(method, path, **request)
        if response.status_code in (COMPLETE, STARTED_BEFORE) or not response.content.strip():
            return PlatformReply(response.status_code, is_repeated=is_repeated)
        try:
            body = response.json()
        except ValueError:
            body = None
        if not is_object(body):
            raise PlatformError(
                f"{self._place(path)} does not answer with a JSON object: is it a platform of the track?"
            )
        return PlatformReply(response.status_code, without_known_secrets(body))  # a platform may say them again

    async def _response(
        self, method: str, path: str, *, once: bool = False, **request: Any
    ) -> tuple[httpx.Response, bool]:
        """The response, and whether an earlier try got none."""
        is_repeated = False
        headers = {"Authorization": f"Bearer {self.token.get_secret_value()}"} if self.token is not None else {}
        async with httpx.AsyncClient(timeout=PATIENCE, transport=self.transport, headers=headers) as client:
            for pause in (*PAUSES, None):
                try:
                    response = await client.request(method, f"{self.url.rstrip('/')}/{path}", **request)
                except httpx.ConnectError as error:
                    problem: PlatformError = PlatformError(f"{self._place(path)} cannot be reached: {_line(error)}")
                    seconds = pause
                except httpx.HTTPError as error:
                    problem, seconds = UnansweredError(f"{self._place(path)} gave no answer: {_line(error)}"), pause
                    if once:
                        raise problem from None
                else:
                    if response.status_code < 300 or response.status_code in (COMPLETE, STARTED_BEFORE):
                        return response, is_repeated
                    problem = self._refusal(path, response)
                    if response.status_code != 429 and (response.status_code < 500 or once):
                        raise problem
                    seconds = pause if pause is None else _seconds_of(response, pause)
                if seconds is None:
                    raise problem from None
                is_repeated = is_repeated or isinstance(problem, UnansweredError)
                await asyncio.sleep(seconds)
        raise AssertionError

    def _refusal(self, path: str, response: httpx.Response) -> PlatformError:
        status = response.status_code
        advice = {
            300: "it sends elsewhere: check --url",
            401: "set TREC_TOKEN to the team's token",
            403: "set TREC_TOKEN to the team's token",
            404: "check --url and --debug",
            422: "mend what it names; or the platform's protocol has changed",
        }.get(300 if status < 400 else status, "wait, then give the same command again")
        answer = redacted(" ".join(response.text.split()))[:200]
        kind = UnansweredError if status >= 500 else PlatformError
        return kind(f"{self._place(path)} answers {status} ({answer or 'without a reason'}): {advice}")

    def _place(self, path: str) -> str:
        return f"{self.host}, {path}"


def _line(error: Exception) -> str:
    return redacted(" ".join(str(error).split())) or type(error).__name__


def _seconds_of(response: httpx.Response, pause: float) -> float:
    """The seconds that the platform asks for, at most a minute; without any those of ours."""
    seconds = response.headers.get("retry-after", "")
    return min(float(seconds), 60.0) if seconds.isdecimal() else pause
