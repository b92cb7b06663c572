"""Drafts of what is said: who made them, why they were rejected, when one passed, and what is grounded.

From records that hold every draft, rejected ones too. No published data set of this kind does.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import attrgetter
from typing import Any, Self

from ..data.formats.messages import further
from ..data.records import WORDLESS, Attempt, Conversation, Message, Record, Role, value_of
from ..data.rules.guards import user_reasons
from ..data.simquac import KIND
from ..data.text.languages import HAN

CONFUSED = "role_leak"
"""The guards' reason for a user that speaks for another side."""
MOST_REASONS = 4
"""Reasons that a line of text names."""

_PLACES: Mapping[Role, str] = {"user": "user_simulator", "assistant": "assistant"}


def rejected_drafts(conversation: Conversation, role: Role, *, wordless: bool = False) -> int:
    """How many drafts of a side its validator rejected, those that were sent all the same included.

    `wordless`: replies without words count too, which no validator reads.
    """
    return sum(
        attempt.verdict in ("rejected", "observed") and (wordless or not _is_wordless(attempt))
        for attempt in conversation.attempts(role)
    )


def _is_wordless(attempt: Attempt) -> bool:
    """Whether no validator read a draft: it had no words, or the endpoint's filter or length limit left none."""
    return attempt.reason in WORDLESS or (not attempt.text and attempt.reason == attempt.flaw is not None)


def sent_although_rejected(conversation: Conversation) -> int:
    """How many replies of the assistant were sent although its validator rejected them."""
    return sum(message.sent_although_rejected for message in conversation.messages if message.role == "assistant")


def speaker_of(conversation: Conversation, role: Role) -> str:
    """The user simulator or assistant by name: model with arguments, replayed file, agent or node; else `not told`."""
    nodes = conversation.provenance.nodes if conversation.provenance is not None else {}
    node = nodes.get(_PLACES[role])
    return node.label if node is not None else "not told"


def model_tokens(conversation: Conversation) -> int:
    """Tokens of all calls of models in a conversation, without those of rule-based speakers."""
    rule_based = sum(draft.spent.tokens for draft in conversation.attempts(new_only=True) if draft.rule_based)
    return conversation.usage.tokens - rule_based


def assistant_of(conversation: Conversation) -> str:
    """The assistant that answered, by name: as the data names it (`chat_model`, `assistant`), or the run; else empty.

    A replay of recorded answers is not an assistant.
    """
    for name in (value_of(conversation.labels, "chat_model"), further(conversation).get("assistant")):
        if isinstance(name, str) and name.strip():
            return name.strip()
    node = conversation.provenance.nodes.get(_PLACES["assistant"]) if conversation.provenance is not None else None
    return node.label if node is not None and not node.stored else ""


def turns_of(conversation: Conversation) -> Iterator[tuple[Role, list[Attempt]]]:
    """The drafts of each turn: of consecutive messages first, then of turns without a message."""
    for role, messages in groupby(conversation.messages, key=attrgetter("role")):
        yield role, [attempt for message in messages for attempt in message.attempts]
    for turn in conversation.unsaid:
        yield turn.role, list(turn.attempts)


class SideDrafts(Record):
    """The drafts of one side; shares from 0 to 1, None where there is nothing to take one of."""

    role: Role
    drafts: int
    """Drafts that a validator read."""
    rejected: float | None
    """Share of them that did not pass, those that were sent all the same included."""
    reasons: dict[str, float]
    """The same by reason, the most frequent first; their sum is `rejected`."""
    turns: int
    """Turns with such a draft."""
    accepted_after: dict[int, float]
    """Share of the turns that were accepted at this attempt, from 1; what is missing to 1 was never accepted."""
    confused_drafts: float | None
    """Share of the user's drafts that speak for another side, by the guard's rule; of the assistant None."""
    confused_messages: float | None
    """The same of its messages: what the guard let pass, or a cast without that guard."""
    grounded: float | None
    """Share of the replies, refusals and fallbacks included, that are made of the section's own words (SimQuAC)."""
    words: float | None
    """Mean words of a message; each Chinese character counts as one."""

    @property
    def line(self) -> str:
        """The figures on one line, for people."""
        reasons = [f"{name} {_percent(share)}" for name, share in [*self.reasons.items()][:MOST_REASONS]]
        more = ["..."] * (len(self.reasons) > MOST_REASONS)
        rejected = f"{_percent(self.rejected)} rejected" + (f" ({', '.join(reasons + more)})" if reasons else "")
        passed = [f"{_percent(share)} at attempt {number}" for number, share in self.accepted_after.items()]
        parts = [f"{self.drafts} drafts, {rejected}", f"turns accepted: {', '.join(passed) or 'none'}"]
        if self.confused_drafts or self.confused_messages:
            parts.append(
                f"speaks for another side: {_percent(self.confused_drafts)} of drafts, {_percent(self.confused_messages)} of messages"
            )
        if self.grounded is not None:
            parts.append(f"{_percent(self.grounded)} of replies grounded")
        if self.words is not None:
            parts.append(f"{self.words:.1f} words a message")
        return f"{self.role}: {'; '.join(parts)}"


