"""The votes on disk: a line for each conversation and label, and the settings behind them."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from ...data.files.journals import Codec
from ...data.files.json import dumps, parsed
from ...data.identity import VERSION, digest
from ...data.labels.definition import LabelDefinition
from ...data.labels.reading import SETTINGS
from ...data.records import Record
from ...nodes.annotators import pages
from ..asking.store import AnswerFolder, AnswerStore, reader_of
from ..journals.calls import CALLS
from ..journals.journal import RunError

VOTES_FILE = "votes.jsonl"


class LabelVotes(Record):
    """The votes on one conversation for one label."""

    id: str
    conversation: str
    path: str | None = None
    """The file of the conversation in its data set."""
    label: str
    round: int = 0
    """How often the label has been redone."""
    units: tuple[int, ...]
    """Indices of the labelled messages from 0, or only -1."""
    votes: tuple[dict[str, Any], ...]
    """Each vote (`nodes.annotators.votes_on`): the values by unit, and every reply with its usage."""

    @property
    def error(self) -> str | None:
        """An annotator's error; None if none failed.

        A refused or unreadable reply is not a failure.
        """
        return next((str(vote["error"]) for vote in self.votes if vote.get("error")), None)

    def ballots(self) -> list[list[Mapping[str, Any] | None]]:
        """The votes on each unit, None for one without a value."""
        return [[vote["values"].get(str(unit)) for vote in self.votes] for unit in self.units]


def label_settings(
    labels: Sequence[LabelDefinition], annotators: Sequence[Mapping[str, Any]], seed: int
) -> dict[str, Any]:
    """The settings that decide the votes on each label, and the keys under which it is stored.

    They are its definition, the prompt templates of the requests, the annotators and the seed.
    """
    plain_annotators = parsed(dumps(list(annotators)), "annotators")
    return {
        label.name: {
            "definition": digest(label.model_dump(mode="json", by_alias=True))[:16],
            "pages": digest(pages().digests)[:16],
            "annotators": plain_annotators,
            "seed": seed,
            "keys": list(label.keys),
        }
        for label in labels
    }


CODEC = Codec[LabelVotes](
    key=lambda record: record.id,
    to_plain=lambda record: record.plain(),
    from_plain=reader_of(LabelVotes, "is not a line of votes: choose another folder"),
    settled=lambda record: record.error is None,
)
"""Votes on disk: of two lines of one piece of work, the one without a failure counts."""
FORM = AnswerFolder(VOTES_FILE, SETTINGS, CODEC)


def _by_label(settings: Any) -> dict[str, Any]:
    return dict(settings.get("labels", {})) if isinstance(settings, dict) else {}


@dataclass(frozen=True)
class StoredVotes:
    """The votes so far, in a folder or only in memory."""

    store: AnswerStore[LabelVotes]
    rounds: Mapping[str, int]
    """How often each label has been redone."""

    @classmethod
    def open(
        cls,
        folder: Path | None,
        settings: Mapping[str, Any],
        opened: ExitStack,
        *,
        redo: Sequence[str] = (),
        resume: bool = False,
    ) -> Self:
        """The folder with its votes.

        RunError if it cannot be used, or has votes with other settings.
        """
        labels: dict[str, Any] = {}

        def settle(stored_settings: Any) -> dict[str, Any]:
            assert folder is not None
            labels.update(_settled(folder, stored_settings, settings, redo=redo, resume=resume))
            return {"version": VERSION, "labels": labels}

        store = FORM.open(folder, settle, opened)
        return cls(store, _rounds(labels))

    @classmethod
    def read(cls, folder: Path, settings: Mapping[str, Any], *, redo: Sequence[str] = (), resume: bool = False) -> Self:
        """As `open`, for a plan: nothing is made, written or locked."""
        labels = _settled(folder, FORM.stored_settings(folder), settings, redo=redo, resume=resume)
        store = AnswerStore(CODEC, folder)
        store.read(folder / VOTES_FILE)
        return cls(store, _rounds(labels))

    @property
    def all(self) -> list[LabelVotes]:
        """All votes that are kept."""
        return [*self.store.done.values(), *self.store.failed.values()]

    def answered(self) -> frozenset[tuple[str, int, int]]:
        """The calls whose first reply is kept while their work is not over: id of the work, turn and vote."""
        path = None if self.store.folder is None else self.store.folder / CALLS
        if path is None or not path.is_file():
            return frozenset()
        answered_calls = set[tuple[str, int, int]]()
        with path.open("rb") as file:
            for line in file:
                if b'"reply"' in line and line.endswith(b"\n"):
                    call: Any = parsed(line.decode("utf-8", "replace"), path)
                    if "reply" in call and call.get("attempt") == 1:
                        answered_calls.add(
                            (str(call.get("conversation")), int(call.get("turn", 0)), int(call.get("vote", 0)))
                        )
        return frozenset(answered_calls)


def _rounds(labels: Mapping[str, Any]) -> dict[str, int]:
    return {name: settings["round"] for name, settings in labels.items()}


def _settled(
    folder: Path, stored_settings: Any, settings: Mapping[str, Any], *, redo: Sequence[str], resume: bool
) -> dict[str, dict[str, Any]]:
    """The settings of the folder's votes from now on, with the round of each label.

    RunError for another labelling.
    """
    labels = _by_label(stored_settings)
    if resume and stored_settings is None:
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
    for name, current in settings.items():
        earlier = labels.get(name)
        if earlier is not None and name in redo and not resume:
            labels[name] = {**current, "round": earlier.get("round", 0) + 1}
        elif earlier is not None and (
            differing := [key for key in current if earlier.get(key, current[key]) != current[key]]
        ):
            raise RunError(
                f"{folder}: its votes on {name!r} were made with {_OTHER[differing[0]]}: ask for all of them anew "
                f"with --redo {name} (without --resume), or choose another folder"
            )
        elif earlier is None:
            labels[name] = {**current, "round": 0}
    return labels


_OTHER: Mapping[str, str] = {
    "definition": "another definition of the label", "pages": "other templates of the request",
    "annotators": "other annotators, or another number of votes", "seed": "another seed",
    "keys": "another definition of the label",
}  # fmt: skip
