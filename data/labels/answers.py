"""What people are asked to label, in which order, and what they answered, also in CSV files and JSON lines."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import Field, ValidationError

from ...errors import DataError, SettingError, at, first_invalid
from ..files.json_files import dumps, write_text
from ..files.regular_files import content
from ..identity import digest
from ..records import Conversation, Json, Record
from .definition import LabelDefinition, PartDefinition, Vote
from .reading import vote_numbers
from .side_by_side import QUIZ, STUDY, is_asked
from .units import WHOLE, labels_at, text_of, units_of
from .votes import entropy_of

MOST_BYTES = 500_000_000
"""Most bytes of a file of answers."""

_HEAD = ("by", "label", "conversation", "message", "path", "model_shown", "chosen_by", "seen")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What a spreadsheet takes for the begin of a formula."""

LabelKey: TypeAlias = tuple[str, str, int | None]
"""What an answer is about: label, conversation, message."""


ChosenBy: TypeAlias = Literal["disputed", "random"]
"""How items are chosen for labelling: those with annotator disagreement first, or at random with the seed."""


class LabelAnswer(Record):
    """What one person answered about one thing."""

    label: str
    """Name of the label, or of the study."""
    conversation: str
    """Id of the conversation."""
    message: int | None = None
    """Number of the labelled message, from 0; None for the conversation as a whole."""
    path: str = ""
    """Path of its file, where the source has one."""
    value: Json = Field(default_factory=dict)
    """The value of each part; of an answer that was taken back, empty."""
    by: str
    """Who answered."""
    model_shown: bool = False
    """Whether the model's label was shown before the answer."""
    chosen_by: ChosenBy | Literal[""] = ""
    """The order in which the item was reached; `random` too without any annotator disagreement. Empty: not known."""
    seen: str = ""
    """Digest of the text that it is about: an answer is not one about a text that has changed since. Empty: not
    known."""
    undone: bool = False
    """Whether it takes back the answer before it about the same thing."""

    @property
    def key(self) -> LabelKey:
        """What it is about."""
        return self.label, self.conversation, self.message


class Item(Record):
    """One thing to label."""

    label: str
    conversation: str
    message: int | None = None
    path: str = ""
    seen: str = ""
    """Digest of the text that is labelled."""

    @property
    def key(self) -> LabelKey:
        """What answers about it have as their key."""
        return self.label, self.conversation, self.message

    def answered(
        self, value: Mapping[str, Any], by: str, *, model_shown: bool = False, chosen_by: ChosenBy | Literal[""] = ""
    ) -> LabelAnswer:
        """The answer of a person about it."""
        how: dict[str, Any] = {"model_shown": model_shown, "chosen_by": chosen_by}
        return LabelAnswer(**self.model_dump(), value=dict(value), by=by, **how)

    def is_of(self, answer: LabelAnswer) -> bool:
        """Whether an answer is about this thing as it is now."""
        return answer.key == self.key and answer.seen in ("", self.seen)

    def undone(self, by: str) -> LabelAnswer:
        """The line that takes an answer about it back."""
        return LabelAnswer(**self.model_dump(), by=by, undone=True)


def items_of(conversations: Iterable[Conversation], labels: Sequence[LabelDefinition]) -> list[Item]:
    """The items to label: conversations and messages, once for each label about them.

    A message counts for labels of its side. Units without text and messages outside the history are left out.
    """
    items = []
    for conversation in conversations:
        path = conversation.extra.get("path")
        where: dict[str, Any] = {"conversation": conversation.id, "path": path if isinstance(path, str) else ""}
        for label in labels:
            for unit in units_of(conversation, label):
                if unit == WHOLE or conversation.messages[unit].text.strip():
                    message = None if unit == WHOLE else unit
                    seen = seen_of(conversation, label, unit)
                    items.append(Item(label=label.name, message=message, seen=seen, **where))
    return items


def seen_of(conversation: Conversation, label: LabelDefinition, unit: int) -> str:
    """Digest of the labelled text of a unit: a message, all messages, the context or the profile."""
    if unit != WHOLE or label.unit != "conversation":
        return digest("seen", text_of(conversation, label, unit))[:16]
    return digest("seen", [(message.role, message.text) for message in conversation.messages if message.stored])[:16]


