"""The votes on disk: a line for each conversation and label, whole or not at all, and the settings that decide them."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from ..data.attempts import Record
from ..data.formats.folders import make_folder
from ..data.formats.journals import Codec, JournalReader
from ..data.formats.jsonfiles import dumps, parsed, read_text, write_text
from ..data.identity import VERSION, digest
from ..data.labels import LabelDefinition
from ..data.records import Conversation
from ..errors import DataError
from ..nodes.annotators import pages
from .calls import CALLS
from .journal import Journal, RunError

FOLDER = "annotation"
"""Folder of the votes in a copy. Its files do not end in .json: readers of the copy's data do not open them."""
VOTES_FILE = "votes.jsonl"
SETTINGS = "settings.jsonl"


class Labelled(Record):
    """The votes on one conversation for one label."""

    id: str
    conversation: str
    path: str | None = None
    """The file of the conversation in its data set."""
    label: str
    round: int = 0
    """How often the label has been redone."""
    units: tuple[int, ...]
    """Indices of the labelled messages from 0, or -1 alone."""
    votes: tuple[dict[str, Any], ...]
    """Each vote (`graphs.annotation.Vote`): the values by unit, and every reply with its usage."""

    @classmethod
    def of(
        cls,
        id: str,
        conversation: Conversation,
        label: str,
        round: int,
        units: Sequence[int],
        votes: Iterable[Mapping[str, Any]],
    ) -> Self:
        """The line of a conversation."""
        path = conversation.extra.get("path")
        return cls(
            id=id,
            conversation=conversation.id,
            path=path if isinstance(path, str) else None,
            label=label,
            round=round,
            units=tuple(units),
            votes=tuple(dict(vote) for vote in votes),
        )

    @property
    def error(self) -> str | None:
        """Why an annotator failed; None if none did. A refused or unreadable reply is no failure."""
        return next((str(vote["error"]) for vote in self.votes if vote.get("error")), None)

    def ballots(self) -> list[list[Mapping[str, Any] | None]]:
        """The votes on each unit, None for one without a value."""
        return [[vote["values"].get(str(unit)) for vote in self.votes] for unit in self.units]


def label_settings(
    labels: Sequence[LabelDefinition], annotators: Sequence[Mapping[str, Any]], seed: int
) -> dict[str, Any]:
    """What decides the votes on each label: its page, the pages of the requests, the annotators and the seed; and under
    which keys it is stored."""
    asked = parsed(dumps(list(annotators)), "annotators")
    return {
        label.name: {
            "definition": digest(label.model_dump(mode="json", by_alias=True))[:16],
            "pages": digest(pages().digests)[:16],
            "annotators": asked,
            "seed": seed,
            "keys": list(label.keys),
        }
        for label in labels
    }


def kept_settings(folder: Path) -> dict[str, Any]:
    """What decides the votes that a folder has, by label."""
    path = folder / SETTINGS
    had: Any = parsed(read_text(path), path) if path.is_file() else {}
    return dict(had.get("labels", {})) if isinstance(had, dict) else {}


