"""Which labels of a copy are an annotator's and no person's, also in a copy of a copy, and in a part of one."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..data.formats.folders import copy_file
from ..data.formats.journals import JournalReader
from ..data.records import Conversation
from ..prompts.label_pages import shipped_labels
from .annotation_journal import CODEC, FOLDER, SETTINGS, VOTES_FILE, kept_settings
from .calls import CALLS

EARLIER = "source"
"""Folder below that of the votes: what the source of the copy, a copy too, has as its folder of votes."""


def annotated_keys(source: Path) -> frozenset[str]:
    """Keys of the labels that annotators wrote into a copy (`duologue annotate`), of which the source may be a part; none
    for any other source."""
    return _keys(each for folder in votes_folders(source) for each in kept_settings(folder).items())


def rule_keys(source: Path) -> frozenset[str]:
    """Those of them whose every vote is one of the offline annotator's rules."""
    labels: dict[str, Any] = {}
    for folder in reversed(votes_folders(source)):  # the last one that wrote a label counts
        labels |= kept_settings(folder)
    return _keys(each for each in labels.items() if all("rules" in one for one in each[1].get("annotators", [{}])))


def _keys(labels: Iterable[tuple[str, Mapping[str, Any]]]) -> frozenset[str]:
    shipped = shipped_labels()
    usual = {name: label.keys for name, label in shipped.items()}
    return frozenset(key for name, told in labels for key in told.get("keys", usual.get(name, (name,))))


def annotated_replies(source: Path, conversations: Iterable[Conversation], key: str) -> frozenset[tuple[str, int]]:
    """Conversation and place, from 1, of the replies whose label of this key annotators wrote, as the copy's votes tell;
    also where only a part of a copy is read, which lies below the votes. What people had said before stays theirs."""
    shipped = shipped_labels()
    units: dict[str, set[int]] = {}
    for path in filter(Path.is_file, (folder / VOTES_FILE for folder in votes_folders(source))):
        for each in JournalReader(path, CODEC).iterate():
            if key in (shipped[each.label].keys if each.label in shipped else (each.label,)):
                units.setdefault(each.conversation, set()).update(each.units)
    found = set()
    for conversation in conversations:
        own, turn = units.get(conversation.id, ()), 0
        for number, message in enumerate(conversation.messages):
            turn += message.stored and message.role == "assistant"
            if number in own and message.role == "assistant":
                found.add((conversation.id, turn))
    return frozenset(found)


def votes_folders(source: Path) -> list[Path]:
    """The folders of votes of the copy that the source is, or is a part of, and of those that it was made from, the last
    one first; none for what is no copy."""
    found: list[Path] = []
    if (folder := copy_folder(source)) is not None:
        while folder.is_dir():
            found += [folder] if (folder / SETTINGS).is_file() else []
            folder /= EARLIER
    return found


def copy_folder(source: Path) -> Path | None:
    """What lies beside the data of the copy that the source is, or is a part of: votes, people's answers, or both."""
    place = source.resolve()
    there = (folder / FOLDER for folder in (place, *place.parents))
    return next((folder for folder in there if (folder / SETTINGS).is_file() or (folder / EARLIER).is_dir()), None)


def carry_votes(source: Path, out: Path) -> None:
    """Keep the votes of a source that is a copy itself beside those of the copy that is made of it, in `out`: what annotators
    wrote there must not pass as people's here."""
    if (folder := copy_folder(source)) is not None:
        for file in sorted(each for each in folder.rglob("*.jsonl") if each.name != CALLS):
            copy_file(file, out / FOLDER / EARLIER / file.relative_to(folder))
