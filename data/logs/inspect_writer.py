"""Conversations as a log of Inspect: `.eval`, an archive with a file for each sample, or `.json`, one object.

Samples are written one at a time. The header, with figures over all of them, follows at the end.
"""

import json
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from ...errors import DataError, at
from ..files import json_stream
from ..files.json_files import UnwrittenError, replacing_bytes
from ..identity import VERSION
from ..records import Conversation, Usage
from .inspect_samples import model_usage, sample_name, sample_of, usage_by_model, whole

VERSION_OF_LOG = 2
_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)
"""When a log began whose conversations have no times: nothing is taken from the clock."""
_LONGEST = 500
"""Most characters of an input in the list of samples."""


def write(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write a log that Inspect reads; nothing is left out. DataError unless the name ends with `.eval` or `.json`."""
    path = Path(path)
    if path.suffix not in (".eval", ".json"):
        raise DataError(f"{at(path)}: Inspect reads a log only by its name: let it end with .eval or .json")
    log = _Log()
    if path.suffix == ".json":
        samples = ([whole(json_stream.text_of(sample, 2))] for sample in log.samples(conversations))
        json_stream.write(path, "samples", json_stream.array(samples, 1), lambda: log.header() | {"samples": []})
        return []
    with replacing_bytes(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        _write_archive(archive, log, conversations, path)
    return []


def _write_archive(archive: zipfile.ZipFile, log: "_Log", conversations: Iterable[Conversation], path: Path) -> None:
    try:
        spool = TemporaryFile("w+", dir=path.parent, encoding="utf-8")  # noqa: SIM115
    except OSError as error:
        raise UnwrittenError(path, error.strerror) from None
    with spool:
        for sample in log.samples(conversations):
            _add(archive, f"samples/{sample['id']}_epoch_{sample['epoch']}.json", _text(sample))
            spool.write(("," if spool.tell() else "[") + _text(_summary(sample)))
        spool.write("]" if spool.tell() else "[]")
        spool.seek(0)
        with archive.open(_entry("summaries.json"), "w") as member:
            while block := spool.read(1 << 20):
                member.write(block.encode())
    header = log.header()
    _add(archive, "_journal/start.json", _text({key: header[key] for key in ("version", "eval", "plan")}))
    _add(archive, "header.json", _text(header))


def _entry(name: str) -> zipfile.ZipInfo:
    """An entry without the time of writing: equal conversations give an equal file."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _add(archive: zipfile.ZipFile, name: str, text: str) -> None:
    archive.writestr(_entry(name), text)


def _text(value: Any) -> str:
    return whole(json.dumps(value, ensure_ascii=False, allow_nan=False))


def _summary(sample: dict[str, Any]) -> dict[str, Any]:
    keys = ("id", "epoch", "target", "scores", "model_usage", "role_usage", "started_at", "total_time")
    more = {"input": sample["input"][:_LONGEST], "completed": True, "message_count": len(sample["messages"])}
    error = {"error": sample["error"]["message"]} if "error" in sample else {}
    return {key: sample[key] for key in keys if key in sample} | more | {"metadata": {}} | error


def _time(text: str | None) -> datetime | None:
    try:
        time = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


@dataclass
class _Log:
    """What a log says of all its samples."""

    count: int = 0
    failed: int = 0
    ids: Any = field(default_factory=sha256)
    cast: str = ""
    models: dict[str, str] = field(default_factory=dict[str, str])
    """The models of user and assistant, as the first conversation names them."""
    began: datetime | None = None
    ended: datetime | None = None
    names: dict[str, int] = field(default_factory=dict[str, int])
    """The highest epoch of each sample."""
    usage: dict[str, Usage] = field(default_factory=dict[str, Usage])
    values: Counter[str] = field(default_factory=Counter[str])
    sums: dict[str, float] = field(default_factory=dict[str, float])

    def samples(self, conversations: Iterable[Conversation]) -> Iterator[dict[str, Any]]:
        """The sample of each conversation."""
        for conversation in conversations:
            name = whole(sample_name(conversation))
            epoch = max(conversation.repeat + 1, self.names.get(name, 0) + 1)
            self.names[name] = epoch
            sample = sample_of(conversation, name, epoch)
            self._note(conversation, sample)
            yield sample

    def _note(self, conversation: Conversation, sample: dict[str, Any]) -> None:
        provenance = conversation.provenance
        if not self.count:
            self.cast = (
                provenance.cast if provenance is not None else str(conversation.scenario.get("kind") or "conversations")
            )
            nodes = provenance.nodes if provenance is not None else {}
            self.models = {
                role: nodes[node].label
                for role, node in (("user", "user_simulator"), ("assistant", "assistant"))
                if node in nodes
            }
        self.count += 1
        self.failed += "error" in sample
        self.ids.update(f"{sample['id']} {sample['epoch']}\n".encode())
        if (began := _time(conversation.timing.started)) is not None:
            ended = began + timedelta(seconds=conversation.timing.seconds or 0.0)
            self.began, self.ended = min(self.began or began, began), max(self.ended or ended, ended)
        for model, spent in usage_by_model(conversation).items():
            self.usage[model] = self.usage.get(model, Usage.none()) + spent
        for name, score in sample["scores"].items():
            if isinstance(value := score["value"], bool | int | float):
                self.values[name] += 1
                self.sums[name] = self.sums.get(name, 0.0) + value

    def header(self) -> dict[str, Any]:
        """The log without its samples, in the order of keys that Inspect asks for."""
        own, began, ended = self.ids.hexdigest(), self.began or _NO_TIME, self.ended or _NO_TIME
        spec: dict[str, Any] = {
            "eval_id": own[:22],
            "run_id": own[22:44],
            "created": began.isoformat(timespec="seconds"),
            "task": self.cast or "conversations",
            "task_id": own[42:64],
            "dataset": {"name": self.cast or "conversations", "samples": len(self.names)},
            "model": self.models.get("assistant") or next(iter(self.usage), "unknown"),
            "config": {"epochs": max(self.names.values(), default=1)},
            "packages": {"duologue": VERSION},
            "metadata": {f"model_of_{role}": model for role, model in self.models.items()},
        }
        return {
            "version": VERSION_OF_LOG,
            "status": "success",
            "eval": spec,
            "plan": {"name": "plan", "steps": [{"solver": "duologue"}]},
            "results": {
                "total_samples": self.count,
                "completed_samples": self.count - self.failed,
                "scores": [self._result(name) for name in self.values],
            },
            "stats": {
                "started_at": began.isoformat(timespec="seconds"),
                "completed_at": ended.isoformat(timespec="seconds"),
                "model_usage": {model: model_usage(spent) for model, spent in self.usage.items()},
            },
        }

    def _result(self, name: str) -> dict[str, Any]:
        scored = self.values[name]
        mean = {"name": "mean", "value": self.sums[name] / scored}
        numbers = {"scored_samples": scored, "unscored_samples": self.count - scored}
        return {"name": name, "scorer": name, **numbers, "metrics": {"mean": mean}}
