"""A manifest made from the records of a run, for a folder that has lost its own."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..data.formats.detection import CONVERSATIONS, FAILURES
from ..data.formats.journals import JournalReader
from ..data.formats.record_lines import RECORDS
from ..data.identity import digest
from ..data.provenance import Provenance
from ..data.records import SCHEMA, Conversation
from .manifests import BEGUN, RESTORED


@dataclass
class _Made:
    """The conversations of a folder that were made in the same way."""

    by: Provenance
    ids: list[str] = field(default_factory=list[str])
    scenarios: list[str] = field(default_factory=list[str])
    equal: int = 0
    max_tokens: list[int | None] = field(default_factory=list["int | None"])
    versions: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    started: list[str] = field(default_factory=list[str])

    def add(self, conversation: Conversation, made: Provenance) -> None:
        if made.version and made.version not in [known["version"] for known in self.versions]:
            self.versions.append({"version": made.version, "finished_before": len(self.ids)})
        self.ids.append(conversation.id)
        self.scenarios.append(made.data or digest(conversation.scenario))
        self.equal += bool(conversation.ordinal and not conversation.repeat)
        tokens = made.limits.get("max_tokens")
        self.max_tokens.append(tokens if isinstance(tokens, int) else None)
        if started := conversation.timing.started:
            self.started.append(started)


def restored(folder: Path) -> dict[str, Any] | None:
    """The manifest of a run as far as its records tell: its settings, and the conversations that were begun.

    None if there is no record. Records of several runs: the manifest of the run that most of them are of. What it
    lacks, the scenarios that were never begun and their source, comes back when the run is resumed.
    """
    groups: dict[str, _Made] = {}
    for conversation in _records(folder):
        made = conversation.provenance
        if made is not None:
            limits = {name: value for name, value in made.limits.items() if name != "max_tokens"}
            plain = made.model_copy(update={"limits": limits, "data": "", "begun": "", "version": ""}).plain()
            groups.setdefault(digest(plain), _Made(made)).add(conversation, made)
    if not groups:
        return None
    most = max(groups.values(), key=lambda group: len(group.ids))
    by, tokens = most.by, most.max_tokens
    return {
        "version": most.versions[-1]["version"] if most.versions else None,
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
                "source": "scenarios of the records",
                "digest": digest(most.scenarios),
                "scenarios": len(set(most.scenarios)),
                "equal": most.equal,
            }
        ],
        "planned": most.ids,
        **({"versions": most.versions} if len(most.versions) > 1 else {}),
        **({BEGUN: min(most.started)} if most.started else {}),
    }


def _records(folder: Path) -> Iterator[Conversation]:
    """Every conversation that can be read, the finished ones first; of one id only the one that counts."""
    seen: set[str] = set()
    for name in (CONVERSATIONS, FAILURES):
        reader = JournalReader(folder / name, RECORDS, salvage=True)
        for conversation in reader.iterate() if reader.files() else ():
            if conversation.id not in seen:
                seen.add(conversation.id)
                yield conversation
