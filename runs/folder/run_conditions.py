"""Whether the conversations of two runs can be compared in pairs: by the same scenarios, user, limits and seed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ...data.formats.source import MANIFEST
from ...errors import SettingError
from . import manifests

OF_USER = ("user_prompt_selector", "user_simulator", "question_validator")
"""Places of the user, in the graph's order."""
OF_RUN = ("closing", "stop")
"""Places that score a conversation and end it."""


class ComparableRuns(NamedTuple):
    """What two runs have in common."""

    planned: tuple[str, ...]
    """Ids of the conversations that both planned, in the order of the new run."""
    notes: tuple[str, ...]
    """What only one of them has, a line each."""


def manifest_of(folder: Path) -> dict[str, Any]:
    """The manifest of a run folder that is to be compared; SettingError for another folder."""
    manifest = manifests.read(folder)
    if manifest is None:
        raise SettingError(
            f"{folder}: is not a run folder, as it has no {MANIFEST}: give the folder of an earlier test"
        )
    return manifest


def comparable(
    old: Mapping[str, Any], new: Mapping[str, Any], name: str, *, common: bool = False, option: str = "--common"
) -> ComparableRuns:
    """What two runs have in common, by their manifests.

    Args:
        old: The manifest of the old version's run.
        new: That of the new version's run.
        name: Names the old run in errors, such as its folder.
        common: Compare the conversations that both planned, where scenarios or repeats differ.
        option: What an error offers for that.

    Raises:
        SettingError: Cast, user, limits, seed or what scores differ; or scenarios or repeats do without `common`; or they
            have no conversation in common.
    """
    if (difference := _difference(old["settings"], new["settings"])) is not None:
        what, was, now = difference
        raise SettingError(
            f"{name}: its run had {what} = {manifests.short(was)}, the other has {manifests.short(now)}, so their "
            "conversations do not pair: simulate both with the same user, limits and seed"
        )
    ids = {side: dict.fromkeys(manifest["planned"]) for side, manifest in (("old", old), ("new", new))}
    shared = tuple(one for one in ids["new"] if one in ids["old"])
    lacking = {"old": len(ids["old"]) - len(shared), "new": len(ids["new"]) - len(shared)}
    if not shared:
        raise SettingError(
            f"{name}: has no conversation in common with the other run, as scenarios differ: give the same scenarios"
        )
    notes = [
        f"{lacking[side]} conversations of {of} are not compared: the other run did not plan them"
        for side, of in (("old", name), ("new", "the new run"))
        if lacking[side]
    ]
    if notes and not common:
        counts = {(manifest.get("data") or [{}])[0].get("scenarios") for manifest in (old, new)}
        what = "repeats" if len(counts) == 1 and None not in counts and not min(lacking.values()) else "scenarios"
        raise SettingError(
            f"{name}: {what} differ: the other run lacks {lacking['old']} of its {len(ids['old'])} "
            f"conversations, and has {lacking['new']} that it lacks: give the same, or {option} to compare what both have"
        )
    return ComparableRuns(shared, tuple(notes))


def _difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, Any, Any] | None:
    """The first setting in which two runs differ, and must not: by name, with both values."""
    return manifests.first_difference(_conditions(old), _conditions(new), "")


def _conditions(settings: Mapping[str, Any]) -> dict[str, Any]:
    nodes, pages = dict(settings.get("nodes") or {}), dict(settings.get("prompts") or {})
    return {
        "cast": settings.get("cast"),
        "limits": dict(settings.get("limits") or {}),
        "nodes": {place: nodes.get(place) for place in (*OF_USER, *OF_RUN)},
        "prompts": {name: digest for name, digest in pages.items() if name.startswith("user/")},
    }
