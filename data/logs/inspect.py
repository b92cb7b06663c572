"""Logs of Inspect's evaluations: `.json`, and `.eval`, which is a zip archive with a file for each sample.

"Log files" (inspect.aisi.org.uk/eval-logs.html): a log has `eval`, `status` and `samples`; a sample `id`, `epoch`,
`messages`, `scores` and `attachments`, which a message names as `attachment://DIGEST`. Its files are compressed with
Zstandard, which Python knows from 3.14 on.

A sample that Duologue writes holds the whole record in its `store`, under `duologue`. From there it is read without a
loss if its messages are still those of the record.
"""

import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import Any

import zstandard
from pydantic import ValidationError

from ...errors import DataError, at
from ..attachments import part_of
from ..files.broken_lines import of_form
from ..files.json_files import LENIENT, dumps, read_text, replacing_bytes, write_text
from ..files.json_values import as_value, elements
from ..files.regular_files import opened
from ..formats import messages
from ..formats.detection import ConversationStream, Format, Source
from ..formats.dialogues import asides
from ..formats.turns import SPEAKERS, function_call, role_of, text_of, turns_of_parts
from ..identity import VERSION, conversation_id, digest
from ..records import Attempt, Conversation, Message, Part, Usage, as_list, as_object, is_object

LARGEST = 512 * 1024 * 1024
"""Most bytes of one sample that are unpacked."""
KEY = "duologue"
"""Key of the sample's store for the record: an object, or its JSON if it contains half of a surrogate pair."""
VERSION_OF_LOG = 2

_LINK = "attachment://"
_DAMAGE = (NotImplementedError, RuntimeError, OSError, EOFError, UnicodeDecodeError, zipfile.BadZipFile, zlib.error, zstandard.ZstdError)  # fmt: skip
_ZSTANDARD = 93
"""Number of the compression in an archive."""
_SOUNDS = {"audio/wav": "wav", "audio/mpeg": "mp3"}
_FILMS = {"video/mp4": "mp4", "video/mpeg": "mpeg", "video/quicktime": "mov"}
_REASONS = {"length": "max_tokens", "content_filter": "content_filter", "tool_calls": "tool_calls"}
_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)
"""When a log began whose conversations have no times: nothing is taken from the clock."""
_LONGEST = 500
"""Most characters of an input in the list of samples."""


# --- Reading


def read(path: str | Path) -> ConversationStream:
    """A conversation for each sample and epoch, its scores as labels; DataError for a log without samples.

    The generator's result is the notes.
    """
    stale: Counter[str] = Counter()
    values: list[tuple[str, Any]] = []
    for place, sample, task in _zipped(Path(path)) if is_archive(Path(path)) else _plain(Path(path)):
        record = None
        try:
            record = record_in(sample)
        except DataError as problem:
            stale[str(problem)] += 1
        values.append((place, _talk(sample, task) if record is None else record))
    if not values:
        raise DataError(f"{at(path)}: holds an evaluation of Inspect without samples: give a log that has run")
    for is_record, listed in groupby(values, lambda pair: isinstance(pair[1], Conversation)):
        if is_record:
            yield from (record for _, record in listed)
        else:
            yield from messages.iterate(path, listed)
    return tuple(f"{count} samples are read by their messages: {problem}" for problem, count in stale.items())


def _plain(path: Path) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """Place, sample and task of each sample of a log; a score that is missing (NaN) is null."""
    try:
        logs = list(elements(path))
    except DataError:
        try:
            logs = [("object 1", LENIENT.decode(read_text(path)))]
        except (ValueError, RecursionError):
            logs = []
        if not logs:
            raise
    problem = "is not a log of Inspect, as the first value is: take it out"
    for place, log in of_form(logs, lambda log: "eval" in as_object(log), path, problem):
        for number, sample in enumerate(as_list(log.get("samples"))):
            if is_object(sample):
                yield f"{place}, sample {number}", sample, as_object(log["eval"])


