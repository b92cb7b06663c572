"""What replays of stored conversations show: where each leaves its record, the calls saved, and success before and after."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ...data.formats.record_lines import line
from ...data.records import Conversation, Record
from .pairs import PairedTest, changed_lines, compare_pairs, paired_lines

NAMES = ("the record", "the replay")
"""Names of both versions in a comparison."""


class ReplayedConversation(Record):
    """A stored conversation and its replay."""

    id: str
    differs_at: int | None
    """Number of the first message that is not that of the record, from 0; None if all are."""
    identical: bool
    """Whether the record of the replay is the stored one, byte for byte, beside clock times and provenance."""
    calls: int
    """Calls of the user's side: its drafts, and the models that judged them."""
    saved: int
    """Those of them that were taken from the record."""


class ReplayResult(Record):
    """The replays of the conversations of a run."""

    conversations: tuple[ReplayedConversation, ...]
    success: PairedTest
    """Success before and after, in pairs of a stored conversation and its replay."""
    missing: int = 0
    """Stored conversations without a replay: it failed, or was not begun."""

    @property
    def identical(self) -> int:
        """Number of replays that are their records."""
        return sum(one.identical for one in self.conversations)

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
        """The result in words, a line each."""
        count, left = len(self.conversations), sum(self.differs_at.values())
        lines = [f"{count} replayed: {self.identical} equal their records, {left} fork"]
        if self.differs_at:
            lines.append(
                "forks by first other message: " + ", ".join(f"#{at}: {n}" for at, n in self.differs_at.items())
            )
        if self.saved is not None:
            taken, calls = (sum(getattr(one, name) for one in self.conversations) for name in ("saved", "calls"))
            lines.append(f"calls of the user's side that were saved: {taken} of {calls} ({100 * self.saved:.0f} %)")
        if any(pair.old is not None or pair.new is not None for pair in self.success.tested):
            lines += [*paired_lines(self.success), *changed_lines(self.success)]
        if self.missing:
            lines.append(f"{self.missing} stored conversations have no replay")
        return lines


def replay_result(stored: Iterable[Conversation], replays: Mapping[str, Conversation]) -> ReplayResult:
    """Compare stored conversations, which are read once, with their replays by id."""
    rows: list[ReplayedConversation] = []
    pairs: list[list[Conversation]] = [[], []]
    missing = 0
    for old in stored:
        new = replays.get(old.id)
        if new is None or new.stop == "cancelled":
            missing += 1
            continue
        rows.append(_row(old, new))
        pairs[0].append(old)
        pairs[1].append(new)
    return ReplayResult(
        conversations=tuple(rows),
        success=compare_pairs(*pairs, names=NAMES),
        missing=missing,
    )


def _row(old: Conversation, new: Conversation) -> ReplayedConversation:
    forks = new.forks if new.forks is not None and new.forks.answers_only else None
    taken = new if forks is None else new.model_copy(update={"messages": new.messages[: forks.at + 1], "unsaid": ()})
    return ReplayedConversation(
        id=old.id,
        differs_at=None if forks is None else forks.at + 1,
        identical=_content(old) == _content(new),
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
