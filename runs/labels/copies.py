"""The labelled copy of a data set.

Published files stay byte for byte except for the new labels; a run is copied as records.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast

from ...data import domains, record_lines
from ...data.files.json import parsed, replacing_folder, write_lines, write_text
from ...data.files.paths import copy_file
from ...data.formats.source import CONVERSATIONS, FAILURES
from ...data.labels.answers import WHOLE, stored_keys, with_labels
from ...data.labels.definition import LabelDefinition
from ...data.labels.reading import FOLDER
from ...data.labels.votes import Ballot, final_value
from ...data.loading import Loaded
from ...data.recllmsim.dataset import annotated, is_history, label_keys_of
from ...data.records import Conversation, Json
from ...errors import DataError, SettingError
from ...nodes.annotators import Annotator, Labelling, annotator
from ...prompts.label_pages import labels_named
from ..engine.event_loop import blocking
from ..folder.leftovers import DATASET
from ..journals.calls import CALLS
from ..journals.journal import RunError
from .annotating import Annotations, aannotate
from .justifications import ANSWERS, loaded_for, write_answers
from .origins import carry_votes
from .work import LabellingWork

Annotators: TypeAlias = str | Annotator | Labelling | Any
"""Who labels: a spec, a chat model, a function, or an annotator."""

NewLabels = Mapping[str, Mapping[int, Mapping[str, Mapping[str, Any]]]]
"""By conversation, unit and place (`labels`, `extra`): the keys with what they hold; None for one to remove."""


def results(annotations: Annotations) -> NewLabels:
    """The new labels of the conversations: the final values and, for labels that store them, the votes."""
    new_labels: dict[str, dict[int, dict[str, dict[str, Any]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(dict))
    )
    for work, unit, ballot, final in _decided(annotations):
        new_labels[work.conversation.id][unit][work.label.shape.place] |= stored_keys(work.label, final, ballot)
    return new_labels


def _decided(annotations: Annotations) -> Iterator[tuple[LabellingWork, int, Ballot, Json | None]]:
    """Each unit with its votes and their final value."""
    for work, record in annotations.labelled_work():
        for unit, ballot in zip(record.units, record.ballots(), strict=True):
            yield work, unit, ballot, final_value(work.label, ballot)


def counts(annotations: Annotations) -> dict[str, dict[str, int]]:
    """For each label the number of labelled units, of ties in a part, and of votes without a value."""
    rows: dict[str, dict[str, int]] = {
        work.label.name: dict.fromkeys(("labelled", "ties", "votes", "refused_votes"), 0)
        for work in annotations.planned
    }
    for work, _, ballot, final in _decided(annotations):
        row, label = rows[work.label.name], work.label
        tied = final is not None and any(final[name] is None and label.applies(name, final) for name in label.parts)
        row["labelled"] += final is not None and not tied
        row["ties"] += tied
        row["votes"] += len(ballot)
        row["refused_votes"] += sum(vote is None for vote in ballot)
    return rows


def unread_of(annotations: Annotations) -> dict[str, tuple[int, str]]:
    """By label the number of units without a readable reply of a model, and one of its replies."""
    unread: dict[str, tuple[int, str]] = {}
    for work, record in annotations.labelled_work():
        replies = [str(vote["attempts"][-1].get("text", "")) for vote in record.votes if vote["attempts"]]
        if replies and (number := sum(not any(ballot) for ballot in record.ballots())):
            before, reply = unread.get(work.label.name, (0, replies[0]))
            unread[work.label.name] = before + number, reply
    return unread


def labelled(conversations: Iterable[Conversation], new_labels: NewLabels) -> Iterator[Conversation]:
    """The conversations with their labels, one at a time."""
    for conversation in conversations:
        for place in ("labels", "extra"):
            of_place = {
                unit: keys[place] for unit, keys in new_labels.get(conversation.id, {}).items() if keys.get(place)
            }
            conversation = with_labels(conversation, of_place, place=place)
        yield conversation


def check_copy(source: Path, out: Path) -> None:
    """RunError unless `out` is new, empty or a labelled copy, and apart from the source, which is never written."""
    here, there = source.resolve(), out.resolve()
    if here == there or here in there.parents or there in here.parents:
        raise RunError(f"{out}: is the source, or one of the two is in the other: choose another folder for the copy")
    if out.is_file():
        raise RunError(f"{out}: is a file: choose a folder")
    if out.is_dir() and any(out.iterdir()) and not (out / FOLDER).is_dir():
        raise RunError(f"{out}: holds other files and no labelled copy: choose a new or empty folder")


def check_keys(loaded: Loaded, labels: Iterable[LabelDefinition]) -> None:
    """DataError if a published file has no key for one of these labels beside those that it has."""
    names = [label.name for label in labels if not label.of_messages]
    for conversation in loaded.conversations if loaded.kind == "recllmsim" else ():
        label_keys_of(conversation, names)


def write_copy(
    loaded: Loaded, out: Path, new_labels: NewLabels, beside: Mapping[str, Iterable[Any]] | None = None
) -> list[str]:
    """Write the labelled copy; gives a line for each thing that is not in it.

    A new copy is there whole or not at all, and of an earlier one each file is whole. `beside`: further files of JSON lines,
    by their path in the copy. DataError if it cannot be written.
    """
    with replacing_folder(out) as folder:
        for name, lines in (beside or {}).items():
            write_lines(folder / name, lines)
        return _written(loaded, folder, out, new_labels)


def _written(loaded: Loaded, folder: Path, out: Path, new_labels: NewLabels) -> list[str]:
    """Write the copy into the folder; it comes to stand at `out`."""
    carry_votes(loaded.path, folder)
    if loaded.kind == "recllmsim":
        return _published(loaded, folder, new_labels)
    if loaded.kind == ANSWERS:
        return write_answers(loaded, folder, new_labels)
    notes = []
    if loaded.kind == "run":
        for file in sorted(loaded.path.iterdir()):
            if file.is_file() and file.name not in (CONVERSATIONS, CALLS) and not _is_own(file.name):
                copy_file(file, folder / file.name)
        if (loaded.path / DATASET).is_dir():
            kinds = {
                domain.kind for domain in domains.present(talk.scenario for talk in loaded)
            } & domains.targets().keys()
            form = kinds.pop() if len(kinds) == 1 else "messages"
            notes.append(f"{DATASET}/ is not in the copy: write it with duologue convert {out} NEW --to {form}")
    elif not ((loaded.path / CONVERSATIONS).is_file() or loaded.kind == domains.RECORDS.name):
        notes.append(
            f"{out / CONVERSATIONS} has the conversations as records: files of the source's format hold no labels"
        )
    record_lines.write(labelled(loaded, new_labels), folder / CONVERSATIONS)
    return notes


def _published(loaded: Loaded, out: Path, new_labels: NewLabels) -> list[str]:
    talks = {str(talk.extra.get("path")): talk for talk in loaded.conversations}
    by_path = {path: new_labels.get(talk.id, {}) for path, talk in talks.items()}
    root = loaded.path
    files = sorted(file for file in root.rglob("*") if file.is_file()) if root.is_dir() else [root]
    files = [file for file in files if FOLDER not in file.relative_to(root).parts[:1]]  # of an earlier copy
    for file in files:
        relative = file.relative_to(root) if file != root else Path(file.name)
        of_file = by_path.get(relative.as_posix())
        if not of_file:
            copy_file(file, out / relative)
            continue
        text = file.read_bytes().decode("utf-8")
        value = parsed(text.removeprefix("\ufeff"), file)
        turns = value.get("history") if is_history(value) else None
        turn_texts = [turn.get("content") if isinstance(turn, dict) else None for turn in turns or ()]
        if turn_texts != [message.text for message in talks[relative.as_posix()].messages]:
            raise DataError(f"{file}: changed while it was annotated: begin again")
        keys = {unit: {**places.get("labels", {}), **places.get("extra", {})} for unit, places in of_file.items()}
        whole = keys.pop(WHOLE, {})
        key_of = label_keys_of(talks[relative.as_posix()], whole)
        named = {key_of[name]: whole[name] for name in sorted(whole, key=key_of.__getitem__)}
        write_text(out / relative, json.dumps(annotated(value, named, keys), ensure_ascii=False, indent=4))
    return []


def _is_own(name: str) -> bool:
    """Whether a file is a worker's journal or left by a killed run, and not data of the run."""
    return name.endswith(".partial") or (name != FAILURES and name.startswith((f"{CONVERSATIONS}.", f"{CALLS}.")))