def standing(answers: Iterable[LabelAnswer]) -> dict[LabelKey, LabelAnswer]:
    """Of answers in their order those that stand: the last about each thing, unless it was taken back."""
    latest: dict[LabelKey, LabelAnswer] = {}
    for answer in answers:
        if answer.undone:
            latest.pop(answer.key, None)
        else:
            latest[answer.key] = answer
    return latest


def in_order(
    items: Iterable[Item],
    labels: Mapping[str, LabelDefinition],
    conversations: Mapping[str, Conversation],
    others: Iterable[LabelAnswer] = (),
    seed: int = 0,
    order: ChosenBy = "disputed",
) -> list[Item]:
    """The items, those with annotator disagreement first: by the stored votes, and between the people so far.

    Items with the same annotator disagreement, and with `random` all items, stand conversation by conversation.
    Conversations are in an order by digest, the same for every annotator; items of one are in the order of its
    messages.
    """
    items = list(items)
    bits = disputes_in(items, labels, conversations, others) if order == "disputed" else {}

    def place(item: Item) -> tuple[float, str, int]:
        first = -bits.get(item.key, 0.0)
        return first, digest("label", seed, item.conversation), WHOLE if item.message is None else item.message

    return sorted(items, key=place)


def disputes_in(
    items: Iterable[Item],
    labels: Mapping[str, LabelDefinition],
    conversations: Mapping[str, Conversation],
    others: Iterable[LabelAnswer] = (),
) -> dict[LabelKey, float]:
    """Annotator disagreement of each item without unanimity, in bits."""
    by_key: dict[LabelKey, list[Json]] = {}
    for answer in others:
        by_key.setdefault(answer.key, []).append(answer.value)
    bits = {}
    for item in items:
        stored = _stored_votes(labels[item.label], conversations[item.conversation], item)
        bits[item.key] = max(map(entropy_of, (*stored, *_by_part(by_key.get(item.key, [])))), default=0.0)
    return {key: value for key, value in bits.items() if value > 0}


def model_value(label: LabelDefinition, conversation: Conversation, item: Item) -> dict[str, Any] | None:
    """The value in the data; None if it has no such label."""
    return label.value_in(_labels_at(label, conversation, item))


def _labels_at(label: LabelDefinition, conversation: Conversation, item: Item) -> Mapping[str, Any]:
    return labels_at(conversation, label, WHOLE if item.message is None else item.message)


def _stored_votes(label: LabelDefinition, conversation: Conversation, item: Item) -> list[list[Vote]]:
    stored = _labels_at(label, conversation, item)
    numbers = dict.fromkeys(number for key in label.keys for number in vote_numbers(stored.get(key)))
    return _by_part([value for number in numbers if (value := label.value_in(stored, number))])


def _by_part(values: Sequence[Mapping[str, Any]]) -> list[list[Vote]]:
    """Of values of a label those of each part, as votes; a list of values is one vote."""
    votes = [{name: value for name, value in one.items() if value is not None} for one in values]
    names = dict.fromkeys(name for vote in votes for name in vote)
    return [[_vote(vote[name]) for vote in votes if name in vote] for name in names]


def _vote(value: Any) -> Vote:
    return value if isinstance(value, (str, int, float, bool)) else repr(value)


def write_answers(answers: Sequence[LabelAnswer], path: Path) -> None:
    """Write answers in the form that the file's name ends with: `.csv` or `.jsonl`.

    SettingError for another ending.
    """
    is_csv = _is_csv(path)
    write_text(path, _csv(answers) if is_csv else "".join(dumps(answer.plain()) + "\n" for answer in answers))


def read_answers(path: Path, by: str, labels: Mapping[str, LabelDefinition] | None = None) -> list[LabelAnswer]:
    """The answers in a file of such a form.

    `by`: the person, where the file does not name one; `labels`: definitions by which cells are read as texts, lists or
    numbers. DataError names the broken row in one line.
    """
    is_csv = _is_csv(path)
    text = content(path, MOST_BYTES).decode("utf-8-sig", "replace")
    try:
        rows = list(_rows(text)) if is_csv else [json.loads(line) for line in text.split("\n") if line.strip()]
    except (ValueError, csv.Error, RecursionError) as error:
        raise DataError(f"{path}: cannot be read ({error}): give a file of this form, whole") from None
    return [_answer(row, by, at(path, f"answer {number}"), labels or {}) for number, row in enumerate(rows, start=1)]


