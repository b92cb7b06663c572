"""Replies that are kept in memory only."""

from ...nodes.calls.store import CallKey, SentRequest, StoredReply


class StoreInMemory:
    """The replies to the users of a version without a file, for the other versions."""

    def __init__(self) -> None:
        self._replies: dict[tuple[CallKey, str], StoredReply] = {}

    def find(self, key: CallKey, sent: SentRequest) -> StoredReply | None:
        """The reply, if the same was sent."""
        return self._replies.get((key, sent.digest))

    look_up = find

    def keep(self, key: CallKey, sent: SentRequest, reply: StoredReply) -> None:
        """Keep what others share; each other reply is needed once."""
        if reply.shared:
            self._replies[key, sent.digest] = reply