@dataclass
class KeptVotes:
    """The votes so far, in a folder or in memory alone."""

    folder: Path | None
    rounds: dict[str, int] = field(default_factory=dict)
    done: dict[str, Labelled] = field(default_factory=dict)
    failed: dict[str, Labelled] = field(default_factory=dict)
    journal: Journal[Labelled] | None = None

    @classmethod
    def open(
        cls,
        folder: Path | None,
        settings: Mapping[str, Any],
        opened: ExitStack,
        *,
        redo: Sequence[str] = (),
        resume: bool = False,
    ) -> "KeptVotes":
        """The folder with what it has. RunError if it cannot be used, or has votes that were asked for otherwise."""
        if folder is None:
            return cls(None)
        try:
            make_folder(folder)
        except OSError as error:
            raise RunError(f"{folder}: cannot be made ({error.strerror}): choose another folder") from None
        kept = cls(folder)
        path = folder / SETTINGS
        labels = _settled(folder, settings, redo=redo, resume=resume)
        there = path.is_file()
        kept.journal = Journal.open(folder / VOTES_FILE, CODEC, busy=folder)
        opened.callback(kept.journal.close)
        if not there and any(True for _ in kept.journal.iterate()):
            raise RunError(f"{folder}: has no {SETTINGS}, which says how {VOTES_FILE} was made: choose another folder")
        write_text(path, dumps({"version": VERSION, "labels": labels}) + "\n")
        return kept._with(labels, kept.journal)

    @classmethod
    def found(
        cls, folder: Path, settings: Mapping[str, Any], *, redo: Sequence[str] = (), resume: bool = False
    ) -> "KeptVotes":
        """As `open`, for a plan: nothing is made, written or locked."""
        labels = _settled(folder, settings, redo=redo, resume=resume)
        path = folder / VOTES_FILE
        return cls(folder)._with(labels, JournalReader(path, CODEC) if path.is_file() else None)

    def _with(self, labels: Mapping[str, Any], journal: JournalReader[Labelled] | None) -> Self:
        self.rounds = {name: each["round"] for name, each in labels.items()}
        for each in () if journal is None else journal.iterate():
            (self.failed if each.error else self.done)[each.id] = each
        return self

    @property
    def all(self) -> list[Labelled]:
        """All votes that are kept."""
        return [*self.done.values(), *self.failed.values()]

    def answered(self) -> frozenset[tuple[str, int, int]]:
        """The calls whose first reply is kept while their work is not over: id of the work, turn and vote."""
        path = None if self.folder is None else self.folder / CALLS
        if path is None or not path.is_file():
            return frozenset()
        found = set[tuple[str, int, int]]()
        with path.open("rb") as file:
            for line in file:
                if b'"reply"' in line and line.endswith(b"\n"):
                    call: Any = parsed(line.decode("utf-8", "replace"), path)
                    if "reply" in call and call.get("attempt") == 1:
                        found.add((str(call.get("subject")), int(call.get("turn", 0)), int(call.get("vote", 0))))
        return frozenset(found)

    def keep(self, each: Labelled) -> None:
        """Write votes down, whole and at once."""
        (self.failed if each.error else self.done)[each.id] = each
        if self.journal is not None:
            self.journal.append(each)

    def of(self, name: str) -> Labelled | None:
        """The votes of a piece of work, or those that came before an annotator failed."""
        return self.done.get(name) or self.failed.get(name)

    def check(self) -> None:
        """RunError if somebody removed, replaced or cut the journal."""
        if self.journal is not None:
            self.journal.check()

    def over(self, *, keep_calls: bool) -> None:
        """Remove the call journal: nothing is missing."""
        if self.folder is not None and not keep_calls:
            (self.folder / CALLS).unlink(missing_ok=True)


def _settled(
    folder: Path, settings: Mapping[str, Any], *, redo: Sequence[str], resume: bool
) -> dict[str, dict[str, Any]]:
    """What decides the votes of the folder from now on, with the round of each label. RunError for another labelling."""
    labels = kept_settings(folder)
    if resume and not (folder / SETTINGS).is_file():
        raise RunError(f"{folder}: there is nothing to resume: name the folder of the copy, or begin without --resume")
    if labels and not resume and not redo:
        raise RunError(
            f"{folder}: has votes already: go on with --resume, ask anew with --redo LABEL, or choose another folder"
        )
    if gone := [name for name in labels if name not in settings]:
        raise RunError(
            f"{folder}: has the label {gone[0]!r} too, which the copy would lose: add it to --labels, or choose another "
            "folder"
        )
    for name, wanted in settings.items():
        earlier = labels.get(name)
        if earlier is not None and name in redo and not resume:
            labels[name] = {**wanted, "round": earlier.get("round", 0) + 1}
        elif earlier is not None and (
            differing := [key for key in wanted if earlier.get(key, wanted[key]) != wanted[key]]
        ):
            raise RunError(
                f"{folder}: its votes on {name!r} were made with {_OTHER[differing[0]]}: ask for all of them anew "
                f"with --redo {name} (without --resume), or choose another folder"
            )
        elif earlier is None:
            labels[name] = {**wanted, "round": 0}
    return labels


_OTHER: Mapping[str, str] = {
    "definition": "another page of the label", "pages": "other pages of the request",
    "annotators": "other annotators, or another number of votes", "seed": "another seed",
    "keys": "another page of the label",
}  # fmt: skip


def _labelled(value: Any) -> Labelled:
    try:
        return Labelled.model_validate(value)
    except ValidationError:
        raise DataError("is no line of votes: choose another folder") from None


CODEC = Codec[Labelled](
    key=lambda each: each.id,
    to_plain=lambda each: each.plain(),
    from_plain=_labelled,
    settled=lambda each: each.error is None,
)
"""Votes on disk: of two lines of one piece of work, the one without a failure counts."""
