"""Calls by name, what they send, and the replies that are kept: the same question about the same turn is asked once."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, Protocol
from weakref import WeakValueDictionary

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from ...data.identity import call_seed, digest
from ...errors import DuologueError
from ..replies import writable
from ..settings.redaction import known_secrets, without, without_known_secrets


class CallKey(NamedTuple):
    """The name of one call of a run; the id of a conversation contains its repeat."""

    conversation: str
    role: str
    turn: int
    attempt: int
    vote: int


@dataclass(frozen=True)
class Call:
    """Identifies a request, from which the seed of each attempt is derived."""

    seed: int  # seed of the run
    conversation: str  # id of the conversation, or another name of what the call is about
    role: str  # the respondent
    turn: int = 0
    vote: int = 0  # distinguishes several requests of the same turn
    repeats: int = field(default=0, compare=False)  # how often the same words were rejected before it

    def seed_of(self, attempt: int) -> int:
        """The seed of an attempt, counted from 1; 0 is for random choices before the first."""
        return call_seed(self.seed, self.conversation, self.role, self.turn, attempt, self.vote)

    def key(self, attempt: int) -> CallKey:
        """The name of an attempt."""
        return CallKey(self.conversation, self.role, self.turn, attempt, self.vote)


@dataclass(frozen=True)
class SentRequest:
    """What a call sends, as plain JSON without secrets: to whom, with which arguments, and the messages."""

    to: Mapping[str, Any]
    messages: tuple[Mapping[str, Any], ...]
    digests: tuple[str, ...]  # A digest for each message

    @classmethod
    def of(cls, to: Mapping[str, Any], messages: Sequence[BaseMessage]) -> "SentRequest":
        """What is sent, with the messages of LangChain as plain JSON."""
        secrets = known_secrets()
        plain, digests = zip(*(_plain(message, secrets) for message in messages), strict=True) if messages else ((), ())
        return cls(without(dict(to), secrets), plain, digests)

    @cached_property
    def digest(self) -> str:
        """The digest of everything that is sent."""
        return digest(dict(self.to), list(self.digests))[:32]


def _plain(message: BaseMessage, secrets: tuple[str, ...]) -> tuple[Mapping[str, Any], str]:
    more = message.name or message.model_extra or getattr(message, "tool_calls", None)
    if type(message) in (HumanMessage, AIMessage, SystemMessage) and isinstance(message.content, str) and not more:
        return _plain_text(message.type, message.content, secrets)
    plain = {"type": message.type, "content": _as_json(message.content)}
    for name in ("tool_calls", "tool_call_id", "name"):
        if value := getattr(message, name, None):
            plain[name] = _as_json(value)
    return _with_digest(without(plain, secrets))


@lru_cache(maxsize=4096)  # each call sends again what was said before it
def _plain_text(kind: str, text: str, secrets: tuple[str, ...]) -> tuple[Mapping[str, Any], str]:
    return _with_digest(without({"type": kind, "content": writable(text)}, secrets))


def _with_digest(plain: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    return plain, digest(plain)[:16]


@dataclass(frozen=True)
class StoredReply:
    """A reply as it came, as plain JSON."""

    value: Mapping[str, Any]  # the fields of an `AIMessage`; of an agent, its update of the state
    retried: Mapping[str, int] = field(default_factory=dict)  # how often the call was made again before it, by fault
    shared: bool = False  # whether another version of the conversation got it and paid for it
    message: AIMessage | None = field(default=None, compare=False, repr=False)
    """The model's message, where it has just come."""

    @property
    def fits_others(self) -> bool:
        """Whether other versions may have it: it has words."""
        return bool(self.value.get("content")) or any(draft.get("text") for draft in self.value.get("drafts", []))

    @property
    def of_another(self) -> "StoredReply":
        """The reply as another version of the conversation has it."""
        drafts = [{**draft, "shared": True} for draft in self.value.get("drafts", [])]
        value = {**self.value, "drafts": drafts} if "drafts" in self.value else self.value
        return replace(self, value=value, retried={}, shared=True, message=None)


class CallStore(Protocol):
    """A store of replies, such as the journal of a run or a recorded file."""

    def find(self, key: CallKey, sent: SentRequest) -> StoredReply | None: ...  # an error if it must have every call
    def look_up(self, key: CallKey, sent: SentRequest) -> StoredReply | None: ...  # of a call that it need not have
    def keep(self, key: CallKey, sent: SentRequest, reply: StoredReply) -> None: ...  # it outlives this process then


