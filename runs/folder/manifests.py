"""The manifest of a run folder: making it, reading it, and whether two manifests are of the same run."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...data.files.json import dumps
from ...data.formats.record_lines import read_manifest
from ...data.formats.source import MANIFEST
from ...data.identity import VERSION, digest, equals, ordinals
from ...data.records import SCHEMA
from ...errors import DataError
from ...graphs import Cast
from ...nodes.limits import Limits
from ...nodes.people import use_of
from ...nodes.speakers.replay import replayed_path
from ...nodes.state import Planned
from ..engine.conversing import name_of
from ..journals.journal import RunError

DEFAULT = "its default"
"""Stands in an error for a setting that a cast was not given."""

BEGUN = "begun"
"""Key of the time, in UTC, at which a run was first begun, however often it was resumed."""

MAY_CHANGE = ("max_tokens", "turn_timeout")
"""Limits that may be others when a run is resumed."""


def of_run(cast: Cast, plan: list[Planned], limits: Limits, source: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The manifest of a run folder.

    A resumed run must have the same values under `settings`.
    """
    scenarios = [state["scenario"] for state in plan]
    return {
        "version": VERSION,
        "schema_version": SCHEMA,
        "cast": cast.plain(),
        "settings": {
            "cast": cast.name,
            "nodes": _nodes(cast),
            "limits": limits.plain(),
            "prompts": _pages(cast),
            **({"stop_reasons": cast.own_reasons} if cast.stop_reasons else {}),
            **({"record_memory": True} if cast.record_memory else {}),
        },
        "data": [
            {"source": "scenarios"}
            | dict(source or {})
            | {
                "digest": digest(scenarios),
                "scenarios": len({digest(scenario) for scenario in scenarios}),
                "equal": equals(ordinals(s["scenario"] for s in plan if not s.get("repeat"))),
            }
        ],
        "planned": [name_of(state) for state in plan],
    }


def _nodes(cast: Cast) -> dict[str, Any]:
    return {place: node.flat() for place, node in cast.describe().items()} | cast.words


def _pages(cast: Cast) -> dict[str, str]:
    return {name: page.digest for name, page in cast.pages.items()}


def read(folder: Path) -> dict[str, Any] | None:
    """The manifest in a folder; None without one, RunError if it is broken."""
    file = folder / MANIFEST
    if not file.is_file():
        return None
    try:
        value, wrong = read_manifest(folder)
    except DataError as error:
        raise RunError(str(error)) from None
    if wrong:
        raise RunError(wrong)
    return dict(value)


def same_run(folder: Path, earlier: Mapping[str, Any], current: Mapping[str, Any]) -> None:
    """Raise RunError if the run in the folder differs; it names the first setting that does."""
    had, has = (_compared(manifest["settings"]) for manifest in (earlier, current))
    difference = first_difference(had, has, "")
    of_cast = _difference_of_casts(earlier.get("cast"), current.get("cast"))
    if difference or of_cast:
        name, was, now = difference or of_cast or ("", {}, {})
        if _is_same_function(was, now):
            raise RunError(
                f"{folder}: the source of {was['name']} ({name}) has changed since its run began: "
                "resume with the same code or choose another folder"
            )
        setting = f" (setting {of_cast[0]!r} of the cast)" if of_cast and difference else ""
        raise RunError(
            f"{folder}: its run had {name} = {short(was)}, now it is {short(now)}{setting}: "
            "resume with the same settings or choose another folder"
        )
    had_tokens, has_tokens = ((of["settings"].get("limits") or {}).get("max_tokens") for of in (earlier, current))
    if is_lower(has_tokens, had_tokens):
        raise RunError(
            f"{folder}: its run had limits.max_tokens = {dumps(had_tokens)}, now it is {dumps(has_tokens)}: it may only be raised "
            "when a run is resumed"
        )
    dropped = set(earlier["planned"]) - set(current["planned"])
    if dropped:
        raise RunError(
            f"{folder}: its run planned {len(earlier['planned'])} conversations, and {len(dropped)} of these are missing now: "
            "resume with the same scenarios (or more of them), or choose another folder"
        )


def same_version(folder: Path, earlier: Mapping[str, Any], current: Mapping[str, Any]) -> None:
    """Raise RunError if another version of the package made the run."""
    was, now = earlier.get("version"), current.get("version")
    if was is not None and was != now:
        raise RunError(
            f"{folder}: its run was made with duologue {was}, this is {now}: resume with that version, or choose another folder"
        )


