"""Resuming a run: the conversations that are simulated again, and the spending before."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from ..data.executed_graph import SPEAKER_OF, SPEAKERS, VALIDATORS
from ..data.formats import record_lines
from ..data.records import Attempt, Conversation, Role
from ..data.text.words import texts_in
from ..graphs import Cast
from ..nodes.calls.spending import PriceQuery, Spending, asked_model
from ..nodes.limits import Limits
from ..nodes.validators import models_of
from .folder import dataset
from .folder.run_folder import RunFolder
from .journals.calls import CallFile, count


def to_repeat(folder: RunFolder, limits: Limits, *, retry_failed: bool) -> tuple[set[str], set[str]]:
    """Ids of finished conversations to simulate again, and of those whose kept replies are not to be used then."""
    again, anew = folder.cut_off_below(limits.max_tokens), set()
    for conversation in folder.conversations():
        most = limits.max_tokens
        if conversation.stop == "budget" and (most is None or conversation.usage.tokens < most):
            again.add(conversation.id)  # a budget of the run ended it, not its own
        elif dataset.is_unanswered(conversation):
            again.add(conversation.id)
        elif retry_failed and conversation.fault not in (None, "none"):
            anew.add(conversation.id)
    return again | anew, anew


def said_nothing(folder: RunFolder) -> Iterator[tuple[str, Role]]:
    """The conversations that failed because every reply of a turn was without a text, each with the role.

    Such replies are the endpoint's fault, but were kept as replies, since a validator rejects one among others.
    """
    for conversation in record_lines.cut_short(folder.path):
        turn = conversation.unsaid[-1] if conversation.failure is not None and conversation.unsaid else None
        if turn is not None and all(attempt.flaw and not attempt.text for attempt in turn.attempts):
            yield conversation.id, turn.role


def without_recorded_calls(replay: Conversation) -> Conversation:
    """A replay without the drafts and verdicts that came from its record: they were paid for there."""
    forks = replay.forks if replay.forks is not None and replay.forks.answers_only else None
    until = len(replay.messages) if forks is None else forks.at + 1
    messages = [
        message.model_copy(update={"attempts": tuple(map(_unjudged, message.attempts)) * (message.role != "user")})
        for message in replay.messages[:until]
    ]
    changes: dict[str, Any] = {"messages": (*messages, *replay.messages[until:])}
    return replay.model_copy(update=changes | ({"unsaid": (), "closing_usage": None} if forks is None else {}))


def _unjudged(attempt: Attempt) -> Attempt:
    return attempt.model_copy(update={"judging": None})


def spent_before(
    spending: Spending, cast: Cast, conversations: Iterable[Conversation], again: Collection[str], file: CallFile | None
) -> None:
    """Count the spending before: the finished conversations, and the stored replies of those that go on.

    A run's bounds hold over all its calls, not over those of one command. Nothing is counted if nothing is bounded.
    """
    if not spending.bounded:
        return
    speakers: dict[str, Any] = {role: _price_query(cast.nodes[speaker]) for speaker, role in SPEAKERS.items()}
    judges: dict[str, Any] = {role: _price_query(cast.nodes[judge]) for judge, role in VALIDATORS.items()}
    pages = {role: [cast.pages[name].source] if (name := f"{role}/system") in cast.pages else [] for role in speakers}
    for conversation in conversations:
        if conversation.id in again:
            continue
        texts = [message.text for message in conversation.messages]
        for role in SPEAKER_OF:
            for attempt in conversation.attempts(role, new_only=True):
                if attempt.usage is not None and not attempt.shared:
                    # Where no tokens were reported: the page, and half of what was said in the end, were sent.
                    sent = [*pages[role], *texts_in(conversation.scenario), *texts[: (len(texts) + 1) // 2]]
                    used = attempt.usage.model_dump()
                    spending.add(attempt.model, used, role=role, query=speakers[role], sent=sent, reply=attempt.text)
                if attempt.judging is not None:
                    spending.add(None, attempt.judging.model_dump(), role="judge", query=judges[role])
        if conversation.closing_usage is not None:
            spending.add(None, conversation.closing_usage.model_dump(), role="judge", query=_price_query(cast.closing))
    judge = next(filter(None, judges.values()), None)
    for paid in file.paid if file is not None else ():
        side = next((role for role in speakers if role == paid.role), None)
        price_query = speakers[side] if side else judge
        count(spending, paid._replace(role=side or "judge"), price_query)


def _price_query(node: Any) -> PriceQuery | None:
    """The price query of the first model that a node calls; None without one."""
    return next((asked_model(model) for model in models_of(node)), None)
