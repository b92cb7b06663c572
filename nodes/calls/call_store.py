"""Calls by name, what they send, and the store that answers a call that was made before."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from ...data.identity import call_seed, digest
from ..context_values import during
from ..models.conversation_header import SPEAKING
from ..models.faults import CallFault
from ..replies.conversion import plain_json, writable
from ..settings.redaction import known_secrets, without, without_known_secrets


class CallKey(NamedTuple):
    """The name of one call of a run.

    The id of a conversation contains its repeat.
    """

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


_SentTexts: TypeAlias = dict[tuple[str, ...], dict[tuple[str, str], str]]
"""By the secrets that they lack, the digests of the texts that a conversation has sent, and sends again with every call."""

_SENT_TEXTS: ContextVar[_SentTexts | None] = ContextVar("duologue_sent_texts", default=None)


def remember_texts() -> None:
    """Digest each text that this task sends only once, from now on.

    This holds for the tasks that it begins too, and ends with it.
    """
    _SENT_TEXTS.set({})


@dataclass(frozen=True)
class SentRequest:
    """What a call sends, as plain JSON without secrets: to whom, with which arguments, and the messages."""

    to: Mapping[str, Any]
    digests: tuple[str, ...]
    """A digest for each message."""
    _contents: tuple[tuple[str, str] | Mapping[str, Any], ...] = field(repr=False)
    """Kind and text of each message; one that is more than a text as plain JSON."""
    _secrets: tuple[str, ...] = field(repr=False)

    @classmethod
    def of(cls, to: Mapping[str, Any], messages: Sequence[BaseMessage]) -> "SentRequest":
        """What is sent, with the messages of LangChain as plain JSON."""
        secrets = known_secrets()
        sent_texts = _SENT_TEXTS.get()
        stored_digests = {} if sent_texts is None else sent_texts.setdefault(secrets, {})
        contents: list[tuple[str, str] | Mapping[str, Any]] = []
        digests: list[str] = []
        for number, message in enumerate(messages, start=1):
            if not _is_text(message):
                plain = without(_sent(message), secrets)
                contents.append(plain)
                digests.append(_digest(plain))
                continue
            text = (message.type, str(message.content))
            contents.append(text)
            if (text_digest := stored_digests.get(text)) is None:
                text_digest = _digest(_plain(text, secrets))
                if number < len(messages):  # the last one ends with what is asked now, and is not sent again
                    stored_digests[text] = text_digest
            digests.append(text_digest)
        return cls(without(dict(to), secrets), tuple(digests), tuple(contents), secrets)

    def message(self, number: int) -> Mapping[str, Any]:
        """A message that is sent, counted from 0."""
        message = self._contents[number]
        return _plain(message, self._secrets) if isinstance(message, tuple) else message

    @property
    def messages(self) -> tuple[Mapping[str, Any], ...]:
        """The messages that are sent."""
        return tuple(map(self.message, range(len(self._contents))))

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
class StoredReply:
    """A reply as it came, as plain JSON."""

    value: Mapping[str, Any]
    """The fields of an `AIMessage`; of an agent, its update of the state."""
    retried: Mapping[str, int] = field(default_factory=dict)
    """How often the call was made again before it, by fault."""
    endpoint: str = ""
    """A digest of the endpoint's address, which identifies it; the address itself is not stored."""
    world: Any = None
    """What brings back the world after an agent's turn (`nodes.world_journal`), as plain JSON and not redacted.

    None: there is no world, or nothing brings it back.
    """
    shared: bool = False
    """Whether another version of the conversation got it and paid for it (`nodes.calls.shared_replies`)."""

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> "StoredReply":
        """The reply of a kept line."""
        more = line.get("retried") or {}, line.get("endpoint") or "", line.get("world"), line.get("shared") is True
        return cls(line["reply"], *more)

    @property
    def shared_with_another(self) -> "StoredReply":
        """The reply as another version of the conversation has it."""
        drafts = [{**draft, "shared": True} for draft in self.value.get("drafts", [])]
        value = {**self.value, "drafts": drafts} if "drafts" in self.value else self.value
        return replace(self, value=value, retried={}, shared=True)

    @property
    def line(self) -> dict[str, Any]:
        """The reply as it is kept."""
        more = {"retried": dict(self.retried), "endpoint": self.endpoint, "shared": self.shared}
        world = {} if self.world is None else {"world": self.world}
        return {"reply": self.value} | {name: value for name, value in more.items() if value} | world


class CallStore(Protocol):
    """A store of replies, such as the journal of a run or a recorded file."""

    @property
    def snapshot_bytes(self) -> int:
        """Most bytes of the snapshot of a world that it keeps; 0: it keeps none."""
        ...

    def find(self, key: CallKey, sent: SentRequest) -> StoredReply | None:
        """The stored reply of this call, if the same was sent.

        A store that must contain every call raises an error for another one.
        """
        ...

    def look_up(self, key: CallKey, sent: SentRequest) -> StoredReply | None:
        """As `find`, of a call that it need not contain."""
        ...

    def keep(self, key: CallKey, sent: SentRequest, reply: StoredReply) -> None:
        """Keep a reply: it outlives this process when the method returns."""
        ...

    def keep_fault(self, key: CallKey, sent: SentRequest, fault: CallFault) -> None:
        """Note that a call failed; it is never answered with that."""
        ...


AMBIENT: ContextVar[CallStore | None] = ContextVar("duologue_call_store", default=None)
"""The store of calls that are made outside a run with a journal of its own."""


def kept_in(store: CallStore) -> AbstractContextManager[CallStore]:
    """Inside, calls of models are answered from this store, and kept in it."""
    return during(AMBIENT, store)


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
    """The value as plain JSON; other parts of it, such as an object of a client, as text."""
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
