"""Calls by name, what they send, and where their replies are kept: a call journal answers a call that was made before."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from ...data.identity import call_seed, digest
from ..environment import known_secrets, without, without_known_secrets
from ..replies import plain_json, writable
from .faults import Fault

SPEAKING: ContextVar[str] = ContextVar("duologue_conversation", default="")
"""Id of the conversation whose step is running."""


class CallKey(NamedTuple):
    """The name of one call of a run. The id of a conversation tells its repeat."""

    conversation: str
    subject: str
    """What the seed is derived from: the conversation's id, or another name."""
    role: str
    turn: int
    attempt: int
    vote: int


@dataclass(frozen=True)
class Call:
    """Identifies a request, from which the seed of each attempt is derived."""

    seed: int
    """Seed of the run."""
    subject: str
    """Id of the conversation, or another name."""
    role: str
    """The respondent."""
    turn: int = 0
    vote: int = 0
    """Distinguishes several requests of the same turn."""

    def seed_of(self, attempt: int) -> int:
        """The seed of an attempt, counted from 1; 0 is for random choices before the first."""
        return call_seed(self.seed, self.subject, self.role, self.turn, attempt, self.vote)

    def key(self, attempt: int) -> CallKey:
        """The name of an attempt in the conversation that is under way."""
        return CallKey(SPEAKING.get() or self.subject, self.subject, self.role, self.turn, attempt, self.vote)


class _Told:
    """The digests of the texts that a conversation has sent, which it sends again with every call."""

    def __init__(self) -> None:
        self.digests: dict[tuple[str, str], str] = {}
        self.secrets: tuple[str, ...] = ()

    def without(self, secrets: tuple[str, ...]) -> dict[tuple[str, str], str]:
        """The digests of texts without these secrets."""
        if secrets is not self.secrets:
            self.digests, self.secrets = {}, secrets
        return self.digests


_TOLD: ContextVar[_Told | None] = ContextVar("duologue_told", default=None)


def remember_texts() -> None:
    """From now on what is sent in this task, and in those that it begins, is digested once. It ends with the task."""
    _TOLD.set(_Told())


@dataclass(frozen=True)
class Sent:
    """What a call sends, as plain JSON: to whom, with which arguments, and the messages. Without secrets."""

    to: Mapping[str, Any]
    digests: tuple[str, ...]
    """A digest for each message."""
    _each: tuple[tuple[str, str] | Mapping[str, Any], ...] = field(repr=False)
    """Kind and text of each message; one that is no text alone as plain JSON."""
    _secrets: tuple[str, ...] = field(repr=False)

    @classmethod
    def of(cls, to: Mapping[str, Any], messages: Sequence[BaseMessage]) -> "Sent":
        """What is sent, with the messages of LangChain as plain JSON."""
        secrets = known_secrets()
        told = _TOLD.get() or _Told()
        known = told.without(secrets)
        each: list[tuple[str, str] | Mapping[str, Any]] = []
        digests: list[str] = []
        for number, message in enumerate(messages, start=1):
            if not _is_text(message):
                plain = without(_sent(message), secrets)
                each.append(plain)
                digests.append(_digest(plain))
                continue
            text = (message.type, str(message.content))
            each.append(text)
            if (found := known.get(text)) is None:
                found = _digest(_plain(text, secrets))
                if number < len(messages):  # the last one ends with what is asked now, and is not sent again
                    known[text] = found
            digests.append(found)
        return cls(without(dict(to), secrets), tuple(digests), tuple(each), secrets)

    def message(self, number: int) -> Mapping[str, Any]:
        """A message that is sent, counted from 0."""
        message = self._each[number]
        return _plain(message, self._secrets) if isinstance(message, tuple) else message

    @property
    def messages(self) -> tuple[Mapping[str, Any], ...]:
        """The messages that are sent."""
        return tuple(map(self.message, range(len(self._each))))

    @cached_property
    def digest(self) -> str:
        """The digest of everything that is sent."""
        return digest(dict(self.to), list(self.digests))[:32]


