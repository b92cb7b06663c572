"""People's answers put into a copy of the data that they are about: each person's, and what they come to."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..data.formats.folders import make_folder
from ..data.formats.jsonfiles import write_lines
from ..data.label_units import WHOLE, units_of
from ..data.label_votes import finals
from ..data.labelling import Answer, seen_of
from ..data.labels import LabelDefinition
from ..data.loading import Loaded
from ..data.records import Conversation
from ..errors import DataError
from .annotated_copies import check_copy, write_copy
from .annotation_journal import FOLDER
from .annotation_work import check_places

ANSWERS = "answers"
"""Folder of the copy, below that of its annotation, with the answers themselves."""
_STRATEGY = re.compile(r"strategy(_V\d+|_\d+)?")


def people_key(key: str) -> str:
    """The key of people's labels beside a model's: as in the published files, `strategy_human_V2`, else `KEY_human`.

    >>> people_key("strategy_V2"), people_key("strategy"), people_key("intent")
    ('strategy_human_V2', 'strategy_human', 'intent_human')
    """
    strategy = _STRATEGY.fullmatch(key)
    return f"strategy_human{strategy[1] or ''}" if strategy is not None else f"{key}_human"


def labels_of_people(
    answers: Mapping[str, Sequence[Answer]], labels: Mapping[str, LabelDefinition]
) -> dict[str, dict[int, dict[str, dict[str, Any]]]]:
    """By conversation, message (-1: the whole) and `labels`: each key of people's labels with `final` and the answers.

    People are numbered from 1 in the order of their names among those who answered about the thing; `final` is what their
    answers come to by the published rule, null where they tie.
    """
    given: dict[tuple[str, str, int], list[dict[str, Any]]] = defaultdict(list)
    for by in sorted(answers):
        for answer in answers[by]:
            if answer.label in labels:
                place = WHOLE if answer.message is None else answer.message
                given[answer.label, answer.conversation, place].append(dict(answer.value))
    found: dict[str, dict[int, dict[str, dict[str, Any]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    for (name, conversation, place), votes in given.items():
        label = labels[name]
        (final,) = finals(label, [votes])
        voted = label.voted(final or dict.fromkeys(label.parts), votes)
        found[conversation][place]["labels"] |= {people_key(key): value for key, value in voted.items()}
    return found


def write_labelled_by_people(
    loaded: Loaded, answers: Mapping[str, Sequence[Answer]], labels: Mapping[str, LabelDefinition], out: Path
) -> tuple[int, list[str]]:
    """Write a copy of the data with people's labels; gives how many things are labelled, and lines for what is left out.

    DataError if no answer is about the data; RunError if the copy cannot stand where it is to.
    """
    check_copy(loaded.path, out)
    check_places(list(labels.values()))
    there = {conversation.id: conversation for conversation in loaded.conversations}
    fitting, notes = _fitting(answers, labels, there)
    every = labels_of_people(fitting, labels)
    found = {name: units for name, units in every.items() if name in there}
    if not found:
        raise DataError(
            f"{loaded.path}: no answer is about one of its {len(there)} conversations: give the data that people labelled"
            + (f", the answers are about {', '.join(sorted(every)[:3])}" if every else "")
            + "".join(f"; {note}" for note in notes)
        )
    if replaced := sum(
        any(key in (there[name] if unit == WHOLE else there[name].messages[unit]).labels for key in places["labels"])
        for name, units in found.items()
        for unit, places in units.items()
    ):
        notes.append(
            f"labels of people that {replaced} of them had already: in the copy these answers stand in their place"
        )
    if elsewhere := len(every) - len(found):
        notes.append(f"conversations with answers that are not in {loaded.path}: {elsewhere}, left out")
    make_folder(out / FOLDER)
    notes += write_copy(loaded, out, found)
    for by, of_one in answers.items():
        write_lines(out / FOLDER / ANSWERS / f"{by}.jsonl", [answer.plain() for answer in of_one])
    return sum(map(len, found.values())), notes


def _fitting(
    answers: Mapping[str, Sequence[Answer]], labels: Mapping[str, LabelDefinition], there: Mapping[str, Conversation]
) -> tuple[dict[str, list[Answer]], list[str]]:
    """The answers about the data as it is, with values that the labels have today; and lines for what is left out."""
    kept: dict[str, list[Answer]] = {}
    changed = wrong = 0
    for by, of_one in answers.items():
        kept[by] = []
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
                kept[by].append(answer)
    notes = [f"answers about texts that have changed since: {changed}, left out"] if changed else []
    return kept, [*notes, *([f"answers that are no values of their label's page: {wrong}, left out"] if wrong else [])]
