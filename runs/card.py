"""The card beside a data set: what it is, how it was made, and that nobody said any of it."""

from collections.abc import Mapping
from typing import Any

from ..data.tally import Tally

UNKNOWN_LICENCE = "not stated when the run was made"


def card(manifest: Mapping[str, Any], counts: Tally, files: Mapping[str, str], left_out: list[str]) -> str:
    """The Markdown of `dataset/README.md`, with the front matter that Hugging Face reads."""
    settings, sources = manifest["settings"], manifest["data"]
    models = {place: _model(settings["nodes"][place]) for place in ("user_simulator", "assistant")}
    offline = [place for place, model in models.items() if model.startswith("offline")]
    lines = [
        "---",
        f"license: {_licence_id(sources)}",
        "tags: [simulated, conversational, synthetic]",
        f"pretty_name: Simulated conversations ({settings['cast']})",
        "---",
        "",
        f"# Simulated conversations: {settings['cast']}",
        "",
        "**These conversations are simulated.** No person wrote the messages.",
    ]
    if offline:
        who = " and ".join("the user" if place == "user_simulator" else "the assistant" for place in offline)
        lines.append(f"The words of {who} come from a **rule-based baseline**, not from a language model.")
    lines += [
        "",
        "| | |",
        "|---|---|",
        f"| user | {_cell(models['user_simulator'])} |",
        f"| assistant | {_cell(models['assistant'])} |",
        f"| seed | {settings['limits']['seed']} |",
        f"| limits | {_cell(', '.join(f'{k} {v}' for k, v in settings['limits'].items() if k != 'seed' and v is not None))} |",
        f"| conversations | {counts.conversations} of {len(manifest['planned'])} planned |",
        f"| exchanges | {counts.exchanges} |",
    ]
    lines += [f"| ended with `{reason}` | {count} |" for reason, count in counts.stops.items()]
    for side in counts.sides:
        reasons = ", ".join(f"{reason} {count}" for reason, count in side.reasons.items())
        lines.append(
            f"| {side.role}: drafts rejected | {side.rejected} of {side.drafts}{f' ({reasons})' if reasons else ''} |"
        )
    lines += [
        f"| answers that refuse | {counts.side('assistant').refused} |",
        f"| tokens | {counts.tokens} in {counts.calls} calls |",
        f"| made with | duologue {manifest['version']}, record schema {manifest['schema_version']} |",
        "",
        "## Source text",
        "",
        *(
            f"Topics from `{_cell(source['source'])}` (digest `{source['digest'][:16]}`). "
            f"Licence of the source text: {_cell(source.get('licence') or UNKNOWN_LICENCE)}."
            for source in sources
        ),
        "Sections of QuAC and SimQuAC come from Wikipedia by way of QuAC (CC BY-SA 4.0): whoever passes them on names them.",
        "",
        "## Files",
        "",
        *(f"- `{name}`: {what}" for name, what in files.items()),
    ]
    if left_out:
        lines += ["", "## What the format cannot hold", "", *(f"- {_cell(line)}" for line in left_out[:50])]
        if len(left_out) > 50:
            lines.append(f"- and {len(left_out) - 50} more; every one is in `../conversations.jsonl`")
    lines += ["", "## Prompts", "", "| page | digest |", "|---|---|"]
    lines += [f"| `{name}` | `{digest}` |" for name, digest in settings["prompts"].items()]
    return "\n".join(lines) + "\n"


def _licence_id(sources: list[Mapping[str, Any]]) -> str:
    known = {source.get("licence_id") for source in sources}
    return str(known.pop() or "unknown") if len(known) == 1 else "unknown"


def _model(node: Mapping[str, Any]) -> str:
    """What speaks at a place, in a word: a model's spec with its arguments, a replayed file, an agent."""
    model = node.get("model")
    if isinstance(model, Mapping):
        arguments = "&".join(f"{key}={value}" for key, value in model.get("arguments", {}).items())
        return f"{model.get('spec') or model.get('class')}{f'?{arguments}' if arguments else ''}"
    if "replays" in node:
        return f"replay of {node['replays']}"
    return str(node.get("agent") or node.get("name"))


def _cell(text: object) -> str:
    """Text as a table's cell: data, never markup."""
    escaped = str(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "'")
    return " ".join(escaped.split())