def _is_text(message: BaseMessage) -> bool:
    """Whether a message is a text and nothing else, of a kind that has no fields of its own."""
    return (
        type(message) in (HumanMessage, AIMessage, SystemMessage)
        and isinstance(message.content, str)
        and not (message.name or message.model_extra or (isinstance(message, AIMessage) and message.tool_calls))
    )


def _plain(text: tuple[str, str], secrets: tuple[str, ...]) -> Mapping[str, Any]:
    plain: Mapping[str, Any] = without({"type": text[0], "content": writable(text[1])}, secrets)
    return plain


def _digest(message: Mapping[str, Any]) -> str:
    return digest(message)[:16]


@dataclass(frozen=True)
class Reply:
    """A reply as it came, as plain JSON."""

    value: Mapping[str, Any]
    """The fields of an `AIMessage`; of an agent, its update of the state."""
    retried: Mapping[str, int] = field(default_factory=dict)
    """How often the call was made again before it, by fault."""
    endpoint: str = ""
    """A digest of the endpoint's address: whether it is the same is known, and no address is kept."""

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> "Reply":
        """The reply of a kept line."""
        return cls(line["reply"], line.get("retried") or {}, line.get("endpoint") or "")

    @property
    def line(self) -> dict[str, Any]:
        """The reply as it is kept."""
        more = {"retried": dict(self.retried), "endpoint": self.endpoint}
        return {"reply": self.value} | {name: value for name, value in more.items() if value}


class CallStore(Protocol):
    """Keeps replies. The run's journal is one, and so is a recorded file."""

    def find(self, key: CallKey, asked: Sent) -> Reply | None:
        """The kept reply of this call, if the same was sent; a store that must know every call raises for another."""
        ...

    def keep(self, key: CallKey, asked: Sent, reply: Reply) -> None:
        """Keep a reply: it outlives this process when the method returns."""
        ...

    def keep_fault(self, key: CallKey, asked: Sent, fault: Fault) -> None:
        """Note that a call failed; it is never answered with that."""
        ...


AMBIENT: ContextVar[CallStore | None] = ContextVar("duologue_call_store", default=None)
"""The store of calls that are made outside a run with a journal of its own."""


@contextmanager
def kept_in(store: CallStore) -> Iterator[None]:
    """Inside, calls of models are answered from this store, and kept in it."""
    token = AMBIENT.set(store)
    try:
        yield
    finally:
        AMBIENT.reset(token)


def plain_reply(message: AIMessage) -> dict[str, Any]:
    """A model's message as plain JSON, without its random id and what is at its default."""
    dumped = message.model_dump(exclude={"id"}, exclude_defaults=True)
    metadata = {key: value for key, value in _as_json(dumped.pop("response_metadata", {})).items() if key != "headers"}
    plain = _as_json(dumped | ({"response_metadata": metadata} if metadata else {}))
    return dict(without_known_secrets(plain))


def message_of(reply: Mapping[str, Any]) -> AIMessage:
    """The model's message of a kept reply."""
    return AIMessage.model_validate({"content": "", **reply})


def _as_json(value: Any) -> Any:
    """The value as plain JSON; parts of it that are none, such as an object of a client, as text."""
    if isinstance(value, str):
        return writable(value)
    if isinstance(value, Mapping):
        return {str(key): _as_json(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_json(inner) for inner in value]
    try:
        return plain_json(value)
    except TypeError:
        return str(value)


def _sent(message: BaseMessage) -> dict[str, Any]:
    """A message that is sent, as plain JSON: its kind, content and tool calls."""
    plain = {"type": message.type, "content": _as_json(message.content)}
    for name in ("tool_calls", "tool_call_id", "name"):
        if value := getattr(message, name, None):
            plain[name] = _as_json(value)
    return plain
