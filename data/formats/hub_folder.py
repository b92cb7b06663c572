"""A data set's folder for the Hugging Face Hub: Parquet, its card (README.md), and its Croissant description.

Croissant 1.1 is JSON-LD that names the files, their checksums and the types of their columns. Source:
https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..files.json_files import write_json, write_text
from ..identity import VERSION
from ..records import Conversation
from . import parquet
from .detection import Format
from .record_lines import Validate

DATA, CARD, CROISSANT = "conversations.parquet", "README.md", "croissant.json"
_BLOCK = 1 << 20

_CR = "http://mlcommons.org/croissant/"
_OF_CROISSANT = (
    "annotation arrayShape citeAs column containedIn equivalentProperty excludes extract field fileObject fileProperty "
    "fileSet format includes isArray isLiveDataset jsonPath key md5 parentField path readLines recordSet references regex "
    "repeated replace samplingRate separator source subField transform unArchive value"
).split()
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": _CR,
    "rai": f"{_CR}RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    **{name: f"cr:{name}" for name in _OF_CROISSANT},
    **{name: {"@id": f"cr:{name}", "@type": "@json"} for name in ("data", "examples")},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
}


def write(conversations: Iterable[Conversation], folder: str | Path) -> list[str]:
    """Write the three files; nothing is left out. DataError without pyarrow."""
    root, counts = Path(folder), _HubCounts()
    parquet.write(counts.counted(conversations), root / DATA)
    write_text(root / CARD, _card(counts))
    write_json(root / CROISSANT, _croissant(root / DATA, counts), indent=2)
    return []


def form(validate: Validate) -> Format:
    """The format; `validate` raises ValueError for an invalid record."""
    return Format(
        "hub",
        "a folder for the Hugging Face Hub: Parquet, card and Croissant",
        lambda source: source.is_folder and all((source.path / name).is_file() for name in (DATA, CROISSANT)),
        lambda path: parquet.read(path / DATA, validate),
        write,
        one_by_one=lambda path: parquet.read(path / DATA, validate),
        sign=f"a folder with {DATA} and {CROISSANT}",
    )


class _HubCounts(Counter[str]):
    """Counts what passes by, for the card."""

    def __init__(self) -> None:
        super().__init__()
        self.stops: Counter[str] = Counter()
        self.speakers: Counter[tuple[str, str]] = Counter()

    def counted(self, conversations: Iterable[Conversation]) -> Iterator[Conversation]:
        for conversation in conversations:
            self["conversations"] += 1
            self["messages"] += len(conversation.messages)
            self["rejected drafts"] += sum(draft.verdict == "rejected" for draft in conversation.attempts())
            self.stops[conversation.stop or "not recorded"] += 1
            if conversation.provenance is not None:
                self["simulated"] += 1
                nodes = conversation.provenance.nodes
                for role, name in (("user", "user_simulator"), ("assistant", "assistant")):
                    self.speakers[role, nodes[name].label if name in nodes else "not recorded"] += 1
            yield conversation


def _origin(counts: _HubCounts) -> str:
    simulated, number = counts["simulated"], counts["conversations"]
    if simulated == number:
        return "The conversations are simulated: no person took part in them."
    return f"{simulated} of {number} conversations are simulated; the others have no record of how they were made."


def _card(counts: _HubCounts) -> str:
    """The Markdown of the card, with the front matter that the Hub reads."""
    tags = (
        "[conversational, simulated, synthetic]"
        if counts["simulated"] == counts["conversations"]
        else "[conversational]"
    )
    numbers = [(name, counts[name]) for name in ("conversations", "messages", "rejected drafts")]
    numbers += [(f"ended: {_cell(reason)}", number) for reason, number in counts.stops.most_common()]
    numbers += [(f"{role}: {_cell(label)}", number) for (role, label), number in sorted(counts.speakers.items())]
    lines = [
        "---",
        "configs:",
        "- config_name: default",
        f"  data_files: {DATA}",
        f"tags: {tags}",
        "pretty_name: Conversations",
        "---",
        "",
        "# Conversations",
        "",
        _origin(counts),
        "The licence is that of the texts that the scenarios come from: state it here before you publish.",
        "",
        "| | |",
        "|---|---|",
        *(f"| {name} | {number} |" for name, number in numbers),
        "",
        "## Columns",
        "",
        "| column | type | content |",
        "|---|---|---|",
        *(f"| `{name}` | {_type(feature)} | {_CONTENTS[name]} |" for name, feature in parquet.FEATURES.items()),
        "",
        'Load it with `datasets` 4.7 or later: `load_dataset("parquet", data_files="conversations.parquet")`.',
        f"`{CROISSANT}` describes the file for other loaders. Written by duologue {VERSION}.",
    ]
    return "\n".join(lines) + "\n"


_CONTENTS: Mapping[str, str] = {
    "id": "the id of the conversation",
    "messages": "instructions, messages, tool calls and their results, in OpenAI's form",
    "scenario": "what the conversation is about",
    "labels": "labels of the conversation",
    "message_labels": "labels of messages, by the number of the message",
    "spans": "pieces of the source text that a message consists of, by the number of the message",
    "rejected": "drafts that a validator rejected, by the number of the message that was sent instead",
    "stop": "why it ended",
    "cast": "the cast that made it",
    parquet.RECORD: "the whole record as JSON text",
}


def _type(feature: Mapping[str, Any]) -> str:
    if feature.get("_type") == "List":
        return "list of objects"
    return "JSON" if feature.get("_type") == "Json" else str(feature["dtype"])


def _cell(text: str) -> str:
    """A text as a table's cell: data, never markup."""
    escaped = text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "'")
    return " ".join(escaped.split())


def _croissant(file: Path, counts: _HubCounts) -> dict[str, Any]:
    """The description of the file: its checksum, and each column with its type."""
    digest = hashlib.sha256()
    with file.open("rb") as opened:
        while block := opened.read(_BLOCK):
            digest.update(block)
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": f"{_CR}1.1",
        "name": "conversations",
        "description": f"{counts['conversations']} conversations. {_origin(counts)} Written by duologue {VERSION}.",
        "version": "1.0.0",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": DATA,
                "name": DATA,
                "contentUrl": DATA,
                "contentSize": f"{file.stat().st_size} B",
                "encodingFormat": "application/x-parquet",
                "sha256": digest.hexdigest(),
            }
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "conversations",
                "name": "conversations",
                "key": {"@id": "conversations/id"},
                "field": [_field(name, feature) for name, feature in parquet.FEATURES.items()],
            }
        ],
    }


def _field(name: str, feature: Mapping[str, Any]) -> dict[str, Any]:
    """The field of a column; a list of objects has a field for each key."""
    field = {"@type": "cr:Field", "@id": f"conversations/{name}", "name": name, "description": _CONTENTS[name]}
    source = {"fileObject": {"@id": DATA}, "extract": {"column": name}}
    if feature.get("_type") != "List":
        return {**field, "dataType": "sc:Text", "source": source}
    inner = [
        {
            "@type": "cr:Field",
            "@id": f"conversations/{name}/{key}",
            "name": key,
            "dataType": "sc:Integer" if of_key.get("dtype") == "int32" else "sc:Text",
            "source": {**source, "transform": {"jsonPath": f"$.{key}"}},
        }
        for key, of_key in feature["feature"].items()
    ]
    return {**field, "isArray": True, "arrayShape": "-1", "subField": inner}
