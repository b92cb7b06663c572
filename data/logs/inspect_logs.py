"""Logs of Inspect's evaluations: `.json`, and `.eval`, which is a zip archive with a file for each sample.

"Log files" (inspect.aisi.org.uk/eval-logs.html): a log has `eval`, `status` and `samples`; a sample `id`, `epoch`,
`messages`, `scores` and `attachments`, which a message names as `attachment://DIGEST`. Its files are compressed with
Zstandard, which Python knows from 3.14 on.
"""

import json
import zipfile
import zlib
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import BytesIO
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import zstandard

from ...errors import DataError, at
from ..attachments import part_of
from ..files.broken_lines import is_skipping, of_form
from ..files.json_files import LENIENT, dumps, parsed
from ..files.json_pieces import abridged, objects_of
from ..files.json_values import begins_with_a_line, elements
from ..files.regular_files import opened
from ..formats import messages
from ..formats.detection import ConversationStream, Format, Source
from ..formats.message_parts import turns_of_parts
from ..formats.spooled import whole
from ..formats.turns import role_of
from ..records import Conversation, as_list, as_object, is_object
from .inspect_samples import record_in
from .inspect_writer import write

LARGEST = 512 * 1024 * 1024
"""Most bytes of one sample that are unpacked."""

_LINK = "attachment://"
_DAMAGE = (NotImplementedError, RuntimeError, OSError, EOFError, UnicodeDecodeError, zipfile.BadZipFile, zlib.error, zstandard.ZstdError)  # fmt: skip
_ZSTANDARD = 93
"""Number of the compression in an archive."""


def one_by_one(path: str | Path) -> ConversationStream:
    """A conversation for each sample and epoch, its scores as labels; DataError for a log without samples.

    A sample that Duologue wrote holds its record, which is read where its words are still those of the messages. The
    generator's result is the notes.
    """
    stale: Counter[str] = Counter()
    empty = True
    for is_record, values in groupby(_values(Path(path), stale), lambda pair: isinstance(pair[1], Conversation)):
        empty = False
        if is_record:
            yield from (record for _, record in values)
        else:
            yield from messages.iterate(path, values)
    if empty:
        raise DataError(f"{at(path)}: holds an evaluation of Inspect without samples: give a log that has run")
    return tuple(f"{count} samples are read by their messages: {problem}" for problem, count in stale.items())


def _values(path: Path, stale: Counter[str]) -> Iterator[tuple[str, Any]]:
    """Each sample with its place: its record, else what the form of messages reads."""
    for place, sample, task in _zipped(path) if is_archive(path) else _plain(path):
        if is_object(sample):
            try:
                record = record_in(sample)
            except DataError as problem:
                stale[str(problem)] += 1
                record = None
            yield place, _talk(sample, task) if record is None else record


def _plain(path: Path) -> Iterator[tuple[str, Any, Mapping[str, Any]]]:
    """The samples one at a time; of logs in lines or a list, those of a log."""
    problem = "is not a log of Inspect, as the first value is: take it out"
    in_braces = Source(path).begin.removeprefix(BOM_UTF8).lstrip().startswith(b"{")
    if is_skipping() or not in_braces or begins_with_a_line(path):
        for place, log in of_form(elements(path), lambda log: "eval" in as_object(log), path, problem):
            for number, sample in enumerate(as_list(log.get("samples"))):
                yield f"{place}, sample {number}", sample, as_object(log["eval"])
        return
    for position, log in enumerate(objects_of(path, LENIENT)):
        task = None
        for key, value in log:
            if key == "samples" and isinstance(value, Iterator):
                task = _task(path, position) if task is None else task
                for number, sample in enumerate(value):
                    yield f"log {position + 1}, sample {number}", sample, as_object(task)
            task = value if key == "eval" else task
        if task is None:
            raise DataError(f"{at(path, f'log {position + 1}')}: {problem}")


def _task(path: Path, position: int) -> Any:
    """What a log has under `eval`, where that stands behind the samples."""
    for log in islice(objects_of(path, LENIENT), position, None):
        return next((value for key, value in log if key == "eval"), None)
    return None


def _zipped(path: Path) -> Iterator[tuple[str, Any, Mapping[str, Any]]]:
    with opened(path) as file, zipfile.ZipFile(file) as archive:
        names = archive.namelist()
        header = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
        task = as_object(as_object(_member(archive, header, path)).get("eval")) if header else {}
        for name in (name for name in names if name.startswith("samples/") and name.endswith(".json")):
            yield name, _member(archive, name, path), task


def _member(archive: zipfile.ZipFile, name: str, path: Path) -> Any:
    if archive.getinfo(name).file_size > LARGEST:
        raise DataError(f"{at(path, name)}: is over {LARGEST // 1024**2} MB: take that sample out of the log")
    try:
        text = _unpacked(archive, archive.getinfo(name)).decode("utf-8")
    except _DAMAGE as error:
        raise DataError(f"{at(path, name)}: cannot be unpacked ({error}): convert the log with `inspect log`") from None
    return _parsed(text, path)


