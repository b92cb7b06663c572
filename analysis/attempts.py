"""How soon drafts pass: the verdicts of validators on each attempt, by model and reason.

From records that hold every draft, rejected ones too. No published data set of this kind does.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter

from ..data.formats.messages import further
from ..data.grounding import is_refusal
from ..data.records import WORDLESS, Attempt, Conversation, Record, Role
from .tables import Column, Table

_PLACES: Mapping[Role, str] = {"user": "user_simulator", "assistant": "assistant"}


class AttemptRow(Record):
    """All calls of one model that were the n-th attempt at a message."""

    role: Role
    model: str
    """The model's spec, or the node that spoke."""
    attempt: int
    """Which call of the turn, from 1."""
    turns: int
    """Turns that came to this attempt, and whose draft was read."""
    accepted: int
    grounded: int | None
    """Accepted answers that are not refusals: each is made of the section's own words. None for questions."""
    refused: int | None
    """Accepted refusals. None for questions."""
    rejected: int
    """Drafts that did not pass; drafts of a re-enacted side that would not have passed count here."""
    reasons: dict[str, int]
    """Rejected drafts by reason."""
    accepted_so_far: float
    """Share of the model's turns with an accepted draft at this attempt or an earlier one, 0 to 1."""


@dataclass
class _Counts:
    turns: int = 0
    accepted: int = 0
    refused: int = 0
    reasons: Counter[str] = field(default_factory=Counter)


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


def attempt_rows(conversations: Iterable[Conversation]) -> list[AttemptRow]:
    """A row for each side, model and attempt; empty for conversations that were read from elsewhere."""
    counts: defaultdict[tuple[Role, str, int], _Counts] = defaultdict(_Counts)
    for conversation in conversations:
        for role, turn in turns_of(conversation):
            model = speaker_of(conversation, role)
            for number, of_call in groupby(turn, key=lambda attempt: attempt.number):
                drafts = [attempt for attempt in of_call if attempt.verdict != "unjudged"]
                if drafts:
                    _count(counts[role, model, number], drafts)
    rows = []
    for (role, model, number), of_attempt in sorted(counts.items(), key=lambda item: item[0]):
        before = sum(counts[role, model, n].accepted for n in range(1, number + 1) if (role, model, n) in counts)
        first = counts[role, model, 1].turns if (role, model, 1) in counts else of_attempt.turns
        answers = role == "assistant"
        rows.append(
            AttemptRow(
                role=role,
                model=model,
                attempt=number,
                turns=of_attempt.turns,
                accepted=of_attempt.accepted,
                grounded=of_attempt.accepted - of_attempt.refused if answers else None,
                refused=of_attempt.refused if answers else None,
                rejected=of_attempt.turns - of_attempt.accepted,
                reasons=dict(sorted(of_attempt.reasons.items(), key=lambda item: (-item[1], item[0]))),
                accepted_so_far=before / first,
            )
        )
    return rows


def attempt_table(rows: Sequence[AttemptRow], source: str = "") -> Table:
    """The rows of a source, the reasons of rejected drafts in words."""
    columns = [
        *(Column(name=name) for name in ("role", "model")),
        *(Column(name=name, kind="count") for name in ("attempt", "turns", "accepted", "grounded", "refused")),
        Column(name="so far", kind="number"),
        Column(name="rejected"),
    ]
    values = [
        row.model_dump()
        | {"so_far": row.accepted_so_far, "rejected": ", ".join(f"{n} {why}" for why, n in row.reasons.items()) or "0"}
        for row in rows
    ]
    notes = [
        "Grounded: accepted answers that are not refusals; questions have none. So far: share of the model's turns "
        "accepted at this attempt or before."
    ]
    if not rows:
        notes = ["There is no draft: these conversations were read from elsewhere, or have no message."]
    return Table.of(f"Validity by attempt{source and f': {source}'}", columns, values, notes)


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
    for name in (conversation.labels.get("chat_model"), further(conversation).get("assistant")):
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


def _count(counts: _Counts, drafts: Sequence[Attempt]) -> None:
    counts.turns += 1
    failed = [draft for draft in drafts if draft.verdict in ("rejected", "observed")]
    if failed:
        counts.reasons[failed[0].reason or "not told"] += 1
    else:
        counts.accepted += 1
        counts.refused += all(is_refusal(draft.text) for draft in drafts)
