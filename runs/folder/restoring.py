"""A manifest made from the records of a run, for a folder that has lost its own."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...data.files.journals import JournalReader
from ...data.files.json import read_json
from ...data.formats.record_lines import RECORDS, manifest_problem
from ...data.formats.source import CONVERSATIONS, FAILURES, MANIFEST
from ...data.identity import digest
from ...data.records import SCHEMA, Conversation, Provenance
from ...errors import DataError
from .manifests import BEGUN, MAY_CHANGE, OF_RECORDS, RESTORED


@dataclass
class _RecordGroup:
    """The conversations of a folder that were made in the same way."""

    by: Provenance
    lines: int = 0
    scenarios: dict[str, str] = field(default_factory=dict[str, str])
    """The digest of the scenario by the conversation's id, in the order of the records."""
    equal: int = 0
    max_tokens: list[int | None] = field(default_factory=list["int | None"])
    version: str | None = None
    started: list[str] = field(default_factory=list[str])

    def add(self, conversation: Conversation, provenance: Provenance) -> None:
        self.version = provenance.version or self.version
        self.lines += 1
        if conversation.id not in self.scenarios:
            self.scenarios[conversation.id] = provenance.data or digest(conversation.scenario)
            self.equal += bool(conversation.ordinal and not conversation.repeat)
        tokens = provenance.limits.get("max_tokens")
        self.max_tokens.append(tokens if isinstance(tokens, int) else None)
        if started := conversation.timing.started:
            self.started.append(started)


def restored(folder: Path) -> dict[str, Any] | None:
    """The manifest of a run as far as its records hold it: its settings, and the conversations that were begun.

    None if there is no record. Records of several runs: the manifest of the run that most of them are of. What it
    lacks, the scenarios that were never begun and their source, comes back when the run is resumed.
    """
    groups: dict[str, _RecordGroup] = {}
    for conversation in _records(folder):
        provenance = conversation.provenance
        if provenance is not None:
            limits = {name: value for name, value in provenance.limits.items() if name not in MAY_CHANGE}
            plain = provenance.model_copy(
                update={"limits": limits, "data": "", "begun": "", "forks": None, "version": ""}
            ).plain()
            groups.setdefault(digest(plain), _RecordGroup(provenance)).add(conversation, provenance)
    if not groups:
        return None
    manifest = _manifest(max(groups.values(), key=lambda group: group.lines))
    present = _present(folder)
    mended = {**present, "data": manifest["data"]}
    whole = (
        not manifest_problem(mended)
        and set(mended["planned"]) >= set(manifest["planned"])
        and mended["settings"].keys() >= manifest["settings"].keys()
    )
    return mended if whole else manifest  # a plan that is whole says more than the records


def _present(folder: Path) -> dict[str, Any]:
    """The object in a manifest that is broken; an empty one if there is none."""
    try:
        value = read_json(folder / MANIFEST)
    except DataError:
        return {}
    return value if isinstance(value, dict) else {}


def _manifest(most: _RecordGroup) -> dict[str, Any]:
    by, tokens = most.by, most.max_tokens
    return {
        "version": most.version,
        "schema_version": SCHEMA,
        RESTORED: True,
        "settings": {
            "cast": by.cast,
            "nodes": {place: node.flat() for place, node in by.nodes.items()} | by.words,
            "limits": dict(by.limits)
            | {"max_tokens": None if None in tokens else max(filter(None, tokens), default=None)},
            "prompts": by.prompts,
            **({"stop_reasons": by.stop_reasons} if by.stop_reasons else {}),
        },
        "data": [
            {
                "source": OF_RECORDS,
                "digest": digest(list(most.scenarios.values())),
                "scenarios": len(set(most.scenarios.values())),
                "equal": most.equal,
            }
        ],
        "planned": list(most.scenarios),
        **({BEGUN: min(most.started)} if most.started else {}),
    }


def _records(folder: Path) -> Iterator[Conversation]:
    """Every line that can be read, the finished conversations first, whatever their ids.

    Which of two lines with the same id counts is not known before the most frequent run is.
    """
    numbers = itertools.count()
    codec = replace(RECORDS, key=lambda conversation: str(next(numbers)))
    for name in (CONVERSATIONS, FAILURES):
        reader = JournalReader(folder / name, codec, salvage=True)
        yield from reader.iterate() if reader.files() else ()
