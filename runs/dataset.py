"""The data set of a run in a published form, with its card: what it is, how it was made, that it is simulated."""

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..data import domains
from ..data.domains import Dataset
from ..data.files.json import UnwrittenError, write_text
from ..data.formats.record_lines import StoredRun
from ..data.records import NodeInfo, as_object, stop_in_words
from ..data.summaries import Counts, count
from ..errors import SettingError
from .store import BrokenOffError, RunError, stored_manifest

DATASET = "dataset"
"""The folder of a run's data set, where no other is named."""
CARD = "README.md"
"""The data set's card, beside its files."""
UNKNOWN_LICENCE = "not stated when the run was made"
_NAMES = {"parquet": "conversations.parquet", "sharegpt": "conversations.json", "inspect": "conversations.eval"}
_MOST = 50  # lines of what a form cannot hold that the card has


def write_dataset(run: str | Path, to: str | None = None, folder: str | Path | None = None) -> tuple[Path, list[str]]:
    """Write the finished conversations of a run, and the card of the data set.

    Args:
        run: The run folder.
        to: A format that `duologue convert --to` writes; default: the published one of the conversations' domain.
        folder: Where to write; default: `dataset` in the run folder.

    Returns:
        The file, or the folder of the data set's files; and what the form cannot hold, a line each.

    Raises:
        RunError: There is no run, or no conversation is finished. SettingError: an unknown format.
    """
    source = Path(run)
    stored = StoredRun(source)
    stored_manifest(source)
    if not stored.names():
        raise RunError(f"{source}: no conversation is finished: there is no data set yet")
    present = domains.present(stored.finished())
    form = (present[0].dataset if len(present) == 1 else domains.PLAIN.dataset) if to is None else _form(to)
    path = (source / DATASET if folder is None else Path(folder)) / form.name
    try:
        left_out = form.write(stored.finished(), path)
        write_card(source, path, left_out, form, path.with_name(CARD) if form.name else None)
    except UnwrittenError as error:
        raise BrokenOffError(f"{error.path}: cannot be written ({error.why}): make room, then call it again") from None
    return path, left_out


def write_card(
    run: str | Path, path: Path, left_out: Sequence[str] = (), to: str | Dataset = "", place: Path | None = None
) -> Path:
    """Write the card of a run's data set that stands at `path` in the format `to`; gives the card's path.

    `place`: of the card; default: `README.md` in a folder, `NAME.md` beside a file. `left_out`: what the format cannot
    hold. RunError if `run` holds no run.
    """
    source, form = Path(run), _form(to) if isinstance(to, str) else to
    manifest, stored = stored_manifest(source), StoredRun(source)
    files = {path.name if path.is_file() else form.files or "*": form.description}
    attributions = [text for one in domains.present(stored.finished()) if (text := one.dataset.attribution)]
    place = place or (path / CARD if path.is_dir() else path.with_suffix(".md"))
    write_text(place, card(manifest, count(stored.finished()), files, left_out, attributions))
    return place


def _form(to: str) -> Dataset:
    writers = domains.targets()
    if to not in writers:
        raise SettingError(f"to: {to!r} is not a format to write: give {', '.join(writers)}")
    own = next((domain.dataset for domain in domains.registered() if domain.kind == to), None)
    return own or Dataset(_NAMES.get(to, "conversations.jsonl"), f"the conversations in the format {to}", writers[to])


def card(
    manifest: Mapping[str, Any],
    counts: Counts,
    files: Mapping[str, str],
    left_out: Sequence[str],
    attributions: Collection[str] = (),
) -> str:
    """The Markdown of a data set's card, with the front matter that Hugging Face reads.

    `attributions`: a line for each domain that names the authors of its source texts.
    """
    settings, sources = manifest["settings"], manifest["data"]
    speakers = {place: NodeInfo.of(place, settings["nodes"][place]) for place in ("user_simulator", "assistant")}
    models = {place: f"replay of {one.replays}" if one.replays else one.label for place, one in speakers.items()}
    corpora: list[Mapping[str, Any]] = [one.settings for one in speakers.values() if one.people is not None]
    corpora += [shown for one in speakers.values() if (shown := one.shown)]
    replayed = sum(one.replays is not None for one in speakers.values())
    title = f"{'Re-enacted' if replayed == 2 else 'Simulated'} conversations"
    kind = "re-enacted" if replayed == 2 else "simulated"
    synthetic = "" if replayed or corpora else ", synthetic"
    licences = [*sources, *({"licence": _licence_of(corpus)} for corpus in corpora)]
    limits = ", ".join(f"{name} {value}" for name, value in settings["limits"].items() if name != "seed" and value)
    rows = {
        "user": _cell(models["user_simulator"]),
        "assistant": _cell(models["assistant"]),
        "seed": settings["limits"]["seed"],
        "limits": _cell(limits),
        "conversations": f"{counts.conversations} of {len(manifest['planned'])} planned",
        "turns": counts.exchanges,
        **{f"{stop_in_words(reason)} (`{reason}`)": number for reason, number in counts.stops.items()},
    }
    for side in counts.sides:
        reasons = ", ".join(f"{reason} {number}" for reason, number in side.reasons.items())
        rows[f"{side.role}: drafts rejected"] = f"{side.rejected} of {side.drafts}" + (
            f": {reasons}" if reasons else ""
        )
        if side.observed:
            rows[f"{side.role}: drafts kept although a validator objected"] = side.observed
        if side.tool_calls:
            rows[f"{side.role}: tool calls"] = f"{side.tool_calls}, of which {side.failed_calls} failed"
    rows["tokens"] = f"{counts.tokens} in {counts.calls} calls"
    rows["made with"] = f"duologue {_cell(manifest['version'])}, record schema {manifest['schema_version']}"
    lines = [
        "---",
        f"license: {_licence_id(licences)}",
        f"tags: [{kind}, conversational{synthetic}]",
        f"pretty_name: {title} ({settings['cast']})",
        "---",
        "",
        f"# {title}: {settings['cast']}",
        "",
        *_whose_words(speakers, sources),
        "",
        "| | |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in rows.items()),
        "",
        "## Source text",
        "",
        *(_source_line(source) for source in sources),
        *attributions,
        "",
        "## Files",
        "",
        *(f"- `{name}`: {content}" for name, content in files.items()),
        "- the run's `conversations.jsonl`: the whole records, rejected drafts included",
    ]
    if left_out:
        more = [f"and {len(left_out) - _MOST} more"] if len(left_out) > _MOST else []
        lines += [
            "",
            "## What the format cannot hold",
            "",
            *(f"- {_cell(line)}" for line in [*left_out[:_MOST], *more]),
        ]
    lines += ["", "## Prompts", "", "| page | digest |", "|---|---|"]
    lines += [f"| `{name}` | `{digest}` |" for name, digest in settings["prompts"].items()]
    return "\n".join(lines) + "\n"