def changes(earlier: Mapping[str, Any], current: Mapping[str, Any]) -> list[str]:
    """The changes of a run that continues, a line each."""
    lines: list[str] = []
    added = len(set(current["planned"]) - set(earlier["planned"]))
    if added:
        lines.append(f"{added} conversations are new to this run, which had planned {len(earlier['planned'])}")
    return lines


def continued(earlier: Mapping[str, Any], current: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest of a run that continues: the earlier plan comes first, then what is new."""
    manifest = dict(current)
    manifest["data"] = [*(source for source in earlier["data"] if source not in current["data"]), *current["data"]]
    manifest["planned"] = list(dict.fromkeys([*earlier["planned"], *current["planned"]]))
    return manifest | {key: earlier[key] for key in ("again", BEGUN) if earlier.get(key)}


def short(value: Any) -> str:
    """A setting's value in an error."""
    return DEFAULT if value is DEFAULT else dumps(value)[:80]


def is_lower(max_tokens: Any, other: int | None) -> bool:
    """Whether a limit of tokens is lower than another; None means unlimited."""
    return isinstance(max_tokens, int) and (other is None or max_tokens < other)


def _compared(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that must be equal on resume: all but the limits of `MAY_CHANGE`."""
    limits = {name: value for name, value in dict(settings.get("limits") or {}).items() if name not in MAY_CHANGE}
    return {**settings, "limits": limits}


def _difference_of_casts(earlier: Any, current: Any) -> tuple[str, Any, Any] | None:
    """The first setting in which two casts as plain data differ; None without such data.

    Replayed data, retrieval corpora, prompt templates and limits are left out: the run's settings hold them by their
    digests and values.
    """
    if not all(isinstance(spec, dict) and "cast" in spec for spec in (earlier, current)):
        return None
    if earlier["cast"] != current["cast"]:
        return "cast", earlier["cast"], current["cast"]
    for part in ("settings", "replace"):
        was, now = (dict(spec.get(part) or {}) for spec in (earlier, current))
        for name in [*was, *(name for name in now if name not in was)]:
            values = was.get(name, DEFAULT), now.get(name, DEFAULT)
            if name not in ("prompts", "limits") and values[0] != values[1] and not _are_stored(values):
                return name, *values
    return None


def _are_stored(values: tuple[Any, Any]) -> bool:
    """Whether two speakers use stored words of the same kind.

    The nodes describe these words, wherever the files lie.
    """
    return all(map(replayed_path, values)) or (use_of(values[0]) is not None and use_of(values[0]) == use_of(values[1]))


def first_difference(was: Any, now: Any, name: str) -> tuple[str, Any, Any] | None:
    """The first value in which two settings differ, as `differences` has it; None if they are equal."""
    return next(differences(was, now, name), None)


def differences(was: Any, now: Any, name: str) -> Iterator[tuple[str, Any, Any]]:
    """The values in which two settings differ, in order: the name of each below `name`, and both values."""
    if _is_same_function(was, now):
        if was != now:
            yield name, was, now
    elif isinstance(was, dict) and isinstance(now, dict):
        for key in [*was, *(key for key in now if key not in was)]:
            yield from differences(was.get(key), now.get(key), f"{name}.{key}" if name else key)
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for place, pair in enumerate(zip(was, now, strict=True)):
            yield from differences(*pair, f"{name}.{place}")
    elif isinstance(was, (list, tuple)) and isinstance(now, Sequence) and not isinstance(now, str):
        if list(was) != list(now):
            yield name, was, now
    elif was != now:
        yield name, was, now


def _is_same_function(*described: Any) -> bool:
    """Whether both describe a function of one's own of one name, by this and the digest of its source."""
    return all(map(_is_function, described)) and described[0]["name"] == described[1]["name"]


def _is_function(described: Any) -> bool:
    return isinstance(described, dict) and set(described) == {"name", "source"}


def is_compared(frames: Sequence[str], described: Any) -> bool:
    """Whether the innermost place of an error is in a function whose source this description has.

    A run with that function is not resumed once it is mended. `frames`: as `data.packages.frames_of` has them.
    """
    return bool(frames) and frames[-1].rpartition(" in ")[2] in {
        name.rpartition(".")[2] for name in _functions(described)
    }


def compares_function(described: Any) -> bool:
    """Whether this description has the source of a function."""
    return any(True for _ in _functions(described))


def _functions(described: Any) -> Iterator[str]:
    """Names of the functions of one's own in a description of nodes; an object is named by its call."""
    if _is_function(described):
        yield from (str(described["name"]), "__call__")
    parts = described.values() if isinstance(described, dict) else described if isinstance(described, list) else ()
    yield from (name for part in parts for name in _functions(part))