class DraftCount:
    """Counts the drafts of conversations that are added one after the other."""

    def __init__(self) -> None:
        self.counts: dict[Role, Counter[str]] = {"user": Counter(), "assistant": Counter()}
        self.reasons: dict[Role, Counter[str]] = {"user": Counter(), "assistant": Counter()}
        self.accepted: dict[Role, Counter[int]] = {"user": Counter(), "assistant": Counter()}

    @classmethod
    def of(cls, conversations: Iterable[Conversation]) -> Self:
        """The count of these."""
        count = cls()
        for conversation in conversations:
            count.add(conversation)
        return count

    def add(self, conversation: Conversation) -> None:
        """Count one more conversation."""
        for role, turn in turns_of(conversation):
            if judged := [attempt for attempt in turn if attempt.verdict != "unjudged"]:
                self._add_turn(role, judged)
        is_quoting = conversation.scenario.get("kind") == KIND
        for message in conversation.messages:
            if message.name is None and message.stored:
                self._add_message(message, is_quoting=is_quoting)

    def _add_turn(self, role: Role, drafts: list[Attempt]) -> None:
        counts = self.counts[role]
        counts["turns"] += 1
        for number, of_call in groupby(drafts, key=lambda draft: draft.number):
            call = list(of_call)
            counts["drafts"] += len(call)
            failed = [draft for draft in call if draft.verdict != "accepted"]
            self.reasons[role].update(draft.reason or "not told" for draft in failed)
            self.accepted[role][number] += not failed
            if role == "user":
                counts["confused drafts"] += sum(_is_confused(draft) for draft in call)

    def _add_message(self, message: Message, *, is_quoting: bool) -> None:
        counts = self.counts[message.role]
        counts["messages"] += 1
        counts["words"] += len(HAN.sub(" x ", message.text).split())
        counts["confused messages"] += message.role == "user" and CONFUSED in user_reasons(message.text)
        if is_quoting and message.role == "assistant":
            counts["replies"] += 1
            counts["grounded"] += bool(message.spans)

    @property
    def sides(self) -> list[SideDrafts]:
        """The figures of each side that has drafts, which published data have not."""
        return [self._side(role) for role, counts in self.counts.items() if counts["drafts"]]

    def _side(self, role: Role) -> SideDrafts:
        counts, reasons = self.counts[role], self.reasons[role]

        def share(part: float, of: str) -> Any:
            return part / counts[of] if counts[of] else None

        user = role == "user"
        return SideDrafts(
            role=role,
            drafts=counts["drafts"],
            rejected=share(reasons.total(), "drafts"),
            reasons={name: share(number, "drafts") for name, number in reasons.most_common()},
            turns=counts["turns"],
            accepted_after={n: share(number, "turns") for n, number in sorted(self.accepted[role].items()) if number},
            confused_drafts=share(counts["confused drafts"], "drafts") if user else None,
            confused_messages=share(counts["confused messages"], "messages") if user else None,
            grounded=share(counts["grounded"], "replies"),
            words=share(counts["words"], "messages"),
        )


def _is_confused(draft: Attempt) -> bool:
    return draft.reason == CONFUSED or CONFUSED in draft.notes or CONFUSED in user_reasons(draft.text)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f} %"
