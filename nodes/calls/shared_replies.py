"""Replies to a simulated user's requests that several versions of its conversation have in common.

Two versions of an agent are compared with the same user. Where the user's model is sent the same, under the same name of
the call, it is asked once: what it replied to one version is its reply to the other.
"""

import asyncio
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

from .call_store import CallKey, CallStore, SentRequest, StoredReply


@dataclass
class SharedReplies:
    """The versions whose users share replies; without any, each store answers for itself."""

    stores: list[CallStore] = field(default_factory=list[CallStore])
    """Of the versions that are simulated together, and of earlier runs."""
    together: bool = False
    """Whether several versions are simulated at the same time."""
    _stored: dict[tuple[CallKey, str], StoredReply] = field(default_factory=dict[tuple[CallKey, str], StoredReply])
    """The replies of versions without a store."""
    _locks: "WeakValueDictionary[tuple[CallKey, str], asyncio.Lock]" = field(default_factory=WeakValueDictionary)

    def has(self, role: str) -> bool:
        """Whether the calls of a role are shared."""
        return (self.together or bool(self.stores)) and is_of_user(role)

    def alone(self, key: CallKey, sent: SentRequest | None) -> AbstractAsyncContextManager[Any]:
        """Inside, no other version makes the same call: it waits, and finds the reply."""
        if sent is None or not (self.together and self.has(key.role)):
            return nullcontext()
        return self._locks.setdefault((key, sent.digest), asyncio.Lock())

    def find(self, own: CallStore | None, key: CallKey, sent: SentRequest) -> StoredReply | None:
        """The reply in a version's own store, else that of another, which its own store then has too."""
        shared = self._of_another(own, key, sent) if self.has(key.role) else None
        if shared is not None:
            if own is not None:
                own.keep(key, sent, shared)
            return shared
        return None if own is None else own.find(key, sent)

    def _of_another(self, own: CallStore | None, key: CallKey, sent: SentRequest) -> StoredReply | None:
        if own is not None and own.look_up(key, sent) is not None:
            return None
        others = (store.look_up(key, sent) for store in self.stores if store is not own)
        reply = self._stored.get((key, sent.digest)) if own is None else None
        reply = reply or next((stored for stored in others if stored is not None and _fits(stored)), None)
        return None if reply is None else reply.shared_with_another

    def keep(self, own: CallStore | None, key: CallKey, sent: SentRequest, reply: StoredReply) -> None:
        """Keep a new reply, for the other versions too if it fits them."""
        if own is not None:
            own.keep(key, sent, reply)
        if not self.has(key.role) or not _fits(reply):
            return
        for store in self.stores:
            if store is not own:
                store.keep(key, sent, reply.shared_with_another)
        if own is None and self.together:
            self._stored[key, sent.digest] = reply.shared_with_another


def is_of_user(role: str) -> bool:
    """Whether calls of a role are the user's, or of a model that judges its drafts."""
    return role == "user" or role.startswith("user judge ")


def _fits(reply: StoredReply) -> bool:
    """Whether other versions may have a reply: it has words, and no world that would have to be brought back."""
    words = reply.value.get("content") or any(draft.get("text") for draft in reply.value.get("drafts", []))
    return bool(words) and reply.world is None
