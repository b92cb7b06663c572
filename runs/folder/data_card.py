"""The card of a data set, its README.md: what it is, how it was made, that the conversations are simulated."""

import re
from collections.abc import Collection, Mapping
from typing import Any

from ...data.records import NodeInfo, as_object, stop_in_words
from ...data.summaries import Counts

UNKNOWN_LICENCE = "not stated when the run was made"


def card(
    manifest: Mapping[str, Any],
    counts: Counts,
    files: Mapping[str, str],
    left_out: list[str],
    attributions: Collection[str] = (),
) -> str:
    """The Markdown of `dataset/README.md`, with the front matter that Hugging Face reads.

    `attributions`: a line for each domain that names the authors of its source texts.
    """
    settings, sources = manifest["settings"], manifest["data"]
    speakers = {place: NodeInfo.of(place, settings["nodes"][place]) for place in ("user_simulator", "assistant")}
    replayed = [place for place, speaker in speakers.items() if speaker.replays is not None]
    people = {place: speaker for place, speaker in speakers.items() if speaker.people is not None}
    shown = [corpus for speaker in speakers.values() if (corpus := speaker.shown)]
    corpora = [*(speaker.settings for speaker in people.values()), *shown]
    models = {place: speaker.label for place, speaker in speakers.items()}
    models |= {place: f"replay of {speakers[place].replays}" for place in replayed}
    offline = [place for place, model in models.items() if model.startswith("offline")]
    title = "Re-enacted" if len(replayed) == 2 else "Simulated"
    lines = [
        "---",
        f"license: {_licence_id([*sources, *({'licence': _licence_of(corpus)} for corpus in corpora)])}",
        f"tags: [{'re-enacted' if len(replayed) == 2 else 'simulated'}, conversational{'' if replayed or people else ', synthetic'}]",
        f"pretty_name: {title} conversations ({settings['cast']})",
        "---",
        "",
        f"# {title} conversations: {settings['cast']}",
        "",
    ]
    if len(replayed) == 2:
        lines.append(
            "These are **stored conversations, played again** through the graph. Their source names who wrote them."
        )
    elif replayed:
        lines.append(
            f"The words of {_who(replayed)} are **stored ones, played again**; the other side is **simulated**."
        )
    elif people:
        lines.append("**These conversations are simulated.** No two people held them as they stand here.")
        if begun := _begun(sources):
            lines.append(
                f"The first message of {begun} of them is the one that the source of their scenarios gives, in the words of "
                "whoever wrote it."
            )
    else:
        lines.append(_simulated(sources))
    lines += [_of_people(place, speaker) for place, speaker in people.items()]
    lines += [_shown(corpus) for corpus in shown]
    if offline:
        lines.append(f"The words of {_who(offline)} come from a **rule-based baseline**, not from a language model.")
    lines += [
        "",
        "| | |",
        "|---|---|",
        f"| user | {_cell(models['user_simulator'])} |",
        f"| assistant | {_cell(models['assistant'])} |",
        f"| seed | {settings['limits']['seed']} |",
        f"| limits | {_cell(', '.join(f'{k} {v}' for k, v in settings['limits'].items() if k != 'seed' and v is not None))} |",
        f"| conversations | {counts.conversations} of {len(manifest['planned'])} planned |",
        f"| turns | {counts.exchanges} |",
    ]
    lines += [f"| {stop_in_words(reason)} (`{reason}`) | {count} |" for reason, count in counts.stops.items()]
    for side in counts.sides:
        reasons = ", ".join(f"{reason} {count}" for reason, count in side.reasons.items())
        lines.append(f"| {side.role}: drafts rejected | {side.rejected} of {side.drafts} |")
        lines.append(f"| {side.role}: drafts kept although a validator objected | {side.observed} |")
        lines.append(f"| {side.role}: reasons | {reasons or 'none'} |")
        if side.tool_calls:
            lines.append(f"| {side.role}: tool calls | {side.tool_calls}, of which {side.failed_calls} failed |")
        if side.parts:
            parts = ", ".join(f"{kind} {count}" for kind, count in side.parts.items())
            lines.append(f"| {side.role}: parts of messages | {parts} |")
    lines += [
        f"| answers that refuse | {counts.side('assistant').refused} |",
        f"| tokens | {counts.tokens} in {counts.calls} calls{' (the baseline estimates its own)' if offline else ''} |",
        f"| made with | duologue {_cell(str(manifest['version']))}, record schema {manifest['schema_version']} |",
        "",
        "## Source text",
        "",
        *(
            f"{source['scenarios']} scenarios from {_origin(source)} (digest of the scenarios `{source['digest'][:16]}`). "
            f"Licence of the source text: {_cell(source.get('licence') or UNKNOWN_LICENCE)}."
            for source in sources
        ),
        *attributions,
        "",
        "## Files",
        "",
        *(f"- `{name}`: {content}" for name, content in files.items()),
        "- `../conversations.jsonl`: the whole records, rejected drafts included, in the order in which they ended; the data",
        "  set has them in the order of `planned` in `../manifest.json`",
    ]
    if left_out:
        lines += ["", "## What the format cannot hold", "", *(f"- {_cell(line)}" for line in left_out[:50])]
        if len(left_out) > 50:
            lines.append(f"- and {len(left_out) - 50} more; every one is in `../conversations.jsonl`")
    lines += ["", "## Prompts", "", "| page | digest |", "|---|---|"]
    lines += [f"| `{name}` | `{digest}` |" for name, digest in settings["prompts"].items()]
    return "\n".join(lines) + "\n"


