"""Conversations as plain text: a list, or one with its tool calls and rejected drafts."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from ..analysis.outcomes import outcome
from ..data import Conversation, Loaded
from ..data.attempts import Attempt
from ..data.files.json_files import dumps
from ..data.records import Message
from ..data.summaries.outlines import outline
from ..data.text.terminal import on_one_line
from ..errors import DataError

LISTED = 50
"""Conversations that a list shows."""


def listed_text(source: Loaded, name: str) -> str:
    """A line for each of the first conversations, with its id and whether its user reached the goal."""
    rows = [f"{name}: {len(source)} conversations; id, end, success, messages, title"]
    for conversation in islice(source, LISTED):
        row, result = outline(conversation), outcome(conversation)
        success = {True: "yes", False: f"no (fault: {result.fault})", None: "no score"}[result.success]
        rows.append(on_one_line(f"{row.id}  {row.stop}  {success}  {row.messages}  {row.title}"))
    if len(source) > LISTED:
        rows.append(f"... and {len(source) - LISTED} more")
    return "\n".join(rows)


def conversation_of(source: Iterable[Conversation], name: str) -> Conversation:
    """The conversation with this id, of which the first characters are enough; DataError unless it is one."""
    matches = [conversation for conversation in source if conversation.id.startswith(name)]
    exact = [conversation for conversation in matches if conversation.id == name]
    if len(exact or matches) != 1:
        raise DataError(
            f"conversation {name!r}: {len(matches)} conversations have an id that begins so: give a whole one"
        )
    return (exact or matches)[0]


def conversation_text(conversation: Conversation) -> str:
    """Scenario, messages with calls of tools and rejected drafts, the end, and the score with its reason.

    Further lines of a text are indented, so that none of them looks like a message.
    """
    result = outcome(conversation)
    lines = [f"conversation {conversation.id}", f"scenario: {dumps(conversation.scenario)}"]
    for number, message in enumerate(conversation.messages):
        lines += _message_lines(number, message)
    for turn in conversation.unsaid:
        lines += [f"no message of the {turn.role} came of these drafts:", *_drafts(turn.attempts)]
    lines.append(f"ended: {conversation.stop or 'not told'}")
    if conversation.failure is not None:
        lines.append(f"failure: {conversation.failure.node}: {conversation.failure.error}")
    success = {True: "yes", False: "no", None: "no score"}[result.success]
    fault = "" if result.fault == "none" else f" (fault: {result.fault})"
    lines.append(f"success: {success}: {result.reason}{fault}")
    return "\n".join("\n        ".join(line.splitlines()) for line in lines)


def _message_lines(number: int, message: Message) -> Iterator[str]:
    yield from _drafts(message.rejected)
    for call in message.tool_calls:
        outcome_text = f"error: {call.error}" if call.error else dumps(call.result)
        yield f"    called {call.name}({dumps(call.arguments)}) -> {outcome_text}"
    yield f"{number} {message.role}: {message.text}"


def _drafts(attempts: Sequence[Attempt]) -> Iterator[str]:
    for attempt in attempts:
        yield f"    rejected ({attempt.reason}): {attempt.text}"