def _whose_words(speakers: Mapping[str, NodeInfo], sources: Sequence[Mapping[str, Any]]) -> list[str]:
    """What is simulated, and which words are people's."""
    replayed = [place for place, one in speakers.items() if one.replays is not None]
    offline = [place for place, one in speakers.items() if one.label.startswith("offline") and one.replays is None]
    first = sum(number for source in sources if isinstance(number := source.get("first_messages"), int))
    if len(replayed) == 2:
        lines = [
            "These are **stored conversations, played again** through the graph. Their source names who wrote them."
        ]
    elif replayed:
        lines = [f"The words of {_who(replayed)} are **stored ones, played again**; the other side is **simulated**."]
    elif any(one.people is not None for one in speakers.values()):
        lines = ["**These conversations are simulated.** No two people held them as they stand here."]
        if first:
            lines.append(
                f"The first message of {first} of them is the one that the source of their scenarios gives, in the words of "
                "whoever wrote it."
            )
    elif first:
        lines = [
            f"**These conversations are simulated**, except for the first message of {first} of them, which the source of "
            "their scenarios gives. No person wrote the others."
        ]
    else:
        lines = ["**These conversations are simulated.** No person wrote the messages."]
    for place, one in speakers.items():
        if one.people is not None:
            what = "people's own words" if place == "user_simulator" else "recorded replies"
            lines.append(
                f"The words of {_who([place])} are **{what}**: each message stands in one of {_corpus(one.settings)}, and "
                "its record names conversation and message."
            )
        if one.shown:
            lines.append(
                f"The user's model was **shown people's own words** as examples of manner, up to {one.shown.get('examples')} "
                f"messages a turn from {_corpus(one.shown)}. A model may repeat what it is shown."
            )
    if offline:
        lines.append(f"The words of {_who(offline)} come from a **rule-based baseline**, not from a language model.")
    return lines


def _who(places: Sequence[str]) -> str:
    return " and ".join("the user" if place == "user_simulator" else "the assistant" for place in places)


def _corpus(corpus: Mapping[str, Any]) -> str:
    of = f"{corpus.get('conversations')} conversations of {corpus.get('users')} users in `{_cell(corpus.get('turns_of'))}`"
    licence = _cell(_licence_of(corpus) or UNKNOWN_LICENCE)
    return f"{of} (digest `{_cell(corpus.get('digest'))}`; they may identify a person; their licence: {licence})"


def _source_line(source: Mapping[str, Any]) -> str:
    name = f"`{_cell(source['source'])}`"
    if source.get("source_digest"):
        part = f", users in the part `{_cell(source['part'])}`" if source.get("part") else ""
        form = _cell(source.get("format") or "of an unknown format")
        name += f" ({form}{part}; digest of its files `{_cell(source['source_digest'])[:16]}`)"
    return (
        f"{source['scenarios']} scenarios from {name} (digest of the scenarios `{source['digest'][:16]}`). "
        f"Licence of the source text: {_cell(source.get('licence') or UNKNOWN_LICENCE)}."
    )


def _licence_of(corpus: Mapping[str, Any]) -> str:
    return str(as_object(corpus.get("options")).get("licence") or "")


def _licence_id(sources: Sequence[Mapping[str, Any]]) -> str:
    """The licence's id for Hugging Face's front matter, if all sources have the same licence; else `unknown`."""
    ids = {source.get("licence_id") or str(source.get("licence") or "").lower() for source in sources}
    shared = ids.pop() if len(ids) == 1 else ""
    return shared if re.fullmatch(r"[a-z][a-z0-9.-]+", shared) else "unknown"


def _cell(text: object) -> str:
    """Text as a table's cell: data, never markup."""
    escaped = str(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "'")
    return " ".join(escaped.split())
