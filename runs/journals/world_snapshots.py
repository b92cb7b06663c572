"""The snapshot of a world at a message of a stored conversation, in the call journal of its run."""

from pathlib import Path
from typing import Any

from ...data.files.json_files import parsed
from ...data.records import Conversation, Role
from ...errors import DataError
from .calls import CALLS


def snapshot_at(folder: Path, conversation: Conversation, at: int) -> dict[str, Any] | None:
    """The world right after message number `at`, in the journal of a run folder; None if it holds nothing.

    An agent that spoke last, or before a user without a world of its own, left the world in this state. A complete run
    keeps its journal only with `--keep-calls`.
    """
    journal = folder / CALLS
    last_call = _last_turn(conversation, at)
    if last_call is None or not journal.is_file():
        return None
    snapshot: dict[str, Any] | None = None
    with journal.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if b'"world"' not in line and b'"anew"' not in line:
                continue
            try:
                value = parsed(line.decode("utf-8"), journal, number)
                if value["conversation"] != conversation.id:
                    continue
                if "anew" in value:
                    snapshot = None
                elif (value["role"], value["turn"], value["attempt"]) == last_call:
                    snapshot = value["world"]
            except (UnicodeDecodeError, DataError, KeyError, TypeError):
                continue  # half a line
    return snapshot


def _last_turn(conversation: Conversation, at: int) -> tuple[Role, int, int] | None:
    """Role, turn and attempt of the call that made the assistant's last message up to number `at`.

    None without one, or where that call made further messages: its snapshot is of after these.
    """
    first, last = 0, None
    turn = 0
    for exchange in conversation.exchanges:
        begin = first + len(exchange.user)
        first = begin + len(exchange.assistant)
        if begin > at:
            break
        if exchange.assistant:
            whole = first - 1 <= at
            drafts = [attempt for message in exchange.assistant for attempt in message.attempts]
            last = ("assistant", turn, drafts[-1].number) if whole and drafts else None
        turn += any(message.stored for message in exchange.assistant)
    return last  # type: ignore[return-value]