def _simulated(sources: list[Mapping[str, Any]]) -> str:
    """The card's statement that nobody wrote the messages, except for first messages of scenarios."""
    if begun := _begun(sources):
        return (
            f"**These conversations are simulated**, except for the first message of {begun} of them, which the source "
            "of their scenarios gives. No person wrote the others."
        )
    return "**These conversations are simulated.** No person wrote the messages."


def _begun(sources: list[Mapping[str, Any]]) -> int:
    """How many conversations begin with a message that their scenario gives."""
    return sum(count for source in sources if isinstance(count := source.get("first_messages"), int))


def _origin(source: Mapping[str, Any]) -> str:
    """Where scenarios come from: the source's name; if it was given, its format, its digest, and whose scenarios they are."""
    name = f"`{_cell(source['source'])}`"
    if not source.get("source_digest"):
        return name
    part = f", users in the part `{_cell(source['part'])}`" if source.get("part") else ""
    return f"{name} ({_cell(source.get('format') or 'of an unknown format')}{part}; digest of its files `{_cell(source['source_digest'])[:16]}`)"


def _who(places: list[str]) -> str:
    return " and ".join("the user" if place == "user_simulator" else "the assistant" for place in places)


def _licence_id(sources: list[Mapping[str, Any]]) -> str:
    """The licence's id for Hugging Face's front matter, if all sources have the same licence; else `unknown`."""
    ids = {source.get("licence_id") or str(source.get("licence") or "").lower() for source in sources}
    shared = ids.pop() if len(ids) == 1 else ""
    return shared if re.fullmatch(r"[a-z][a-z0-9.-]+", shared) else "unknown"


def _cell(text: object) -> str:
    """Text as a table's cell: data, never markup."""
    escaped = str(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "'")
    return " ".join(escaped.split())


def _licence_of(corpus: Mapping[str, Any]) -> str:
    """The licence of the source conversations that a speaker uses; empty if nobody stated it."""
    return str(as_object(corpus.get("options")).get("licence") or "")


def _of_people(place: str, speaker: NodeInfo) -> str:
    """The card's paragraph about words that were written in other conversations."""
    what = "**people's own words**" if place == "user_simulator" else "**recorded replies**"
    return (
        f"The words of {_who([place])} are {what}: each message stands in one of {_source(speaker.settings)}, and its record names "
        f"conversation and message. {_may_identify(speaker.settings)}"
    )


def _shown(corpus: Mapping[str, Any]) -> str:
    """The card's paragraph about people's words that the user's model was sent."""
    return (
        f"The user's model was **shown people's own words** as examples of manner: at each turn up to {corpus.get('examples')} "
        f"messages from {_source(corpus)}. A message's record names those that it was shown. A model may repeat what it is "
        f"shown. {_may_identify(corpus)}"
    )


def _source(corpus: Mapping[str, Any]) -> str:
    return (
        f"{corpus.get('conversations')} conversations of {corpus.get('users')} users in `{_cell(corpus.get('turns_of'))}` "
        f"(digest `{_cell(corpus.get('digest'))}`)"
    )


def _may_identify(corpus: Mapping[str, Any]) -> str:
    return f"They may identify a person. Their licence: {_cell(_licence_of(corpus) or UNKNOWN_LICENCE)}."
