"""The labels of a copy that annotators wrote, also in a copy of a copy, or in a part."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ...data.files.journals import JournalReader
from ...data.files.json import read_lines
from ...data.files.paths import copy_file
from ...data.labels.reading import CHOSEN, EARLIER, FOLDER, copy_folder, kept_settings, keys_of, votes_folders
from ...data.records import Conversation, as_object
from ..journals.calls import CALLS
from .vote_journal import CODEC, VOTES_FILE


def disputed_first(source: Path) -> dict[str, Mapping[str, Any]]:
    """Labels of a copy, by key, of which people labelled a part, with annotator disagreement first: numbers of items."""
    place = source.resolve()
    path = next((path for folder in (place, *place.parents) if (path := folder / FOLDER / CHOSEN).is_file()), None)
    chosen = {} if path is None else as_object(next((value for _, value in read_lines(path)), None))
    return {key: one for one in map(as_object, chosen.values()) for key in one.get("keys", ())}


def annotated_replies(source: Path, conversations: Iterable[Conversation], key: str) -> frozenset[tuple[str, int]]:
    """The replies whose label of this key annotators wrote: conversation and place, from 1.

    The copy's votes are read, also if the source is only a part of a copy. Labels that people had given before stay
    labels of people.
    """
    units: dict[str, set[int]] = {}
    for folder in votes_folders(source):
        settings, votes = kept_settings(folder), folder / VOTES_FILE
        for record in JournalReader(votes, CODEC).iterate() if votes.is_file() else ():
            if key in keys_of(record.label, settings.get(record.label, {})):
                units.setdefault(record.conversation, set()).update(record.units)
    replies = set()
    for conversation in conversations:
        own, turn = units.get(conversation.id, ()), 0
        for number, message in enumerate(conversation.messages):
            turn += message.stored and message.role == "assistant"
            if number in own and message.role == "assistant":
                replies.add((conversation.id, turn))
    return frozenset(replies)


def carry_votes(source: Path, out: Path) -> None:
    """Copy the votes of a source that is itself a copy into the new copy `out`.

    Labels that annotators wrote in the source must not pass as people's labels here.
    """
    if (folder := copy_folder(source)) is not None:
        for file in sorted(path for path in folder.rglob("*.jsonl") if path.name != CALLS):
            copy_file(file, out / FOLDER / EARLIER / file.relative_to(folder))