def _unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    if entry.compress_type != _ZSTANDARD:
        return archive.read(entry)
    file = archive.fp
    if file is None:
        raise zipfile.BadZipFile("it is closed")
    file.seek(entry.header_offset + 26)
    lengths = file.read(4)  # of the name and of further fields, as this entry's own header has them
    file.seek(sum((int.from_bytes(lengths[:2], "little"), int.from_bytes(lengths[2:], "little"))), 1)
    packed = BytesIO(file.read(entry.compress_size))
    with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as stream:
        return stream.read(LARGEST)


def _parsed(text: str, path: Path) -> Any:
    """The JSON value; the number that Inspect writes for a missing score is null."""
    try:
        return parsed(text, path)
    except DataError as error:
        if "NaN" not in text:
            raise
        try:
            return LENIENT.decode(text)
        except (ValueError, RecursionError):
            raise error from None


def is_archive(path: Path) -> bool:
    """Whether a path is a zip archive of Inspect."""
    try:
        with opened(path) as file, zipfile.ZipFile(file) as archive:
            names = archive.namelist()
    except (DataError, OSError, zipfile.BadZipFile):
        return False
    return any(name.startswith("samples/") for name in names) or "header.json" in names


def _talk(sample: Mapping[str, Any], task: Mapping[str, Any]) -> dict[str, Any]:
    files = as_object(sample.get("attachments"))
    listed = sample.get("messages") or sample.get("input")
    listed = [{"role": "user", "content": listed}] if isinstance(listed, str) else listed
    turns = [
        turn for message in as_list(listed) if is_object(message) for turn in inspect_turns(_resolved(message, files))
    ]
    scores = {name: as_object(score).get("value") for name, score in as_object(sample.get("scores")).items()}
    scores = {name: value for name, value in scores.items() if value is not None}
    more = {key: sample[key] for key in ("target", "metadata", "error", "limit") if sample.get(key)}
    names = {key: task[key] for key in ("task", "model", "run_id") if task.get(key)}
    name = f"{sample.get('id')}-{sample.get('epoch', 1)}"
    return {"id": name} | names | more | ({"labels": scores} if scores else {}) | {"messages": turns}


def _resolved(value: Any, files: Mapping[str, Any]) -> Any:
    """The value with the texts that stand among the attachments."""
    if isinstance(value, str):
        text = files.get(value.removeprefix(_LINK)) if value.startswith(_LINK) else None
        return value if text is None else text
    if isinstance(value, list):
        return [_resolved(item, files) for item in value]
    return {key: _resolved(item, files) for key, item in value.items()} if is_object(value) else value


def inspect_turns(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The turns in OpenAI's form of a message of Inspect, as its JSON has it."""
    role, content = role_of(message.get("role")) or str(message.get("role")), message.get("content")
    if role == "tool":
        error = message.get("error")
        pictured = any(part_of(block) is not None for block in as_list(content))
        text = content if isinstance(content, str) or pictured else _words(content)
        turn: dict[str, Any] = {"role": "tool", "content": text or str(as_object(error).get("message") or "")}
        turn |= {"tool_call_id": message["tool_call_id"]} if message.get("tool_call_id") else {}
        return [
            turn
            | ({"name": message["function"]} if message.get("function") else {})
            | ({"status": "error"} if error else {})
        ]
    more = {key: message[key] for key in ("id", "source", "model") if message.get(key)}
    blocks = [part for block in content for part in _blocks(block)] if isinstance(content, list) else [content or ""]
    turns = turns_of_parts(role, blocks, more)
    calls = [_call(call) for call in as_list(message.get("tool_calls")) if is_object(call)]
    if calls and turns[-1]["role"] != role:
        turns.append({"role": role, "content": None})
    if calls:
        turns[-1] |= {"content": turns[-1]["content"] or None, "tool_calls": [*turns[-1].get("tool_calls", []), *calls]}
    return turns


def _blocks(block: Any) -> list[Any]:
    """The block; a tool that the provider ran is a call and a result."""
    if as_object(block).get("type") != "tool_use":
        return [block]
    error = block.get("error")
    result = {"type": "tool_result", "tool_use_id": block.get("id"), "content": error or block.get("result")}
    return [block, result | ({"is_error": True} if error else {})]


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    """A call, whose `function` is a name, in OpenAI's form."""
    function = {"name": str(call.get("function")), "arguments": dumps(call.get("arguments") or {})}
    return {"id": str(call.get("id") or ""), "type": "function", "function": function}


def _words(content: Any) -> str:
    return "".join(str(block.get("text", "")) if is_object(block) else str(block) for block in as_list(content)) or (
        json.dumps(content) if content else ""
    )


def _recognised(source: Source) -> bool:
    if source.is_folder:
        return False
    first = as_object(source.first)
    if source.fault is not None and b'"eval"' in source.begin:
        with suppress(DataError):  # a score is missing (NaN)
            first = as_object(abridged(source.path, 1, LENIENT))
    return (is_object(first.get("eval")) and "status" in first and "version" in first) or (
        not first and is_archive(source.path)
    )


FORMAT = Format(
    "inspect",
    "logs of Inspect's evaluations (.json, .eval)",
    _recognised,
    whole(one_by_one),
    write,
    sign="`version`, `status` and `eval`, or an archive with `samples/`",
    one_by_one=one_by_one,
)
