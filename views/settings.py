"""Settings of nodes as rows of a table: a name and a text each, never JSON."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..data.records import Conversation, NodeInfo
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
