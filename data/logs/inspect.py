"""Logs of Inspect's evaluations (`.eval`, `.json`), by `inspect_ai.log` (extra `inspect`).

A sample that Duologue writes holds the whole record in its `store`, under `duologue`. From there it is read without a
loss if its messages are still those of the record.
"""

import json
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ...errors import DataError, at, of_extra
from ..files.json import STRICT, Broken, as_value, dumps
from ..files.tables import ARCHIVE
from ..formats.messages import Line, Turn, conversations, turns_in, turns_of
from ..formats.source import ConversationStream, Format, Source
from ..identity import VERSION, digest
from ..records import Conversation, Part, Usage, as_list, as_object, is_object

KEY = "duologue"
"""Key of the sample's store for the record: an object, or its JSON if it contains half of a surrogate pair."""

_NO_TIME = "1970-01-01T00:00:00+00:00"
"""When a log began whose conversations have no times: nothing is taken from the clock."""


# --- Reading


def read(path: str | Path, broken: Broken = STRICT) -> ConversationStream:
    """A conversation for each sample and epoch, its scores as labels; DataError for a log without samples.

    The generator's result is the notes.
    """
    log = of_extra("inspect_ai.log", "inspect")
    try:
        whole_log = log.read_eval_log(str(path), resolve_attachments=True)
    except Exception as error:  # a broken file can raise anything in the library
        words = " ".join(str(error).split())[:200]
        raise DataError(f"{at(path)}: is not a log that Inspect can read ({words}): write the log again") from None
    samples = whole_log.samples or []
    if not samples:
        raise DataError(f"{at(path)}: holds an evaluation of Inspect without samples: give a log that has run")
    task = whole_log.eval.model_dump(mode="json")
    stale: Counter[str] = Counter()
    for number, one in enumerate(samples):
        sample = one.model_dump(mode="json", exclude_none=True)
        try:
            record = record_in(sample)
        except DataError as problem:
            stale[str(problem)] += 1
            record = None
        yield from conversations(path, [_line(number, sample, task)], broken) if record is None else [record]
    return tuple(f"{count} samples are read by their messages: {problem}" for problem, count in stale.items())


def _line(number: int, sample: Mapping[str, Any], task: Mapping[str, Any]) -> Line:
    listed = sample.get("messages") or sample.get("input")
    listed = [{"role": "user", "content": listed}] if isinstance(listed, str) else as_list(listed)
    scores = {name: as_object(score).get("value") for name, score in as_object(sample.get("scores")).items()}
    scores = {name: value for name, value in scores.items() if value is not None}
    more = {key: sample[key] for key in ("target", "metadata", "error", "limit") if sample.get(key)}
    names = {key: task[key] for key in ("task", "model", "run_id") if task.get(key)}
    turns = [turn for message in listed for turn in inspect_turns(message)]
    name = f"{sample.get('id')}-{sample.get('epoch', 1)}"
    return Line(f"sample {number}", turns, {"id": name} | names | more | ({"labels": scores} if scores else {}))


def inspect_turns(message: Mapping[str, Any]) -> list[Turn]:
    """The turns of a message of Inspect, as its JSON has it."""
    fields = {key: value for key, value in message.items() if key not in ("function", "error", "metadata")}
    if isinstance(content := message.get("content"), list):
        fields["content"] = [part for block in content for part in _blocks(block)]
    if message.get("role") == "tool":
        error = as_object(message.get("error"))
        fields |= {"name": message.get("function")}
        fields |= {"status": "error", "content": content or error.get("message") or ""} if error else {}
    calls = [as_object(call) for call in as_list(message.get("tool_calls"))]
    if calls:
        fields["tool_calls"] = [{**call, "function": {**call, "name": call.get("function")}} for call in calls]
    return turns_of(fields)


def _blocks(block: Any) -> list[Any]:
    """The block; a tool that the provider ran is a call and a result."""
    if as_object(block).get("type") != "tool_use":
        return [block]
    error = block.get("error")
    result = {"type": "tool_result", "tool_use_id": block.get("id"), "content": error or block.get("result")}
    return [block, result | ({"is_error": True} if error else {})]


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
        return Conversation.model_validate(as_value(stored))
    except ValidationError:
        raise DataError("the record in its store is not one of this version") from None


def record_in(sample: Mapping[str, Any]) -> Conversation | None:
    """The record in a sample's store, if the words of the sample's messages are still those of the record.

    None for a sample without one. DataError for one that is of other words, or cannot be read.
    """
    conversation = as_record(as_object(sample.get("store")).get(KEY))
    if conversation is None:
        return None
    own = [(message.role, whole(message.text)) for message in conversation.messages if message.stored and message.text]
    if own != [(role, text) for role, text in _said(sample) if text]:
        raise DataError("its messages are not those of the record in its store")
    return conversation


