"""Conversations for other tools: a pandas table of their messages, and files in the formats that are written."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import DataError, SettingError, at, of_extra
from . import domains
from .records import Conversation

if TYPE_CHECKING:
    import pandas

_COLUMNS = {
    "conversation": "string",
    "scenario": "string",
    "message": "Int64",
    "turn": "Int64",
    "role": "string",
    "text": "string",
    "rejected": "Int64",
    "tokens": "Int64",
    "stop": "string",
}
"""The columns of `frame` with their types, which have missing values."""

_BY_ENDING = {".jsonl": "replay", ".parquet": "parquet", ".eval": "inspect"}
"""The formats that a path's ending names; any other path is one of the data set's own format."""


def frame(conversations: Iterable[Conversation]) -> "pandas.DataFrame":
    """A pandas table with a row for each message.

    Its columns: `conversation` (the id), `scenario` (the topic in a few words), `message` (its number, from 0), `turn`
    (from 0; a new one begins where the user speaks after the assistant), `role` (`user`, `assistant`, or the name of a
    third one), `text`, `rejected` (how many drafts before it were rejected), `tokens` (input and output of all its
    drafts, and of judging them; missing if no draft is recorded), `stop` (why the conversation ended). Everything else
    is in the records: `pandas.json_normalize(one.model_dump(mode="json") for one in conversations)`.

    Raises:
        MissingExtraError: pandas is not installed (the extra `stats`).

    Example::

        >>> import duologue
        >>> loaded = duologue.load("sim_quac.json")  # doctest: +SKIP
        >>> duologue.frame(loaded).groupby("role").text.apply(lambda texts: texts.str.len().mean())  # doctest: +SKIP
    """
    table = of_extra("pandas", "stats").DataFrame(
        (row for conversation in conversations for row in _rows(conversation)), columns=list(_COLUMNS)
    )
    return table.astype(_COLUMNS)


def _rows(conversation: Conversation) -> Iterator[tuple[Any, ...]]:
    topic, turn, answered = domains.of(conversation).title(conversation.scenario), 0, False
    for number, message in enumerate(conversation.messages):
        if message.name is None:  # a third one's message begins no turn
            turn += message.role == "user" and answered
            answered = message.role == "assistant"
        yield (
            conversation.id,
            topic,
            number,
            turn,
            message.name or message.role,
            message.text,
            len(message.rejected),
            message.usage.tokens if message.attempts else None,
            conversation.stop,
        )


def save(conversations: Iterable[Conversation], path: str | Path, to: str = "") -> list[str]:
    """Write conversations to a file, or a folder where the format is one; what was there before is replaced.

    Args:
        conversations: A result of `load` or `simulate`, or records of your own.
        path: Where to. `.jsonl` are records with all their content, `.parquet` the same with typed columns, `.eval` a
            log of Inspect. Any other path gets the published format of the conversations' kind: a file for `simquac`, a
            folder for `recllmsim`.
        to: Another format, such as `messages` or `sharegpt`: those of `duologue convert --to`.

    Returns:
        A line for each thing that the format cannot hold.

    Raises:
        SettingError: There is no such format, or the path names none.
        DataError: A conversation cannot be written in it.

    Example::

        >>> import duologue
        >>> duologue.save(duologue.load("out/demo-1"), "demo.parquet")  # doctest: +SKIP
        []
    """
    target, writers = Path(path), domains.targets()
    if not isinstance(conversations, Sequence):
        conversations = list(conversations)
    kind = domains.of(conversations[0]).kind if conversations else ""
    name = to or _BY_ENDING.get(target.suffix, kind)
    if name not in writers:
        what = f"there is no format {to!r}" if to else f"{target.name} names no format"
        raise SettingError(f"{at(target)}: {what}: give to=, one of {', '.join(writers)}")
    try:
        return writers[name](conversations, target)
    except DataError:
        raise
    except ValueError as error:
        raise DataError(f"{at(target)}: cannot be written as {name}: {error}") from None