def annotate(
    source: str | Path | Iterable[Conversation],
    labels: Sequence[str | LabelDefinition],
    model: Annotators | Sequence[Annotators],
    *,
    labels_dir: str | Path | None = None,
    votes: int | None = None,
    out: str | Path | None = None,
    **settings: Any,
) -> list[Conversation]:
    """Label the conversations of a data set by one annotator, or by several with one vote each.

    An annotator is a model, or a function `conversation, label -> value`. Existing labels stay, unless `redo` names
    them.

    Args:
        source: Conversations, or a path of a data set.
        labels: Names of labels, or their definitions.
        model: The annotator or annotators.
        labels_dir: A folder with label definitions of your own.
        votes: Number of votes of a single annotator; default: 3, of a function 1.
        out: A folder for a labelled copy of the data set, which another call with `resume=True` continues.
        settings: Settings of `runs.aannotate`, such as `seed` and `conduct`.

    Returns:
        The conversations with their labels. A unit for which the annotator failed has no label.

    Raises:
        SettingError: The votes do not fit the annotators, or `out` is given for conversations without a path.
        RunError: `out` is the source, is in it or around it, or holds other files.

    Example::

        >>> import duologue
        >>> talks = duologue.annotate("out/demo-1", ["style"], "openai:NAME")  # doctest: +SKIP
        >>> talks[0].labels["style"]["final"]["politeness"]  # doctest: +SKIP
    """
    pages = None if labels_dir is None else Path(labels_dir)
    chosen = [label if isinstance(label, LabelDefinition) else labels_named([label], pages)[0] for label in labels]
    loaded = loaded_for(Path(source), chosen) if isinstance(source, (str, Path)) else None
    talks: list[Conversation] = list(loaded if loaded is not None else cast(Iterable[Conversation], source))
    several: list[Any] = list(model) if isinstance(model, (list, tuple)) else [model]
    folder = None if out is None else Path(out)
    if folder is not None:
        if loaded is None:
            raise SettingError("out: a copy is made of a data set on disk: give its path in place of conversations")
        check_copy(loaded.path, folder)
        check_keys(loaded, chosen)
        settings["out"] = folder / FOLDER
    annotators = [annotator(labeller) for labeller in several]
    new_labels = results(blocking(aannotate(talks, chosen, annotators, votes=votes, **settings)))
    if folder is not None and loaded is not None:
        write_copy(loaded, folder, new_labels)
    return list(labelled(talks, new_labels))