def _said(sample: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for message in map(as_object, as_list(sample.get("messages"))):
        yield from ((turn.role, turn.text or "") for turn in inspect_turns(message) if turn.said)


# --- Writing


def write(talks: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write a log that Inspect reads; nothing is left out. DataError unless the name ends with `.eval` or `.json`."""
    path = Path(path)
    if path.suffix not in (".eval", ".json"):
        raise DataError(f"{at(path)}: Inspect reads a log only by its name: let it end with .eval or .json")
    log = of_extra("inspect_ai.log", "inspect")
    samples: list[dict[str, Any]] = []
    epochs: dict[str, int] = {}
    """The highest epoch of each sample."""
    cast, model, times = "conversations", "unknown", list[str]()
    for talk in talks:
        name = whole(talk.id)
        epochs[name] = epochs.get(name, 0) + 1
        samples.append(json.loads(whole(json.dumps(_sample(talk, name, epochs[name]), ensure_ascii=False))))
        times += [talk.timing.started] if talk.timing.started else []
        if len(samples) == 1 and talk.provenance is not None:
            assistant = talk.provenance.nodes.get("assistant")
            cast, model = talk.provenance.cast, assistant.label if assistant is not None else model
    own = digest("inspect", [(sample["id"], sample["epoch"]) for sample in samples])
    written = log.EvalLog.model_validate(
        {
            "version": 2,
            "status": "success",
            "eval": {
                "eval_id": own[:22],
                "run_id": own[22:44],
                "task_id": own[42:64],
                "created": min(times, default=_NO_TIME),
                "task": cast,
                "dataset": {"name": cast, "samples": len(epochs)},
                "model": model,
                "config": {"epochs": max(epochs.values(), default=1)},
                "packages": {"duologue": VERSION},
            },
            "plan": {"name": "plan", "steps": [{"solver": "duologue"}]},
            "results": {
                "total_samples": len(samples),
                "completed_samples": sum("error" not in sample for sample in samples),
            },
            "samples": samples,
        }
    )
    log.write_eval_log(written, str(path))
    return []


def _sample(conversation: Conversation, name: str, epoch: int) -> dict[str, Any]:
    scenario, failure = conversation.scenario, conversation.failure
    messages = list(_messages(conversation))
    for number, message in enumerate(messages):
        message["id"] = digest("inspect", conversation.id, number)[:22]
    sample: dict[str, Any] = {
        "id": name,
        "epoch": epoch,
        "input": str(scenario.get("goal") or next((message.text for message in conversation.messages), "")),
        "target": dumps(scenario["success"]) if scenario.get("success") else "",
        "messages": messages,
        "scores": scores_of(conversation),
        "metadata": {"scenario": scenario, "stop": conversation.stop},
        "store": {KEY: stored_record(conversation)},
        "model_usage": _usage(conversation),
    }
    last = next((message for message in reversed(messages) if message["role"] == "assistant"), None)
    if last is not None:
        sample["output"] = {"model": last.get("model", ""), "choices": [{"message": last, "stop_reason": "stop"}]}
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
    scores = {name: {"value": one.value} for name, one in conversation.labels.items() if _is_value(one.value)}
    for name, score in conversation.scores.items():
        if is_object(score) and _is_value(score.get("value")):
            scores[name] = {"value": score["value"], "explanation": str(score.get("reason") or "")}
    return scores


def _is_value(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, str | bool | int | float) for item in value)
    return isinstance(value, str | bool | int | float)


def _messages(conversation: Conversation) -> Iterator[dict[str, Any]]:
    for turn in turns_in(conversation):
        message: dict[str, Any] = {"role": turn.role, "content": _content(turn.text or "", turn.parts)}
        if turn.role == "assistant":
            message["source"] = "generate"
        if turn.calls:
            calls = turn.calls
            message["tool_calls"] = [{"id": one.id, "function": one.name, "arguments": one.arguments} for one in calls]
        yield message
        for result in turn.results:
            text = str(result.value) if isinstance(result.value, str) else dumps(result.value)
            text = "" if result.value is None else text
            failed = {"error": {"type": "unknown", "message": text}} if result.failed else {}
            content = "" if result.failed else _content(text, result.parts)
            yield {
                "role": "tool", "content": content, "tool_call_id": result.id, "function": result.name, **failed,
            }  # fmt: skip


def _content(text: str, parts: tuple[Part, ...]) -> Any:
    return [*([{"type": "text", "text": text}] if text else []), *map(_part, parts)] if parts else text


def _part(part: Part) -> dict[str, Any]:
    if part.type == "image" and part.url is not None:
        return {"type": "image", "image": part.url}
    return {"type": "data", "data": {"part": part.plain()}}


def _usage(conversation: Conversation) -> dict[str, dict[str, int]]:
    """The tokens of the drafts of each model that is named, as Inspect has them."""
    usage: dict[str, Usage] = {}
    for draft in conversation.attempts(new_only=True):
        if draft.model and draft.usage is not None:
            usage[draft.model] = usage.get(draft.model, Usage.none()) + draft.usage
    return {
        model: {
            "input_tokens": spent.input_tokens,
            "output_tokens": spent.output_tokens,
            "total_tokens": spent.tokens,
            "input_tokens_cache_read": spent.cached_tokens,
            "reasoning_tokens": spent.reasoning_tokens,
        }
        for model, spent in usage.items()
    }


def _recognised(source: Source) -> bool:
    if source.is_folder:
        return False
    if source.begin.startswith(ARCHIVE):
        return _is_archive(source.path)
    first = as_object(source.first)
    if first.keys() >= {"eval", "status", "version"}:
        return is_object(first["eval"])
    # A score that is missing is NaN, with which the log is not JSON for us.
    return source.fault is not None and all(key in source.begin for key in (b'"eval"', b'"status"', b'"version"'))


def _is_archive(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False
    return any(name.startswith("samples/") for name in names) or "header.json" in names


FORMAT = Format("inspect", "logs of Inspect's evaluations (.json, .eval)", _recognised, read, write)
