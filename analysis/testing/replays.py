"""What replays of stored conversations show: where each leaves its record, and the calls saved."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from ...data.formats.record_lines import line
from ...data.records import Conversation, Record


class ReplayedConversation(Record):
    """A stored conversation and its replay."""

    id: str
    came_out: Literal["equal", "ended otherwise", "different", "longer"]
    """`equal`: the record of the replay is the stored one, byte for byte, beside clock times and provenance; `ended
    otherwise`: with the same messages; `longer`: it goes on after the last message of the record."""
    differs_at: int | None
    """Number of the first message that is not that of the record, from 0; None if all are."""
    calls: int
    """Calls of the user's side: its drafts, and the models that judged them."""
    saved: int
    """Those of them that were taken from the record."""


class ReplayResult(Record):
    """The replays of the conversations of a run."""

    conversations: tuple[ReplayedConversation, ...]
    missing: int = 0
    """Stored conversations without a replay: it failed, or was not begun."""

    @property
    def differs_at(self) -> dict[int, int]:
        """Number of replays that leave their record at each message, by its number."""
        numbers = Counter(one.differs_at for one in self.conversations if one.differs_at is not None)
        return dict(sorted(numbers.items()))

    @property
    def saved(self) -> float | None:
        """Share of the calls of the user's side that was taken from the records; None without a call."""
        calls = sum(one.calls for one in self.conversations)
        return sum(one.saved for one in self.conversations) / calls if calls else None

    def lines(self) -> list[str]:
        """The result in words, a line each: every stored conversation is counted."""
        counts = Counter(one.came_out for one in self.conversations)
        lines = [f"{len(self.conversations)} replayed: {', '.join(f'{n} {how}' for how, n in counts.most_common())}"]
        if self.differs_at:
            places = ", ".join(f"#{at}: {n}" for at, n in self.differs_at.items())
            lines.append(f"they leave their records at message {places}")
        if self.saved is not None:
            taken, calls = (sum(getattr(one, name) for one in self.conversations) for name in ("saved", "calls"))
            lines.append(f"calls of the user's side that were saved: {taken} of {calls} ({100 * self.saved:.0f} %)")
        if self.missing:
            lines.append(f"{self.missing} stored conversations have no replay")
        return lines


def replay_result(stored: Iterable[Conversation], replays: Mapping[str, Conversation]) -> ReplayResult:
    """Compare stored conversations, which are read once, with their replays by id."""
    rows: list[ReplayedConversation] = []
    missing = 0
    for old in stored:
        new = replays.get(old.id)
        if new is None or new.stop == "cancelled":
            missing += 1
        else:
            rows.append(_row(old, new))
    return ReplayResult(conversations=tuple(rows), missing=missing)


def _row(old: Conversation, new: Conversation) -> ReplayedConversation:
    forks = new.forks if new.forks is not None and new.forks.answers_only else None
    taken = new if forks is None else new.model_copy(update={"messages": new.messages[: forks.at + 1], "unsaid": ()})
    came_out: Literal["equal", "ended otherwise", "different", "longer"] = "ended otherwise"
    if forks is not None:
        came_out = "longer" if old.messages[forks.at :] == old.messages[-1:] else "different"
    elif _content(old) == _content(new):
        came_out = "equal"
    return ReplayedConversation(
        id=old.id,
        came_out=came_out,
        differs_at=None if forks is None else forks.at + 1,
        calls=_calls(new),
        saved=_calls(taken),
    )


def _content(conversation: Conversation) -> str:
    return line(conversation.without_timing().model_copy(update={"provenance": None}))


def _calls(conversation: Conversation) -> int:
    """Calls of the user's side in a conversation."""
    drafts: dict[Any, int] = {}
    for place, attempts in [
        *((number, one.attempts) for number, one in enumerate(conversation.messages) if one.role == "user"),
        *((turn.after, turn.attempts) for turn in conversation.unsaid if turn.role == "user"),
    ]:
        for attempt in attempts:
            drafts[place, attempt.number] = 1 + (attempt.judging.calls if attempt.judging is not None else 0)
    return sum(drafts.values())