def _zipped(path: Path) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    with opened(path) as file, zipfile.ZipFile(file) as archive:
        names = archive.namelist()
        header = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
        task = as_object(as_object(_member(archive, header, path)).get("eval")) if header else {}
        for name in (name for name in names if name.startswith("samples/") and name.endswith(".json")):
            if is_object(sample := _member(archive, name, path)):
                yield name, sample, task


def _member(archive: zipfile.ZipFile, name: str, path: Path) -> Any:
    if archive.getinfo(name).file_size > LARGEST:
        raise DataError(f"{at(path, name)}: is over {LARGEST // 1024**2} MB: take that sample out of the log")
    try:
        return LENIENT.decode(_unpacked(archive, archive.getinfo(name)).decode("utf-8"))
    except _DAMAGE as error:
        raise DataError(f"{at(path, name)}: cannot be unpacked ({error}): convert the log with `inspect log`") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{at(path, name)}: is not JSON ({error}): write the log again") from None


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
    calls = [
        function_call(call.get("function"), call.get("arguments") or {}, str(call.get("id") or ""))
        for call in as_list(message.get("tool_calls"))
        if is_object(call)
    ]
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


def _words(content: Any) -> str:
    return "".join(str(block.get("text", "")) if is_object(block) else str(block) for block in as_list(content)) or (
        json.dumps(content) if content else ""
    )


def stored_record(conversation: Conversation) -> Any:
    """The record for a sample's store."""
    record = conversation.plain()
    text = dumps(record)
    return text if text.isascii() and r"\ud" in text else record


def as_record(stored: Any) -> Conversation | None:
    """The record that `stored_record` gave; None for nothing. DataError if it cannot be read."""
    if stored is None:
        return None
    try:
        return Conversation.from_plain(as_object(as_value(stored) if isinstance(stored, str) else stored))
    except ValidationError:
        raise DataError("the record in its store is not one of this version") from None


def record_in(sample: Mapping[str, Any]) -> Conversation | None:
    """The record in a sample's store, if the words of the sample's messages are still those of the record.

    None for a sample without one. DataError for one that is of other words, or cannot be read.
    """
    conversation = as_record(as_object(sample.get("store")).get(KEY))
    if conversation is None:
        return None
    own = [(message.role, whole(message.text)) for message in conversation.messages if message.stored]
    if _spoken(own) != _spoken(_said(sample)):
        raise DataError("its messages are not those of the record in its store")
    return conversation


