"""Settings of nodes as rows of a table: a name and a text each, never JSON."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..data.records import Conversation, NodeInfo, Provenance
from .pages import render


def rows(settings: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, str]]:
    """Name and text of each setting; those of an object stand below its name, such as `model: temperature`."""
    for key, value in settings.items():
        name = f"{within}{key.replace('_', ' ')}"
        if isinstance(value, Mapping) and "name" not in value:
            yield from rows(value, f"{name}: ")
        else:
            yield name, _text(value)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "none"
    if isinstance(value, Mapping):
        others = ", ".join(
            f"{name} {text}" for name, text in rows({key: setting for key, setting in value.items() if key != "name"})
        )
        name = str(value.get("name", ""))
        return f"{name} ({others})" if name and others else name or others
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(_text, value)) or "none"
    return str(value)


def provenance_html(conversation: Conversation) -> str:
    """Who took part in a simulated conversation, and under which limits, folded; empty for any other."""
    provenance = conversation.provenance
    if provenance is None or not provenance.nodes:
        return ""
    limits = tuple((name, text) for name, text in rows(provenance.limits) if text != "none")
    return render("provenance.html", provenance=provenance, places=places(provenance.nodes), limits=limits)


def places(nodes: Mapping[str, NodeInfo]) -> list[tuple[str, str, str, tuple[tuple[str, str], ...]]]:
    """Place, node, model and further settings of each node."""
    return [
        (
            place,
            node.name,
            node.label if "model" in node.settings else "",  # so it does not stand among the settings
            tuple(rows({name: value for name, value in node.settings.items() if name != "model"})),
        )
        for place, node in nodes.items()
    ]


def facts(conversations: Iterable[Conversation], manifest: Mapping[str, Any] | None = None) -> list[tuple[str, str]]:
    """How the conversations were made, each a name and a value: from the manifest, or from their provenance."""
    in_manifest = manifest.get("settings") if manifest else None
    settings: Mapping[str, Any] = in_manifest if isinstance(in_manifest, Mapping) else {}
    provenances: list[Provenance] = []
    for conversation in conversations:
        if conversation.provenance is not None and conversation.provenance not in provenances[-1:]:
            provenances.append(conversation.provenance)
    lines: list[tuple[str, str]] = []

    def add(name: str, values: Iterable[object]) -> None:
        texts = list(dict.fromkeys(text for value in values if (text := str(value))))
        if texts:
            lines.append((name, ", ".join(texts[:4]) + (f" and {len(texts) - 4} more" if len(texts) > 4 else "")))

    flat, limits_set = settings.get("nodes"), settings.get("limits")
    casts = [_infos(flat)] if isinstance(flat, Mapping) else [provenance.nodes for provenance in provenances]
    limits = [limits_set] if isinstance(limits_set, Mapping) else [provenance.limits for provenance in provenances]
    add("cast", [settings["cast"]] if "cast" in settings else [provenance.cast for provenance in provenances])
    for place, name in (("user_simulator", "user"), ("assistant", "assistant")):
        add(name, (nodes[place].label for nodes in casts if place in nodes))
    add("seed", (values.get("seed", "") for values in limits))
    add(
        "limits",
        (
            ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in values.items() if k != "seed" and v is not None)
            for values in limits
        ),
    )
    if manifest:
        planned, sources = manifest.get("planned"), manifest.get("data")
        add("planned", [len(planned)] if isinstance(planned, list) else [])
        add(
            "source",
            (source.get("source", "") for source in sources if isinstance(source, dict))
            if isinstance(sources, list)
            else (),
        )
    versions = [provenance.version for provenance in provenances]
    add("version", [manifest["version"]] if manifest and "version" in manifest else versions)
    return lines


def _infos(flat: Mapping[str, Any]) -> dict[str, NodeInfo]:
    """The node of each place, from a manifest."""
    return {place: NodeInfo.of(place, node) for place, node in flat.items() if isinstance(node, Mapping)}