def _is_csv(path: Path) -> bool:
    if path.suffix not in (".csv", ".jsonl"):
        raise SettingError(f"{path}: ends with neither .csv nor .jsonl: name the file by its form")
    return path.suffix == ".csv"


def _answer(row: Any, by: str, where: str, labels: Mapping[str, LabelDefinition]) -> LabelAnswer:
    if not isinstance(row, Mapping):
        raise DataError(f"{where}: is not an object: give label, conversation and value")
    if row.get("label") is None and len(labels) == 1:  # one label was asked for: what else could it be
        row = {**row, "label": next(iter(labels))}
    if missing := [name for name in ("label", "conversation") if not row.get(name)]:
        raise DataError(f"{where}: {missing[0]} is missing: name what the answer is about")
    label, value = labels.get(str(row["label"])), row.get("value")
    if isinstance(value, Mapping):
        parts = {} if label is None else dict(label.parts)
        if row["label"] in (STUDY, QUIZ):  # these stand on no page
            parts = {name: PartDefinition(text=True) for name in map(str, value) if is_asked(name)}
        row = {**row, "value": {name: _typed(entry, parts.get(str(name))) for name, entry in value.items()}}
    try:
        return LabelAnswer.model_validate({"by": by, **row})
    except ValidationError as error:
        first = first_invalid(error)
        raise DataError(f"{where}: {first.path}: {first.message}: mend it") from None


def _csv(answers: Sequence[LabelAnswer]) -> str:
    """A row for each answer: who and what, then a column for each part; lists are joined by ` | `."""
    parts = list(dict.fromkeys(name for answer in answers for name in answer.value))
    columns = [name for name in _HEAD if name != "chosen_by" or any(answer.chosen_by for answer in answers)]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    of_parts = (f"value.{part}" if part in _HEAD or part.startswith("value.") else part for part in parts)
    writer.writerow([*columns, *map(_cell, of_parts)])
    for answer in answers:
        fields = answer.model_dump()
        writer.writerow([_cell(value) for value in (*map(fields.get, columns), *map(answer.value.get, parts))])
    return out.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = " | ".join(map(_word, value)) if isinstance(value, list) else _word(value)
    return f"'{text}" if text.lstrip("'").startswith(_FORMULA) else text


def _word(value: Any) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)


def _uncell(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(_FORMULA) else cell


def _rows(text: str) -> Iterator[dict[str, Any]]:
    names = text.partition("\n")[0]
    separator = max(",;\t", key=names.count)  # a spreadsheet of another country separates by semicolons
    for row in csv.DictReader(io.StringIO(text, newline=""), delimiter=separator):
        cells = {_uncell(key): _uncell(cell) for key, cell in row.items() if key is not None and isinstance(cell, str)}
        head: dict[str, Any] = {name: cells.pop(name) for name in _HEAD if cells.get(name)}
        if "message" in head:
            head["message"] = _value(head["message"])
        value = {name.removeprefix("value."): _Cell(cell) for name, cell in cells.items() if cell and name not in _HEAD}
        yield {**head, "value": value}


class _Cell(str):
    """A word from a cell that may stand for a number, yes, or a list."""


def _typed(value: Any, part: PartDefinition | None) -> Any:
    """The value that is meant: a text stays one; of several values even one alone is a list."""
    several = part is not None and part.several is not None
    if isinstance(value, _Cell) and (several or (part is None and " | " in value)):
        value = [_Cell(word) for word in value.split(" | ")]
    if isinstance(value, list):
        words = [_typed(one, part and part.model_copy(update={"several": None})) for one in value]
        return words[0] if len(words) == 1 and part is not None and not several else words
    if not isinstance(value, _Cell):
        return value
    return str(value) if part is not None and (part.text or value in part.values) else _value(value)


def _value(cell: str) -> Any:
    if cell.lower() in ("true", "false"):  # a spreadsheet writes TRUE
        return cell.lower() == "true"
    number = cell.removeprefix("-")
    return int(cell) if number.isascii() and number.isdecimal() and len(number) < 10 else str(cell)
