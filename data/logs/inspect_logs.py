"""Logs of Inspect's evaluations: `.json`, and `.eval`, which is a zip archive with a file for each sample.

"Log files" (inspect.aisi.org.uk/eval-logs.html): a log has `eval`, `status` and `samples`; a sample `id`, `epoch`,
`messages`, `scores` and `attachments`, which a message names as `attachment://DIGEST`.
"""

import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..attempts import as_list, as_object, is_object
from ..files.broken_lines import of_form
from ..files.json_files import dumps, parsed
from ..files.json_values import elements
from ..files.regular_files import opened
from ..formats import messages
from ..formats.detection import Format, Source
from ..formats.message_parts import turns_of_parts
from ..formats.turns import role_of
from ..records import Conversation

LARGEST = 512 * 1024 * 1024
"""Most bytes of one sample that are unpacked."""

_LINK = "attachment://"
_DAMAGE = (NotImplementedError, RuntimeError, OSError, EOFError, UnicodeDecodeError, zipfile.BadZipFile, zlib.error)


def read(path: str | Path) -> list[Conversation]:
    """A conversation for each sample and epoch, its scores as labels; DataError for a log without samples."""
    values = list(_values(Path(path)))
    if not values:
        raise DataError(f"{at(path)}: holds an evaluation of Inspect without samples: give a log that has run")
    return messages.of_values(path, values)


def _values(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for place, sample, task in _zipped(path) if is_archive(path) else _plain(path):
        if is_object(sample):
            yield place, _talk(sample, task)


def _plain(path: Path) -> Iterator[tuple[str, Any, Mapping[str, Any]]]:
    problem = "is not a log of Inspect, as the first value is: take it out"
    for place, log in of_form(elements(path), lambda log: "eval" in as_object(log), path, problem):
        for number, sample in enumerate(as_list(log.get("samples"))):
            yield f"{place}, sample {number}", sample, as_object(log["eval"])


def _zipped(path: Path) -> Iterator[tuple[str, Any, Mapping[str, Any]]]:
    with opened(path) as file, zipfile.ZipFile(file) as archive:
        names = archive.namelist()
        header = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
        task = as_object(as_object(_member(archive, header, path)).get("eval")) if header else {}
        for name in sorted(name for name in names if name.startswith("samples/") and name.endswith(".json")):
            yield name, _member(archive, name, path), task


def _member(archive: zipfile.ZipFile, name: str, path: Path) -> Any:
    if archive.getinfo(name).file_size > LARGEST:
        raise DataError(f"{at(path, name)}: is over {LARGEST // 1024**2} MB: take that sample out of the log")
    try:
        text = archive.read(name).decode("utf-8")
    except _DAMAGE as error:
        raise DataError(f"{at(path, name)}: cannot be unpacked ({error}): convert the log with `inspect log`") from None
    return parsed(text, path)


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
    turns = [turn for message in as_list(listed) if is_object(message) for turn in _turns(_resolved(message, files))]
    scores = {name: as_object(score).get("value") for name, score in as_object(sample.get("scores")).items()}
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


def _turns(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    role, content = role_of(message.get("role")) or str(message.get("role")), message.get("content")
    if role == "tool":
        error = message.get("error")
        text = content if isinstance(content, str) else _words(content)
        turn: dict[str, Any] = {"role": "tool", "content": text or str(as_object(error).get("message") or "")}
        turn |= {"tool_call_id": message["tool_call_id"]} if message.get("tool_call_id") else {}
        return [
            turn
            | ({"name": message["function"]} if message.get("function") else {})
            | ({"status": "error"} if error else {})
        ]
    more = {key: message[key] for key in ("id", "source", "model") if message.get(key)}
    (turn, *after) = turns_of_parts(role, content if isinstance(content, list) else [content or ""], more)
    calls = [_call(call) for call in as_list(message.get("tool_calls")) if is_object(call)]
    if calls:
        turn |= {"content": turn["content"] or None, "tool_calls": calls}
    return [turn, *after]


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
    return (is_object(first.get("eval")) and "status" in first and "version" in first) or (
        not first and is_archive(source.path)
    )


FORMAT = Format(
    "inspect",
    "logs of Inspect's evaluations (.json, .eval)",
    _recognised,
    read,
    sign="`version`, `status` and `eval`, or an archive with `samples/`",
)
