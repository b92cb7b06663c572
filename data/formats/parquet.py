"""Conversations as a Parquet file with explicit types: a row each, with columns for training and the whole record.

A column without a value keeps its type; values of any shape are JSON texts. Rows are written and read in groups, so that a
file of any length needs little memory.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from ...errors import DataError, at, of_extra
from ..files.json import dumps, parsed, replacing_bytes
from ..files.tables import GROUP, PARQUET, parquet_rows
from ..records import Conversation, bare
from .messages import as_messages, turns_in
from .record_lines import from_plain
from .source import Format, Source

RECORD = "record"
"""The column with the whole record as JSON text, from which it is read again."""

_MESSAGE = {"role": "string", "content": "string", "tool_calls": "string", "tool_call_id": "string"}
_REJECTED = {"role": "string", "message": "int32", "attempt": "int32", "text": "string", "reason": "string"}
COLUMNS: dict[str, Any] = {
    "id": "string",
    "messages": _MESSAGE,
    "scenario": "string",
    "labels": "string",
    "rejected": _REJECTED,
    "stop": "string",
    "cast": "string",
    RECORD: "string",
}
"""The columns with their types; an object is a list of objects.

`messages` are in OpenAI's form, with instructions and results of tools. In `rejected` a message is a number of the record's
`messages`, from 0. Content that is not text, spans and labels of messages are only in the record.
"""


def write(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write one conversation a row; nothing is left out. MissingExtraError without pyarrow."""
    pyarrow, parquet = of_extra("pyarrow", "parquet"), of_extra("pyarrow.parquet", "parquet")
    schema = pyarrow.schema([(name, _typed(pyarrow, kind)) for name, kind in COLUMNS.items()])
    left = iter(conversations)
    with replacing_bytes(path) as file, parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        while rows := [_whole(_row(conversation)) for conversation in islice(left, GROUP)]:
            writer.write_table(pyarrow.Table.from_pylist(rows, schema=schema))
    return []


def _typed(pyarrow: Any, kind: Any) -> Any:
    if isinstance(kind, str):
        return getattr(pyarrow, kind)()
    return pyarrow.list_(pyarrow.struct([(name, _typed(pyarrow, inner)) for name, inner in kind.items()]))


def read(path: str | Path) -> Iterator[Conversation]:
    """The conversations of the records, one at a time."""
    for place, row in parquet_rows(Path(path), [RECORD]):
        try:
            yield from_plain(parsed(str(row[RECORD]), path))
        except DataError as error:
            raise DataError(f"{at(path, place)}: {error}") from None


def _recognised(source: Source) -> bool:
    if not source.begin.startswith(PARQUET):
        return False
    try:
        names = of_extra("pyarrow.parquet", "parquet").read_schema(source.path).names
    except Exception:  # without the library, or broken: the reader of tables says which
        return False
    return {"id", "messages", RECORD} <= {*names}


def _row(conversation: Conversation) -> dict[str, Any]:
    drafts = [(one.role, number, draft) for number, one in enumerate(conversation.messages) for draft in one.attempts]
    drafts += [(turn.role, turn.after, draft) for turn in conversation.unsaid for draft in turn.attempts]
    return {
        "id": conversation.id,
        "messages": [_turn(turn) for turn in as_messages(turns_in(conversation))],
        "scenario": dumps(conversation.scenario),
        "labels": dumps(bare(conversation.labels)),
        "rejected": [
            {"role": role, "message": number, "attempt": draft.number, "text": draft.text, "reason": draft.reason}
            for role, number, draft in drafts
            if draft.verdict == "rejected"
        ],
        "stop": conversation.stop,
        "cast": conversation.provenance.cast if conversation.provenance is not None else None,
        RECORD: dumps(conversation.plain()),
    }


def _turn(turn: Mapping[str, Any]) -> dict[str, Any]:
    calls, content = turn.get("tool_calls"), turn["content"]
    texts = [block.get("text", "") for block in content if block["type"] == "text"] if isinstance(content, list) else []
    return {
        "role": turn["role"],
        "content": "".join(texts) if isinstance(content, list) else content,
        "tool_calls": dumps(calls) if calls else None,
        "tool_call_id": turn.get("tool_call_id"),
    }


def _whole(value: Any) -> Any:
    """The value with question marks for halves of surrogate pairs, which UTF-8 lacks; the record has their escapes."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {key: _whole(inner) for key, inner in value.items()}
    return [_whole(inner) for inner in value] if isinstance(value, list) else value


FORMAT = Format("parquet", "Parquet of records, as `datasets` loads it", _recognised, read, write)