@dataclass
class SharedReplies:
    """The versions of the same conversations whose users share replies.

    Two versions of an agent are compared with the same user. Where the user's model is sent the same in the same place
    it is asked once: what it replied to one version is its reply to the other.
    """

    stores: list[CallStore] = field(default_factory=list[CallStore])
    """Of the versions that are simulated together, and of earlier runs."""
    together: bool = False  # whether several versions are simulated at the same time
    locks: "WeakValueDictionary[tuple[CallKey, str], asyncio.Lock]" = field(default_factory=WeakValueDictionary)

    def has(self, role: str) -> bool:
        """Whether the calls of a role are shared: the user's, and those of a model that judges its drafts."""
        return (self.together or bool(self.stores)) and is_of_user(role)

    def alone(self, key: CallKey, sent: SentRequest) -> AbstractAsyncContextManager[Any]:
        """Inside, no other version makes the same call: it waits, and finds the reply."""
        if not (self.together and self.has(key.role)):
            return nullcontext()
        return self.locks.setdefault((key, sent.digest), asyncio.Lock())


def is_of_user(role: str) -> bool:
    """Whether calls of a role are the user's, or of a model that judges its drafts."""
    return role == "user" or role.startswith("user judge ")


@dataclass
class Replies:
    """The replies of a run: found in its own store, or in that of another version; kept as they come."""

    store: CallStore | None = None
    shared: SharedReplies = field(default_factory=SharedReplies)
    replayed: int = 0  # replies that were found in the run's own store
    broken: DuologueError | None = None  # why nothing can be kept any more, such as a full disk

    async def once(self, key: CallKey, sent: SentRequest, ask: Callable[[], Awaitable[StoredReply]]) -> StoredReply:
        """The reply that is kept for this call, if the same was sent; else what `ask` gives, which is kept."""
        async with self.shared.alone(key, sent):
            if (reply := self.find(key, sent)) is None:
                reply = await ask()
                if not reply.value.get("failed"):  # an agent whose own code failed is asked again
                    self.keep(key, sent, reply)
            return reply

    def keeps(self, role: str) -> bool:
        """Whether replies to a role are kept anywhere."""
        return self.store is not None or self.shared.has(role)

    def find(self, key: CallKey, sent: SentRequest) -> StoredReply | None:
        """The reply that is kept; what another version got, the own store then has too."""
        own = self.store
        if self.shared.has(key.role) and (own is None or own.look_up(key, sent) is None):
            others = (store.look_up(key, sent) for store in self.shared.stores if store is not own)
            if (other := next((reply for reply in others if reply and reply.fits_others), None)) is not None:
                if own is not None:
                    self._put(own, key, sent, other.of_another)
                return other.of_another
        reply = None if own is None else own.find(key, sent)
        self.replayed += reply is not None and not reply.shared
        return reply

    def keep(self, key: CallKey, sent: SentRequest, reply: StoredReply) -> None:
        """Keep a new reply, for the other versions too if it fits them."""
        if self.store is not None:
            self._put(self.store, key, sent, reply)
        if self.shared.has(key.role) and reply.fits_others:
            for store in self.shared.stores:
                if store is not self.store:
                    self._put(store, key, sent, reply.of_another)

    def _put(self, store: CallStore, key: CallKey, sent: SentRequest, reply: StoredReply) -> None:
        try:
            store.keep(key, sent, reply)
        except DuologueError as error:
            self.broken = self.broken or error
            raise


def plain_reply(message: AIMessage) -> dict[str, Any]:
    """A model's message as plain JSON, without its random id, its headers and what is at its default."""
    dumped = message.model_dump(exclude={"id"}, exclude_defaults=True)
    metadata = {key: value for key, value in dumped.pop("response_metadata", {}).items() if key != "headers"}
    return dict(without_known_secrets(_as_json(dumped | ({"response_metadata": metadata} if metadata else {}))))


def message_of(reply: StoredReply) -> AIMessage:
    """The model's message of a reply."""
    return reply.message or AIMessage.model_validate({"content": "", **reply.value})


def _as_json(value: Any) -> Any:
    """The value as plain JSON; other parts of it, such as an object of a client, as text."""
    return json.loads(writable(json.dumps(value, ensure_ascii=False, default=str)))