def _said(sample: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for message in as_list(sample.get("messages")):
        if (role := role_of(as_object(message).get("role"))) is not None and role in SPEAKERS:
            parts = as_object(message).get("content")
            texts = (
                [part for part in parts if as_object(part).get("type") == "text"] if isinstance(parts, list) else parts
            )
            yield SPEAKERS[role], text_of(texts) or ""


def _spoken(words: Any) -> list[tuple[str, str]]:
    return [(role, text) for role, text in words if text]


# --- Writing


def write(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write a log that Inspect reads; nothing is left out. DataError unless the name ends with `.eval` or `.json`."""
    path = Path(path)
    if path.suffix not in (".eval", ".json"):
        raise DataError(f"{at(path)}: Inspect reads a log only by its name: let it end with .eval or .json")
    talks: list[Conversation] = []
    samples: list[dict[str, Any]] = []
    epochs: dict[str, int] = {}
    """The highest epoch of each sample."""
    for talk in conversations:
        name = whole(sample_name(talk))
        epochs[name] = max(talk.repeat + 1, epochs.get(name, 0) + 1)
        talks.append(talk)
        samples.append(sample_of(talk, name, epochs[name]))
    header = _header(talks, samples, epochs)
    if path.suffix == ".json":
        write_text(
            path, whole(json.dumps(header | {"samples": samples}, ensure_ascii=False, indent=1, allow_nan=False))
        )
        return []
    with replacing_bytes(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for sample in samples:
            _add(archive, f"samples/{sample['id']}_epoch_{sample['epoch']}.json", sample)
        _add(archive, "summaries.json", [_summary(sample) for sample in samples])
        _add(archive, "_journal/start.json", {key: header[key] for key in ("version", "eval", "plan")})
        _add(archive, "header.json", header)
    return []


def _add(archive: zipfile.ZipFile, name: str, value: Any) -> None:
    entry = zipfile.ZipInfo(name)  # without the time of writing: equal conversations give an equal file
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, whole(json.dumps(value, ensure_ascii=False, allow_nan=False)))


def _summary(sample: dict[str, Any]) -> dict[str, Any]:
    keys = ("id", "epoch", "target", "scores", "model_usage", "role_usage", "started_at", "total_time")
    more = {"input": sample["input"][:_LONGEST], "completed": True, "message_count": len(sample["messages"])}
    error = {"error": sample["error"]["message"]} if "error" in sample else {}
    return {key: sample[key] for key in keys if key in sample} | more | {"metadata": {}} | error


def _header(talks: list[Conversation], samples: list[dict[str, Any]], epochs: Mapping[str, int]) -> dict[str, Any]:
    """The log without its samples, in the order of keys that Inspect asks for."""
    own = sha256("".join(f"{one['id']} {one['epoch']}\n" for one in samples).encode()).hexdigest()
    times = [
        (begun, begun + timedelta(seconds=talk.timing.seconds or 0.0))
        for talk in talks
        if (begun := _time(talk.timing.started)) is not None
    ]
    began, ended = min((one for one, _ in times), default=_NO_TIME), max((one for _, one in times), default=_NO_TIME)
    usage: dict[str, Usage] = {}
    for model, spent in (item for talk in talks for item in usage_by_model(talk).items()):
        usage[model] = usage.get(model, Usage.none()) + spent
    values: dict[str, list[float]] = {}
    for name, score in (item for sample in samples for item in sample["scores"].items()):
        if isinstance(score["value"], bool | int | float):
            values.setdefault(name, []).append(score["value"])
    cast, models = _cast(talks[0]) if talks else ("", {})
    spec: dict[str, Any] = {
        "eval_id": own[:22],
        "run_id": own[22:44],
        "created": began.isoformat(timespec="seconds"),
        "task": cast or "conversations",
        "task_id": own[42:64],
        "dataset": {"name": cast or "conversations", "samples": len(epochs)},
        "model": models.get("assistant") or next(iter(usage), "unknown"),
        "config": {"epochs": max(epochs.values(), default=1)},
        "packages": {"duologue": VERSION},
        "metadata": {f"model_of_{role}": model for role, model in models.items()},
    }
    return {
        "version": VERSION_OF_LOG,
        "status": "success",
        "eval": spec,
        "plan": {"name": "plan", "steps": [{"solver": "duologue"}]},
        "results": {
            "total_samples": len(samples),
            "completed_samples": sum("error" not in sample for sample in samples),
            "scores": [_result(name, scored, len(samples)) for name, scored in values.items()],
        },
        "stats": {
            "started_at": began.isoformat(timespec="seconds"),
            "completed_at": ended.isoformat(timespec="seconds"),
            "model_usage": {model: model_usage(spent) for model, spent in usage.items()},
        },
    }


def _cast(first: Conversation) -> tuple[str, dict[str, str]]:
    """The cast of a log and its models of user and assistant, as the first conversation names them."""
    if first.provenance is None:
        return str(first.scenario.get("kind") or "conversations"), {}
    nodes, roles = first.provenance.nodes, (("user", "user_simulator"), ("assistant", "assistant"))
    return first.provenance.cast, {role: nodes[node].label for role, node in roles if node in nodes}


def _result(name: str, scored: list[float], count: int) -> dict[str, Any]:
    mean = {"name": "mean", "value": sum(scored) / len(scored)}
    numbers = {"scored_samples": len(scored), "unscored_samples": count - len(scored)}
    return {"name": name, "scorer": name, **numbers, "metrics": {"mean": mean}}


def _time(text: str | None) -> datetime | None:
    try:
        time = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def sample_name(conversation: Conversation) -> str:
    """The sample's id: that of the scenario's first conversation, so that repeats are epochs of one sample."""
    provenance = conversation.provenance
    if provenance is None or not conversation.repeat:
        return conversation.id
    first = (provenance.cast, conversation.scenario, conversation.ordinal)
    is_simulated = conversation.id == conversation_id(*first, conversation.repeat, provenance.begun)
    return conversation_id(*first, 0, provenance.begun) if is_simulated else conversation.id


def sample_of(conversation: Conversation, name: str, epoch: int) -> dict[str, Any]:
    """The conversation as a sample with this id and epoch, which counts from 1."""
    messages = list(_messages(conversation))
    for number, message in enumerate(messages):
        message["id"] = digest("inspect", conversation.id, number)[:22]
    scenario, failure, usage = conversation.scenario, conversation.failure, usage_by_model(conversation)
    roles = {role: model_usage(spent) for role in ("user", "assistant") if (spent := _spent(conversation, role)).calls}
    sample: dict[str, Any] = {
        "id": name,
        "epoch": epoch,
        "input": str(scenario.get("goal") or next((message.text for message in conversation.messages), "")),
        "target": dumps(scenario["success"]) if scenario.get("success") else "",
        "messages": messages,
        "output": _output(conversation, messages),
        "scores": scores_of(conversation),
        "metadata": {"scenario": scenario, "stop": conversation.stop},
        "store": {KEY: stored_record(conversation)},
        "events": [],
        "model_usage": {model: model_usage(spent) for model, spent in usage.items()},
        "role_usage": roles,
        "attachments": {},
    }
    if conversation.timing.started is not None:
        sample["started_at"] = conversation.timing.started
    if conversation.timing.seconds is not None:
        sample["total_time"] = conversation.timing.seconds
    if failure is not None:
        places = "\n".join(failure.frames)
        line = f"{failure.node}: {failure.error}"
        sample["error"] = {"message": line, "traceback": places, "traceback_ansi": places}
    return sample


def whole(text: str) -> str:
    """The text with U+FFFD in place of each half of a surrogate pair, which Inspect cannot read."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def scores_of(conversation: Conversation) -> dict[str, Any]:
    """The scores and labels of a conversation that have a value, by name, each with its reason."""
    scores = {name: {"value": value} for name, value in conversation.labels.items() if _is_value(value)}
    for name, score in as_object(conversation.labels.get("scores")).items():
        if is_object(score) and _is_value(score.get("value")):
            scores[name] = {"value": score["value"], "explanation": str(score.get("reason") or "")}
    return scores


def _is_value(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, str | bool | int | float) for item in value)
    return isinstance(value, str | bool | int | float)


def _messages(conversation: Conversation) -> Iterator[dict[str, Any]]:
    """The instructions at their places, and each message after its calls of tools."""
    turns: list[dict[str, Any]] = []
    calls = 0
    for message in conversation.messages:
        if message.stored:
            turns += _of_message(message, calls)
            calls += len(message.tool_calls)
    for aside in asides(conversation):
        if isinstance(text := aside.get("system"), str):
            turns.insert(aside["at"], {"role": "system", "content": text})
    yield from turns


def _of_message(message: Message, calls: int) -> Iterator[dict[str, Any]]:
    draft = message.attempts[-1] if message.attempts else None
    own = message.tool_calls if message.role == "assistant" else ()
    named = [(f"call_{number}", call) for number, call in enumerate(own, calls + 1)]
    if named:
        listed = [{"id": name, "function": call.name, "arguments": call.arguments} for name, call in named]
        yield {"role": "assistant", "content": "", "source": "generate", "tool_calls": listed}
    for name, call in named:
        text = call.result if isinstance(call.result, str) else "" if call.result is None else dumps(call.result)
        failed = {} if call.error is None else {"error": {"type": "unknown", "message": call.error}}
        turn = {"role": "tool", "content": _content(text, call.parts, None), "tool_call_id": name}
        yield turn | {"function": call.name} | failed
    rejected = [{"text": attempt.text, "reason": attempt.reason} for attempt in message.rejected]
    metadata = ({"rejected_drafts": rejected} if rejected else {}) | (
        {"labels": message.labels} if message.labels else {}
    )
    turn = {"role": message.role, "content": _content(message.text, message.parts, draft)}
    turn |= {"source": "generate"} if message.role == "assistant" else {}
    turn |= {"model": draft.model} if message.role == "assistant" and draft is not None and draft.model else {}
    yield turn | ({"metadata": metadata} if metadata else {})


def _content(text: str, parts: tuple[Part, ...], draft: Attempt | None) -> Any:
    reasoning = draft.reasoning if draft is not None and draft.verdict != "rejected" else None
    if not parts and not reasoning:
        return text
    before = [{"type": "reasoning", "reasoning": reasoning}] if reasoning else []
    return [*before, *([{"type": "text", "text": text}] if text else []), *map(_part, parts)]


def _part(part: Part) -> dict[str, Any]:
    """A part as Inspect has it; as data if Inspect cannot hold it."""
    if part.url is not None:
        if part.type == "image":
            return {"type": "image", "image": part.url}
        if part.type == "file":
            names = {"filename": part.name, "mime_type": part.mime_type}
            return {"type": "document", "document": part.url} | {key: name for key, name in names.items() if name}
        if form := {"audio": _SOUNDS, "video": _FILMS}.get(part.type, {}).get(part.mime_type or ""):
            return {"type": part.type, part.type: part.url, "format": form}
    return {"type": "data", "data": {"part": part.plain()}}


def _output(conversation: Conversation, messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The last message of the assistant as the output of its model."""
    last = next((message for message in reversed(messages) if message["role"] == "assistant"), None)
    replies = [message for message in conversation.messages if message.stored and message.role == "assistant"]
    if last is None or not replies:
        return {}
    draft = replies[-1].attempts[-1] if replies[-1].attempts else None
    reason = _REASONS.get((draft.finish_reason if draft is not None else None) or "", "stop")
    choice = {"message": {**last, "role": "assistant"}, "stop_reason": reason}
    return {"model": last.get("model", ""), "choices": [choice], "completion": replies[-1].text}


def usage_by_model(conversation: Conversation) -> dict[str, Usage]:
    """The tokens of the drafts of each model that is named."""
    usage: dict[str, Usage] = {}
    for draft in conversation.attempts(new_only=True):
        if draft.model and draft.usage is not None:
            usage[draft.model] = usage.get(draft.model, Usage.none()) + draft.usage
    return usage


def _spent(conversation: Conversation, role: Any) -> Usage:
    return sum((draft.usage or Usage.none() for draft in conversation.attempts(role, new_only=True)), Usage.none())


def model_usage(usage: Usage) -> dict[str, int]:
    """The tokens as `ModelUsage` of Inspect."""
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "total_tokens": usage.tokens,
        "input_tokens_cache_read": usage.cached_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
    }


def _recognised(source: Source) -> bool:
    if source.is_folder:
        return False
    first = as_object(source.first)
    if source.fault is not None and b'"eval"' in source.begin:
        with suppress(ValueError, RecursionError):  # a score is missing (NaN)
            first = as_object(LENIENT.decode(source.text))
    is_log = is_object(first.get("eval")) and "status" in first and "version" in first
    return is_log or (not first and is_archive(source.path))


FORMAT = Format(
    "inspect",
    "logs of Inspect's evaluations (.json, .eval)",
    _recognised,
    read,
    write,
    sign="`version`, `status` and `eval`, or an archive with `samples/`",
)
