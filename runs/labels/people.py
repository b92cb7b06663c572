"""People's answers put into a copy of the labelled data: each person's, and their final value."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...data.labels.answers import WHOLE, LabelAnswer, items_of, seen_of, units_of
from ...data.labels.definition import LabelDefinition
from ...data.labels.reading import CHOSEN, FOLDER
from ...data.labels.votes import final_value
from ...data.loading import Loaded
from ...data.recllmsim.published_labels import HUMAN
from ...data.records import Conversation, Json
from ...errors import DataError
from .copies import check_copy, write_copy
from .work import check_places

ANSWERS = "answers"
"""Folder of the copy, below that of its annotation, with the answers themselves."""


def labels_of_people(
    answers: Mapping[str, Sequence[LabelAnswer]], labels: Mapping[str, LabelDefinition]
) -> dict[str, dict[int, dict[str, dict[str, Any]]]]:
    """By conversation, message (-1: the whole) and `labels`: each key of people's labels with `final` and the answers.

    People are numbered from 1 in the order of their names among those who answered about the item. `final` is the value
    of their answers by the published rule, null where they tie.
    """
    votes_by_unit: dict[tuple[str, str, int], list[dict[str, Any]]] = defaultdict(list)
    for by in sorted(answers):
        for answer in answers[by]:
            if answer.label in labels:
                place = WHOLE if answer.message is None else answer.message
                votes_by_unit[answer.label, answer.conversation, place].append(dict(answer.value))
    people_labels: dict[str, dict[int, dict[str, dict[str, Any]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(dict))
    )
    for (name, conversation, place), votes in votes_by_unit.items():
        label = labels[name]
        voted = label.voted(final_value(label, votes) or dict.fromkeys(label.parts), votes)
        people_labels[conversation][place]["labels"] |= {f"{key}{HUMAN}": value for key, value in voted.items()}
    return people_labels


def write_labelled_by_people(
    loaded: Loaded, answers: Mapping[str, Sequence[LabelAnswer]], labels: Mapping[str, LabelDefinition], out: Path
) -> tuple[int, list[str]]:
    """Write a copy of the data with people's labels; gives the number of labelled things and notes.

    The notes are a line for each thing that is left out.

    DataError if no answer is about the data; RunError if the copy cannot stand where it is to.
    """
    check_copy(loaded.path, out)
    check_places(list(labels.values()))
    there = {conversation.id: conversation for conversation in loaded.conversations}
    fitting, notes = _fitting(answers, labels, there)
    every = labels_of_people(fitting, labels)
    present_labels = {name: units for name, units in every.items() if name in there}
    if not present_labels:
        raise DataError(
            f"{loaded.path}: no answer is about one of its {len(there)} conversations: give the data that people labelled"
            + (f", the answers are about {', '.join(sorted(every)[:3])}" if every else "")
            + "".join(f"; {note}" for note in notes)
        )
    if replaced := sum(
        any(key in (there[name] if unit == WHOLE else there[name].messages[unit]).labels for key in places["labels"])
        for name, units in present_labels.items()
        for unit, places in units.items()
    ):
        notes.append(
            f"labels of people that {replaced} of them had already: in the copy these answers stand in their place"
        )
    if elsewhere := len(every) - len(present_labels):
        notes.append(f"conversations with answers that are not in {loaded.path}: {elsewhere}, left out")
    beside: dict[str, list[dict[str, Json]]] = {
        f"{FOLDER}/{ANSWERS}/{by}.jsonl": [answer.plain() for answer in of_one] for by, of_one in answers.items()
    }
    if chosen := _chosen(loaded, present_labels, answers, labels):
        beside[f"{FOLDER}/{CHOSEN}"] = [chosen]
    notes += write_copy(loaded, out, present_labels, beside)
    return sum(map(len, present_labels.values())), notes


def _chosen(
    loaded: Loaded,
    present: Collection[str],
    answers: Mapping[str, Sequence[LabelAnswer]],
    labels: Mapping[str, LabelDefinition],
) -> dict[str, Json]:
    """Of each label whose answers are a part of all things, the disputed first: keys, and the numbers of things."""
    chosen: dict[str, Json] = {}
    for name, label in labels.items():
        things = {item.key for item in items_of(loaded.conversations, [label])}
        of_label = [answer for of_one in answers.values() for answer in of_one if answer.key in things]
        labelled = {answer.key for answer in of_label}
        first = {answer.key for answer in of_label if answer.chosen_by == "disputed"}
        if first and labelled < things:
            counts = {"things": len(things), "labelled": len(labelled), "disputed_first": len(first)}
            chosen[name] = {"keys": [f"{key}{HUMAN}" for key in label.keys], **counts}
    return chosen


def _fitting(
    answers: Mapping[str, Sequence[LabelAnswer]],
    labels: Mapping[str, LabelDefinition],
    there: Mapping[str, Conversation],
) -> tuple[dict[str, list[LabelAnswer]], list[str]]:
    """The answers about the data as it is, with valid values; and lines for those that are left out."""
    fitting: dict[str, list[LabelAnswer]] = {}
    changed = wrong = 0
    for by, of_one in answers.items():
        fitting[by] = []
        for answer in of_one:
            label, conversation = labels.get(answer.label), there.get(answer.conversation)
            if label is None:
                continue
            unit = WHOLE if answer.message is None else answer.message
            if conversation is not None and (
                unit not in units_of(conversation, label) or answer.seen not in ("", seen_of(conversation, label, unit))
            ):
                changed += 1
            elif label.problems(answer.value):
                wrong += 1
            else:
                fitting[by].append(answer)
    notes = [f"answers about texts that have changed since: {changed}, left out"] if changed else []
    notes += [f"answers that are not values of their label's definition: {wrong}, left out"] if wrong else []
    return fitting, notes
